"""Who held memory: areas whose heights are what each line holds at each moment."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import plausible
import pytest
from test_report_text import unpacked

from treadle.base.errors import ArgumentError
from treadle.profiler import drawing
from treadle.profiler.holders import OTHERS, SHOWN, holders_picture
from treadle.profiler.report import report_page

SVG = "{http://www.w3.org/2000/svg}"


class Change(NamedTuple):
    nanoseconds: int
    nbytes: int
    line: str
    device: str = "cpu"


CHANGES = [
    Change(0, 100, "a.py:1"), Change(10, 300, "b.py:2"), Change(20, -100, "a.py:1"),
    Change(30, 50, "a.py:1"), Change(40, 999, "c.py:3", "cuda:0"), Change(50, -300, "b.py:2"),
]  # fmt: skip


def areas(picture):
    root = ElementTree.fromstring(picture.svg)
    return {p.find(f"{SVG}title").text: p.get("d") for p in root.iter(f"{SVG}path")}


def height_at(path, x):
    """How high an area is at a place, by its steps."""
    points, at = [], [0.0, 0.0]
    for letter, numbers in re.findall(r"([MHV])([\d. ]+)", path):
        values = [float(n) for n in numbers.split()]
        at = (
            values if letter == "M" else [values[0], at[1]] if letter == "H" else [at[0], values[0]]
        )
        points.append(tuple(at))
    points.append(points[0])
    crossed = [
        y0 for (x0, y0), (x1, y1) in pairwise(points)
        if y0 == y1 and min(x0, x1) <= x < max(x0, x1)
    ]  # fmt: skip
    return max(crossed) - min(crossed)


def test_an_area_is_as_high_as_what_its_line_holds():
    found = areas(holders_picture(CHANGES))
    assert set(found) == {"b.py:2: 300 B at the peak", "a.py:1: 100 B at the peak"}
    room = drawing.down(0.0) - drawing.down(1.0)
    for time in (5, 15, 25, 35, 45):
        for said, path in found.items():
            line = said.split(": ")[0]
            held = sum(c.nbytes for c in CHANGES if c.line == line and c.nanoseconds <= time)
            high = height_at(path, drawing.across(time / 50))
            assert high == pytest.approx(room * held / 400, abs=0.3), (line, time)


def test_lines_that_hold_little_are_one_area():
    changes = [Change(k, 1000 - k, f"x.py:{k}") for k in range(30)]
    found = areas(holders_picture(changes))
    assert len(found) == SHOWN + 1
    rest = sum(1000 - k for k in range(SHOWN, 30))
    assert f"{OTHERS}: {rest / 1000:.3g} kB at the peak" in found


def test_many_changes_are_drawn_as_few_and_keep_the_peak():
    random = np.random.default_rng(0)
    sizes = random.integers(-50, 60, 20_000).tolist()
    changes = [Change(k, size, f"x.py:{k % 3}") for k, size in enumerate(sizes)]
    picture = holders_picture(changes)
    assert len(picture.svg) < 200_000
    title = ElementTree.fromstring(picture.svg)[0].text
    assert title.startswith(f"cpu: {np.cumsum(sizes).max() / 1000:.3g} kB at the peak")


def test_a_device_that_took_nothing_is_refused_by_name():
    with pytest.raises(ArgumentError, match=r"got=tpu, devices=cpu, cuda:0"):
        holders_picture(CHANGES, "tpu")


def test_the_report_shows_each_device():
    recording = plausible.training(1)
    assert json.loads(unpacked(report_page(recording), "facts"))["holders"] == []
    recording.changes = CHANGES
    found = json.loads(unpacked(report_page(recording), "facts"))["holders"]
    assert found == [holders_picture(CHANGES, device).svg for device in ("cpu", "cuda:0")]
