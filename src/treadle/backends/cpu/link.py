"""Where machine code lies in memory, and when it goes.

Linux gives a process some 65,000 mappings, and LLVM's linker takes two or three for each object. So
objects that we can link ourselves share regions, as blocks of whole pages; a block is written
before it may be executed and never after. The others are left to LLVM.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import itertools
import mmap
import sys
import threading
from collections import deque
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

import llvmlite.binding as llvm

from treadle.backends.cpu.elf import linked
from treadle.backends.registry import RELIEF
from treadle.base import forks
from treadle.base.errors import CompilerError, OutOfMemory, explain

PAGE_BYTES = mmap.PAGESIZE
BLOCKS = 64  # of a region
READ, WRITE, EXECUTE = 1, 2, 4
NOT_MAPPED = ctypes.c_void_p(-1).value


class Home(Protocol):
    """Where code goes back to."""

    def append(self, address: int, /) -> None: ...


class Code:
    """Functions in memory, there for as long as somebody holds this object."""

    __slots__ = ("__weakref__", "_address", "_addresses", "_home")

    def __init__(self, addresses: dict[str, int], address: int, home: Home) -> None:
        self._addresses, self._address = addresses, address
        self._home = home

    def __getitem__(self, symbol: str) -> int:
        """The address of a function: worth nothing without this object."""
        return self._addresses[symbol]

    def room(self, symbol: str) -> int:
        """Bytes from the start of a function to the end of what it may lie in."""
        size = getattr(self._home, "block_bytes", PAGE_BYTES)
        return max(1, self._address + size - self._addresses[symbol])

    def __del__(self) -> None:
        try:
            home = self._home
        except AttributeError:  # interrupted while it was made
            return
        home.append(self._address)


class Statistics(NamedTuple):
    """Objects in memory, the bytes they take there, and mappings."""

    kernels: int
    nbytes: int
    mappings: int


def load(image: bytes, symbols: tuple[str, ...]) -> Code:
    """An object in memory, with the addresses of some of its functions."""
    try:
        return _load(image, symbols)
    except OutOfMemory:
        for forget in RELIEF:
            forget()
        gc.collect()
        return _load(image, symbols)


def _load(image: bytes, symbols: tuple[str, ...]) -> Code:
    ready = linked(image, symbols) if sys.platform == "linux" else None
    if ready is not None:
        try:
            return _arena.load(*ready)
        except OSError as error:  # where it is forbidden, LLVM may know another way
            if error.errno == errno.ENOMEM:
                raise _crowded(statistics().kernels) from None
    return _libraries.load(image, symbols)


def statistics() -> Statistics:
    """What is there just now."""
    parts = _arena.statistics(), _libraries.statistics()
    return Statistics(*map(sum, zip(*parts, strict=True)))


class Region:
    """A mapping cut into blocks of one size; a free block holds nothing that runs."""

    def __init__(self, arena: Arena, block_bytes: int) -> None:
        self.arena, self.block_bytes = arena, block_bytes
        self.nbytes = BLOCKS * block_bytes
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        # Writable at first: pages that never were would stay a mapping apart from those that are.
        start = _system().mmap(None, self.nbytes, READ | WRITE, flags, -1, 0)
        if start in (None, NOT_MAPPED):
            raise OSError(ctypes.get_errno(), "no memory for code")
        self.start = start
        try:
            self._protect(start, self.nbytes, READ | EXECUTE)
        except OSError:
            self.unmap()
            raise
        ends = range(start + self.nbytes, start, -block_bytes)
        self.free = [end - block_bytes for end in ends]

    def append(self, address: int, /) -> None:
        """A block that nobody holds any more. Any thread may be here, in the middle of anything."""
        self.arena.returned.append((self, address))

    def write(self, address: int, content: bytes) -> None:
        """Fill a free block."""
        self._protect(address, self.block_bytes, READ | WRITE)
        ctypes.memmove(address, content, len(content))
        self._protect(address, self.block_bytes, READ | EXECUTE)

    def unmap(self) -> None:
        """Give the memory back."""
        self.free = []
        _system().munmap(self.start, self.nbytes)

    def _protect(self, address: int, nbytes: int, rights: int) -> None:
        if _system().mprotect(address, nbytes, rights):
            raise OSError(ctypes.get_errno(), "memory cannot be made code")


class Arena:
    """Regions by the size of their blocks: powers of two, in pages."""

    def __init__(self) -> None:
        self.returned: deque[tuple[Region, int]] = deque()
        self.regions: set[Region] = set()
        self.open: dict[int, dict[Region, None]] = {}  # those with free blocks, in order
        self.lock = threading.RLock()  # a finalizer may come in between
        self.kernels = self.nbytes = 0

    def load(self, content: bytes, offsets: dict[str, int]) -> Code:
        """Code at an address of its own."""
        pages = -(-max(1, len(content)) // PAGE_BYTES)
        size = PAGE_BYTES << (pages - 1).bit_length()
        with self.lock:
            self._take_back()
            region, address = self._block(size)
            try:
                region.write(address, content)
            except OSError:
                self._add(region, address)
                raise
            self.kernels += 1
            self.nbytes += size
        addresses = {symbol: address + offset for symbol, offset in offsets.items()}
        return Code(addresses, address, region)

    def statistics(self) -> Statistics:
        """What is held."""
        with self.lock:
            self._take_back()
            return Statistics(self.kernels, self.nbytes, len(self.regions))

    def _block(self, size: int) -> tuple[Region, int]:
        regions = self.open.setdefault(size, {})
        while True:
            for region in tuple(regions):
                try:
                    return region, region.free.pop()
                except IndexError:
                    regions.pop(region, None)
            region = Region(self, size)
            self.regions.add(region)
            regions[region] = None

    def _add(self, region: Region, address: int) -> None:
        """A free block; an empty region goes, unless it is the only one."""
        regions = self.open[region.block_bytes]
        region.free.append(address)
        regions.setdefault(region)
        if len(region.free) == BLOCKS and len(regions) > 1:
            del regions[region]
            self.regions.discard(region)
            region.unmap()

    def _take_back(self) -> None:
        """Blocks whose code nobody holds."""
        while True:
            try:
                region, address = self.returned.popleft()
            except IndexError:
                return
            self.kernels -= 1
            self.nbytes -= region.block_bytes
            self._add(region, address)


class Libraries:
    """Objects that LLVM links, each a library of its own."""

    MAPPINGS = 3  # of each, at most
    SHARE = 256  # libraries of one linker, which forgets nothing: it goes with the last of them

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.linker: llvm.LLJIT = None
        self.held: dict[int, tuple[llvm.ResourceTracker, int]] = {}

    def load(self, image: bytes, symbols: tuple[str, ...]) -> Code:
        """The same with LLVM's linker."""
        if self.MAPPINGS * len(self.held) > most_mappings() // 2:  # LLVM would end the process
            raise _crowded(len(self.held))
        builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
        for symbol in symbols:
            builder.export_symbol(symbol)
        number = next(self.numbers)
        if self.linker is None or number % self.SHARE == 0:
            self.linker = _new_linker()
        try:
            library = builder.link(self.linker, f"treadle{number}")
        except RuntimeError as error:
            wrong = f"cannot link a compiled module: {error}"
            raise CompilerError(explain("jit", wrong, symbols=", ".join(symbols))) from None
        self.held[number] = library, len(image)
        return Code({symbol: library[symbol] for symbol in symbols}, number, self)

    def append(self, number: int, /) -> None:
        """Let go of a library, whose code goes with it."""
        del self.held[number]

    def statistics(self) -> Statistics:
        """What is held, roughly: LLVM does not tell."""
        held = list(self.held.values())
        return Statistics(len(held), sum(size for _, size in held), self.MAPPINGS * len(held))


def _crowded(kernels: int) -> OutOfMemory:
    hint = "drop compiled functions that are no longer needed, or raise vm.max_map_count"
    wrong = "the system has no room for more machine code"
    return OutOfMemory(explain("jit", wrong, hint, kernels=kernels))


@cache
def most_mappings() -> int:
    """How many mappings the system gives a process."""
    try:
        return int(Path("/proc/sys/vm/max_map_count").read_text())
    except (OSError, ValueError):
        return 65_530


@cache
def initialize() -> None:
    """Make LLVM know every processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def _new_linker() -> llvm.LLJIT:
    # JITLink keeps an object's code and constants in one block, which the small code model needs.
    initialize()
    return llvm.create_lljit_compiler(use_jit_link=True)


@cache
def _system() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    word, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.argtypes = [word, size, number, number, number, ctypes.c_long]
    library.mmap.restype = word
    library.munmap.argtypes = [word, size]
    library.mprotect.argtypes = [word, size, number]
    return library


_arena = Arena()
_libraries = Libraries()
forks.share("code", _arena.lock)
