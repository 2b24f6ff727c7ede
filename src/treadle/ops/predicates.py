"""Rows that ask a question of every element and answer with bool."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.dtypes import bool_, float64
from treadle.base.errors import ArgumentError, explain
from treadle.ops.composite import composite
from treadle.ops.defs import JUMPS, Samples
from treadle.ops.elementwise import bitwise_and, bitwise_or, cast, eq, imag, le, lt, ne, real
from treadle.ops.reduce import sum_


@composite(lambda np, x: np.isnan(x), grad=JUMPS)
def isnan(x: Any, /) -> Any:
    """True where x is NaN."""
    return ne(x, x)


@composite(lambda np, x: np.isinf(x), grad=JUMPS)
def isinf(x: Any, /) -> Any:
    """True where x is infinite."""
    return eq(abs(x), math.inf) if x.dtype.has_infinity else lt(x, x)


@composite(lambda np, x: np.isfinite(x), grad=JUMPS)
def isfinite(x: Any, /) -> Any:
    """True where x is neither infinite nor NaN."""
    if x.dtype.is_complex:  # the size of finite parts may be infinite
        return bitwise_and(isfinite(real(x)), isfinite(imag(x)))
    return lt(abs(x), math.inf) if x.dtype.has_infinity else eq(x, x)


def truth_of(x: Any) -> Any:
    """x as a mask: what is not 0."""
    return x if x.dtype is bool_ else cast(x, bool_)


@composite(lambda np, x: np.logical_not(x), grad=JUMPS)
def logical_not(x: Any, /) -> Any:
    """True where x is zero or false."""
    return ~truth_of(x)


@composite(lambda np, x, y: np.logical_and(x, y), grad=JUMPS)
def logical_and(x: Any, y: Any, /) -> Any:
    """True where neither is zero or false."""
    return bitwise_and(truth_of(x), truth_of(y))


@composite(lambda np, x, y: np.logical_or(x, y), grad=JUMPS)
def logical_or(x: Any, y: Any, /) -> Any:
    """True where not both are zero or false."""
    return bitwise_or(truth_of(x), truth_of(y))


@composite(lambda np, x, y: np.logical_xor(x, y), grad=JUMPS)
def logical_xor(x: Any, y: Any, /) -> Any:
    """True where one alone is zero or false."""
    return ne(truth_of(x), truth_of(y))


@composite(lambda np, x: np.bitwise_not(x), grad=JUMPS, aliases=("bitwise_invert",))
def bitwise_not(x: Any, /) -> Any:
    """All bits turned; not, on bool."""
    return ~x


# ---- nearness


def _close(
    np: Any, x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    kind = np.result_type(x.dtype, y.dtype, np.float64)
    return np.isclose(x.astype(kind), y.astype(kind), rtol, atol, equal_nan)


def _near(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Operands of which some are close."""
    x = rng.integers(0, 3, shapes[0]).astype(kind)
    return [x, (rng.integers(0, 2, shapes[1]) * 1e-6 + 1.0).astype(kind)]


@composite(_close, Samples(draw=_near), grad=JUMPS)
def isclose(
    x: Any, y: Any, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """True where |x - y| <= atol + rtol * |y|; infinities are close to themselves alone.

    equal_nan: is NaN close to NaN?
    """
    if not min(rtol, atol) >= 0:
        facts = {"rtol": rtol, "atol": atol}
        raise ArgumentError(explain("isclose", "a tolerance is negative", **facts))
    x, y = (a if a.dtype.is_inexact else cast(a, float64) for a in (x, y))
    near = bitwise_and(le(abs(x - y), atol + rtol * abs(y)), isfinite(y))
    same = bitwise_or(eq(x, y), near)
    return bitwise_or(same, bitwise_and(isnan(x), isnan(y))) if equal_nan else same


@composite(
    lambda np, x, y, **options: np.all(_close(np, x, y, **options)),
    Samples(cases=(
        ((3, 4), (3, 4), {}), ((4,), (2, 4), {"atol": 10.0}), ((0,), (1,), {}), ((3,), (), {}),
    )), grad=JUMPS,
)  # fmt: skip
def allclose(
    x: Any, y: Any, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Is every element of x close to that of y, as isclose says? A 0-d bool."""
    return eq(sum_(~isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)), 0)
