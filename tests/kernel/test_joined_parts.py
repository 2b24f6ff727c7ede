"""Parts put side by side by concat and pad, and what is computed from them as a whole."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import float32
from treadle.base.target import Takes
from treadle.ir.node import placeholder, type_of
from treadle.kernel.plan import plan_steps
from treadle.ops import movement as m
from treadle.ops.reduce import sum_

SHAPES = [((6, 32), 1), ((6, 32), 0), ((2, 3, 64), 1), ((2, 5, 16), 2), ((40, 3), 1), ((70,), 0)]


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("count", [2, 3])
def test_maps_and_sums_of_parts(shape, axis, count):
    arrays = [random(*shape, seed=k) for k in range(count)]
    right = np.concatenate(arrays, axis) * 2 + 1
    found = td.concat([td.tensor(a) for a in arrays], axis) * 2.0 + 1.0
    np.testing.assert_allclose(found.sum(0).numpy(), right.sum(0), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.numpy(), right, rtol=1e-6)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
@pytest.mark.parametrize("room", [0, 5])
def test_parts_with_room_for_others(order, room):
    arrays = [random(7, 32, seed=k) for k in range(3)]
    total, right = td.zeros(7, 96 + room), np.zeros((7, 96 + room), np.float32)
    for k in order:
        total = total + td.tensor(arrays[k]).pad([(0, 0), (32 * k, 64 - 32 * k + room)])
        right[:, 32 * k : 32 * k + 32] += arrays[k]
    np.testing.assert_allclose((total * 3.0).numpy(), right * 3, rtol=1e-6)


def test_heads_side_by_side_are_read_run_by_run():
    """The gradient of queries, keys and values split into heads: runs of 64, no division left."""
    parts = [placeholder(type_of((2, 4, 128, 64), float32)) for _ in range(3)]
    rows = [m.permute(x, (0, 2, 1, 3)).reshape((2, 128, 256)) for x in parts]
    whole = m.concat(rows, axis=2) + 1.0
    (step,) = plan_steps([whole, sum_(whole, axis=(0, 1))], {}, Takes())
    text = str(step.programs()[0].loops)
    assert "//" not in text
    assert "%" not in text
    checks = re.findall(r" if ([^\]]*)\]", text)
    assert checks
    assert not any("a3" in check or "a4" in check for check in checks)


def test_nothing_is_joined_to_nothing():
    x = td.zeros(0, 0, 1)
    joined = td.stack([x, x], 1)
    assert (td.tensor([1.0]) < joined).numpy().shape == (0, 2, 0, 1)
    assert (td.concat([x, x], 1) + 1).numpy().shape == (0, 0, 1)


def test_a_buffer_is_read_with_guards_and_without():
    """A part lies far from where it is read, and all of it is read as it is, too."""
    x, y = random(5000), random(2000, seed=1)

    @td.compile
    def f(x, y):
        return td.concat([y, x], 0)[:5000] * 2.0 + x

    got = f(td.tensor(x), td.tensor(y)).numpy()
    np.testing.assert_allclose(got, np.concatenate([y, x])[:5000] * 2 + x, rtol=1e-6)


def quickest(f, *args):
    spent = []
    for _ in range(12):
        start = time.perf_counter()
        f(*args)
        spent.append(time.perf_counter() - start)
    return min(spent)


def test_parts_that_are_not_read_cost_nothing():
    """A vector of which no lane is read, from where no memory is, took as long as hundreds."""
    x = td.tensor(random(300_000))
    joined = td.compile(lambda a, b, c: td.concat([a, b, c], 0) * 2.0)
    alone = td.compile(lambda a, b, c: (a * 2.0, b * 2.0, c * 2.0))
    args = [(x + float(k)).realize() for k in range(3)]
    assert quickest(joined, *args) < 12 * quickest(alone, *args)
