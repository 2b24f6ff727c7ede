"""Convolutions with channels innermost: interpreted against the reference, compiled for sm_90."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from triton.tools.disasm import get_sass
from triton_host import INTERPRETED, error_of, plan_of, run_interpreted, simplified

from treadle.autograd.backward import gradients
from treadle.backends.cuda import forms, matmul
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.windowed import run_of
from treadle.backends.reference.eval import evaluate
from treadle.base.device import device
from treadle.base.dtypes import bfloat16, dtype
from treadle.ir.graph import toposort
from treadle.ir.node import leaf, placeholder, type_of
from treadle.kernel.index import Axis, of_axis
from treadle.ops.activations import relu
from treadle.ops.convolution import conv1d, conv2d, conv3d, conv_transpose2d
from treadle.ops.defs import Kind
from treadle.ops.movement import permute
from treadle.ops.normalisation import batch_norm
from treadle.ops.pooling import avg_pool2d, max_pool2d
from treadle.ops.reduce import sum_

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
CUDA = device("cuda")
BF = ml_dtypes.bfloat16


def n(*shape, kind=BF):
    array = np.random.default_rng(sum(shape)).standard_normal(shape).astype(kind)
    return leaf(type_of(shape, dtype(array.dtype.name), CUDA), array)


def wide(*shape):
    return placeholder(type_of(shape, bfloat16, CUDA))


CASES = {  # op, operands, options; how many products read windows: the result and both slopes
    "3x3": (conv2d, ((2, 32, 7, 6), (48, 32, 3, 3)), {"padding": 1}, 3),
    "bias": (conv2d, ((2, 32, 7, 6), (48, 32, 3, 3), (48,)), {"padding": 1}, 3),
    "stride": (conv2d, ((2, 32, 9, 8), (48, 32, 3, 3)), {"padding": 1, "stride": 2}, 2),
    "dilation": (conv2d, ((2, 48, 9, 7), (32, 48, 3, 3)), {"padding": 2, "dilation": 2}, 3),
    "no border": (conv2d, ((2, 32, 8, 8), (32, 32, 3, 3)), {}, 1),
    "no batch": (conv2d, ((32, 8, 8), (32, 32, 3, 3)), {"padding": 1}, 3),
    "1x1": (conv2d, ((2, 64, 8, 8), (48, 64, 1, 1)), {}, 0),
    "1x1 stride": (conv2d, ((2, 64, 9, 9), (80, 64, 1, 1)), {"stride": 2}, 0),
    "few channels": (conv2d, ((2, 3, 16, 16), (32, 3, 5, 5)), {"padding": 2, "stride": 2}, 2),
    "odd channels": (conv2d, ((2, 24, 8, 8), (20, 24, 3, 3)), {"padding": 1}, 3),
    "few channels, dilation": (
        conv2d,
        ((2, 3, 12, 12), (24, 3, 3, 3)),
        {"padding": 2, "dilation": 2},
        2,
    ),
    "odd groups, dilation": (
        conv2d,
        ((2, 66, 9, 9), (34, 33, 3, 3), (34,)),
        {"dilation": (1, 2), "groups": 2},
        2,
    ),
    "groups": (conv2d, ((2, 32, 8, 8), (32, 16, 3, 3)), {"padding": 1, "groups": 2}, 1),
    "wide groups": (
        conv2d,
        ((2, 96, 7, 6), (64, 48, 3, 3), (64,)),
        {"padding": 1, "groups": 2},
        3,
    ),
    "many groups": (conv2d, ((2, 64, 7, 6), (128, 16, 3, 3)), {"padding": 1, "groups": 4}, 3),
    "narrow groups": (conv2d, ((2, 32, 8, 8), (32, 4, 3, 3)), {"padding": 1, "groups": 8}, 1),
    "odd groups": (conv2d, ((2, 60, 8, 8), (40, 12, 3, 3)), {"padding": 1, "groups": 5}, 1),
    "groups, stride": (
        conv2d,
        ((2, 64, 9, 8), (64, 32, 3, 3), (64,)),
        {"padding": 1, "stride": 2, "groups": 2},
        2,
    ),
    "groups, dilation": (
        conv2d,
        ((2, 64, 9, 7), (64, 16, 3, 3)),
        {"padding": 2, "dilation": 2, "groups": 4},
        3,
    ),
    "groups, no batch": (conv2d, ((64, 8, 8), (64, 32, 3, 3)), {"padding": 1, "groups": 2}, 3),
    "groups, empty": (conv2d, ((0, 64, 7, 7), (32, 32, 3, 3)), {"padding": 1, "groups": 2}, 0),
    "groups, 1x1": (conv2d, ((2, 64, 8, 8), (64, 32, 1, 1)), {"groups": 2}, 0),
    "groups, 1d": (conv1d, ((2, 64, 40), (64, 32, 5)), {"padding": 2, "groups": 2}, 3),
    "groups, 3d": (
        conv3d,
        ((1, 32, 4, 5, 4), (32, 16, 3, 3, 3)),
        {"padding": 1, "groups": 2},
        3,
    ),
    "groups, half": (conv2d, ((2, 64, 7, 6), (64, 32, 3, 3)), {"padding": 1, "groups": 2}, 3),
    "groups, float32": (conv2d, ((2, 64, 7, 6), (64, 32, 3, 3)), {"padding": 1, "groups": 2}, 3),
    "groups, float64": (conv2d, ((2, 32, 7, 6), (32, 16, 3, 3)), {"padding": 1, "groups": 2}, 0),
    "groups, transposed": (
        conv_transpose2d,
        ((2, 64, 6, 6), (64, 32, 3, 3)),
        {"stride": 2, "groups": 2},
        1,
    ),
    "1d": (conv1d, ((2, 32, 40), (48, 32, 5)), {"padding": 2}, 3),
    "3d": (conv3d, ((1, 16, 4, 5, 4), (32, 16, 3, 3, 3)), {"padding": 1}, 3),
    "empty": (conv2d, ((0, 32, 7, 7), (32, 32, 3, 3)), {"padding": 1}, 0),
    "transposed": (conv_transpose2d, ((2, 32, 6, 6), (32, 32, 3, 3)), {"stride": 2}, 1),
    "half": (conv2d, ((2, 32, 7, 6), (48, 32, 3, 3)), {"padding": 1}, 3),
    "float32": (conv2d, ((2, 32, 7, 6), (48, 32, 3, 3)), {"padding": 1}, 3),
    "float64": (conv2d, ((2, 32, 7, 6), (48, 32, 3, 3)), {"padding": 1}, 0),
}
KINDS = {"half": np.float16, "float32": np.float32, "float64": np.float64}
names = pytest.mark.parametrize("name", CASES)


def roots_of(name, batches=1):
    op, (first, *shapes), options, _ = CASES[name]
    kind = KINDS.get(name.split(", ")[-1], BF)
    if "no batch" not in name:
        first = (first[0] * batches, *first[1:])
    operands = [n(*shape, kind=kind) for shape in (first, *shapes)]
    y = op(*operands, **options)
    return [y, *gradients([y], operands, [n(*y.shape, kind=kind)])]


def windows_of(plan):
    return [launch for launch in plan.launches if "tap =" in launch.source.text]


def check(roots, tolerance=1e-2):
    plan, leaves = plan_of(roots)
    found = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    expected = evaluate(roots, lambda x: x.buffer, precise=True)
    for got, want in zip(found, expected, strict=True):
        assert error_of(got, want) <= tolerance
    return found


@interpreted
@names
def test_interpreted(name):
    check(roots_of(name), {"float32": 2e-6, "float64": 1e-14}.get(name.split(", ")[-1], 1e-2))


@names
def test_windows_are_read_where_they_lie(name):
    plan, _ = plan_of(roots_of(name, batches=8))
    assert len(windows_of(plan)) >= CASES[name][3]
    if not CASES[name][3]:
        assert not windows_of(plan)


def lines_roots(size, stride, dilation, padding):
    """A convolution of lines, as another one leaves them; slopes too."""
    x, w = n(2, size, size + 1, 32), n(48, 32, 3, 3)
    image = x.permute((0, 3, 1, 2))
    y = conv2d(image, w, stride=stride, dilation=dilation, padding=padding)
    slope = n(*(y.shape[k] for k in (0, 2, 3, 1))).permute((0, 3, 1, 2))
    return [r.permute((0, 2, 3, 1)) for r in (y, *gradients([y], [image, w], [slope]))]


BORDERS = {"one": (7, 1, 1, 1), "stride": (8, 2, 1, 1), "dilation": (9, 1, 2, 2),
           "none": (7, 1, 1, 0), "wide": (6, 1, 1, 2)}  # fmt: skip
borders = pytest.mark.parametrize("border", BORDERS)


@interpreted
@borders
def test_borders_interpreted(border):
    check(lines_roots(*BORDERS[border]))


@borders
def test_borders_are_never_written(border):
    plan, _ = plan_of(lines_roots(*BORDERS[border]))
    assert windows_of(plan)
    assert not any("pad" in launch.name for launch in plan.launches)


@borders
def test_older_devices_read_windows_too(border):
    roots = lines_roots(*BORDERS[border])
    plan, leaves = plan_of(roots, architecture=80)
    launches = windows_of(plan)
    assert launches
    assert not any("tensordesc" in kind for x in launches for _, kind in x.source.types)
    if not INTERPRETED:
        assert all(code_of(x.source, 80).shared <= 163 << 10 for x in launches)
        return
    found = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    expected = evaluate(roots, lambda x: x.buffer, precise=True)
    assert all(error_of(a, b) < 1e-2 for a, b in zip(found, expected, strict=True))


@interpreted
@pytest.mark.parametrize(("channels", "groups"), [(32, 1), (24, 1), (3, 1), (8, 2), (4, 4)])
def test_what_is_not_a_number_stays_where_it_is(channels, groups):
    x = n(2, channels, 7, 6)
    x.buffer[0, 1, 2, 2], x.buffer[1, 0, 6, 5] = np.nan, np.inf
    y = conv2d(x, n(2 * groups, channels // groups, 3, 3), padding=1, groups=groups)
    (found,) = check([y])
    bad = ~np.isfinite(found.astype(np.float32)).reshape(y.shape)
    hit = bad.any(axis=1)
    assert hit.sum() == 9 + 4  # all around one inside, a quarter of that in a corner
    assert hit[0, 1:4, 1:4].all()
    assert hit[1, 5:, 4:].all()
    assert bad.sum() == 2 * hit.sum()  # two results of the group that it is in


@interpreted
@pytest.mark.parametrize("groups", [1, 2])
def test_no_channels(groups):
    x, weight = n(2, 0, 5, 5), n(4, 0, 3, 3)
    y = conv2d(x, weight, n(4), groups=groups)
    check([y, *gradients([y], [x, weight], [n(*y.shape)])])


@compiled
@pytest.mark.parametrize(
    ("sizes", "outputs"), [((7, 7), 1), ((3, 3), 2), ((5, 5, 5), 1)], ids=["7x7", "two", "cube"]
)
def test_one_channel_for_each_group_is_not_filled_up(sizes, outputs):
    x, weight = wide(2, 32, *(24,) * len(sizes)), wide(32 * outputs, 1, *sizes)
    conv = conv2d if len(sizes) == 2 else conv3d
    y = conv(x, weight, groups=32)
    roots = [y, *gradients([y], [x, weight], [wide(*y.shape)])]
    plan, _ = plan_of(roots)
    windows = 2 * 32 * np.prod([24 - size + 1 for size in sizes]) * np.prod(sizes)
    assert plan.layout.nbytes < 4 * windows * bfloat16.size  # of the result and of both slopes


@interpreted
def test_two_runs_give_the_same_bits():
    roots = roots_of("3x3")
    first, second = check(roots), check(roots)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


def network(x, *weights):
    """Two layers with a norm, a shortcut and both kinds of pools."""
    y = relu(batch_norm(conv2d(x, weights[0], padding=1)))
    y = max_pool2d(y, 3, 2, 1)
    z = relu(batch_norm(conv2d(y, weights[1], padding=1)) + y)
    return avg_pool2d(z, 2)


def network_roots():
    x, *weights = n(2, 16, 12, 12), n(32, 16, 3, 3), n(32, 32, 3, 3)
    y = network(x, *weights)
    return [y, *gradients([y], weights, [n(*y.shape)])]


@interpreted
def test_a_network_interpreted():
    found = check(network_roots(), 0.15)  # of norms of bfloat16, whose slopes nearly cancel
    assert all(np.isfinite(x.astype(np.float32)).all() for x in found)


def test_between_convolutions_nothing_is_turned():
    """Who computes reads lines: images are seen by none but windows and the end."""
    simple, _, _ = simplified(network_roots())
    for node in toposort(simple):
        if node.op.kind not in (Kind.ELEMENTWISE, Kind.REDUCE) or node.type.size < 1024:
            continue
        turned = [x for x in node.operands if x.op is permute and x.arg[:2] == (0, x.ndim - 1)]
        assert not turned, (node, turned)


def training(batch, channels, size):
    x, w = wide(batch, channels, size, size), wide(channels, channels, 3, 3)
    y = conv2d(x, w, padding=1)
    plan, _ = plan_of([y, *gradients([y], [x, w], [wide(*y.shape)])])
    return plan


@compiled
@pytest.mark.parametrize("size", [28, 7])
def test_lines_come_sixteen_bytes_at_a_time_while_tensor_cores_work(size):
    launches = windows_of(training(64, 128, size))
    assert len(launches) == 3
    for launch in launches:
        code = code_of(launch.source, 90)
        text = get_sass(code.cubin)
        assert code.shared <= 227 << 10
        assert text.count("HGMMA") >= 4
        copies = re.findall(r"LDGSTS\S*", text)
        assert copies
        assert all("128" in copy for copy in copies)
        assert "STL" not in text  # no register is spilled


@compiled
@pytest.mark.parametrize("lines", [False, True])
def test_results_of_more_elements_than_32_bits_count(lines):
    x = wide(8, 512, 512, 64).permute((0, 3, 1, 2)) if lines else wide(8, 64, 512, 512)
    plan, _ = plan_of([conv2d(x, wide(1024, 64, 3, 3), padding=1)])
    (launch,) = windows_of(plan)
    assert code_of(launch.source, 90).cubin


@interpreted
def test_far_results_interpreted(monkeypatch):
    monkeypatch.setattr(forms, "INDEX_LIMIT", 1)
    monkeypatch.setattr(matmul, "INDEX_LIMIT", 1)
    check(lines_roots(*BORDERS["one"]))
    check(roots_of("bias"))


def test_deep_sums_of_few_tiles_are_shared_out():
    plan = training(64, 128, 28)
    *_, deep = windows_of(plan)
    joins = [x for x in plan.launches if "pieces" in dict(x.source.types)]
    assert len(joins) == 1
    assert deep.grid[0] > 64


def deep():
    """Few results of many terms: of windows, and of plain rows with a map and a total behind."""
    x, y = n(1, 73, 72, 16), n(1, 73, 72, 16)
    image, slope = (a.permute((0, 3, 1, 2)) for a in (x, y))
    w = n(16, 16, 3, 3)
    (slopes,) = gradients([conv2d(image, w, padding=1)], [w], [slope])
    product = relu(n(5, 9216) @ n(9216, 48) + n(48))
    return [slopes, product, sum_(product, axis=0)]


def test_deep_sums_are_left_in_pieces():
    plan, _ = plan_of(deep())
    joins = [x for x in plan.launches if "pieces" in dict(x.source.types)]
    assert len(joins) == 2


@interpreted
def test_deep_sums_interpreted():
    check(deep())


def test_runs_of_places():
    k = Axis("k", 9 * 32)
    index = of_axis(k)
    taps = index // 96 * 4096 + (index // 32) % 3 * 64 + index % 32
    assert run_of((k, taps)) == 32
    assert run_of((k, index)) == 9 * 32
    assert run_of((k, index * 2)) == 1
    assert run_of((k, index // 3 * 64 + index % 3)) == 3
    assert run_of((k, index // 32 * 36 + index % 32)) == 1  # lines that begin anywhere
