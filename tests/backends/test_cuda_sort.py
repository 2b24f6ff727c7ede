"""Sorts on GPUs: interpreted against the reference, compiled for several devices."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

import triton_host
from triton_host import INTERPRETED, check, node_of, plan_of, run_interpreted

from treadle.backends.cuda import counted, digits, network, sort
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.program import Plan
from treadle.base.dtypes import dtype
from treadle.ir.node import placeholder, type_of
from treadle.ops import ordering
from treadle.ops.scan import argsort
from treadle.passes.pipeline import simplify

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
KINDS = [
    np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int8,
    np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.bool_,
]  # fmt: skip
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)


def values(kind, *shape):
    """Numbers of which some are equal, and for floats all that are special."""
    rng = np.random.default_rng(len(shape))
    found = rng.integers(-40, 40, shape).astype(np.float64)
    if np.dtype(kind).kind in "ui":
        info = np.iinfo(kind)
        found = rng.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
        found[rng.random(shape) < 0.3] = 7
    elif kind is not np.bool_:
        special = [np.nan, -np.nan, 0.0, -0.0, 1e-3, *([] if found.size < 9 else [np.inf, -np.inf])]
        found = np.where(rng.random(shape) < 0.2, rng.choice(special, shape), found * 0.37)
    return node_of(found.astype(kind))


def roots(kind):
    """Each way, along each axis."""
    return [
        argsort(values(kind, 3, 37), axis=1), argsort(values(kind, 37, 3), axis=0),
        argsort(values(kind, 2, 9, 5), axis=1, descending=True), argsort(values(kind, 1), axis=0),
        argsort(values(kind, 40), axis=0, descending=True), argsort(values(kind, 0, 3), axis=0),
    ]  # fmt: skip


@pytest.fixture
def small(monkeypatch):
    """Blocks so small that several of them meet, and nothing sorted by counting."""
    monkeypatch.setattr(digits, "BLOCKS", dict.fromkeys(digits.BLOCKS, (256, 2, 1)))
    monkeypatch.setattr(sort, "PROGRAMS", 1)
    monkeypatch.setattr(sort, "TURNS", 2)
    uncounted(monkeypatch)
    monkeypatch.setattr(network, "LONG", 0)


def uncounted(monkeypatch):
    """Nothing is sorted by counting."""
    for name in ("SHORT", "FEW"):
        monkeypatch.setattr(counted, name, 0)


def run(root):
    """What the interpreter makes of a root."""
    plan, leaves = plan_of([root])
    (found,) = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    return found


def in_order(x, axis, descending):
    """Elements as NumPy sorts them, stably."""
    wide = x if x.dtype.kind in "iub" else x.astype(np.float64)
    order = argsort.reference(np, wide, axis, descending)
    return np.take_along_axis(x, order, axis)


def equal(found, expected):
    """To the last bit, but for NaN."""
    nan = np.isnan(expected.astype(np.float64))
    same = found[~nan].tobytes() == expected[~nan].tobytes()
    return same and np.isnan(found[nan].astype(np.float64)).all()


@interpreted
@kinds
def test_short_lines_interpreted(kind):
    check(roots(kind), 0.0)
    x = values(kind, 9, 37)
    assert equal(run(ordering.sort(x, axis=1)), in_order(x.buffer, 1, False))


@interpreted
@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8, np.uint32, np.bool_], ids=str)
def test_networks_interpreted(kind, monkeypatch):
    uncounted(monkeypatch)
    monkeypatch.setattr(network, "TILE", 64)
    x, y = values(kind, 3, 20), values(kind, 2, 9, 3)
    roots = [argsort(x, axis=1), argsort(y, axis=1, descending=True)]
    assert [launch.grid for launch in plan_of(roots)[0].launches] == [(2, 1), (2, 1)]
    check(roots, 0.0)
    for way in (False, True):
        assert equal(run(ordering.sort(x, axis=1, descending=way)), in_order(x.buffer, 1, way))


@interpreted
@pytest.mark.usefixtures("small")
@kinds
def test_digits_interpreted(kind):
    x = values(kind, 1100)
    check([argsort(x, descending=kind is np.int16)], 0.0)
    assert equal(run(ordering.sort(x, descending=kind is np.int8)),
                 in_order(x.buffer, 0, kind is np.int8))  # fmt: skip


@interpreted
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "shape", [(1, 1500), (3, 512), (513, 2), (2, 530, 2), (3, 100), (1, 1)], ids=str
)
@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
def test_blocks_interpreted(shape, descending):
    x, axis = values(np.float16, *shape), int(shape[0] < shape[1])
    check([argsort(x, axis=axis, descending=descending)], 0.0)
    found = run(ordering.sort(x, axis=axis, descending=descending))
    assert equal(found, in_order(x.buffer, axis, descending))


@interpreted
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("turns", [range(8), range(7, -1, -1)], ids=["up", "down"])
@pytest.mark.parametrize("kind", [np.float16, np.int64], ids=["packed", "beside"])
def test_warps_wait_for_each_other(monkeypatch, turns, kind):
    run_all = triton_host.run_blocks
    monkeypatch.setattr(triton_host, "run_blocks", partial(run_all, turns=turns, backwards=False))
    x = values(kind, 1100)
    check([argsort(x)], 0.0)
    assert equal(run(ordering.sort(x)), in_order(x.buffer, 0, False))


@interpreted
@pytest.mark.usefixtures("small")
def test_many_elements_are_counted_in_words_of_64_bits(monkeypatch):
    monkeypatch.setattr(digits, "MOST", 0)
    check([argsort(values(np.float16, 2, 1100), axis=1)], 0.0)


def test_blocks_are_as_large_as_lines_need():
    kinds = [digits.kind_of(dtype("int64"), False, True, False, n) for n in (200, 2560, 5120, 5121)]
    assert [(k.threads, k.held, k.many) for k in kinds] == [
        (256, 1, False), (256, 10, False), (512, 10, False), (512, 10, True),
    ]  # fmt: skip


@compiled
def test_very_many_elements_compiled():
    for kind, n in ((np.uint8, (1 << 31) + 5), (np.float16, 1 << 29)):
        x = placeholder(type_of((n,), dtype(np.dtype(kind).name)))
        plan = Plan(simplify([argsort(x, axis=0)]), [x], {}, 132)
        for source in {launch.source for launch in plan.launches}:
            assert code_of(source, 90).cubin


@interpreted
def test_zeros_stay_in_order(small):
    signs = np.random.default_rng(0).choice([0.0, -0.0, 1.0], 1100).astype(np.float16)
    for descending in (False, True):
        found = run(ordering.sort(node_of(signs), descending=descending))
        assert equal(found, in_order(signs, 0, descending))


@interpreted
def test_many_short_lines_share_a_program(monkeypatch):
    monkeypatch.setattr(counted, "TILE", 1024)
    x = values(np.float32, 70, 5)
    plan, _ = plan_of([argsort(x, axis=1)])
    assert [launch.grid for launch in plan.launches] == [(5, 1)]  # 16 lines of 8 times 8
    check([argsort(x, axis=1), argsort(values(np.int8, 3, 5, 7), axis=1)], 0.0)


@interpreted
@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
def test_few_longer_lines_are_counted_part_by_part(monkeypatch, descending):
    monkeypatch.setattr(counted, "TILE", 256)
    x = values(np.float32, 2, 200)
    plan, _ = plan_of([argsort(x, axis=1)])
    assert [launch.grid for launch in plan.launches] == [(2 * 25, 1)]
    check([argsort(x, axis=1, descending=descending)], 0.0)


def test_elements_are_sorted_without_indices_nobody_wants():
    x = values(np.float32, 50000)
    alone, _ = plan_of([ordering.sort(x)])
    both, _ = plan_of([ordering.sort(x), argsort(x)])
    assert len(alone.launches) == 2 + 4  # one clears, one counts
    assert len(both.launches) == 2 + 4 + 1  # elements are gathered
    assert [x.dtype.name for x in alone.roots] == ["float32"]


def test_few_short_lines_are_sorted_by_one_kernel():
    assert counted.is_counted(1, 4096)
    assert counted.is_counted(1 << 20, 128)
    assert not counted.is_counted(1, 4097)
    assert not counted.is_counted(1000, 1000)


@compiled
@kinds
def test_compiled(kind):
    plan, _ = plan_of([argsort(values(kind, 50000)), *roots(kind)[:1],
                       ordering.sort(values(kind, 3, 5000, 2), axis=1)])  # fmt: skip
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin


@compiled
@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_assembled_for_every_device(architecture):
    x = values(np.float32, 50000)
    for root in (argsort(x), ordering.sort(x), argsort(values(np.int64, 50000, 2), axis=0)):
        plan, _ = plan_of([root], architecture=architecture)
        for source in {x.source for x in plan.launches if x.source.text.startswith(".version")}:
            code = code_of(source, architecture)
            assert code.cubin.startswith(b"\x7fELF")
            assert code.shared > 0
