"""Sound in WAV files."""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np

from treadle.base.errors import FileError, explain

Array = np.ndarray[Any, Any]
PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
WIDTHS = {PCM: (8, 16, 24, 32), FLOAT: (32, 64)}
TAIL = bytes.fromhex("000000001000800000aa00389b71")  # what follows the format in an extensible one


def read_wav(path: str | os.PathLike[str], normalize: bool = True) -> tuple[Array, int]:
    """(samples, frames per second) of a WAV file: 8, 16, 24, 32 bit or float, any channels.

    Samples are (channels, frames), float32 from -1 to 1; with normalize=False as they are stored,
    24 bit as int32.
    """
    with open(path, "rb") as file:
        content = file.read()
    kind, bits, channels, rate, sound = _parts(path, content)
    flat = _samples(kind, bits, sound)
    samples = flat.reshape(flat.size // channels, channels).T
    if not normalize:
        return np.ascontiguousarray(samples), rate
    if kind == FLOAT:
        return np.ascontiguousarray(samples, np.float32), rate
    middle = 128.0 if bits == 8 else 0.0  # 8 bits have no sign
    scaled = (samples.astype(np.float64) - middle) / (1 << (bits - 1))
    return np.ascontiguousarray(scaled, np.float32), rate


def _parts(path: Any, content: bytes) -> tuple[int, int, int, int, bytes]:
    """(format, bits, channels, rate, samples) of a file."""
    if len(content) < 12 or content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        begins = content[:12].hex(" ")
        raise FileError(explain("read_wav", "not a WAV file", path=path, begins=begins))
    at, form = 12, b""
    while at + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, at)
        if at + 8 + size > len(content):
            facts = {"path": path, "part": name, "says": size, "has": len(content) - at - 8}
            raise FileError(explain("read_wav", "cut off", **facts))
        body = content[at + 8 : at + 8 + size]
        if name == b"fmt ":
            form = body
        elif name == b"data":
            return (*_format(path, form, len(body)), body)
        at += 8 + size + size % 2
    raise FileError(explain("read_wav", "it has no samples", path=path))


def _format(path: Any, form: bytes, size: int) -> tuple[int, int, int, int]:
    if len(form) < 16:
        raise FileError(explain("read_wav", "it does not say its format first", path=path))
    kind, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", form)
    if kind == EXTENSIBLE and len(form) >= 40 and form[26:40] == TAIL:
        kind = int.from_bytes(form[24:26], "little")
    if bits not in WIDTHS.get(kind, ()):
        hint = "8, 16, 24 or 32 bit PCM, or 32 or 64 bit floats"
        facts = {"path": path, "format": kind, "bits": bits}
        raise FileError(explain("read_wav", "a format that is not read", hint, **facts))
    facts = {"path": path, "channels": channels, "block": block, "bits": bits, "bytes": size}
    if not channels or not rate or block != channels * bits // 8 or size % block:
        raise FileError(explain("read_wav", "its header contradicts itself", **facts))
    return kind, bits, channels, rate


def _samples(kind: int, bits: int, sound: bytes) -> Array:
    if kind == FLOAT:
        return np.frombuffer(sound, f"<f{bits // 8}")
    if bits != 24:
        return np.frombuffer(sound, "u1" if bits == 8 else f"<i{bits // 8}")
    wide = np.zeros((len(sound) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(sound, np.uint8).reshape(-1, 3)
    return wide.view("<i4")[:, 0] >> 8  # the sign comes down with it
