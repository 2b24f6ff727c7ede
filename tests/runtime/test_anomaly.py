"""detect_anomaly: the op that makes the first NaN or infinity, its line and what it has read."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import AnomalyError
from treadle.ir.recording import RECORDING

FILE = __file__


def message(work):
    with pytest.raises(AnomalyError) as caught, td.detect_anomaly():
        work()
    return str(caught.value)


def line(function, offset):
    return f"{FILE}:{function.__code__.co_firstlineno + offset}"


def roots(x):
    y = x * 2.0
    z = td.sqrt(y)
    return (z + 1.0).sum()


@pytest.mark.parametrize("way", ["lazy", "compiled", "reference"])
def test_the_op_its_line_and_the_ranges_of_its_inputs(way):
    x = td.tensor([4.0, -2.0, 1.0])
    x = x.to("reference") if way == "reference" else x
    f = td.compile(roots) if way == "compiled" else roots
    text = message(lambda: f(x).realize())
    first, *rest = text.splitlines()
    assert first == f"anomaly: sqrt makes NaN at {line(roots, 2)}"
    assert "1 of 3 elements, the first at (1,)" in rest[0]
    assert "from -4 to 8, by mul" in rest[1]
    assert line(roots, 1) in rest[1]


def test_elements_are_counted_that_are_what_was_found():
    text = message(lambda: td.log(td.tensor([1.0, 0.0, -1.0])).realize())
    assert "log makes NaN" in text
    assert "1 of 3 elements, the first at (2,)" in text  # that at (1,) is an infinity


def test_a_composite_is_named_with_the_op_inside():
    def f(x):
        return td.normalize(x)

    def loss(x):
        return td.log_softmax(x * np.inf)

    text = message(lambda: loss(td.tensor([[0.0, 1.0]])).realize())
    assert "mul makes NaN" in text
    text = message(lambda: td.logit(td.tensor([0.5, 1.0])).realize())
    assert " in logit(" in text.splitlines()[0]
    f(td.ones(2, 3)).realize()


def test_an_overflow_of_half_precision():
    x = td.tensor(np.full(4, 300.0, np.float16))
    assert "mul makes inf" in message(lambda: (x * x).realize())


def train():
    weight = td.tensor([0.0, 1.0], requires_grad=True)
    optimizer = td.optim.SGD([weight], lr=0.1)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = td.sqrt(weight * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    return weight, step


def test_a_gradient_is_found_at_the_line_of_its_forward_op_and_parameters_stay():
    weight, step = train()
    text = message(lambda: step(td.ones(2)))
    assert text.startswith("anomaly: div makes inf")
    assert line(train, 7) in text
    assert weight.tolist() == [0.0, 1.0]


def test_a_function_that_was_compiled_before_is_watched_too():
    f = td.compile(roots)
    assert f(td.ones(3)).item() > 0
    assert "sqrt makes NaN" in message(lambda: f(-td.ones(3)))
    assert np.isnan(f(-td.ones(3)).item())  # and no longer afterwards


def test_what_waits_at_the_end_of_the_block_is_computed_there():
    kept = []
    assert "log makes NaN" in message(lambda: kept.append(td.log(td.tensor([-1.0]))))


def test_a_nan_that_was_given_is_told_from_one_that_is_made():
    def f():
        return td.tensor([1.0, np.nan]) * 2.0

    text = message(lambda: f().realize())
    assert text.startswith("anomaly: NaN was in what mul reads")
    assert "from 1 to 1, 1 NaN, in memory at " + line(f, 1) in text


SOUND = {
    "masked": lambda x: td.softmax(td.where(x > 0, x, -np.inf), axis=-1),
    "mask in memory": lambda x: td.softmax(x + td.tensor(np.tril(np.full((4, 4), -np.inf), -1))),
    "replaced": lambda x: td.nan_to_num(td.tensor([np.nan, np.inf])) + x[0, :2],
    "counted": lambda x: td.isnan(td.tensor([np.nan])).sum() + x.sum(),
    "whole": lambda x: x.astype("int32") * 3,
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_meant_raises_nothing(name):
    x = td.tensor(np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32) + 1.0)
    with td.detect_anomaly():
        SOUND[name](x).realize()


def test_no_switch_is_left_on():
    watched = RECORDING.watched
    with td.detect_anomaly():
        assert RECORDING.watched
        td.ones(3).realize()
    assert RECORDING.watched is watched
    assert (td.ones(3) + 1)._node.site is None


def test_inside_a_loop_the_loop_is_named():
    def f(x):
        return td.scan(lambda h, row: (td.log(h) + row, h), x[0], x)[0]

    text = message(lambda: f(td.full((3, 2), 0.5)).realize())
    assert "makes" in text
    assert line(f, 1) in text
