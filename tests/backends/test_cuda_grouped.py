"""Small products that need nothing of each other: as few launches as they have texts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import normal, of_tensors
from fake_driver import as_cuda
from triton_host import INTERPRETED, compare, node_of, plan_of, run_interpreted

import treadle as td
from treadle.backends import facts
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.grouped import FEWEST, GroupStep
from treadle.ops.activations import relu
from treadle.ops.elementwise import tanh
from treadle.ops.reduce import sum_

rng = np.random.default_rng(0)
SIZES = ((32, 48, 64), (64, 64, 64), (16, 96, 32), (48, 32, 80), (96, 16, 16))


def leaf(*shape, kind=np.float32):
    return node_of((rng.standard_normal(shape) * 0.3).astype(kind))


def grouped(plan):
    """How many products each group of a plan has."""
    return [len(step.members) for step in plan.steps if isinstance(step, GroupStep)]


def products(plan):
    """Launches that multiply."""
    return [x for x in plan.launches if "tl.dot" in x.source.text]


def checked(roots, replaces=None, tolerance=4e-6):
    """The plan, after its results have been compared or its kernels compiled."""
    plan, leaves = plan_of(roots, replaces)
    if INTERPRETED:
        compare(roots, run_interpreted(plan, [x.buffer.copy() for x in leaves]), tolerance)
    return plan


def of_sizes(kind=np.float32):
    return [leaf(m, k, kind=kind) @ leaf(k, n, kind=kind) for m, k, n in SIZES]


def test_products_of_other_sizes_are_one_launch():
    plan = checked(of_sizes())
    assert grouped(plan) == [len(SIZES)]
    (launch,) = products(plan)
    assert launch.form == "together"
    assert launch.size == sum(map(np.prod, SIZES))


def test_sizes_that_no_vector_divides_are_another_launch():
    odd = [leaf(m - 1, k + 3) @ leaf(k + 3, n - 5) for m, k, n in SIZES]
    assert grouped(checked([*of_sizes(), *odd])) == [len(SIZES), len(SIZES)]


def test_queries_keys_and_values_are_one_launch():
    x, bias = leaf(40, 64), [leaf(64) for _ in range(3)]
    roots = [relu(x @ leaf(64, 64) + b) for b in bias]
    plan = checked(roots)
    assert grouped(plan) == [3]
    (launch,) = products(plan)
    assert launch.form == "together"
    assert sum(written for _, written in launch.touched) == 3


def test_layers_of_experts_are_two_launches():
    """Each expert's second layer reads what its first has made: depth by depth."""
    x = leaf(32, 64)
    roots = [tanh(x @ leaf(64, 96)) @ leaf(96, 64) for _ in range(6)]
    plan = checked(roots)
    assert grouped(plan) == [6, 6]


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float64], ids=str)
def test_every_dtype(kind):
    tolerance = 1e-12 if kind is np.float64 else 2e-2
    plan = checked(
        [leaf(48, 64, kind=kind) @ leaf(64, 32, kind=kind) for _ in range(4)], None, tolerance
    )
    assert grouped(plan) == [4]


def test_turned_operands_and_batches():
    turned = [leaf(64, 32).T @ leaf(48, 64).T for _ in range(3)]
    many = [leaf(3, 20, 32) @ leaf(3, 32, 24) for _ in range(3)]
    plan = checked([*turned, *many])
    assert sorted(grouped(plan)) == [3, 3]


def test_few_and_large_products_are_left_alone():
    assert not grouped(plan_of([leaf(32, 32) @ leaf(32, 32) for _ in range(FEWEST - 1)])[0])
    large = [leaf(1024, 32) @ leaf(32, 1024) for _ in range(3)]
    assert not grouped(plan_of(large)[0])
    deep = [leaf(32, 4096) @ leaf(4096, 32) for _ in range(3)]
    assert not grouped(plan_of(deep)[0])
    some = [leaf(256, 64) @ leaf(64, 256) for _ in range(5)]  # no tensor cores take float32
    assert not grouped(plan_of(some)[0])
    more = [leaf(256, 64) @ leaf(64, 256) for _ in range(8)]
    assert grouped(plan_of(more)[0]) == [8]
    x = leaf(32, 32)
    for _ in range(5):
        x = tanh(x @ leaf(32, 32))
    assert not grouped(plan_of([x])[0])


def test_nothing_is_written_where_another_of_the_group_reads():
    """A weight that is replaced by what its gradient makes of it, read by a product beside."""
    ws = [leaf(48, 48) for _ in range(4)]
    x, g = leaf(40, 48), leaf(40, 48)
    back = [g @ w.T for w in ws]
    steps = [w - 0.1 * (x.T @ tanh(g * (k + 1.0))) for k, w in enumerate(ws)]
    roots = [*back, *steps, sum_(back[0] * back[1])]
    _, leaves = plan_of(roots)
    over = {len(back) + k: leaves.index(w) for k, w in enumerate(ws)}
    plan = checked(roots, over)
    assert grouped(plan) == [4, 4]
    first, second = (step for step in plan.steps if isinstance(step, GroupStep))
    assert {plan.place(w) for w in plan.leaves} >= {plan.place(node) for node in second.writes}
    assert not set(second.writes) & first.reads()
    for step in (first, second):
        written = {plan.place(node) for node in step.writes}
        others = [
            {plan.place(x) for x in member.reads()} - {plan.place(x) for x in member.writes}
            for member in step.members
        ]
        assert not any(written & places for places in others)


