"""What simplify leaves of graphs that say the same thing in more words."""

from __future__ import annotations

import time
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle.autograd.backward import gradients
from treadle.base import knobs
from treadle.base.dtypes import float32, float64, int32, int64, uint64
from treadle.base.errors import CompilerError
from treadle.base.target import Takes
from treadle.ir.graph import structure, substitute, toposort
from treadle.ir.node import LEAF, full, iota, placeholder, type_of
from treadle.ir.rewrite import Rewriter
from treadle.ir.verify import PRIMITIVES, verify
from treadle.kernel.plan import plan_steps
from treadle.ops import activations, neural
from treadle.ops import composite as c
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.contract import matrix_product
from treadle.ops.reduce import max_, min_, sum_
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import by_reference, compiled, node_of

GROWTH = 1.6  # of the time of a node, in a graph four times as large


def leaf(*shape, dtype=float32):
    return placeholder(type_of(shape, dtype))


x, y = leaf(3, 4), leaf(3, 4)
k = leaf(3, 4, dtype=int32)
v, r, y_ = leaf(20), leaf(4), leaf(2)

# fmt: off
CASES = {
    "k + 0": (k + 0, k),
    "0 + k": (0 + k, k),
    "x + -0": (x + -0.0, x),
    "x / 8": (x / 8.0, x * 0.125),
    "2 + x": (2.0 + x, x + 2.0),
    "(k + 2) + 3": ((k + 2) + 3, k + 5),
    "k & 63 & 7": (k & 63 & 7, k & 7),
    "k ^ k": (k ^ k, full(0, k.type)),
    "cast there and back": (e.cast(e.cast(x, float64), float32), x),
    "x - 0": (x - 0.0, x),
    "x * 1": (x * 1.0, x),
    "x / 1": (x / 1.0, x),
    "--x": (e.neg(-x), x),
    "x + -y": (x + (-y), x - y),
    "k * 0": (k * 0, full(0, k.type)),
    "k - k": (k - k, full(0, k.type)),
    "max(x, x)": (e.maximum(x, x), x),
    "where of same": (e.where(x > y, x, x), x),
    "cast to itself": (e.cast(x, float32), x),
    "detach": (e.detach(x), x),
    "rerouted": (e.rerouted(x, e.exp(x)), x),
    "transpose of transpose": (x.T.T, x),
    "view of view": (x.reshape(12).reshape(2, 6).reshape(3, 4), x),
    "reshape to itself": (m.reshape(x, 3, 4), x),
    "expand to itself": (m.expand(x, 3, 4), x),
    "flip of nothing": (m.flip(x, ()), x),
    "slice of all": (m.slice_(v, [(0, 20, 1)]), v),
    "slice of slice": (m.slice_(m.slice_(v, [(2, 18, 2)]), [(1, 7, 2)]), m.slice_(v, [(4, 13, 4)])),
    "flip of flip": (m.flip(m.flip(x, 0), (0, 1)), m.flip(x, 1)),
    "pad of pad": (m.pad(m.pad(v, [(1, 0)]), [(2, 3)]), m.pad(v, [(3, 3)])),
    "slice of pad": (m.slice_(m.pad(v, [(4, 4)]), [(5, 9, 1)]), m.slice_(v, [(1, 5, 1)])),
    "pad with the same": (m.pad(full(1.0, v.type), [(1, 0)], 1.0), full(1.0, leaf(21).type)),
    "concat of the same": (m.concat([full(1.0, v.type)] * 2), full(1.0, leaf(40).type)),
    "slice of some parts": (m.slice_(m.concat([v, v, leaf(5)]), [(3, 33, 1)]),
                            m.concat([m.slice_(v, [(3, 20, 1)]), m.slice_(v, [(0, 13, 1)])])),
    "concat of a run": (m.concat([y_, m.slice_(v, [(0, 7, 1)]), m.slice_(v, [(7, 9, 1)])]),
                        m.concat([y_, m.slice_(v, [(0, 9, 1)])])),
    "permuted broadcast": (r.expand(3, 4).T, r.reshape(4, 1).expand(4, 3)),
    "broadcast of a row": (r.reshape(1, 4).expand(3, 4), r.expand(3, 4)),
    "slice of broadcast": (m.slice_(r.expand(3, 4), [(0, 2, 1), (0, 4, 1)]), r.expand(2, 4)),
    "sum beside a broadcast": (sum_(r.expand(3, 4), axis=1),
                               sum_(r, axis=0, keepdims=True).expand(3)),
    "sum of a constant": (sum_(full(0.5, x.type), axis=0), full(1.5, leaf(4).type)),
    "sum of broadcast integers": (sum_(k.expand(5, 3, 4), axis=0), e.cast(k, int64) * 5),
    "max of a constant": (max_(full(0.5, x.type)), full(0.5, leaf().type)),
    "concat of slices": (m.concat([m.slice_(v, [(0, 7, 1)]), m.slice_(v, [(7, 20, 1)])]), v),
    "slice of concat": (m.slice_(m.concat([v, leaf(5)]), [(3, 9, 1)]), m.slice_(v, [(3, 9, 1)])),
    "concat with nothing": (m.concat([v, leaf(0)]), v),
    "constants": (x * (full(2.0, x.type) + 1.0), x * 3.0),
    "constant views": (x + full(2.0, type_of((4, 3), float32)).T, x + 2.0),
    "nothing to sum": (sum_(leaf(0, 4), axis=0), full(0, type_of((4,), float32))),
    "gradient of a sum": (gradients([x.sum()], [x], [None])[0], full(1.0, x.type)),
}
# fmt: on


