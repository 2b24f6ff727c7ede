"""Where buffers come from and where they go when nobody holds them any more.

Small blocks are powers of two cut from slabs; larger ones are mappings of their own, in four sizes
per doubling and from 1.6 MiB on in whole huge pages, through which memory is read up to twice as
fast. Freed blocks are kept for the next request, because touching fresh pages costs more than most
kernels that fill them.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

from treadle.backends.exhausted import exhausted
from treadle.base.knobs import POOL_BYTES

ALIGNMENT = 64
SMALLEST_BITS, LARGEST_BITS = 6, 16  # small blocks: 64 bytes to 64 KiB
SMALL_BYTES = 1 << LARGEST_BITS
SLAB_BYTES = 1 << 20
PAGE_BYTES = 4096
HUGE_BYTES = 2 << 20
MEDIUM_BYTES = HUGE_BYTES * 4 // 5 // PAGE_BYTES * PAGE_BYTES  # more waste little of a huge page
# Python's default would share the memory with forked children.
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}


class Home(Protocol):
    """Where a block goes back to."""

    def append(self, address: int, /) -> None: ...


class Buffer:
    """A piece of memory, given back when the last reference to the object goes."""

    __slots__ = ("__weakref__", "_owner", "address", "home", "size")

    def __init__(self, address: int, size: int, home: Home, owner: object = None) -> None:
        self.address = address
        self.size = size
        self.home = home
        self._owner = owner

    def __del__(self) -> None:
        try:
            home = self.home
        except AttributeError:  # interrupted while it was made
            return
        home.append(self.address)

    def view(self) -> ctypes.Array[ctypes.c_ubyte]:
        """The bytes, writable, for whoever takes the buffer protocol; keeps the Buffer alive."""
        view = _array(self.size).from_address(self.address)
        view.buffer = self  # type: ignore[attr-defined]
        return view

    @property
    def borrowed(self) -> bool:
        """Does the memory belong to somebody else, an array of the user's?"""
        return self._owner is not None

    def __repr__(self) -> str:
        return f"<buffer of {self.size} bytes at {self.address:#x}>"


class Bin:
    """Free blocks of one size, each a mapping of its own."""

    __slots__ = ("blocks", "pool", "size", "used")

    def __init__(self, pool: Mappings, size: int) -> None:
        self.pool, self.size = pool, size
        self.blocks: list[int] = []
        self.used = 0

    def append(self, address: int, /) -> None:
        """Take back a block."""
        self.blocks.append(address)
        self.pool.kept += self.size
        if self.pool.kept > POOL_BYTES.value:
            self.pool.shrink(POOL_BYTES.value)


class Mappings:
    """Blocks above the small sizes.

    `kept` is changed in single statements, between which the interpreter does not switch threads.
    """

    def __init__(self) -> None:
        self.bins: dict[int, Bin] = {}
        self.mapped: dict[int, mmap.mmap] = {}
        self.kept = 0
        self.clock = itertools.count(1)

    def take(self, nbytes: int) -> Buffer:
        """A buffer of at least nbytes."""
        size = mapping_size(nbytes)
        found = self.bins.get(size)
        if found is None:
            found = self.bins.setdefault(size, Bin(self, size))
        found.used = next(self.clock)
        try:
            address = found.blocks.pop()
            self.kept -= size
        except IndexError:
            address = self.map(size)
        return Buffer(address, nbytes, found)

    def map(self, size: int) -> int:
        """Fresh zeroed pages; frees what is kept if the system has no more."""
        try:
            address, mapping = _map(size)
        except (OSError, ValueError, OverflowError):
            self.shrink(0)
            try:
                address, mapping = _map(size)
            except (OSError, ValueError, OverflowError):
                wrong = "the system has no memory left"
                hint = "use smaller batches or shapes, or drop tensors that are no longer needed"
                raise exhausted("cpu", "allocate", wrong, hint, bytes=size) from None
        self.mapped[address] = mapping
        return address

    def shrink(self, bound: int) -> None:
        """Unmap blocks until no more than bound bytes are kept, sizes long unused first."""
        for found in sorted(self.bins.values(), key=lambda entry: entry.used):
            while self.kept > bound:
                try:
                    address = found.blocks.pop()
                except IndexError:
                    break
                self.kept -= found.size
                self.mapped.pop(address).close()


