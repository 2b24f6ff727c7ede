"""What elements are sorted by: whole numbers in their order, made of their bits.

NaN is the largest, zeros of both signs are equal. Elements themselves stay as they are.
"""

from __future__ import annotations

from treadle.base.dtypes import DType, bool_, uint8, uint16, uint32, uint64

RAW = {1: uint8, 2: uint16, 4: uint32, 8: uint64}
"""Elements as bits, by their bytes."""


def key_bits(d: DType) -> int:
    """Bits of a key that differ."""
    return 1 if d is bool_ else 8 * d.size


def register_bits(d: DType) -> DType:
    """What bits and keys are in registers."""
    return uint64 if d.size == 8 else uint32


def ordered(d: DType, descending: bool) -> list[str]:
    """Lines that make `key` of `bits`."""
    return [*constants(d), *twisted(d, descending), *levelled(d)]


def twisted(d: DType, descending: bool) -> list[str]:
    """The same, but for zeros, which differ by their sign: all elements but NaN can be had back."""
    kind, every, _ = _numbers(d)
    lines: list[str] = []
    if d is bool_:
        lines.append(f"key = (bits != 0).to({kind})")
    elif d.is_float:
        top = every >> 1
        finite = top ^ ((1 << d.mantissa) - 1) if d.has_infinity else top - 1
        lines += [
            "key = tl.where((bits & sign) != 0, bits ^ every, bits | sign)",
            f"finite = tl.full((1, 1), {finite}, {kind})",
            "key = tl.where((bits & (every >> 1)) > finite, every, key)",
        ]
    else:
        lines.append("key = bits ^ sign" if d.least < 0 else "key = bits")
    return [*lines, "key = key ^ every"] if descending else lines


def levelled(d: DType) -> list[str]:
    """Lines that make zeros of a twisted `key` equal."""
    return ["key = tl.where(key == (every >> 1), sign, key)"] if d.is_float else []


def straight(d: DType, descending: bool) -> list[str]:
    """Lines that make `bits` of a twisted `key`."""
    lines = ["key = key ^ every"] if descending else []
    if d is bool_:
        return [*lines, "bits = key & 1"]
    if d.is_float:
        return [*lines, "bits = tl.where((key & sign) != 0, key ^ sign, key ^ every)"]
    return [*lines, "bits = key ^ sign" if d.least < 0 else "bits = key"]


def constants(d: DType) -> list[str]:
    """Lines that name the numbers keys are made with."""
    kind, every, sign = _numbers(d)
    return [
        f"every = tl.full((1, 1), {every}, {kind})",
        f"sign = tl.full((1, 1), {sign}, {kind})",
    ]


def _numbers(d: DType) -> tuple[str, int, int]:
    return f"tl.{register_bits(d).name}", (1 << 8 * d.size) - 1, 1 << (8 * d.size - 1)


def place_of(k: str, inner: int) -> str:
    """Where element k of a line lies, whose elements are inner apart."""
    return f"line * n + {k}" if inner == 1 else f"(line // inner * n + {k}) * inner + line % inner"
