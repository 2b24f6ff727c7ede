"""Schedules that go up and down: cosines, cycles, one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable
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


class CosineAnnealingLR(LRScheduler):
    """Half a cosine down to eta_min in T_max steps, and up again in the next."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1  # noqa: N803
    ) -> None:  # fmt: skip
        require("CosineAnnealingLR", T_max > 0, "T_max is positive", T_max=T_max)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, step: int) -> float:
        return (1.0 + math.cos(math.pi * step / self.T_max)) / 2.0

    def get_lr(self) -> list[float]:
        now, least, step = rates(self.optimizer), self.eta_min, self.last_epoch
        if self._is_initial:
            return now
        if self._step_count == 1 and step > 0:
            return self.closed()
        if (step - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the bottom
            first = 1.0 - self._height(1)
            return [
                lr + (base - least) * first for base, lr in zip(self.base_lrs, now, strict=True)
            ]
        ratio = self._height(step) / self._height(step - 1)
        return [least + (lr - least) * ratio for lr in now]

    def closed(self) -> list[float]:
        height = self._height(self.last_epoch)
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to eta_min in T_0 steps, again and again, each T_mult times as long.

    `step(epoch)` takes fractions: `epoch + batch / batches`.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,  # noqa: N803
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        is_right = isinstance(T_0, int) and T_0 > 0 and isinstance(T_mult, int) and T_mult > 0
        facts = {"T_0": T_0, "T_mult": T_mult}
        require(type(self).__name__, is_right, "T_0 and T_mult are positive whole numbers", **facts)
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        height = (1.0 + math.cos(math.pi * self.T_cur / self.T_i)) / 2.0
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step, or to a step or a part of one."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            require(type(self).__name__, epoch >= 0, "epoch is not negative", epoch=epoch)
            self.T_cur, self.T_i = epoch, self.T_0
            while self.T_cur >= self.T_i:
                if self.T_mult == 1:
                    self.T_cur %= self.T_i
                else:
                    self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        self.last_epoch = math.floor(epoch)
        set_rates(self.optimizer.param_groups, self.get_lr())
        self._last_lr = rates(self.optimizer)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.step(epoch)


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again in a line, again and again.

    - **mode**: "triangular", "triangular2" (each cycle half as high), "exp_range" (gamma to the
      power of the step as high); scale_fn instead gives the height itself, of the number of the
      cycle or of the step, as scale_mode says
    - **cycle_momentum**: momentum, or the first of betas, goes the other way
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: float | list[float], max_lr: float | list[float],
        step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular",
        gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: float = 0.8,
        max_momentum: float = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        what = "CyclicLR"
        base_lrs = for_each(what, required(what, optimizer), base_lr)
        if last_epoch == -1:
            set_rates(optimizer.param_groups, base_lrs)
        self.max_lrs = for_each(what, optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        is_right = scale_fn is not None or mode in SCALES
        require(what, is_right, f"mode is one of {', '.join(SCALES)}", mode=mode)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        exponential = scale_fn is None and mode == "exp_range"
        self.scale_mode = scale_mode if scale_fn else "iterations" if exponential else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _begin_momentum(what, optimizer, base_momentum, max_momentum, last_epoch)
            self.base_momentums = for_each(what, optimizer, base_momentum)
            self.max_momentums = for_each(what, optimizer, max_momentum)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """How high a cycle is, by its number or by the step."""
        custom = self._scale_fn_custom
        return SCALES[self.mode](self.gamma, x) if custom is None else custom(x)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1.0) / (ratio - 1.0)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, strict=True)
            _set_momentum(self.optimizer, [most - (most - least) * height for least, most in pairs])
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [least + (most - least) * height for least, most in pairs]


SCALES: dict[str, Callable[[float, float], float]] = {
    "triangular": lambda gamma, cycle: 1.0,
    "triangular2": lambda gamma, cycle: 1.0 / 2.0 ** (cycle - 1.0),
    "exp_range": lambda gamma, step: gamma**step,
}


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to max_lr, then down to far less than the beginning.

    - **total_steps**: of the cycle; or **epochs** times **steps_per_epoch**
    - **pct_start**: the part of them that goes up
    - **anneal_strategy**: "cos" or "linear"
    - **three_phase**: go down to the beginning first, in as many steps as up
    """

    unsaved = ("optimizer", "_is_initial", "_phases")

    def __init__(
        self, optimizer: Optimizer, max_lr: float | list[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85, max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        what = "OneCycleLR"
        required(what, optimizer)
        if total_steps is None and epochs is not None and steps_per_epoch is not None:
            total_steps = epochs * steps_per_epoch
        is_right = isinstance(total_steps, int) and total_steps > 0
        wrong = "needs total_steps, or epochs and steps_per_epoch: positive whole numbers"
        require(what, is_right, wrong, total_steps=total_steps)
        require(what, 0.0 <= pct_start <= 1.0, "pct_start is in [0, 1]", pct_start=pct_start)
        wrong = f"anneal_strategy is one of {', '.join(WAYS)}"
        require(what, anneal_strategy in WAYS, wrong, got=anneal_strategy)
        self.total_steps: int = total_steps  # type: ignore[assignment]
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        up = float(pct_start * self.total_steps)
        self._phases = [(up - 1.0, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            self._phases.append(
                (2.0 * up - 2.0, "max_lr", "initial_lr", "base_momentum", "max_momentum")
            )
        start, momentum = ("initial_lr", "max") if three_phase else ("max_lr", "base")
        last = self.total_steps - 1.0
        self._phases.append((last, start, "min_lr", f"{momentum}_momentum", "max_momentum"))
        if last_epoch == -1:
            highest = for_each(what, optimizer, max_lr)
            for group, most in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"], group["max_lr"] = most / div_factor, most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            _begin_momentum(what, optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step, total = self.last_epoch, self.total_steps
        require("OneCycleLR", step <= total, "the cycle is over", step=step, total_steps=total)
        ends = [0.0, *(phase[0] for phase in self._phases)]
        k = next((k for k, end in enumerate(ends[1:-1]) if step <= end), len(ends) - 2)
        part = (step - ends[k]) / (ends[k + 1] - ends[k])
        names = self._phases[k][1:]
        way, groups = WAYS[self._anneal_func_type], self.optimizer.param_groups
        if self.cycle_momentum:
            momentums = [way(group[names[2]], group[names[3]], part) for group in groups]
            _set_momentum(self.optimizer, momentums)
        return [way(group[names[0]], group[names[1]], part) for group in groups]


WAYS: dict[str, Callable[[float, float, float], float]] = {
    "cos": lambda a, b, part: b + (a - b) / 2.0 * (math.cos(math.pi * part) + 1.0),
    "linear": lambda a, b, part: (b - a) * part + a,
}
"""From a to b."""


def _begin_momentum(what: str, optimizer: Optimizer, least: Any, most: Any, epoch: int) -> None:
    """Momentum starts at the top, and both ends are kept in the groups."""
    known = "momentum" in optimizer.defaults or "betas" in optimizer.defaults
    require(what, known, "the optimizer has no momentum to cycle: cycle_momentum=False")
    if epoch == -1:
        lows, highs = for_each(what, optimizer, least), for_each(what, optimizer, most)
        for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
            group["base_momentum"], group["max_momentum"] = low, high
        _set_momentum(optimizer, highs)


def _set_momentum(optimizer: Optimizer, values: list[float]) -> None:
    for group, value in zip(optimizer.param_groups, values, strict=True):
        if "betas" in optimizer.defaults:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value
