"""Graphs that together reach every form of CUDA kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from triton_host import node_of

from treadle.autograd.backward import gradients
from treadle.base.dtypes import bfloat16, float16, float32, int64
from treadle.base.trees import flatten
from treadle.ops import activations, convolution, neural
from treadle.ops import composite as c
from treadle.ops.contract import SCATTERS, scatter_add
from treadle.ops.defs import TABLE
from treadle.ops.elementwise import cast, eq, exp, maximum, tanh, where
from treadle.ops.movement import concat, flip, pad, slice_
from treadle.ops.reduce import max_, sum_
from treadle.ops.totals import prod_
from treadle.tensor.tensor import Tensor
from treadle.transforms.branches import cond, while_loop
from treadle.transforms.grad import value_and_grad
from treadle.transforms.loops import scan


@dataclass(frozen=True)
class Case:
    """Roots to compute, and how close they must come to the reference in float64."""

    build: Callable[[], list[Any]]
    tolerance: float
    size: int


CASES: dict[str, Case] = {}


def normal(*shape: int, kind: Any = np.float32) -> Any:
    """A leaf of normal numbers, the same for the same shape."""
    rng = np.random.default_rng(sum(shape) + len(shape))
    return node_of(rng.standard_normal(shape).astype(kind))


def integers(high: int, *shape: int, kind: Any = np.int64) -> Any:
    """A leaf of integers in [0, high)."""
    return node_of(np.random.default_rng(high).integers(0, high, shape).astype(kind))


def case(tolerance: float = 2e-6, size: int = 0) -> Callable[[Any], Any]:
    """Name a function that returns roots."""

    def keep(build: Callable[[], list[Any]]) -> Any:
        CASES[build.__name__] = Case(build, tolerance, size)
        return build

    return keep


# ---- maps and movement

r = normal


@case()
def add():
    return [r(8, 8) + r(8, 8)]


@case()
def chain():
    a, b = r(9, 7), r(9, 7)
    return [tanh(exp(a * b - 1.0) / 2.5) + maximum(a, 0.0)]


@case()
def bias():
    return [r(13, 37) + r(37)]


@case()
def scalar():
    return [r() * 2.0, r(1, 1) + 3.0]


@case()
def transposed():
    return [r(13, 37).T, r(130, 70).T + 1.0]


@case()
def permuted():
    return [r(3, 4, 5).permute(2, 0, 1) + 1.0]


@case()
def reshaped():
    return [(r(6, 4) + 0.5).reshape(8, 3) * 2.0]


@case()
def padded():
    return [pad(r(5, 7), [(1, 2), (3, 0)], 1.5)]


@case()
def flipped():
    return [flip(r(5, 7))]


@case()
def joined():
    return [concat([r(5, 7), r(5, 20)], axis=1)]


@case()
def sliced():
    return [slice_(r(9, 20), [(1, 9, 2), (3, 17, 3)])]


@case()
def empty():
    return [r(0, 3) + 1.0, r(3, 0).sum(1), r(0, 3).sum(0)]


@case(2e-3)
def half():
    x = r(13, 37, kind=np.float16)
    return [neural.softmax(x), x.sum(0), x * 2.0]


@case(2e-2)
def bfloat():
    x = r(13, 37, kind=ml_dtypes.bfloat16)
    return [neural.softmax(x), x.sum(0), x * 2.0]


# ---- reductions


@case()
def sums():
    x = r(13, 37)
    return [x.sum(1), x.sum(0), x.sum()]


@case()
def middle_sum():
    return [r(5, 33, 7).sum(1), r(4, 5, 6).sum((0, 2))]


@case(1e-5)
def long_sums():
    x = r(100003)
    return [x.sum(), x.max(), x.min()]


@case(1e-5)
def column_sums():
    return [r(5000, 37).sum(0), r(33, 2500).sum(0)]


@case()
def integer_sums():
    x = integers(100, 13, 37, kind=np.int32)
    return [x.sum(1), x.max(0), (x > 50).max(1)]


@case()
def softmaxes():
    return [
        neural.softmax(r(13, 37)),
        neural.softmax(r(13, 37), axis=0),
        neural.softmax(r(3, 1024)),
    ]


@case()
def softmax_of_long_rows():
    return [neural.softmax(r(2, 40000))]


def _picks(rows: int, columns: int, kind: Any = np.float32) -> list[Any]:
    """Sums of one term, or of none where a number is no column's, with others beside them."""
    x, other = r(rows, columns, kind=kind), r(rows, columns, kind=kind) * 0.5
    at = node_of(np.random.default_rng(columns).integers(-1, columns + 1, (rows, 1)))
    here = eq(x.iota_like(-1), at)
    one, rest = cast(x, float32), cast(other, float32)
    near = exp(one - max_(one, axis=-1, keepdims=True))
    total = sum_(near, axis=-1, keepdims=True)
    return [
        sum_(where(here, one, 0.0), axis=-1) + max_(one, axis=-1),
        sum_(where(here, near / total, 0.0), axis=-1, keepdims=True) + rest,
        sum_(where(here, 1.0 / one, 0.0), axis=-1),
    ]


