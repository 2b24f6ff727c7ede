"""Rules that scale each element by its past gradients: RMSprop, Adagrad, Adadelta, Adafactor."""

from __future__ import annotations

import math
from typing import Unpack

from treadle.base.limits import finfo
from treadle.functions import maximum, mean, minimum, norm, rsqrt, sqrt
from treadle.optim.group import Group
from treadle.optim.optimizer import How, Numbers, Optimizer, Params, State, full_of, zeros_of
from treadle.tensor.creation import zeros
from treadle.tensor.tensor import Tensor


class RMSprop(Optimizer):
    """Gradients divided by the root of their running mean square."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False, *,
        maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "maximize": maximize,
        }, how)  # fmt: skip

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0}

    def starts(self, group: Group, p: Tensor) -> State:
        names = {"square_avg": True, "momentum_buffer": group.values_["momentum"],
                 "grad_avg": group.values_["centered"]}  # fmt: skip
        return {name: zeros_of(p) for name, wanted in names.items() if wanted}

    def prepare(self, n: Numbers) -> None:
        n.step = n.step + 1.0
        n.rest = 1.0 - n.alpha

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        square = state["square_avg"] = state["square_avg"] * n.alpha + g * g * n.rest
        if n.centered:
            middle = state["grad_avg"] = state["grad_avg"] * n.alpha + g * n.rest
            square = square - middle * middle
        step = g / (sqrt(square) + n.eps)
        if n.momentum is not None:
            step = state["momentum_buffer"] = state["momentum_buffer"] * n.momentum + step
        return p - step * n.lr


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of all their squares."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, lr_decay: float = 0.0,
        weight_decay: float = 0.0, initial_accumulator_value: float = 0.0, eps: float = 1e-10, *,
        maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "maximize": maximize,
        }, how)  # fmt: skip

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0}

    def starts(self, group: Group, p: Tensor) -> State:
        return {"sum": full_of(p, group.values_["initial_accumulator_value"])}

    def prepare(self, n: Numbers) -> None:
        n.size = n.lr if n.lr_decay is None else n.lr / (1.0 + n.step * n.lr_decay)
        n.step = n.step + 1.0

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        total = state["sum"] = state["sum"] + g * g
        return p - g * n.size / (sqrt(total) + n.eps)


class Adadelta(Optimizer):
    """Gradients scaled so that steps are as large as those before."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0.0, *, maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        }, how)  # fmt: skip

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0}

    def starts(self, group: Group, p: Tensor) -> State:
        return {"square_avg": zeros_of(p), "acc_delta": zeros_of(p)}

    def prepare(self, n: Numbers) -> None:
        n.step = n.step + 1.0
        n.rest = 1.0 - n.rho

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        square = state["square_avg"] = state["square_avg"] * n.rho + g * g * n.rest
        step = sqrt(state["acc_delta"] + n.eps) / sqrt(square + n.eps) * g
        state["acc_delta"] = state["acc_delta"] * n.rho + step * step * n.rest
        return p - step * n.lr


class Adafactor(Optimizer):
    """Mean squares kept by row and by column, and steps relative to the parameter's size."""

    decay = "rule"

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0,
        *, maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "maximize": maximize,
        }, how)  # fmt: skip

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0}

    def starts(self, group: Group, p: Tensor) -> State:
        if len(p.shape) < 2:
            return {"variance": zeros_of(p)}
        rows, columns = (*p.shape[:-1], 1), (*p.shape[:-2], 1, p.shape[-1])
        kind, device = p.dtype.compute, p.device
        return {
            "row_var": zeros(rows, dtype=kind, device=device),
            "col_var": zeros(columns, dtype=kind, device=device),
        }

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        n.step = n.step + 1.0
        n.share = n.step**n.beta2_decay
        n.size = minimum(n.lr, rsqrt(n.step))

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        least = finfo(p.dtype).eps if n.eps[0] is None else n.eps[0]

        def moved(name: str, value: Tensor) -> Tensor:
            state[name] = state[name] + (value - state[name]) * n.share
            return state[name]

        size = maximum(_root_mean_square(p), n.eps[1]) * n.size
        p = p if n.weight_decay is None else p * n.shrink
        if len(p.shape) < 2:
            square = moved("variance", g * g)
        else:
            rows = moved("row_var", mean(g * g, axis=-1, keepdims=True))
            columns = moved("col_var", mean(g * g, axis=-2, keepdims=True))
            square = rows * columns / maximum(mean(rows, axis=-2, keepdims=True), least)
        step = g * rsqrt(maximum(square, least * least))
        return p - step * (size / maximum(_root_mean_square(step) / n.d, 1.0))


def _root_mean_square(x: Tensor) -> Tensor:
    return norm(x.reshape(-1)) / math.sqrt(x.size)
