"""Which bytes an object file becomes once it is linked: code, constants, and ways out.

What LLVM makes of our modules on x86-64 Linux is simple: code and constants that refer to each
other by distance, and calls of the C library. Laid out one after the other they run at any address,
so many objects can share one mapping. `linked` knows nothing else and says so.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

HEADER = struct.Struct("<4sBBB9xHH20xQ10xHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
REFERENCE = struct.Struct("<QQq")
X86_64, RELOCATABLE = 62, 1
CONTENT, SYMBOLS, REFERENCES, UNWINDING = 1, 2, 4, 0x70000001  # kinds of section
WRITABLE, LOADED, THREAD_LOCAL = 1, 2, 1 << 10
DISTANCE, CALL = 2, 4  # kinds of reference: R_X86_64_PC32 and R_X86_64_PLT32
SPECIAL = 0xFF00  # numbers of sections from here on are none
WAY_OUT = b"\xff\x25\x00\x00\x00\x00"  # jmp *[rip]: to the address that follows
WAY_OUT_BYTES = 16


class Section(NamedTuple):
    """A row of the table of sections."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Linked(NamedTuple):
    """Bytes that run wherever they lie, from an address that is a multiple of a page."""

    content: bytes
    offsets: dict[str, int]


class _Unknown(Exception):
    """The object has something that only a whole linker knows."""


def linked(image: bytes, symbols: Iterable[str]) -> Linked | None:
    """An object as code, or None where it is of another kind, or needs what is not there."""
    try:
        return _Object(image).link(symbols)
    except (_Unknown, struct.error, IndexError, ValueError):
        return None


class _Object:
    def __init__(self, image: bytes) -> None:
        magic, width, order, _, kind, machine, at, size, count, _ = HEADER.unpack_from(image)
        if (magic, width, order, kind, machine) != (b"\x7fELF", 2, 1, RELOCATABLE, X86_64):
            raise _Unknown
        if size != SECTION.size:
            raise _Unknown
        self.image = image
        table = image[at : at + count * size]
        self.sections = [Section(*row) for row in SECTION.iter_unpack(table)]
        (found,) = [section for section in self.sections if section.kind == SYMBOLS]
        self.symbols = list(SYMBOL.iter_unpack(self._content(found)))
        self.names = self.sections[found.link].offset

    def link(self, symbols: Iterable[str]) -> Linked:
        self._place()
        for section in self.sections:
            if section.kind == REFERENCES and section.info in self.places:
                self._refer(section)
        return Linked(bytes(self.memory), self._offsets(symbols))

    def _content(self, section: Section) -> bytes:
        content = self.image[section.offset : section.offset + section.size]
        if len(content) != section.size:
            raise _Unknown
        return content

    def _place(self) -> None:
        """Sections one after the other."""
        self.memory = bytearray()
        self.places: dict[int, int] = {}  # number of a section to its offset
        self.ways_out: dict[int, int] = {}  # number of a symbol to the offset of a jump to it
        for number, section in enumerate(self.sections):
            if not section.flags & LOADED or section.kind == UNWINDING:
                continue  # nothing unwinds through kernels
            if section.kind != CONTENT or section.flags & (WRITABLE | THREAD_LOCAL):
                if section.size:
                    raise _Unknown
                continue
            self._align(section.align or 1)
            self.places[number] = len(self.memory)
            self.memory += self._content(section)

    def _align(self, align: int) -> None:
        self.memory += bytes(-len(self.memory) % align)

    def _refer(self, section: Section) -> None:
        """Fill in the distances that a section of references asks for."""
        base = self.places[section.info]
        for offset, what, addend in REFERENCE.iter_unpack(self._content(section)):
            kind, symbol = what & 0xFFFFFFFF, what >> 32
            home, value = self.symbols[symbol][3:5]
            if kind not in (DISTANCE, CALL) or (home == 0 and kind != CALL) or home >= SPECIAL:
                raise _Unknown
            to = self.places[home] + value if home in self.places else self._way_out(home, symbol)
            struct.pack_into("<i", self.memory, base + offset, to + addend - (base + offset))

    def _way_out(self, home: int, symbol: int) -> int:
        """Where a jump to a function of the process lies, which may be too far for a distance."""
        if home:
            raise _Unknown  # in a section that is not there
        if symbol not in self.ways_out:
            address = _address_in_process(self._name(symbol))
            self._align(WAY_OUT_BYTES)
            self.ways_out[symbol] = len(self.memory)
            jump = WAY_OUT + address.to_bytes(8, "little")
            self.memory += jump + bytes(WAY_OUT_BYTES - len(jump))
        return self.ways_out[symbol]

    def _name(self, symbol: int) -> str:
        start = self.names + self.symbols[symbol][0]
        return self.image[start : self.image.index(b"\0", start)].decode()

    def _offsets(self, symbols: Iterable[str]) -> dict[str, int]:
        defined = {
            self._name(number): self.places[home] + value
            for number, (_, _, _, home, value, _) in enumerate(self.symbols)
            if home in self.places
        }
        if not defined.keys() >= set(symbols):
            raise _Unknown
        return {symbol: defined[symbol] for symbol in symbols}


@cache
def _address_in_process(name: str) -> int:
    try:
        function = getattr(ctypes.CDLL(None), name)
    except AttributeError:
        raise _Unknown from None
    address: int | None = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise _Unknown
    return address
