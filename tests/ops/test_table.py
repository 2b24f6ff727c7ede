"""Rows as such: names are taken once, options stand for other rows, surplus is refused."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError
from treadle.ir.node import Node
from treadle.ops.composite import composite
from treadle.ops.defs import TABLE
from treadle.ops.movement import reshape
from treadle.ops.picking import clone


@pytest.mark.parametrize(("name", "aliases"), [("exp", ()), ("cat", ()), ("mine", ("cat",))])
def test_a_name_or_alias_is_taken_once(name, aliases):
    def define(x, /):
        return x

    define.__name__ = name
    before = dict(TABLE)
    with pytest.raises(ArgumentError, match="has this name"):
        composite(aliases=aliases)(define)
    assert before == TABLE


def test_a_row_taken_out_leaves_its_name():
    def taken_out(x, /):
        return x

    try:
        composite(aliases=("also_taken_out",))(taken_out)
        del TABLE["taken_out"]
        composite(aliases=("also_taken_out",))(taken_out)
    finally:
        TABLE.pop("taken_out", None)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_totals_in_a_dtype_are_those_of_numpy(name):
    x = np.arange(1, 7, dtype=np.int16).reshape(2, 3)
    for kind in ("int8", "int16", "uint32", "float32", "float64"):
        for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}):
            found = TABLE[name](td.tensor(x), **options, dtype=kind).numpy()
            wanted = getattr(np, name)(x, **options, dtype=kind)
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype


def test_surplus_arguments_are_refused():
    x = td.ones(2, 3)
    with pytest.raises(TypeError, match=r"sum\(\)"):
        TABLE["sum"](x, 0, False, None, "surplus")
    with pytest.raises(TypeError, match=r"pad\(\)"):
        TABLE["pad"](x, [(0, 0), (0, 0)], 0, "reflect", "surplus")


def test_clone_is_the_same_thing_everywhere():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    for copy in (x.clone(), td.clone(x)):
        assert copy._node.op is reshape
        assert copy._node.operands == (x._node,)
        (copy * copy).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    assert isinstance(clone(x._node), Node)
