"""The members of a zip file, whose declared sizes are held against what the file can hold."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from treadle.io.source import Source, shown

LARGEST_RATIO = 1032
"""Bytes that one byte of a deflated stream can stand for."""
SUSPICIOUS_RATIO, SUSPICIOUS_BYTES = 100, 1 << 30
"""A compressed archive that unpacks to more of both is taken for a bomb."""
LOCAL_BYTES, IS_UTF8 = 30, 0x800
END_BYTES, LONGEST_COMMENT = 22, 0xFFFF
ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, NotImplementedError, RuntimeError,
    ValueError, OverflowError, EOFError, OSError, IndexError, KeyError,
)  # fmt: skip


def members_of(source: Source) -> list[zipfile.ZipInfo]:
    """What the directory at the end of a zip file says; nothing is checked yet."""
    try:
        with open(source.path, "rb") as file, zipfile.ZipFile(file) as found:
            return found.infolist()
    except ERRORS as error:
        reason = shown(str(error) or type(error).__name__)
        raise source.wrong("the zip directory is damaged", reason=reason) from None


class Archive:
    """A zip file's members. None overlap, none is encrypted, none becomes larger than it says."""

    def __init__(self, source: Source) -> None:
        self.source = source
        infos = members_of(source)
        self.members = {info.filename: info for info in infos}
        if len(self.members) != len(infos):
            raise source.wrong("two members of the archive have one name")
        if len(infos) != self._count():
            raise source.wrong("the zip directory is damaged", found=len(infos))
        self._check()

    def _count(self) -> int:
        """How many members there are, as the end of the file says; zipfile does not look."""
        size = min(self.source.size, END_BYTES + LONGEST_COMMENT)
        tail = self.source.read(self.source.size - size, size)
        place = tail.rfind(b"PK\5\6")
        if place < 0 or place + END_BYTES > size:
            return -1
        (count,) = struct.unpack_from("<H", tail, place + 10)
        large = tail.rfind(b"PK\6\6", 0, place) if count == 0xFFFF else -1
        if 0 <= large <= place - 40:  # too many for 16 bits
            (count,) = struct.unpack_from("<Q", tail, large + 32)
        return int(count)

    def _check(self) -> None:
        """No member where another is; no encryption; compression that can be."""
        last, total = 0, 0
        for name, info in sorted(self.members.items(), key=lambda item: item[1].header_offset):
            facts: dict[str, object] = {"member": shown(name)}
            stored = info.compress_type == zipfile.ZIP_STORED
            if info.flag_bits & 1 or not (stored or info.compress_type == zipfile.ZIP_DEFLATED):
                raise self.source.wrong("a member is encrypted or packed in another way", **facts)
            if info.header_offset < last:
                raise self.source.wrong("members of the archive overlap", **facts)
            last = self.start(name) + info.compress_size
            most = info.compress_size * (1 if stored else LARGEST_RATIO)
            if last > self.source.size or info.file_size > most:
                facts |= {"bytes": info.file_size, "packed": info.compress_size}
                raise self.source.wrong("a member is larger than its bytes can hold", **facts)
            total += info.file_size
        if total > max(SUSPICIOUS_BYTES, SUSPICIOUS_RATIO * self.source.size):
            hint = "if you trust the file, unpack it with another program"
            sizes = {"unpacked": total, "file_bytes": self.source.size}
            raise self.source.wrong("the archive looks like a zip bomb", hint, **sizes)

    def start(self, name: str) -> int:
        """Where the bytes of a member begin, behind its own header."""
        info = self.members[name]
        local = self.source.read(info.header_offset, LOCAL_BYTES)
        name_bytes, more = struct.unpack_from("<HH", local, LOCAL_BYTES - 4)
        begin = info.header_offset + LOCAL_BYTES
        code = "utf-8" if info.flag_bits & IS_UTF8 else "cp437"
        own = self.source.read(begin, name_bytes).decode(code, "replace")
        if local[:4] != b"PK\3\4" or own != info.orig_filename:
            raise self.source.wrong("a member is not where the archive says", member=shown(name))
        return int(begin + name_bytes + more)

    def is_stored(self, name: str) -> bool:
        """Does a member lie in the file as it is?"""
        return self.members[name].compress_type == zipfile.ZIP_STORED

    def array(self, name: str) -> Any:
        """A member's bytes: pages of a mapped file if it is stored, else checked and unpacked."""
        info = self.members[name]
        raw = self.source.array(self.start(name), info.compress_size)
        if self.is_stored(name) and self.source.mapped:
            return raw
        if not self.is_stored(name):
            raw = np.frombuffer(self._inflated(name, raw, info.file_size + 1), np.uint8)
        if raw.size != info.file_size or zlib.crc32(raw) != info.CRC:
            hint = "if PyTorch was told to leave checksums out: mmap=True does not look at them"
            wrong = "a member is damaged: its checksum differs"
            raise self.source.wrong(wrong, hint, member=shown(name))
        return raw

    def read(self, name: str) -> bytes:
        """A member's bytes."""
        found: bytes = self.array(name).tobytes()
        return found

    def head(self, name: str, count: int) -> bytes:
        """The first bytes of a member, at most count; the rest is not looked at."""
        info = self.members[name]
        raw = self.source.array(self.start(name), min(info.compress_size, count))
        return raw.tobytes() if self.is_stored(name) else self._inflated(name, raw, count)

    def _inflated(self, name: str, raw: Any, most: int) -> bytes:
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, most)
        except zlib.error as error:
            facts = {"member": shown(name), "reason": str(error)}
            raise self.source.wrong("a member cannot be unpacked", **facts) from None
