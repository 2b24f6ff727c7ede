"""Rows about which values there are, once each: how many is read, so they are computed now."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treadle.base.dtypes import bool_, int64, promote
from treadle.base.shapes import axis_in
from treadle.ops.composite import composite, take
from treadle.ops.contract import gather, scatter, scatter_add
from treadle.ops.defs import JUMPS, Samples
from treadle.ops.elementwise import cast, eq, imag, minimum, ne, real
from treadle.ops.movement import concat, cut, pad
from treadle.ops.ordering import searchsorted, sort
from treadle.ops.picking import places_of
from treadle.ops.scan import argsort, cumsum
from treadle.ops.shaping import counting
from treadle.ops.totals import any_


def _drawn(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Few values often; in float64, whose slopes are checked, none twice: ties are jumps."""
    size = math.prod(shapes[0])
    few = rng.permutation(size) if kind == "float64" else rng.integers(0, 5, size) % 200
    return [few.astype(kind).reshape(shapes[0])]


REPEATED = Samples(cases=(((3, 5), {}), ((0,), {}), ((), {}), ((200,), {})), draw=_drawn)


def _order(x: Any) -> Any:
    """Indices that sort along the first axis: complex numbers by real, then by imaginary parts."""
    if not x.dtype.is_complex:
        return argsort(x, axis=0)
    first = argsort(imag(x), axis=0)
    second = argsort(gather(real(x), first, axis=0), axis=0)
    return gather(first, second, axis=0)


class _Groups:
    """Equal elements of flattened x brought together."""

    def __init__(self, x: Any) -> None:
        self.x = x
        flat = x.reshape(-1)
        self.size = flat.shape[0]
        self.order = _order(flat)
        self.ordered = take(flat, self.order, axis=0)
        before, after = (
            cut(self.ordered, 0, 0, max(0, self.size - 1)),
            cut(self.ordered, 0, min(1, self.size), self.size),
        )
        first = counting(x, min(1, self.size)) >= 0
        self.starts = concat([first, ne(after, before)], axis=0).realize()
        self.places = places_of(self.starts)

    def values(self) -> Any:
        """Each value once, in order; NaN is unlike any other."""
        return take(self.ordered, self.places, axis=0)

    def firsts(self) -> Any:
        """Where each value stands first in x: equal elements kept their order."""
        return take(self.order, self.places, axis=0)

    def members(self) -> Any:
        """For each element of x the place of its value."""
        group = cumsum(self.starts, axis=0) - 1
        return scatter(counting(self.x, self.size), self.order, group, axis=0).reshape(self.x.shape)

    def counts(self) -> Any:
        """How often each value stands in x."""
        zeros = counting(self.x, self.places.shape[0]) * 0
        return scatter_add(zeros, self.members().reshape(-1), 1, axis=0)


class Counts(NamedTuple):
    """The values in a tensor, and how often each is there."""

    values: Any
    counts: Any


class Inverse(NamedTuple):
    """The values in a tensor, and for each element the index of its value."""

    values: Any
    inverse_indices: Any


