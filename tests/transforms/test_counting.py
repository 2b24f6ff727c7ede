"""Loops that count between numbers which tensors hold."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.base.errors import DtypeError, GradientError, ShapeError


@pytest.mark.parametrize("compiled", [False, True], ids=["lazily", "compiled"])
def test_fori_loop_between_tensors(compiled):
    def run(lower, upper, x):
        return td.fori_loop(lower, upper, lambda k, s: {"x": s["x"] * k}, {"x": x})["x"]

    call = td.compile(run) if compiled else run
    x = td.tensor([1.0, 2.0])
    for lower, upper, wanted in ((2, 5, [24.0, 48.0]), (5, 2, [1.0, 2.0]), (3, 4, [3.0, 6.0])):
        low, high = td.tensor(lower, dtype="int32"), td.tensor(upper)
        assert call(low, high, x).tolist() == wanted
        assert run(lower, high, x).tolist() == run(low, upper, x).tolist() == wanted


def test_fori_loop_between_tensors_says_what_it_cannot():
    x, two = td.tensor([1.0, 2.0]), td.tensor(2)
    for bad, error, said in (
        (td.tensor([2]), ShapeError, "fori_loop: upper is one number"),
        (td.tensor(2.0), DtypeError, "fori_loop: upper is an integer"),
    ):
        with pytest.raises(error, match=said):
            td.fori_loop(0, bad, lambda k, s: s, x)
    with pytest.raises(ShapeError, match="fori_loop"):
        td.fori_loop(0, two, lambda k, s: s.sum(), x)
    with pytest.raises(GradientError, match="fori_loop between ints"):
        td.grad(lambda x: td.fori_loop(0, two, lambda k, s: s * x, x).sum())(x)
    mapped = td.vmap(lambda n: td.fori_loop(0, n, lambda k, s: s + 2.0, td.tensor(1.0)))
    assert mapped(td.tensor([0, 3, 1])).tolist() == [1.0, 7.0, 3.0]
