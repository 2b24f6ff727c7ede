"""Do running totals and sorts agree with NumPy on every dtype, axis, length and thread count?"""

from __future__ import annotations

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import jit
from treadle.backends.cpu import scan as scans
from treadle.backends.cpu import sort as sorts
from treadle.backends.cpu.host import AARCH64, AVX2, host_target
from treadle.base.dtypes import dtype, float32
from treadle.base.errors import ArgumentError, NotSupported, ShapeError
from treadle.base.target import Takes
from treadle.ir.node import placeholder, type_of
from treadle.kernel.plan import plan_steps
from treadle.ops import ordering as o
from treadle.ops import scan as s
from treadle.testing.arrays import unit_roundoff
from treadle.testing.gradcheck import gradcheck

TOTALS = {
    s.cumsum: np.add, s.cumprod: np.multiply, s.cummax: np.maximum, s.cummin: np.minimum,
    s.logcumsumexp: np.logaddexp,
}  # fmt: skip
DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64",
)  # fmt: skip
SHAPES = (
    ((0,), 0), ((1,), 0), ((17,), 0), ((5, 0), 0), ((5, 0), 1), ((0, 5), 0), ((3, 1, 4), 1),
    ((3, 70), -1), ((70, 3), 0), ((2, 65, 67), 1), ((9, 300), 1), ((5000,), 0),
)  # fmt: skip


def type_named(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def drawn(rng, name, shape):
    """Random elements with many ties."""
    if name.startswith(("float", "bfloat")):
        most = 3 if "float8" in name else 20  # sums must not overflow
        return rng.integers(-most, most + 1, shape).astype(type_named(name)) / type_named(
            name
        ).type(4)
    return rng.integers(0 if name[0] in "bu" else -9, 9, shape).astype(name)


def wide(x):
    return x.astype(np.float64) if x.dtype.kind not in "iub" else x


# ---- running totals


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("op", TOTALS, ids=str)
def test_a_running_total_is_numpys(op, name):
    rng = np.random.default_rng(1)
    for shape, axis in SHAPES:
        x = drawn(rng, name, shape)
        if op is s.cumprod and wide(x).dtype.kind == "f":
            x = (x * x.dtype.type(0.05) + x.dtype.type(1)).astype(x.dtype)
        y = op(td.tensor(x), axis=axis)
        kind = y.dtype
        operand = wide(x) if kind.is_float else x.astype(y.numpy().dtype)
        if kind.is_float and operand.dtype.kind != "f":
            operand = operand.astype(np.float64)
        expected = TOTALS[op].accumulate(operand, axis)
        found = y.numpy()
        assert found.shape == expected.shape
        if not kind.is_float:
            np.testing.assert_array_equal(found, expected)
            continue
        # Roundings of the type it adds in walk at random; storing rounds once more.
        scale = np.abs(expected).max(initial=1.0)
        steps = 4 * unit_roundoff(kind.compute) * scale * np.sqrt(shape[axis])
        least = 2.0 ** (1 - kind.bias - kind.mantissa)
        np.testing.assert_allclose(
            found.astype(np.float64), expected, rtol=0.51 * unit_roundoff(kind), atol=steps + least
        )


@pytest.mark.parametrize(("shape", "axis"), [((1_000_003,), 0), ((3, 90_001), 1), ((70_001, 3), 0)])
def test_long_lines_are_cut_into_chunks_and_still_exact(shape, axis):
    x = np.random.default_rng(2).integers(-1000, 1000, shape)
    view = s.cumsum(placeholder(type_of(shape, td.int64)), axis=axis)
    assert len(scans.plan(view, host_target()).steps) == 3
    for op, ufunc in TOTALS.items():
        if op is not s.logcumsumexp:  # products wrap around alike
            found = op(td.tensor(x), axis=axis).numpy()
            np.testing.assert_array_equal(found, ufunc.accumulate(x, axis))


def test_a_long_float_line_is_as_exact_as_its_length_allows():
    x = np.random.default_rng(3).standard_normal(1_000_000).astype(np.float32)
    expected = np.cumsum(x.astype(np.float64))
    error = np.abs(s.cumsum(td.tensor(x)).numpy() - expected).max()
    assert error <= np.abs(np.cumsum(x) - expected).max()  # what adding one by one gives


def test_nan_infinity_and_signed_zero_in_running_totals():
    x = np.array([-0.0, 1.0, -np.inf, 3.0, np.inf, 2.0, np.nan, 1.0] * 5)
    for length in (1, 2, 4, 6, 8, 40):
        for op, ufunc in TOTALS.items():
            with np.errstate(all="ignore"):
                expected = ufunc.accumulate(x[:length])
            for found in (
                op(td.tensor(x[:length])),
                op(td.tensor(np.stack([x[:length]] * 3, 1)), 0),
            ):
                line = found.numpy() if found.ndim == 1 else found.numpy()[:, 1]
                np.testing.assert_allclose(line, expected, rtol=1e-14)
    assert np.signbit(s.cumsum(td.tensor([-0.0, -0.0])).numpy()).all()


def test_log_of_a_sum_neither_overflows_nor_vanishes():
    x = np.array([-1000.0, -1000.0, 1000.0, 999.0, -np.inf])
    np.testing.assert_allclose(s.logcumsumexp(td.tensor(x)).numpy(), np.logaddexp.accumulate(x))
    nothing = s.logcumsumexp(td.tensor(np.full(20, -np.inf))).numpy()
    assert (nothing == -np.inf).all()


def test_small_integers_add_up_in_int64_and_halves_in_float32():
    assert s.cumsum(td.tensor(np.full(300, 100, np.uint8))).numpy()[-1] == 30_000
    halves = s.cumsum(td.tensor(np.full(4000, 1.0, np.float16))).numpy()
    assert halves[-1] == 4000.0  # one by one in float16 it would stop at 2048


# ---- orders


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_an_order_is_numpys_and_keeps_ties_in_order(name, descending):
    rng = np.random.default_rng(4)
    for shape, axis in SHAPES:
        x = drawn(rng, name, shape)
        found = s.argsort(td.tensor(x), axis=axis, descending=descending).numpy()
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, stable_order(wide(x), axis, descending))


