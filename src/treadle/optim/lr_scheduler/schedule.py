"""What every schedule does: count steps, and set the learning rate of every group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.optim.group import Group
from treadle.optim.optimizer import Optimizer
from treadle.tensor.tensor import Tensor


class LRScheduler:
    """Sets `group["lr"]` of every group, once when it is made and at each `step()`.

    A schedule says how to get from one learning rate to the next (`get_lr`), so that several can
    act on one optimizer, or what it is at any step (`closed`).

    - **last_epoch**: -1 begins; after it, the number of steps made so far
    """

    optimizer: Optimizer
    unsaved: tuple[str, ...] = ("optimizer", "_is_initial")
    _is_initial = False
    get_lr: Callable[[], list[float]]
    """The learning rates of all groups at step `last_epoch`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = required(type(self).__name__, optimizer)
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", float(group["lr"]))
            elif "initial_lr" not in group:
                hint = "load the optimizer's state first, or begin with last_epoch=-1"
                raise ArgumentError(explain(type(self).__name__, "nothing to go on from", hint))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count, self._is_initial = 0, True
        try:
            self.step()
        finally:
            self._is_initial = False

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next learning rate; with a number, to that of this step."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        values = self.get_lr() if epoch is None else self.closed()
        set_rates(self.optimizer.param_groups, values)
        self._last_lr = rates(self.optimizer)

    def closed(self) -> list[float]:
        """The same, not from the learning rates of now; where a schedule knows no other, these."""
        return self.get_lr()

    def get_last_lr(self) -> list[float]:
        """The learning rates that were set last."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and functions."""
        return {
            name: value for name, value in vars(self).items()
            if name not in self.unsaved and not _has_functions(value)
        }  # fmt: skip

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken; functions stay as they are."""
        own = self.state_dict()
        if not own.keys() <= state_dict.keys():
            missing = sorted(own.keys() - state_dict.keys())
            raise ArgumentError(explain("load_state_dict", "of another schedule", missing=missing))
        vars(self).update({name: state_dict[name] for name in own})

    def __repr__(self) -> str:
        hidden = ("optimizer", "base_lrs")
        facts = {k: v for k, v in vars(self).items() if k[0] != "_" and k not in hidden}
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in facts.items())})"


def required(what: str, optimizer: Any) -> Optimizer:
    """The optimizer, if it is one."""
    if not isinstance(optimizer, Optimizer):
        got = type(optimizer).__name__
        raise OperandError(explain(what, "a schedule belongs to an optimizer", got=got))
    return optimizer


def rates(optimizer: Optimizer) -> list[float]:
    """The learning rates of all groups."""
    return [float(group["lr"]) for group in optimizer.param_groups]


def set_rates(groups: Sequence[Group], values: Sequence[float]) -> None:
    """Give every group its learning rate."""
    for group, value in zip(groups, values, strict=True):
        if isinstance(group["lr"], Tensor):
            group["lr"].assign(group["lr"].full_like(float(value)))
        else:
            group["lr"] = value


def for_each(what: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group: one for all, or a list of as many."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        wrong = "one value for each group"
        raise ArgumentError(explain(what, wrong, groups=count, values=len(value)))
    return list(value)


def require(what: str, is_right: bool, needed: str, **facts: object) -> None:
    """Raise for an argument that a schedule cannot use."""
    if not is_right:
        raise ArgumentError(explain(what, needed, **facts))


def _has_functions(value: Any) -> bool:
    return callable(value) or (isinstance(value, list) and any(map(callable, value)))
