"""A printed graph reads back as the same graph."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.autograd.backward import gradients
from treadle.base.dtypes import ALL, float16, float32, int64
from treadle.base.errors import ArgumentError
from treadle.ir.graph import structure
from treadle.ir.node import Call, const, full, iota, placeholder, type_of
from treadle.ir.parser import parse_graph
from treadle.ir.printer import graph_text
from treadle.ops import composite as c
from treadle.ops import contract, neural
from treadle.ops import movement as m
from treadle.ops.elementwise import cast, exp, maximum, where
from treadle.passes.pipeline import simplify


def leaf(*shape, dtype=float32):
    return placeholder(type_of(shape, dtype))


def loss():
    x, w = leaf(8, 16), leaf(10, 16)
    y = neural.cross_entropy(
        c.linear(c.gelu(neural.layer_norm(x), approximate="tanh"), w), leaf(8, dtype=int64)
    )
    return [y, *gradients([y], [x, w], [None])]


def attention():
    q = leaf(2, 3, 8, 4)
    return [neural.scaled_dot_product_attention(q, q, leaf(2, 3, 8, 4), causal=True)]


GRAPHS = {
    "leaf": lambda: [leaf(3)],
    "scalar": lambda: [leaf() * 2.0 + 1],
    "infinities": lambda: [maximum(leaf(4), -math.inf) + math.inf, leaf(2) * math.nan],
    "casts": lambda: [cast(leaf(3), d) for d in ALL],
    "promotion": lambda: [leaf(3, dtype=float16) + leaf(3, dtype=int64)],
    "composites": lambda: [neural.softmax(leaf(4, 5), axis=0), c.clip(leaf(3), low=-1.0)],
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
        c.take(leaf(5, 3), leaf(2, 2, dtype=int64)),
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
        ("%0 = leaf : f32[2]; %1 = sum %0 __import__('os') : f32[]", "not a literal"),
    ],
)
def test_wrong_text_says_which_line(text, wrong):
    with pytest.raises(ArgumentError, match=wrong) as error:
        parse_graph(text)
    assert "line=" in str(error.value)
