"""What ops give at their edges: no elements, no axes, very many elements, no gradient."""

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import GradientError

# ---- no elements, no axes


@pytest.mark.parametrize("shape", [(2, 0), (0, 2), (0,), (0, 0)])
@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_of_nothing_is_nothing(shape, axis):
    for op in (td.softmax, td.log_softmax):
        x = td.zeros(shape).requires_grad_()
        y = op(x, axis=axis)
        assert y.numpy().shape == shape
        y.sum().backward()
        assert x.grad.numpy().shape == shape


def test_logsumexp_of_nothing_is_the_logarithm_of_nothing():
    assert td.logsumexp(td.zeros((2, 0)), axis=1).tolist() == [-np.inf] * 2
    assert td.logsumexp(td.zeros((2, 0)), axis=0).shape == (0,)
    assert td.logsumexp(td.zeros((0,)), keepdims=True).tolist() == [-np.inf]


@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_is_a_line_of_one_element(axis):
    for op, expected in (
        (td.softmax, 1.0), (td.log_softmax, 0.0), (td.cumsum, 3.0), (td.cumprod, 3.0),
        (td.cummax, 3.0), (td.cummin, 3.0), (td.logcumsumexp, 3.0),
    ):  # fmt: skip
        x = td.tensor(3.0).requires_grad_()
        y = op(x, axis=axis)
        assert (y.shape, y.item()) == ((), expected), op
        y.backward()
        assert x.grad.item() == (0.0 if "softmax" in op.__name__ else 1.0)
        with pytest.raises(ValueError, match="out of range"):
            op(x, axis=1)


# ---- very many elements


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1_000_000, 3), 0), ((3, 1_000_000), 1), ((2, 500_000, 3), 1), ((700_001, 2), 0),
     ((3, 700_001), 1), ((1_000_000, 1), 0), ((200_000, 70), 0), ((500, 2_000, 3), (0, 1))],
)  # fmt: skip
def test_sums_along_long_axes_keep_their_digits(shape, axis):
    x = td.full(shape, 0.1)
    count = np.prod(shape) // np.prod(x.sum(axis=axis).shape)
    found = x.realize().sum(axis=axis).numpy().astype(np.float64)
    np.testing.assert_allclose(found, count * np.float64(np.float32(0.1)), rtol=3e-5)
    assert found.shape == np.empty(shape, bool).sum(axis).shape


def test_long_columns_are_added_right_whatever_their_number():
    rng = np.random.default_rng(0)
    for shape, axis in (
        ((40_000, 5), 0),
        ((2, 33_333, 3), 1),
        ((20_000, 1), 0),
        ((300, 100, 7), (0, 1)),
    ):
        array = rng.integers(-50, 50, shape)
        for name in ("sum", "max", "min"):
            found = getattr(td.tensor(array), name)(axis=axis).numpy()
            np.testing.assert_array_equal(found, getattr(array, name)(axis), err_msg=str(shape))
        floats = array.astype(np.float32).astype("float16")
        total = td.tensor(floats).cast("bfloat16").sum(axis=axis).cast("float32").numpy()
        np.testing.assert_allclose(total, array.sum(axis), rtol=1e-2, atol=0.5)


# ---- no gradient


@pytest.mark.parametrize("name", ["sign", "floor", "ceil", "round", "trunc"])
def test_leaves_behind_a_flat_op_get_zeros(name):
    x = td.tensor([1.5, -2.0]).requires_grad_()
    getattr(x, name)().sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    (getattr(x, name)() * x).sum().backward()  # what was there is added to
    assert x.grad.tolist() == getattr(x, name)().tolist()


def test_an_op_without_a_gradient_is_named():
    x = td.tensor([1.5, -2.0]).requires_grad_()
    for make, words in (
        (lambda: x.argmax(), "argmax has no gradient: its result is an index"),
        (lambda: (x > 1).cast("int32").sum(), "gt has no gradient"),
        (lambda: (x * 2).cast("int64").sum(), "cast has no gradient: its result is int64"),
        (lambda: x.detach().sum(), "nothing here requires"),
    ):
        with pytest.raises(GradientError, match=words):
            make().backward()


# ---- products with zeros


@pytest.mark.parametrize("zeros", [(), (1,), (0, 3), (0, 1, 2)])
def test_derivatives_of_a_product_at_zeros(zeros):
    x = np.array([2.0, -3.0, 0.5, 1.5])
    x[list(zeros)] = 0.0

    def without(*places):
        return np.prod(np.delete(x, places))

    t = td.tensor(x).requires_grad_()
    t.prod().backward(create_graph=True)
    first = t.grad
    np.testing.assert_allclose(first.numpy(), [without(j) for j in range(4)])
    for j in range(4):
        t.grad = None
        first[j].backward(create_graph=True)
        second = [0.0 if j == k else without(j, k) for k in range(4)]
        np.testing.assert_allclose(t.grad.numpy(), second, err_msg=str(j))
