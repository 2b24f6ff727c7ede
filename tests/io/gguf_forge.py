"""GGUF files written number by number, from the published layouts: what the reader is held against.

A block is made of logical fields (scales and small integers), which are packed into bytes by loops
over single elements, and decoded from the same fields by the formula of the type: nothing here is
shared with the reader, which works on bytes of many blocks at once.
"""

from __future__ import annotations

import struct

import numpy as np

NUMBERS = {
    "F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10,
    "Q3_K": 11, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "Q8_K": 15, "I8": 24, "I16": 25, "I32": 26,
    "I64": 27, "F64": 28, "BF16": 30,
}  # fmt: skip
f32 = np.float32


def half(rng):
    """A scale: its two bytes, and its value."""
    value = np.float16(rng.normal())
    return value.tobytes(), f32(value)


def pack_halves(low, high):
    return bytes(a | b << 4 for a, b in zip(low, high, strict=True))


# ---- blocks of 32


def q4_0(rng):
    (d_bytes, d), q = half(rng), rng.integers(0, 16, 32).tolist()
    return d_bytes + pack_halves(q[:16], q[16:]), [d * f32(x - 8) for x in q]


def q4_1(rng):
    (d_bytes, d), (m_bytes, m), q = half(rng), half(rng), rng.integers(0, 16, 32).tolist()
    return d_bytes + m_bytes + pack_halves(q[:16], q[16:]), [d * f32(x) + m for x in q]


def fifth_bits(q):
    word = 0
    for k, x in enumerate(q):
        word |= (x >> 4) << k
    return struct.pack("<I", word)


def q5_0(rng):
    (d_bytes, d), q = half(rng), rng.integers(0, 32, 32).tolist()
    low = [x & 15 for x in q]
    data = d_bytes + fifth_bits(q) + pack_halves(low[:16], low[16:])
    return data, [d * f32(x - 16) for x in q]


def q5_1(rng):
    (d_bytes, d), (m_bytes, m), q = half(rng), half(rng), rng.integers(0, 32, 32).tolist()
    low = [x & 15 for x in q]
    data = d_bytes + m_bytes + fifth_bits(q) + pack_halves(low[:16], low[16:])
    return data, [d * f32(x) + m for x in q]


def q8_0(rng):
    (d_bytes, d), q = half(rng), rng.integers(-128, 128, 32).tolist()
    return d_bytes + struct.pack("<32b", *q), [d * f32(x) for x in q]


# ---- blocks of 256