@case()
def sums_of_one_term():
    return [*_picks(37, 50), *_picks(3, 40000), *_picks(1, 5), *_picks(300, 1)]


@case()
def one_term_of_rows_that_are_written_and_added_up():
    x, at = r(300, 200), integers(200, 300).reshape(300, 1)
    found = sum_(where(eq(x.iota_like(-1), at), x, 0.0), axis=-1, keepdims=True)
    return [x - found, sum_(x - found, axis=0)]


@case(2e-2)
def sums_of_one_narrow_term():
    return [*_picks(5, 20000, ml_dtypes.bfloat16), *_picks(70, 40, ml_dtypes.bfloat16)]


def _rises(make: Callable[[], Any]) -> list[Any]:
    """A softmax of long rows, and what else is relative to their maximum.

    Each has rows of its own: what reads the same ones is one kernel, which looks for two maxima.
    """

    def near(x: Any) -> Any:
        return exp(x - max_(x, axis=1, keepdims=True))

    one, two, three, four, five = (make() for _ in range(5))
    weight, row = normal(1, one.shape[1]), normal(one.shape[0], 1)
    mean = sum_(near(three) * weight, axis=1) / sum_(near(three), axis=1)
    label = integers(five.shape[1], five.shape[0])
    loss = TABLE["cross_entropy"](five, label, reduction="none")
    found = [neural.softmax(one), neural.log_softmax(two * 3.0), mean]
    return [*found, sum_(row * near(four), axis=1), loss]


@case()
def sums_relative_to_a_maximum():
    far = _rises(lambda: normal(2, 24576) * 300.0 - 1e4)
    return [*_rises(lambda: normal(3, 20000)), *far]


@case(1e-12)
def sums_relative_to_a_maximum_of_doubles():
    return _rises(lambda: normal(3, 16900, kind=np.float64))[:2]


@case(1e-3)
def sums_relative_to_a_maximum_of_halves():
    """Each is rounded where halves are added up; where they are widened before, none is."""
    x, y = (normal(3, 16900, kind=np.float16) for _ in range(2))
    return [neural.softmax(x), neural.softmax(cast(y, float32))]


@case()
def sums_relative_to_a_maximum_that_is_no_number():
    x = np.random.default_rng(7).standard_normal((6, 17000)).astype(np.float32)
    x[0, ::3] = x[1] = x[2, :-1] = -np.inf  # some, all, all but the last
    x[3, 16999], x[4, 5], x[5, 9000] = np.inf, np.nan, 1e38
    return _rises(lambda: node_of(x.copy()))


@case()
def sums_relative_to_a_maximum_by_column():
    """Rows one after the other, whose column sums stay in memory."""
    x = neural.softmax(normal(300, 9000))  # two rows of a program each
    return [sum_(x, axis=0)]


@case()
def softmax_of_long_columns():
    return [neural.softmax(r(700, 5), axis=0)]


@case()
def argmax():
    x = r(13, 37)
    return [c.argmax(x, axis=1), c.argmax(x)]


def _layer_norm(rows: int, columns: int, kind: Any = np.float32) -> list[Any]:
    shapes = (rows, columns), (columns,), (columns,), (1, rows, columns)
    x, w, b, dy = (normal(*shape, kind=kind) for shape in shapes)
    dy = dy.reshape(x.shape)
    y = neural.layer_norm(x, w, b)
    return [y, *gradients([y], [x, w, b], [dy])]


