"""Lazy use costs no memory that compiled use does not: only what somebody holds is kept."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import program
from treadle.base.dtypes import bool_, float32, int32
from treadle.ir import graph
from treadle.ir.graph import is_realised, structure, toposort
from treadle.ir.node import apply
from treadle.ops.elementwise import add, mul
from treadle.testing.samples import cases, public_rows, takes

ROWS = public_rows()
SIZED = {  # by the values of their operands: these are not compiled
    "argwhere", "masked_select", "nonzero",
    "unique", "unique_all", "unique_consecutive", "unique_counts", "unique_inverse",
}  # fmt: skip


@pytest.fixture
def always(monkeypatch):
    """Who holds what is found out for graphs of any size."""
    monkeypatch.setattr(graph, "FEW", 0)


@pytest.fixture
def allocated(monkeypatch):
    """Bytes of every piece of memory that programs take: results, arena and scratch."""
    sizes, real = [], program.allocate

    def noted(nbytes):
        sizes.append(nbytes)
        return real(nbytes)

    monkeypatch.setattr(program, "allocate", noted)
    return sizes


# ---- who holds what


def operands():
    return td.tensor(np.arange(12.0).reshape(3, 4)), td.tensor(np.arange(12).reshape(3, 4))


def grown(rng, count, x, y):
    """Tensors made of each other at random: views, casts, the same operand twice, sums."""
    made = [x * 1.0, y + 1]
    for _ in range(count):
        a, b = rng.choice(made), rng.choice(made[-4:])
        made.append(
            rng.choice(
                [
                    lambda a=a, b=b: a + b,
                    lambda a=a: a * a,
                    lambda a=a: td.exp(a),
                    lambda a=a: a.T.reshape(3, 4),
                    lambda a=a: a.cast(td.float32),
                    lambda a=a: a - a.sum(1, keepdims=True),
                    lambda a=a, b=b: td.where(a > b, a, b),
                    lambda a=a, b=b: td.softmax(a) @ b.T @ b,
                ]
            )()
        )
    return made


def kept(rng, made, share):
    """A root that reads some of what was made, and some of it that goes on being held."""
    root = made[-1]
    for x in rng.sample(made, 3):
        root = root + x
    return root, [x for x in made if rng.random() < share]


def shown(node):
    """What a view shows."""
    while node.buffer is None and node.op.flops == 0.0 and len(node.operands) == 1:
        node = node.operands[0]
    return node


def worth_keeping(root, tensors):
    """By definition: what tensors, and what else is computed for them, read of the graph."""
    inside = set(toposort([root._node], is_realised))
    held = [x._node for x in tensors]
    others = [n for n in toposort(held, is_realised) if n not in inside]
    read = {n for n in (*held, *(x for n in others for x in n.operands)) if n in inside}
    below = {shown(n) for n in read if n is not root._node}
    return {n for n in below if n.buffer is None and n.operands and n is not root._node}


@pytest.mark.parametrize("seed", range(150))
def test_exactly_what_somebody_holds_is_found(seed, always):
    rng = random.Random(seed)
    made = grown(rng, rng.randrange(4, 40), *operands())
    root, tensors = kept(rng, made, rng.choice([0.0, 0.1, 0.5, 1.0]))
    del made
    held = []
    structure([root._node], held)
    assert len(held) == len(set(held))
    assert set(held) == worth_keeping(root, tensors)


def test_what_is_held_deep_below_is_found(always):
    x, held, found = td.tensor([1.0, 2.0]), [], []
    for k in range(3000):
        x = x * 0.5 + 1.0
        if k == 1500:
            held.append(x)
    structure([x._node], found)
    assert found == [held[0]._node]


def test_nodes_that_share_a_tuple_of_operands_count_it_once(always):
    def root(keep):
        pair = (td.tensor([1.0]) * 2.0, td.tensor([1.0]) * 3.0)
        nodes = tuple(x._node for x in pair)
        first, second = apply(add, nodes), apply(mul, nodes)
        assert first.operands is second.operands
        return [x for x in pair if keep], add(first, second)

    for keep in (False, True):
        tensors, node = root(keep)
        held = []
        structure([node], held)
        assert held == [x._node for x in tensors]


# ---- what it costs


def test_a_sum_of_a_product_is_not_written_out(allocated):
    u = td.tensor(np.ones(300_000, np.float32))
    (u * 3).sum().item()
    td.tensor(np.ones(300_000, bool)).sum().item()
    ((u - u.mean()) ** 2).mean().item()
    assert max(allocated) < 300_000


def lazily_and_compiled(case):
    """The same call recorded and looked at, and compiled: what each of them does."""
    tensors = [td.tensor(x) for x in case.operands]

    def lazily():
        found = case.record(tensors)
        td.realize(*found) if isinstance(found, list | tuple) else found.realize()

    function = td.compile(lambda *xs: case.record(xs))
    return lazily, lambda: function(*tensors)


def row_cases(name):
    for kind in (float32, int32, bool_):
        if takes(ROWS[name], kind):
            yield next(cases(ROWS[name], kind, np.random.default_rng(zlib.crc32(name.encode()))))


@pytest.mark.parametrize("name", sorted(ROWS.keys() - SIZED))
def test_a_row_takes_no_more_memory_lazily_than_compiled(name, always, allocated):
    for case in row_cases(name):
        lazily, compiled = lazily_and_compiled(case)
        compiled()
        found = []
        for run in (lazily, compiled):
            allocated.clear()
            run()
            found.append(sum(allocated))
        assert found[0] <= found[1], case


@pytest.mark.parametrize("seed", range(12))
def test_an_expression_takes_no_more_memory_lazily_than_compiled(seed, always, allocated):
    def expression(x, y):
        rng = random.Random(seed)
        return grown(rng, rng.randrange(4, 30), x, y)[-1].sum()

    found = []
    for function in (expression, td.compile(expression)):
        function(*operands()).realize()
        allocated.clear()
        function(*operands()).realize()
        found.append(sum(allocated))
    assert found[0] <= found[1]
