"""Searching by timing: what wins, what is kept, what stays the same."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import treadle as td
from treadle.backends import choices, tuning
from treadle.backends.cpu import backend as cpu
from treadle.backends.cpu import timing
from treadle.backends.cpu.gemm_params import POSITION
from treadle.backends.cpu.host import host_target
from treadle.backends.progress import Bar
from treadle.base import cache
from treadle.base.errors import ArgumentError
from treadle.base.knobs import CACHE_DIR, CACHE_SECRET
from treadle.runtime import realize

MACHINE = host_target().machine


pytestmark = pytest.mark.usefixtures("own_cache")


def random(*shape, seed=0):
    return td.tensor(np.random.default_rng(seed).standard_normal(shape, np.float32))


def keys_of(program):
    return [entry.job.key for entry in program.entries]


class Clock:
    """A clock by which steps take as long as a rule says, given the words of their kernels."""

    def __init__(self, seconds_of):
        self.seconds_of, self.runs, self.programs = seconds_of, 0, []

    def __call__(self, program, inputs):
        program.run(inputs)
        self.runs += 1
        self.programs.append(program)
        spent = [0.0] * len(program.steps)
        for entry in program.entries:
            spent[entry.step] += self.seconds_of(entry)
        return spent


def words_of(entry):
    """The words of a kernel that say how it is cut: those of products hold no addresses."""
    return entry.words(lambda _: (0, 0))


def installed(monkeypatch, seconds_of):
    clock = Clock(seconds_of)
    monkeypatch.setattr(cpu, "step_seconds", clock)
    return clock


def unrolled(entry):
    """Eight vectors side by side are the fastest, by decree."""
    return 0.1 if "unroll=8" in entry.job.key else 0.5 if "unroll=4" in entry.job.key else 1.0


def soften(x):
    return td.exp(x) * 0.5 + 1.0


def found():
    return choices._found(MACHINE, CACHE_DIR.value, CACHE_SECRET.value)


def test_the_fastest_way_wins_and_is_used_from_then_on(monkeypatch):
    x = random(256, 512)
    expected = soften(x).numpy()
    clock = installed(monkeypatch, unrolled)
    tuned = td.tune(soften, x, seconds=60)
    assert any("unroll=2" in key for key in keys_of(clock.programs[0]))
    timed = clock.runs
    np.testing.assert_array_equal(tuned(x).numpy(), expected)
    (program,) = [t.program for known in tuned.entries.values() for t in known]
    assert any("unroll=8" in key for key in keys_of(program))
    np.testing.assert_array_equal(soften(x).numpy(), expected)  # and lazily
    assert any("unroll=8" in key for p in realize.programs() for key in keys_of(p))
    assert clock.runs == timed


def test_a_way_that_is_not_clearly_faster_is_not_taken(monkeypatch):
    x = random(256, 512)
    installed(monkeypatch, lambda entry: 0.98 if "unroll=8" in entry.job.key else 1.0)
    td.tune(soften, x, seconds=60)
    assert all(unroll == 2 for unroll, _ in found().values())


def test_products_are_cut_as_the_clock_says(monkeypatch):
    a, b = random(96, 300), random(300, 200)
    by_words = {}

    def shallow(entry):
        """The less depth the better."""
        if entry.symbol != "gemm_block":
            return 0.0
        depth = words_of(entry)[POSITION["depth"]]
        by_words[depth] = None
        return 0.001 * depth

    installed(monkeypatch, shallow)
    tuned = td.tune(lambda a, b: a @ b, a, b, seconds=60)
    assert len(by_words) > 2
    (cut,) = found().values()
    assert cut[2] == min(by_words) < 300
    np.testing.assert_allclose(tuned(a, b).numpy(), a.numpy() @ b.numpy(), rtol=1e-4, atol=1e-4)


def test_it_is_kept_on_disk_and_read_by_the_next_process(monkeypatch):
    x = random(256, 512)
    installed(monkeypatch, unrolled)
    td.tune(soften, x, seconds=60)
    before = dict(found())
    choices.forget()
    realize.forget()
    assert found() == before
    (program,) = [t.program for t in _traces(td.compile(soften), x)]
    assert any("unroll=8" in key for key in keys_of(program))


def _traces(compiled, *args):
    compiled(*args)
    return [traced for known in compiled.entries.values() for traced in known]


def test_what_others_wrote_is_not_believed(monkeypatch, own_cache):
    x = random(256, 512)
    installed(monkeypatch, unrolled)
    td.tune(soften, x, seconds=60)
    place = cache.folder() / choices._place(MACHINE)[:2] / choices._place(MACHINE)
    place.write_bytes(place.read_bytes().replace(b"[8,", b"[4,"))
    choices.forget()
    assert found() == {}


def test_a_choice_that_does_not_fit_is_none(monkeypatch):
    x = random(256, 512)
    installed(monkeypatch, unrolled)
    td.tune(soften, x, seconds=60)
    known = found()
    for key in known:
        for wrong in ([3, 128], [8, 0], [8, 7], [8], [8, 1 << 40], ["8", "128"]):
            known[key] = wrong
            realize.forget()
            (traced,) = _traces(td.compile(soften), x)
            assert any("unroll=2" in text for text in keys_of(traced.program)), wrong


def test_another_shape_is_another_question(monkeypatch):
    installed(monkeypatch, unrolled)
    td.tune(soften, random(256, 512), seconds=60)
    (traced,) = _traces(td.compile(soften), random(256, 1024))
    assert not any("unroll=8" in key for key in keys_of(traced.program))


def test_numbers_in_a_kernel_are_no_part_of_the_question(monkeypatch):
    clock = installed(monkeypatch, unrolled)
    x = random(256, 512)
    td.tune(lambda x: td.exp(x) * 0.3, x, seconds=60)
    timed = clock.runs
    td.tune(lambda x: td.exp(x) * 0.7, x, seconds=60)
    assert len(found()) == 1
    assert clock.runs == timed  # nothing was left to ask


def test_the_knob_tunes_whatever_runs_first(monkeypatch):
    x = random(256, 512)
    expected = soften(x).numpy()
    realize.forget()
    clock = installed(monkeypatch, unrolled)
    with td.override(tune=1):
        np.testing.assert_array_equal(soften(x).numpy(), expected)
        timed = clock.runs
        assert timed
        np.testing.assert_array_equal(soften(x).numpy(), expected)
        np.testing.assert_array_equal(td.compile(soften)(x).numpy(), expected)
    assert clock.runs == timed


def test_a_step_that_is_tuned_changes_nothing(monkeypatch):
    monkeypatch.setattr(tuning, "ROUNDS", 2)
    model = td.nn.Sequential(td.nn.Linear(300, 256), td.nn.Dropout(0.5), td.nn.Linear(256, 10))
    optimizer = td.optim.Adam(model.parameters(), lr=1e-3)

    @td.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    x, y = random(128, 300), td.arange(128) % 10
    td.manual_seed(3)
    td.realize(*model.parameters())
    before = [p.numpy().copy() for p in model.parameters()]
    td.tune(step, x, y, seconds=5)
    for old, parameter in zip(before, model.parameters(), strict=True):
        np.testing.assert_array_equal(old, parameter.numpy())
    drawn = td.random.uniform((4,)).numpy()
    td.manual_seed(3)
    np.testing.assert_array_equal(drawn, td.random.uniform((4,)).numpy())
    losses = [float(step(x, y)) for _ in range(3)]
    assert losses[-1] < losses[0]


def test_with_the_knob_a_step_is_taken_once(monkeypatch):
    monkeypatch.setattr(tuning, "ROUNDS", 2)
    state = td.zeros(256, 512).realize()

    @td.compile
    def count(x):
        state.assign(state + x)
        return state.sum()

    with td.override(tune=1):
        assert float(count(td.ones(256, 512))) == 256 * 512
        assert float(count(td.ones(256, 512))) == 2 * 256 * 512


# ---- clocks, bars, mistakes


def test_the_clock_sees_every_step():
    a = random(200, 200)
    compiled = td.compile(lambda a: td.softmax(a @ a) + 1.0)
    (traced,) = _traces(compiled, a)
    spent = timing.step_seconds(traced.program, [a._node.buffer])
    assert len(spent) == len(traced.program.steps) > 1
    assert all(0 < seconds < 10 for seconds in spent)


def test_a_bar_is_shown_to_people_only(monkeypatch, capsys):
    with Bar("tune") as bar:
        bar.show(0.5, "round 1")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Bar("tune") as bar:
        bar.show(0.5, "round 1")
    shown = capsys.readouterr().err
    assert "tune" in shown
    assert "round 1" in shown
    assert shown.endswith("\r\033[K")


@pytest.mark.parametrize("seconds", [0, -1, 0.5, "ten"])
def test_seconds_are_counted(seconds):
    with pytest.raises(ArgumentError, match="whole number"):
        td.tune(soften, td.ones(4), seconds=seconds)