def stable_order(x, axis, descending):
    """By a comparison sort of (key, index) in Python's terms: negated ranks where it descends."""
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape).astype(np.int64)
    return np.argsort(-ranks if descending else ranks, axis, kind="stable")


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "float32", "uint64", "float64"])
@pytest.mark.parametrize("size", [63, 64, 65, 255, 4095, 4096, 70_001, 1_000_000])
def test_every_way_to_sort_covers_the_whole_range_of_a_type(name, size):
    rng = np.random.default_rng(size)
    bits = rng.integers(0, 256, size * np.dtype(name).itemsize, dtype=np.uint8).view(name)
    x = bits if bits.dtype.kind != "f" else np.where(np.isnan(bits), bits.dtype.type(1), bits)
    x[size // 2 :] = x[: size - size // 2]  # ties
    found = s.argsort(td.tensor(x)).numpy()
    np.testing.assert_array_equal(found, np.argsort(x, kind="stable"))


def test_each_length_has_its_way_to_sort():
    def steps(*shape):
        node = s.argsort(placeholder(type_of(shape, float32)))
        return [step.symbol for step in sorts.plan(node, host_target()).steps]

    assert steps(9, 64) == ["ranks"]
    assert steps(9, 65) == steps(100, 50_000) == ["lines"]
    assert steps(1_000_000) == ["keys", *["count", "offsets", "move"] * 3, "indices"]


@pytest.mark.parametrize("name", DTYPES[-6:])
@pytest.mark.parametrize("repeats", [1, 20])
def test_nan_is_the_largest_and_both_zeros_are_equal(name, repeats):
    one = [0.0, np.nan, -0.0, np.inf, -np.nan, -np.inf, 1.0, 0.0, -0.0, -1.0]
    if name == "float8_e4m3fn":
        one[3], one[5] = 448.0, -448.0  # it has no infinity
    x = np.array(one * repeats).astype(type_named(name))
    up = s.argsort(td.tensor(x)).numpy()
    np.testing.assert_array_equal(up, np.argsort(wide(x), kind="stable"))
    down = s.argsort(td.tensor(x), descending=True).numpy()
    count = 2 * repeats
    assert sorted(down[:count]) == list(down[:count]), "NaN first, in order"
    assert np.isnan(wide(x)[down[:count]]).all()
    rest = [k for k in range(len(x)) if not np.isnan(wide(x)[k])]
    np.testing.assert_array_equal(down[count:], sorted(rest, key=lambda k: (-float(x[k]), k)))


def test_an_order_along_a_long_inner_axis():
    x = np.random.default_rng(5).integers(0, 50, (40_000, 3)).astype(np.int16)
    found = s.argsort(td.tensor(x), axis=0).numpy()
    np.testing.assert_array_equal(found, np.argsort(x, 0, kind="stable"))


# ---- threads, programs, views


PROGRAM = """
import hashlib, numpy as np, treadle as td
from treadle.ops import scan as s
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for shape, axis in (((300_001,), 0), ((7, 20_011), 1), ((20_011, 7), 0), ((200, 300), 1)):
    x = td.tensor(rng.standard_normal(shape).astype(np.float32))
    for op in (s.cumsum, s.cumprod, s.cummax, s.logcumsumexp, s.argsort):
        digest.update(op(x, axis=axis).numpy().tobytes())
print(digest.hexdigest())
"""


def test_any_number_of_threads_gives_the_same_bits():

    def result(threads):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
            env=os.environ | {"TREADLE_THREADS": str(threads)},
        )  # fmt: skip
        return done.stdout

    assert result(1) == result(2) == result(3)


