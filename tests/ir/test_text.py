"""A printed graph reads back as the same graph."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.autograd.backward import gradients
from treadle.base.dtypes import ALL, bool_, dtype, float16, float32, int64, uint32
from treadle.base.errors import ArgumentError
from treadle.base.shapes import Dim
from treadle.ir.graph import is_realised, structure, toposort
from treadle.ir.node import Call, Node, const, full, iota, placeholder, type_of
from treadle.ir.parser import _value, parse_graph
from treadle.ir.printer import graph_text, literal
from treadle.ops import activations, contract, neural
from treadle.ops import composite as c
from treadle.ops import movement as m
from treadle.ops.elementwise import cast, exp, maximum, where
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import node_of
from treadle.testing.samples import cases, public_rows, takes


def leaf(*shape, dtype=float32):
    return placeholder(type_of(shape, dtype))


def loss():
    x, w = leaf(8, 16), leaf(10, 16)
    y = neural.cross_entropy(
        c.linear(activations.gelu(neural.layer_norm(x), approximate="tanh"), w),
        leaf(8, dtype=int64),
    )
    return [y, *gradients([y], [x, w], [None])]


def attention():
    q = leaf(2, 3, 8, 4)
    return [neural.scaled_dot_product_attention(q, q, leaf(2, 3, 8, 4), is_causal=True)]


GRAPHS = {
    "leaf": lambda: [leaf(3)],
    "scalar": lambda: [leaf() * 2.0 + 1],
    "infinities": lambda: [maximum(leaf(4), -math.inf) + math.inf, leaf(2) * math.nan],
    "casts": lambda: [cast(leaf(3), d) for d in ALL],
    "promotion": lambda: [leaf(3, dtype=float16) + leaf(3, dtype=int64)],
    "composites": lambda: [neural.softmax(leaf(4, 5), axis=0), activations.clip(leaf(3), min=-1.0)],
    "views": lambda: [
        m.pad(m.flip(leaf(4, 5).T, (1,)), [(1, 0), (0, 2)], 1.5).reshape(-1),
        m.slice_(leaf(9, 20), [(1, 9, 2), (3, 17, 3)]),
        m.concat([leaf(2, 3), leaf(2, 4)], axis=1),
        leaf(1, 3).expand(2, 3),
    ],
    "reductions": lambda: [leaf(2, 3, 4).sum((0, 2)), leaf(2, 3).max(1, keepdims=True)],
    "sources": lambda: [iota((3, 1), 0), full(3, type_of((2, 2), int64)), const(True, ALL[0])],
    "indices": lambda: [
        contract.gather(leaf(5, 3), leaf(4, 3, dtype=int64), axis=0),
        c.take(leaf(5, 3), leaf(2, 2, dtype=int64), axis=0),
    ],
    "named sizes": lambda: [
        m.reshape(leaf(Dim("rows", 3), 4), Dim("rows", 3), 2, 2),
        leaf(1, 4).expand(Dim("a, [b] # c; 'd': \"e\"=1", 3), 4),
        neural.softmax(leaf(Dim("x", 2), 3)).sum(0),
    ],
    "empty": lambda: [leaf(0, 3).sum(0)],
    "loss": loss,
    "attention": attention,
}  # fmt: skip


def without_memory(roots):
    """The structure of a graph; leaves without memory are numbered like other nodes."""
    parts = structure(roots)[0]
    return [(x.op, repr(x.arg), x.type) if isinstance(x, Call) else x for x in parts]


@pytest.mark.parametrize("name", GRAPHS)
def test_text_reads_back_as_the_same_graph(name):
    roots = GRAPHS[name]()
    for graph in (roots, simplify(roots)):
        text = graph_text(graph)
        again = parse_graph(text)
        assert graph_text(again) == text
        assert without_memory(again) == without_memory(graph)


def samples_of(op):
    """Calls of a row in the dtypes it takes, on leaves without memory where sizes allow it."""
    rng = np.random.default_rng(0)
    for kind in (float32, int64, bool_, uint32):
        for case in cases(op, kind, rng) if takes(op, kind) else ():
            try:
                made = case.record([leaf(*x.shape, dtype=dtype(x.dtype)) for x in case.operands])
            except ArgumentError:  # its size depends on values
                made = case.record([node_of(x) for x in case.operands])
            yield [made] if isinstance(made, Node) else list(made)


@pytest.mark.parametrize("name", public_rows())
def test_every_row_prints_and_reads_back(name):
    count = 0
    for roots in samples_of(public_rows()[name]):
        in_memory = any(map(is_realised, toposort(roots)))
        for graph in [roots] if in_memory else [roots, simplify(roots)]:
            text = graph_text(graph)
            again = parse_graph(text)
            assert graph_text(again) == text
            assert in_memory or without_memory(again) == without_memory(graph)
            count += 1
    assert count


def test_options_of_every_kind_read_back():
    odd = ("a # b; c : d", 'it\'s "quoted"', 1.5, math.inf, -math.nan, None, True, float16, -3)
    tree = ast.parse(literal(odd), mode="eval").body
    assert repr(_value(tree, 1)) == repr(odd)
    assert not set("#;:") & set(literal(odd))
    assert literal(np.float64(2.5)) == "2.5"


@given(st.data())
def test_random_graphs_read_back(data):
    nodes = [leaf(2, 3), leaf(3), leaf(2, 1, dtype=int64), leaf(2, 3, dtype=ALL[0])]
    steps = [
        lambda a, b: a + b, lambda a, b: a * 0.5 - b, lambda a, b: exp(a), lambda a, b: a < b,
        lambda a, b: where(a != b, a, b), lambda a, b: a.sum(-1, keepdims=True) + b,
        lambda a, b: neural.softmax(a * 1.0), lambda a, b: cast(a, data.draw(st.sampled_from(ALL))),
    ]  # fmt: skip
    for step in data.draw(st.lists(st.sampled_from(steps), min_size=1, max_size=12)):
        a, b = (data.draw(st.sampled_from(nodes)) for _ in range(2))
        try:
            nodes.append(step(a, b))
        except TypeError:  # some ops take no bool
            continue
    text = graph_text(nodes[-2:])
    assert without_memory(parse_graph(text)) == without_memory(nodes[-2:])


def test_softmax_prints_like_this(golden):
    x = leaf(4, 8)
    recorded = [neural.softmax(x * 2.0)]
    assert "\n\n".join([graph_text(recorded), graph_text(simplify(recorded))]) == golden


def test_lines_may_carry_remarks():
    (root,) = parse_graph("""
        %0 = leaf : f32[2]      # the user's input
        %7 = exp %0 : f32[2]
        roots %7
    """)
    assert root.op is exp


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("%0 = leaf f32[2]", "cannot read the line"),
        ("%0 = leaf : f32[2]; %1 = expp %0 : f32[2]", "no such op"),
        ("%1 = exp %0 : f32[2]", "not defined above"),
        ("%0 = leaf : f32[2]; %1 = exp %0 : f32[3]", r"exp gives f32\[2\]"),
        ("%0 = leaf : f32[2 3]", "not a size"),
        ("%0 = leaf : f32[2]; %1 = sum %0 __import__('os') : f32[]", "not a literal"),
    ],
)
def test_wrong_text_says_which_line(text, wrong):
    with pytest.raises(ArgumentError, match=wrong) as error:
        parse_graph(text)
    assert "line=" in str(error.value)
