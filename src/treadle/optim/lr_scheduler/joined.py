"""Schedules made of others: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from treadle.base.errors import OperandError, explain
from treadle.optim.lr_scheduler.plateau import ReduceLROnPlateau
from treadle.optim.lr_scheduler.schedule import LRScheduler, rates, require, set_rates
from treadle.optim.optimizer import Optimizer


class Joined(LRScheduler):
    """What schedules of schedules share."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Its own state, and that of each part in `_schedulers`."""
        return super().state_dict() | {"_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken, with every part."""
        parts, own = state_dict["_schedulers"], self._schedulers
        require("load_state_dict", len(parts) == len(own), "another number of schedules")
        super().load_state_dict(state_dict)
        self._schedulers = own
        for schedule, part in zip(own, parts, strict=True):
            schedule.load_state_dict(part)


class SequentialLR(Joined):
    """One schedule after the other: each milestone is the first step of the next."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._schedulers = _parts("SequentialLR", schedulers, optimizer)
        facts = {"schedulers": len(schedulers), "milestones": len(milestones)}
        wrong = "one milestone between each two schedulers"
        require("SequentialLR", len(milestones) == len(schedulers) - 1, wrong, **facts)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # The parts have set learning rates when they were made: only the first one's counts.
        set_rates(optimizer.param_groups, [group["initial_lr"] for group in optimizer.param_groups])
        for schedule in self._schedulers:
            _undo(schedule)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go on with the schedule that it is the turn of."""
        self.last_epoch += 1
        k = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[k]
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


class ChainedScheduler(Joined):
    """All schedules at once: every one changes what the one before it left."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        parts = list(schedulers)
        require("ChainedScheduler", bool(parts), "needs a schedule at least")
        owner = getattr(parts[0], "optimizer", None) if optimizer is None else optimizer
        self._schedulers = _parts("ChainedScheduler", parts, owner)
        self.optimizer = self._schedulers[0].optimizer
        self._last_lr = rates(self.optimizer)

    def step(self, epoch: int | None = None) -> None:
        """One step of each."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = rates(self.optimizer)


def _undo(schedule: LRScheduler) -> None:
    """A schedule as before the step that it has made when it was made."""
    if isinstance(schedule, Joined):
        for part in schedule._schedulers:
            _undo(part)
    else:
        schedule.last_epoch -= 1


def _parts(what: str, schedulers: Sequence[Any], optimizer: Any) -> list[LRScheduler]:
    require(what, len(schedulers) > 0, "needs a schedule at least")
    for schedule in schedulers:
        if not isinstance(schedule, LRScheduler) or isinstance(schedule, ReduceLROnPlateau):
            wrong = "its parts are schedules whose step() takes no metric"
            raise OperandError(explain(what, wrong, got=type(schedule).__name__))
        require(what, schedule.optimizer is optimizer, "its parts belong to one optimizer")
    return list(schedulers)
