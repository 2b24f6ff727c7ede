"""A parameter group: its settings as a mapping, and as numbers that compiled steps read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, explain
from treadle.tensor.creation import full, tensor
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Followed, Same

LEFT_OUT = ("weight_decay", "momentum", "dampening", "lr_decay")
"""Numbers that, while they are 0, are no part of a step."""


class Section:
    """Parameters of a group on one device and of one precision, with the numbers they share."""

    def __init__(
        self, device: Device, kind: DType, params: list[Tensor], starts: dict[str, float]
    ) -> None:
        self.device, self.kind, self.params = device, kind, params
        self.numbers = full((0,), 0.0, dtype="float64", device=device)
        self.parts: list[Tensor] = []  # the numbers one by one, if somebody wants them so
        self.counters = {name: self.counter(value) for name, value in starts.items()}

    def counter(self, start: float) -> Tensor:
        """One number for each parameter."""
        made = full((len(self.params),), start, dtype="float64", device=self.device)
        return made.realize()

    def fits(self) -> bool:
        """Are its parameters still on that device, and of that precision?"""
        return all(p.device is self.device and p.dtype.compute is self.kind for p in self.params)

    def set(self, numbers: list[float]) -> None:
        """Let steps read other numbers from now on."""
        value = tensor(numbers, dtype="float64", device=self.device)
        self.parts = []
        if value.shape != self.numbers.shape:
            self.numbers = value
        else:
            self.numbers.assign(value)

    def number(self, k: int) -> Tensor:
        """One of the numbers: a trace reads all of them as one tensor, which calls are given."""
        if TRACE:
            return self.numbers[k]
        if not self.parts:
            values = self.numbers.tolist()
            self.parts = [tensor(x, dtype="float64", device=self.device) for x in values]
        return self.parts[k]


def sections_of(params: list[Tensor], starts: dict[str, float]) -> list[Section]:
    """Parameters by device and precision; starts: where they begin to count."""
    kinds: dict[Any, list[Tensor]] = {}
    for p in params:
        kinds.setdefault((p.device, p.dtype.compute), []).append(p)
    return [Section(device, kind, own, starts) for (device, kind), own in kinds.items()]


class Read(Followed):
    """A number that a function looked at while it was traced, and so depends on."""

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "value", value)  # nothing that the trace has changed


class Group(MutableMapping[str, Any], Followed):
    """Parameters that are updated alike: `group["lr"]` can be read and set at any time.

    Compiled steps read numbers at every call. They are traced again where more than a number
    changes: a flag, or a number that was 0, and so was left out.
    """

    # Not in __dict__: traces do not depend on these.
    __slots__ = ("after", "fixed", "names", "reads", "sections", "values_")

    def __init__(
        self, values: dict[str, Any], names: Sequence[str], fixed: Sequence[str],
        after: Callable[[Group, str], None],
    ) -> None:  # fmt: skip
        self.values_, self.names, self.fixed, self.after = dict(values), names, fixed, after
        self.sections: list[Section] = []
        self.reads: dict[str, Read] = {}
        self.params: list[Tensor] = self.values_["params"]
        self.together = True  # has every parameter made every step?
        self.form = self._form()

    # ---- a mapping

    def __getitem__(self, name: str) -> Any:
        value = self.values_[name]
        if TRACE and name in self.names:
            self.reads.setdefault(name, Read(value))._note()
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "params":
            hint = "add_param_group() adds parameters"
            raise ArgumentError(explain("optimizer", "a group keeps its parameters", hint))
        if name not in self.names:
            self.values_[name] = value
            return
        if TRACE:
            hint = "set it outside; a compiled step reads it at every call"
            wrong = "a traced function sets a number"
            raise ArgumentError(explain("optimizer", wrong, hint, name=name))
        before = self.values_.get(name)
        self.values_[name] = value
        try:
            self.after(self, name)
        except BaseException:
            self.values_[name] = before
            raise
        if name in self.reads:
            self.reads[name].value = value
        self.settle()

    def __delitem__(self, name: str) -> None:
        if name in self.names or name == "params":
            raise ArgumentError(explain("optimizer", "a group needs all its settings", name=name))
        del self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.values_.items() if k not in ("params", "param_names")}
        facts = ", ".join(f"{name}={value}" for name, value in shown.items())
        return f"Group({len(self.params)} parameters, {facts})"

    # ---- as compiled steps see it

    def _numbers(self, name: str) -> list[float]:
        """The numbers that a setting consists of; none if it decides by what it is."""
        value = self.values_[name]
        parts = value if isinstance(value, tuple | list) else (value,)
        if name in self.fixed or not all(_is_number(part) or part is None for part in parts):
            return []
        return [0.0 if part is None else float(part) for part in parts]

    def _form(self) -> tuple[Any, ...]:
        """What a step's program depends on: all but the numbers."""
        found: list[Any] = []
        for name in self.names:
            value, numbers = self.values_[name], self._numbers(name)
            if not numbers:
                found.append((name, Same(value) if isinstance(value, Tensor) else value))
            elif name in LEFT_OUT:
                found.append((name, bool(value)))
            elif isinstance(value, tuple | list):
                found.append((name, tuple(part is None for part in value)))
        return tuple(found)

    def settle(self) -> None:
        """Hand the numbers to the sections; notice if more than numbers changed."""
        form = self._form()
        if form != self.form:
            self.form = form
        numbers = [x for name in self.names for x in self._numbers(name)]
        for section in self.sections:
            section.set(numbers)

    def read(self, section: Section) -> dict[str, Any]:
        """Every setting as a step uses it: numbers as float64 tensors, None for those left out."""
        found: dict[str, Any] = {}
        place = 0
        for name in self.names:
            value, count = self.values_[name], len(self._numbers(name))
            if not count:
                found[name] = value.cast("float64") if isinstance(value, Tensor) else value
            elif isinstance(value, tuple | list):
                found[name] = tuple(
                    None if part is None else section.number(place + k)
                    for k, part in enumerate(value)
                )
            elif name in LEFT_OUT and not value:
                found[name] = None
            else:
                found[name] = section.number(place)
            place += count
        return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
