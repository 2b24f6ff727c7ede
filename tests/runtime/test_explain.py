"""What `explain` and the debug ladder say about a program, and that they cost nothing when off."""

from __future__ import annotations

import linecache
import re

import numpy as np
import pytest

import treadle as td
from treadle.base import trace
from treadle.ir.recording import RECORDING


def array(*shape):
    return td.tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def row_wise(x):
    y = x * 2.0
    return td.softmax(y)


def lines_of(row):
    """The source lines a row names."""
    found = []
    for site in row.sites:
        file, number = site.rsplit(":", 1)
        found.append(linecache.getline(file, int(number)).strip())
    return found


def test_softmax_is_one_kernel_with_its_lines():
    found = td.explain(row_wise, array(16, 64))
    (row,) = found.rows
    assert {"max", "sub", "exp", "sum"} <= {op.split("×")[0] for op in row.ops}
    assert set(lines_of(row)) == {"y = x * 2.0", "return td.softmax(y)"}
    assert row.outputs == ("f32[16, 64]",)
    assert row.bytes_read == row.bytes_written == 16 * 64 * 4
    assert row.flops >= 16 * 64 * 5
    assert row.reason


def test_a_product_counts_its_flops_and_names_what_runs_on_its_tiles():
    found = td.explain(lambda x, w: td.relu(x @ w), array(32, 48), array(48, 64))
    (row,) = found.rows
    assert row.kind == "product"
    assert row.flops == 2 * 32 * 48 * 64 + 32 * 64
    assert "maximum run on its tiles" in row.reason


def training_step():
    model = td.nn.Sequential(td.nn.Linear(16, 8), td.nn.GELU(), td.nn.Linear(8, 4))
    optimizer = td.optim.AdamW(model.parameters())

    @td.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def test_every_kernel_of_a_training_step_has_a_line_and_a_reason():
    labels = td.tensor(np.zeros(12, np.int64))
    found = td.explain(training_step(), array(12, 16), labels)
    assert len(found.rows) > 3
    for row in found.rows:
        assert row.reason
        assert all(__file__ in site for site in row.sites)
        assert row.sites, row
    lines = {line for row in found.rows for line in lines_of(row)}
    assert {"loss = td.cross_entropy(model(x), y)", "optimizer.step()"} <= lines


def test_the_rest_of_the_explanation_is_there_as_data_and_as_text():
    found = td.explain(training_step(), array(12, 16), td.tensor(np.zeros(12, np.int64)))
    assert found.arena_bytes >= found.lower_bound > 0
    assert found.without_reuse >= found.arena_bytes
    assert found.nodes_before > found.nodes_after > 0
    assert found.rules["define-cross_entropy"] == 1
    assert {"record", "simplify", "fuse", "plan", "lower", "code"} <= set(found.stages)
    text = str(found)
    for wanted in ("k0", "product", "test_explain.py:", "why", "arena", "rules", "time"):
        assert wanted in text


def test_explaining_neither_runs_nor_leaves_a_switch_on():
    step = training_step()
    x, y = array(12, 16), td.tensor(np.zeros(12, np.int64))
    td.explain(step, x, y)
    assert not RECORDING.sites
    assert RECORDING.site is None
    assert not trace.is_heard()
    assert not step.entries
    first = float(step(x, y))
    assert float(step(x, y)) < first


# ---- the ladder


def shown(capfd, level, function, *args):
    with td.override(debug=level):
        td.realize(function(*args))
    return capfd.readouterr().err


LADDER = {
    1: ("compiled program", "run program", "k0   loop"),
    2: ("simplify", "us", "GB/s", "GFLOP/s"),
    3: ("why", "arena"),
    4: ("parallel", "define void @kernel"),
    5: ("rule define-softmax",),
    6: ("ret", ".globl\tkernel"),
}


@pytest.mark.parametrize("level", LADDER)
def test_each_level_includes_the_ones_below(capfd, level):
    def shifted(x):  # another program for every level
        return row_wise(x + float(level + 1000))

    err = shown(capfd, level, shifted, array(level, 33))
    for rung, words in LADDER.items():
        for word in words:
            if rung <= level:
                assert word in err, (rung, word)
    above = [w for rung, words in LADDER.items() if rung > level for w in words]
    assert not [w for w in above if re.search(rf"^{re.escape(w)}", err, re.MULTILINE)]


def test_level_zero_prints_nothing(capfd):
    assert shown(capfd, 0, row_wise, array(5, 7)) == ""


def test_results_are_the_same_under_the_ladder(capfd):
    x = array(9, 40)
    plain = row_wise(x).numpy().copy()
    with td.override(debug=2):
        watched = row_wise(x).numpy().copy()
    assert np.array_equal(plain, watched)


def test_reports_reach_only_those_who_listen():
    trace.tell("nobody", 1)
    with trace.listen() as outer, trace.stage("work"):
        with trace.listen() as inner:
            trace.tell("fact", 2)
        trace.tell("late", 3)
    assert outer.fact("fact") == inner.fact("fact") == 2
    assert inner.fact("late") is None
    assert list(outer.stages) == ["work"]
    assert outer.fact("nobody") is None


def test_kernels_name_the_composites_they_are_a_part_of():
    def f(x):
        return td.gradients((td.softmax(x, axis=0) * td.gelu(x, approximate="tanh")).sum(), [x])

    found = td.explain(f, td.ones(8, 8))
    calls = [call for row in found.rows for call in row.calls]
    assert set(calls) == {"softmax(axis=0)", "gelu(approximate='tanh')"}
    assert "part of softmax(axis=0), gelu(approximate='tanh')" in str(found)
    assert all("softmax" not in site for row in found.rows for site in row.sites)


def test_what_is_shown_of_options_comes_from_the_row():
    labels = td.tensor(np.zeros(8, np.int64))
    found = td.explain(lambda x: td.cross_entropy(td.layer_norm(x), labels), td.ones(8, 8))
    calls = {call for row in found.rows for call in row.calls}
    assert calls == {"layer_norm()", "cross_entropy(reduction='mean')"}
