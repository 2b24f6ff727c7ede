"""How a module gets its values by name, and how what differs is worded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from treadle.base.errors import ArgumentError, explain
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor

SHOWN = 20  # names in one message
COUNTER = "num_batches_tracked"  # files older than it lack it, and load all the same


class Differences(NamedTuple):
    """Names of a module that a state lacks, and names of the state that the module lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "every name has its value"
        return f"missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys}"


def load(
    what: str, own: Mapping[str, Tensor], state: Mapping[str, Any], strict: bool, assign: bool
) -> Differences:
    """Values of a state to the tensors of the same names, all of them or none."""
    if not isinstance(state, Mapping):
        hint = "a dict of tensors by name, such as another module's state_dict()"
        got = type(state).__name__
        raise ArgumentError(explain("load_state_dict", "not a dict", hint, got=got))
    missing = [n for n in own if n not in state and not n.endswith(COUNTER)]
    found = Differences(missing, [n for n in state if n not in own])
    given = {name: _tensor(name, state[name], own[name]) for name in own if name in state}
    wrong = [
        f"{name}: {own[name].shape} here, {value.shape} in the state"
        for name, value in given.items() if value.shape != own[name].shape
    ]  # fmt: skip
    lines = [f"shapes differ: {_listed(wrong)}"] if wrong else []
    if strict and found.missing_keys:
        lines.append(f"names missing in the state: {_listed(found.missing_keys)}")
    if strict and found.unexpected_keys:
        lines.append(f"names unknown to the module: {_listed(found.unexpected_keys)}")
    if lines:
        hint = "strict=False passes over names that differ; shapes must be equal"
        told = "names or shapes differ\n  " + "\n  ".join(lines)
        raise ArgumentError(explain("load_state_dict", told, hint, module=what))
    for name, value in given.items():
        _give(own[name], value, assign)
    return found


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _tensor(name: str, given: Any, into: Tensor) -> Tensor:
    if isinstance(given, Tensor):
        return given
    if isinstance(given, bool | int | float | list) or hasattr(given, "__array__"):
        return tensor(given, dtype=None if hasattr(given, "__array__") else into.dtype)
    facts: dict[str, object] = {"name": name, "got": type(given).__name__}
    raise ArgumentError(explain("load_state_dict", "not a tensor or an array", **facts))


def _give(into: Tensor, value: Tensor, assign: bool) -> None:
    value = value.detach()
    if assign:
        into.data = value
        return
    value = value if value.dtype is into.dtype else value.cast(into.dtype)
    into.assign(value if value.device is into.device else value.to(into.device))
