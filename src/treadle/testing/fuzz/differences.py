"""Are the slopes that the model gives those of the function? Differences in float64 tell."""

from __future__ import annotations

from typing import Any

import numpy as np

import treadle as td
from treadle.backends.reference.eval import evaluate
from treadle.testing.fuzz.bounds import Unfit, Value
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.program import Program, Statement, data, kinds_of

STEP = 2.0**-7  # differences at two steps are combined, so that the error is of the fourth order
NEAR = 1e-3  # of the sum of all slopes
SMOOTH = frozenset((
    "return", "flip", "permute", "slice", "column", "reshape", "expand", "pad", "join", "rearrange",
    "continued", "take", "gather", "smooth", "square", "scaled", "sum", "mean", "softmax",
    "product", "detach",
))  # fmt: skip
"""Kinds without bends; a sum or product of two is one too, a maximum is not."""
BENT = ("imum(", ".max(", ".min(", "detach")
FORMS = ("td.grad({f}", "td.compile(td.grad({f}", "slopes(", "td.value_and_grad({f}",
         "td.compile(lambda x: slopes", "td.compile(lambda *x: slopes")  # fmt: skip


def differing(program: Program) -> str:
    """The first gradient that is not the slope; empty if all are."""
    model = Model()
    for s in program.statements:
        made = model.execute(s)
        if s.kind == "gradient" and s.text.startswith(FORMS) and _is_smooth(s):
            slopes = [made[name] for name in s.targets][-len(s.params) :]
            wrong = _difference(model, s, slopes)
            if wrong:
                return f"{s.targets[0]}: {wrong}"
    return ""


def _is_smooth(s: Statement) -> bool:
    kinds = set(kinds_of(s.body))
    bends = any(word in part.text for part in s.body for word in BENT)
    return kinds <= SMOOTH | {"binary"} and not bends


def _difference(model: Model, s: Statement, slopes: list[Value]) -> str:
    around = {name: model[name] for name in s.inner_names()}
    start = [model[name].array.astype(np.float64) for name in s.operands]
    along = [np.where(data(*x.shape, seed=3) > 0, 1.0, -1.0) for x in start]

    def at(h: float) -> float:
        inner = Model()
        inner.cells = {name: [value] for name, value in around.items()}
        moved = [x + h * d for x, d in zip(start, along, strict=True)]
        return _loss(inner, s, moved)

    def slope(h: float) -> float:
        return (at(h) - at(-h)) / (2 * h)

    near, far = slope(STEP / 2), slope(STEP)
    measured = (4 * near - far) / 3
    parts = [g.array.astype(np.float64) * d for g, d in zip(slopes, along, strict=True)]
    found = float(sum(p.sum() for p in parts))
    scale = 1.0 + float(sum(np.abs(p).sum() for p in parts)) + abs(measured)
    if abs(found - measured) <= NEAR * scale or abs(near - far) > NEAR * scale:
        return ""  # the same; or too steep for differences to tell
    return f"the slope along a direction is {found:.6g}, by differences {measured:.6g}"


def _loss(model: Model, s: Statement, arrays: list[Any]) -> float:
    """The value of a function, in float64 throughout."""
    function = model.function_of(s)
    tensors = [td.tensor(x, device="reference") for x in arrays]
    root = function(*tensors)._node
    if not root.dtype.is_float or root.shape:
        raise Unfit("no loss")
    (value,) = evaluate([root], lambda n: n.buffer.array, precise=True)
    return float(value)
