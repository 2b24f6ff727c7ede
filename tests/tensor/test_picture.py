"""Pictures of graphs: well-formed, complete, apart, and saved whole."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle.base.errors import OperandError
from treadle.tensor import picture
from treadle.tensor.cards import GAP, Card, place_cards
from treadle.tensor.picture import draw, graph

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*tensors):
    return ET.fromstring(draw(list(tensors)).svg)


def words(tree):
    return [text.text for text in tree.iter(f"{SVG}text")]


def layer_of_attention():
    x, w = (td.tensor(np.ones((4, 4), np.float32)) for _ in range(2))
    return td.softmax(td.matmul(x, w) * 0.5, axis=-1).sum(axis=0)


def test_every_op_is_named_with_its_type():
    said = words(drawn(layer_of_attention()))
    assert {"matmul", "mul (·, 0.5)", "softmax", "sum"} <= set(said)
    assert said.count("f32[4, 4]") == 5
    assert "f32[4]" in said
    assert "axis=-1" in said


def test_values_in_memory_show_a_few_elements():
    assert "[0 1 2 3 …]" in words(drawn(td.tensor(np.arange(100)) + 1))
    assert "[1.5 2 3]" in words(drawn(td.tensor([1.5, 2.0, 3.0]) + 1))


@pytest.mark.parametrize("kind", [td.bool, td.int8, td.bfloat16, td.float16, td.float64])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_values_of_every_kind_are_shown(kind, shape):
    x = td.ones(shape, dtype=kind)
    x.realize()
    assert drawn(x) is not None


def test_nothing_is_computed_for_a_picture():
    y = td.exp(td.tensor([1.0, 2.0]))
    draw(y)
    assert y._node.buffer is None


def test_letters_with_a_meaning_in_svg_are_escaped():
    x = td.tensor([1.0]) < td.tensor([2.0])
    rows = td.ones((td.Dim("a<b>&c", 2),))
    assert drawn(x, rows.reshape(td.Dim("a<b>&c", 2), 1)) is not None


def test_one_arrow_for_each_operand_that_is_drawn():
    x = td.tensor([1.0, 2.0])
    y = td.exp(x)
    tree = drawn(y * y + x)
    arrows = [p for p in tree.iter(f"{SVG}path") if p.get("marker-end")]
    assert len(arrows) == 4  # x to exp, exp to mul (once), mul and x to add


def test_roots_stand_out():
    x = td.tensor([1.0])
    tree = drawn(td.exp(x), td.sin(x))
    assert sum(r.get("stroke-width") == "2.4" for r in tree.iter(f"{SVG}rect")) == 2


def test_saved_pictures_are_whole(tmp_path):
    y = layer_of_attention()
    shown = draw(y, tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text("utf-8") == shown.svg
    shown.save(tmp_path / "graph.html")
    assert shown.svg in (tmp_path / "graph.html").read_text("utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.html", "graph.svg"]
    assert shown.svg in shown._repr_html_()
    assert shown._repr_svg_() == shown.svg


def test_a_failed_save_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no room")

    monkeypatch.setattr(picture.os, "replace", refuse)
    with pytest.raises(OSError, match="no room"):
        draw(layer_of_attention(), tmp_path / "graph.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [3, [3], ["x"]])
def test_what_is_no_tensor_is_refused(wrong):
    for function in (draw, graph):
        with pytest.raises((OperandError, TypeError)):
            function(wrong)


def test_the_text_reads_back():
    text = graph(layer_of_attention())
    assert text.splitlines()[-1].startswith("roots")
    assert "softmax" in text


def test_three_hundred_nodes_are_drawn():
    x = td.tensor(np.ones((3, 4), np.float32))
    y = x
    for k in range(80):
        y = td.exp(y) * (x + k) + y
    svg = draw(y).svg
    assert svg.count("<rect") > 300
    assert len(svg) < 400_000


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_boxes_never_overlap_and_arrows_point_down(data):
    count = data.draw(st.integers(1, 25))
    boxes = [
        Card(data.draw(st.floats(10, 200)), data.draw(st.floats(10, 60))) for _ in range(count)
    ]
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    wanted = data.draw(st.lists(pairs, max_size=40)) if count > 1 else []
    edges = [(boxes[a], boxes[b]) for a, b in sorted(set(wanted)) if a < b]
    lines = place_cards(boxes, edges, 30.0)
    for line, (a, b) in zip(lines, edges, strict=True):
        assert (line[0], line[-1]) == (a, b)
        assert [box.layer for box in line] == list(range(a.layer, b.layer + 1))
    every = {*boxes, *(place for line in lines for place in line)}
    for box in every:
        for other in every:
            if box is not other and box.layer == other.layer:
                apart = abs(box.x - other.x) - (box.width + other.width) / 2
                assert apart > GAP - 1e-6
            if box.layer < other.layer:
                assert box.y + box.height <= other.y
