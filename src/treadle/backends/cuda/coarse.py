"""Which expressions are no more exact than narrow values in memory.

What x was rounded by when it was stored changes exp(x) more than the brief form of exp does.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from treadle.backends.cuda.ops import BRIEF
from treadle.base.dtypes import DType, bfloat16, float32
from treadle.kernel.abstract import Axis, Ex


def precision(op: str, x: Ex, inner: AbstractSet[Axis]) -> DType:
    """The dtype that a function of x is computed for; inner: the axes of a row."""
    brief = op in BRIEF and x.dtype is float32 and _is_coarse(x, inner, {})
    return bfloat16 if brief else x.dtype


def _is_coarse(ex: Ex, inner: AbstractSet[Axis], known: dict[Ex, bool | None]) -> bool | None:
    """Are all elements of rows that it is made of narrow? None: it has none."""
    if ex not in known:
        known[ex] = False
        if ex.op == "load" and ex.dtype.is_storage:
            known[ex] = True
        elif ex.op == "const" or (ex.op == "load" and not ex.axes & inner):
            known[ex] = None
        elif ex.op not in ("load", "index", "inside", "tile"):
            parts = [ex.data.value] if ex.op == "reduced" else list(ex.args)
            found = {_is_coarse(x, inner, known) for x in parts if x.dtype.is_float}
            known[ex] = False if False in found else True if True in found else None
    return known[ex]
