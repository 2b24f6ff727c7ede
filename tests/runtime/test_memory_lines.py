"""Whose line holds how much memory: now, at the peak, and when there is none left."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import buffers
from treadle.base.errors import OutOfMemory
from treadle.base.knobs import MEANING
from treadle.ir.recording import RECORDING

MB = 1 << 20
SIDE = 512  # a square of float32 is 1 MB


def here(function, offset):
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


@pytest.fixture(autouse=True)
def little_is_mapped_elsewhere():
    yield
    assert not MEANING.accounts


def make():
    given = td.tensor(np.ones((SIDE, SIDE), np.float32))
    doubled = (given * 2.0).realize()
    summed = doubled.sum(axis=0).realize()
    return given, doubled, summed


def test_bytes_by_line_while_they_are_noted():
    with td.record_memory() as memory:
        kept = make()
        report = td.memory_report()
    by_line = {share.line: share for share in report.lines}
    assert by_line[here(make, 1)].nbytes == MB
    assert by_line[here(make, 2)].nbytes == MB
    assert by_line[here(make, 3)].nbytes == 4 * SIDE
    assert here(make, 2) in str(report)
    held = {share.line: share.nbytes for share in memory.live()}
    assert held[here(make, 2)] == MB
    assert len(kept) == 3


def peak():
    small = td.ones(SIDE, SIDE).realize()
    large = td.zeros(4 * SIDE, SIDE).realize()
    total = float(large.sum())
    del large
    return (small + total).realize()


def test_the_peak_is_held_by_who_was_alive_then():
    with td.record_memory() as memory:
        later = peak()
    held = {share.line: share.nbytes for share in memory.at_peak()}
    assert held[here(peak, 1)] == MB
    assert held[here(peak, 2)] == 4 * MB
    assert here(peak, 5) not in held
    assert memory.peak_bytes() == sum(held.values())
    now = {share.line: share.nbytes for share in memory.live()}
    assert here(peak, 2) not in now
    assert now[here(peak, 5)] == MB
    assert here(peak, 2) in str(memory)
    assert later.shape == (SIDE, SIDE)


def test_changes_add_up_and_are_in_order():
    with td.record_memory() as memory:
        x = make()
        del x
    changes = memory.changes()
    held = np.cumsum([c.nbytes for c in changes if c.device == "cpu"])
    assert [c.held for c in changes if c.device == "cpu"] == held.tolist()
    times = [c.nanoseconds for c in changes]
    assert times == sorted(times)
    before = sum(c.nbytes for c in changes if c.line == here(make, 2))
    assert before == 0  # taken and given back


def test_working_memory_and_state_of_a_compiled_step():
    model = td.nn.Linear(SIDE, SIDE)
    optimizer = td.optim.AdamW(model.parameters())

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = td.mse_loss(td.gelu(model(x)), x)
        loss.backward()
        optimizer.step()
        return loss

    x = td.ones(SIDE, SIDE).realize()
    with td.record_memory() as memory:
        for _ in range(3):
            step(x)
        held = memory.live()
    working = [s for s in memory.at_peak() if s.line.startswith("working memory of a program")]
    assert working[0].nbytes >= MB
    assert not [s for s in held if s.line.startswith("working")]
    # The argument, the weight and two means of its gradient, a bias each: nothing else.
    assert 4 * MB <= sum(s.nbytes for s in held) - _outside(x) <= 4 * MB + 100_000


def _outside(x):
    """What other tests have left; the account counts it as it was before."""
    with td.record_memory() as memory:
        pass
    return sum(s.nbytes for s in memory.live()) - 4 * MB - 3 * 4 * SIDE


def test_nothing_is_noted_afterwards():
    watched = RECORDING.watched
    with td.record_memory() as memory:
        pass
    assert RECORDING.watched is watched
    count = len(memory.changes())
    x = td.tensor(np.ones(1000))
    (x + 1).realize()
    assert len(memory.changes()) == count
    assert not RECORDING.given


# ---- no memory left


def hold():
    return [td.from_numpy(np.zeros((k, 1 << 24), np.float32)) for k in range(1, 15)]  # not touched


def test_the_ten_largest_tensors_and_their_lines_stand_in_the_error():
    with td.record_memory():
        held = hold()
    with pytest.raises(OutOfMemory) as caught:
        td.zeros(1 << 58).realize()
    text = str(caught.value)
    rows = [row for row in text.splitlines() if row.startswith("    ")]
    assert len(rows) == 10
    assert all(here(hold, 1) in row for row in rows)
    assert [row.split()[2] for row in rows] == [f"f32[{k}," for k in range(14, 4, -1)]
    assert rows[0].split()[:2] == ["940", "MB"]
    assert len(held) == 14


def test_lines_that_nobody_has_noted_are_said_to_be_unknown(monkeypatch):
    x = td.from_numpy(np.zeros((20, 1 << 24), np.float32))

    def refuse(size):
        raise OSError("no memory")

    monkeypatch.setattr(buffers, "_map", refuse)
    with pytest.raises(OutOfMemory) as caught:
        (x + 1).realize()
    assert "1.34 GB  f32[20, 16777216]  an unknown line" in str(caught.value)


def test_a_report_without_lines_shows_none():
    td.ones(10).realize()
    report = td.memory_report()
    assert [d.device for d in report.devices].count("cpu") == 1
    (cpu,) = (d for d in report.devices if d.device == "cpu")
    assert cpu.values <= report.tensor_bytes
    assert cpu.mapped == report.mapped_bytes
