"""Adam and its relatives: means of the gradient and its square, corrected for their start."""

from __future__ import annotations

from typing import Unpack

from treadle.functions import maximum, norm, sqrt, where
from treadle.optim.group import Group
from treadle.optim.optimizer import How, Numbers, Optimizer, Params, State, zeros_of
from treadle.tensor.tensor import Tensor

Betas = tuple[float, float]


class Moments(Optimizer):
    """What Adam and its relatives share: two running means and how far they have come."""

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0}

    def starts(self, group: Group, p: Tensor) -> State:
        return {"exp_avg": zeros_of(p), "exp_avg_sq": zeros_of(p)}

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        n.step = n.step + 1.0
        n.rests = tuple(1.0 - beta for beta in n.betas)
        n.grown = tuple(1.0 - beta**n.step for beta in n.betas)

    @staticmethod
    def means(g: Tensor, state: State, n: Numbers) -> tuple[Tensor, Tensor]:
        """The new means of the gradient and its square."""
        mean = state["exp_avg"] = state["exp_avg"] * n.betas[0] + g * n.rests[0]
        square = state["exp_avg_sq"] = state["exp_avg_sq"] * n.betas[1] + g * g * n.rests[1]
        return mean, square


class Adam(Moments):
    """Steps scaled by running means of the gradient and its square, corrected for their start."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, amsgrad: bool = False, *,
        maximize: bool = False, decoupled_weight_decay: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "decoupled_weight_decay": decoupled_weight_decay,
        }, how)  # fmt: skip

    def starts(self, group: Group, p: Tensor) -> State:
        largest = {"max_exp_avg_sq": zeros_of(p)} if group.values_["amsgrad"] else {}
        return super().starts(group, p) | largest

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        n.size, n.scale = n.lr / n.grown[0], 1.0 / sqrt(n.grown[1])

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        mean, square = self.means(g, state, n)
        if n.amsgrad:
            square = state["max_exp_avg_sq"] = maximum(state["max_exp_avg_sq"], square)
        return p - mean * n.size / (sqrt(square) * n.scale + n.eps)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize,
            decoupled_weight_decay=True, **how,
        )  # fmt: skip


class Adamax(Moments):
    """Adam with a running maximum of the gradient in place of its mean square."""

    def __init__(
        self, params: Params, lr: float | Tensor = 2e-3, betas: Betas = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, *, maximize: bool = False,
        **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize,
        }, how)  # fmt: skip

    def starts(self, group: Group, p: Tensor) -> State:
        return {"exp_avg": zeros_of(p), "exp_inf": zeros_of(p)}

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        n.size = n.lr / n.grown[0]

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        mean = state["exp_avg"] = state["exp_avg"] * n.betas[0] + g * n.rests[0]
        most = state["exp_inf"] = maximum(state["exp_inf"] * n.betas[1], abs(g) + n.eps)
        return p - mean * n.size / most


class NAdam(Moments):
    """Adam that looks ahead, as Nesterov's momentum does."""

    def __init__(
        self, params: Params, lr: float | Tensor = 2e-3, betas: Betas = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        }, how)  # fmt: skip

    def counters(self, group: Group) -> dict[str, float]:
        return {"step": 0.0, "mu_product": 1.0}

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        now, later = (
            n.betas[0] * (1.0 - 0.5 * 0.96 ** ((n.step + k) * n.momentum_decay)) for k in (0.0, 1.0)
        )
        n.mu_product = n.mu_product * now
        n.of_gradient = n.lr * (1.0 - now) / (1.0 - n.mu_product)
        n.of_mean = n.lr * later / (1.0 - n.mu_product * later)
        n.scale = 1.0 / sqrt(n.grown[1])

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        mean, square = self.means(g, state, n)
        return p - (g * n.of_gradient + mean * n.of_mean) / (sqrt(square) * n.scale + n.eps)


class RAdam(Moments):
    """Adam that goes by the mean alone until enough squares are known to scale it."""

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, decoupled_weight_decay: bool = False, *,
        maximize: bool = False, **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
        }, how)  # fmt: skip

    def prepare(self, n: Numbers) -> None:
        super().prepare(n)
        most = 2.0 / n.rests[1] - 1.0
        length = most - 2.0 * n.step * (1.0 - n.grown[1]) / n.grown[1]
        n.size, n.known = n.lr / n.grown[0], length > 5.0
        ratio = (length - 4.0) * (length - 2.0) * most / ((most - 4.0) * (most - 2.0) * length)
        n.scale = sqrt(where(n.known, ratio * n.grown[1], 1.0))

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        mean, square = self.means(g, state, n)
        return p - mean * n.size * where(n.known, n.scale / (sqrt(square) + n.eps), 1.0)


class LAMB(Moments):
    """Adam's step made as long, relative to each parameter, as lr says (You et al., 2020)."""

    decay = "rule"

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999),
        eps: float = 1e-6, weight_decay: float = 0.0, *, maximize: bool = False,
        **how: Unpack[How],
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize,
        }, how)  # fmt: skip

    def update(self, p: Tensor, g: Tensor, state: State, n: Numbers) -> Tensor:
        mean, square = self.means(g, state, n)
        step = mean / n.grown[0] / (sqrt(square / n.grown[1]) + n.eps)
        step = step if n.weight_decay is None else step + p * n.weight_decay
        long, far = norm(p.reshape(-1)), norm(step.reshape(-1))
        ratio = where((long > 0.0) & (far > 0.0), long / far, 1.0)
        return p - step * (ratio * n.lr)
