"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

from treadle.optim.optimizer import Optimizer
from treadle.tensor.tensor import Tensor


class SGD(Optimizer):
    """p -= lr (g + decay p), with optional momentum."""

    def __init__(
        self, parameters: Iterable[Tensor], lr: float = 1e-2, momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(parameters, lr)
        self.momentum, self.weight_decay = momentum, weight_decay
        self.state = self._zeros("velocity") if momentum else []

    def update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Tensor]) -> None:
        """One step for one parameter."""
        g = gradient + parameter * self.weight_decay if self.weight_decay else gradient
        if self.momentum:
            g = state["velocity"] * self.momentum + g
            state["velocity"].assign(g)
        self._set(parameter, parameter - g * self._lr)
