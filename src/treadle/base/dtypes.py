"""The element types, and which one two of them meet in."""

from __future__ import annotations

from math import copysign, frexp, inf, isfinite, isinf, ldexp, nan
from typing import Any

from treadle.base.errors import DtypeError, explain


class DType:
    """An element type. There is one object per type, so `is` compares within Treadle.

    >>> float32 == "float32", float32 == int32
    (True, False)
    """

    __slots__ = ("bits", "compute", "kind", "mantissa", "name", "rank", "short", "size")

    name: str
    short: str
    kind: str  # "bool", "int", "uint", "float" or "complex"
    bits: int
    size: int  # bytes in memory
    rank: int  # position in the promotion order
    mantissa: int  # stored bits of a float's fraction
    compute: DType  # what arithmetic is done in

    def __init__(
        self, name: str, short: str, kind: str, bits: int, rank: int, mantissa: int = 0
    ) -> None:
        self.name, self.short, self.kind, self.bits, self.rank = name, short, kind, bits, rank
        self.size = max(1, bits // 8)
        self.mantissa, self.compute = mantissa, self

    def __repr__(self) -> str:
        return f"treadle.{self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        return (dtype, (self.name,))

    def __eq__(self, other: object) -> bool:
        """The same type, or a name of it: a string, a Python or a NumPy type."""
        return self is other or (not isinstance(other, DType) and _named(other) is self)

    __hash__ = object.__hash__

    @property
    def is_float(self) -> bool:
        """A floating-point type?"""
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        """A type of complex numbers?"""
        return self.kind == "complex"

    @property
    def is_inexact(self) -> bool:
        """Floating-point or complex: may a gradient flow through it?"""
        return self.kind in ("float", "complex")

    @property
    def part(self) -> DType:
        """What the parts of a complex number are; any other type itself."""
        return PARTS.get(self, self)

    @property
    def is_integer(self) -> bool:
        """A signed or unsigned integer type?"""
        return self.kind in ("int", "uint")

    @property
    def is_storage(self) -> bool:
        """A float too narrow to compute in: arithmetic is done in float32?"""
        return self.compute is not self

    @property
    def bias(self) -> int:
        """What a float's exponent field is above its exponent."""
        return int((1 << (self.bits - self.mantissa - 2)) - 1)

    @property
    def has_infinity(self) -> bool:
        """Is there an infinity? What overflows is NaN in a float without one."""
        return self.is_inexact and self is not float8_e4m3fn

    @property
    def largest(self) -> float:
        """The largest finite float."""
        if self.has_infinity:
            return (2.0 - 2.0**-self.mantissa) * 2.0**self.bias
        return (2.0 - 2.0 ** (1 - self.mantissa)) * 2.0 ** (self.bias + 1)

    @property
    def least(self) -> float | int:
        """The identity of max: -inf where there is one, or the smallest number."""
        if self.is_float:
            return -self.greatest
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def greatest(self) -> float | int:
        """The identity of min: inf where there is one, or the largest number."""
        if self.is_float:
            return float("inf") if self.has_infinity else self.largest
        if self.kind == "bool":
            return 1
        return (1 << (self.bits - (self.kind == "int"))) - 1

    def tells_apart(self, value: Any) -> bool:
        """Is a finite number in memory of this type all that it is beside a tensor of the type?

        Beside floats of 8 and 16 bits it is more precise, and -0.0 is equal to another number.
        """
        if self.is_complex:
            return all(self.part.tells_apart(x) for x in (value.real, value.imag))
        if not self.is_float:
            return self.is_integer
        plain = value != 0 or copysign(1.0, value) > 0
        return plain and not self.is_storage and abs(value) <= self.largest

    def nearest(self, value: float) -> float:
        """The float of this type that is nearest to a number, the even one of two.

        >>> float8_e5m2.nearest(17), float16.nearest(1e6)
        (16.0, inf)
        """
        overflow = inf if self.has_infinity else nan
        if self is float64 or not value or not isfinite(value):
            return copysign(overflow, value) if isinf(value) else float(value)
        exponent = max(frexp(value)[1] - 1, 1 - self.bias)
        rounded = ldexp(round(ldexp(value, self.mantissa - exponent)), exponent - self.mantissa)
        return copysign(rounded if abs(rounded) <= self.largest else overflow, value)


PARTS: dict[DType, DType] = {}
"""Complex types to the floats of which they hold two, the real part first."""

bool_ = DType("bool", "b1", "bool", 1, 0)
uint8 = DType("uint8", "u8", "uint", 8, 1)
int8 = DType("int8", "i8", "int", 8, 2)
uint16 = DType("uint16", "u16", "uint", 16, 3)
int16 = DType("int16", "i16", "int", 16, 4)
uint32 = DType("uint32", "u32", "uint", 32, 5)
int32 = DType("int32", "i32", "int", 32, 6)
uint64 = DType("uint64", "u64", "uint", 64, 7)
int64 = DType("int64", "i64", "int", 64, 8)
float8_e4m3fn = DType("float8_e4m3fn", "f8e4m3", "float", 8, 9, mantissa=3)
float8_e5m2 = DType("float8_e5m2", "f8e5m2", "float", 8, 9, mantissa=2)
float16 = DType("float16", "f16", "float", 16, 9, mantissa=10)
bfloat16 = DType("bfloat16", "bf16", "float", 16, 9, mantissa=7)
float32 = DType("float32", "f32", "float", 32, 10, mantissa=23)
float64 = DType("float64", "f64", "float", 64, 11, mantissa=52)
complex64 = DType("complex64", "c64", "complex", 64, 12)
complex128 = DType("complex128", "c128", "complex", 128, 13)
PARTS |= {complex64: float32, complex128: float64}

ALL = (
    bool_, uint8, int8, uint16, int16, uint32, int32, uint64, int64,
    float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64,
)  # fmt: skip
FLOATS = tuple(d for d in ALL if d.is_float)
INTEGERS = tuple(d for d in ALL if d.is_integer)
NUMBERS = INTEGERS + FLOATS
STORAGE = tuple(d for d in FLOATS if d.bits < 32)
for _narrow in STORAGE:
    _narrow.compute = float32

COMPLEX = (complex64, complex128)
"""Pairs of floats: no kernel knows of them, `passes/pairs.py` writes programs in their parts."""

_NAMES: dict[object, DType] = {key: d for d in (*ALL, *COMPLEX) for key in (d.name, d.short)}
_NAMES |= {bool: bool_, int: int64, float: float32, complex: complex64}


def _named(spec: object) -> DType | None:
    """The DType that a name, a Python type or anything with a NumPy-style name stands for."""
    found = _NAMES.get(spec) if isinstance(spec, str | type) else None
    if found is not None or isinstance(spec, str):
        return found
    name = getattr(spec, "name", None) or getattr(spec, "__name__", None)
    return _NAMES.get(name) if isinstance(name, str) else None


def dtype(spec: object) -> DType:
    """The DType meant by a DType, a name, a Python type or anything with a NumPy-style name.

    >>> dtype("float32") is float32
    True
    """
    if isinstance(spec, DType):
        return spec
    found = _named(spec)
    if found is None:
        names = ", ".join(d.name for d in (*ALL, *COMPLEX))
        raise DtypeError(
            explain("dtype", "unknown element type", f"one of {names}", got=repr(spec))
        )
    return found


_PROMOTED: dict[tuple[DType, DType], DType] = {}


def promote(a: DType, b: DType) -> DType:
    """The smallest type both convert to: bool < integers < floats < complex, on one lattice.

    Two different floats of 8 or 16 bits meet in float32, which is what both compute in.
    """
    if a is b:
        return a
    found = _PROMOTED.get((a, b))
    if found is None:
        found = _PROMOTED[a, b] = _join(a, b)
    return found


def _join(a: DType, b: DType) -> DType:
    low, high = sorted((a, b), key=lambda d: d.rank)
    if low.kind == "bool":
        return high
    if high.is_complex:
        return complex128 if float64 in (low.part, high.part) else complex64
    if low.is_storage and high.is_storage:
        return float32
    if high.is_float or low.kind == high.kind:
        return high
    signed, unsigned = (low, high) if low.kind == "int" else (high, low)
    if signed.bits > unsigned.bits:
        return signed
    wide = {8: int16, 16: int32, 32: int64}
    return wide.get(unsigned.bits, float32)  # uint64 with a signed integer has no integer join


def weak(value: complex, other: DType) -> DType:
    """The type a Python scalar takes beside a tensor of type other."""
    if isinstance(value, complex):
        return promote(complex64, other)
    if isinstance(value, bool) or other.is_inexact:
        return other
    if not isinstance(value, float):
        return int64 if other is bool_ else other
    return float32


def to_float(d: DType) -> DType:
    """d if it is inexact, else the default float: the type of a division or an exponential."""
    return d if d.is_inexact else float32
