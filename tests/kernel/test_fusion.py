"""How many kernels graphs become: what reads the same rows is one, named in a table or not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import treadle as td
from treadle.autograd.backward import gradients
from treadle.base.dtypes import dtype, int64
from treadle.ir.graph import structure
from treadle.ir.node import leaf, type_of
from treadle.kernel.steps import ProductStep
from treadle.ops import activations, neural
from treadle.ops import composite as c
from treadle.ops import elementwise as e
from treadle.ops.contract import matrix_product
from treadle.ops.defs import TABLE, Samples
from treadle.ops.reduce import max_, sum_
from treadle.runtime.realize import compile_graph
from treadle.testing.arrays import by_reference, compiled, node_of
from treadle.testing.gradcheck import gradcheck

ONE = {"rows": 1}


def given(*shape, kind="float32"):
    return leaf(type_of(shape, dtype(kind)), object())


def kernels_of(*roots):
    """How many kernels of each sort the compiled program has."""
    program = compile_graph(roots, structure(roots)[1], {})
    count = Counter()
    for step in program.steps:
        if isinstance(step, ProductStep):
            count["products"] += 1
            count["epilogues"] += step.epilogue is not None
            continue
        for built in step.programs():
            count["rows" if built.joins is None else "joins"] += 1
    return dict(+count)


def backward(y, *wrt):
    """The roots of forward and backward with a given cotangent."""
    upstream = given(*y.shape, kind=y.dtype.name)
    return [y, *gradients([y], wrt, [upstream])]


# ---- made up here: nothing in the compiler names them


def cubic_norm(x, axis):
    """x over the cube root of the mean of |x|³."""
    size = c.mean(abs(x) * abs(x) * abs(x), axis=axis, keepdims=True)
    return x / e.float_power(size, 1.0 / 3.0)


def third_from_two(x, axis):
    """Two reductions feed a third, which scales the rows."""
    top = max_(x, axis=axis, keepdims=True)
    total = sum_(e.exp(x - top), axis=axis, keepdims=True)
    third = sum_((x - top) * e.exp(x - top) / total, axis=axis, keepdims=True)
    return x * third


def range_norm(x, axis):
    """Between 0 and 1 by the row's extremes."""
    low = -max_(-x, axis=axis, keepdims=True)
    return (x - low) / (max_(x, axis=axis, keepdims=True) - low + 0.01)


def spread_loss(x, axis):
    """One number a row: log of the mean square distance from the mean, plus the largest."""
    away = x - c.mean(x, axis=axis, keepdims=True)
    return e.log(c.mean(away * away, axis=axis) + 1.0) + max_(x, axis=axis)