@pytest.mark.parametrize("name", CASES)
def test_longer_graph_simplifies_to_the_shorter(name):
    before, after = CASES[name]
    assert described(simplify([before])) == described([after])
    assert before is not after


def described(roots):
    """The structure, and which leaves it stands on."""
    return structure(roots)[0], [node for node in toposort(roots) if node.op is LEAF]


FAST = {
    "x + 0": (x + 0.0, x),
    "0 + x": (0.0 + x, x),
    "0 - x": (0.0 - x, -x),
    "x * 0": (x * 0.0, full(0.0, x.type)),
    "x - x": (x - x, full(0.0, x.type)),
    "x / x": (x / x, full(1.0, x.type)),
    "x / 3": (x / 3.0, x * (1 / 3.0)),
    "x * 2 * 3": (x * 2.0 * 3.0, x * 6.0),
    "x y + x z": (x * y + x * (y * y), x * (y + y * y)),
    "sum of a broadcast": (sum_(x.expand(5, 3, 4), axis=0), x * 5.0),
    "product with zeros": (
        matrix_product(x, full(0.0, leaf(4, 2).type)),
        full(0.0, leaf(3, 2).type),
    ),
}


@pytest.mark.parametrize("name", FAST)
def test_what_changes_rounding_waits_until_asked_for(name):
    before, after = FAST[name]
    assert described(simplify([before])) != described([after])
    with knobs.override(fast_math=1):
        assert described(simplify([before])) == described([after])


@td.compile
def times_zero(t):
    return t * 0.0


def test_programs_of_both_kinds_live_side_by_side():
    array = np.array([np.inf, -0.0, 1.0], np.float32)
    for fast, expected in ((0, [np.nan, 0.0, 0.0]), (1, [0.0, 0.0, 0.0]), (0, [np.nan, 0.0, 0.0])):
        with knobs.override(fast_math=fast):
            np.testing.assert_array_equal(compiled([node_of(array) * 0.0])[0], expected)
            np.testing.assert_array_equal(times_zero(td.tensor(array)).numpy(), expected)


