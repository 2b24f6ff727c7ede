"""What is wanted of nodes while they are recorded: lines, traces, gradients, casts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from treadle.base import knobs
from treadle.base.watch import WATCH, Kind, during

WITHIN, FIELD, SPAN, BACKWARD = "\t", "\x1f", "\x1e", "backward"  # in sites: see sites.py
PACKAGE = __file__[: -len("ir/recording.py")]  # frames of ours are not the user's line

_SITE: ContextVar[str | None] = ContextVar("site", default=None)
"""Given to new nodes instead of the user's line; what a compiler sets goes with its context."""


_PLACES: ContextVar[bool] = ContextVar("places", default=False)
"""Do new nodes have a site, whoever made them? The same goes for this."""


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
        self.within = ""  # follows the line of a site: module and phase
        self.policy: Any = None  # what operands are cast by before they are recorded
        self.watcher: Watcher | None = None  # there if one of these is wanted


class Recording:
    """Switches read by every recorded node: one that is quick to read, the rest by thread."""

    __slots__ = ("given", "look", "spans", "watched", "watchers", "wishes")

    def __init__(self) -> None:
        self.wishes = Wishes()
        self.watched = self.wishes.sites  # does any thread want to know of new nodes?
        self.watchers = {0} if self.watched else set[int]()
        self.given: list[Callable[[Any], None]] = []  # called with leaves, while somebody watches
        self.spans: Callable[[], str] = str  # the end of a site: the runtime fills this in
        self.look: Callable[[Any], None] = lambda node: None  # called with one node of thousands

    # fmt: off
    @property
    def site(self) -> str | None: return _SITE.get()
    @site.setter
    def site(self, site: str | None) -> None: _SITE.set(site)
    @property
    def sites(self) -> bool: return self.wishes.sites
    @property
    def noted(self) -> bool:
        return self.wishes.sites or WATCH.on or knobs.MEANING.watched or _PLACES.get()
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

    def inside(self, module: str | None = None, phase: str | None = None) -> str:
        """What this thread records from now on belongs to a module or a phase; what it was."""
        before = self.wishes.within
        _, old_module, old_phase = before.split(FIELD) if before else ("", "", "")
        module = old_module if module is None else module
        phase = old_phase if phase is None else phase
        self.wishes.within = f"{FIELD}{module}{FIELD}{phase}"
        return before

    def outside(self, before: str) -> None:
        """The module or phase is over."""
        self.wishes.within = before

    def keep_places(self) -> Watcher:
        """Nodes that a compiler makes have the place of what they stand for.

        For as long as its context and what is returned: an interrupt leaves nothing on. What
        stands for nothing has no line; that of whoever waits for the compiler is none of its own.
        """
        _PLACES.set(True)
        _SITE.set("")
        return Watcher(self)

    def settle(self) -> None:
        """Right for whoever comes last, however many threads change the watchers at once."""
        while self.watched is not bool(self.watchers):
            self.watched = bool(self.watchers)

    def note(self, node: Any) -> None:
        """Do what is asked for with a new node."""
        mine = self.wishes
        if self.noted:
            site = self.site
            node.site = self.here() if site is None else site
        if mine.made is not None:
            mine.made.add(node)

    def here(self) -> str:
        """The site of what the user does now."""
        return user_site() + self.wishes.within + self.spans()

    def note_leaf(self, node: Any) -> None:
        """Remember the line of a value that comes from outside."""
        if self.noted:
            node.site = self.site or self.here()
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


def _watched() -> None:
    """All threads want to know of new nodes while somebody profiles."""
    RECORDING.watchers.add(id(WATCH))
    RECORDING.settle()


def _unwatched() -> None:
    RECORDING.watchers.discard(id(WATCH))
    RECORDING.settle()


WATCH.begun.append(_watched)
WATCH.ended.append(_unwatched)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """What is recorded within is a phase of training: no module's business."""
    before = RECORDING.inside("", name)
    try:
        with during(Kind.PHASE, name):
            yield
    finally:
        RECORDING.outside(before)


@lru_cache(maxsize=1 << 16)
def backward_site(site: str, called: str = "") -> str:
    """The site of a gradient: that of what it is the gradient of, in another phase."""
    head, _, call = site.partition(WITHIN)
    place, span, path = head.partition(SPAN)
    line, module, *_ = (*place.split(FIELD), "")
    whole = call or called
    return f"{line}{FIELD}{module}{FIELD}{BACKWARD}{span}{path}{WITHIN * bool(whole)}{whole}"


def user_site() -> str:
    """file:line of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
