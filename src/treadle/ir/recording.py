"""What is wanted of nodes while they are recorded: lines, traces, gradients, casts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from treadle.base import knobs

PACKAGE = __file__[: -len("ir/recording.py")]  # frames of ours are not the user's line

_SITE: ContextVar[str | None] = ContextVar("site", default=None)
"""Given to new nodes instead of the user's line; what a compiler sets goes with its context."""


class Watcher:
    """Makes its thread one of those that watch, until the thread drops it or ends."""

    __slots__ = ("recording",)

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        recording.watchers.add(id(self))
        recording.settle()

    def __del__(self) -> None:
        self.recording.watchers.discard(id(self))
        self.recording.settle()


class Wishes(threading.local):
    """What a thread wants to know about the nodes it makes."""

    def __init__(self) -> None:
        self.sites = bool(knobs.EXPLAIN.value or knobs.DEBUG.value >= 2)  # remember the line?
        self.made: set[Any] | None = None  # new nodes are added to it
        self.policy: Any = None  # what operands are cast by before they are recorded
        self.watcher: Watcher | None = None  # there if one of these is wanted


class Recording:
    """Switches read by every recorded node: one that is quick to read, the rest by thread."""

    __slots__ = ("given", "look", "noted", "watched", "watchers", "wishes")

    def __init__(self) -> None:
        self.wishes = Wishes()
        self.watched = self.wishes.sites  # does any thread want to know of new nodes?
        self.watchers = {0} if self.watched else set[int]()
        self.given: list[Callable[[Any], None]] = []  # called with leaves, while somebody watches
        self.noted: list[Callable[[Any], None]] = []  # called with what is recorded, the same
        self.look: Callable[[Any], None] = lambda node: None  # called with one node of thousands

    # fmt: off
    @property
    def site(self) -> str | None: return _SITE.get()
    @site.setter
    def site(self, site: str | None) -> None: _SITE.set(site)
    @property
    def sites(self) -> bool: return self.wishes.sites
    @property
    def lines(self) -> bool: return self.wishes.sites or knobs.MEANING.watched
    @property
    def made(self) -> set[Any] | None: return self.wishes.made
    @property
    def policy(self) -> Any: return self.wishes.policy
    # fmt: on

    def watch(self, sites: bool, made: set[Any] | None) -> None:
        """Should new nodes of this thread remember their line, and be added to a set?"""
        self.wishes.sites, self.wishes.made = sites, made
        self._keep_watching()

    def cast_by(self, policy: Any) -> None:
        """Cast the operands of what this thread records from now on: policy(op, operands)."""
        self.wishes.policy = policy
        self._keep_watching()

    def _keep_watching(self) -> None:
        mine = self.wishes
        if not mine.sites and mine.made is None and mine.policy is None:
            mine.watcher = None
        elif mine.watcher is None:
            mine.watcher = Watcher(self)

    def settle(self) -> None:
        """Right for whoever comes last, however many threads change the watchers at once."""
        while self.watched is not bool(self.watchers):
            self.watched = bool(self.watchers)

    def note(self, node: Any) -> None:
        """Do what is asked for with a new node."""
        mine = self.wishes
        if mine.sites or knobs.MEANING.watched:
            site = self.site
            node.site = user_site() if site is None else site
        if mine.made is not None:
            mine.made.add(node)
        for hear in self.noted:
            hear(node)

    def note_leaf(self, node: Any) -> None:
        """Remember the line of a value that comes from outside."""
        if self.lines:
            node.site = self.site or user_site()
        for hear in self.given:
            hear(node)


class Computed:
    """How values of nodes are computed: the runtime, which stands above, fills this in."""

    number: Callable[[Any], Any]
    realize: Callable[[Any], None]


class Gradients(threading.local):
    """Does this thread record what gradients need?"""

    on = True


RECORDING, GRADIENTS, COMPUTED = Recording(), Gradients(), Computed()
KNOBS = -1  # as a watcher: knobs, which ask for the lines of all threads


def _follow_knobs() -> None:
    asked = knobs.MEANING.watched
    (RECORDING.watchers.add if asked else RECORDING.watchers.discard)(KNOBS)
    RECORDING.settle()


knobs.MEANING.hear.append(_follow_knobs)
_follow_knobs()


def user_site() -> str:
    """file:line of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
