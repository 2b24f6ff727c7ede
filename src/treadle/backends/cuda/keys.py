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
    kind, every, sign = f"tl.{register_bits(d).name}", (1 << 8 * d.size) - 1, 1 << (8 * d.size - 1)
    lines = [
        f"every = tl.full((1, 1), {every}, {kind})",
        f"sign = tl.full((1, 1), {sign}, {kind})",
    ]
    if d is bool_:
        lines.append(f"key = (bits != 0).to({kind})")
    elif d.is_float:
        top = every >> 1
        finite = top ^ ((1 << d.mantissa) - 1) if d.has_infinity else top - 1
        lines += [
            "size = bits & (every >> 1)",
            "key = tl.where((bits & sign) != 0, bits ^ every, bits | sign)",
            "key = tl.where(size == 0, sign, key)",
            f"key = tl.where(size > tl.full((1, 1), {finite}, {kind}), every, key)",
        ]
    else:
        lines.append("key = bits ^ sign" if d.least < 0 else "key = bits")
    return [*lines, "key = key ^ every"] if descending else lines


def place_of(k: str, inner: int) -> str:
    """Where element k of a line lies, whose elements are inner apart."""
    return f"line * n + {k}" if inner == 1 else f"(line // inner * n + {k}) * inner + line % inner"
