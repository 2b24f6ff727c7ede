"""How floats of 8 bits become float32 and back, whatever the processor knows of them.

Rounding is to nearest, ties to even; what overflows is infinity, or NaN in a type without one.
"""

from __future__ import annotations

from treadle.backends.cpu.vector import Vec
from treadle.base.dtypes import DType, float32, float64

SIGN, SIZE = 0x80, 0x7F  # of a byte
WIDE = float32.mantissa


def to_float8(x: Vec, d: DType) -> Vec:
    """float32 lanes as the bytes of a float8 type."""
    bits = x.bits()
    size = bits & 0x7FFFFFFF
    lost = WIDE - d.mantissa
    # Half of the last place, less where a tie goes down; the carry may go on into the exponent.
    nearest = size + ((size >> lost) & 1) + ((1 << (lost - 1)) - 1)
    normal = (nearest >> lost) - ((float32.bias - d.bias) << d.mantissa)
    # The last place of this sum is the smallest float8, so the addition does the rounding.
    grid = WIDE - d.bias - d.mantissa + 1
    tiny = (size.as_float() + 2.0**grid).bits() - ((float32.bias + grid) << WIDE)
    result = tiny.where(size.compare("slt", (float32.bias - d.bias + 1) << WIDE), normal)
    overflow = _overflow(d)
    result = result.constant(overflow).where(result.compare("sgt", overflow), result)
    nan = result.constant(overflow | 1 << (d.mantissa - 1))
    result = nan.where(x.compare("uno", x), result)
    return _converted("trunc", result + ((bits >> 24) & SIGN), "i8")


def from_float8(x: Vec, d: DType) -> Vec:
    """The bytes of a float8 type as float32 lanes."""
    wide = _converted("zext", x, "i32")
    size = wide & SIZE
    normal = (size << (WIDE - d.mantissa)) + ((float32.bias - d.bias) << WIDE)
    tiny = _converted("sitofp", size, "float") * 2.0 ** (1 - d.bias - d.mantissa)
    result = tiny.bits().where(size.compare("slt", 1 << d.mantissa), normal)
    overflow = _overflow(d)
    above = float32.bias + 1 + d.bias - (overflow >> d.mantissa)  # to the largest exponent
    result = (result + (above << WIDE)).where(size.compare("sge", overflow), result)
    return (result + ((wide & SIGN) << 24)).as_float()


def to_odd(x: Vec) -> Vec:
    """float64 as float32, cut off to an odd last bit: rounding that again is rounding once."""
    bits = x.bits()
    last = 1 << (float64.mantissa - WIDE)
    lost = bits & (last - 1)
    exact = bits - lost
    odd = (exact & ~last) + last
    return exact.where(lost.compare("eq", 0), odd).as_float().narrowed()


def _overflow(d: DType) -> int:
    """The first byte that is no finite number: infinity, or the only NaN."""
    return SIZE ^ ((1 << d.mantissa) - 1) if d.has_infinity else SIZE


def _converted(op: str, x: Vec, type_: str) -> Vec:
    return x.like(x.ir.op(f"{op} {x.vector} {x.value} to <{x.lanes} x {type_}>"), type_)
