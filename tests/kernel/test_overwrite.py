"""Results written over operands: where that is done, where not, and plans run in any order."""

from __future__ import annotations

import os

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import FLOATS, dtype, float64
from treadle.base.target import Takes
from treadle.ir.node import leaf, type_of
from treadle.kernel.overwrite import writes_over
from treadle.kernel.plan import plan_steps
from treadle.kernel.steps import ScatterStep
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.composite import argmax
from treadle.ops.contract import gather, matrix_product, put, scatter, scatter_add
from treadle.ops.reduce import max_, sum_
from treadle.passes.pipeline import simplify
from treadle.schedule import fuse
from treadle.testing.arrays import by_reference, node_of
from treadle.testing.reuse import plan_of, stateful
from treadle.testing.simulate import Simulation
from treadle.testing.strategies import misses

PLANS = int(os.environ.get("TREADLE_RANDOM_PLANS", "150"))  # thousands at night
FIRST = int(os.environ.get("TREADLE_FIRST_SEED", "0"))
PARTS = 3  # so that several workers share them


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


# ---- programs that were wrong


def test_an_epilogue_does_not_write_over_what_its_other_tiles_read():
    x, w, u, v, last = (random(256, 256, seed=k) for k in range(5))

    @td.compile
    def f(x, w, u, v, last):
        r = u @ v
        return (x @ w + r - r[:, :1]) @ last

    r = u.astype(np.float64) @ v
    expected = (x.astype(np.float64) @ w + r - r[:, :1]) @ last
    result = f(*map(td.tensor, (x, w, u, v, last))).numpy()
    np.testing.assert_allclose(result, expected, atol=2e-5 * np.abs(expected).max())


def test_a_state_is_not_overwritten_while_tiles_read_it():
    x, w, start = (random(256, 256, seed=k) for k in range(3))
    p = td.tensor(start)

    @td.compile
    def step(x, w):
        p.assign(x @ w + p - p[:, :1])

    step(td.tensor(x), td.tensor(w))
    expected = x.astype(np.float64) @ w + start - start[:, :1]
    np.testing.assert_allclose(p.numpy(), expected, atol=1e-5 * np.abs(expected).max())


# ---- decisions, one by one


def given(*shape, kind="float32"):
    return leaf(type_of(shape, dtype(kind)), object())


def row_of(x, *at):
    """One element along the axes that have a number, all along the others."""
    ranges = [(0, n, 1) if i is None else (i, i + 1, 1) for i, n in zip(at, x.shape, strict=True)]
    return m.slice_(x, ranges)


def next_row(x):
    """The first element of the next row, of a row that lies apart: x is (items, rows, columns)."""
    first = m.slice_(x, [(0, 1, 1), (1, x.shape[1], 1), (0, 1, 1)])
    return m.pad(first, [(0, 0), (0, 1), (0, 0)], 0)


def centred(x):
    """As a batch norm does it: a row is every item's part of a channel."""
    return x * sum_(x, axis=(0, 2), keepdims=True)


