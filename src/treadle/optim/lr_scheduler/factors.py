"""Schedules that are a factor: the learning rate at a step is it times that of the beginning."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from treadle.optim.lr_scheduler.schedule import LRScheduler, for_each, rates, require
from treadle.optim.optimizer import Optimizer

Lambda = Callable[[int], float]


class Factor(LRScheduler):
    """What schedules by a factor share: each step multiplies by how the factor changes."""

    starts_anywhere = False
    """Is a step made also where the schedule is made to go on from a later one?"""
    factor_at: Callable[[int], float]
    """What the first learning rate is multiplied by at a step."""

    def get_lr(self) -> list[float]:
        now = rates(self.optimizer)
        step = self.last_epoch
        if step == 0:
            return [lr * self.factor_at(0) for lr in now]
        before = self.factor_at(step - 1)
        if before == 0.0 or (self._is_initial and not self.starts_anywhere):
            return now
        ratio = self.factor_at(step) / before
        return now if ratio == 1.0 else [lr * ratio for lr in now]

    def closed(self) -> list[float]:
        return [lr * self.factor_at(self.last_epoch) for lr in self.base_lrs]


class LambdaLR(LRScheduler):
    """The first learning rate times lr_lambda(step); one function, or one for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Lambda | list[Lambda], last_epoch: int = -1
    ) -> None:
        self.lr_lambdas = _functions(type(self).__name__, optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [lr * function(self.last_epoch) for lr, function in pairs]


class MultiplicativeLR(LRScheduler):
    """At each step the learning rate is multiplied by lr_lambda(step)."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Lambda | list[Lambda], last_epoch: int = -1
    ) -> None:
        self.lr_lambdas = _functions(type(self).__name__, optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        now = rates(self.optimizer)
        if self._is_initial:
            return now
        return [lr * f(self.last_epoch) for lr, f in zip(now, self.lr_lambdas, strict=True)]


class StepLR(Factor):
    """Multiplied by gamma after every step_size steps."""

    starts_anywhere = True

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        require("StepLR", step_size > 0, "step_size is positive", step_size=step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def factor_at(self, step: int) -> float:
        return self.gamma ** (step // self.step_size)


class MultiStepLR(Factor):
    """Multiplied by gamma at each of the steps in milestones."""

    starts_anywhere = True

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def factor_at(self, step: int) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), step)


class ConstantLR(Factor):
    """Multiplied by factor for the first total_iters steps."""

    starts_anywhere = True

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        require("ConstantLR", 0.0 <= factor <= 1.0, "factor is in [0, 1]", factor=factor)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor_at(self, step: int) -> float:
        return 1.0 if step >= self.total_iters else self.factor


class LinearLR(Factor):
    """A factor that goes from start_factor to end_factor in total_iters steps."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        facts = {"start_factor": start_factor, "end_factor": end_factor}
        is_right = 0.0 < start_factor <= 1.0 and 0.0 <= end_factor <= 1.0
        require("LinearLR", is_right, "factors are in [0, 1], the first one not 0", **facts)
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor_at(self, step: int) -> float:
        part = min(step, self.total_iters) / self.total_iters if self.total_iters else 1.0
        return self.start_factor + (self.end_factor - self.start_factor) * part


class ExponentialLR(Factor):
    """Multiplied by gamma at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor_at(self, step: int) -> float:
        return self.gamma**step


class PolynomialLR(Factor):
    """(1 - step / total_iters) to a power, down to 0."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def factor_at(self, step: int) -> float:
        left = 1.0 - min(step, self.total_iters) / self.total_iters
        return float(left**self.power)


class WarmupStableDecayLR(LRScheduler):
    """Up in a line, then constant, then down to a part of it.

    - **warmup_steps**: the first of them has 1 / warmup_steps of the learning rate, the last all
    - **stable_steps**: steps with all of it
    - **decay_steps**: steps until min_factor of it is reached, which stays
    - **decay**: the way down: "linear", "cosine" or "sqrt" (one less the root of the part done)
    """

    def __init__(
        self, optimizer: Optimizer, warmup_steps: int, stable_steps: int, decay_steps: int,
        min_factor: float = 0.0, decay: str = "linear", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        what = type(self).__name__
        steps = warmup_steps, stable_steps, decay_steps
        require(what, min(steps) >= 0, "numbers of steps are not negative", steps=steps)
        require(what, decay in DECAYS, f"decay is one of {', '.join(DECAYS)}", decay=decay)
        self.warmup_steps, self.stable_steps, self.decay_steps = steps
        self.min_factor, self.decay = min_factor, decay
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        part = (step - self.warmup_steps - self.stable_steps + 1) / max(1, self.decay_steps)
        if step < self.warmup_steps:
            factor = (step + 1) / self.warmup_steps
        elif part <= 0.0:
            factor = 1.0
        else:
            left = DECAYS[self.decay](min(1.0, part))
            factor = self.min_factor + (1.0 - self.min_factor) * left
        return [lr * factor for lr in self.base_lrs]


DECAYS: dict[str, Callable[[float], float]] = {
    "linear": lambda part: 1.0 - part,
    "cosine": lambda part: (1.0 + math.cos(math.pi * part)) / 2.0,
    "sqrt": lambda part: 1.0 - math.sqrt(part),
}
"""What is left after a part of the way down."""


def _functions(what: str, optimizer: Optimizer, given: Any) -> list[Lambda]:
    found = for_each(what, optimizer, given)
    require(what, all(map(callable, found)), "lr_lambda is a function of the step, or a list")
    return found
