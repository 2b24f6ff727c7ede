"""Muon: steps of matrices that are made nearly orthogonal."""

from __future__ import annotations

import math

from treadle.base.dtypes import bfloat16
from treadle.base.errors import ShapeError, explain
from treadle.functions import matmul, maximum, norm
from treadle.optim.group import Group
from treadle.optim.optimizer import Numbers, Optimizer, Params, State, zeros_of
from treadle.tensor.tensor import Tensor


class Muon(Optimizer):
    """Momentum whose steps are made nearly orthogonal, in bfloat16; for matrices only.

    Hidden layers are updated by Muon, and everything else of a network by AdamW.
    """

    decay = "parameter"
    fixed = ("ns_steps",)

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, weight_decay: float = 0.1,
        momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip

    def accept(self, group: Group) -> None:
        """Only matrices can be made orthogonal."""
        for p in group.params:
            if len(p.shape) != 2:
                hint = "give the others to AdamW"
                raise ShapeError(explain("optimizer", "Muon is for matrices", hint, shape=p.shape))

    def starts(self, group: Group, p: Tensor) -> State:
        return {"momentum_buffer": zeros_of(p)}

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        n.rest = 1.0 if n.momentum is None else 1.0 - n.momentum

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        velocity = state["momentum_buffer"]
        velocity = state["momentum_buffer"] = velocity + (g - velocity) * n.rest
        if n.nesterov:
            velocity = g if n.momentum is None else g + (velocity - g) * n.momentum
        step = orthogonal(velocity, n.ns_coefficients, n.ns_steps, n.eps).cast(p.dtype)
        rows, columns = p.shape
        longer = {"match_rms_adamw": 0.2 * math.sqrt(max(rows, columns))}
        ratio = longer.get(n.adjust_lr_fn, math.sqrt(max(1.0, rows / max(1, columns))))
        return p - step * (n.lr * ratio)


def orthogonal(x: Tensor, coefficients: tuple[Tensor, ...], steps: int, eps: Tensor) -> Tensor:
    """A matrix with its singular values brought near 1, by Newton and Schulz's iteration."""
    is_tall = x.shape[0] > x.shape[1]
    kind = bfloat16
    a, b, c = (number.cast(kind) for number in coefficients)
    y = (x.transpose(0, 1) if is_tall else x).cast(kind)
    y = y / maximum(norm(y.reshape(-1)), eps.cast(kind))
    for _ in range(steps):
        square = matmul(y, y.transpose(0, 1))
        y = y * a + matmul(square * b + matmul(square, square) * c, y)
    return y.transpose(0, 1) if is_tall else y
