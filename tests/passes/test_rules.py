"""Every rewrite rule alone: its example fires it, and the value stays."""

from __future__ import annotations

import numpy as np
import pytest

from examples import example_of
from treadle.base.dtypes import bool_, float32, int64
from treadle.base.errors import CompilerError
from treadle.ir.graph import toposort
from treadle.ir.pattern import hole, rule
from treadle.ir.rewrite import Rewriter, by_op
from treadle.ir.verify import RECORDED, verify
from treadle.ops.contract import matrix_product
from treadle.ops.defs import Inline, Kind
from treadle.ops.reduce import sum_
from treadle.passes import decompose
from treadle.passes.pipeline import EXACT
from treadle.passes.pipeline import RULES as TABLE
from treadle.testing.arrays import array_type, by_reference, node_of
from treadle.testing.samples import cases, public_rows, takes

COMPOSITES = {row.name: row for row in decompose.definitions()}
RULES = {row.name: row for row in TABLE}


def random_leaf(rng):
    """A maker of leaves for examples: leaf(shape, dtype)."""

    def leaf(shape, dtype="float32"):
        kind = array_type(dtype)
        if kind.kind == "b":
            return node_of(rng.integers(0, 2, shape).astype(bool))
        values = rng.uniform(-3, 3, shape) if kind.kind == "f" else rng.integers(-5, 6, shape)
        return node_of(values.astype(kind))

    return leaf


def close(before, after, exact):
    if before.dtype.kind != "f":
        np.testing.assert_array_equal(before, after)
        return
    eps = np.finfo(before.dtype).eps
    scale = max(1.0, float(np.abs(before).max(initial=0)))
    terms = 1.0 if exact else 8.0
    np.testing.assert_allclose(after, before, rtol=4 * eps * terms, atol=8 * eps * scale * terms)


@pytest.mark.parametrize("name", RULES)
def test_rule_fires_on_its_example_and_keeps_the_value(name):
    tested = RULES[name]
    node = example_of(tested, random_leaf(np.random.default_rng(len(name))))
    rewriter = Rewriter(by_op([tested]))
    (result,) = rewriter.run([node])
    assert rewriter.fired[name] > 0
    assert result.type is node.type
    verify([result], RECORDED, name)
    (before,), (after,) = by_reference([node]), by_reference([result])
    close(before, after, tested.exact)


ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.5, 3e38, -1e-45]


def odd_leaf(rng):
    """Leaves that hold every float that needs care."""
    plain = random_leaf(rng)

    def leaf(shape, dtype="float32"):
        if array_type(dtype).kind != "f":
            return plain(shape, dtype)
        return node_of(rng.choice(np.array(ODD, array_type(dtype)), shape))

    return leaf


@pytest.mark.parametrize("name", [row.name for row in TABLE if row.exact])
def test_exact_rules_keep_every_bit(name):
    tested = RULES[name]
    for seed in range(20):
        node = example_of(tested, odd_leaf(np.random.default_rng(seed)))
        (result,) = Rewriter(by_op([tested])).run([node])
        (before,), (after,) = by_reference([node]), by_reference([result])
        np.testing.assert_array_equal(after, before)
        in_order = all(n.op not in (sum_, matrix_product) for n in toposort([node]))
        if before.dtype.kind == "f" and in_order:
            there = ~np.isnan(before)
            np.testing.assert_array_equal(np.signbit(after)[there], np.signbit(before)[there])


def test_inexact_rules_are_those_that_change_something():
    """Each rule that is off by default has an operand for which it gives another result."""
    for row in TABLE:
        if not row.exact:
            assert any(changes(row, seed) for seed in range(200)), row.name


def changes(row, seed):
    rng = np.random.default_rng(seed)
    node = example_of(row, (odd_leaf if seed % 2 else random_leaf)(rng))
    (result,) = Rewriter(by_op([row])).run([node])
    (before,), (after,) = by_reference([node]), by_reference([result])
    same = np.array_equal(before, after, equal_nan=True)
    return not same or not np.array_equal(np.signbit(before), np.signbit(after))


@pytest.mark.parametrize("name", COMPOSITES)
def test_composite_becomes_primitives_of_the_same_value(name):
    tested = COMPOSITES[name]
    op = public_rows()[name.removeprefix("define-")]
    kind = next(d for d in (float32, int64, bool_) if takes(op, d))
    case = next(iter(cases(op, kind, np.random.default_rng(1))))
    node = case.record([node_of(x) for x in case.operands])
    rewriter = Rewriter(by_op([tested]))
    (result,) = rewriter.run([node])
    assert rewriter.fired[name] > 0
    assert result.op is not op
    (before,), (after,) = by_reference([node]), by_reference([result])
    close(before, after, exact=False)


def test_rule_names_are_unique():
    assert len(RULES) == len(TABLE)


def test_every_composite_has_a_defining_rule():
    rows = public_rows().values()
    composites = {op for op in rows if op.kind is Kind.COMPOSITE and not isinstance(op, Inline)}
    assert {row.op for row in decompose.definitions()} == composites


def test_only_exact_rules_run_on_their_own():
    assert EXACT
    assert all(row.exact for row in EXACT)
    assert {row.name for row in EXACT} <= RULES.keys() | COMPOSITES.keys()


def test_a_rule_that_never_ends_is_caught():
    turn = rule("turn", hole("x") + hole("y"), lambda x, y: y + x)
    leaf = random_leaf(np.random.default_rng(0))
    with pytest.raises(CompilerError, match="rules do not end"):
        Rewriter(by_op([turn])).run([leaf((2,)) + leaf((2,))])


def test_equal_nodes_become_one():
    leaf = random_leaf(np.random.default_rng(0))
    x, y = leaf((3,)), leaf((3,))
    (result,) = Rewriter({}).run([(x + y) * (x + y)])
    assert len(toposort([result])) == 4
    assert result.operands[0] is result.operands[1]
