"""Dtype and shape rules as pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from treadle.base.dtypes import (
    COMPLEX,
    INTEGERS,
    NUMBERS,
    DType,
    bool_,
    complex64,
    int32,
    int64,
    promote,
    to_float,
    uint64,
)  # fmt: skip
from treadle.base.errors import DtypeError, explain
from treadle.base.shapes import Shape, broadcast, drop_axes

Dtypes = Sequence[DType]
Casts = tuple[tuple[DType, ...], DType]


def require(what: str, dtypes: Dtypes, allowed: Sequence[DType]) -> None:
    """Raise for a dtype that is not allowed, and say which are."""
    for d in dtypes:
        if d not in allowed:
            names = ", ".join(a.name for a in allowed)
            hint = f"cast the operand first; supported: {names}"
            raise DtypeError(explain(what, "unsupported operand dtype", hint, dtype=d.name))


def refuse_complex(what: str, dtypes: Dtypes, wrong: str, hint: str) -> None:
    """Raise if a dtype is complex, and say what would work."""
    for d in dtypes:
        if d.is_complex:
            raise DtypeError(explain(what, wrong, hint, dtype=d.name))


def any_dtype(name: str, dtypes: Dtypes) -> Casts:
    """All operands promoted; the result has that type."""
    common = reduce(promote, dtypes)
    return (common,) * len(dtypes), common


def ordered(name: str, dtypes: Dtypes) -> Casts:
    """Promoted; anything but complex numbers, of which none is the larger."""
    hint = "take abs(x), x.real or x.imag"
    refuse_complex(name, dtypes, "complex numbers have no order", hint)
    return any_dtype(name, dtypes)


def number(name: str, dtypes: Dtypes) -> Casts:
    """Promoted; anything but bool."""
    cast, common = any_dtype(name, dtypes)
    require(name, (common,), (*NUMBERS, *COMPLEX))
    return cast, common


def real_number(name: str, dtypes: Dtypes) -> Casts:
    """Promoted; integers and floats."""
    hint = "take x.real and x.imag one by one"
    refuse_complex(name, dtypes, "not defined on complex numbers", hint)
    cast, common = any_dtype(name, dtypes)
    require(name, (common,), NUMBERS)
    return cast, common


def size(name: str, dtypes: Dtypes) -> Casts:
    """Of a complex number a float; any other number keeps its type."""
    cast, common = number(name, dtypes)
    return cast, common.part


def parts(name: str, dtypes: Dtypes) -> Casts:
    """Of a complex number a float; any other type stays."""
    return tuple(dtypes), dtypes[0].part


def pair(name: str, dtypes: Dtypes) -> Casts:
    """Two floats to the complex number of their promoted type."""
    common = to_float(reduce(promote, dtypes)).compute
    refuse_complex(name, dtypes, "the parts of a complex number are real", "take x.real")
    return (common,) * len(dtypes), promote(complex64, common)


def analytic(name: str, dtypes: Dtypes) -> Casts:
    """Promoted to a float or a complex type: integers become the default float."""
    common = to_float(reduce(promote, dtypes))
    return (common,) * len(dtypes), common


def floating(name: str, dtypes: Dtypes) -> Casts:
    """Promoted to a float: integers become the default float."""
    hint = "take x.real, x.imag or abs(x)"
    refuse_complex(name, dtypes, "not defined on complex numbers", hint)
    return analytic(name, dtypes)


def whole(name: str, dtypes: Dtypes) -> Casts:
    """Promoted; integers and bool."""
    cast, common = any_dtype(name, dtypes)
    require(name, (common,), (bool_, *INTEGERS))
    return cast, common


def shifts(name: str, dtypes: Dtypes) -> Casts:
    """Promoted; integers only."""
    cast, common = any_dtype(name, dtypes)
    require(name, (common,), INTEGERS)
    return cast, common


def equality(name: str, dtypes: Dtypes) -> Casts:
    """Operands promoted, result bool."""
    return any_dtype(name, dtypes)[0], bool_


def comparison(name: str, dtypes: Dtypes) -> Casts:
    """Operands promoted, anything that has an order; result bool."""
    return ordered(name, dtypes)[0], bool_


def choice(name: str, dtypes: Dtypes) -> Casts:
    """Condition bool, the other two promoted."""
    require(name, dtypes[:1], (bool_,))
    common = promote(dtypes[1], dtypes[2])
    return (bool_, common, common), common


def totals(name: str, dtypes: Dtypes) -> Casts:
    """Sums: bool and integers add up in the 64 bits of their kind."""
    d = dtypes[0]
    result = d if d.is_inexact else uint64 if d.kind == "uint" else int64
    return (result,), result


def summed_in(dtypes: Dtypes) -> DType:
    """What products of these add up in: of integers too narrow for it, int32 or int64."""
    common = reduce(promote, dtypes)
    widest = max([d.bits for d in dtypes])
    return {8: int32, 16: int64}.get(widest, common) if common.is_integer else common


def products(name: str, dtypes: Dtypes) -> Casts:
    """Sums of products: promoted; those of 8-bit integers are int32, of 16-bit ones int64.

    Wider integers keep their type and wrap around, as the array API, NumPy and PyTorch have it.
    """
    cast, common = number(name, dtypes)
    result = summed_in(dtypes)
    return (cast if result is common else tuple(dtypes)), result


def first(name: str, dtypes: Dtypes) -> Casts:
    """The result has the type of the first operand; nothing is cast."""
    return tuple(dtypes), dtypes[0]


def indexed(name: str, dtypes: Dtypes) -> Casts:
    """(values, int indices, ...): indices must be integers."""
    require(name, dtypes[1:2], INTEGERS)
    casts = (dtypes[0], int64) + (dtypes[0],) * (len(dtypes) - 2)
    return casts, dtypes[0]


def indexed_in_order(name: str, dtypes: Dtypes) -> Casts:
    """The same; values that are no complex numbers."""
    refuse_complex(name, dtypes, "not defined on complex numbers", "take x.real and x.imag")
    return indexed(name, dtypes)


# ---- shapes: (arg, operand shapes) -> shape


def broadcasting(name: str) -> Any:
    """Elementwise: all broadcast together."""
    return lambda _, shapes: shapes[0] if len(shapes) == 1 else broadcast(name, *shapes)


def reducing(arg: tuple[tuple[int, ...], bool], shapes: Sequence[Shape]) -> Shape:
    """arg is (axes, keepdims)."""
    return drop_axes(shapes[0], *arg)
