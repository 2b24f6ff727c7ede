"""Names of kernels in machine code, as other profilers show them.

Code is shared by all programs that have a use for it, and is kept on disk; its name is not. It is
compiled under a long name, and a copy is given another where it is loaded. That stands in the
tables of strings of the file alone, and a shorter text ends where it ends.
"""

from __future__ import annotations

import struct

LENGTH = 60
PLACE = "kernel".ljust(LENGTH, "_")
"""The name under which kernels are compiled."""
STRINGS = 3  # type of a section
FIRST, SECTION = 40, 64  # where the header says where sections are; bytes of a section's header


def named(cubin: bytes, name: str) -> bytes:
    """Machine code under a name."""
    if not cubin.startswith(b"\x7fELF"):
        return cubin
    found = bytearray(cubin)
    short = name.encode()[:LENGTH].ljust(LENGTH, b"\0")
    (at,) = struct.unpack_from("<Q", cubin, FIRST)
    (count,) = struct.unpack_from("<H", cubin, FIRST + 20)
    for k in range(count):
        kind, _, _, start, size = struct.unpack_from("<IQQQQ", cubin, at + SECTION * k + 4)
        if kind == STRINGS:
            table = cubin[start : start + size].replace(PLACE.encode(), short)
            found[start : start + size] = table
    return bytes(found)
