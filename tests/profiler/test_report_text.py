"""The report as a file, and memory as pictures: what is in them, without a browser."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import plausible
import pytest

from treadle.base.errors import ArgumentError
from treadle.profiler.pictures import arena_picture, memory_picture
from treadle.profiler.recording import Kind, Recording
from treadle.profiler.report import inline_page, report_page

SVG = "{http://www.w3.org/2000/svg}"


def unpacked(page, name):
    text = re.search(rf'id="data-{name}">([^<]*)<', page)[1]
    return zlib.decompress(base64.b64decode(text))


def test_the_page_has_every_event_and_fact():
    recording = plausible.training(2)
    page = report_page(recording)
    facts = json.loads(unpacked(page, "facts"))
    count = len(recording.events)
    assert facts["count"] == count
    assert facts["names"] == recording.names
    assert facts["lost"] == 7
    assert facts["details"][3]["flops"] == recording.details[3].flops
    columns = unpacked(page, "events")
    start, length = np.frombuffer(columns, "<f8", 2 * count).reshape(2, -1)
    began = recording.events["start"].min()
    assert (start == recording.events["start"] - began).all()
    assert (length == recording.events["end"] - recording.events["start"]).all()
    assert len(columns) == count * (4 * 8 + 3 * 4 + 2 + 1 + 1)
    depth = np.frombuffer(columns[-count:], np.uint8)
    wanted = {Kind.SPAN: 0, Kind.MODULE: 1, Kind.OP: 2, Kind.CALL: 3, Kind.KERNEL: 0}
    for kind, deep in wanted.items():
        assert set(depth[recording.events["kind"] == kind]) == {deep}


def test_a_name_with_braces_is_a_name():
    recording = plausible.training(1)
    recording.facts["script"] = "{{js}}.py {{nothing}}"
    assert report_page(recording).count("<title>{{js}}.py {{nothing}} ·") == 1


def test_the_page_asks_nobody():
    page = report_page(plausible.training(1))
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"\w+://[^\s'\"]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, never asked for
    assert not re.search(r"<(?:link|img|iframe)|\ssrc=|@import|url\(", page)


def test_source_that_can_be_read_is_in_the_page_and_other_is_not():
    recording = plausible.training(1)
    gone = ("<stdin>:3", "/no/such.py:1")
    recording.details[0] = dataclasses.replace(recording.details[0], sites=gone)
    sources = json.loads(unpacked(report_page(recording), "facts"))["sources"]
    assert list(sources) == [str(plausible.SOURCE)]
    assert sources[str(plausible.SOURCE)] == plausible.SOURCE.read_text("utf-8")


def test_a_notebook_shows_the_same_page_in_a_frame():
    recording = plausible.training(1)
    found = inline_page(recording)
    inner = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^>]*></iframe>', found)
    assert html.unescape(inner[1]) == report_page(recording)


def rectangles(picture):
    root = ElementTree.fromstring(picture.svg)
    return [
        (float(r.get("x")), float(r.get("y")), float(r.get("width")), float(r.get("height")),
         r.find(f"{SVG}title").text)
        for r in root.iter(f"{SVG}rect")
    ]  # fmt: skip


def test_the_arena_has_a_rectangle_for_each_buffer_and_none_overlap():
    recording = plausible.training(1)
    found = rectangles(arena_picture(recording, 0))
    layout = recording.programs[0].layout
    assert [said.split(":")[0] for *_, said in found] == [label for *_, label in layout]
    for k, (x, y, wide, high, _) in enumerate(found):
        for x2, y2, wide2, high2, _ in found[:k]:
            apart = x + wide <= x2 or x2 + wide2 <= x or y + high <= y2 or y2 + high2 <= y
            assert apart
    bottoms = [y + high for _, y, _, high, _ in found]
    assert bottoms[0] - bottoms[1] == pytest.approx(found[0][3], abs=1)  # one lies on the other
    assert bottoms[0] == pytest.approx(bottoms[2])
    areas = [wide * high for _, _, wide, high, _ in found]
    wanted = [nbytes * (last - first + 1) for _, nbytes, first, last, _ in layout]
    assert np.divide(areas, areas[0]) == pytest.approx(np.divide(wanted, wanted[0]), rel=0.05)


def test_the_arena_says_what_reuse_saves():
    title = ElementTree.fromstring(arena_picture(plausible.training(1), 1).svg)[0].text
    assert title == "arena 12.3 kB, lower bound 12.3 kB, without reuse 14.3 kB: 14% saved"


def test_the_largest_arena_is_shown_unless_one_is_named():
    recording = plausible.training(1)
    recording.programs[1].layout.append((20_000, 50_000, 0, 1, "large"))
    assert arena_picture(recording).svg == arena_picture(recording, 1).svg
    assert arena_picture(recording).svg != arena_picture(recording, 0).svg


def test_live_bytes_mark_their_peak():
    recording = plausible.training(1)
    counter = recording.counters[0]
    root = ElementTree.fromstring(memory_picture(recording).svg)
    (peak,) = root.iter(f"{SVG}circle")
    assert peak.find(f"{SVG}title").text == "live bytes: 7 MB at most"
    share = (float(peak.get("cx")) - 78) / (920 - 78 - 12)
    times = counter.times - counter.times[0]
    assert share == pytest.approx(times[counter.values.argmax()] / times[-1], abs=1e-3)


def test_pictures_of_nothing_say_what_there_is():
    with pytest.raises(ArgumentError, match="no counter of bytes"):
        memory_picture(Recording())
    with pytest.raises(ArgumentError, match=r"got=9, programs=0, 1, 2"):
        arena_picture(plausible.training(1), 9)
