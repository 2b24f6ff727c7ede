"""Ops that the user called: their names and lines, and arrows to the kernels that computed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treadle.base.watch import Kind, OpSite, Sites
from treadle.ir.node import Call
from treadle.ir.sites import parsed
from treadle.ops import defs
from treadle.profiler.recording import FLOW, OF_AN_OP, Detail

FORWARD = "forward"
Array = np.ndarray[Any, Any]


class Ops:
    """OP events, as a builder finds them one after the other."""

    def __init__(self) -> None:
        self.details: list[Detail] = []
        self.rows: list[int] = []
        self.numbers: list[int] = []  # of the detail of each row
        self.places: dict[int, tuple[int, ...]] = {}  # of a kernel's nodes, by its detail
        self._known: dict[tuple[Any, str], tuple[str, int]] = {}
        self._row_of: dict[int, int] = {}  # a call's number to its row

    def add(self, row: int, what: Call | defs.Op | str, site: str) -> str:
        """Remember an event; its name."""
        key = (what, site)
        if key not in self._known:
            self._known[key] = name_of(what), len(self.details)
            self.details.append(detail_of(site))
        name, number = self._known[key]
        self.rows.append(row)
        self.numbers.append(number)
        if isinstance(site, OpSite):
            self._row_of[site.op] = row
        return name

    def flows(self, events: Array, place: Array, callers: Mapping[int, Sites]) -> Array:
        """From an op to the first event of each kernel that computed what it recorded.

        - **place**: where rows are now
        - **callers**: of each launch, by its row now
        """
        recorded = self._recorded(callers)
        kernels = np.flatnonzero((events["kind"] == Kind.KERNEL) & (events["detail"] >= 0))
        kernels = kernels[np.isin(events["parent"][kernels], list(recorded))]
        runs = events["parent"][kernels].astype(np.int64) << 32 | events["detail"][kernels]
        _, first = np.unique(runs, return_index=True)
        found: list[tuple[int, int]] = []
        for target in kernels[np.sort(first)].tolist():
            rows = recorded[int(events["parent"][target])]
            places = self.places.get(int(events["detail"][target]), ())
            sources = dict.fromkeys(rows[k] for k in places if k in rows)
            found += [(int(place[row]), target) for row in sources]
        return np.array(found, FLOW)

    def _recorded(self, callers: Mapping[int, Sites]) -> dict[int, dict[int, int]]:
        """Of each launch that has any: the rows of ops, by the places of what they recorded."""
        known: dict[int, dict[int, int]] = {}  # a compiled function has one caller for all runs
        for caller in callers.values():
            if id(caller) not in known:
                calls = [(k, site.op) for k, site in enumerate(caller) if isinstance(site, OpSite)]
                known[id(caller)] = {k: self._row_of[n] for k, n in calls if n in self._row_of}
        return {row: known[id(caller)] for row, caller in callers.items() if known[id(caller)]}


def name_of(what: Call | defs.Op | str) -> str:
    """An op as it is shown elsewhere: a composite with its options, others by their names."""
    if isinstance(what, str):
        return what
    op, arg = (what.op, what.arg) if isinstance(what, Call) else (what, None)
    return op.called(arg) if op.kind is defs.Kind.COMPOSITE else op.name


def detail_of(site: str) -> Detail:
    """Where an op was called."""
    known = parsed(str(site))
    sites, modules = (tuple(filter(None, [text])) for text in (known.line, known.module))
    return Detail(-1, -1, OF_AN_OP, (), sites, modules, known.phase or FORWARD, 0, 0, 0, 0, "")
