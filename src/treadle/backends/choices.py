"""Which of several ways a kernel takes: as timing found it on this machine, else as the model says.

A choice is a frozen dataclass of numbers. The cost model's stands unless a search (runtime/tune.py)
has found a better one for the same kernel, shape and processor. What was found is one signed entry
of the disk cache for each processor, read when the first kernel is planned; choices depend neither
on the number of threads nor on anything else that results must not depend on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from treadle.base import cache as disk
from treadle.base import trace
from treadle.base.knobs import CACHE_DIR, CACHE_SECRET

T = TypeVar("T")
SOURCES = ("base", "ops", "ir", "schedule", "kernel")  # and the backend: all that decides kernels
MOST = 1 << 14  # choices kept for a processor: about a megabyte; the oldest go

Machine = tuple[str, ...]
"""A backend, and what tells its device from others."""


@dataclass(frozen=True)
class Space(Generic[T]):
    """The ways there are: the cost model's, what may be tried instead of one, and what is right."""

    default: T
    near: Callable[[T], Iterable[T]]
    fits: Callable[[T], bool]


@dataclass
class Question:
    """A kernel whose way is open, and the numbers of the steps that it runs in."""

    space: Space[Any]
    steps: set[int] = field(default_factory=set)


@dataclass
class Search:
    """What programs made meanwhile shall take, and what they asked for."""

    wanted: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Question] = field(default_factory=dict)
    step: int = 0
    machine: Machine = ()


SEARCH: ContextVar[Search | None] = ContextVar("search", default=None)
"""The search that programs are made for, where they are made for one."""


@contextmanager
def searching(search: Search) -> Iterator[None]:
    """Programs made inside ask a search first."""
    token = SEARCH.set(search)
    try:
        yield
    finally:
        SEARCH.reset(token)


def begin_step(number: int) -> None:
    """What is asked from here on concerns a step of the program."""
    search = SEARCH.get()
    if search is not None:
        search.step = number


def is_open(machine: Machine) -> bool:
    """Is there anything but the cost model to ask?"""
    return SEARCH.get() is not None or bool(_found(machine, CACHE_DIR.value, CACHE_SECRET.value))


def take(machine: Machine, kernel: str, space: Space[T]) -> T:
    """The way of a kernel, which its text, shape included, identifies."""
    key = disk.digest(kernel)
    found = _found(machine, CACHE_DIR.value, CACHE_SECRET.value).get(key)
    if found is not None:
        way = _read(found, space)
        trace.tell("tuned", f"{way}, where the model says {space.default}")
        return way
    search = SEARCH.get()
    if search is None:
        return space.default
    search.machine = machine
    search.asked.setdefault(key, Question(space)).steps.add(search.step)
    wanted: T = search.wanted.get(key, space.default)
    return wanted


def keep(machine: Machine, choices: dict[str, Any]) -> None:
    """Use choices from now on, here and in programs to come.

    Another process that keeps its own at the same moment may win: then ours are found again.
    """
    place = CACHE_DIR.value, CACHE_SECRET.value
    known = _found(machine, *place)
    known |= _stored(machine)
    known |= {key: list(astuple(choice)) for key, choice in choices.items()}
    for key in list(known)[: max(0, len(known) - MOST)]:
        del known[key]
    disk.write(_place(machine), json.dumps(known).encode())


def forget() -> None:
    """Read anew what the disk cache holds."""
    _found.cache_clear()


@cache
def _found(machine: Machine, folder: str, secret: str) -> dict[str, list[int]]:
    del folder, secret  # they decide which cache is read
    return _stored(machine)


def _stored(machine: Machine) -> dict[str, list[int]]:
    body = disk.read(_place(machine)) if disk.folder() is not None else None
    return {} if body is None else json.loads(body)


def _place(machine: Machine) -> str:
    return disk.digest("choices", *machine, disk.sources(*SOURCES, f"backends/{machine[0]}"))


def _read(found: list[int], space: Space[T]) -> T:
    """A choice from its numbers; one that does not fit is none."""
    try:
        choice: T = type(space.default)(*found)
    except TypeError:
        return space.default
    return choice if space.fits(choice) else space.default
