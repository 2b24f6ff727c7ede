"""The report: one page with everything a recording holds, that needs no network and no server."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict, fields
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.base.files import PathLike, replacing
from treadle.profiler.groups import Costs
from treadle.profiler.holders import holders_picture
from treadle.profiler.lanes import lanes_of
from treadle.profiler.pictures import arena_picture, memory_picture
from treadle.profiler.rates import all_counters
from treadle.profiler.recording import Counter, Kind, Recording

SCRIPTS = ("data", "tables", "source", "roofline", "programs", "draw", "timeline", "main")
"""Parts of the page's program, in the order in which they are put together."""

PAGES = (".html", ".htm")
LONGEST_SOURCE = 1 << 20  # of a file that is shown whole
HEIGHT = 640  # of a report within a notebook
WITH_CODE = 12  # kernels whose text and assembly are shown
PACKING = 3  # the effort to make data small: more takes much longer
POINTS = 4000  # of a counter that are drawn


def write_report(recording: Recording, path: PathLike) -> None:
    """Write the page, whole or not at all."""
    name = os.fspath(path)
    if not name.endswith(PAGES):
        hint = "end its name in .html; prof.save writes other formats, by their ending"
        raise ArgumentError(explain("report", "the report is a page in HTML", hint, path=name))
    with replacing(path) as file:
        for part in report_parts(recording):
            file.write(part)


def report_parts(recording: Recording) -> Iterator[bytes]:
    """The page, in one part."""
    yield report_page(recording).encode()


def inline_page(recording: Recording) -> str:
    """The report within another page, as notebooks show it."""
    page = html.escape(report_page(recording), quote=True)
    style = f"width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:6px"
    return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="{style}"></iframe>'


def report_page(recording: Recording) -> str:
    """The report as text: style, program and data in one page."""
    facts = json.dumps(_facts(recording)).encode()
    parts = {
        "title": html.escape(_title(recording)),
        "css": _asset("page.css"),
        "facts": _packed(facts),
        "events": _packed(_columns(recording)),
        "flows": _packed(recording.flows.astype([("source", "<i4"), ("target", "<i4")]).tobytes()),
        "js": "\n".join(_asset(f"{name}.js") for name in SCRIPTS),
    }
    return re.sub(r"{{(\w+)}}", lambda found: parts[found[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return resources.files("treadle.profiler").joinpath("page", name).read_text("utf-8")


def _packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, PACKING)).decode()


def _title(recording: Recording) -> str:
    return recording.facts.get("script") or recording.facts.get("title") or "a profile"


# ---- what the page is given


def _columns(recording: Recording) -> bytes:
    """Events as columns one after the other: eight bytes a number first, single bytes last."""
    events = recording.events
    lane_of = np.zeros(len(events), np.uint16)
    depth = np.zeros(len(events), np.uint8)
    for number, lane in enumerate(lanes_of(recording)):
        rows = lane.rows[lane.opens]
        lane_of[rows] = number
        deep = np.cumsum(np.where(lane.opens, 1, -1))[lane.opens] - 1
        depth[rows] = np.minimum(deep, 255)
    began = int(events["start"].min(initial=_FAR)) if len(events) else 0
    columns = (
        (events["start"] - began).astype("<f8"),
        np.maximum(events["end"] - events["start"], 0).astype("<f8"),
        *(column.astype("<f8") for column in _own(recording)),
        events["name"].astype("<u4"), events["parent"].astype("<i4"),
        events["detail"].astype("<i4"), lane_of.astype("<u2"),
        events["kind"].astype("u1"), depth,
    )  # fmt: skip
    return b"".join(column.tobytes() for column in columns)


def _own(recording: Recording) -> tuple[Any, Any]:
    """Nanoseconds that are an event's alone, and its part of a run that threads share."""
    events = recording.events
    time, part = (events["end"] - events["start"]).astype(np.float64), np.ones(len(events))
    rows = _kernels(recording)
    if len(rows):
        costs = Costs(recording, rows)
        time[rows], part[rows] = costs.time, costs.runs
    return time, part


_FAR = np.iinfo(np.int64).max


def _facts(recording: Recording) -> dict[str, Any]:
    """All but the events."""
    events = recording.events
    began = int(events["start"].min()) if len(events) else 0
    hottest = _hottest(recording)
    return {
        "title": _title(recording),
        "count": len(events),
        "kinds": [kind.name.lower() for kind in Kind],
        "names": recording.names,
        "lanes": _lanes(recording),
        "details": [asdict(detail) for detail in recording.details],
        "counters": [_counter(counter, began) for counter in all_counters(recording)],
        "programs": [_program(recording, number, hottest) for number in sorted(recording.programs)],
        "memory": _memory(recording),
        "holders": [
            holders_picture(recording.changes, device).svg
            for device in dict.fromkeys(change.device for change in recording.changes)
        ],
        "sources": _sources(recording),
        "ceilings": recording.ceilings,
        "lost": recording.lost,
        "facts": recording.facts,
    }


def _memory(recording: Recording) -> str:
    counted = [counter for counter in recording.counters if counter.unit == "B"]
    return memory_picture(recording).svg if counted else ""


def _lanes(recording: Recording) -> list[dict[str, Any]]:
    found = []
    for lane in lanes_of(recording):
        track = recording.tracks[lane.track]
        name = f"{track.name}, lane {lane.number + 1}" if lane.number else track.name
        found.append({"name": name, "device": track.device, "process": track.process})
    return found


def _counter(counter: Counter, began: int) -> dict[str, Any]:
    step = max(1, -(-len(counter.times) // POINTS))
    return {
        "name": counter.name, "unit": counter.unit,
        "times": (counter.times[::step] - began).tolist(),
        "values": counter.values[::step].tolist(),
    }  # fmt: skip


def _program(recording: Recording, number: int, hottest: set[tuple[int, int]]) -> dict[str, Any]:
    """A page, with the code of those of its kernels that are among the hottest."""
    page = recording.programs[number]
    kernels = []
    for entry, (*about, text, assembly) in enumerate(page.kernels):
        wanted = page.code if (number, entry) in hottest else None
        kernels.append((*about, *(wanted(entry) if wanted else (text, assembly))))
    picture = arena_picture(recording, number).svg if page.layout else ""
    known = {
        field.name: getattr(page, field.name) for field in fields(page) if field.name != "code"
    }
    return known | {"kernels": kernels, "picture": picture}


def _hottest(recording: Recording) -> set[tuple[int, int]]:
    """Program and number of the kernels that took most time: to make their code takes some too."""
    rows = _kernels(recording)
    if not len(rows):
        return set()
    spent = {number: float(sums[0]) for number, sums in Costs(recording, rows).by_detail().items()}
    found = (recording.details[k] for k in sorted(spent, key=lambda k: -spent[k]))
    return set(list(dict.fromkeys((d.program, d.entry) for d in found))[:WITH_CODE])


def _kernels(recording: Recording) -> Any:
    events = recording.events
    return np.flatnonzero((events["kind"] == Kind.KERNEL) & (events["detail"] >= 0))


def _sources(recording: Recording) -> dict[str, str]:
    """Text of the files that lines are in; what cannot be read is left out."""
    sites = {site for detail in recording.details for site in detail.sites}
    found = {}
    for name in sorted({site.rpartition(":")[0] for site in sites}):
        try:
            if Path(name).stat().st_size <= LONGEST_SOURCE:
                found[name] = Path(name).read_text("utf-8", errors="replace")
        except (OSError, ValueError):
            continue  # <stdin>, a cell of a notebook, a file that is gone
    return found
