"""Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from treadle.base.errors import ArgumentError, explain
from treadle.functions import float_power, sqrt
from treadle.optim.optimizer import Optimizer
from treadle.tensor.tensor import Tensor


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and its square, corrected for their start."""

    decoupled = False

    def __init__(
        self, parameters: Iterable[Tensor], lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(parameters, lr)
        if not isinstance(betas, Sequence) or len(betas) != 2 or not all(0 <= b < 1 for b in betas):
            wrong = "betas are two numbers in [0, 1)"
            raise ArgumentError(explain("optimizer", wrong, betas=betas))
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay
        self.state = self._zeros("mean", "square")

    def begun(self) -> Callable[[Tensor, Tensor, dict[str, Tensor]], None]:
        """One step for any parameter, with what corrects the means for their start."""
        first, second = self.betas
        size = self._lr / (1.0 - float_power(first, self.steps))
        scale = 1.0 / sqrt(1.0 - float_power(second, self.steps))
        return partial(self._update, size, scale)

    def _update(
        self, size: Tensor, scale: Tensor, parameter: Tensor, gradient: Tensor,
        state: dict[str, Tensor],
    ) -> None:  # fmt: skip
        first, second = self.betas
        g, p = gradient, parameter
        if self.weight_decay:
            if self.decoupled:
                p = p * (1.0 - self._lr * self.weight_decay)
            else:
                g = g + p * self.weight_decay
        mean = state["mean"] * first + g * (1.0 - first)
        square = state["square"] * second + g * g * (1.0 - second)
        self._set(parameter, p - mean * size / (sqrt(square) * scale + self.eps))
        state["mean"].assign(mean)
        state["square"].assign(square)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly."""

    decoupled = True

    def __init__(
        self, parameters: Iterable[Tensor], lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
    ) -> None:  # fmt: skip
        super().__init__(parameters, lr, betas, eps, weight_decay)
