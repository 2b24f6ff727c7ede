"""A schedule that waits for a metric to get better."""

from __future__ import annotations

import math
from typing import Any

from treadle.optim.lr_scheduler.schedule import (
    LRScheduler,
    for_each,
    rates,
    require,
    required,
    set_rates,
)
from treadle.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Multiplied by factor when a metric has not got better for more than patience steps.

    - **mode**: "min" or "max": what is better
    - **threshold**, **threshold_mode**: by how much at least, "rel" to the best or "abs"
    - **cooldown**: steps to wait after a change
    - **min_lr**: never below this; a number, or one for each group
    - **eps**: changes no larger than this are not made
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: float | list[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        what = "ReduceLROnPlateau"
        require(what, factor < 1.0, "factor is below 1", factor=factor)
        require(what, mode in ("min", "max"), 'mode is "min" or "max"', mode=mode)
        is_right = threshold_mode in ("rel", "abs")
        require(what, is_right, 'threshold_mode is "rel" or "abs"', got=threshold_mode)
        self.optimizer = required(what, optimizer)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lrs, self.eps = for_each(what, optimizer, min_lr), eps
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.cooldown_counter = self.num_bad_epochs = 0
        self._last_lr = rates(optimizer)

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the newest value of the metric."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = rates(self.optimizer)

    @property
    def in_cooldown(self) -> bool:
        """Was the learning rate changed not long ago?"""
        return self.cooldown_counter > 0

    def _is_better(self, current: float) -> bool:
        sign = -1.0 if self.mode == "min" else 1.0
        relative = self.threshold_mode == "rel"
        wanted = self.best * (1.0 + sign * self.threshold) if relative else (
            self.best + sign * self.threshold
        )  # fmt: skip
        return current < wanted if self.mode == "min" else current > wanted

    def _reduce(self) -> None:
        now = rates(self.optimizer)
        least = for_each("ReduceLROnPlateau", self.optimizer, self.min_lrs)
        new = [max(lr * self.factor, low) for lr, low in zip(now, least, strict=True)]
        set_rates(self.optimizer.param_groups, [
            b if a - b > self.eps else a for a, b in zip(now, new, strict=True)
        ])  # fmt: skip
