"""Products in Gluon: run by threads of the host, and compiled for sm_90."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

import triton_host
from cuda_cases import normal
from triton.tools.disasm import get_sass
from triton_host import INTERPRETED, check, node_of, plan_of

from treadle.backends.cuda import finisher, gluon, gluon_tiles
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.program import Plan
from treadle.base.dtypes import bfloat16, float16, float32
from treadle.base.knobs import override
from treadle.base.sizes import unknown
from treadle.ir.node import placeholder, type_of
from treadle.ops import activations
from treadle.ops.elementwise import cast
from treadle.ops.movement import slice_
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
MARK = "warp_specialize"


def plan_for(make, *shapes, dtype=bfloat16, architecture=90):
    """Of a function of arrays of a dtype."""
    given = [placeholder(type_of(shape, dtype)) for shape in shapes]
    return Plan(simplify(make(*given)), given, {}, 132, architecture=architecture)


def texts(plan):
    return [x.source.text for x in plan.launches if MARK in x.source.text]


def slope(x):
    """Much that becomes of what was there before a product, or of a product itself."""
    t = activations.sigmoid(x * 1.5957691 * (1 + x * x * 0.044715))
    return t + x * t * (1 - t) * (1.5957691 + 0.2140644 * x * x)


def part(x, k):
    """One half of the rows of an array, or the other one."""
    rows = x.shape[0] // 2
    return slice_(x, [(k * rows, (k + 1) * rows, 1), (0, x.shape[1], 1)])


CASES = {
    "plain": (lambda a, b: [a @ b], (4096, 768), (768, 3072)),
    "left turned": (lambda a, b: [a.T @ b], (768, 4096), (768, 3072)),
    "right turned": (lambda a, b: [a @ b.T], (4096, 768), (3072, 768)),
    "both turned": (lambda a, b: [a.T @ b.T], (768, 4096), (3072, 768)),
    "edges": (lambda a, b: [a @ b], (4070, 776), (776, 3000)),
    "odd columns": (lambda a, b: [a @ b.T], (4070, 776), (3001, 776)),
    "odd columns and a row": (
        lambda a, b, c: [activations.gelu(a @ b.T + c, "tanh")], (4070, 776), (3001, 776), (3001,),
    ),
    "parts": (lambda a, b: [a.T @ b], (16384, 768), (16384, 3072)),
    "parts and edges": (lambda a, b: [a.T @ b], (16392, 760), (16392, 600)),
    "parts reduced": (
        lambda a, b, c: [
            y := activations.gelu(a.T @ b + c, "tanh"), sum_(y, axis=0), sum_(y * 0.125, axis=1),
        ],
        (16384, 768), (16384, 3072), (3072,),
    ),
    "a sum": (lambda a, b, c: [a @ b + c], (4096, 768), (768, 3072), (4096, 3072)),
    "a row": (lambda a, b, c: [a @ b + c], (4096, 768), (768, 3072), (3072,)),
    "parts and a row": (lambda a, b, c: [a.T @ b + c], (16384, 768), (16384, 768), (768,)),
    "both": (lambda a, b: [y := a @ b, activations.relu(y)], (4096, 768), (768, 3072)),
    "reduced": (
        lambda a, b: [sum_(y := activations.relu(a @ b), axis=0), sum_(y, axis=1)],
        (4070, 776), (776, 3000),
    ),
    "backward": (
        lambda a, b, x: [y := slope(x) * (a @ b), sum_(y, axis=0)],
        (16384, 768), (768, 3072), (16384, 3072),
    ),
    "with its slope": (
        lambda a, b, c: [activations.gelu(y := a @ b + c, "tanh"), slope(y)],
        (4096, 768), (768, 3072), (3072,),
    ),
    "a slope": (
        lambda a, b, x: [y := (a @ b) * x, sum_(y, axis=0)],
        (16384, 768), (768, 3072), (16384, 3072),
    ),
    "met twice": (
        lambda a, b, x: [(a @ b) * x + slice_(x, [(0, 1, 1), (0, x.shape[1], 1)])],
        (4096, 768), (768, 3072), (4096, 3072),
    ),
    "met at a corner": (
        lambda a, b, x: [(a @ b) * x + slice_(x, [(0, 1, 1), (0, 1, 1)])],
        (4096, 768), (768, 3072), (4096, 3072),
    ),
    "met in two parts": (
        lambda a, b, x: [(a @ b) * part(x, 0) + part(x, 1)],
        (4096, 768), (768, 3072), (8192, 3072),
    ),
    "long": (
        lambda a, b, c: [activations.gelu(a @ b + c, "tanh") * 2 + c],
        (4096, 768), (768, 3072), (3072,),
    ),
}  # fmt: skip
names = pytest.mark.parametrize("name", CASES)


SMALL = {
    "plain": ((128, 96), (96, 256)),
    "left turned": ((96, 128), (96, 256)),
    "right turned": ((128, 96), (256, 96)),
    "both turned": ((96, 256), (264, 96)),
    "edges": ((70, 200), (200, 296)),
    "odd columns": ((250, 72), (301, 72)),
    "parts": ((640, 128), (640, 256)),
    "parts reduced": ((640, 128), (640, 256), (256,)),
    "a sum": ((128, 64), (64, 520), (128, 520)),
    "a slope": ((250, 264), (264, 512), (250, 512)),
    "met twice": ((128, 72), (72, 512), (128, 512)),
    "met at a corner": ((128, 72), (72, 512), (128, 512)),
    "met in two parts": ((128, 72), (72, 512), (256, 512)),
    "a row": ((200, 64), (64, 264), (264,)),
    "both": ((128, 64), (64, 256)),
    "reduced": ((250, 64), (64, 296)),
}
"""Shapes of the cases for threads of the host: each way through the text."""


def roots_of(name, shapes, kind=np.float16):
    """A case, of random numbers."""
    rng = np.random.default_rng(0)
    return CASES[name][0](*[node_of(rng.standard_normal(x).astype(kind)) for x in shapes])


def divide(monkeypatch):
    """Small products too."""
    monkeypatch.setattr(gluon_tiles, "is_there", lambda: True)
    monkeypatch.setattr(gluon_tiles, "WASTE", 100)
    monkeypatch.setattr(gluon_tiles, "ENOUGH", 0.001)


@interpreted
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_run_by_threads(name, kind, monkeypatch):
    divide(monkeypatch)
    monkeypatch.setattr(gluon_tiles, "LEAVING", 0 if name == "parts" else 100)
    monkeypatch.setattr(gluon_tiles, "LEFT", 1 << 40)
    monkeypatch.setattr(gluon_tiles, "FEW", 0)
    with override(tf32=int(kind is np.float32)):
        roots = roots_of(name, SMALL[name], kind)
        plan, _ = plan_of(roots)
        assert len(texts(plan)) == 1
        assert ("work" in texts(plan)[0]) is (name == "parts")
        check(roots, 3e-3 if kind is np.float16 else 2e-5)


FINISHED = {
    "long": ((200, 64), (64, 256), (256,)),
    "with its slope": ((250, 72), (72, 768), (768,)),
    "both": ((640, 64), (64, 512)),
}


@interpreted
@pytest.mark.parametrize("name", FINISHED)
def test_finished_by_threads(name, monkeypatch):
    divide(monkeypatch)
    monkeypatch.setattr(gluon_tiles, "FEW", 0)
    monkeypatch.setattr(finisher, "DEPTH", 0)
    roots = roots_of(name, FINISHED[name])
    plan, _ = plan_of(roots)
    (text,) = texts(plan)
    assert "finish(" in text
    check(roots, 3e-3)


STAYING = {
    "plain": ((384, 72), (72, 512)),
    "a sum": ((384, 72), (72, 512), (384, 512)),
    "a slope": ((640, 200), (200, 512), (640, 512)),
    "with its slope": ((384, 72), (72, 768), (768,)),
}


@interpreted
@pytest.mark.parametrize("name", STAYING)
@pytest.mark.parametrize("processors", [1, 2])
def test_programs_go_from_tile_to_tile(name, processors, monkeypatch):
    """Rooms are filled again: not before what was in them has left, or has been used."""
    divide(monkeypatch)
    monkeypatch.setattr(triton_host, "PROCESSORS", processors)
    for limit in (gluon_tiles, "FEW"), (finisher, "DEPTH"):
        monkeypatch.setattr(*limit, 0)
    roots = roots_of(name, STAYING[name])
    plan, _ = plan_of(roots)
    (launch,) = [x for x in plan.launches if MARK in x.source.text]
    assert launch.grid == (processors, 1)
    assert ("met" in launch.source.text) is (name in ("a sum", "a slope"))
    check(roots, 3e-3)


DEALT = [
    "left turned",
    "edges",
    "odd columns",
    "parts",
    "parts reduced",
    "a row",
    "both",
    "reduced",
]


@interpreted
@pytest.mark.parametrize("name", DEALT)
@pytest.mark.parametrize("processors", [1, 3, 7, 20, 132])
def test_dealt_to_programs(name, processors, monkeypatch):
    """Programs of a tile and more, of several to a tile, and of nothing at all."""
    divide(monkeypatch)
    monkeypatch.setattr(triton_host, "PROCESSORS", processors)
    for limit, value in {"HANDED": -1000, "FEW": 1000}.items():
        monkeypatch.setattr(gluon_tiles, limit, value)
    roots = roots_of(name, SMALL[name])
    plan, _ = plan_of(roots)
    (launch,) = [x for x in plan.launches if MARK in x.source.text]
    assert launch.grid == (processors, 1)
    assert "atomic_add" in launch.source.text
    check(roots, 3e-3)


def joined_heads(x):
    """(batch, heads, length, width) as lines of all heads side by side."""
    batch, heads, length, width = x.shape
    return x.permute(0, 2, 1, 3).reshape((batch * length, heads * width))


HEADS = {
    "side by side": (lambda a, b: [joined_heads(a) @ b], (256, 256)),
    "added up": (lambda a, b: [joined_heads(a).T @ b], (256, 256)),
    "added up, and a row": (
        lambda a, b: [y := joined_heads(a).T @ b + 1.0, sum_(y, axis=0)], (256, 256),
    ),
    "long": (lambda a, b: [activations.gelu(joined_heads(a) @ b, "tanh") * 2], (256, 512)),
}  # fmt: skip


@interpreted
@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("even", [False, True])
def test_heads_are_brought_where_they_lie(name, even, monkeypatch):
    divide(monkeypatch)
    for limit, value in {"HANDED": -1000, "FEW": 1000}.items() if even else ():
        monkeypatch.setattr(gluon_tiles, limit, value)
    monkeypatch.setattr(finisher, "DEPTH", 0)
    make, shape = HEADS[name]
    roots = make(normal(2, 4, 128, 64, kind=np.float16), normal(*shape, kind=np.float16))
    plan, _ = plan_of(roots)
    (text,) = texts(plan)
    assert "// 128" in text
    assert "finish(" not in text or name == "long"
    check(roots, 3e-3)


UNREADABLE = {
    "odd lines": lambda y: y,
    "between": lambda y: slice_(y, [(0, 256, 1), (1, 129, 1)]),
    "every second": lambda y: slice_(y, [(0, 256, 1), (0, 130, 2)]),
    "repeated": lambda y: slice_(y, [(0, 256, 1), (0, 1, 1)]).expand((256, 128)),
    "converted": lambda y: cast(cast(y, float32), float16),
}


@interpreted
@pytest.mark.parametrize("name", UNREADABLE)
def test_heads_times_what_cannot_be_brought(name, monkeypatch):
    """Where one operand is read by the copy engine, the other one has to be as well."""
    divide(monkeypatch)
    heads = normal(2, 4, 128, 64, kind=np.float16)
    other = UNREADABLE[name](normal(256, 130, kind=np.float16))
    for roots in ([joined_heads(heads) @ other], [other.T @ joined_heads(heads).T]):
        check(roots, 3e-3)


@compiled
def test_heads_compiled():
    for make, shape in (
        (HEADS["side by side"][0], (768, 768)),
        (HEADS["added up"][0], (8192, 768)),
    ):
        plan = plan_for(make, (8, 12, 1024, 64), shape)
        (text,) = texts(plan)
        assert "// 1024" in text
        for launch in plan.launches:
            assert "STL" not in get_sass(code_of(launch.source, 90).cubin)
    narrow = plan_for(HEADS["added up"][0], (8, 24, 1024, 32), (8192, 768))
    assert not texts(narrow)  # blocks would reach over heads


@compiled
@names
def test_compiled(name):
    plan = plan_for(*CASES[name])
    assert len(texts(plan)) == 1
    for launch in plan.launches:
        code = code_of(launch.source, 90)
        assert code.shared <= 227 << 10
        if MARK in launch.source.text:
            found = get_sass(code.cubin)
            assert found.count("HGMMA") >= 8
            assert found.count("WARPGROUP.DEPBAR") <= found.count("HGMMA") // 2
            assert "STL" not in found  # all fits into registers


@compiled
def test_much_becomes_of_tiles_beside_the_next_ones():
    for name in ("long", "both", "with its slope"):
        found = texts(plan_for(*CASES[name]))
        assert "finish(" in found[0], name
    for name in ("plain", "a row", "parts and a row", "backward", "a slope", "reduced"):
        assert "finish(" not in texts(plan_for(*CASES[name]))[0]
    assert "came" in texts(plan_for(*CASES["a slope"]))[0]  # what tiles meet is brought
    make, *_ = CASES["long"]
    assert not texts(plan_for(make, (4096, 768), (768, 3000), (3000,)))[0].count("finish(")
    shallow = plan_for(make, (4096, 256), (256, 3072), (3072,))
    assert not any("finish(" in text for text in texts(shallow))


SINGLES = [
    "plain",
    "left turned",
    "right turned",
    "edges",
    "odd columns",
    "parts",
    "a sum",
    "a slope",
    "reduced",
    "long",
]


@compiled
@pytest.mark.parametrize("name", SINGLES)
def test_singles_by_tensor_cores_compiled(name):
    with override(tf32=1):
        plan = plan_for(*CASES[name], dtype=float32)
    assert len(texts(plan)) == 1
    for launch in plan.launches:
        code = code_of(launch.source, 90)
        assert code.shared <= 227 << 10
        if MARK in launch.source.text:
            assert "STL" not in get_sass(code.cubin)
    assert not texts(plan_for(*CASES[name], dtype=float32))


@compiled
def test_a_depth_that_is_not_known_decides_nothing_that_it_must_not():
    depth = unknown("depth", 2, 16384)
    plan = plan_for(
        lambda a, b, c: [activations.relu(a.T @ b + c)], (depth, 768), (depth, 3072), (768, 3072)
    )
    assert texts(plan)


@compiled
def test_half_precision_is_divided_too():
    assert texts(plan_for(*CASES["plain"], dtype=float16))


@compiled
@pytest.mark.parametrize("architecture", [80, 100])
def test_other_devices_have_other_forms(architecture):
    assert not texts(plan_for(*CASES["plain"], architecture=architecture))


@compiled
def test_what_is_small_or_batched_is_streamed():
    assert not texts(plan_for(lambda a, b: [a @ b], (1024, 1024), (1024, 1024)))
    assert not texts(plan_for(lambda a, b: [a @ b], (16, 4096), (4096, 4096)))
    assert not texts(plan_for(lambda a, b: [a @ b], (4, 4096, 768), (4, 768, 3072)))
    assert not texts(plan_for(lambda a, b: [a @ b], (4096, 768), (768, 3001)))


@compiled
def test_parts_where_whole_tiles_leave_processors_idle(monkeypatch):
    assert "atomic_add" in texts(plan_for(*CASES["parts"]))[0]
    assert len(plan_for(*CASES["parts"]).launches) == 1
    for launch in parts_in_memory(monkeypatch):
        assert code_of(launch.source, 90).shared <= 227 << 10
    assert "span" not in texts(plan_for(*CASES["plain"]))[0]


def parts_in_memory(monkeypatch):
    """Launches where steps are not dealt: as it is with a size that nobody knows yet."""
    monkeypatch.setattr(gluon_tiles, "FEW", 0)
    plan = plan_for(*CASES["parts"])
    assert "span" in texts(plan)[0]
    assert len(plan.launches) == 2
    return plan.launches


def test_without_gluon_products_are_streamed(monkeypatch):
    monkeypatch.setattr(gluon_tiles, "is_there", lambda: False)
    assert not texts(plan_for(*CASES["plain"]))
    if INTERPRETED:
        assert not gluon.is_there()


def test_pieces():
    def pieces(m, n, k):
        return gluon_tiles.chosen(gluon_tiles.tiles_of(bfloat16), m, n, k, 132)[1]

    for m, n, k in ((768, 3072, 16384), (3072, 768, 16384), (2560, 2560, 8192)):
        assert pieces(m, n, k) == gluon_tiles.EVENLY
    assert pieces(768, 2304, 16384) == 1  # 108 narrow tiles, which have more of memory each
    assert pieces(768, 768, 16384) > 1  # parts would be as many as tiles
    depth = unknown("depth", 1, 16384)
    assert pieces(768, 3072, depth) == 3  # 72 tiles: whole ones leave half of all idle
    assert pieces(768, 768, depth) > 1
    assert pieces(16384, 768, 3072) == 1
    assert pieces(8192, 8192, 8192) == 1
    assert pieces(2048, 2048, 768) == 1  # it is over before pieces are added up
