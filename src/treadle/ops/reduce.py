"""Rows of the reductions: arg is (axes, keepdims)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import axes_in, drop_axes
from treadle.ops import rules
from treadle.ops.defs import TABLE, Kind, Op, Samples
from treadle.ops.elementwise import cast, eq, ne, where

CASES: tuple[tuple[Any, ...], ...] = (
    ((3, 5), {}), ((3, 5), {"axis": 1}), ((3, 5), {"axis": 0}), ((2, 3, 4), {"axis": (0, 2)}),
    ((2, 3, 4), {"axis": 1, "keepdims": True}), ((7,), {"axis": -1}), ((4, 1), {"axis": 1}),
    ((33, 70), {"axis": -1}), ((70, 33), {"axis": 0}), ((), {}),
)  # fmt: skip


def arguments_of(name: str, empty: bool = True) -> Callable[..., Any]:
    """(x, axis, keepdims) as (operands, (axes, keepdims)); empty: may there be no elements?"""

    def arguments(
        x: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> tuple[tuple[Any], Any]:
        axes = axes_in(name, axis, x.ndim)
        if not empty and 0 in (x.shape[k] for k in axes) and all(drop_axes(x.shape, axes, False)):
            hint = f"the {name} of no elements has no value"
            raise ShapeError(explain(name, "nothing to reduce", hint, shape=x.shape, axes=axes))
        return (x,), (axes, bool(keepdims))

    arguments.__qualname__ = name  # what Python says when it is called with other arguments
    return arguments


def arguments_of_total(name: str) -> Callable[..., Any]:
    """The same of a row with an option dtype: in what it adds or multiplies, cast around it."""
    plain = arguments_of(name)

    def arguments(
        x: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, dtype: Any = None
    ) -> Any:
        if dtype is None:
            return plain(x, axis, keepdims)
        return cast(TABLE[name](cast(x, dtype), axis, keepdims), dtype)

    arguments.__qualname__ = name
    return arguments


def spread(value: Any, y: Any, x: Any) -> Any:
    """A value of the reduced shape, broadcast back over x."""
    axes, keepdims = y.arg
    if not keepdims and value.shape:
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        value = value.reshape(kept)
    return value.expand(x.shape)


def _extreme_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    hits = eq(x, spread(y, y, x))
    if x.dtype.is_float:  # NaN is let through, and takes the slope
        hits = hits | ne(x, x)
    count = sum_(cast(hits, g.dtype), axis=y.arg[0], keepdims=y.arg[1])
    return (where(hits, spread(g / count, y, x), 0.0),)


def reduction(
    name: str, rule: Callable[..., Any], doc: str, reference: Callable[..., Any], grad: Any,
    smooth: bool = True, empty: bool = True, total: bool = False, aliases: tuple[str, ...] = (),
) -> Op:  # fmt: skip
    """A reduction row; empty: has one over no elements a value? total: has it an option dtype?"""
    cases = (*CASES, ((0, 3), {"axis": 0})) if empty else CASES
    arguments = arguments_of_total(name) if total else arguments_of(name, empty)
    return Op(
        name, Kind.REDUCE, doc, types=partial(rule, name), shape=rules.reducing,
        arguments=arguments, grad=grad, reference=reference,
        samples=Samples(cases=cases, smooth=smooth), aliases=aliases,
    )  # fmt: skip


# fmt: off
sum_ = reduction("sum", rules.totals, "Sum of the elements along axes.",
                 lambda np, x, axis=None, keepdims=False: np.sum(x, axis, keepdims=keepdims),
                 lambda g, y, x: (spread(g, y, x),), total=True)
max_ = reduction("max", rules.ordered, "Largest element along axes; NaN if there is one.",
                 lambda np, x, axis=None, keepdims=False: np.max(x, axis, keepdims=keepdims),
                 _extreme_grad, smooth=False, empty=False, aliases=("amax",))
min_ = reduction("min", rules.ordered, "Smallest element along axes; NaN if there is one.",
                 lambda np, x, axis=None, keepdims=False: np.min(x, axis, keepdims=keepdims),
                 _extreme_grad, smooth=False, empty=False, aliases=("amin",))
# fmt: on
