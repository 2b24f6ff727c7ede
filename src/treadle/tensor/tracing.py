"""What a traced function did to tensors that outlive it, and what it looked at besides tensors."""

from __future__ import annotations

from typing import Any

from treadle.ir.node import Node
from treadle.runtime.stacks import ThreadStack

PLAIN = (bool, int, float, str, type(None))


class Tracing:
    """One trace: what it made, and how things were before it changed them."""

    __slots__ = ("assigned", "facts", "found", "grads", "made", "marked", "read")

    def __init__(self) -> None:
        self.made: set[Node] = set()  # nodes that did not exist before
        self.assigned: dict[Any, Node] = {}  # tensor to the node it had before
        self.marked: dict[Any, Node] = {}  # the same for requires_grad_
        self.grads: dict[Any, Any] = {}  # tensor to the gradient it had before
        self.found: dict[Any, bool] = {}  # tensor to: had it a gradient when that was looked at?
        self.read: dict[Node, Any] = {}  # node to the tensor by which it was read first
        self.facts: dict[Followed, Facts] = {}  # object to its attributes then


TRACE: ThreadStack[Tracing] = ThreadStack()
SAMPLES: ThreadStack[tuple[Node, int]] = ThreadStack()
"""Inside functions mapped over samples: the number of the sample, and how many there are."""


class Followed:
    """An object whose attributes decide what functions do: compiled ones notice when they change.

    Modules and optimizers are such objects. A trace that comes across one remembers its attributes,
    and is not used again while they are others.
    """

    changes = 0
    """Counts attributes set, of all such objects: nothing has to be compared while it stays."""
    _at_first: dict[str, Any] = {}  # noqa: RUF012 - attributes that are as good as set

    def __setattr__(self, name: str, value: Any) -> None:
        if TRACE:
            self._note()
        object.__setattr__(self, name, value)
        Followed.changes += 1

    def __delattr__(self, name: str) -> None:
        if TRACE:
            self._note()
        object.__delattr__(self, name)
        Followed.changes += 1

    def _note(self) -> None:
        """Let a trace know what it is about to look at, or to change."""
        TRACE.top.facts.setdefault(self, facts_of(self))


Facts = dict[str, Any]


def facts_of(thing: Followed) -> Facts:
    """The attributes of an object, in a form that can be compared."""
    return {name: fact_of(value) for name, value in (thing._at_first | vars(thing)).items()}


def lasting(before: Facts, after: Facts) -> Facts:
    """Facts about an object that a trace relies on: what it has changed itself it does not."""
    changed = {name: ... for name in after if before.get(name) != after[name]}
    return after | changed


def is_as(before: Facts, now: Facts) -> bool:
    """Are facts that a trace relies on still so?"""
    return before.keys() == now.keys() and all(
        fact is ... or fact == now[name] for name, fact in before.items()
    )


def fact_of(value: Any) -> Any:
    """A number or text itself, with its type and sign; of anything else, which object it is."""
    if value.__class__ in PLAIN:
        return value.__class__, str(value) if value.__class__ is float else value
    if value.__class__ in (list, tuple):
        return value.__class__, *[fact_of(part) for part in value]
    if value.__class__ is dict:
        return dict, *[(name, fact_of(part)) for name, part in value.items()]
    return Same(value)


class Same:
    """Equal to another that stands for the same object, which it keeps alive."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    __hash__ = None  # type: ignore[assignment]
