"""Numbers that change from step to step: no plan for each of them, and never another's result."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle.ir import node as nodes
from treadle.runtime import realize as runtime
from treadle.runtime.families import BUILT_IN

rng = np.random.default_rng(0)


def random(*shape):
    return td.tensor(rng.standard_normal(shape).astype(np.float32))


def test_a_number_that_changes_is_planned_a_few_times(plans):
    w, x = random(8, 8), random(4, 8)
    expected = w.numpy()
    for step in range(30):
        rate = 0.1 / (1 + step)
        gradient = x.T @ td.tanh(x @ w)
        slope = x.numpy().T @ np.tanh(x.numpy() @ expected)
        w = (w - rate * gradient).realize()
        expected = expected - np.float32(rate) * slope
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert len(plans) <= BUILT_IN + 1


def test_whole_numbers_too(plans):
    x = td.tensor([1, 2, 3])
    for k in range(20):
        assert (x * k + (k + 7)).tolist() == [k + k + 7, 2 * k + k + 7, 3 * k + k + 7]
    assert len(plans) <= BUILT_IN + 2


def test_what_programs_are_kept_for_does_not_grow(plans):
    x = random(4, 5)
    for k in range(40):
        (x * (k + 0.5)).realize()
    (family,) = runtime._PROGRAMS.values()
    assert len(family.variants) == 1


def test_numbers_that_stay_are_built_in(plans):
    x = random(4, 5)
    for _ in range(9):
        (td.exp(x * 2.0) + 1.0).realize()
    (family,) = runtime._PROGRAMS.values()
    assert not family.variants[0].given
    assert len(plans) == 1


def test_only_what_changes_is_given(plans):
    x = random(4, 5)
    for k in range(9):
        (td.exp(x * 2.0) * (k + 3.5)).realize()
    (family,) = runtime._PROGRAMS.values()
    assert [k for k, _ in family.variants[0].given] == [1]


def test_numbers_that_were_one_until_now_are_told_apart(plans):
    x = random(5)
    pairs = [(k + 0.25, k + 0.25) for k in range(5)] + [(9.5, 3.5), (3.5, 9.5), (2.5, 2.5)]
    for a, b in pairs:
        made = (td.exp(x) * a + b).numpy()
        expected = np.exp(x.numpy()) * np.float32(a) + np.float32(b)
        np.testing.assert_allclose(made, expected, rtol=1e-6)
    assert len(plans) <= BUILT_IN + 2


OPS = {
    "add": lambda x, k: x + k, "radd": lambda x, k: k + x, "sub": lambda x, k: x - k,
    "rsub": lambda x, k: k - x, "mul": lambda x, k: x * k, "div": lambda x, k: x / k,
    "rdiv": lambda x, k: k / x, "maximum": lambda x, k: td.maximum(x, k),
    "floor": lambda x, k: x // k, "remainder": lambda x, k: x % k,
    "less": lambda x, k: x < k, "equal": lambda x, k: x == k,
    "where": lambda x, k: td.where(x > 0, k, x), "power": lambda x, k: td.float_power(x, k),
    "sum": lambda x, k: td.full_like(x, k).sum() + x, "filled": lambda x, k: td.full((2, 3), k),
    "chain": lambda x, k: (x * k + k) / k - (-k) * x, "twice": lambda x, k: x * k * k + x * k,
}  # fmt: skip
FLOATS = (3.7, -2.5, 1.0, 0.0, -0.0, -1.0, 2.0, 0.5, math.inf, -math.inf, math.nan, 1e300, 7, 1e-45)
WHOLES = (3, -2, 1, 0, -1, 2, 8, 64, 5, -7, 1 << 30)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int32", "int64"])
def test_a_number_given_has_the_bits_of_one_built_in(name, kind, monkeypatch):
    x = td.tensor([0.0, -0.0, 1.0, -1.5, 3.0, 7.0, 100.0], dtype=kind).realize()
    values = FLOATS if x.dtype.is_float else WHOLES
    for k in (*values, *values[::-1]):
        if not k and name in ("floor", "remainder") and not x.dtype.is_float:
            continue  # nothing is promised
        given = OPS[name](x, k).numpy()
        with monkeypatch.context() as alone:
            alone.setattr(runtime, "_PROGRAMS", {})
            built_in = OPS[name](x, k).numpy()
        assert given.dtype == built_in.dtype
        np.testing.assert_array_equal(given, built_in)
        if given.dtype.kind == "f":
            there = ~np.isnan(given)
            np.testing.assert_array_equal(np.signbit(given)[there], np.signbit(built_in)[there])


def test_a_compiled_function_plans_a_number_that_changes_a_few_times(plans):
    w = random(6)
    expected = w.numpy()

    @td.compile
    def step(x, rate):
        w.assign(w - rate * x)
        return (w * rate).sum()

    for k in range(12):
        rate, x = 0.5 / (k + 1), random(6)
        expected = expected - np.float32(rate) * x.numpy()
        total = step(x, rate)
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(total.numpy(), (expected * rate).sum(), rtol=1e-4, atol=1e-5)
    assert len(plans) <= BUILT_IN + 1


def test_rules_that_change_rounding_look_at_every_number(plans):
    x = random(7)
    with td.base.knobs.override(fast_math=1):
        for k in range(2, 8):
            np.testing.assert_allclose((x / k).numpy(), x.numpy() / k, rtol=1e-6)
    assert len(plans) == 6


def test_programs_are_bounded_by_the_size_of_their_graphs(plans, monkeypatch):
    monkeypatch.setattr(runtime, "MOST_PARTS", 200)
    for k in range(2, 40):
        (td.exp(random(k)) * 2.0 + 1.0).realize()
        assert sum(map(len, runtime._PROGRAMS)) <= 200
    assert len(runtime._PROGRAMS) > 3
    y = random(3)
    for _ in range(100):
        y = td.exp(y) * 0.125
    y.realize()  # larger than all that is kept together
    assert len(runtime._PROGRAMS) == 1


def test_tables_of_constants_are_bounded(monkeypatch):
    monkeypatch.setattr(nodes, "MOST_SCALARS", 32)
    monkeypatch.setattr(nodes, "_CONSTANTS", {})
    monkeypatch.setattr(nodes, "_SCALARS", {})
    x = random(3)
    for k in range(200):
        assert (x * (k + 0.125))._node.operands[1].arg == k + 0.125
    assert len(nodes._CONSTANTS) <= 32
    assert len(nodes._SCALARS) <= 32
