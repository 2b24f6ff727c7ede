"""TREADLE_ROUND: narrow floats are the same bits however their values are looked at."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import STORAGE

KINDS = [d.name for d in STORAGE]
UNARY = (
    td.exp, td.tanh, td.sigmoid, td.sin, td.relu, abs, td.neg, td.square, td.gelu, td.silu,
    lambda x: td.sqrt(abs(x)), lambda x: x * 0.1, lambda x: 1.7 - x, lambda x: x / 3.0,
    lambda x: x + 0.3, lambda x: td.where(x > 0.2, x, x * 0.7), lambda x: x.T.flip(0),
    lambda x: td.pad(x, [(1, 1), (0, 0)], 0.1)[1:-1], lambda x: x - x.max(axis=1, keepdims=True),
    lambda x: x.cast("float32").cast(x.dtype), lambda x: td.full((6, 6), 0.3, dtype=x.dtype) * x,
    lambda x: td.clip(x, -1.1, 2.3), lambda x: x[:, :1] * 1.1 + x, lambda x: td.roll(x, 1, 0),
)  # fmt: skip
BINARY = (td.add, td.sub, td.mul, td.div, td.maximum, td.hypot, td.lerp)


def random_program(rng):
    """Steps of a chain: (op, places of its operands among all values so far)."""
    steps = []
    for count in range(2, 2 + int(rng.integers(6, 14))):
        if rng.random() < 0.6:
            steps.append((UNARY[rng.integers(len(UNARY))], [int(rng.integers(count))]))
        else:
            op = BINARY[rng.integers(len(BINARY))]
            places = [int(k) for k in rng.integers(0, count, 3 if op is td.lerp else 2)]
            steps.append((op, places))
    return steps


def run(steps, x, y, look):
    values = [x, y]
    for op, places in steps:
        values.append(op(*(values[k] for k in places)))
        if look:
            values[-1].realize()
    return values[2:]


def bits(x):
    return x.numpy().view(f"u{x.dtype.size}").tolist()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_wide_floats_need_no_switch(kind):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        steps = random_program(rng)
        x, y = (td.tensor(rng.uniform(-2, 2, (6, 6)), dtype=kind) for _ in range(2))

        def last(x, y, steps=steps):
            return run(steps, x, y, False)[-1]

        one_by_one = bits(run(steps, x, y, True)[-1])
        assert bits(last(x, y)) == one_by_one == bits(td.compile(last)(x, y)), seed


@pytest.mark.parametrize("kind", KINDS)
def test_chains_have_the_same_bits_step_by_step_fused_and_compiled(kind):
    differ = 0
    for seed in range(12 if "16" in kind else 4):  # float8 takes long to compile
        rng = np.random.default_rng(seed)
        steps = random_program(rng)
        x, y = (td.tensor(rng.uniform(-2, 2, (6, 6)), dtype=kind) for _ in range(2))

        def last(x, y, steps=steps):
            return run(steps, x, y, False)[-1]

        with td.override(round=1):
            one_by_one = [bits(v) for v in run(steps, x, y, True)]
            fused = run(steps, x, y, False)
            td.realize(*fused)
            assert [bits(v) for v in fused] == one_by_one, seed
            assert bits(last(x, y)) == one_by_one[-1], seed
            assert bits(td.compile(last)(x, y)) == one_by_one[-1], seed
        differ += bits(last(x, y)) != one_by_one[-1]
    assert differ  # otherwise the switch does nothing


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_and_products_have_the_same_bits(kind):
    rng = np.random.default_rng(3)
    x, w = (td.tensor(rng.uniform(-1, 1, (8, 8)), dtype=kind) for _ in range(2))

    def loss(x, w):
        return (td.tanh((x @ w) * 0.3 + x) / 3.0).max()

    with td.override(round=1):
        product = (x @ w).realize()
        scaled = (product * 0.3).realize()
        shifted = (scaled + x).realize()
        by_hand = ((td.tanh(shifted).realize()) / 3.0).realize()
        assert bits(td.tanh((x @ w) * 0.3 + x) / 3.0) == bits(by_hand)
        lazily = td.grad(loss)(x, w)
        compiled = td.compile(td.grad(loss))(x, w)
        assert bits(lazily) == bits(compiled)


def test_programs_of_both_kinds_are_kept_side_by_side():
    x = td.tensor([1.0, 0.3], dtype="bfloat16")
    chain = lambda x: x * 0.1 * 3.3 / 0.7  # noqa: E731
    step = td.compile(chain)
    usual = bits(step(x)), bits(chain(x))
    with td.override(round=1):
        rounded = bits(step(x)), bits(chain(x))
    assert rounded[0] == rounded[1] != usual[0] == usual[1]
    assert (bits(step(x)), bits(chain(x))) == usual
    with td.override(round=1):
        assert (bits(step(x)), bits(chain(x))) == rounded
