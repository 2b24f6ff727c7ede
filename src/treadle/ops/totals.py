"""Rows of products, norms and counts: what else the elements along axes come to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.base.dtypes import int64
from treadle.base.shapes import axes_in
from treadle.ops import rules
from treadle.ops.composite import Axes, as_float, composite, precisely, var
from treadle.ops.defs import JUMPS, Samples
from treadle.ops.elementwise import abs_, cast, detach, eq, ne, sqrt, where
from treadle.ops.predicates import truth_of
from treadle.ops.reduce import CASES, max_, min_, reduction, spread, sum_

# ---- products


def _product_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """The product of the other elements, by division; zeros are counted and left out of it.

    Their sum is 0 too, but knows how it changes: what is a product of zeros and other elements has
    the right derivatives, as far as the second of the product.
    """
    axes = y.arg[0]
    if not axes or 0 in x.shape:
        return (spread(g, y, x),)
    zero = eq(x, 0)
    some = where(zero, 1.0, x)
    product = prod_(some, axis=axes, keepdims=True)
    zeros = sum_(cast(zero, int64), axis=axes, keepdims=True)
    near = sum_(where(zero, x, 0.0), axis=axes, keepdims=True)
    of_zeros = where(eq(zeros, 0), 1.0, where(eq(zeros, 1), near, 0.0))
    of_other_zeros = where(eq(zeros, 1), 1.0, where(eq(zeros, 2), near - x, 0.0))
    others = where(zero, of_other_zeros, of_zeros) * product / some
    return (spread(g, y, x) * others,)


prod_ = reduction(
    "prod", rules.totals, "Product of the elements along axes.",
    lambda np, x, axis=None, keepdims=False: np.prod(x, axis, keepdims=keepdims),
    _product_grad, total=True,
)  # fmt: skip

# ---- truth and counts


def _is_empty(x: Any, axis: Axes, name: str) -> bool:
    return 0 in (x.shape[k] for k in axes_in(name, axis, x.ndim))


LOGICAL = Samples(cases=(*CASES, ((0, 3), {"axis": 0}), ((3, 0), {})), low=-1.0, high=1.0)


@composite(
    lambda np, x, axis=None, keepdims=False: np.count_nonzero(x, axis=axis, keepdims=keepdims),
    LOGICAL, grad=JUMPS,
)  # fmt: skip
def count_nonzero(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """How many elements along axes are not 0."""
    return sum_(cast(truth_of(x), int64), axis=axis, keepdims=keepdims)


@composite(
    lambda np, x, axis=None, keepdims=False: np.any(x, axis=axis, keepdims=keepdims), LOGICAL,
    grad=JUMPS,
)  # fmt: skip
def any_(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """Is an element along axes not 0?"""
    if _is_empty(x, axis, "any"):
        return ne(count_nonzero(x, axis=axis, keepdims=keepdims), 0)
    return max_(truth_of(x), axis=axis, keepdims=keepdims)


@composite(
    lambda np, x, axis=None, keepdims=False: np.all(x, axis=axis, keepdims=keepdims), LOGICAL,
    grad=JUMPS,
)  # fmt: skip
def all_(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """Is no element along axes 0?"""
    if _is_empty(x, axis, "all"):
        return eq(count_nonzero(ne(truth_of(x), True), axis=axis, keepdims=keepdims), 0)
    return min_(truth_of(x), axis=axis, keepdims=keepdims)


# ---- norms


@composite(
    lambda np, x, axis=None, keepdims=False, correction=0: np.std(
        x, axis, ddof=correction, keepdims=keepdims
    ),
    Samples(cases=(
        ((3, 5), {}), ((3, 5), {"axis": 1, "correction": 1}), ((2, 3, 4), {"axis": (0, 2)}),
    )),
)  # fmt: skip
def std(x: Any, /, axis: Axes = None, keepdims: bool = False, correction: float = 0) -> Any:
    """Standard deviation along axes: the root of the variance; flat where all are equal."""

    def define(x: Any) -> Any:
        spread = root_of(var(x, axis=axis, keepdims=keepdims, correction=correction), sqrt)
        few = math.prod(x.shape[k] for k in axes_in("std", axis, x.ndim)) <= correction
        if few or x.dtype.is_complex:
            return spread
        high, low = (op(detach(x), axis=axis, keepdims=keepdims) for op in (max_, min_))
        return where(eq(high, low), high - low, spread)  # the mean of equal elements is rounded

    return define(x) if x.dtype.is_complex else precisely(define, x)


def root_of(total: Any, root: Callable[[Any], Any]) -> Any:
    """A root, flat at 0: there it is steep, and no direction is the way up."""
    nothing = eq(total, 0.0)
    return where(nothing, 0.0, root(where(nothing, 1.0, total)))


def _norm(np: Any, x: Any, axis: Any = None, keepdims: bool = False, **power: float) -> Any:
    size, p = np.abs(x), power.get("ord", 2)
    if math.isinf(p):
        return (np.max if p > 0 else np.min)(size, axis, keepdims=keepdims)
    if p == 0:
        return np.sum((size != 0) * 1.0, axis, keepdims=keepdims)
    return np.sum(size**p, axis, keepdims=keepdims) ** (1 / p)


POWERS = (1, 3, 2.5, -1, math.inf, -math.inf)


@composite(
    _norm, Samples(cases=(
        ((3, 5), {}), *(((3, 5), {"ord": p, "axis": 1}) for p in POWERS),
        ((2, 3, 4), {"axis": (0, 2), "keepdims": True}), ((4, 3), {"ord": math.inf}), ((0,), {}),
    ), low=0.5), aliases=("vector_norm",),
)  # fmt: skip
def norm(
    x: Any,
    /,
    ord: float = 2,  # noqa: A002 - the array API's name
    axis: Axes = None,
    keepdims: bool = False,
) -> Any:
    """(sum |x|**ord)**(1/ord) along axes; inf and -inf give the largest and smallest, 0 a count.

    Zeros have a gradient of 0, also below ord 1, where their powers are steep.
    """
    size = abs_(as_float(x))
    if math.isinf(ord):
        return (max_ if ord > 0 else min_)(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return cast(count_nonzero(x, axis=axis, keepdims=keepdims), size.dtype)
    if ord == 1:
        return sum_(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return root_of(sum_(size * size, axis=axis, keepdims=keepdims), sqrt)
    power = root_of(size, lambda some: some ** float(ord)) if 0 < ord < 1 else size ** float(ord)
    if ord < 0:
        zero = eq(size, 0.0)
        power = where(zero, math.inf, where(zero, 1.0, size) ** float(ord))
    total = sum_(power, axis=axis, keepdims=keepdims)
    return root_of(total, lambda some: some ** (1.0 / ord)) if ord > 0 else total ** (1.0 / ord)
