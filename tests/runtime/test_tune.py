"""Searching by timing: what wins, what is kept, what stays the same."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest

import treadle as td
from treadle.backends import choices, tuning
from treadle.backends.choices import Question, Space
from treadle.backends.cpu import backend as cpu
from treadle.backends.cpu import timing
from treadle.backends.cpu.gemm_params import POSITION
from treadle.backends.cpu.host import host_target
from treadle.backends.progress import Bar
from treadle.base import cache
from treadle.base.errors import ArgumentError
from treadle.base.knobs import CACHE_DIR, CACHE_SECRET
from treadle.kernel.choose import Pace
from treadle.runtime import realize

MACHINE = host_target().machine


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    """Nothing found by others, and others find nothing of ours."""
    place = {"cache_dir": str(tmp_path / "cache"), "cache_secret": str(tmp_path / "data" / "key")}
    with td.override(**place):
        choices.forget()
        realize.forget()
        yield tmp_path
    choices.forget()
    realize.forget()


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


# ---- the search by itself


class Model:
    """Programs of one step whose seconds a function of the way taken tells."""

    def __init__(self, default, near, fits=lambda way: True):
        self.space = Space(default, near, fits)

    def make(self):
        return choices.take(("test",), "kernel", self.space)

    def search(self, seconds_of, seconds=1e9, now=lambda: 0.0):
        search = tuning.Search(self.make, lambda way: [seconds_of(way)], seconds, now=now)
        with td.override(cache_dir="off"):
            best = search.run()
            choices.forget()
        return best, search


def by_one(way):
    return [replace(way, rows=way.rows + 1), replace(way, rows=max(1, way.rows - 1))]


def pace(rows):
    return Pace(2, rows)


def test_it_climbs_while_it_gains():
    best, _ = Model(pace(3), by_one).search(lambda way: 1.0 * 0.8**way.rows if way.rows < 9 else 9)
    assert best == pace(8)


def test_what_gains_alone_and_loses_together_is_dropped(monkeypatch):
    """The first program is faster as a whole, whatever steps said when their ways were tried."""
    monkeypatch.setattr(tuning, "ROUNDS", 1)
    timed = itertools.count()
    before_the_last_comparison = 3 * (tuning.TURNS + 1)

    def moody(way):
        other = 0.5 if next(timed) < before_the_last_comparison else 2.0
        return 1.0 if way == pace(3) else other

    best, search = Model(pace(3), by_one).search(moody)
    assert best == pace(3)
    assert list(search.best.values()) == [pace(3)]


def test_it_ends_when_time_is_up():
    ticks = itertools.count()
    best, search = Model(pace(1), by_one).search(
        lambda way: 0.5**way.rows, seconds=20, now=lambda: float(next(ticks))
    )
    assert 1 < best.rows < 12
    assert next(ticks) < 40
    assert len(search.tried) == 1


def test_it_ends_after_some_rounds():
    best, search = Model(pace(1), by_one).search(lambda way: 0.5**way.rows)
    assert len(next(iter(search.tried.values()))) == tuning.ROUNDS + 1
    assert best.rows == tuning.ROUNDS + 1


def test_what_time_was_too_short_for_stays_open():
    ticks = itertools.count()
    model = Model(pace(1), by_one)
    _, search = model.search(lambda way: 1.0, seconds=1, now=lambda: float(next(ticks)))
    assert not search._is_settled(next(iter(search.asked)))


def test_steps_that_take_no_time_are_left_alone():
    asked = {"busy": Question(Space(pace(1), by_one, lambda _: True), {0})}
    asked["idle"] = Question(Space(pace(1), by_one, lambda _: True), {1})

    def make():
        for number, name in enumerate(asked):
            choices.begin_step(number)
            choices.take(("test",), name, asked[name].space)
        return object()

    search = tuning.Search(make, lambda _: [1.0, 0.001], 1e9, now=lambda: 0.0)
    with td.override(cache_dir="off"):
        search.run()
        choices.forget()
    assert sorted(map(len, search.tried.values())) == [1, 2]


def test_a_way_that_is_refused_costs_the_others_nothing():
    spaces = {name: Space(pace(4), by_one, lambda _: True) for name in "abc"}

    def make():
        taken = {}
        for number, (name, space) in enumerate(spaces.items()):
            choices.begin_step(number)
            taken[name] = choices.take(("test",), name, space).rows
        if taken["b"] == 5:
            raise MemoryError("that tile is too large")
        return taken

    search = tuning.Search(
        make, lambda taken: [0.5 ** taken[name] for name in "abc"], 1e9, (MemoryError,), lambda: 0.0
    )
    with td.override(cache_dir="off"):
        best = search.run()
        choices.forget()
    assert best["b"] == 4
    assert best["a"] == best["c"] > 10


# ---- every way is right


def asked_by(make):
    search = choices.Search()
    with choices.searching(search):
        make()
    return search.asked


def ways(question, hops=2, most=24):
    """What a search may come by, some steps away from where it starts."""
    reached = {question.space.default: None}
    edge = list(reached)
    for _ in range(hops):
        edge = [way for last in edge for way in question.space.near(last) if way not in reached]
        reached |= dict.fromkeys(edge)
    return list(reached)[:: max(1, len(reached) // most)]


def every_way(function, *args):
    """(way, value, value on one thread) for every way of the only open kernel."""

    def run():
        realize.forget()
        return td.compile(function)(*args).numpy()

    for key, question in asked_by(run).items():
        for way in ways(question):
            with choices.searching(choices.Search({key: way})):
                several = run()
                with td.override(threads=1):
                    yield way, several, run()


PRODUCTS = {
    "square": ((200, 200), (200, 200), {}),
    "ragged": ((77, 130), (130, 45), {}),
    "left by columns": ((150, 70), (150, 90), {"left": True}),
    "right by columns": ((90, 150), (130, 150), {"right": True}),
    "one row": ((1, 100), (100, 900), {}),  # longer ones are cut along their depth
    "one column": ((900, 400), (400, 1), {}),
    "batch": ((3, 70, 90), (3, 90, 80), {}),
    "shared right": ((3, 70, 90), (90, 80), {}),
    "finished": ((96, 130), (130, 120), {"finish": True}),
    "narrow": ((96, 130), (130, 120), {"dtype": "bfloat16"}),
    "bytes": ((96, 130), (130, 120), {"dtype": "int8"}),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_cut_gives_the_product(name):
    shape, other, options = PRODUCTS[name]
    a, b = random(*shape), random(*other, seed=1)
    if "dtype" in options:
        b = (b * 5.0).cast(options["dtype"])
    td.realize(a, b)

    def product(a, b):
        a = a.T if "left" in options else a
        b = b.T if "right" in options else b
        y = a @ b.cast("float32")
        return td.relu(y + 1.0) if "finish" in options else y

    wide = [x.cast("float64").numpy() for x in (a, b)]
    wide[0] = wide[0].T if "left" in options else wide[0]
    wide[1] = wide[1].T if "right" in options else wide[1]
    expected = wide[0] @ wide[1]
    expected = np.maximum(expected + 1.0, 0) if "finish" in options else expected
    seen = 0
    for way, several, alone in every_way(product, a, b):
        np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-3, err_msg=str(way))
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        seen += 1
    assert seen > 1 or name == "one column"


def test_every_cut_gives_the_convolution():
    x, weight = random(2, 8, 20, 20), random(16, 8, 3, 3, seed=1)

    def convolved(x, weight):
        return td.conv2d(x, weight, padding=1)

    expected = td.conv2d(x.cast("float64"), weight.cast("float64"), padding=1).numpy()
    seen = []
    for way, several, alone in every_way(convolved, x, weight):
        np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-3, err_msg=str(way))
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        seen.append(way)
    assert len(seen) > 2


@pytest.mark.parametrize("causal", [False, True])
def test_every_length_of_tiles_gives_attention(causal):
    q, k, v = (random(1, 2, 300, 32, seed=seed) for seed in range(3))

    def attend(q, k, v):
        return td.scaled_dot_product_attention(q, k, v, is_causal=causal)

    wide = [x.cast("float64").numpy()[0] for x in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1) / np.sqrt(32)
    if causal:
        scores = np.where(np.tril(np.ones((300, 300), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (powers / powers.sum(-1, keepdims=True) @ wide[2])[None]
    seen = []
    for way, several, alone in every_way(attend, q, k, v):
        np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-5, err_msg=str(way))
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        seen.append(way)
    assert len(seen) > 2


LOOPS = {
    "map": lambda x: td.exp(x) + 1.0,
    "turned": lambda x: x.T * 2.0,
    "softmax": lambda x: td.softmax(x),
    "rows": lambda x: x.sum(1),
    "columns": lambda x: x.sum(0),
    "norm": lambda x: td.layer_norm(x),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("shape", [(256, 512), (301, 257), (3, 70001)], ids=str)
def test_every_pace_gives_the_same(name, shape):
    x = random(*shape)
    expected = LOOPS[name](x).numpy()
    for way, several, alone in every_way(LOOPS[name], x):
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        if name in ("map", "turned"):
            np.testing.assert_array_equal(several, expected, err_msg=str(way))
        else:
            np.testing.assert_allclose(several, expected, rtol=1e-5, atol=2e-4, err_msg=str(way))


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
