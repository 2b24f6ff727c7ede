"""Which values the settings of update rules can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.tensor.tensor import Tensor


def _number(value: Any, least: float = 0.0) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= least


def _numbers(value: Any, count: int, least: float = 0.0) -> bool:
    return isinstance(value, tuple | list) and len(value) == count and all(
        _number(part, least) for part in value
    )  # fmt: skip


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _whole(least: int, most: float = float("inf")) -> Callable[[Any], bool]:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= most


ANY = float("-inf")
KNOWN: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "betas": ("two numbers in [0, 1)", lambda v: _numbers(v, 2) and max(v) < 1),
    "etas": ("a number below 1 and one above", lambda v: _numbers(v, 2) and 0 < v[0] < 1 < v[1]),
    "step_sizes": ("two numbers, not negative", lambda v: _numbers(v, 2)),
    "eps": ("a number, not negative; of Adafactor, None or a number, and a number", lambda v: (
        _number(v) or _numbers(v, 2)
        or (isinstance(v, tuple | list) and len(v) == 2 and v[0] is None and _number(v[1]))
    )),
    "rho": ("a number in [0, 1]", lambda v: _number(v) and v <= 1),
    "beta2_decay": ("a number, not positive", lambda v: _number(v, ANY) and v <= 0),
    "d": ("a number, 1 at least", lambda v: _number(v, 1)),
    "ns_coefficients": ("three numbers", lambda v: _numbers(v, 3, ANY)),
    "ns_steps": ("a whole number from 0 to 99", _whole(0, 99)),
    "adjust_lr_fn": ('None, "original" or "match_rms_adamw"',
                     lambda v: v in (None, "original", "match_rms_adamw")),
    "line_search_fn": ('None or "strong_wolfe"', lambda v: v in (None, "strong_wolfe")),
    "max_iter": ("a whole number, 1 at least", _whole(1)),
    "max_eval": ("None or a whole number, 1 at least", lambda v: v is None or _whole(1)(v)),
    "history_size": ("a whole number, 1 at least", _whole(1)),
    **dict.fromkeys(
        ("amsgrad", "centered", "decoupled_weight_decay", "maximize", "nesterov"),
        ("True or False", _flag),
    ),
}  # fmt: skip
OTHERS = "a number, not negative", _number


def check_setting(name: str, value: Any, later: bool = False) -> None:
    """Raise for a value that a setting of this name cannot have; schedules set it later."""
    what, fits = KNOWN.get(name, OTHERS)
    if later and name == "lr" and _number(value, ANY):
        return  # a schedule may end a rounding error below 0, or more, as PyTorch's do
    if isinstance(value, Tensor):
        if value.shape or fits is not _number:
            wrong = "a tensor can stand for one number, and has no axes"
            raise ArgumentError(explain("optimizer", wrong, name=name, shape=value.shape))
    elif not fits(value):
        wrong = f"{name} is {what}"
        raise ArgumentError(explain("optimizer", wrong, **{name: repr(value)}))
