"""How often a compiled function was traced, and what was new each time."""

from __future__ import annotations

import pytest

import treadle as td


def body(x, k=1, extra=None):
    total = x.sum() * k
    return total if extra is None else total + extra["a"][0].sum()


@pytest.fixture
def f():
    made = td.compile(body)
    made(td.ones(32, 10))
    assert (made.traces, list(made.retraces)) == (1, [])
    return made


CALLS = {
    "shape": (lambda f: f(td.ones(17, 10)), "argument 0: (32, 10) → (17, 10)"),
    "dtype": (lambda f: f(td.ones(32, 10, dtype="int32")), "argument 0: float32 → int32"),
    "device": (lambda f: f(td.ones(32, 10).to("reference")), "argument 0: cpu → reference"),
    "value": (lambda f: f(td.ones(32, 10), k=2), "argument k: new, 2"),
    "inside": (
        lambda f: f(td.ones(32, 10), extra={"a": [td.ones(3)]}),
        "argument extra['a'][0]: new, tensor f32[3]",
    ),
    "gradient": (
        lambda f: f(td.ones(32, 10).requires_grad_()),
        "argument 0: requires_grad False → True",
    ),
    "knob": (lambda f: _under(td.override(fast_math=1), f), "td.override(fast_math)"),
    "no gradients": (lambda f: _under(td.no_grad(), f), "no gradients are recorded"),
    "casts": (lambda f: _under(td.amp.autocast(), f), "autocast"),
}


def _under(context, f):
    with context:
        return f(td.ones(32, 10))


@pytest.mark.parametrize("name", CALLS)
def test_what_was_new(f, name):
    call, reason = CALLS[name]
    call(f)
    assert f.traces == 2
    assert list(f.retraces) == [reason]
    call(f)
    assert f.traces == 2


def test_the_closest_trace_is_what_a_call_is_compared_with(f):
    f(td.ones(5, 5), k=7)
    f(td.ones(32, 10), k=7)
    f(td.ones(17, 10), k=7)
    assert f.retraces[-1] == "argument 0: (32, 10) → (17, 10)"


def test_a_call_that_differs_in_one_thing_is_closer_than_one_in_two(f):
    f(td.ones(17, 10))
    f(td.ones(32, 10, dtype="float64"))
    assert f.retraces[-1] == "argument 0: float32 → float64"


def test_memory_that_is_recorded_is_no_knob(f):
    with td.profile(memory=True):
        f(td.ones(32, 10))
    assert list(f.retraces) == ["memory is recorded"]
    g = td.compile(body)
    with td.record_memory():
        g(td.ones(3))
    g(td.ones(3))
    assert list(g.retraces) == ["memory is no longer recorded"]


def test_values_are_compared():
    f = td.compile(body)
    f(td.ones(3), 1)
    f(td.ones(3), 2.5)
    assert list(f.retraces) == ["argument 1: 1 → 2.5"]


def test_what_a_function_closes_over():
    layer = td.nn.Dropout(0.5)
    weight = td.ones(3)
    f = td.compile(lambda x: layer(x) * weight)
    f(td.ones(3))
    layer.eval()
    f(td.ones(3))
    assert list(f.retraces) == ["Dropout.training: True → False"]
    weight.requires_grad_()
    layer.p = 0.25
    f(td.ones(3))
    assert f.retraces[-1] == "a tensor it closes over, f32[3]: requires_grad False → True"


def test_a_gradient_that_is_there_the_second_time():
    weight = td.ones(3).requires_grad_()

    @td.compile
    def step(x):
        (weight * x).sum().backward()
        return weight.grad.sum()

    step(td.ones(3))
    step(td.ones(3))
    assert list(step.retraces) == ["the gradient of a tensor f32[3]: none → there"]


def test_the_same_tensor_twice():
    f = td.compile(lambda x, y: x + y)
    x, y = (td.ones(3).requires_grad_() for _ in range(2))
    f(x, y)
    f(x, x)
    assert list(f.retraces) == ["arguments that are the same tensor: none → 0 and 1"]


def test_explain_says_so(f):
    for size in (17, 16, 17):
        f(td.ones(size, 10))
    found = td.explain(f, td.ones(17, 10))
    assert found.traces == 3
    assert found.retraces == ("argument 0: (32, 10) → (17, 10)", "argument 0: (17, 10) → (16, 10)")
    assert "traced   3 times\nagain    argument 0: (32, 10) → (17, 10)\n" in str(found)
    assert "traced" not in str(td.explain(body, td.ones(3)))


class Model:
    @td.compile
    def forward(self, x):
        return x * 2


def test_methods_have_counts_of_their_own():
    one, other = Model(), Model()
    for size in (3, 4):
        one.forward(td.ones(size))
    other.forward(td.ones(3))
    assert td.explain(one.forward, td.ones(3)).retraces == ("argument 0: (3,) → (4,)",)
    assert td.explain(other.forward, td.ones(3)).traces == 1


def test_the_ladder_tells_while_it_runs(f, capfd):
    with td.override(debug=1):
        f(td.ones(3, 3))
    err = capfd.readouterr().err
    assert "traced body again, 2 times by now: argument 0: (32, 10) → (3, 3)" in err
