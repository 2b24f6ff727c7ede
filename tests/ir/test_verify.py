"""Illegal graphs are caught, and named."""

from __future__ import annotations

import pytest

from treadle.base.device import device
from treadle.base.dtypes import float32
from treadle.base.errors import CompilerError
from treadle.ir.node import CONST, LEAF, Call, const, iota, new_node, placeholder, type_of
from treadle.ir.verify import PRIMITIVES, RECORDED, verify
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import neural
from treadle.ops.contract import matrix_product
from treadle.ops.reduce import sum_


def leaf(*shape, where="cpu"):
    return placeholder(type_of(shape, float32, device(where)))


def forged(op, operands, shape, arg=None, where="cpu"):
    """A node that says it has a shape, whatever its row says."""
    return new_node(Call(op, arg, type_of(shape, float32, device(where)), ()), operands)


x, y = leaf(3, 4), leaf(4, 5)
ILLEGAL = {
    "elementwise": forged(e.add, (x, x), (3, 5)),
    "reduce": forged(sum_, (x,), (3,), ((0,), False)),
    "reshape": forged(m.permute, (x,), (3, 4), (1, 0)),
    "product": forged(matrix_product, (x, y), (5, 3)),
    "concat": forged(m.concat, (x, x), (3, 4), 0),
    "source": forged(LEAF, (x,), (3, 4)),
    "constant": forged(CONST, (x,), (), 1.0),
    "device": forged(e.exp, (x,), (3, 4), None, "reference"),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_node_is_refused(name):
    with pytest.raises(CompilerError, match=str(ILLEGAL[name].op)):
        verify([ILLEGAL[name]], RECORDED, "test")


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_node_is_found_below_others(name):
    bad = ILLEGAL[name]
    above = forged(e.neg, (bad,), bad.shape, None, repr(bad.device))
    with pytest.raises(CompilerError, match=f"test: illegal {bad.op}"):
        verify([above], RECORDED, "test")


def test_message_names_the_stage_and_the_operands():
    with pytest.raises(CompilerError, match=r"passes: illegal add: .*operands=leaf f32\[3, 4\]"):
        verify([ILLEGAL["elementwise"]], RECORDED, "passes")


@pytest.mark.parametrize("root", [neural.softmax(x), e.detach(x)])
def test_primitives_hold_neither_composites_nor_detaches(root):
    verify([root], RECORDED, "test")
    with pytest.raises(CompilerError, match="is left"):
        verify([root], PRIMITIVES, "test")


def test_legal_graphs_pass():
    roots = [x + 1.0, matrix_product(x, y), sum_(x, axis=0), iota((3, 1), 0), const(2.0, float32)]
    verify(roots, PRIMITIVES, "test")
