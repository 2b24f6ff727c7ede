"""What a dtype can hold, what it converts to, and of which kind it is."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from treadle.base.dtypes import DType, bool_, promote, weak
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, DtypeError, explain

KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}
"""Names of the array API standard to ours."""


class FloatLimits(NamedTuple):
    """The numbers a floating-point dtype holds.

    - **eps**: from 1 to the next number
    - **max**, **min**: the largest and smallest finite numbers
    - **smallest_normal**: the smallest positive number of full precision
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerLimits(NamedTuple):
    """The numbers an integer dtype holds."""

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(x: object) -> DType:
    """The dtype that x is, names, or has."""
    return dtype_of(x if isinstance(x, DType | str | type) else getattr(x, "dtype", x))


def finfo(kind: object) -> FloatLimits:
    """Limits of a floating-point dtype, or of a tensor's; of a complex one, those of its parts.

    >>> finfo("float16").max
    65504.0
    """
    d = _dtype_of(kind).part
    if not d.is_float:
        raise DtypeError(explain("finfo", "not a float", "iinfo knows integers", dtype=d.name))
    return FloatLimits(d.bits, 2.0**-d.mantissa, d.largest, -d.largest, 2.0 ** (1 - d.bias), d)


def iinfo(kind: object) -> IntegerLimits:
    """Limits of an integer dtype, or of a tensor's.

    >>> iinfo("uint8").max
    255
    """
    d = _dtype_of(kind)
    if not d.is_integer:
        raise DtypeError(explain("iinfo", "not an integer", "finfo knows floats", dtype=d.name))
    return IntegerLimits(d.bits, int(d.greatest), int(d.least), d)


def result_type(*parts: object) -> DType:
    """The dtype that an op on tensors, dtypes and Python numbers is computed in; numbers are weak.

    >>> result_type("uint8", "int8", 3)
    treadle.int16
    """
    if not parts:
        raise ArgumentError(explain("result_type", "needs a tensor, a dtype or a number"))
    numbers = [x for x in parts if isinstance(x, int | float | complex)]
    dtypes = [_dtype_of(x) for x in parts if not isinstance(x, int | float | complex)]
    found = reduce(promote, dtypes) if dtypes else bool_
    for number in numbers:
        found = weak(number, found)
    return found


def promote_types(a: object, b: object) -> DType:
    """The smallest dtype that two (or two tensors') convert to.

    >>> promote_types("uint8", "int8")
    treadle.int16
    """
    return promote(_dtype_of(a), _dtype_of(b))


def can_cast(source: object, to: object) -> bool:
    """Does promotion lead from one dtype (or a tensor's) to the other?

    >>> can_cast("int8", "int16"), can_cast("float64", "float32")
    (True, False)
    """
    wanted = _dtype_of(to)
    return promote(_dtype_of(source), wanted) is wanted


def isdtype(dtype: object, kind: object) -> bool:
    """Is a dtype of a kind: a name such as "integral", a dtype, or any of a tuple of these?

    >>> isdtype("int8", "integral"), isdtype("int8", ("bool", "real floating"))
    (True, False)
    """
    d = dtype_of(dtype)
    if isinstance(kind, tuple):
        return any([isdtype(d, one) for one in kind])  # noqa: C419 - every name is checked
    if isinstance(kind, str):
        if kind not in KINDS:
            hint = f"one of {', '.join(KINDS)}, or a dtype"
            raise ArgumentError(explain("isdtype", "unknown kind", hint, got=repr(kind)))
        return d.kind in KINDS[kind]
    return d is dtype_of(kind)