X, Y, CHANNELS = given(30, 40), given(30, 40), given(4, 6, 10)
PICK = leaf(type_of((30, 1), dtype("int64")), object())
EVERY = leaf(type_of((9,), dtype("int64")), object())
SMALL, BOX, OTHER = given(2, 5), ((3, 5, 1), (0, 40, 9)), ((4, 6, 1), (1, 6, 1))
A, B = given(30, 20), given(20, 40)
# What is computed, what it may be written over: by threads that have rows of their own, and by any.
CASES = {
    "an element by element": (lambda: e.exp(X) + Y, X, True, True),
    "the first of the row": (lambda: X - row_of(X, None, 0), X, True, False),
    "the last of the row": (lambda: X - row_of(X, None, 39), X, True, False),
    "one that is looked up": (lambda: X - gather(X, PICK, axis=1), X, True, False),
    "one element of all": (lambda: X - row_of(X, 0, 0), X, False, False),
    "the first of the first row": (
        lambda: X - row_of(X, None, 0) * row_of(X, 0, 0), X, False, False),
    "the first of the column": (lambda: X - row_of(X, 0, None), X, False, False),
    "the row backwards": (lambda: X + m.flip(X, 1), X, False, False),
    "the largest of the row": (lambda: X - max_(X, axis=1, keepdims=True), X, True, True),
    "the largest and the first": (
        lambda: X - max_(X, axis=1, keepdims=True) * row_of(X, None, 0), X, True, False),
    "rows that lie apart": (lambda: centred(CHANNELS), CHANNELS, True, True),
    "the first of a row apart": (
        lambda: centred(CHANNELS) + row_of(CHANNELS, 0, None, 0), CHANNELS, True, False),
    "the last of a row apart": (
        lambda: centred(CHANNELS) + row_of(CHANNELS, 3, None, 9), CHANNELS, True, False),
    "the next of the rows apart": (
        lambda: centred(CHANNELS) + next_row(CHANNELS), CHANNELS, False, False),
    "a tile": (lambda: matrix_product(A, B) + X, X, True, True),
    "a tile and the first of its row": (
        lambda: matrix_product(A, B) + X - row_of(X, None, 0), X, False, False),
    "a product": (lambda: matrix_product(A, B), A, False, False),
    "a box put into it": (lambda: put(X, SMALL, BOX, stays=True), X, True, True),
    "a box of itself put into it": (
        lambda: put(X, m.slice_(X, OTHER), BOX, stays=True), X, False, False),
    "what is put into another": (
        lambda: put(X, m.slice_(Y, OTHER), BOX, stays=True), Y, False, False),
    "indexed elements": (lambda: scatter(X, PICK, given(30, 1), axis=1), X, True, True),
    "indexed elements of a reshape": (
        lambda: scatter_add(X.reshape(-1), EVERY, given(9), axis=0),
        X, True, True),
    "indexed elements of its own": (
        lambda: scatter(X, PICK, row_of(X, None, 0), axis=1), X, False, False),
    "narrower elements": (
        lambda: e.cast(m.slice_(X, [(0, 15, 1), (0, 40, 1)]), float64), X, False, False),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_may_be_written_over(name):
    make, operand, by_rows, in_any_order = CASES[name]
    (root,) = simplify([make()])
    (step,) = plan_steps([root], {}, Takes(FLOATS))
    assert operand in step.reads()
    assert writes_over(step, root, operand) is by_rows
    assert writes_over(step, root, operand, ordered=False) is in_any_order


def test_what_is_read_after_the_last_pass_is_not_written_over():
    away = X - max_(X, axis=1, keepdims=True)
    found = gather(X, argmax(X, axis=1, keepdims=True), axis=1)  # the place is known by then
    roots = simplify([away, found])
    (step,) = plan_steps(roots, {}, Takes(FLOATS))
    assert not writes_over(step, roots[0], X)


# ---- whole plans


def test_elements_of_another_size_have_memory_of_their_own():
    a, b, w = (node_of(random(*shape, seed=k)) for k, shape in enumerate([(4, 5), (5, 8), (8, 3)]))
    half = e.cast(m.slice_(matrix_product(a, b), [(0, 2, 1), (0, 8, 1)]), float64)  # as many bytes
    root = matrix_product(half, e.cast(w, float64))
    (expected,) = by_reference([root], precise=True)
    for seed in range(20):
        (result,) = Simulation([root], {}, seed).run()
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_a_leaf_is_replaced_by_one_root_at_most():
    x = node_of(random(6, 5))
    roots = [e.exp(x), e.sin(x)]
    results = Simulation(roots, {0: x, 1: x}, 0).run()
    for result, expected in zip(results, by_reference(roots), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def puts(x, count):
    """A state that is written and read in turns, each box where another was read."""
    totals = []
    for k in range(count):
        values = m.slice_(x, [(k + 1, k + 2, 1), (0, 5, 1)]) + 1.0
        x = put(x, values, [(k, k + 1, 1), (0, 5, 1)], stays=True)
        totals.append(sum_(x, axis=1))
    return x, totals


def test_a_state_is_written_box_by_box_without_a_copy():
    x = node_of(random(8, 5))
    state, totals = puts(x, 6)
    for seed in range(20):
        run = Simulation([*totals, state], {6: x}, seed)
        for result, expected in zip(run.run(), by_reference([*totals, state]), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-5)
        assert all(step.in_place for step in run.steps if isinstance(step, ScatterStep))
        assert sum(isinstance(step, ScatterStep) for step in run.steps) == 6


def test_what_still_reads_the_old_value_of_a_state_keeps_it():
    x, row = node_of(random(8, 5)), node_of(random(1, 5, seed=1))
    new = put(x, row, [(2, 3, 1), (0, 5, 1)], stays=True)
    late = matrix_product(x, sum_(new, axis=0, keepdims=True).mT)  # the old one, after the new one
    for seed in range(20):
        run = Simulation([late, new], {1: x}, seed)
        for result, expected in zip(run.run(), by_reference([late, new]), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-5)
        assert not any(getattr(step, "in_place", False) for step in run.steps)


def test_what_is_no_state_is_not_written_over():
    x, row = node_of(random(8, 5)), node_of(random(1, 5, seed=1))
    new = put(x, row, [(2, 3, 1), (0, 5, 1)], stays=True)
    run = Simulation([new], {}, 0)
    np.testing.assert_array_equal(run.run()[0], by_reference([new])[0])
    assert run.unchanged(x)


@pytest.mark.parametrize("part", range(PARTS))
def test_blocks_of_a_random_plan_may_run_in_any_order(part, monkeypatch):
    monkeypatch.setattr(fuse, "COLUMN_ROWS", 4)  # so that small sums are cut into blocks too
    shared = 0
    for seed in range(FIRST + part, FIRST + PLANS, PARTS):
        graph = plan_of(seed, 7)
        roots, replaces = stateful(graph, seed)
        for ordered in (True, False):
            run = Simulation([root.node for root in roots], replaces, seed, ordered)
            for root, result in zip(roots, run.run(), strict=True):
                assert not misses(root, result), (seed, ordered, graph)
            untouched = [x for x in run.given if x not in replaces.values()]
            for x in untouched:
                assert run.unchanged(x), (seed, ordered, graph)
            shared += len(run.places.shares) + len(run.places.in_place)
    assert shared > PLANS // PARTS // 2, "too few plans share memory to tell anything"
