"""How often numbers occur, as a row."""

from __future__ import annotations

from typing import Any

from treadle.base.dtypes import INTEGERS, bool_, float64, int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.ops.composite import composite
from treadle.ops.contract import scatter_add
from treadle.ops.defs import ON_INTEGERS, Samples
from treadle.ops.elementwise import cast, where
from treadle.ops.movement import cut, pad
from treadle.ops.reduce import max_, min_
from treadle.ops.rules import require


@composite(
    lambda np, x, weights=None, length=None: np.bincount(
        x.astype(np.int64), weights, minlength=length or 0
    ),
    Samples(cases=(
        ((9,), {"length": 6}), ((0,), {"length": 2}), ((500,), {"length": 5}),
        ((9,), (9,), {"length": 3}),
    ), draw=lambda rng, kind, shapes: [rng.integers(0, 2, s).astype(kind) for s in shapes]),
    grad=ON_INTEGERS, inline=True,
)  # fmt: skip
def bincount(x: Any, weights: Any = None, /, minlength: int = 0, length: int | None = None) -> Any:
    """How often 0, 1, 2, ... occur in a tensor of one axis, or the sums of their weights.

    There are as many counts as the largest element asks for, at least minlength. That number has to
    be read, so a compiled function gives the length; elements outside of it are not counted.
    """
    require("bincount", [x.dtype], (bool_, *INTEGERS))
    if x.ndim != 1:
        raise ShapeError(explain("bincount", "needs one axis", "x.reshape(-1)", shape=x.shape))
    x = cast(x, int64)
    if length is None:
        length = minlength
        if x.shape[0]:
            length = max(minlength, _count_length(x))
    if min(length, minlength) < 0:
        facts = {"length": length, "minlength": minlength}
        raise ArgumentError(explain("bincount", "a length is not negative", **facts))
    counted = (x >= 0) & (x < length)
    if weights is None:
        each, kind = cast(counted, int64), int64
    else:
        if weights.shape != x.shape:
            facts = {"shape": x.shape, "weights": weights.shape}
            raise ShapeError(explain("bincount", "one weight for each element", **facts))
        kind = weights.dtype if weights.dtype.is_float else float64
        each = where(counted, cast(weights, kind.compute), 0.0)
    empty = pad(cut(each.zeros_like(), 0, 0, 0), [(0, length)])
    total = scatter_add(empty, where(counted, x, 0), each, axis=0) if length else empty
    return total if total.dtype is kind else cast(total, kind)


def _count_length(x: Any) -> int:
    """One more than the largest element."""
    try:
        least, most = int(min_(x)), int(max_(x))
    except ArgumentError as error:
        hint = "say how many counts there are: length=..."
        raise ArgumentError(explain("bincount", "it cannot look at x here", hint)) from error
    if least < 0:
        raise ArgumentError(explain("bincount", "negative numbers have no place", least=least))
    return most + 1
