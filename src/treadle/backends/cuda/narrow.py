"""How elements get from memory into registers and back, on any GPU that Triton knows.

Floats of 8 bits are bytes in memory, converted by integer arithmetic: GPUs before Hopper have no
instruction for them, and those of Hopper turn what overflows into the largest number.
"""

from __future__ import annotations

from treadle.base.dtypes import STORAGE, DType, bool_, float8_e4m3fn, float8_e5m2, float32

FLOAT8 = tuple(d for d in STORAGE if d.bits == 8)
TENSOR = {float8_e4m3fn: "tl.float8e4nv", float8_e5m2: "tl.float8e5"}  # in tensor cores
WIDE = float32.mantissa


def memory_type(d: DType) -> str:
    """The Triton type of one element in memory."""
    if d in FLOAT8:
        return "tl.uint8"
    return "tl.int8" if d is bool_ else f"tl.{d.name}"


def loaded(text: str, d: DType) -> str:
    """Elements from memory as they are in registers."""
    if d is bool_:
        return f"{text} != 0"
    if d in FLOAT8:
        return f"from_{d.name}({text})"
    return f"{text}.to(tl.float32)" if d.is_storage else text


def stored(text: str, d: DType) -> str:
    """Registers as they are in memory."""
    return f"to_{d.name}({text})" if d in FLOAT8 else f"({text}).to({memory_type(d)})"


def _to_float8(d: DType) -> str:
    """Rounded to nearest even: by a carry, and for small numbers by a sum with that last place."""
    lost, grid = WIDE - d.mantissa, WIDE - d.bias - d.mantissa + 1
    overflow = _overflow(d)
    return f"""
def to_{d.name}(x):
    bits = x.to(tl.int32, bitcast=True)
    size = bits & 0x7FFFFFFF
    nearest = size + ((size >> {lost}) & 1) + {(1 << (lost - 1)) - 1}
    normal = (nearest >> {lost}) - {(float32.bias - d.bias) << d.mantissa}
    sum = size.to(tl.float32, bitcast=True) + {2.0**grid}
    tiny = sum.to(tl.int32, bitcast=True) - {(float32.bias + grid) << WIDE}
    result = tl.where(size < {(float32.bias - d.bias + 1) << WIDE}, tiny, normal)
    result = tl.where(result > {overflow}, {overflow}, result)
    result = tl.where(x != x, {overflow | 1 << (d.mantissa - 1)}, result)
    return (result + ((bits >> 24) & 0x80)).to(tl.uint8)
"""


def _from_float8(d: DType) -> str:
    overflow = _overflow(d)
    above = float32.bias + 1 + d.bias - (overflow >> d.mantissa)
    return f"""
def from_{d.name}(x):
    wide = x.to(tl.int32)
    size = wide & 0x7F
    normal = (size << {WIDE - d.mantissa}) + {(float32.bias - d.bias) << WIDE}
    tiny = size.to(tl.float32) * {2.0 ** (1 - d.bias - d.mantissa)}
    result = tl.where(size < {1 << d.mantissa}, tiny.to(tl.int32, bitcast=True), normal)
    result = tl.where(size >= {overflow}, result + {above << WIDE}, result)
    return (result | ((wide & 0x80) << 24)).to(tl.float32, bitcast=True)
"""


def _overflow(d: DType) -> int:
    """The first byte that is no finite number: infinity, or the only NaN."""
    return 0x7F ^ ((1 << d.mantissa) - 1) if d.has_infinity else 0x7F


CONVERSIONS = {f"to_{d.name}": _to_float8(d) for d in FLOAT8}
CONVERSIONS |= {f"from_{d.name}": _from_float8(d) for d in FLOAT8}
