"""Branches of cheap ops are all computed where choosing is dear; others stay branches."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends.reference.eval import evaluate
from treadle.ir.graph import toposort
from treadle.ir.node import placeholder, type_of
from treadle.ir.region import BRANCH, LOOP, bodies_of
from treadle.passes.branches import chosen
from treadle.tensor.tensor import Tensor

VALUES = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def graph_of(function):
    leaf = placeholder(type_of((2, 3), td.float32))
    return function(Tensor(leaf))._node, leaf


def ops_of(root):
    """Ops of a graph and of all bodies in it."""
    found = set()
    for node in toposort([root]):
        found.add(node.op)
        for body in bodies_of(node.arg) if node.op in (LOOP, BRANCH) else ():
            found = found.union(*map(ops_of, body.results))
    return found


def cheap(x):
    return td.switch(x.sum().cast(td.int64), [lambda x: x + 1, lambda x: -x, td.exp], x)


def costly(x):
    return td.cond(x.sum() > 3, lambda x: x @ x.mT @ x, lambda x: x - 1, x)


def cheap_in_a_loop(x):
    return td.fori_loop(0, 3, lambda i, x: td.cond(i > 1, lambda x: x * 2, lambda x: x - 1, x), x)


@pytest.mark.parametrize(("function", "left"), [
    (cheap, set()), (costly, {BRANCH}), (cheap_in_a_loop, {LOOP}),
], ids=["cheap", "costly", "cheap in a loop"])  # fmt: skip
def test_what_is_left_gives_the_same(function, left):
    root, leaf = graph_of(function)
    assert BRANCH in ops_of(root)
    (plain,) = chosen([root])
    assert ops_of(plain) & {BRANCH, LOOP} == left
    for values in (VALUES, VALUES - 2.5, VALUES * 0, VALUES / 15):  # every branch is taken
        given = {leaf: values}.__getitem__
        (found,), (wanted,) = evaluate([plain], given), evaluate([root], given)
        np.testing.assert_array_equal(found, wanted)
