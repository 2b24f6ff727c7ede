"""Sizes that change from step to step: no plan for each of them, and never another's result."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.runtime import growing
from treadle.runtime import realize as runtime
from treadle.testing.dim_cases import GROWING, grown, random

F = td.nn.functional


def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def test_a_cache_that_grows_is_planned_a_few_times(plans):
    keys = td.tensor(random(2, 1, 8))
    values, known = keys * 2.0, keys.numpy().astype(np.float64)
    for step in range(60):
        row = random(2, 1, 8, seed=step)
        keys = td.concat([keys, td.tensor(row)], 1)
        values = td.concat([values, td.tensor(2 * row)], 1)
        y = F.scaled_dot_product_attention(td.tensor(row), keys, values)
        td.realize(y, keys, values)
        known = np.concatenate([known, row], 1)
        np.testing.assert_allclose(
            y.numpy(), attention(row, known, 2 * known), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_array_equal(keys.numpy(), known.astype(np.float32))
    assert len(plans) <= growing.SEEN + 1 + 4  # again where the size is twice what was seen


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "compiled"])
@pytest.mark.parametrize("name", GROWING)
def test_other_sizes_have_their_own_values(name, lazy, monkeypatch):
    monkeypatch.setattr(growing, "_PATTERNS", {})
    found = grown(name, "cpu", lazy)
    monkeypatch.setattr(growing, "SEEN", 10**9)
    monkeypatch.setattr(growing, "_PATTERNS", {})
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    monkeypatch.setattr(runtime, "_SINGLE", {})
    for y, expected in zip(found, grown(name, "cpu"), strict=True):
        assert y.shape == expected.shape
        np.testing.assert_allclose(y, expected, rtol=2e-5, atol=2e-5)


def test_compiled_functions_are_planned_a_few_times_too(plans):
    f = td.compile(lambda x: td.softmax(x @ x.T, -1).sum(0))
    for n in range(3, 30):
        x = random(n, 4, seed=n)
        scores = np.exp(x.astype(np.float64) @ x.T)
        expected = (scores / scores.sum(-1, keepdims=True)).sum(0)
        np.testing.assert_allclose(f(td.tensor(x)).numpy(), expected, rtol=1e-4)
    assert len(plans) <= growing.SEEN + 1 + 3


def test_states_that_compiled_functions_write_into(plans):
    state = td.zeros(64)

    @td.compile
    def add(x):
        state[: x.shape[0]] = state[: x.shape[0]] + x * 2.0

    expected = np.zeros(64, np.float32)
    for n in (3, 4, 5, 6, 7, 9, 14):
        add(td.tensor(random(n, seed=n)))
        expected[:n] += 2 * random(n, seed=n)
        np.testing.assert_allclose(state.numpy(), expected, rtol=1e-6)


def test_numbers_and_sizes_that_change_together(plans):
    for n in range(2, 24):
        x = random(n, 3, seed=n)
        got = td.exp(td.tensor(x) * (n / 7)) / n - 0.25
        np.testing.assert_allclose(
            got.numpy(), np.exp(x * np.float32(n / 7)) / n - 0.25, 1e-5, 1e-6
        )


def test_one_op_of_many_sizes_is_planned_a_few_times(plans):
    w = td.tensor(random(8, 8))
    for n in range(2, 40):
        x = random(n, 8, seed=n)
        np.testing.assert_allclose((td.tensor(x) @ w).numpy(), x @ w.numpy(), rtol=1e-5, atol=1e-5)
    assert len(plans) <= growing.SEEN + 1 + 5


MOVING = {
    "one": lambda x, i: x[i] * 2.0,
    "before": lambda x, i: x[:i] * 2.0,
    "after": lambda x, i: x[i:] * 2.0,
    "some": lambda x, i: x[i : i + 3] * 2.0,
    "rolled": lambda x, i: x + (np.roll if isinstance(x, np.ndarray) else td.roll)(x, i, 0),
}


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("step", [1, -1], ids=["up", "down"])
def test_places_that_move_are_planned_a_few_times(name, step, plans):
    x = random(60, 4)
    for i in range(2, 55)[::step]:
        got, expected = MOVING[name](td.tensor(x), i).numpy(), MOVING[name](x, i)
        np.testing.assert_array_equal(got, expected)
    assert len(plans) <= growing.SEEN + 6


def test_sizes_on_no_line_are_planned_each(plans):
    for n in (3, 4, 6, 7, 9):
        x = random(n, n + n % 2, seed=n)
        np.testing.assert_allclose((td.exp(td.tensor(x)) + 1.0).numpy(), np.exp(x) + 1, rtol=1e-6)
    assert len(plans) == 5


def test_constants_that_are_results_are_built_in():
    for value in (2.0, 3.0):
        for n in range(2, 9):
            scale = td.full((), value)
            y = td.tensor(random(n, seed=n)) * scale
            td.realize(y, scale)
            np.testing.assert_allclose(y.numpy(), random(n, seed=n) * np.float32(value), rtol=1e-6)
            assert scale.item() == value


def test_patterns_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(growing, "_PATTERNS", {})
    monkeypatch.setattr(growing, "MOST_PATTERNS", 3)
    x = td.tensor(random(4))
    for k in range(8):
        y = x
        for _ in range(k + 1):
            y = td.exp(y * 0.5)
        y.realize()
    assert len(growing._PATTERNS) <= 3


def test_explanations_are_of_the_size_at_hand():
    f = td.compile(lambda x: td.softmax(x @ x.T, -1).sum(0))
    for n in range(3, 9):
        f(td.ones(n, 4))
    found = td.explain(f, td.ones(9, 4))
    assert found.rows
    assert "9" in str(found.rows)


def test_a_profile_has_one_program_for_all_sizes():
    def step(n):
        (td.exp(td.tensor(random(n, 5))) * 2.0).sum(0).realize()

    for n in range(3, 9):
        step(n)
    with td.profile() as prof:
        for n in range(7, 14):
            step(n)
    ran = [event for event in prof.events() if event.kind == "call"]
    assert len({event.name for event in ran}) <= 3