steps = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a * 0.5 + a * b,
    lambda a, b: a / 3.0, lambda a, b: 2.0 + a * 1.0, lambda a, b: -(a - b), lambda a, b: a + 0.0,
    lambda a, b: a.sum(0, keepdims=True).expand(3, 4).sum(1, keepdims=True) * 0.1 + b,
    lambda a, b: e.where(a > b, a, b * 0.0), lambda a, b: e.tanh(a), lambda a, b: a * 0.3 * 0.7,
    lambda a, b: m.concat(
        [m.slice_(a, [(0, 3, 1), (0, 1, 1)]), m.slice_(b, [(0, 3, 1), (1, 4, 1)])], axis=1
    ),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_fast_graphs_stay_near_their_values(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    nodes = [node_of(rng.uniform(-1, 1, (3, 4))) for _ in range(3)]
    for step in data.draw(st.lists(st.sampled_from(steps), min_size=1, max_size=8)):
        a, b = (data.draw(st.sampled_from(nodes)) for _ in range(2))
        nodes.append(step(a, b))
    expected = by_reference(nodes[-2:])
    with knobs.override(fast_math=1):
        fast = by_reference(simplify(nodes[-2:]))
    for plain, near in zip(expected, fast, strict=True):
        np.testing.assert_allclose(near, plain, rtol=1e-10, atol=1e-10 * (1 + np.abs(plain).max()))


def test_transposed_operands_of_a_product_are_read_in_place():
    a, b = leaf(64, 32), leaf(48, 64)
    for left, right in ((a.T, b.T), (a.T.T.T, b.T), (leaf(32, 64), b.T), (a.T, leaf(64, 48))):
        steps = plan_steps(simplify([matrix_product(left, right)]), {}, Takes((float32,)))
        assert len(steps) == 1
        assert {steps[0].left.base.op, steps[0].right.base.op} == {LEAF}


def test_simplify_takes_time_in_proportion_to_the_graph():
    small, large = (count_visits(transformer(layers)) for layers in (4, 16))
    assert large < 4.5 * small


def count_visits(roots):
    """Rules tried while simplifying."""
    tried = 0
    real = Rewriter._fire

    def counted(self, node):
        nonlocal tried
        tried += 1
        return real(self, node)

    with mock.patch.object(Rewriter, "_fire", counted):
        simplify(roots)
    return tried


def test_two_permutes_become_one():
    (root,) = simplify([leaf(2, 3, 4).permute(1, 2, 0).permute(2, 1, 0)])
    assert root.arg == (0, 2, 1)
    assert root.operands[0].op is LEAF


def test_equal_parts_are_computed_once():
    (root,) = simplify([neural.softmax(x) + neural.softmax(x)])
    exps = [node for node in toposort([root]) if node.op is e.exp]
    assert len(exps) == 1


def test_roots_share_what_they_have_in_common():
    first, second = simplify([e.exp(x) * 2.0, e.exp(x) * 3.0])
    assert first.operands[0] is second.operands[0]


def test_different_leaves_are_not_one():
    (root,) = simplify([e.exp(leaf(3)) + e.exp(leaf(3))])
    assert len([node for node in toposort([root]) if node.op is e.exp]) == 2


def test_what_nobody_reads_is_gone():
    (root,) = simplify([e.where(full(True, (x > y).type), x, e.exp(y))])
    assert root is x


def test_negative_zero_and_zero_are_two_constants():
    first, second = simplify([1.0 / full(0.0, type_of((2,), float32)),
                              1.0 / full(-0.0, type_of((2,), float32))])  # fmt: skip
    values = by_reference([first, second])
    assert [v.tolist() for v in values] == [[np.inf, np.inf], [-np.inf, -np.inf]]


def test_float_zero_times_x_stays_as_x_may_be_infinite():
    (root,) = simplify([x * 0.0])
    assert x in toposort([root])


def test_integers_that_would_overflow_are_not_folded():
    big = full(2**31 - 1, type_of((2,), int32)) + 1
    (root,) = simplify([big])
    assert by_reference([root])[0].tolist() == [-(2**31)] * 2


def test_fractions_are_cut_when_casts_are_folded():
    (root,) = simplify([e.cast(full(-0.5, type_of((2,), float32)), uint64)])
    assert by_reference([root])[0].tolist() == [0, 0]


def test_an_index_is_not_a_constant():
    (root,) = simplify([iota((5,), 0) + 0])
    assert by_reference([root])[0].tolist() == [0, 1, 2, 3, 4]
    assert root.dtype is int64


def test_simplified_graphs_pass_the_spec():
    with knobs.override(verify=1):
        simplify([neural.cross_entropy(leaf(4, 7), leaf(4, dtype=int64)), neural.layer_norm(x)])


def test_the_spec_refuses_a_composite():
    with pytest.raises(CompilerError, match="composite"):
        verify([neural.softmax(x)], PRIMITIVES, "test")


def transformer(layers):
    """A block of attention and two products after the other, forward and backward."""
    width, length = 16, 8
    weights = [[leaf(width, width) for _ in range(6)] for _ in range(layers)]
    h = start = leaf(2, length, width)
    for q, key, value, out, up, down in weights:
        z = neural.layer_norm(h)
        parts = matrix_product(z, q), matrix_product(z, key), matrix_product(z, value)
        a = neural.scaled_dot_product_attention(*parts, is_causal=True)
        h = h + matrix_product(a, out)
        h = h + matrix_product(
            activations.gelu(matrix_product(neural.layer_norm(h), up), approximate="tanh"), down
        )
    loss = c.mean(h * h)
    every = [start, *(w for layer in weights for w in layer)]
    return [loss, *gradients([loss], every, [None])]


def test_a_node_simplifies_as_fast_in_a_large_graph():
    small, large = transformer(4), transformer(16)
    assert len(toposort(large)) >= 2000
    spent = [(of_a_node(small), of_a_node(large)) for _ in range(4)]  # in turns
    assert min(late for _, late in spent) <= GROWTH * min(early for early, _ in spent)


def of_a_node(roots):
    start = time.process_time()
    simplify(roots)
    return (time.process_time() - start) / len(toposort(roots))


@pytest.mark.parametrize("shape", [(400, 50), (20, 30, 40), (50, 400), (20_000,), (3, 40_000)])
@pytest.mark.parametrize("op", [sum_, max_, min_], ids=str)
def test_large_totals_of_any_shape_are_made_in_steps(op, shape):
    array = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)
    for x_ in (node_of(array), node_of(array) * 2.0, node_of(array).reshape(-1)):
        (root,) = simplify([op(x_)])
        assert len([n for n in toposort([root]) if n.op is op]) > 1
        np.testing.assert_array_equal(by_reference([root]), by_reference([op(x_)]))


