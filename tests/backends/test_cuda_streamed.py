"""Products that a copy engine feeds: interpreted against the reference, compiled for sm_90."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import normal
from triton.tools.disasm import get_sass
from triton_host import INTERPRETED, check, plan_of

from treadle.backends.cuda import forms, matmul, streamed
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.program import Plan
from treadle.base.dtypes import bfloat16
from treadle.base.knobs import override
from treadle.ir.node import placeholder, type_of
from treadle.ops import activations
from treadle.ops.movement import slice_
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
BF, HALF = ml_dtypes.bfloat16, np.float16


def n(*shape, kind=HALF):
    return normal(*shape, kind=kind)


CASES = {
    "plain": lambda: [n(72, 64) @ n(64, 80)],
    "bfloat": lambda: [n(72, 64, kind=BF) @ n(64, 80, kind=BF)],
    "left transposed": lambda: [n(64, 72).T @ n(64, 80)],
    "right transposed": lambda: [n(72, 64) @ n(80, 64).T],
    "both transposed": lambda: [n(64, 72).T @ n(80, 64).T],
    "few rows": lambda: [n(5, 256) @ n(256, 128), n(5, 256) @ n(128, 256).T],
    "few columns": lambda: [n(136, 256) @ n(256, 8)],
    "depth beyond blocks": lambda: [n(72, 136) @ n(136, 80)],
    "columns that lie apart": lambda: [n(40, 64) @ n(64, 33)],
    "batches": lambda: [n(3, 24, 64) @ n(3, 64, 40)],
    "shared right": lambda: [n(2, 3, 24, 64) @ n(3, 64, 40), n(2, 24, 64) @ n(64, 40)],
    "many tiles": lambda: [n(300, 16, 16) @ n(300, 16, 24)],
    "epilogue": lambda: [activations.gelu(n(72, 64) @ n(64, 80) + n(80))],
    "reduced": lambda: [sum_(activations.relu(n(72, 64) @ n(64, 80)), axis=0)],
    "pieces": lambda: [n(72, 2048) @ n(2048, 80)],
    "pieces and an epilogue": lambda: [activations.gelu(n(72, 2048) @ n(2048, 80) + n(80))],
    "long epilogue in slices": lambda: [
        y := activations.gelu(n(264, 64) @ n(64, 520) + n(520)) * n(264, 520),
        sum_(y, axis=0),
        sum_(activations.gelu(n(264, 64) @ n(64, 520)), axis=1),
    ],
    "slices": lambda: [
        slice_(n(72, 128), [(8, 64, 1), (64, 128, 1)])
        @ slice_(n(64, 96), [(0, 64, 1), (16, 80, 1)])
    ],
}
names = pytest.mark.parametrize("name", CASES)


@interpreted
@names
def test_interpreted(name):
    check(CASES[name](), 2e-2 if name == "bfloat" else 3e-3)


@compiled
@names
def test_compiled(name):
    plan, _ = plan_of(CASES[name]())
    for launch in plan.launches:
        assert code_of(launch.source, 90).shared <= 227 << 10


@compiled
@pytest.mark.parametrize("name", ["bfloat", "pieces"])
def test_compiled_for_sm_100(name):
    plan, _ = plan_of(CASES[name](), architecture=100)
    for launch in plan.launches:
        assert code_of(launch.source, 100).shared <= 227 << 10


@interpreted
def test_slices_of_large_tiles_interpreted(monkeypatch):
    monkeypatch.setattr(streamed, "TILES", streamed.TILES[:1])
    roots = CASES["long epilogue in slices"]()
    plan, _ = plan_of(roots)
    assert sum("split()" in launch.source.text for launch in plan.launches) == 2
    check(roots, 3e-3)


def test_operands_are_brought_where_they_lie_in_lines():
    for name, build in CASES.items():
        plan, _ = plan_of(build())
        brought = any("tensordesc" in kind for x in plan.launches for _, kind in x.source.types)
        assert brought is (name != "columns that lie apart"), name


def test_few_tiles_are_cut_along_their_depth():
    plan, _ = plan_of(CASES["pieces"]())
    cut = [dict(x.source.types) for x in plan.launches if "finished" in dict(x.source.types)]
    assert len(cut) == 1
    plan, _ = plan_of([n(4096, 1024) @ n(1024, 4096)])
    assert "finished" not in dict(plan.launches[-1].source.types)


def test_older_devices_read_by_pointers():
    plan, _ = plan_of(CASES["plain"](), architecture=80)
    assert not any("tensordesc" in kind for x in plan.launches for _, kind in x.source.types)


def singles():
    """Float32 by tensor cores: each way to lie, and lines that end anywhere."""
    f = np.float32
    return [
        n(72, 64, kind=f) @ n(64, 80, kind=f), n(64, 72, kind=f).T @ n(64, 80, kind=f),
        n(72, 64, kind=f) @ n(80, 64, kind=f).T, n(37, 21, kind=f).T @ n(37, 50, kind=f),
        n(3, 24, 64, kind=f) @ n(64, 40, kind=f),
    ]  # fmt: skip


@interpreted
def test_quick_singles_interpreted():
    with override(tf32=1):
        check(singles(), 2e-6)  # which the interpreter does not round


@compiled
def test_quick_singles_compiled():
    with override(tf32=1):
        plan, _ = plan_of(singles())
    texts = [launch.source.text for launch in plan.launches]
    assert sum("pitch" in text for text in texts) >= 4
    assert any('"tf32"' in text and "tl.num_programs" in text for text in texts)
    for launch in plan.launches:
        assert code_of(launch.source, 90).shared <= 227 << 10


@pytest.mark.parametrize("batch", [(), (2,)], ids=["plain", "batch"])
def test_large_tiles_of_singles_leave_in_parts(monkeypatch, batch):
    monkeypatch.setattr(streamed, "QUICK", streamed.QUICK[:1])
    f = np.float32
    product = n(*batch, 136, 64, kind=f) @ n(264, 64, kind=f).T
    with override(tf32=1):
        plan, _ = plan_of([product])
        (launch,) = plan.launches
        assert launch.source.text.count("c.store(") == 4
        if INTERPRETED:
            check([product], 2e-6)
        else:
            assert code_of(launch.source, 90).shared <= 227 << 10


@compiled
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"], ids=lambda text: text or "none")
def test_tensor_cores_are_not_waited_for_one_by_one(transposed):
    """Where the assembler cannot tell, it waits after each of them, and a fifth of the speed goes.

    In the loop there is one wait for the four that a step along k is made of.
    """
    a, b = (placeholder(type_of((4096, 4096), bfloat16)) for _ in "ab")
    product = (a.T if "a" in transposed else a) @ (b.T if "b" in transposed else b)
    plan = Plan(simplify([product]), [a, b], {}, 132)
    (launch,) = plan.launches
    text = get_sass(code_of(launch.source, 90).cubin)
    products, waits = text.count("HGMMA"), text.count("WARPGROUP.DEPBAR")
    assert products >= 4
    assert waits <= products // 2


def test_counters_are_there_from_the_first_run_on():
    """Nobody clears them: who comes last leaves them as they were. Bodies of loops clear theirs."""
    plan, _ = plan_of(CASES["pieces"]())
    assert len(plan.launches) == 1
    assert plan.counted == 16 * -(-sum(plan.lasting.values()) // 16)
    inner = Plan(plan.roots, plan.leaves, {}, 132, within=0)
    assert len(inner.launches) == 2
    assert not inner.lasting


def beside_a_part(m, depth, columns, kind, *, batch=()):
    """A product that meets the end of a tensor of more elements than 32 bits count."""
    rows = (1 << 31) // columns + m
    sides = (*batch, m, depth), (*batch, depth, columns), (rows, columns)
    a, b, far = (placeholder(type_of(shape, kind)) for shape in sides)
    part = slice_(far, [(rows - m, rows, 1), (0, columns, 1)])
    return Plan(simplify([a @ b - part]), [a, b, far], {}, 132, architecture=90)


@compiled
@pytest.mark.parametrize("shape", [(1024, 1024, 1024), (4096, 4096, 4096), (256, 8192, 256),
                                   (2048, 16384, 512)])  # fmt: skip
def test_what_meets_a_tile_may_lie_far(shape):
    for launch in beside_a_part(*shape, bfloat16).launches:
        assert code_of(launch.source, 90).cubin


@compiled
def test_what_meets_tiles_of_batches_may_lie_far():
    (launch,) = beside_a_part(256, 128, 256, bfloat16, batch=(8,)).launches
    assert "i64" in dict(launch.source.types).values()
    assert code_of(launch.source, 90).cubin


@interpreted
@pytest.mark.parametrize("name", ["epilogue", "batches", "pieces and an epilogue"])
def test_far_places_interpreted(name, monkeypatch):
    monkeypatch.setattr(forms, "INDEX_LIMIT", 1)
    monkeypatch.setattr(matmul, "INDEX_LIMIT", 1)
    check(CASES[name](), 3e-3)