def q2_k(rng):
    (d_bytes, d), (m_bytes, m) = half(rng), half(rng)
    scales, least = rng.integers(0, 16, 16).tolist(), rng.integers(0, 16, 16).tolist()
    q = rng.integers(0, 4, 256).tolist()
    packed = bytearray(64)
    for k, x in enumerate(q):  # 128 numbers in 32 bytes: number k goes to byte k % 32
        part, inside = divmod(k, 128)
        packed[32 * part + inside % 32] |= x << 2 * (inside // 32)
    data = bytes(a | b << 4 for a, b in zip(scales, least, strict=True)) + bytes(packed)
    values = [d * f32(scales[k // 16]) * f32(x) - m * f32(least[k // 16]) for k, x in enumerate(q)]
    return data + d_bytes + m_bytes, values


def q3_k(rng):
    d_bytes, d = half(rng)
    scales, q = rng.integers(0, 64, 16).tolist(), rng.integers(0, 8, 256).tolist()
    packed, high, small = bytearray(64), bytearray(32), bytearray(12)
    for k, x in enumerate(q):
        part, inside = divmod(k, 128)
        packed[32 * part + inside % 32] |= (x & 3) << 2 * (inside // 32)
        high[k % 32] |= (x >> 2) << (k // 32)
    for k, x in enumerate(scales):
        small[k % 8] |= (x & 15) << 4 * (k // 8)
        small[8 + k % 4] |= (x >> 4) << 2 * (k // 4)
    values = [d * f32(scales[k // 16] - 32) * f32(x - 4) for k, x in enumerate(q)]
    return bytes(high) + bytes(packed) + bytes(small) + d_bytes, values


def six_bits(scales, least):
    """Eight scales and eight least values of six bits, in twelve bytes."""
    small = bytearray(12)
    for k in range(4):
        small[k] |= scales[k] | (scales[k + 4] >> 4) << 6
        small[k + 4] |= least[k] | (least[k + 4] >> 4) << 6
        small[k + 8] |= (scales[k + 4] & 15) | (least[k + 4] & 15) << 4
    return bytes(small)


def q4_or_5_k(rng, width):
    (d_bytes, d), (m_bytes, m) = half(rng), half(rng)
    scales, least = rng.integers(0, 64, 8).tolist(), rng.integers(0, 64, 8).tolist()
    q = rng.integers(0, 1 << width, 256).tolist()
    packed, high = bytearray(128), bytearray(32)
    for k, x in enumerate(q):  # 64 numbers in 32 bytes: the first 32 in the low halves
        part, inside = divmod(k, 64)
        packed[32 * part + inside % 32] |= (x & 15) << 4 * (inside // 32)
        high[k % 32] |= (x >> 4) << (k // 32)
    values = [d * f32(scales[k // 32]) * f32(x) - m * f32(least[k // 32]) for k, x in enumerate(q)]
    middle = bytes(high) if width == 5 else b""
    return d_bytes + m_bytes + six_bits(scales, least) + middle + bytes(packed), values


def q6_k(rng):
    d_bytes, d = half(rng)
    scales, q = rng.integers(-128, 128, 16).tolist(), rng.integers(0, 64, 256).tolist()
    low, high = bytearray(128), bytearray(64)
    for k, x in enumerate(q):
        part, inside = divmod(k, 128)
        low[64 * part + inside % 64] |= (x & 15) << 4 * (inside // 64)
        high[32 * part + inside % 32] |= (x >> 4) << 2 * (inside // 32)
    values = [d * f32(scales[k // 16]) * f32(x - 32) for k, x in enumerate(q)]
    return bytes(low) + bytes(high) + struct.pack("<16b", *scales) + d_bytes, values


def q8_k(rng):
    d, q = f32(rng.normal()), rng.integers(-128, 128, 256).tolist()
    sums = [sum(q[16 * k : 16 * k + 16]) for k in range(16)]
    data = struct.pack("<f256b16h", d, *q, *sums)
    return data, [d * f32(x) for x in q]


BLOCKS = {
    "Q4_0": q4_0, "Q4_1": q4_1, "Q5_0": q5_0, "Q5_1": q5_1, "Q8_0": q8_0, "Q2_K": q2_k,
    "Q3_K": q3_k, "Q4_K": lambda rng: q4_or_5_k(rng, 4), "Q5_K": lambda rng: q4_or_5_k(rng, 5),
    "Q6_K": q6_k, "Q8_K": q8_k,
}  # fmt: skip


def blocks(kind, count, rng):
    """Bytes of blocks, and the numbers that they stand for."""
    made = [BLOCKS[kind](rng) for _ in range(count)]
    return b"".join(data for data, _ in made), np.array([x for _, v in made for x in v], f32)


# ---- files


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pair(name, code, data):
    return text(name) + struct.pack("<I", code) + data


def tensor_info(name, sizes, kind, place):
    number = NUMBERS.get(kind, kind)
    return text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, number, place)


def file_of(pairs, infos, data, alignment=32, version=3, counts=None, magic=b"GGUF"):
    """A file of metadata, descriptions of tensors and their bytes."""
    tensors, metadata = counts or (len(infos), len(pairs))
    head = magic + struct.pack("<IQQ", version, tensors, metadata) + b"".join((*pairs, *infos))
    return head + bytes(-len(head) % alignment) + data


def simple():
    """A small file of each kind of thing."""
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(2, 4)).astype(f32)
    quant, _ = blocks("Q4_K", 2, rng)
    pairs = [
        pair("general.architecture", 8, text("tiny")),
        pair("tiny.layers", 4, struct.pack("<I", 3)),
        pair("tokens", 9, struct.pack("<IQ", 8, 3) + text("a") + text("bc") + text("")),
        pair("scores", 9, struct.pack("<IQ3f", 6, 3, 0.5, 1.5, -2.0)),
    ]
    infos = [tensor_info("w", (4, 2), "F32", 0), tensor_info("q", (256, 2), "Q4_K", 32)]
    return file_of(pairs, infos, plain.tobytes() + quant)