def test_scans_inside_a_compiled_function_meet_fused_kernels():
    @td.compile
    def f(x):
        y = s.cumsum(td.exp(x).reshape(6, 10) * 2.0, axis=1)
        order = s.argsort(y.T, axis=0, descending=True)
        return td.gather(y.T, order, axis=0) + 1.0, s.cummax(y, axis=0)

    for seed in (0, 1):
        x = np.random.default_rng(seed).standard_normal(60)
        a, b = f(td.tensor(x))
        y = np.cumsum(np.exp(x).reshape(6, 10) * 2, 1)
        np.testing.assert_allclose(a.numpy(), np.sort(y.T, 0)[::-1] + 1, rtol=1e-13)
        np.testing.assert_allclose(b.numpy(), np.maximum.accumulate(y, 0), rtol=1e-13)


def test_operands_that_lie_elsewhere_or_nowhere_are_put_into_memory():
    x = np.arange(24.0).reshape(4, 6)
    for view, expected in ((td.tensor(x).T, x.T), (td.ones((3, 5)), np.ones((3, 5))),
                           (td.flip(td.tensor(x), 1)[1:3], x[1:3, ::-1])):  # fmt: skip
        np.testing.assert_array_equal(s.cumsum(view, axis=1).numpy(), np.cumsum(expected, 1))
    kept = td.tensor(x)
    result = s.cumsum(kept, axis=0)
    np.testing.assert_array_equal((result - kept).numpy(), np.cumsum(x, 0) - x)


def test_another_shape_compiles_nothing_new():
    for shape in ((5, 7), (300, 4)):
        s.cumsum(td.ones(shape), axis=1).numpy()
        o.sort(td.ones(shape), axis=0).numpy()
    known = len(jit._loaded)
    for shape in ((8, 9), (1, 200), (640, 3)):
        s.cumsum(td.ones(shape), axis=1).numpy()
        o.sort(td.ones(shape), axis=0).numpy()
    assert len(jit._loaded) == known


def test_a_scan_is_a_kernel_of_its_own_and_says_so():
    report = str(td.explain(lambda x: s.cumsum(x * 2.0, axis=0) + 1.0, td.ones((50, 4))))
    assert "scan" in report
    assert "a cumsum is a kernel of its own" in report


@pytest.mark.parametrize("target", [AVX2, AARCH64], ids=lambda target: target.cpu)
@pytest.mark.parametrize("name", ["bool", "uint16", "float8_e5m2", "bfloat16", "float32", "int64"])
def test_kernels_compile_for_other_processors(target, name):
    kind = dtype(name)
    texts = [sorts.text(kind, symbol, target) for symbol in sorts.STEPS]
    texts += [scans.text("cummax", kind, symbol, target) for symbol in scans.STEPS]
    if kind.is_float:
        texts.append(scans.text("logcumsumexp", kind, "lines", target))
    for text in texts:
        assert jit.compile_object(text, target, 2, passes=True)


# ---- gradients


@pytest.mark.parametrize("op", TOTALS, ids=str)
@pytest.mark.parametrize(("shape", "axis"), [((7,), 0), ((3, 5), 0), ((2, 4), 1), ((0, 2), 0)])
def test_the_gradient_of_a_running_total_is_its_slope(op, shape, axis):
    x = np.random.default_rng(7).permutation(np.linspace(-2, 2, int(np.prod(shape))) + 0.013)
    gradcheck(lambda t: op(t, axis=axis), [x.reshape(shape)])


@pytest.mark.parametrize("zeros", [[2], [0], [5], [1, 3], [0, 1, 2, 3, 4, 5]])
def test_the_gradient_of_a_product_survives_zeros(zeros):
    x = np.array([1.5, -0.7, 2.0, 0.3, -1.1, 0.9])
    x[zeros] = 0.0
    gradcheck(lambda t: s.cumprod(t, axis=0), [x])


def test_the_gradient_of_a_log_of_sums_survives_large_differences():
    gradcheck(lambda t: s.logcumsumexp(t), [np.array([900.0, -900.0, 901.0, 0.5, 902.0])])