def test_simplify_keeps_the_value_of_a_training_step():
    rng = np.random.default_rng(0)
    z, w = node_of(rng.standard_normal((6, 8))), node_of(rng.standard_normal((8, 5)))
    labels = node_of(rng.integers(0, 5, 6))
    loss = neural.cross_entropy(neural.layer_norm(z) @ w, labels)
    roots = [loss, *gradients([loss], [z, w], [None])]
    for before, after in zip(by_reference(roots), by_reference(simplify(roots)), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


def test_what_is_said_in_other_words_is_said_so_for_everybody():
    """Sums of tiles come from a product that is there: whoever is below must not see the old ones.

    Else gradients would be computed twice, once for those who see the old ones.
    """

    def products(layers):
        sizes = {"vocab_size": 16, "n_embd": 128, "n_head": 2, "n_positions": 256}
        model = td.models.GPT2(td.models.GPT2Config(n_layer=layers, **sizes)).eval()
        td.realize(*model.parameters())
        tokens = td.zeros(2, 256, dtype=td.int64).realize()
        loss = model(tokens).sum()
        slopes = td.gradients(loss, list(model.parameters()))
        _, leaves = structure([g._node for g in slopes])
        change = {x: placeholder(x.type) for x in leaves}
        roots = simplify(substitute([g._node for g in slopes], change))
        return sum(node.op is matrix_product for node in toposort(roots))

    one, two, three = (products(layers) for layers in (1, 2, 3))
    assert three - two == two - one == 18
