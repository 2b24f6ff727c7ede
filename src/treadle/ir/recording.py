"""What is wanted to be known about nodes while they are recorded: lines, traces, gradients."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from treadle.base import knobs

PACKAGE = __file__[: -len("ir/recording.py")]  # frames of ours are not the user's line


class Wishes(threading.local):
    """What a thread wants to know about the nodes it makes."""

    def __init__(self) -> None:
        self.site: str | None = None  # given to new nodes instead of the user's line
        self.sites = bool(knobs.EXPLAIN.value or knobs.DEBUG.value >= 2)  # remember the line?
        self.made: set[Any] | None = None  # new nodes are added to it
        self.look: Callable[[Any], None] | None = None  # called once, with the next node


class Recording:
    """Switches read by every recorded node: one that is quick to read, the rest by thread."""

    __slots__ = ("_always", "_threads", "watched", "wishes")

    def __init__(self) -> None:
        self.wishes = Wishes()
        self._always = self.wishes.sites
        self._threads: set[int] = set()  # those that watch
        self.watched = self._always  # does any thread want to know of new nodes?

    # fmt: off
    @property
    def site(self) -> str | None: return self.wishes.site
    @site.setter
    def site(self, site: str | None) -> None: self.wishes.site = site
    @property
    def sites(self) -> bool: return self.wishes.sites
    @property
    def made(self) -> set[Any] | None: return self.wishes.made
    # fmt: on

    def watch(self, sites: bool, made: set[Any] | None) -> None:
        """Should new nodes of this thread remember their line, and be added to a set?"""
        self.wishes.sites, self.wishes.made = sites, made
        self._settle()

    def look_at_next(self, look: Callable[[Any], None]) -> None:
        """Have the next node that no trace is interested in looked at."""
        self.wishes.look = look
        self._settle()

    def _settle(self) -> None:
        mine, thread = self.wishes, threading.get_ident()
        wanted = mine.sites or mine.made is not None or mine.look is not None
        (self._threads.add if wanted else self._threads.discard)(thread)
        self.watched = self._always or bool(self._threads)

    def note(self, node: Any) -> None:
        """Do what is asked for with a new node."""
        mine = self.wishes
        if mine.sites:
            node.site = user_site() if mine.site is None else mine.site
        if mine.made is not None:
            mine.made.add(node)
            return
        look, mine.look = mine.look, None
        if look is not None:
            self._settle()
            look(node)


class Gradients(threading.local):
    """Does this thread record what gradients need?"""

    on = True


RECORDING, GRADIENTS = Recording(), Gradients()


def user_site() -> str:
    """file:line of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