def test_the_gradient_of_sorted_values_follows_them():
    x = np.random.default_rng(8).permutation(12).reshape(3, 4) * 0.5
    gradcheck(lambda t: o.sort(t, axis=1, descending=True), [x])
    gradcheck(lambda t: o.topk(t, 2, axis=0)[0], [x])
    gradcheck(lambda t: o.quantile(t, (0.2, 0.9), axis=0), [x])
    gradcheck(lambda t: o.median(t), [x])


# ---- what is made of them


def test_order_statistics_are_numpys():
    rng = np.random.default_rng(9)
    x = rng.standard_normal((5, 6, 7)).astype(np.float32)
    for axis in (None, 0, -1, (0, 2)):
        for keep in (False, True):
            found = o.median(td.tensor(x), axis=axis, keepdims=keep).numpy()
            np.testing.assert_array_equal(found, np.median(x, axis, keepdims=keep))
            for q in (0.1, (0.0, 0.5, 0.77, 1.0)):
                found = o.quantile(td.tensor(x), q, axis=axis, keepdims=keep).numpy()
                expected = np.quantile(x.astype(np.float64), q, axis, keepdims=keep)
                np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7)
    assert np.isnan(o.median(td.tensor([1.0, np.nan, 0.0])).numpy())
    assert o.median(td.tensor([np.inf, np.inf, 1.0, np.inf])).numpy() == np.inf


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 1000])
def test_a_search_finds_what_numpy_finds(side, size):
    rng = np.random.default_rng(size)
    table = np.sort(rng.integers(0, 50, size)).astype(np.float64)
    if size > 3:
        table[-2:] = np.inf, np.nan
    values = np.concatenate([table, rng.uniform(-5, 60, 40), [-np.inf, np.inf, np.nan]])
    found = o.searchsorted(td.tensor(table), td.tensor(values), side=side)
    np.testing.assert_array_equal(found.numpy(), np.searchsorted(table, values, side))


def test_counts_are_numpys_and_need_a_length_only_inside_compiled_functions():
    x = np.random.default_rng(10).integers(0, 9, 1000)
    np.testing.assert_array_equal(td.bincount(td.tensor(x)).numpy(), np.bincount(x))
    np.testing.assert_array_equal(
        td.bincount(td.tensor(x), minlength=20).numpy(), np.bincount(x, minlength=20)
    )
    counted = td.compile(lambda t: td.bincount(t, length=5))(td.tensor(x)).numpy()
    np.testing.assert_array_equal(counted, np.bincount(x)[:5])
    with pytest.raises(ArgumentError, match="length="):
        td.compile(td.bincount)(td.tensor(x))
    with pytest.raises(ArgumentError, match="negative"):
        td.bincount(td.tensor([1, -1]))


def test_topk_is_the_head_of_a_stable_order():
    x = np.array([[1, 3, 3, 2], [5, 5, 5, 0]])
    values, index = o.topk(td.tensor(x), 3)
    np.testing.assert_array_equal(values.numpy(), [[3, 3, 2], [5, 5, 5]])
    np.testing.assert_array_equal(index.numpy(), [[1, 2, 3], [0, 1, 2]])
    with pytest.raises(ArgumentError, match="topk"):
        o.topk(td.tensor(x), 5)


def test_array_api_names_of_running_totals():
    x = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    found = o.cumulative_sum(td.tensor(x), axis=-1, include_initial=True)
    np.testing.assert_array_equal(found.numpy(), [[0, 1, 3, 6], [0, 4, 9, 15]])
    found = o.cumulative_prod(td.tensor(x), axis=0, dtype=td.float32)
    assert found.dtype is td.float32
    np.testing.assert_array_equal(found.numpy(), [[1, 2, 3], [4, 10, 18]])
    np.testing.assert_array_equal(o.diff(td.tensor(x), axis=0).numpy(), [[3, 3, 3]])


# ---- errors


def test_mistakes_are_named():
    with pytest.raises(ShapeError, match="cumsum: along which axis"):
        s.cumsum(td.ones((2, 3)))
    with pytest.raises(ShapeError, match="argsort: axis out of range"):
        s.argsort(td.ones((2, 3)), axis=2)
    assert o.sort(td.tensor(1.0)).item() == 1.0  # a line of one element
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        o.quantile(td.ones((3,)), 1.5)
    with pytest.raises(ShapeError, match="median"):
        o.median(td.ones((0,)))
    with pytest.raises(NotSupported, match="too long"):
        s.argsort(placeholder(type_of((1 << 32,), float32)))


def test_a_step_knows_what_it_reads_and_writes():
    x = placeholder(type_of((6, 4), float32))
    node = s.cumsum((x * 2.0).reshape(24), axis=0)
    steps = plan_steps([node], {}, Takes())
    assert [step.cluster.kind for step in steps] == ["loop", "scan"]
    assert steps[1].reads() == set(steps[0].writes)
    assert steps[1].writes == [node]