class Slabs:
    """Blocks of the small sizes; slabs stay."""

    def __init__(self, pool: Mappings) -> None:
        self.free: list[list[int]] = [[] for _ in range(LARGEST_BITS + 1)]
        self.slabs = 0
        self.pool = pool

    def refill(self, bits: int) -> int:
        """Cut a slab; return one block and keep the others."""
        start = self.pool.map(SLAB_BYTES)
        self.slabs += 1
        # Reversed, because the list gives its last first and neighbours in time share cache lines.
        self.free[bits].extend(range(start + SLAB_BYTES - (1 << bits), start, -(1 << bits)))
        return start


class Borrowed:
    """The home of memory that somebody else owns."""

    def append(self, address: int, /) -> None:
        """Leave the block to its owner, who goes with the buffer."""


_mappings = Mappings()
_slabs = Slabs(_mappings)
_borrowed = Borrowed()
# The list for a request is _classes[(nbytes - 1).bit_length()]; the smallest sizes share one.
_classes = [_slabs.free[max(bits, SMALLEST_BITS)] for bits in range(LARGEST_BITS + 1)]


def allocate(nbytes: int) -> Buffer:
    """Uninitialised memory, aligned to 64 bytes at least."""
    if 0 < nbytes <= SMALL_BYTES:
        free = _classes[(nbytes - 1).bit_length()]
        try:
            return Buffer(free.pop(), nbytes, free)
        except IndexError:
            bits = max((nbytes - 1).bit_length(), SMALLEST_BITS)
            return Buffer(_slabs.refill(bits), nbytes, free)
    return _mappings.take(nbytes) if nbytes else Buffer(ALIGNMENT, 0, _borrowed)


def wrap(address: int, nbytes: int, owner: object) -> Buffer:
    """Memory that belongs to owner, which lives as long as the buffer."""
    return Buffer(address, nbytes, _borrowed, owner)


def release() -> None:
    """Give the system back every freed block that is a mapping of its own."""
    _mappings.shrink(0)


def statistics() -> dict[str, int]:
    """Bytes mapped, bytes of them free for reuse, and how many mappings there are."""
    small = sum(len(free) << bits for bits, free in enumerate(_slabs.free))
    large = sum(len(found.blocks) * found.size for found in list(_mappings.bins.values()))
    mapped = sum(len(mapping) for mapping in list(_mappings.mapped.values()))
    return {
        "mapped": mapped,
        "kept": small + large,
        "kept_small": small,
        "kept_large": large,
        "slabs": _slabs.slabs,
        "mappings": len(_mappings.mapped),
    }


def bytes_in_use() -> int:
    """Bytes of blocks that somebody holds, without what only aligns them."""
    mapped = [len(mapping) for mapping in list(_mappings.mapped.values())]
    padding = HUGE_BYTES * sum(size >= 2 * HUGE_BYTES for size in mapped)
    return sum(mapped) - padding - statistics()["kept"]


def mapping_size(nbytes: int) -> int:
    """The size class of a request above the small sizes: whole huge pages, or 4 per doubling."""
    if nbytes > MEDIUM_BYTES:
        return -(-nbytes // HUGE_BYTES) * HUGE_BYTES
    step = max(PAGE_BYTES, 1 << ((nbytes - 1).bit_length() - 3))
    return min(-(-nbytes // step) * step, MEDIUM_BYTES)


def _map(size: int) -> tuple[int, mmap.mmap]:
    huge = size >= HUGE_BYTES
    mapping = mmap.mmap(-1, size + (HUGE_BYTES if huge else 0), **_PRIVATE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    offset = -start % HUGE_BYTES if huge else 0
    if huge and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel built without huge pages
            mapping.madvise(mmap.MADV_HUGEPAGE, offset, size)
    return start + offset, mapping


@lru_cache(maxsize=1024)
def _array(size: int) -> type[ctypes.Array[ctypes.c_ubyte]]:
    return ctypes.c_ubyte * size
