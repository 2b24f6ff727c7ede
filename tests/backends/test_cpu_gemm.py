"""Does the CPU matrix product give NumPy's values for every shape, layout, cut and order?"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from functools import cache

import ml_dtypes
import numpy as np
import pytest

from treadle.backends.cpu import gemm_plan, gemm_tasks, jit
from treadle.backends.cpu.gemm_problem import Cut, Problem
from treadle.backends.cpu.gemm_tiles import tile_for
from treadle.backends.cpu.host import AARCH64, AVX2, host_target
from treadle.backends.cpu.link import Code
from treadle.base import dtypes
from treadle.base.target import Target

NUMPY = {
    dtypes.float32: np.float32,
    dtypes.float64: np.float64,
    dtypes.float16: np.float16,
    dtypes.bfloat16: ml_dtypes.bfloat16,
}
THREADS = 3

# out[batch, m, n] = tile[i, j] + bias[n], one element at a time; eparams: m, n, out, bias.
EPILOGUE = """
define void @add_bias(ptr %bases, ptr %eparams, ptr %tile, i64 %stride, i64 %batch, i64 %m, i64 %n,
                      i64 %rows, i64 %cols) {
entry:
  %p1 = getelementptr i64, ptr %eparams, i64 1
  %p2 = getelementptr i64, ptr %eparams, i64 2
  %p3 = getelementptr i64, ptr %eparams, i64 3
  %height = load i64, ptr %eparams
  %width = load i64, ptr %p1
  %out = load ptr, ptr %p2
  %bias = load ptr, ptr %p3
  br label %row
row:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %more = icmp slt i64 %i, %rows
  br i1 %more, label %column, label %done
column:
  %j = phi i64 [ 0, %row ], [ %j1, %body ]
  %inside = icmp slt i64 %j, %cols
  br i1 %inside, label %body, label %next
body:
  %a0 = mul i64 %i, %stride
  %a1 = add i64 %a0, %j
  %ap = getelementptr float, ptr %tile, i64 %a1
  %a = load float, ptr %ap
  %gn = add i64 %n, %j
  %bp = getelementptr float, ptr %bias, i64 %gn
  %b = load float, ptr %bp
  %s = fadd float %a, %b
  %g0 = mul i64 %batch, %height
  %g1 = add i64 %g0, %m
  %g2 = add i64 %g1, %i
  %g3 = mul i64 %g2, %width
  %g4 = add i64 %g3, %gn
  %op = getelementptr float, ptr %out, i64 %g4
  store float %s, ptr %op
  %j1 = add i64 %j, 1
  br label %column
next:
  %i1 = add i64 %i, 1
  br label %row
done:
  ret void
}
"""

Kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


# The host's own tile, and where it can run, the smaller one of AVX2.
TARGETS = [host_target()] + [AVX2] * host_target().has_avx512
every_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.cpu)


@cache  # holds the code that it loads
def code_of(text: str, symbols: tuple[str, ...], target: Target, passes: bool) -> Code:
    return jit.load(text, lambda: text, symbols, target, 2, passes)


@cache
def kernels(a: dtypes.DType, b: dtypes.DType, target: Target) -> dict[str, object]:
    text = gemm_tasks.text(a, b, target)
    found = code_of(text, gemm_tasks.SYMBOLS, target, passes=True)
    return {name: Kernel(found[name]) for name in gemm_tasks.SYMBOLS}


def bias_epilogue() -> int:
    return code_of(EPILOGUE, ("add_bias",), host_target(), passes=False)["add_bias"]


def run(problem, plan, arrays, words=None, order=None, target=None):
    """Carry out a plan with blocks in some order, each on some thread's scratch."""
    order = order or np.random.default_rng(1)
    arrays = dict(arrays)
    arrays["apack"] = np.full(plan.apack_bytes // 4 + 1, np.nan, np.float32)
    arrays["scratch"] = np.full(plan.scratch_bytes * THREADS // 4 + 1, np.nan, np.float32)
    names = list(arrays)
    bases = (ctypes.c_void_p * len(names))(*(arrays[name].ctypes.data for name in names))
    entries = kernels(problem.a_dtype, problem.b_dtype, target or host_target())
    for phase in plan.phases:
        params = np.array(phase.words, np.int64)
        for name, position in phase.slots:
            if name in ("epilogue", "eparams"):
                params[position] = words[name]
            else:
                params[position] = names.index(name)
        for block in order.permutation(phase.blocks):
            thread = int(order.integers(THREADS))
            entries[phase.entry](bases, params.ctypes.data, int(block), thread)


def operand(rng, batch, shape, dtype, transposed, broadcast=()):
    """A random array of batch + shape, and the strides of its batch axes and of its matrix."""
    stored = shape[::-1] if transposed else shape
    kept = tuple(1 if axis in broadcast else size for axis, size in enumerate(batch))
    array = rng.standard_normal(kept + stored).astype(dtype)
    strides = [s // array.itemsize for s in array.strides]
    outer = tuple(0 if axis in broadcast else s for axis, s in enumerate(strides[:-2]))
    inner = tuple(strides[:-3:-1] if transposed else strides[-2:])
    view = np.swapaxes(array, -1, -2) if transposed else array
    return array, view, outer, inner


def product(m, n, k, *, transposes=(False, False), batch=(), broadcast=((), ()), seed=0, **options):
    """Compute one product, with a guard band around C, and compare it with NumPy in float64."""
    rng = np.random.default_rng(seed)
    a_dtype = options.pop("a_dtype", dtypes.float32)
    b_dtype = options.pop("b_dtype", a_dtype)
    cut, order = options.pop("cut", None), options.pop("order", None)
    target = options.pop("target", host_target())
    a, a_view, a_batch, a_strides = operand(
        rng, batch, (m, k), NUMPY[a_dtype], transposes[0], broadcast[0]
    )
    b, b_view, b_batch, b_strides = operand(
        rng, batch, (k, n), NUMPY[b_dtype], transposes[1], broadcast[1]
    )
    compute = np.float64 if a_dtype is dtypes.float64 else np.float32
    contiguous = n == 1
    whole = rng.standard_normal((*batch, m + 2, n + 3 * (not contiguous))).astype(compute)
    before = whole.copy()
    inside = (..., slice(1, m + 1), slice(0, n) if contiguous else slice(2, n + 2))
    c = whole[inside]
    c_strides = [s // c.itemsize for s in c.strides]
    problem = Problem(
        m, n, k, a_strides, b_strides, c_strides[-2], batch, a_batch, b_batch,
        tuple(c_strides[:-2]), a_dtype, b_dtype,
    )  # fmt: skip
    plan = gemm_plan.plan(problem, target)
    if cut:
        plan = gemm_plan.planned(problem, cut, tile_for(a_dtype, target))
    run(problem, plan, {"a": a, "b": b, "c": c}, order=order, target=target)
    expected = np.matmul(a_view.astype(np.float64), b_view.astype(np.float64))
    close = 1e-13 if compute is np.float64 else 8e-6
    assert np.abs(c - expected).max(initial=0) <= close * (np.sqrt(k) + 1)
    got = whole.copy()
    got[inside] = before[inside]
    assert got.tobytes() == before.tobytes(), "wrote outside C"
    return c.copy()


SHAPES = [
    (1, 1, 1), (2, 3, 5), (7, 9, 11), (6, 64, 8), (13, 31, 17), (15, 33, 65), (16, 48, 100),
    (64, 64, 64), (1, 100, 37), (1, 513, 300), (1, 8, 8), (5, 16, 3), (3, 1000, 77), (29, 97, 401),
    (128, 128, 128), (127, 255, 383), (61, 10, 784), (10, 784, 61), (170, 1030, 40), (300, 33, 9),
    (162, 640, 1), (2, 2, 2500), (40, 1, 70), (700, 1, 33), (90, 130, 2100), (4, 128, 512),
]  # fmt: skip
LAYOUTS = [(a, b) for a in (False, True) for b in (False, True)]


@every_target
@pytest.mark.parametrize("transposes", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_equal_numpy(shape, transposes, target):
    product(*shape, transposes=transposes, target=target)


@every_target
@pytest.mark.parametrize("seed", range(40))
def test_random_products_equal_numpy(seed, target):
    rng = np.random.default_rng(seed)
    m, n, k = (int(x) for x in rng.integers(1, rng.choice([20, 100, 300]), 3))
    batch = tuple(int(x) for x in rng.integers(1, 4, rng.integers(0, 4)))
    broadcast = tuple(
        tuple(axis for axis in range(len(batch)) if rng.random() < 0.3) for _ in range(2)
    )
    transposes = tuple(bool(x) for x in rng.integers(0, 2, 2))
    product(
        m, n, k, transposes=transposes, batch=batch, broadcast=broadcast, seed=seed, target=target
    )


@pytest.mark.parametrize("transposes", LAYOUTS)
@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.float16, dtypes.bfloat16], ids=repr)
@pytest.mark.parametrize("shape", [(1, 70, 33), (33, 1, 70), (7, 9, 3), (67, 130, 75)], ids=str)
@every_target
def test_other_dtypes(shape, dtype, transposes, target):
    product(*shape, transposes=transposes, a_dtype=dtype, batch=(2,), target=target)


@pytest.mark.parametrize("shape", [(1, 70, 33), (33, 1, 70), (67, 130, 75)], ids=str)
def test_operands_of_two_dtypes(shape):
    product(*shape, a_dtype=dtypes.float32, b_dtype=dtypes.bfloat16)
    product(*shape, a_dtype=dtypes.bfloat16, b_dtype=dtypes.float32, transposes=(True, True))


def test_no_k_gives_zeros():
    assert not product(5, 7, 0).any()
    assert not product(1, 40, 0, transposes=(False, True)).any()
    assert not product(40, 1, 0, batch=(2,)).any()
    assert not product(70, 80, 0, a_dtype=dtypes.bfloat16).any()


@pytest.mark.parametrize("sizes", [(0, 4, 4), (4, 0, 4), (4, 4, 4)])
def test_nothing_to_compute_has_no_phases(sizes):
    m, n, k = sizes
    batch = (0,) if m * n else ()
    problem = Problem(m, n, k, (k, 1), (n, 1), n, batch, batch, batch, batch)
    assert gemm_plan.plan(problem, host_target()).phases == ()


@pytest.mark.parametrize("pack_left", [False, True])
@pytest.mark.parametrize("transposes", LAYOUTS)
def test_every_cut_is_right(transposes, pack_left):
    cut = Cut(rows=12, columns=64, depth=32, pack_left=pack_left)
    product(45, 200, 101, transposes=transposes, batch=(3, 2), broadcast=((0,), (1,)), cut=cut)
    if not transposes[1]:
        product(45, 192, 101, transposes=transposes, cut=replace(cut, pack_right=False))
    if pack_left:  # 45 rows: 24, then the rest
        product(45, 200, 101, transposes=transposes, cut=replace(cut, left_rows=20))


def test_of_a_large_transposed_operand_only_some_rows_are_packed_at_once():
    problem = Problem(m=40_000, n=768, k=1024, a_strides=(1, 40_000), b_strides=(768, 1), c_row=768)
    plan = gemm_plan.plan(problem, host_target())
    assert len(plan.phases) > 20
    assert plan.apack_bytes < 5 << 20


@pytest.mark.parametrize("shape", [(1, 1000, 64), (64, 64, 64), (130, 260, 1500)], ids=str)
def test_order_and_thread_of_blocks_do_not_change_a_bit(shape):
    orders = [np.random.default_rng(seed) for seed in range(3)]
    results = {product(*shape, order=order).tobytes() for order in orders}
    assert len(results) == 1


@pytest.mark.parametrize("depth", [None, 24])
@pytest.mark.parametrize("shape", [(1, 77, 50), (50, 1, 77), (45, 100, 70), (70, 64, 0)], ids=str)
def test_the_epilogue_gets_every_element_once_at_its_position(shape, depth):
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((2, *s)).astype(np.float32) for s in ((m, k), (k, n)))
    bias, out = rng.standard_normal(n).astype(np.float32), np.full((2, m, n), np.nan, np.float32)
    problem = Problem(
        m, n, k, (k, 1), (n, 1), 1 if n == 1 else n, (2,), (m * k,), (k * n,), (m * n,),
        has_epilogue=True,
    )  # fmt: skip
    plan = gemm_plan.plan(problem, host_target())
    if depth and m > 1 and n > 1:
        tile = tile_for(dtypes.float32, host_target())
        cut = Cut(12, 64, depth, pack_left=True, left_rows=12)
        plan = gemm_plan.planned(problem, cut, tile)
    eparams = np.array([m, n, out.ctypes.data, bias.ctypes.data], np.int64)
    words = {"epilogue": bias_epilogue(), "eparams": eparams.ctypes.data}
    run(problem, plan, {"a": a, "b": b}, words)
    expected = a.astype(np.float64) @ b + bias
    assert np.abs(out - expected).max() <= 8e-6 * (np.sqrt(k) + 1)


@pytest.mark.parametrize("dtype", [*dtypes.FLOATS, dtypes.int16, dtypes.uint64], ids=repr)
@pytest.mark.parametrize("target", [AVX2, AARCH64], ids=lambda target: target.cpu)
def test_it_compiles_for_other_processors(target, dtype):
    text = gemm_tasks.text(dtype, dtype, target)
    assert jit.compile_object(text, target, 0)


def blocks(m, n, k, batch=1):
    problem = Problem(m, n, k, (k, 1), (n, 1), n, (batch,), (m * k,), (k * n,), (m * n,))
    return gemm_plan.plan(problem, host_target()).phases[-1].blocks


def test_small_products_are_one_block_and_large_ones_many():
    assert blocks(32, 32, 32) == blocks(1, 200, 200) == blocks(8, 8, 8, batch=30) == 1
    assert blocks(1024, 1024, 1024) >= 16
    assert blocks(128, 128, 64, batch=96) >= 96


def test_tiny_batch_items_share_a_block():
    assert 32 <= blocks(8, 8, 8, batch=4000) < 200
    product(8, 8, 8, batch=(50, 21))
    product(1, 40, 8, batch=(50, 21), transposes=(False, True))
