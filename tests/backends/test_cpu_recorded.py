"""Threads write down every block they run, of the entry it belongs to, and what finds no room."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import rings
from treadle.backends.cpu.recorded import HEAD, RECORD
from treadle.base.watch import FIELDS, WATCH, Kind


def recorded(function):
    """The program of a function's one launch, and its records: (thread, entry, blocks, times)."""
    place = WATCH.begin()
    try:
        function()
    finally:
        flat = WATCH.end(place).events
    calls = [k for k, kind in enumerate(flat[::FIELDS]) if kind == Kind.CALL]
    (at,) = calls
    found = []
    for ring in rings.RINGS.all:
        words = ring.words[HEAD : HEAD + RECORD * ring.words[0]]
        for k in range(0, len(words), RECORD):
            _, entry, start, end, blocks = words[k : k + RECORD]
            found.append((ring.thread, entry, blocks, start, end))
    lost = sum(ring.words[2] for ring in rings.RINGS.all)
    return flat[FIELDS * at + 1], found, lost


def several():
    """Sums of different rows, which run beside each other where there are threads for it."""
    rng = np.random.default_rng(0)
    xs = [td.tensor(rng.standard_normal((3, 20_000 + k)).astype(np.float32)) for k in range(4)]
    return lambda: td.realize(*[(x * 2.0).sum(axis=1) for x in xs])


def looped():
    x = td.tensor(np.eye(40, dtype=np.float32))
    return lambda: td.realize(td.fori_loop(0, 5, lambda _, c: td.tanh(c @ c), x), x.sum())


def long():
    x = td.ones(600, 600).realize()
    return lambda: td.realize(((x + 1.0) @ x).sum() + td.exp(x).sum(0))


@pytest.mark.parametrize("make", [several, looped, long], ids=lambda f: f.__name__)
def test_every_block_is_written_down_once(make):
    function = make()
    function()
    program, found, lost = recorded(function)
    assert lost == 0
    ran = [0] * len(program.entries)
    for _, entry, blocks, start, end in found:
        ran[entry] += blocks
        assert start <= end
    assert ran == [entry.blocks for entry in program.entries]
    if make is several and program.pool.threads > 1:
        assert any(program.following.values())  # or this test has lost its point
    if make is long:
        assert program.in_parts


def test_a_thread_writes_one_record_for_each_entry():
    function = several()
    function()
    _, found, _ = recorded(function)
    keys = [(thread, entry) for thread, entry, *_ in found]
    assert len(set(keys)) == len(keys)


def test_what_finds_no_room_is_counted(monkeypatch):
    monkeypatch.setattr(rings, "ROOM", 2)
    function = several()
    function()
    program, found, lost = recorded(function)
    assert len(program.entries) > 2
    assert lost > 0
    assert len(found) <= 2 * len(rings.RINGS.all)


def test_a_ring_that_is_nearly_full_is_put_aside(monkeypatch):
    monkeypatch.setattr(rings, "ROOM", 8)
    x = td.ones(4, 4).realize()
    with td.profile() as prof:
        for _ in range(20):
            (x + 1.0).numpy()
    assert prof.recording.lost == 0
    assert len(prof.events().filter(kind="kernel")) == 20
