"""The key of a graph: equal for equal graphs, different where values are shared differently."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.base.dtypes import float32, float64
from treadle.ir.graph import rebuild, structure, substitute, toposort
from treadle.ir.node import placeholder, type_of
from treadle.ops import elementwise as e
from treadle.ops.reduce import sum_
from treadle.testing.arrays import node_of


def leaf(*shape, dtype=float32):
    return placeholder(type_of(shape, dtype))


def memory(*shape):
    return node_of(np.zeros(shape, np.float32))


def key_of(*roots):
    return structure(roots)[0]


def test_graphs_built_alike_have_equal_keys():
    def build():
        x, y = memory(3, 4), memory(4)
        return e.exp(x + y) * x

    assert key_of(build()) == key_of(build())
    assert hash(key_of(build())) == hash(key_of(build()))


DIFFERENT = {
    "op": lambda x, y: (x + y, x * y),
    "shape": lambda x, y: (x + memory(4), memory(3, 1) + y),
    "option": lambda x, y: (sum_(x, axis=0), sum_(x, axis=0, keepdims=True)),
    "constant": lambda x, y: (x * 2.0, x * 3.0),
    "sharing of a leaf": lambda x, y: (x + x, x + y),
    "sharing of a value": lambda x, y: (
        (lambda z: z + z)(e.exp(x)), e.exp(x) + e.exp(x)
    ),
    "order": lambda x, y: (e.exp(x) - y, y - e.exp(x)),
    "dtype": lambda x, y: (e.cast(x, "float16"), e.cast(x, "bfloat16")),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_graphs_that_differ_have_different_keys(name):
    first, second = DIFFERENT[name](memory(3, 4), memory(3, 4))
    assert key_of(first) != key_of(second)


def test_the_choice_and_order_of_roots_count():
    x = memory(3)
    a, b = e.exp(x), e.sin(x)
    keys = [key_of(a, b), key_of(b, a), key_of(a), key_of(a, a)]
    assert len(set(keys)) == 4


def test_realised_values_are_leaves_however_they_were_made():
    x = memory(3)
    y = e.exp(x)
    y.buffer = x.buffer
    assert key_of(y + 1.0) == key_of(x + 1.0)
    assert structure([y + 1.0])[1] == [y]


def test_leaves_come_in_the_order_the_key_numbers_them():
    x, y = memory(3), memory(3)
    first, second = structure([x - y])[1], structure([y - x])[1]
    assert {*first} == {x, y}
    assert first == second[::-1]


def test_operands_come_before_what_reads_them():
    x = leaf(3)
    z = (e.exp(x) + x) * e.exp(x)
    order = toposort([z])
    assert all(order.index(part) < order.index(node) for node in order for part in node.operands)
    assert len(order) == len(set(order)) == 5


def test_substitution_keeps_what_does_not_change():
    x, y, other = leaf(3), leaf(3), leaf(3)
    kept, changed = e.exp(x), e.exp(y)
    (root,) = substitute([kept + changed], {y: other})
    assert root.operands[0] is kept
    assert root.operands[1].operands == (other,)


def test_what_stands_for_a_node_is_made_of_what_stands_for_others():
    x, y = leaf(3), leaf(3)
    one = e.exp(x)
    two = e.exp(one)
    (root,) = substitute([two * one], {one: y, two: e.log(one)})
    log, other = root.operands
    assert other is y
    assert log.op is e.log
    assert log.operands == (y,)


def test_rebuilding_with_the_same_operands_is_the_same_node():
    node = leaf(3) + leaf(3)
    assert rebuild(node, node.operands) is node


def test_a_deep_chain_does_not_exhaust_the_stack():
    node = leaf(2, dtype=float64)
    for _ in range(20_000):
        node = -node
    assert len(toposort([node])) == 20_001
    assert len(key_of(node)) > 20_000
