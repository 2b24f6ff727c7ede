"""How event files are built: records with checksums, messages of numbered fields."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_entry(byte) for byte in range(256)]


def crc32c(content: bytes) -> int:
    """The checksum CRC-32C.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    found = 0xFFFFFFFF
    for byte in content:
        found = _TABLE[(found ^ byte) & 0xFF] ^ (found >> 8)
    return found ^ 0xFFFFFFFF


def record(content: bytes) -> bytes:
    """Content as a record: its length, and masked checksums of both."""
    length = struct.pack("<Q", len(content))
    return length + _masked(length) + content + _masked(content)


def _masked(content: bytes) -> bytes:
    found = crc32c(content)
    return struct.pack("<I", (((found >> 15) | (found << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


# ---- fields of a message


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte; negative ones as 64 bits."""
    value &= 0xFFFFFFFFFFFFFFFF
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def whole(number: int, value: int) -> bytes:
    """A field with a whole number."""
    return varint(number << 3) + varint(value)


def double(number: int, value: float) -> bytes:
    """A field with a float of 64 bits."""
    return varint(number << 3 | 1) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    """A field with a float of 32 bits."""
    return varint(number << 3 | 5) + struct.pack("<f", value)


def block(number: int, content: bytes | str) -> bytes:
    """A field with bytes, a text, or a message."""
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def doubles(number: int, values: Iterable[float]) -> bytes:
    """A field with many floats of 64 bits."""
    return block(number, b"".join(struct.pack("<d", value) for value in values))
