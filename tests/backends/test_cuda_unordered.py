"""Sums at looked-up indices in any order: of integers always, of floats where that is asked for."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
pytest.importorskip("hypothesis")

import cuda_graphs
from cuda_cases import integers, normal
from cuda_graphs import run_slopes, run_values
from test_cuda_owners import CASES as SUMS
from test_cuda_owners import compiled, forms_of, interpreted, rows
from triton_host import check, compare, node_of, plan_of, run_interpreted

from treadle.autograd.backward import gradients
from treadle.backends.cuda.compile import code_of
from treadle.base.knobs import override
from treadle.ir.graph import toposort
from treadle.ops.composite import take
from treadle.ops.contract import SCATTERS, gather, scatter_add, scatter_max, scatter_min
from treadle.testing.arrays import value_of
from treadle.testing.growth import EVERY
from treadle.testing.strategies import graph_of


def each_its_own():
    """Indices that differ within a row, along either axis."""
    first = scatter_add(normal(5, 24), integers(5, 70, 24), normal(70, 24), axis=0)
    return [first, scatter_add(normal(4, 9), integers(9, 4, 70), normal(4, 70), axis=1)]


def between():
    """An axis before and one after; most entries meet."""
    index, values = integers(3, 2, 90, 5), normal(2, 90, 5)
    return [scatter_add(normal(2, 3, 5), index, values, axis=1)]


def nowhere():
    """What points nowhere is added nowhere."""
    index = integers(40, 4, 70) - 20
    return [scatter_add(normal(4, 9), index, normal(4, 70), axis=1)]


def of_an_embedding():
    table = normal(30, 24)
    found = take(table, integers(30, 4, 25), axis=0)
    total = (found * found).sum()
    return [total, *gradients([total], [table], [None])]


def of_one_place():
    """All entries meet at a place that is known."""
    values = normal(70, 6)
    return [scatter_add(normal(5, 6), values.iota_like(0) * 0 + 3, values, axis=0)]


def of_doubles():
    args = normal(9, kind=np.float64), integers(9, 300), normal(300, kind=np.float64)
    return [scatter_add(*args, axis=0)]


def of_one_number():
    """A number that is the same for all entries: a count."""
    return [scatter_add(normal(9), integers(9, 300), normal(1).expand(300), axis=0)]


FLOATS = {
    **SUMS, "each its own": each_its_own, "between": between, "nowhere": nowhere,
    "embedding": of_an_embedding, "one place": of_one_place, "doubles": of_doubles,
    "one number": of_one_number,
}  # fmt: skip


def whole(op, kind=np.int32):
    """Integers that join in some way, a line of them and many."""
    high = 1000 if kind == np.int32 else 1 << 40
    bases = integers(high, 40, kind=kind), integers(high, 7, 24, kind=kind)
    values = integers(high, 300, kind=kind), integers(high, 200, 24, kind=kind) - high // 2
    indices = integers(40, 300), integers(7, 200, 1).expand(200, 24)
    return [op(*given, axis=0) for given in zip(bases, indices, values, strict=True)]


WHOLE = {
    f"{op} of {kind.__name__}": (op, kind)
    for op in (scatter_add, scatter_max, scatter_min)
    for kind in (np.int32, np.int64)
}


def atomics(roots):
    """How many kernels add by atomics in tiles: no lane goes over its entries one by one."""
    plan, _ = plan_of(roots)
    texts = [x.source.text for x in plan.launches if "tl.atomic_" in x.source.text]
    return sum("    for " not in text and "first" not in text for text in texts)


@interpreted
@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_added_up_as_the_reference_does(name):
    with override(deterministic=0):
        check(FLOATS[name](), 2e-6)


@interpreted
@pytest.mark.parametrize("name", WHOLE)
def test_integers_are_exact(name):
    check(whole(*WHOLE[name]), 0)


@compiled
@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_all_of_them_compile(architecture):
    with override(deterministic=0):
        graphs = [make() for make in FLOATS.values()]
        graphs += [whole(*given) for given in WHOLE.values()]
        plans = [plan_of(roots, architecture=architecture)[0] for roots in graphs]
    sources = {launch.source for plan in plans for launch in plan.launches}
    for source in sources:
        if "tl.atomic_" in source.text:
            assert code_of(source, architecture).cubin


def test_floats_are_in_order_unless_somebody_asks():
    for name, make in FLOATS.items():
        assert not atomics(make()), name
        with override(deterministic=0):
            assert bool(atomics(make())) == (name != "one place"), name
    with override(deterministic=0):
        assert not any(forms_of(rows(200, 7, 24, 7)))


def test_integers_need_no_order():
    for given in WHOLE.values():
        assert atomics(whole(*given)) == 2


def test_who_wins_by_order_keeps_it():
    index = integers(5, 200, 1).expand(200, 24)
    given = normal(5, 24), index, normal(200, 24)
    narrow = [normal(5, 24, kind=np.int8) for _ in range(2)]
    roots = [op(*given, axis=0) for op in SCATTERS if op is not scatter_add]
    roots += [scatter_add(narrow[0], integers(5, 5, 24), narrow[1], axis=0)]
    with override(deterministic=0):
        assert not atomics(roots)


@interpreted
def test_narrow_floats_are_added_up_in_float32():
    ones = np.ones((300, 4), ml_dtypes.bfloat16)  # 256 + 1 is 256 where every sum is rounded
    index = node_of(np.zeros((300, 1), np.int64)).expand(300, 4)
    with override(deterministic=0):
        roots = [scatter_add(node_of(ones[:2] * 0), index, node_of(ones), axis=0)]
        plan, leaves = plan_of(roots)
        (found,) = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    assert found[0].astype(float).tolist() == [300.0] * 4


@interpreted
def test_over_its_base_it_adds_where_that_lies():
    base = normal(7, 24)
    index = integers(7, 200, 1).expand(200, 24)
    roots = [scatter_add(base, index, normal(200, 24), axis=0)]
    with override(deterministic=0):
        _, leaves = plan_of(roots)
        plan, leaves = plan_of(roots, {0: leaves.index(base)})
        assert len(plan.launches) == 1
        compare(roots, run_interpreted(plan, [x.buffer.copy() for x in leaves]), 2e-6)


def by_interpreter(roots):
    """Values of nodes by interpreted kernels, in the shapes they were asked for."""
    plan, leaves = plan_of(roots)
    found = run_interpreted(plan, [np.array(value_of(x)) for x in leaves])
    return [x.reshape(root.shape) for x, root in zip(found, roots, strict=True)]


@interpreted
@pytest.mark.parametrize("work", [run_values, run_slopes], ids=["values", "slopes"])
def test_random_graphs_give_the_reference_value(monkeypatch, work):
    monkeypatch.setattr(cuda_graphs, "run_on_device", by_interpreter)
    graphs = [seed for seed in range(60) if _scatters(seed)]
    assert graphs
    with override(deterministic=0):
        wrong = [text for seed in graphs for text in work(seed)]
    assert not wrong, "\n\n".join(wrong[:3])


def _scatters(seed):
    nodes = toposort([root.node for root in graph_of(seed, cuda_graphs.STEPS, EVERY).roots])
    return any(node.op in SCATTERS or node.op in (gather, take) for node in nodes)
