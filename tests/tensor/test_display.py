"""Tensors print in terminals, debuggers and notebooks, whatever state they are in."""

from __future__ import annotations

import re
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

import treadle as td


def test_what_cannot_be_computed_prints_why():
    x = td.zeros(1 << 40, 1 << 20) + td.zeros(1 << 40, 1)
    assert re.fullmatch(r"tensor\(<pending add: .*memory.*>, shape=.*, dtype=float32\)", repr(x))
    assert x._repr_html_() is None


def test_traced_tensors_print_without_a_value():
    seen = []

    @td.compile
    def f(x):
        seen.extend([repr(x), repr(x + 1.0), f"{x}", x._repr_html_()])
        return x + 1.0

    f(td.ones(2, 3))
    assert seen[:3] == ["tensor(<traced>, shape=(2, 3), dtype=float32)"] * 3
    assert seen[3] is None


def test_another_thread_may_print_while_a_function_is_traced():
    pending, seen = td.tensor([1.0, 2.0]) * 2.0, []

    @td.compile
    def f(x):
        other = threading.Thread(target=lambda: seen.append(repr(pending)))
        other.start()
        other.join()
        return x + 1.0

    assert f(td.ones(2)).tolist() == [2.0, 2.0]
    assert seen == ["tensor([2., 4.])"]


def test_printing_follows_numpys_limits():
    x = td.arange(2000)
    assert "..." in repr(x)
    with np.printoptions(threshold=5000):
        assert "..." not in repr(x)
        assert repr(x).count(",") == 1999
    with np.printoptions(precision=2):
        assert repr(td.tensor([1.23456])) == "tensor([1.23])"


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e5m2"])
def test_narrow_floats_print_their_dtype(name):
    assert repr(td.tensor([1.5, 2.0], dtype=name)) == f"tensor([1.5, 2. ], dtype={name})"


# ---- notebooks


def parsed(x):
    """The HTML as a tree, and the colours of its cells or the points of its curves."""
    html = x._repr_html_()
    root = ElementTree.fromstring(html.replace("&nbsp;", " ").replace("<br>", "<br/>"))
    cells = [r.get("fill") for r in root.iter("{http://www.w3.org/2000/svg}rect")]
    lines = [r.get("points") for r in root.iter("{http://www.w3.org/2000/svg}polyline")]
    return "".join(root.itertext()), cells, lines


def test_notebooks_show_facts_and_statistics():
    text, cells, _ = parsed(td.tensor([[1.0, 2.0, float("nan")], [4.0, float("inf"), -1.0]]))
    for part in ("2 × 3", "float32", "cpu", "min -1", "max 4", "mean 1.5", "NaN 1", "inf 1"):
        assert part in text
    assert f"std {np.std([1.0, 2.0, 4.0, -1.0]):.4g}" in text
    assert len(cells) == 6


def test_colours_follow_the_values():
    _, cells, _ = parsed(td.tensor([[-2.0, 0.0, 2.0, float("nan")]]))
    low, middle, high, missing = cells
    red, blue = (lambda c: int(c[1:3], 16)), (lambda c: int(c[5:7], 16))
    assert blue(low) > red(low)
    assert red(high) > blue(high)
    assert abs(red(middle) - blue(middle)) < 10
    assert missing not in (low, middle, high)


def test_one_axis_is_a_curve_broken_where_nothing_is_finite():
    _, _, lines = parsed(td.tensor([0.0, 1.0, float("nan"), 2.0, 0.0]))
    assert len(lines) == 2
    heights = [float(point.split(",")[1]) for point in lines[0].split()]
    assert heights[0] > heights[1]  # SVG counts downwards


@pytest.mark.parametrize("name", [d.name for d in td.base.dtypes.ALL])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0), (500,), (100, 70), (2, 3, 4, 5)])
def test_every_dtype_and_shape_has_a_picture(name, shape):
    x = td.ones(shape, dtype=name)
    text, cells, lines = parsed(x)
    assert name in text
    assert len(cells) <= 24 * 24
    assert bool(cells or lines) == (len(shape) > 0 and x.size > 0)


def test_extreme_numbers_have_a_picture():
    for values in ([1e308, -1e308], [[1e308, -1e308]], [float("nan")] * 3, [[float("inf")]]):
        parsed(td.tensor(np.array(values)))
