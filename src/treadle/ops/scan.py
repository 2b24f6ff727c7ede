"""Rows of the running totals and of the order along an axis: arg is (axis, ...)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from treadle.base.dtypes import DType, int64
from treadle.base.errors import NotSupported, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.ops import rules
from treadle.ops.arithmetic import logaddexp
from treadle.ops.contract import scatter_add
from treadle.ops.defs import AN_INDEX, TABLE, Kind, Op, Samples
from treadle.ops.elementwise import cast, detach, eq, exp, log, ne, where
from treadle.ops.movement import concat, cut, flip
from treadle.ops.reduce import max_

CASES: tuple[tuple[Any, ...], ...] = (
    ((5,), {}), ((3, 5), {"axis": 1}), ((3, 5), {"axis": 0}), ((2, 3, 4), {"axis": -2}),
    ((1,), {"axis": 0}), ((0, 3), {"axis": 0}), ((3, 0), {"axis": 0}), ((4, 70), {"axis": -1}),
    ((70, 37), {"axis": 0}),
)  # fmt: skip
MOST = 1 << 32  # elements of a line that is sorted: an index takes 32 bits meanwhile


def _along(name: str) -> Callable[..., Any]:
    """(x, axis) as (operands, (axis,)); a 0-d tensor is a line of one element."""

    def arguments(x: Any, axis: int | None = None) -> Any:
        if not x.ndim:
            return TABLE[name](x.reshape(1), axis_in(name, axis or 0, 1)).reshape(())
        if axis is None and x.ndim != 1:
            hint = "name one, such as axis=-1; x.reshape(-1) has one axis only"
            raise ShapeError(explain(name, "along which axis?", hint, shape=x.shape))
        return (x,), (axis_in(name, axis or 0, x.ndim),)

    arguments.__qualname__ = name  # what Python says when it is called with other arguments
    return arguments


def _along_total(name: str) -> Callable[..., Any]:
    """The same of a row with an option dtype: in what it adds or multiplies, cast around it."""
    plain = _along(name)

    def arguments(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
        if dtype is None:
            return plain(x, axis)
        return cast(TABLE[name](cast(x, dtype), axis), dtype)

    arguments.__qualname__ = name
    return arguments


class Placed(NamedTuple):
    """Elements, and where they stand along their axis."""

    values: Any
    indices: Any


def _along_extreme(name: str) -> Callable[..., Any]:
    """The same of a row that can say where its elements stand."""
    plain = _along(name)

    def arguments(x: Any, axis: int | None = None, return_indices: bool = False) -> Any:
        if not return_indices:
            return plain(x, axis)
        y = TABLE[name](x, axis)
        if not x.ndim:
            return Placed(y, cast(x.zeros_like(), int64))
        return Placed(y, _place(y, x, axis_in(name, axis or 0, x.ndim)))

    arguments.__qualname__ = name
    return arguments


def _place(y: Any, x: Any, axis: int) -> Any:
    """Where an extreme stands: the last place so far that equals it."""
    hit = eq(x, y) | ne(x, x)
    return cummax(where(hit, x.iota_like(axis), 0), axis=axis)


def _backwards(op: Op, x: Any, axis: int) -> Any:
    """The scan from the last element to the first."""
    return flip(op(flip(x, axis), axis=axis), axis)


def _product_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """Up to the first zero of a line a quotient, there the products without it, behind it none.

    At an infinity the quotient is NaN, unless it stands alone.
    """
    (axis,) = y.arg
    if x.shape[axis] == 1:
        return (g,)
    zero = eq(x, 0)
    zeros = cumsum(cast(zero, int64), axis=axis)
    first = zero & eq(zeros, 1)
    without = cumprod(where(first, 1.0, x), axis=axis)
    before = _backwards(cumsum, g * y, axis) / where(zero, 1.0, x)
    there = _backwards(cumsum, g * without, axis)
    return (where(eq(zeros, 0), before, where(first, there, 0.0)),)


def _extreme_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """Each cotangent goes where its extreme stands."""
    (axis,) = y.arg
    return (scatter_add(x.zeros_like(), _place(y, x, axis), g, axis=axis),)


def _log_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """exp(x) times the sum of g exp(-y) from here on, as logarithms: exp(-y) may overflow.

    Both are taken less the largest element: what is large, y has rounded away more of.
    """
    (axis,) = y.arg
    peak = detach(max_(x, axis=axis, keepdims=True)) if 0 not in x.shape else x
    x = x - where(eq(abs(peak), math.inf), 0.0, peak)
    y = logcumsumexp(x, axis=axis)

    def part(weight: Any) -> Any:
        some = (weight > 0) & ne(y, -math.inf)
        terms = where(some, log(where(some, weight, 1.0)) - where(some, y, 0.0), -math.inf)
        return exp(_backwards(logcumsumexp, terms, axis) + x)

    return (part(g) - part(-g),)


def _along_log(name: str) -> Callable[..., Any]:
    """The same, of complex numbers by sums of 1, 2, 4 ... elements: each and the one before it."""
    plain = _along(name)

    def arguments(x: Any, axis: int | None = None) -> Any:
        found = plain(x, axis)
        if not x.ndim or not x.dtype.is_complex:
            return found
        ((y,), (at,)), step = found, 1
        while step < x.shape[at]:
            before = cut(y, at, 0, x.shape[at] - step)
            sums = logaddexp(before, cut(y, at, step, x.shape[at]))
            y, step = concat([cut(y, at, 0, step), sums], axis=at), 2 * step
        return y

    arguments.__qualname__ = name
    return arguments


def _log_sums(np: Any, x: Any, axis: int) -> Any:
    if np.iscomplexobj(x):
        return np.log(np.cumsum(np.exp(x), axis))
    return np.logaddexp.accumulate(x, axis)


def _scan(
    name: str, rule: Callable[..., Any], doc: str, reference: Callable[..., Any], grad: Any,
    flops: float = 1.0, arguments: Callable[[str], Callable[..., Any]] = _along,
) -> Op:  # fmt: skip
    """A row of a running total."""
    return Op(
        name, Kind.SCAN, doc, types=partial(rule, name), shape=lambda _, shapes: shapes[0],
        arguments=arguments(name), grad=grad, flops=flops,
        reference=lambda np, x, axis=0: reference(np, x, axis), samples=Samples(cases=CASES),
    )  # fmt: skip


# fmt: off
cumsum: Op = _scan("cumsum", rules.totals, "Sums of the elements so far along an axis.",
                   lambda np, x, axis: np.cumsum(x, axis),
                   lambda g, y, x: (_backwards(cumsum, g, y.arg[0]),), arguments=_along_total)
cumprod = _scan("cumprod", rules.totals, "Products of the elements so far along an axis.",
                lambda np, x, axis: np.cumprod(x, axis), _product_grad,
                arguments=_along_total)
cummax = _scan("cummax", rules.ordered,
               "Largest element so far along an axis; NaN once seen. return_indices: and where.",
               lambda np, x, axis: np.maximum.accumulate(x, axis), _extreme_grad,
               arguments=_along_extreme)
cummin = _scan("cummin", rules.ordered,
               "Smallest element so far along an axis; NaN once seen. return_indices: and where.",
               lambda np, x, axis: np.minimum.accumulate(x, axis), _extreme_grad,
               arguments=_along_extreme)
logcumsumexp = _scan("logcumsumexp", rules.floating, "log(cumsum(exp(x))), without overflow.",
                     _log_sums, _log_grad, 40.0, arguments=_along_log)
# fmt: on


def _argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """stable is part of the standard: every sort here is."""
    if not x.ndim:
        return argsort(x.reshape(1), axis=axis, descending=descending).reshape(())
    axis = axis_in("argsort", axis, x.ndim)
    if x.shape[axis] >= MOST:
        facts = {"size": x.shape[axis], "most": MOST - 1}
        raise NotSupported(explain("argsort", "the axis is too long", **facts))
    return (x,), (axis, bool(descending))


def _argsort_reference(np: Any, x: Any, axis: int = -1, descending: bool = False) -> Any:
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def _index_rule(dtypes: Any) -> tuple[tuple[DType, ...], DType]:
    return rules.ordered("argsort", dtypes)[0], int64


argsort: Op = Op(
    "argsort", Kind.SCAN,
    "Indices that sort along an axis; equal elements keep their order. NaN counts as the largest.",
    types=_index_rule, shape=lambda _, shapes: shapes[0], arguments=_argsort,
    grad=AN_INDEX, reference=_argsort_reference, flops=16.0,
    samples=Samples(cases=(
        *CASES, ((3, 200), {"descending": True}), ((300, 3), {"axis": 0}), ((5000,), {}),
    )),
)  # fmt: skip
