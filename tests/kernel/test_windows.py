"""Windows in kernels: what is one loop, what is read in place, and indices behind guards."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import treadle as td
from treadle.autograd.backward import gradients
from treadle.base.dtypes import float32
from treadle.ir.graph import structure
from treadle.ir.node import LEAF, leaf, type_of
from treadle.kernel.index import Axis, Index, Quotient, assumed, of_axis, ravel, resolved, unravel
from treadle.kernel.loops import indices_of
from treadle.kernel.operands import Separable
from treadle.kernel.steps import ProductStep
from treadle.ops import convolution, pooling, windows
from treadle.ops import movement as m
from treadle.ops.defs import TABLE
from treadle.ops.reduce import sum_
from treadle.runtime.realize import compile_graph
from treadle.testing.arrays import by_reference, compiled, node_of


def given(*shape):
    return leaf(type_of(shape, float32), object())


def steps_of(*roots):
    return compile_graph(roots, structure(roots)[1], {}).steps


def kernels_of(*roots):
    count = Counter()
    for step in steps_of(*roots):
        multiplies = isinstance(step, ProductStep)
        count["products"] += multiplies
        count["loops"] += 0 if multiplies else len(step.programs())
    return dict(+count)


def gradient_of(y, *wrt):
    return gradients([y], wrt, [given(*y.shape)])


image = given(2, 8, 20, 20)


@pytest.mark.parametrize(
    "y",
    [
        pooling.max_pool2d(image, 3, 2, 1),
        pooling.avg_pool2d(image, 3, 2, 1, count_include_pad=False),
        pooling.lp_pool2d(image, 2.0, 2),
        windows.fold(given(2, 3, 3, 18, 18), (20, 20), (1, 1), (1, 1)),
    ],
    ids=lambda y: y.op.name,
)
def test_a_pool_is_one_kernel_without_copies(y):
    assert kernels_of(y) == {"loops": 1}


def test_a_convolution_is_one_copy_and_one_product_with_its_bias():
    weight, bias = given(16, 8, 3, 3), given(16)
    y = convolution.conv2d(image, weight, bias, padding=1)
    assert kernels_of(y) == {"loops": 1, "products": 1}
    assert any(step.epilogue for step in steps_of(y) if isinstance(step, ProductStep))


def test_a_pointwise_convolution_reads_the_image_in_place():
    y = convolution.conv2d(image, given(16, 8, 1, 1))
    assert kernels_of(y) == {"products": 1}


def test_a_strided_convolution_writes_only_the_columns_it_reads():
    y = convolution.conv2d(image, given(16, 8, 3, 3), stride=2, padding=1)
    (copy,) = [step for step in steps_of(y) if not isinstance(step, ProductStep)]
    assert sum(node.type.size for node in copy.writes) == 2 * 8 * 9 * 10 * 10


def test_the_gradient_of_windows_is_one_reduction():
    y = windows.unfold(image, axis=-1, size=3)
    assert kernels_of(*gradient_of(y, image)) == {"loops": 1}


def test_the_gradient_of_a_convolution_is_a_product_of_the_padded_cotangent():
    weight = given(16, 8, 3, 3)
    y = convolution.conv2d(image, weight, padding=1)
    assert kernels_of(*gradient_of(y, image)) == {"loops": 1, "products": 1}


def test_windows_of_a_product_are_read_in_place():
    y = convolution.conv2d(given(2, 64, 40, 40), given(64, 64, 3, 3))
    (product,) = steps_of(y)
    assert product.turned
    assert isinstance(product.right, Separable)
    assert product.right.base.op is LEAF


def test_a_strided_fold_divides_no_index():
    """What a guard has checked is known below it: views cancel there too."""
    y = windows.fold(given(2, 4, 3, 3, 14, 14), (28, 28), (2, 2), (1, 1), (1, 1))
    sums = [step for step in steps_of(y) if any(n.op is sum_ for n in step.cluster.members)]
    indices = [
        index
        for step in sums
        for built in step.programs()
        for ex in built.loops.order()
        for index in indices_of(ex)
    ]
    assert indices
    assert not [i for i in indices if any(isinstance(atom, Quotient) for atom, _ in i.terms)]


def test_an_assumed_index_is_the_plain_one_where_the_assumption_holds():
    i, k = Axis("i", 9), Axis("k", 4)
    slanted = of_axis(i) + of_axis(k) * -2 + 1
    inside = unravel(ravel((assumed(slanted, 6), of_axis(k)), (6, 4)), (3, 8))
    found = [resolved(part) for part in inside]
    checked = 0
    for a in range(9):
        for b in range(4):
            place = a - 2 * b + 1
            if 0 <= place < 6:
                expected = divmod(place * 4 + b, 8)
                assert tuple(value_of(part, {i: a, k: b}) for part in found) == expected
                checked += 1
    assert checked > 10


def value_of(index, point):
    total = index.constant
    for atom, c in index.terms:
        if isinstance(atom, Axis):
            total += c * point[atom]
        else:
            inner = value_of(atom.of, point)
            by = atom.by
            total += c * (inner // by if type(atom) is Quotient else inner % by)
    return total


def test_a_constant_in_a_quotient_counts_towards_whole_turns():
    row, column = Axis("row", 56), Axis("column", 56)
    index = Index([(row, 58), (column, 1)], 59) // 116
    assert index == Index([(row, 1)], 1) // 2


def test_views_below_guards_give_the_reference_values():
    x = node_of(np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32))
    padded = m.pad(x.reshape(2, 12), [(1, 0), (2, 3)])
    slanted = windows.shear(x.reshape(3, 8), 1, 0, -2, 11, 1, 5)
    joined = m.concat([x.reshape(24), x.permute(1, 0).reshape(24)])
    roots = [padded, slanted, joined]
    for found, wanted in zip(compiled(roots), by_reference(roots), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("options", [
    {"padding": 1}, {"padding": (2, 0)}, {"padding": 1, "stride": 2}, {"padding": 2, "dilation": 2},
    {"padding": (0, 1), "stride": (1, 2)},
])  # fmt: skip
@pytest.mark.parametrize("size", [(1, 1), (5, 3), (16, 17), (3, 33)])
def test_shifted_reads_of_a_padded_view_are_guarded_at_every_border(size, options):
    generator = np.random.default_rng(sum(size))
    x, weight = generator.standard_normal((3, 5, *size)), generator.standard_normal((5, 1, 3, 3))
    given = [td.tensor(a, dtype=td.float32) for a in (x, weight)]
    reference = TABLE["conv2d"].reference
    try:
        expected = reference(np, x, weight, groups=5, **options)
    except ValueError:
        pytest.skip("no window")
    if not expected.size:
        pytest.skip("no window")
    found = td.compile(lambda x, w: td.conv2d(x, w, groups=5, **options))(*given).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
