"""An optimizer's state as a dictionary in PyTorch's structure, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treadle.base.errors import ArgumentError, explain
from treadle.functions import stack
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor, realize

if TYPE_CHECKING:
    from treadle.optim.group import Group, Section

Pairs = list[tuple[Tensor, Tensor]]
"""Tensors, and the values that they are to have."""


def saved(optimizer: Any) -> dict[str, Any]:
    """State by the number of the parameter, and the settings of each group."""
    state: dict[int, dict[str, Any]] = {}
    groups, first = [], 0
    for group in optimizer.param_groups:
        numbers = {p: first + k for k, p in enumerate(group.params)}
        for section in group.sections:
            for k, p in enumerate(section.params):
                counted = {name: x[k] for name, x in section.counters.items()}
                kept = {name: x.detach() for name, x in optimizer.state[p].items()}
                if counted or kept:
                    state[numbers[p]] = counted | kept
        groups.append({**group.values_, "params": list(numbers.values())})
        first += len(numbers)
    realize(*(x for kept in state.values() for x in kept.values()))
    return {"state": dict(sorted(state.items())), "param_groups": groups}


def loaded(optimizer: Any, given: Mapping[str, Any]) -> None:
    """Take over settings and state; if one of them does not fit, nothing changes."""
    theirs = matched_groups(optimizer, given)
    optimizer.follow()
    before = [dict(group.values_) for group in optimizer.param_groups]
    try:
        _set(optimizer, theirs)
        pairs = _pairs(optimizer, given["state"], theirs)
    except BaseException:
        _set(optimizer, before)
        raise
    for own, value in pairs:
        own.assign(value)
    realize(*(own for own, _ in pairs))
    for group in optimizer.param_groups:
        counters = [x for section in group.sections for x in section.counters.values()]
        group.together = all(len(set(x.tolist())) <= 1 for x in counters)


def matched_groups(optimizer: Any, given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What is said about each of our groups."""
    if not isinstance(given, Mapping) or not {"state", "param_groups"} <= given.keys():
        raise _refused("not an optimizer's state: that has `state` and `param_groups`")
    theirs: list[Mapping[str, Any]] = given["param_groups"]
    sizes = [len(group.params) for group in optimizer.param_groups]
    if sizes != [len(group["params"]) for group in theirs]:
        found = [len(group["params"]) for group in theirs]
        raise _refused("groups have other numbers of parameters", own=sizes, given=found)
    return theirs


def _set(optimizer: Any, settings: list[Any]) -> None:
    for group, values in zip(optimizer.param_groups, settings, strict=True):
        for name, value in values.items():
            if name not in ("params", "param_names"):
                group[name] = tuple(value) if isinstance(value, list) else value


def _pairs(optimizer: Any, state: Mapping[Any, Any], theirs: list[Any]) -> Pairs:
    """Every tensor of the optimizer's state, and its new value."""
    numbers = [n for group in theirs for n in group["params"]]
    params = [p for group in optimizer.param_groups for p in group.params]
    unknown = [n for n in state if n not in numbers]
    if unknown:
        raise _refused("there is state of parameters that no group has", numbers=unknown)
    kept = {p: state.get(n, {}) for n, p in zip(numbers, params, strict=True)}
    pairs: Pairs = []
    for group in optimizer.param_groups:
        for section in group.sections:
            pairs += _counters(optimizer.counters(group), section, kept)
            for p in section.params:
                pairs += _tensors(optimizer, group, p, kept[p])
    return pairs


def _counters(starts: dict[str, float], section: Section, kept: Mapping[Tensor, Any]) -> Pairs:
    """Where a rule counts and PyTorch does not, there is state from the first step on."""

    def value(name: str, start: float, p: Tensor) -> Tensor:
        found = kept[p].get(name, 1.0 if kept[p] and name == "step" else start)
        return _tensor(found, section.counters[name]).reshape(())

    return [
        (section.counters[name], stack([value(name, start, p) for p in section.params]))
        for name, start in starts.items()
    ]


def _tensors(optimizer: Any, group: Group, p: Tensor, kept: Mapping[str, Any]) -> Pairs:
    """The state of one parameter: as given, or as it starts where nothing is."""
    starts = optimizer.starts(group, p)
    unknown = [name for name in kept if name not in (*starts, *optimizer.counters(group), "step")]
    if unknown:
        rule = type(optimizer).__name__
        raise _refused(f"{rule} keeps no such state", names=unknown, own=list(starts))
    pairs = []
    for name, start in starts.items():
        own, found = optimizer.state[p][name], kept.get(name)
        value = start if found is None else _tensor(found, own)
        if value.shape != own.shape:
            raise _refused("shapes differ", name=name, own=own.shape, given=value.shape)
        pairs.append((own, value))
    return pairs


def _tensor(value: Any, like: Tensor) -> Tensor:
    return tensor(value, dtype=like.dtype, device=like.device)


def _refused(wrong: str, **facts: object) -> ArgumentError:
    return ArgumentError(explain("load_state_dict", wrong, **facts))
