"""Memory that is taken and given back while somebody keeps account, and the line of each piece.

Entries are made where values come into being: results of programs (`runtime/watched.py`), values
that users make (`ir/node.py`), and what programs read that is not known yet. They end when the
memory goes. The working memory of a program is one for as long as it runs.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from treadle.base.device import Device
from treadle.ir.node import Node, Type
from treadle.ir.sites import parsed
from treadle.runtime.realize import in_memory

WORKING = "working memory of a program"
UNKNOWN = "an unknown line"


class Change(NamedTuple):
    """Memory taken (bytes above 0) or given back (below), and what is held then on that device."""

    nanoseconds: int  # of time.perf_counter_ns
    nbytes: int
    held: int
    line: str
    device: str


class Share(NamedTuple):
    """What one line holds of a device's memory."""

    nbytes: int
    pieces: int
    line: str
    device: str


class _Entry(NamedTuple):
    nbytes: int
    line: str
    device: str


class Ledger:
    """An account of memory; appended to by any thread, in single steps, and added up when read."""

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._numbers = count()
        self._log: list[tuple[int, int, bool]] = []  # time, number of the entry, taken?
        self._known: dict[tuple[Device, int], Any] = {}  # device and address: a weak reference
        self._working: dict[Device, list[int]] = {}
        self._closed = False

    # ---- written while programs run

    def add(self, memory: Any, type_: Type, line: str | None) -> None:
        """Memory that is there; nothing happens if it is known."""
        memory = getattr(getattr(memory, "home", None), "memory", memory)  # of a loan
        address = getattr(memory, "address", id(memory))
        key = (type_.device, address)
        if not type_.nbytes or key in self._known:
            return
        number = self._take(_Entry(type_.nbytes, _line(line), str(type_.device)))

        def gone(_: Any) -> None:
            self._known.pop(key, None)
            self._give(number)

        self._known[key] = weakref.ref(memory, gone)

    def add_leaf(self, node: Node) -> None:
        """The memory of a value that comes from outside."""
        if in_memory(node):
            self.add(node.buffer, node.type, node.site)

    def begin(self, device: Device, nbytes: int, line: str | None) -> None:
        """A program starts to work in so many bytes."""
        entry = _Entry(nbytes, f"{WORKING} at {_line(line)}", str(device))
        number = self._take(entry) if nbytes else -1
        self._working.setdefault(device, []).append(number)

    def end(self, device: Device) -> None:
        """It has ended."""
        number = self._working[device].pop()
        if number >= 0:
            self._give(number)

    def close(self) -> None:
        """What happens from now on is not written down."""
        self._closed = True

    def _take(self, entry: _Entry) -> int:
        number = next(self._numbers)
        self._entries[number] = entry
        if not self._closed:
            self._log.append((time.perf_counter_ns(), number, True))
        return number

    def _give(self, number: int) -> None:
        if not self._closed:
            self._log.append((time.perf_counter_ns(), number, False))

    # ---- read by people

    def changes(self) -> list[Change]:
        """Everything that happened, in order."""
        held: dict[str, int] = {}
        found = []
        for when, number, taken in list(self._log):
            entry = self._entries[number]
            nbytes = entry.nbytes if taken else -entry.nbytes
            held[entry.device] = held.get(entry.device, 0) + nbytes
            found.append(Change(when, nbytes, held[entry.device], entry.line, entry.device))
        return found

    def peak_bytes(self, device: str = "cpu") -> int:
        """The most that was held of a device's memory at any moment."""
        return max((c.held for c in self.changes() if c.device == device), default=0)

    def at_peak(self, device: str = "cpu") -> list[Share]:
        """Who held what when most was held, largest first."""
        changes = self.changes()
        places = [k for k, c in enumerate(changes) if c.device == device]
        if not places:
            return []
        return self._shares(1 + max(places, key=lambda k: changes[k].held), device)

    def live(self, device: str = "cpu") -> list[Share]:
        """Who holds what now, or held it when the account was closed; largest first."""
        return self._shares(len(self._log), device)

    def _shares(self, until: int, device: str) -> list[Share]:
        alive: dict[int, None] = {}
        for _, number, taken in self._log[:until]:
            if taken:
                alive[number] = None
            else:
                alive.pop(number, None)
        return shares([e for k in alive if (e := self._entries[k]).device == device])

    def __str__(self) -> str:
        lines = []
        for device in dict.fromkeys(entry.device for entry in list(self._entries.values())):
            lines.append(f"{device}: {self.peak_bytes(device)} bytes at the peak, held by")
            lines += [shown(share) for share in self.at_peak(device)[:10]]
        return "\n".join(lines) or "no memory was taken"

    __repr__ = __str__


LEDGERS: list[Ledger] = []
"""Accounts that are kept just now."""


def shares(entries: Sequence[Any]) -> list[Share]:
    """Entries (bytes, line, device) by their line, largest first."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for nbytes, line, device in entries:
        before, pieces = sums.get((line, device), (0, 0))
        sums[line, device] = before + nbytes, pieces + 1
    found = [Share(nbytes, pieces, *key) for key, (nbytes, pieces) in sums.items()]
    return sorted(found, key=lambda share: -share.nbytes)


def shown(share: Share) -> str:
    """One line of a table."""
    pieces = "1 piece" if share.pieces == 1 else f"{share.pieces} pieces"
    return f"  {share.nbytes:>15,} B  {pieces:>11}  {share.line}"


def _line(site: str | None) -> str:
    return parsed(site or "").line or UNKNOWN
