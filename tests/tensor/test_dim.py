"""Named sizes: they survive ops, read as names in errors, and share kernels between values."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import jit
from treadle.base.errors import ShapeError


def test_a_dim_is_a_number_with_a_name():
    rows = td.Dim("rows", 3)
    assert rows == 3
    assert repr((rows, 4)) == "(rows=3, 4)"
    assert repr(pickle.loads(pickle.dumps(rows))) == repr(copy.copy(rows)) == "rows=3"
    with pytest.raises(ShapeError, match="negative"):
        td.Dim("rows", -1)


def test_names_survive_ops_and_broadcasting():
    rows = td.Dim("rows", 3)
    x = td.ones(rows, 4)
    assert repr((x * 2.0 + td.ones(4)).shape) == "(rows=3, 4)"
    assert repr((td.ones(4) + x).shape) == "(rows=3, 4)"
    assert repr(td.softmax(x).sum(axis=1).shape) == "(rows=3,)"
    assert repr(td.ones(1, 4).expand(rows, 4).shape) == "(rows=3, 4)"
    np.testing.assert_array_equal((x + x).numpy(), np.full((3, 4), 2.0))


def test_an_error_names_the_dim():
    with pytest.raises(ShapeError, match="rows=3"):
        td.ones(td.Dim("rows", 3), 4) + td.ones(5, 4)


def test_plain_sizes_do_not_take_over_a_name():
    td.ones(td.Dim("rows", 6), 4).realize()
    assert repr(td.ones(6, 4).shape) == "(6, 4)"


def test_another_value_of_a_dim_compiles_nothing(monkeypatch):
    step = td.compile(lambda x: td.softmax(td.tanh(x) * 1.5).sum(axis=0))
    step(td.ones(td.Dim("rows", 5), 7))
    monkeypatch.setattr(jit, "compile_object", lambda *_: pytest.fail("compiled again"))
    for rows in (3, 11, 20):
        x = td.ones(td.Dim("rows", rows), 7)
        expected = np.full(7, rows / 7)
        np.testing.assert_allclose(step(x).numpy(), expected, rtol=1e-6)