@case()
def layer_norm():
    return _layer_norm(13, 37) + _layer_norm(300, 256)


@case(4e-6)
def layer_norm_round_the_programs():
    return _layer_norm(301, 2100) + _layer_norm(70, 4096)


@case(4e-3)
def layer_norm_two_rows_at_a_time():
    return _layer_norm(301, 2100, np.float16) + _layer_norm(70, 4096, np.float16)


@case(4e-6)
def layer_norm_in_chunks():
    return _layer_norm(7, 9000) + _layer_norm(5, 20000)


# ---- gathers and scatters


@case()
def embedding():
    table, index = r(50, 24), integers(50, 4, 6)
    e = c.take(table, index, axis=0)
    total = (e * e).sum()
    return [total, *gradients([total], [table], [None])]


@case()
def scatter():
    index = integers(9, 4, 20)
    return [scatter_add(r(4, 9), index, r(4, 20), axis=1),
            scatter_add(r(6), integers(6, 50), r(50), axis=0)]  # fmt: skip


@case()
def scatter_in_every_way():
    index, values = integers(9, 4, 20), r(4, 20)
    whole = [op(r(6), integers(6, 50), r(50), axis=0) for op in SCATTERS]
    return whole + [op(r(4, 9), index, values, axis=1) for op in SCATTERS]


@case()
def scatter_out_of_range():
    """What points nowhere is written nowhere, in lines side by side and in one alone."""
    index, values = integers(40, 4, 20) - 20, r(4, 20)
    whole = [op(r(6), integers(30, 50) - 15, r(50), axis=0) for op in SCATTERS]
    whole += [op(r(9, 20), index, values, axis=0) for op in SCATTERS]
    return whole + [op(r(4, 9), index, values, axis=1) for op in SCATTERS]


