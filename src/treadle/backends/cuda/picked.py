"""Sums of which all terms but one are 0, as those that find a label's score: one term is read.

sum(where(column == number, x, 0)) along a row is x at that number, or 0 where no column has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base.dtypes import int64
from treadle.kernel.abstract import Axis, Ex, Reduce, Slot


def picked(r: Reduce, inner: Sequence[Axis]) -> tuple[Ex, Ex] | None:
    """The number of the one term, and what the term is."""
    if r.kind != "sum" or r.value.op != "where" or len(inner) != 1:
        return None
    chosen, x, rest = r.value.args
    if chosen.op != "eq" or rest.op != "const" or isinstance(rest.data, Slot) or rest.data != 0:
        return None
    for column, number in (chosen.args, chosen.args[::-1]):
        if _is_column(column, inner[0]) and number.dtype is int64 and inner[0] not in number.axes:
            return number, x
    return None


def _is_column(ex: Ex, axis: Axis) -> bool:
    return ex.op == "index" and ex.data.offset is None and ex.data.terms == [(axis, 1)]