def test_operands_that_end_here_keep_their_memory_until_all_are_done():
    """Nobody reads them later: alone, a product could write over the operand of another."""
    given = [tanh(leaf(48, 48)) for _ in range(6)]
    made = [given[k] @ given[k + 1] for k in range(5)]
    plan = checked([sum_(x) for x in made] + [sum_(tanh(made[0] + made[1]))])
    for step in plan.steps:
        if isinstance(step, GroupStep):
            read = {plan.place(x) for x in step.reads()}
            assert read.isdisjoint(plan.place(x) for x in step.writes)


def random_network(seed):
    """(roots, numbers of those that take a leaf's memory, the leaves): products and maps of all."""
    draws = np.random.default_rng(seed)
    leaves = [leaf(32, 32) for _ in range(6)]
    nodes = list(leaves)
    for _ in range(24):
        a, b = (nodes[k] for k in draws.integers(0, len(nodes), 2))
        kind = draws.integers(0, 5)
        nodes.append(a @ b * 0.2 if kind < 3 else tanh(a + b) if kind == 3 else a - b * 0.5)
    made = nodes[len(leaves) :]
    roots = [made[k] for k in sorted(set(draws.integers(0, len(made), 6)))] + [made[-1] * 2.0]
    return roots, leaves[: draws.integers(0, 4)]


def spans(plan, nodes):
    """Bytes that nodes lie in."""
    places = [(*plan.place(node), node.type.nbytes) for node in nodes]
    return [(base, start, start + nbytes) for base, start, nbytes in places]


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_keep_their_values_and_no_product_meets_another(seed):
    roots, taken = random_network(seed)
    _, leaves = plan_of(roots)
    taken = [x for x in taken if x in leaves]
    plan = checked(roots, {k: leaves.index(x) for k, x in enumerate(taken[: len(roots)])}, 1e-4)
    for step in plan.steps:
        if not isinstance(step, GroupStep):
            continue
        for one in step.members:
            others = [x for x in step.members if x is not one]
            met = [y for x in others for y in spans(plan, [*x.reads(), *x.writes])]
            for base, start, end in spans(plan, one.writes):
                assert not any(b == base and s < end and start < e for b, s, e in met)


def test_many_products_are_a_few_launches():
    plan = checked([leaf(16, 32) @ leaf(32, 16) for _ in range(40)])
    assert grouped(plan) == [32, 8]
    assert len(products(plan)) == 2


def test_within_a_loop():
    def run(xs, *pairs):
        def body(states, x):
            return [(h @ w).tanh() for h, w in zip(states, pairs[1::2], strict=True)], x

        return td.scan(body, list(pairs[::2]), xs)

    pairs = [node for _ in range(3) for node in (leaf(20, 32), leaf(32, 32))]
    plan = checked(of_tensors(run, leaf(3, 20, 32), *pairs), None, 1e-5)
    assert any("tl.dot" in x.source.text and x.form == "together" for x in plan.launches)


def test_explain_shows_one_kernel():
    plan, _ = plan_of([normal(40, 64) @ leaf(64, 64) for _ in range(3)])
    (row,) = [row for row in facts.rows_for(plan, ()) if row.kind == "product"]
    assert "matrix_product×3" in row.ops
    assert row.reason == "3 small products that need nothing of each other"


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
def test_a_group_runs_as_a_graph_and_watched(monkeypatch):
    x, *ws = [rng.standard_normal((32, 32)).astype(np.float32) for _ in range(6)]

    def run(x, *ws):
        rows = [(x @ w).tanh() for w in ws]
        return [row @ w for row, w in zip(rows, ws, strict=True)]

    with as_cuda(monkeypatch):
        given = [td.tensor(a, device="cuda") for a in (x, *ws)]
        made = td.compile(run)
        for check in (0, 0, 0, 1):
            with td.override(check=check):
                found = made(*given)
            for y, w in zip(found, ws, strict=True):
                np.testing.assert_allclose(y.numpy(), np.tanh(x @ w) @ w, rtol=1e-4, atol=1e-4)
        shown = td.explain(run, *given)
        assert [row.kind for row in shown.rows] == ["product", "product"]


@pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_they_compile(architecture):
    roots = of_sizes() + of_sizes(np.float16)
    roots += [relu(leaf(40, 64, kind=np.float16) @ leaf(64, 64, kind=np.float16)) for _ in range(3)]
    plan, _ = plan_of(roots, architecture=architecture)
    sources = {x.source for x in products(plan) if x.form == "together"}
    assert len(sources) >= 3
    for source in sources:
        assert code_of(source, architecture).cubin
