"""Ops that the user called: their names and lines, and arrows to the kernels that computed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treadle.base.watch import Caller, Kind
from treadle.ir.node import Call
from treadle.ir.sites import parsed
from treadle.ops import defs
from treadle.profiler.recording import FLOW, Detail

FORWARD = "forward"
OF_OPS = -1  # as the program of a detail


class Ops:
    """OP events as they are found, one after the other."""

    def __init__(self) -> None:
        self.details: list[Detail] = []
        self.places: dict[int, tuple[int, ...]] = {}  # of a kernel's nodes, by its detail
        self._known: dict[tuple[str, str], int] = {}
        self._row_of: dict[int, int] = {}  # an op's number to its event's row
        self._rows: list[int] = []
        self._numbers: list[int] = []

    def add(self, row: int, what: Call | defs.Op, number: int, site: str) -> str:
        """Remember an event; its name."""
        name, site = name_of(what), str(site)
        if (name, site) not in self._known:
            self._known[name, site] = len(self.details)
            self.details.append(detail_of(name, site))
        self._rows.append(row)
        self._numbers.append(self._known[name, site])
        if number > 0:
            self._row_of[number] = row
        return name

    def found(self) -> tuple[list[int], list[int]]:
        """Rows of the events, and the number of each one's detail."""
        return self._rows, self._numbers

    def flows(
        self, events: np.ndarray[Any, Any], place: np.ndarray[Any, Any],
        callers: Mapping[int, Caller],
    ) -> np.ndarray[Any, Any]:  # fmt: skip
        """From an op to the first event of each kernel in which its nodes were computed.

        place: where the rows of events are now. callers: of each launch, by its row.
        """
        kernels = np.flatnonzero((events["kind"] == Kind.KERNEL) & (events["detail"] >= 0))
        pairs = events[["parent", "detail"]][kernels]
        _, first = np.unique(pairs, return_index=True)
        called = {row: self._called(caller) for row, caller in callers.items()}
        found: list[tuple[int, int]] = []
        for target in kernels[np.sort(first)].tolist():
            rows = called.get(int(events["parent"][target]))
            if rows:
                mine = [rows.get(k) for k in self.places.get(int(events["detail"][target]), ())]
                sources = dict.fromkeys(row for row in mine if row is not None)
                found += [(int(place[row]), target) for row in sources]
        return np.array(found, FLOW)

    def _called(self, caller: Caller) -> dict[int, int]:
        """The rows of the ops that recorded a graph, by the places of their nodes."""
        numbers = [(k, getattr(site, "op", 0)) for k, site in enumerate(caller)]
        return {k: self._row_of[number] for k, number in numbers if number in self._row_of}


def name_of(what: Call | defs.Op) -> str:
    """An op as it is shown elsewhere: a composite with its options, others by their names."""
    op, arg = (what.op, what.arg) if isinstance(what, Call) else (what, None)
    return op.called(arg) if op.kind is defs.Kind.COMPOSITE else op.name


def detail_of(name: str, site: str) -> Detail:
    """Where an op was called."""
    line, module, phase, *_ = parsed(site)
    modules = (module,) if module else ()
    sites = (line,) if line else ()
    return Detail(
        OF_OPS, 0, "op", (name,), sites, modules, phase or FORWARD, 0, 0, 0, 0, ""
    )  # fmt: skip
