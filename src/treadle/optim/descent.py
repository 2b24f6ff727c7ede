"""Rules that follow the gradient or its sign: SGD, ASGD, Rprop, Lion."""

from __future__ import annotations

from typing import Unpack

from treadle.base.errors import ArgumentError, explain
from treadle.functions import clip, maximum, sign, where
from treadle.optim.group import Group
from treadle.optim.optimizer import How, Numbers, Optimizer, Params, State, full_of, zeros_of
from treadle.tensor.tensor import Tensor


class SGD(Optimizer):
    """Stochastic gradient descent: p -= lr g, optionally with momentum, as PyTorch defines it."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, momentum: float = 0.0,
        dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False, *,
        maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        }, how)  # fmt: skip

    def accept(self, group: Group) -> None:
        """Nesterov's step is one with momentum."""
        values = group.values_
        if values["nesterov"] and (not values["momentum"] or values["dampening"]):
            wrong = "nesterov needs a momentum and no dampening"
            raise ArgumentError(explain("optimizer", wrong))

    def counters(self, group: Group) -> dict[str, float]:
        """Dampening begins with the second step."""
        return {"step": 0.0} if group.values_["dampening"] else {}

    def starts(self, group: Group, p: Tensor) -> State:
        return {"momentum_buffer": zeros_of(p)} if group.values_["momentum"] else {}

    def prepare(self, n: Numbers) -> None:
        if n.dampening is not None:
            n.share = where(n.step == 0.0, 1.0, 1.0 - n.dampening)
            n.step = n.step + 1.0

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        if n.momentum is None:
            return p - g * n.lr
        part = g if n.dampening is None else g * n.share
        velocity = state["momentum_buffer"] = state["momentum_buffer"] * n.momentum + part
        return p - (g + velocity * n.momentum if n.nesterov else velocity) * n.lr


class ASGD(Optimizer):
    """SGD with steps that get shorter, whose mean over time is in `state[p]["ax"]`."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0.0, *, maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "maximize": maximize,
        }, how)  # fmt: skip

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0, "eta": float(group.values_["lr"]), "mu": 1.0}

    def starts(self, group: Group, p: Tensor) -> State:
        return {"ax": zeros_of(p)}

    def prepare(self, n: Numbers) -> None:
        n.size, n.weight, n.keep = n.eta, n.mu, 1.0 - n.lambd * n.eta
        n.step = n.step + 1.0
        n.eta = n.lr / (1.0 + n.lambd * n.lr * n.step) ** n.alpha
        n.mu = 1.0 / maximum(n.step - n.t0, 1.0)

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        p = p * n.keep - g * n.size
        state["ax"] = where(n.weight == 1.0, p, state["ax"] + (p - state["ax"]) * n.weight)
        return p


class Rprop(Optimizer):
    """Steps by the gradient's sign, each longer while that stays and shorter where it turns."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0), *, maximize: bool = False,
        **how: Unpack[How],
    ) -> None:  # fmt: skip
        values = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, values, how)

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0}

    def starts(self, group: Group, p: Tensor) -> State:
        return {"prev": zeros_of(p), "step_size": full_of(p, float(group.values_["lr"]))}

    def prepare(self, n: Numbers) -> None:
        n.step = n.step + 1.0

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        (shorter, longer), (least, most) = n.etas, n.step_sizes
        same = g * state["prev"]
        size = state["step_size"] * where(same > 0.0, longer, where(same < 0.0, shorter, 1.0))
        state["step_size"] = size = clip(size, least, most)
        state["prev"] = g = where(same < 0.0, 0.0, g)
        return p - sign(g) * size


class Lion(Optimizer):
    """Steps of one length by the sign of a mean of gradients (Chen et al., 2023)."""

    decay = "parameter"

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-4, betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0, *, maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        values = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, values, how)

    def starts(self, group: Group, p: Tensor) -> State:
        return {"exp_avg": zeros_of(p)}

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        n.rests = tuple(1.0 - beta for beta in n.betas)

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        mean = state["exp_avg"]
        state["exp_avg"] = mean * n.betas[1] + g * n.rests[1]
        return p - sign(mean * n.betas[0] + g * n.rests[0]) * n.lr
