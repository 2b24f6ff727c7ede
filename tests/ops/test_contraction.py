"""Convolutions, pools, einsum and attention: refusals, edges, and the order of products."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError
from treadle.ops import einsum as e
from treadle.ops.windows import fold, shear, windows

image = td.ones(2, 4, 8, 8)
weight = td.ones(6, 4, 3, 3)
m = td.ones(3, 4)
v = td.ones(4)
heads = td.ones(1, 6, 5, 4)

# fmt: off
WRONG = {
    "conv-rank": (lambda: td.conv2d(td.ones(8, 8), weight), ShapeError, "conv2d", "spatial"),
    "conv-weight": (lambda: td.conv2d(image, td.ones(6, 4, 3)), ShapeError, "conv2d", "weight"),
    "conv-channels": (lambda: td.conv2d(td.ones(2, 3, 8, 8), weight),
        ShapeError, "conv2d", "4 channels"),
    "conv-groups": (lambda: td.conv2d(image, weight, groups=4), ArgumentError, "conv2d", "groups"),
    "conv-no-groups": (lambda: td.conv2d(image, weight, groups=0),
        ArgumentError, "conv2d", "groups"),
    "conv-bias": (lambda: td.conv2d(image, weight, td.ones(5)), ShapeError, "conv2d", "6 channels"),
    "conv-small": (lambda: td.conv2d(td.ones(2, 4, 2, 8), weight), ShapeError, "conv2d", "padding"),
    "conv-same": (lambda: td.conv2d(image, weight, stride=2, padding="same"),
        ArgumentError, "conv2d", "numbers"),
    "conv-word": (lambda: td.conv2d(image, weight, padding="half"),
        ArgumentError, "conv2d", "'same', 'valid'"),
    "conv-stride": (lambda: td.conv2d(image, weight, stride=0), ArgumentError, "conv2d", "least 1"),
    "conv-strides": (lambda: td.conv2d(image, weight, stride=(1, 2, 1)),
        ArgumentError, "conv2d", "2 axes"),
    "conv-padding": (lambda: td.conv2d(image, weight, padding=-1),
        ArgumentError, "conv2d", "least 0"),
    "conv-fraction": (lambda: td.conv2d(image, weight, dilation=1.5),
        ArgumentError, "conv2d", "whole number"),
    "transpose-channels": (lambda: td.conv_transpose2d(image, weight),
        ShapeError, "conv_transpose2d", "6 channels"),
    "transpose-output": (lambda: td.conv_transpose2d(image, td.ones(4, 6, 3, 3), output_padding=1),
        ArgumentError, "conv_transpose2d", "smaller"),
    "transpose-nothing": (lambda: td.conv_transpose1d(td.ones(1, 2, 1), td.ones(2, 1, 2),
        padding=1), ShapeError, "conv_transpose1d", "leaves nothing"),
    "pool-rank": (lambda: td.max_pool2d(m, 2), ShapeError, "max_pool2d", "spatial"),
    "pool-large": (lambda: td.max_pool2d(image, 9), ShapeError, "max_pool2d", "smaller window"),
    "pool-padding": (lambda: td.avg_pool2d(image, 2, padding=2),
        ArgumentError, "avg_pool2d", "half"),
    "pool-divisor": (lambda: td.avg_pool2d(image, 2, divisor_override=0),
        ArgumentError, "avg_pool2d", "not 0"),
    "pool-how": (lambda: td.pool(image, (2, 2), how="min"), ArgumentError, "pool", "'max'"),
    "pool-power": (lambda: td.lp_pool1d(m, 0.0, 2), ArgumentError, "lp_pool1d", "positive"),
    "adaptive-size": (lambda: td.adaptive_avg_pool2d(image, (2, 2, 2)),
        ArgumentError, "adaptive_avg_pool2d", "2 axes"),
    "fractional-both": (lambda: td.fractional_max_pool2d(image, td.ones(2, 4, 2), 2),
        ArgumentError, "fractional_max_pool2d", "one of them"),
    "fractional-samples": (lambda: td.fractional_max_pool2d(image, td.ones(3), 2, output_size=3),
        ShapeError, "fractional_max_pool2d", "8 planes"),
    "interpolate-mode": (lambda: td.interpolate(image, 4, mode="trilinear"),
        ArgumentError, "interpolate", "5 axes"),
    "interpolate-neither": (lambda: td.interpolate(image), ArgumentError, "interpolate", "one of"),
    "interpolate-factor": (lambda: td.interpolate(image, scale_factor=-1.0),
        ArgumentError, "interpolate", "positive"),
    "interpolate-corners": (lambda: td.interpolate(image, 4, align_corners=True),
        ArgumentError, "interpolate", "align_corners"),
    "shuffle": (lambda: td.pixel_shuffle(image, 3), ShapeError, "pixel_shuffle", "divisible by 9"),
    "unshuffle": (lambda: td.pixel_unshuffle(image, 3), ShapeError, "pixel_unshuffle", "divisible"),
    "unfold-size": (lambda: td.unfold(v, 0, 5), ShapeError, "unfold", "smaller window"),
    "unfold-axis": (lambda: td.unfold(v, 1, 2), ShapeError, "unfold", "axes run"),
    "windows-sizes": (lambda: windows(m, 3), ArgumentError, "windows", "one size"),
    "windows-large": (lambda: windows(m, (5,)), ShapeError, "windows", "smaller window"),
    "fold-axes": (lambda: fold(m, (4, 4)), ArgumentError, "fold", "2 of them"),
    "shear-axes": (lambda: shear(m, 0, 0, 1, 3), ArgumentError, "shear", "two axes"),
    "einsum-count": (lambda: td.einsum("ij,jk", m), ArgumentError, "einsum", "each operand"),
    "einsum-rank": (lambda: td.einsum("ijk", m), ArgumentError, "einsum", "one letter"),
    "einsum-size": (lambda: td.einsum("ij,jk", m, m), ShapeError, "einsum", "two sizes"),
    "einsum-diagonal": (lambda: td.einsum("ii", m), ShapeError, "einsum", "two sizes"),
    "einsum-output": (lambda: td.einsum("ij->ik", m), ArgumentError, "einsum", "result"),
    "einsum-twice": (lambda: td.einsum("ij->ii", m), ArgumentError, "einsum", "each once"),
    "einsum-sign": (lambda: td.einsum("i+j", m), ArgumentError, "einsum", "letters"),
    "einsum-operand": (lambda: td.einsum("i", [1.0]), OperandError, "einsum", "td.tensor"),
    "einsum-bool": (lambda: td.einsum("ij,jk", m > 0, m.T > 0), DtypeError, "matmul", "cast"),
    "tensordot-axes": (lambda: td.tensordot(m, m, 3), ArgumentError, "tensordot", "at most"),
    "tensordot-sizes": (lambda: td.tensordot(m, m, 1), ShapeError, "tensordot", "size"),
    "outer": (lambda: td.outer(m, v), ShapeError, "outer", "einsum"),
    "vecdot": (lambda: td.vecdot(m, td.ones(3)), ShapeError, "vecdot", "two sizes"),
    "bmm-rank": (lambda: td.bmm(m, m), ShapeError, "bmm", "3 axes"),
    "bmm-batch": (lambda: td.bmm(td.ones(2, 3, 4), td.ones(1, 4, 3)), ShapeError, "bmm", "matmul"),
    "heads": (lambda: td.scaled_dot_product_attention(heads, heads[:, :4], heads[:, :4]),
        ShapeError, "scaled_dot_product_attention", "multiple"),
}
# fmt: on


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_with_the_name_of_the_op(name):
    call, kind, op, words = WRONG[name]
    with pytest.raises(kind, match=op) as caught:
        call()
    assert words in str(caught.value)


def test_a_row_that_sees_nothing_gives_zero_and_no_gradient():
    rng = np.random.default_rng(0)
    q = td.tensor(rng.normal(size=(1, 2, 3, 4)))
    mask = td.tensor(np.array([[True, False, True], [False] * 3, [True] * 3]))
    y = td.scaled_dot_product_attention(q, q, q, mask)
    assert not y[:, :, 1].numpy().any()
    (g,) = td.gradients(td.scaled_dot_product_attention(q, q + 1.0, q + 2.0, mask).sum(), [q])
    assert np.isfinite(g.numpy()).all()
    added = td.where(mask, td.tensor(0.0, dtype="float64"), -np.inf)
    np.testing.assert_array_equal(td.scaled_dot_product_attention(q, q, q, added).numpy(), y)


def test_grouped_heads_share_keys_as_if_they_were_repeated():
    rng = np.random.default_rng(0)
    q, k, w = (td.tensor(rng.normal(size=(2, n, 5, 4))) for n in (6, 2, 2))
    wide = [td.tensor(np.repeat(x.numpy(), 3, 1)) for x in (k, w)]
    found = td.scaled_dot_product_attention(q, k, w, is_causal=True)
    np.testing.assert_allclose(
        found.numpy(), td.scaled_dot_product_attention(q, *wide, is_causal=True).numpy(), rtol=1e-12
    )


def test_a_pool_of_nan_is_nan_and_of_minus_infinity_is_minus_infinity():
    x = np.array([[np.nan, 1.0, 2.0, -np.inf, -np.inf, -np.inf]], np.float32)
    y = td.max_pool1d(td.tensor(x), 3, padding=1).numpy()
    np.testing.assert_array_equal(y, [[np.nan, 2.0]])
    last = td.max_pool1d(td.tensor(x[:, 3:]), 3, padding=1).numpy()
    np.testing.assert_array_equal(last, [[-np.inf]])


def test_the_chain_with_the_fewest_multiplications_is_taken():
    sizes = (("a", 2), ("b", 500), ("c", 3), ("d", 400))
    labels = (("a", "b"), ("b", "c"), ("c", "d"))
    assert e._path(labels, ("a", "d"), sizes) in (((0, 1), 2), (2, (0, 1)))
    sizes = (("a", 500), ("b", 2), ("c", 400), ("d", 3))
    assert e._path(labels, ("a", "d"), sizes) in ((0, (1, 2)), ((1, 2), 0))


def test_many_operands_are_joined_greedily():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(2, 2)) for _ in range(9)]
    letters = "abcdefghij"
    terms = ",".join(letters[k : k + 2] for k in range(9))
    found = td.einsum(f"{terms}->aj", *map(td.tensor, parts)).numpy()
    np.testing.assert_allclose(found, np.linalg.multi_dot(parts), rtol=1e-12)
