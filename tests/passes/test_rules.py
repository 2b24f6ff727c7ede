"""Every rewrite rule alone: its example fires it, and the value stays."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.base.dtypes import float32
from treadle.ir.graph import toposort
from treadle.ir.pattern import Rule, hole, rule
from treadle.ir.rewrite import Rewriter
from treadle.ir.verify import RECORDED, verify
from treadle.ops.defs import Kind
from treadle.passes import algebra, decompose, movement
from treadle.passes.pipeline import EXACT
from treadle.testing.arrays import array_type, by_reference, node_of
from treadle.testing.samples import cases, public_rows

COMPOSITES = {row.name: row for row in decompose.definitions()}
TABLES = (algebra, decompose, movement)
RULES = {
    row.name: row
    for module in TABLES
    for table in vars(module).values()
    if isinstance(table, tuple)
    for row in table
    if isinstance(row, Rule) and row.name not in COMPOSITES
}


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
    node = tested.example(random_leaf(np.random.default_rng(len(name))))
    rewriter = Rewriter([tested])
    (result,) = rewriter.run([node])
    assert rewriter.fired[name] > 0
    assert result.type is node.type
    verify([result], RECORDED, name)
    (before,), (after,) = by_reference([node]), by_reference([result])
    close(before, after, tested.exact)


@pytest.mark.parametrize("name", COMPOSITES)
def test_composite_becomes_primitives_of_the_same_value(name):
    tested = COMPOSITES[name]
    op = public_rows()[name.removeprefix("define-")]
    case = next(iter(cases(op, float32, np.random.default_rng(1))))
    node = case.record([node_of(x) for x in case.operands])
    rewriter = Rewriter([tested])
    (result,) = rewriter.run([node])
    assert rewriter.fired[name] > 0
    assert result.op is not op
    (before,), (after,) = by_reference([node]), by_reference([result])
    close(before, after, exact=False)


def test_rule_names_are_unique():
    every = [*algebra.ALGEBRA, *algebra.CONSTANTS, *movement.MOVEMENT, *decompose.SPLIT]
    names = [row.name for row in every]
    assert len(set(names)) == len(names)


def test_every_composite_has_a_defining_rule():
    composites = {op for op in public_rows().values() if op.kind is Kind.COMPOSITE}
    assert {row.op for row in decompose.definitions()} == composites


def test_only_exact_rules_run_on_their_own():
    assert EXACT
    assert all(row.exact for row in EXACT)
    assert {row.name for row in EXACT} <= RULES.keys() | COMPOSITES.keys()


def test_a_rule_that_never_ends_is_caught():
    turn = rule("turn", hole("x") + hole("y"), lambda x, y: y + x)
    leaf = random_leaf(np.random.default_rng(0))
    with pytest.raises(AssertionError, match="rules do not end"):
        Rewriter([turn]).run([leaf((2,)) + leaf((2,))])


def test_equal_nodes_become_one():
    leaf = random_leaf(np.random.default_rng(0))
    x, y = leaf((3,)), leaf((3,))
    (result,) = Rewriter([]).run([(x + y) * (x + y)])
    assert len(toposort([result])) == 4
    assert result.operands[0] is result.operands[1]