@case()
def scatter_at_known_places():
    x, values = r(50, 24), r(20, 24)
    rows = values.iota_like(0)
    whole = [op(x, rows, values, axis=0) for op in SCATTERS]
    return [
        *whole,
        scatter_add(x, 49 - rows, values, axis=0),
        scatter_add(x, rows // 2, values, axis=0),
    ]


@case()
def products_along_axes():
    x = r(7, 9)
    return [prod_(x), prod_(x, axis=0), prod_(x, axis=1), prod_(integers(5, 40, 9), axis=1)]


@case(3e-2)
def scatter_of_bfloat():
    x = r(4, 9, kind=ml_dtypes.bfloat16)
    return [scatter_add(x, integers(9, 4, 20), r(4, 20, kind=ml_dtypes.bfloat16), axis=1)]


# ---- products


@case()
def products():
    return [r(13, 37) @ r(37, 21), r(37, 13).T @ r(21, 37).T, r(1, 70) @ r(70, 1)]


@case()
def product_with_epilogue():
    return [activations.gelu(r(64, 128) @ r(128, 96) + r(96))]


@case()
def product_whose_tiles_are_reduced():
    x, y = activations.relu(r(70, 37) @ r(37, 90) + r(90)), r(3, 40, 20) @ r(20, 50)
    return [x, sum_(x, axis=0), sum_(x * x, axis=1), max_(y, axis=2), sum_(y, axis=(0, 1))]


@case()
def product_that_is_only_reduced():
    x, y = r(64, 32) @ r(32, 64), r(64, 32) @ r(32, 64)
    return [c.mean(x, axis=1), sum_(x, axis=0), sum_(y * y)]


@case()
def products_of_one_row_or_column_that_are_reduced():
    x, y, z = r(1, 40) @ r(40, 70), r(70, 40) @ r(40, 1), r(1, 3) @ r(3, 1)
    return [f(p * p, axis=a) for p in (x, y, z) for f, a in ((sum_, 0), (sum_, 1), (max_, 1))]


@case(2e-2)
def bfloat_product_that_is_reduced():
    kind = ml_dtypes.bfloat16
    x = r(40, 70, kind=kind) @ r(70, 33, kind=kind)
    return [sum_(x, axis=0), max_(x, axis=1)]


@case()
def batched_products():
    return [r(4, 13, 37) @ r(4, 37, 21), r(2, 1, 13, 37) @ r(4, 37, 21)]


@case(2e-3)
def half_product():
    return [r(40, 70, kind=np.float16) @ r(70, 33, kind=np.float16)]


@case(2e-2)
def bfloat_product():
    kind = ml_dtypes.bfloat16
    return [activations.relu(r(40, 70, kind=kind) @ r(70, 33, kind=kind) + r(33, kind=kind))]


@case(1e-13)
def double_product():
    return [r(40, 70, kind=np.float64) @ r(70, 33, kind=np.float64)]


@case()
def integer_product():
    return [integers(9, 13, 37, kind=np.int32) @ integers(9, 37, 21, kind=np.int32)]


@case(1e-2, 1 << 22)
def large_bfloat_product():
    x = cast(r(2048, 512), bfloat16)
    return [x @ cast(r(512, 2048), bfloat16)]


@case(2e-6, 1 << 20)
def large_product():
    return [r(1024, 256) @ r(256, 1024)]


@case(1e-5)
def windows_in_place():
    x, w, bias = normal(2, 16, 12, 13), normal(24, 16, 3, 3), normal(24)
    y = convolution.conv2d(x, w, bias, padding=1)
    return [maximum(y, 0.0), convolution.conv2d(x, w, stride=2, dilation=2, padding=2)]


@case(1e-5)
def lines_beside_what_is_widened():
    """Lines of one dtype in a product with another one, on either side."""
    x, y = normal(3, 64, 48), normal(64, 32)
    a, b = normal(3, 64, 48, kind=np.float16), normal(64, 32, kind=np.float16)
    c = node_of(np.random.default_rng(0).integers(-9, 9, (64, 32)).astype(np.int8))
    narrow, image = normal(24, 16, 3, 3, kind=np.float16), normal(2, 16, 12, 13)
    found = [
        x.mT @ cast(b, float32),
        cast(a, float32).mT @ y,
        cast(a, float32).mT @ cast(b, float32),
    ]
    found += [x.mT @ cast(c, float32), convolution.conv2d(image, cast(narrow, float32), padding=1)]
    return found


@case(2e-5)
def windows_backwards():
    x, w = normal(2, 16, 11, 12), normal(20, 16, 3, 2)
    y = convolution.conv2d(x, w, stride=2, padding=1)
    return gradients([y], [x, w], [normal(*y.shape)])


@case(1e-5)
def windows_of_one_number():
    x, w = normal(2, 16, 12, 12), normal(20, 16, 3, 3)
    y = convolution.conv2d(x, w, stride=2, padding=1)
    return gradients([y.sum()], [x, w], [None])


@case(2e-2)
def windows_of_half_precision():
    x, w = (
        normal(1, 16, 18, 18, kind=ml_dtypes.bfloat16),
        normal(32, 16, 3, 3, kind=ml_dtypes.bfloat16),
    )
    return [convolution.conv2d(x, w, padding=1)]


@case(1e-5)
def widened_operands():
    x, w = normal(33, 70), normal(50, 70, kind=np.float16)
    whole = integers(100, 50, 70, kind=np.int8)
    return [x @ cast(w, float32).mT, x @ cast(whole, float32).mT, cast(w, float32) @ x.mT]


# ---- models


@case(4e-6)
def classifier():
    x, w, b, label = r(32, 64), r(64, 10), r(10), integers(10, 32)
    y = neural.cross_entropy(
        neural.layer_norm(activations.gelu(x, approximate="tanh")) @ w + b, label
    )
    return [y, *gradients([y], [x, w, b], [None])]


@case()
def attention():
    q, k, v = r(2, 3, 16, 8), r(2, 3, 16, 8) * 0.5, r(2, 3, 16, 8) + 1.0
    y = neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    return [y, *gradients([y], [q], [r(2, 3, 16, 8)])]


def attended(kind=np.float32, batch=2, rows=200, columns=250, depth=32, width=48, **options):
    """Attention and its gradients, of sizes that are chained."""
    shapes = ((rows, depth), (columns, depth), (columns, width))
    q, k, v = (r(batch, *shape, kind=kind) for shape in shapes)
    y = neural.scaled_dot_product_attention(q, k, v, **options)
    return [y, *gradients([y], [q, k, v], [r(*y.shape, kind=kind)])]


@case(1e-5)
def chained_attention():
    return attended(is_causal=True)


@case(3e-3)
def chained_and_looked_up():
    q, k, v = (r(2, 256, 64, kind=np.float16) for _ in range(3))
    s, at = q @ k.mT, integers(256, 512).reshape(2, 256, 1)
    term = where(eq(s.iota_like(-1), at), s, 0.0)
    return [neural.softmax(s * 0.1) @ v, sum_(term, axis=-1, keepdims=True)]


@case(3e-3)
def chained_attention_half():
    return attended(np.float16, is_causal=True)


@case(2e-2)
def chained_attention_bfloat():
    return attended(ml_dtypes.bfloat16, 2, 256, 256, 64, 64)[:1]  # the interpreter cuts digits off


@case(1e-12)
def chained_attention_double():
    return attended(np.float64, 2, 180, 200)[:1]


@case(1e-5)
def chained_attention_masked():
    q, k, v = r(3, 130, 16), r(3, 210, 16), r(3, 210, 16)
    mask = np.random.default_rng(0).random((130, 210)) > 0.5
    mask[3], mask[50:70, :200] = False, False
    return [neural.scaled_dot_product_attention(q, k, v, node_of(mask))]


@case(1e-5)
def chained_groups():
    q, k, v = r(1, 4, 100, 16), r(1, 2, 220, 16), r(1, 2, 220, 16)
    y = neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    return [y, *gradients([y], [q, k, v], [r(*y.shape)])]


@case(3e-3)
def chained_one_query_half():
    """A block of one lane, and a second kernel that joins the parts of a cut stream."""
    q, k, v = (r(4, 4, n, 16, kind=np.float16) for n in (1, 4200, 4200))
    return [neural.scaled_dot_product_attention(q, k, v)]


@case(1e-5)
def chained_few_queries():
    """Lanes are those of heads that share keys; some see nothing in a part, some nothing at all."""
    q, k, v = r(4, 4, 3, 16), r(4, 2, 1500, 16), r(4, 2, 1500, 16)
    mask = np.random.default_rng(0).random((4, 1, 3, 1500)) > 0.5
    mask[1, :, :, 100:], mask[3, :, 1] = False, False
    s = q.reshape(4, 2, 6, 16) @ k.mT
    y = neural.scaled_dot_product_attention(q, k, v, node_of(mask))
    return [y, neural.softmax(s) @ v, s.max(-1), s.sum(-1, keepdims=True)]


@case(1e-5)
def chained_window():
    q, k, v = r(2, 200, 16), r(2, 220, 16), r(2, 220, 16)
    s = q @ k.mT
    row, column = s.iota_like(-2), s.iota_like(-1)
    seen = (row >= column) & (row - column < 40)
    return [neural.softmax(where(seen, tanh(s / 5.0) * 5.0, float("-inf"))) @ v]


@case(3e-3)
def chained_window_half():
    q, k, v = (r(2, n, 16, kind=np.float16) for n in (200, 220, 220))
    s = q @ k.mT
    row, column = s.iota_like(-2), s.iota_like(-1)
    seen = (row >= column) & (row - column < 70)
    y = neural.softmax(where(seen, s * 0.25, float("-inf"))) @ v
    return [y, *gradients([y], [q, k, v], [r(*y.shape, kind=np.float16)])]


@case(3e-3)
def chained_groups_half():
    q, k, v = (r(2, h, n, 32, kind=np.float16) for h, n in ((4, 130), (2, 256), (2, 256)))
    y = neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    return [y, *gradients([y], [q, k, v], [r(*y.shape, kind=np.float16)])]


@case(3e-3)
def chained_heads_inside_half():
    """Heads beside each other in a row, keys a column each: operands as they lie in memory."""
    q, v = (r(1, n, 3, 16, kind=np.float16).permute(0, 2, 1, 3) for n in (192, 256))
    k = r(1, 3, 16, 256, kind=np.float16).mT
    y = neural.scaled_dot_product_attention(q, k, v)
    return [y, *gradients([y], [q, k, v], [r(*y.shape, kind=np.float16)])]


@case(3e-3)
def chained_slices_half():
    """Rows that begin anywhere: no copy engine reads them."""
    wide = [r(2, n, 50, kind=np.float16) for n in (200, 256)]
    q, k = (slice_(x, [(0, 2, 1), (0, x.shape[1], 1), (1, 17, 1)]) for x in wide)
    return [neural.scaled_dot_product_attention(q, k, r(2, 256, 16, kind=np.float16))]


@case(3e-3)
def chained_counts_half():
    """A sum of what a mask decides: the same number all over the tiles that it leaves whole."""
    q, k, v = (r(2, n, 16, kind=np.float16) for n in (200, 256, 256))
    s = q @ k.mT
    row, column = s.iota_like(-2), s.iota_like(-1)
    w = where(row >= column, where(row + 1 > column, 1.0, s), 0.0)
    y = where(row >= column, s * 0.1, 0.0) @ v
    return [y / w.sum(-1, keepdims=True)]


def shares(kind, wanted):
    """A softmax between products and its gradients, with the inverse of its sums or without."""
    q, k, v = (r(2, n, 16, kind=kind) for n in (200, 256, 256))
    s = q @ k.mT
    inverse = 1.0 / exp(s - s.max(-1, keepdims=True)).sum(-1, keepdims=True)
    y = neural.softmax(s) @ v
    return [y, *[inverse] * wanted, *gradients([y], [q, k, v], [r(*y.shape, kind=kind)])]


@case(1e-5)
def chained_shares():
    return shares(np.float32, wanted=False)


@case(1e-5)
def chained_shares_wanted():
    return shares(np.float32, wanted=True)


@case(1e-5)
def chained_two_runs():
    s = tanh(r(2, 200, 16) @ r(2, 16, 220))
    return [(s - s.sum(-1, keepdims=True) * 0.01) @ r(2, 220, 16)]


@case(1e-5)
def chained_deep():
    return [maximum(r(300, 200) @ r(200, 256), 0.0) @ r(256, 40)]


@case(3e-2)
def mixed_precision():
    x, w = r(64, 64), r(64, 64)
    return [cast(x, float16) @ cast(w, float16), neural.softmax(cast(x, bfloat16))]


# ---- tiles that read beside themselves


@case()
def tile_and_the_first_of_its_row() -> list[Any]:
    beside = r(70, 20) @ r(20, 70)
    first = slice_(beside, [(0, 70, 1), (0, 1, 1)])
    return [(r(70, 33) @ r(33, 70) + beside - first) @ (r(70, 5) * 0.01)]


@case()
def many_batch_axes() -> list[Any]:
    return [r(2, 1, 3, 1, 2, 4, 5) @ r(1, 2, 3, 2, 1, 5, 3)]


@case(0)
def looked_up_at_a_product_of_one_column() -> list[Any]:
    index = integers(3, 9, 4, kind=np.float32) @ integers(2, 4, 1, kind=np.float32)
    return [c.take(r(7, 3), cast(index, int64) % 7, axis=0)]


# ---- loops and branches


def of_tensors(f: Callable[..., Any], *nodes: Any) -> list[Any]:
    """What a function of tensors makes of nodes."""
    found: list[Any] = []
    flatten(f(*map(Tensor, nodes)), Tensor, found)
    return [x._node for x in found]


@case(1e-5)
def loop_with_a_gradient() -> list[Any]:
    def run(h: Any, xs: Any, w: Any) -> Any:
        last, ys = scan(lambda h, x: ((new := (x + h @ w).tanh()), new * x), h, xs)
        return last.sum() + (ys * ys).sum()

    w = r(20, 20) * 0.1
    return of_tensors(value_and_grad(run, (0, 1, 2)), r(3, 20), r(5, 3, 20), w)


@case()
def branches_and_a_bounded_loop() -> list[Any]:
    def run(x: Any) -> Any:
        y = cond(x.sum() > 1e6, lambda x: x * 2, lambda x: x - 1, x)
        z = while_loop(lambda x: x.abs().sum() < 5000, lambda x: x * 2, y, max_steps=6)
        return y, z

    return of_tensors(run, r(9, 70))