class Unique(NamedTuple):
    """The values in a tensor, where each stands first, the index of each element, counts."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


@composite(
    lambda np, x, **asked: np.unique(x, **asked),
    Samples(
        cases=(*REPEATED.cases, ((3, 5), {"return_inverse": True, "return_counts": True}),
               ((9,), {"return_counts": True}), ((40, 2), {"axis": 0}), ((3, 50, 1), {"axis": 1}),
               ((30, 3), {"axis": 0, "return_inverse": True, "return_counts": True}),
               ((5, 0), {"axis": 1}), ((4, 1), {"axis": -1})),
        draw=_drawn,
    ),
    inline=True, aliases=("unique_values",),
)  # fmt: skip
def unique(
    x: Any, /, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None
) -> Any:
    """The values in x, once each, in order; with an axis, the slices along it.

    With what is asked for behind them: for each element the index of its value; how often each
    value is there.
    """
    if axis is None:
        groups = _Groups(x)
        found = [groups.values()]
    else:
        at = axis_in("unique", axis, x.ndim)
        groups = _Groups(_ranks(x, at))
        found = [take(x, groups.firsts(), axis=at)]
    if return_inverse:
        found.append(groups.members())
    if return_counts:
        found.append(groups.counts())
    return found[0] if len(found) == 1 else tuple(found)


def _ranks(x: Any, axis: int) -> Any:
    """A number for each slice along an axis, in their order: equal ones have the same.

    Numbers of single elements first, then of pairs, of fours and so on.
    """
    size = x.shape[axis]
    others = [k for k in range(x.ndim) if k != axis]
    width = math.prod(x.shape[k] for k in others)
    if not width:
        return counting(x, size) * 0
    ranks = _dense(x.permute((axis, *others)).reshape((size, width)))
    while ranks.shape[1] > 1:
        odd = ranks.shape[1] % 2
        pairs = pad(ranks, [(0, 0), (odd, 0)]).reshape((size, -1, 2) if size else (0, 1, 2))
        first, second = (cut(pairs, 2, k, k + 1).reshape(pairs.shape[:2]) for k in (0, 1))
        ranks = _dense(first * max(1, size) + second).realize()
    return ranks.reshape((size,))


def _dense(x: Any) -> Any:
    """For each column, how many smaller values there are: equal ones have the same number."""
    order = _order(x)
    ordered = gather(x, order, axis=0)
    size = x.shape[0]
    changed = ne(cut(ordered, 0, min(1, size), size), cut(ordered, 0, 0, max(0, size - 1)))
    steps = cumsum(pad(cast(changed, int64), [(min(1, size), 0), (0, 0)]), axis=0)
    return scatter(steps * 0, order, steps, axis=0)


@composite(lambda np, x: list(np.unique_counts(x)), REPEATED, inline=True)
def unique_counts(x: Any, /) -> Counts:
    """(values in order, how often each is there)."""
    groups = _Groups(x)
    return Counts(groups.values(), groups.counts())


@composite(lambda np, x: list(np.unique_inverse(x)), REPEATED, inline=True)
def unique_inverse(x: Any, /) -> Inverse:
    """(values in order, for each element of x the index of its value)."""
    groups = _Groups(x)
    return Inverse(groups.values(), groups.members())


@composite(lambda np, x: list(np.unique_all(x)), REPEATED, inline=True)
def unique_all(x: Any, /) -> Unique:
    """(values in order, where each stands first in flattened x, inverse indices, counts)."""
    groups = _Groups(x)
    return Unique(groups.values(), groups.firsts(), groups.members(), groups.counts())


@composite(
    lambda np, x, elements, invert=False: np.isin(x, elements, invert=invert),
    Samples(cases=(
        ((3, 5), (4,), {}), ((7,), (2, 3), {"invert": True}), ((4,), (0,), {}), ((), (3,), {}),
    ), draw=lambda rng, kind, shapes: [rng.integers(0, 5, s).astype(kind) for s in shapes]),
    grad=JUMPS,
)  # fmt: skip
def isin(x: Any, elements: Any, /, invert: bool = False) -> Any:
    """Is each element of x among the elements? The opposite if invert; NaN is among none."""
    if not math.prod(elements.shape):
        return (ne if invert else eq)(cast(x, bool_), ~cast(x, bool_))
    common = promote(x.dtype, elements.dtype)
    if common.is_complex:  # each beside each: they have no order to search in
        found = any_(eq(x.reshape((*x.shape, 1)), elements.reshape(-1)), axis=-1)
        return ~found if invert else found
    x, ordered = cast(x, common), sort(cast(elements, common).reshape(-1), axis=0)
    place = minimum(searchsorted(ordered, x), ordered.shape[0] - 1)
    return (ne if invert else eq)(take(ordered, place, axis=0), x)
