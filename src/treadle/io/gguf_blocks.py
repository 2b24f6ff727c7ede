"""What the bytes of a block of quantised numbers stand for, for many blocks at once.

A block is a record: some scales and the small integers that they scale. Each function here takes an
array of records and gives a row of float32 for each, computed in the order that the format defines
(scale times sub-scale first), so that every number is the one that other readers get.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

AT_ONCE = 1 << 14
"""Blocks converted at once: what is needed beside the result stays in the caches."""


class Block(NamedTuple):
    """A kind of block: its fields in the file, and what they stand for."""

    record: Any
    elements: int
    values: Callable[[Any], Any]


def dequantised(kind: str, raw: Any) -> Any:
    """All numbers of many blocks, in order."""
    record, elements, values = BLOCKS[kind]
    blocks = raw.view(record)
    result = np.empty((blocks.size, elements), np.float32)
    for first in range(0, blocks.size, AT_ONCE):
        part = blocks[first : first + AT_ONCE]
        with np.errstate(all="ignore"):  # scales of infinity and NaN are theirs
            result[first : first + AT_ONCE] = values(part).reshape(part.size, elements)
    return result.reshape(-1)


def _f(values: Any) -> Any:
    return values.astype(np.float32)


def _column(scales: Any) -> Any:
    return _f(scales)[:, None]


def _nibbles(quants: Any) -> Any:
    """The low halves of all bytes, then the high ones."""
    return np.concatenate((quants & 15, quants >> 4), axis=-1)


# ---- blocks of 32: one scale, or a scale and a least value


def _q4_0(b: Any) -> Any:
    return _column(b["d"]) * (_nibbles(b["qs"]).astype(np.int8) - 8)


def _q4_1(b: Any) -> Any:
    return _column(b["d"]) * _nibbles(b["qs"]) + _column(b["m"])


def _fifth(b: Any) -> Any:
    """Numbers of five bits, whose highest ones lie together."""
    high = np.unpackbits(b["qh"], axis=-1, bitorder="little")
    return _nibbles(b["qs"]) | high << 4


def _q5_0(b: Any) -> Any:
    return _column(b["d"]) * (_fifth(b).astype(np.int8) - 16)


def _q5_1(b: Any) -> Any:
    return _column(b["d"]) * _fifth(b) + _column(b["m"])


def _q8(b: Any) -> Any:
    return _column(b["d"]) * b["qs"]


# ---- blocks of 256: scales of parts, which one scale of the block scales


def _pairs_of_bits(quants: Any, groups: int) -> Any:
    """Groups of bytes, each read four times: by its lowest two bits, the next two, and so on."""
    shifts = np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    count, size = quants.shape
    return quants.reshape(count, groups, 1, size // groups) >> shifts & 3


def _q2_k(b: Any) -> Any:
    scales = _column(b["d"]) * (b["scales"] & 15)
    least = _column(b["dmin"]) * (b["scales"] >> 4)
    quants = _pairs_of_bits(b["qs"], 2).reshape(-1, 16, 16)
    return scales[..., None] * quants - least[..., None]


def _q3_k(b: Any) -> Any:
    low, high = _nibbles(b["scales"][:, :8]), b["scales"][:, 8:]
    shifts = np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    high = (high[:, None, :] >> shifts & 3).reshape(-1, 16)
    scales = _column(b["d"]) * ((low | high << 4).astype(np.int8) - 32)
    bits = b["hmask"][:, None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    quants = _pairs_of_bits(b["qs"], 2).reshape(-1, 8, 32) | bits << 2
    return scales[..., None] * (quants.astype(np.int8) - 4).reshape(-1, 16, 16)


def _scales_and_least(b: Any) -> tuple[Any, Any]:
    """Eight scales and eight least values of six bits in twelve bytes, times those of the block."""
    first, second, third = (b["scales"][:, k : k + 4] for k in (0, 4, 8))
    scales = np.concatenate((first & 63, third & 15 | first >> 6 << 4), axis=-1)
    least = np.concatenate((second & 63, third >> 4 | second >> 6 << 4), axis=-1)
    return _column(b["d"]) * scales, _column(b["dmin"]) * least


def _q4_k(b: Any) -> Any:
    scales, least = _scales_and_least(b)
    quants = _nibbles(b["qs"].reshape(-1, 4, 32)).reshape(-1, 8, 32)
    return scales[..., None] * quants - least[..., None]


def _q5_k(b: Any) -> Any:
    scales, least = _scales_and_least(b)
    bits = b["qh"][:, None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    quants = _nibbles(b["qs"].reshape(-1, 4, 32)).reshape(-1, 8, 32) | bits << 4
    return scales[..., None] * quants - least[..., None]


def _q6_k(b: Any) -> Any:
    low = _nibbles(b["ql"].reshape(-1, 2, 64))
    high = _pairs_of_bits(b["qh"], 2).reshape(-1, 2, 128)
    quants = (low | high << 4).astype(np.int8) - 32
    scales = _column(b["d"]) * b["scales"]
    return scales[..., None] * quants.reshape(-1, 16, 16)


def _record(*fields: tuple[Any, ...]) -> Any:
    return np.dtype(list(fields))


D, M, DMIN = ("d", "<f2"), ("m", "<f2"), ("dmin", "<f2")
SCALES = ("scales", "u1", 12)
BLOCKS: dict[str, Block] = {
    "Q4_0": Block(_record(D, ("qs", "u1", 16)), 32, _q4_0),
    "Q4_1": Block(_record(D, M, ("qs", "u1", 16)), 32, _q4_1),
    "Q5_0": Block(_record(D, ("qh", "u1", 4), ("qs", "u1", 16)), 32, _q5_0),
    "Q5_1": Block(_record(D, M, ("qh", "u1", 4), ("qs", "u1", 16)), 32, _q5_1),
    "Q8_0": Block(_record(D, ("qs", "i1", 32)), 32, _q8),
    "Q2_K": Block(_record(("scales", "u1", 16), ("qs", "u1", 64), D, DMIN), 256, _q2_k),
    "Q3_K": Block(_record(("hmask", "u1", 32), ("qs", "u1", 64), SCALES, D), 256, _q3_k),
    "Q4_K": Block(_record(D, DMIN, SCALES, ("qs", "u1", 128)), 256, _q4_k),
    "Q5_K": Block(_record(D, DMIN, SCALES, ("qh", "u1", 32), ("qs", "u1", 128)), 256, _q5_k),
    "Q6_K": Block(
        _record(("ql", "u1", 128), ("qh", "u1", 64), ("scales", "i1", 16), D), 256, _q6_k
    ),
    "Q8_K": Block(_record(("d", "<f4"), ("qs", "i1", 256), ("sums", "<i2", 16)), 256, _q8),
}