MADE_UP = {f.__name__: f for f in (cubic_norm, third_from_two, range_norm, spread_loss)}
SHAPES = {
    "rows": ((64, 96), -1), "odd": ((37, 71), -1), "columns": ((45, 70), 0),
    "middle": ((6, 19, 33), 1), "two axes": ((5, 7, 33), (1, 2)), "long": ((3, 5000), -1),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_function_is_one_kernel(name, shape):
    sizes, axis = SHAPES[shape]
    assert kernels_of(MADE_UP[name](given(*sizes), axis)) == ONE


@pytest.mark.parametrize("kind", ["float64", "bfloat16", "float16"])
@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_function_is_one_kernel_in_any_float(name, kind):
    assert kernels_of(MADE_UP[name](given(33, 70, kind=kind), -1)) == ONE


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_function_and_its_gradient_are_one_kernel(name):
    x = given(64, 96)
    assert kernels_of(*backward(MADE_UP[name](x, -1), x)) == ONE


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_function_is_right_in_one_kernel(name):
    array = np.random.default_rng(3).standard_normal((37, 71)).astype(np.float32)
    x = node_of(array)
    roots = backward_of(MADE_UP[name](x, -1), x)
    expected = by_reference(roots, precise=True)
    for result, value in zip(compiled(roots), expected, strict=True):
        scale = max(1.0, np.abs(value).max())
        np.testing.assert_allclose(result, value, rtol=2e-5, atol=4e-6 * scale)


def backward_of(y, x):
    upstream = node_of(np.random.default_rng(4).standard_normal(y.shape).astype(np.float32))
    return [y, *gradients([y], [x], [upstream])]


KNOWN = {
    "softmax": (lambda: [neural.softmax(given(64, 100))], ONE),
    "softmax over columns": (lambda: [neural.softmax(given(70, 45), axis=0)], ONE),
    "log softmax": (lambda: [neural.log_softmax(given(9, 17))], ONE),
    "variance": (lambda: [c.var(given(64, 100), axis=1)], ONE),
    "layer norm": (lambda: [neural.layer_norm(given(64, 96), given(96), given(96))], ONE),
    "chain": (lambda: [e.tanh(e.exp(given(8, 8) * given(8, 8)) / 2.5) + given(8)], ONE),
    "argmax": (lambda: [c.argmax(given(30, 40), axis=1)], ONE),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_function_is_one_kernel(name):
    make, expected = KNOWN[name]
    assert kernels_of(*make()) == expected


def test_softmax_forward_and_backward_is_one_kernel():
    x = given(64, 100)
    assert kernels_of(*backward(neural.softmax(x), x)) == ONE


def test_layer_norm_forward_and_backward_is_one_kernel_and_two_joins_of_columns():
    x, weight, bias = given(256, 96), given(96), given(96)
    roots = backward(neural.layer_norm(x, weight, bias), x, weight, bias)
    assert kernels_of(*roots) == {"rows": 1, "joins": 2}


def test_cross_entropy_forward_and_backward_is_one_kernel_between_a_count_and_a_mean():
    x, labels = given(128, 50), leaf(type_of((128,), int64), object())
    loss = neural.cross_entropy(x, labels, reduction="sum")
    assert kernels_of(loss, *gradients([loss], [x], [None])) == {"rows": 2}
    loss = neural.cross_entropy(x, labels)  # labels that are not ignored are counted first
    assert kernels_of(loss, *gradients([loss], [x], [None])) == {"rows": 3}


def test_activation_and_bias_run_on_the_tiles_of_the_product():
    x, w, b = given(64, 32), given(32, 48), given(48)
    assert kernels_of(activations.gelu(matrix_product(x, w) + b)) == {"products": 1, "epilogues": 1}
    assert kernels_of(matrix_product(x, w)) == {"products": 1}


def test_residual_runs_on_the_tiles_too():
    x, w, b, skip = given(64, 32), given(32, 48), given(48), given(64, 48)
    assert kernels_of(skip + (matrix_product(x, w) + b)) == {"products": 1, "epilogues": 1}


def test_functions_of_the_same_rows_join_sideways():
    x = given(64, 100)
    assert kernels_of(neural.softmax(x), neural.layer_norm(x), e.exp(x)) == ONE


def test_sums_down_many_rows_are_made_in_blocks_and_joined():
    assert kernels_of(cubic_norm(given(70, 45), 0)) == {"rows": 2, "joins": 1}


def test_a_row_added_to_the_table_is_an_op_everywhere():
    name = "test_soft_threshold"

    def test_soft_threshold(x, /, by=0.5):
        """x moved towards 0 by a number, scaled by the mean of its row."""
        moved = e.where(abs(x) > by, x - e.where(x > 0.0, by, -by), x * 0.0)
        return moved * c.mean(abs(x), axis=-1, keepdims=True)

    reference = lambda np, x, by=0.5: (  # noqa: E731
        np.sign(x) * np.maximum(np.abs(x) - by, 0) * np.abs(x).mean(-1, keepdims=True)
    )
    try:
        op = c.composite(reference, Samples())(test_soft_threshold)
        array = np.random.default_rng(0).standard_normal((5, 33))
        expected = reference(np, array, by=0.25)
        result = op(td.tensor(array), by=0.25)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12)
        traced = td.compile(lambda t: op(t, by=0.25))(td.tensor(array))
        np.testing.assert_allclose(traced.numpy(), expected, rtol=1e-12)
        assert kernels_of(op(given(64, 100))) == ONE
        gradcheck(lambda t: op(t, by=0.25), [array])
    finally:
        TABLE.pop(name, None)


@pytest.mark.parametrize("size", [63, 64, 200])
def test_totals_of_rows_and_of_columns_stay_apart(size):
    """Of a square there are as many of the one as of the other."""
    rng = np.random.default_rng(1)
    square, along = (rng.integers(-8, 9, shape) for shape in ((size, size), (size, 1)))

    def both(square, along):
        return (square * 2).sum(1, keepdims=True) + (square * along).sum(0).reshape(-1, 1)

    given = [td.tensor(x, dtype=td.float64) for x in (square, along)]
    np.testing.assert_array_equal(td.compile(both)(*given).numpy(), both(square, along))
    np.testing.assert_array_equal(both(*given).numpy(), both(square, along))
