"""Which expressions are no more exact than narrow values in memory.

What x was rounded by when it was stored changes exp(x) more than the brief form of exp does.
"""

from __future__ import annotations

from treadle.backends.cuda.ops import BRIEF
from treadle.base.dtypes import DType, bfloat16, float32
from treadle.kernel.abstract import Ex


def precision(op: str, x: Ex) -> DType:
    """The dtype that a function of x is computed for."""
    return bfloat16 if op in BRIEF and x.dtype is float32 and _is_coarse(x, {}) else x.dtype


def _is_coarse(ex: Ex, known: dict[Ex, bool | None]) -> bool | None:
    """Is it made of narrow floats alone? None: of numbers only."""
    if ex not in known:
        known[ex] = False  # until it is known
        if ex.op == "load":
            known[ex] = ex.dtype.is_storage
        elif ex.op == "const":
            known[ex] = None
        elif ex.op not in ("index", "inside", "tile"):
            parts = [ex.data.value] if ex.op == "reduced" else list(ex.args)
            found = {_is_coarse(x, known) for x in parts if x.dtype.is_float}
            known[ex] = False if False in found else True if True in found else None
    return known[ex]
