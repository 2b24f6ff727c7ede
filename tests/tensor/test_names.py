"""Names and small behaviours that users of PyTorch and NumPy know, found here too."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, GradientError, OperandError
from treadle.ops.neural import softmax

rng = np.random.default_rng(0)
A = rng.standard_normal((3, 4)).astype(np.float32)
MASK = A > 0


# ---- methods

METHODS = {
    "where": (lambda x: x.where(td.tensor(MASK), -1.0), np.where(MASK, A, np.float32(-1))),
    "where-tensor": (lambda x: x.where(x > 0, x * 2), np.where(MASK, A, A * 2)),
    "astype": (lambda x: x.astype("int32"), A.astype(np.int32)),
    "sum": (lambda x: x.sum(axis=0, dtype="float64"), A.astype(np.float64).sum(0)),
    "prod": (lambda x: x.prod(axis=1, dtype=td.float64), A.astype(np.float64).prod(1)),
    "reshape": (lambda x: x.reshape(4, 3, copy=True), A.reshape(4, 3)),
    "cast-method": (lambda x: x.cast(dtype="int8"), A.astype(np.int8)),
    "cast-function": (lambda x: td.cast(x, dtype="int8"), A.astype(np.int8)),
    "zeros_like": (lambda x: x.zeros_like(dtype="int8"), np.zeros((3, 4), np.int8)),
    "ones_like": (lambda x: x.ones_like(), np.ones((3, 4), np.float32)),
    "full_like": (lambda x: x.full_like(7, dtype="int16"), np.full((3, 4), 7, np.int16)),
    "empty_like": (lambda x: x.empty_like(), np.zeros((3, 4), np.float32)),
    "tile": (lambda x: x.tile(2, 1, 2), np.tile(A, (2, 1, 2))),
    "tile-tuple": (lambda x: td.tile(x, repetitions=(2, 2)), np.tile(A, (2, 2))),
    "t": (lambda x: x.t(), A.T),
    "t-vector": (lambda x: x[0].t(), A[0]),
    "cpu": (lambda x: x.cpu(), A),
    "round": (lambda x: round(x), np.rint(A)),
    "round-decimals": (lambda x: round(x, 1), np.round(A, 1)),
    "round-tens": (lambda x: td.round(x * 100, decimals=-1), np.round(A * 100, -1)),
    "round-integers": (lambda x: td.round(td.tensor([14, 15, -26]), decimals=-1), [10, 20, -30]),
    "take-axis": (lambda x: td.take(x, td.tensor([2, 0]), axis=1), np.take(A, [2, 0], 1)),
    "take-names": (lambda x: td.take(x, indices=td.tensor([1]), axis=0), A[1:2]),
    "div-floor": (lambda x: td.div(x, 0.3, rounding_mode="floor"), A // np.float32(0.3)),
    "div-trunc": (lambda x: td.div(x, 0.3, rounding_mode="trunc"), np.trunc(A / np.float32(0.3))),
    "div": (lambda x: x.div(2), A / 2),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_method_gives_what_numpy_gives(name):
    call, expected = METHODS[name]
    found = call(td.tensor(A)).numpy()
    assert found.shape == np.shape(expected)
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_division_of_integers_is_truncated_towards_zero():
    x = np.array([-7, 7, -8, 8, 0, -1, 1])
    for y in (2, -2, 3, 8):
        found = td.div(td.tensor(x), y, rounding_mode="trunc")
        assert found.dtype is td.int64
        np.testing.assert_array_equal(found.numpy(), np.trunc(x / y))
    with pytest.raises(ArgumentError, match="floor"):
        td.div(td.tensor(x), 2, rounding_mode="up")


def test_facts_by_pytorchs_names():
    x = td.tensor(A, requires_grad=True)
    assert (x.numel(), x.dim()) == (12, 2)
    assert not x.data.requires_grad
    np.testing.assert_array_equal(x.data.numpy(), A)
    assert td.is_grad_enabled()
    with td.no_grad():
        assert not td.is_grad_enabled()


def test_nothing_equals_none():
    x = td.ones(3)
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711


# ---- makers

MAKERS = {
    "zeros": lambda **o: td.zeros(2, 3, **o),
    "ones": lambda **o: td.ones((2, 3), **o),
    "empty": lambda **o: td.empty(2, **o),
    "full": lambda **o: td.full((2,), 1.5, **o),
    "arange": lambda **o: td.arange(0.0, 3.0, **o),
    "linspace": lambda **o: td.linspace(0, 1, 5, **o),
    "logspace": lambda **o: td.logspace(0, 1, 5, **o),
    "eye": lambda **o: td.eye(3, **o),
    "tensor": lambda **o: td.tensor([1.0], **o),
    "zeros_like": lambda **o: td.zeros_like(td.ones(2), **o),
    "ones_like": lambda **o: td.ones_like(td.ones(2), **o),
    "full_like": lambda **o: td.full_like(td.ones(2), 3.0, **o),
    "empty_like": lambda **o: td.empty_like(td.ones(2), **o),
    "rand": lambda **o: td.rand(2, 3, **o),
    "randn": lambda **o: td.randn((2, 3), **o),
}


@pytest.mark.parametrize("name", MAKERS)
def test_maker_can_ask_for_a_gradient(name):
    plain, x = MAKERS[name](), MAKERS[name](requires_grad=True)
    assert not plain.requires_grad
    assert x.requires_grad
    assert x.is_leaf
    (x * 3.0).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full(x.shape, 3.0, np.float32))


def test_integers_have_no_gradient_to_ask_for():
    with pytest.raises(GradientError, match="int32"):
        td.zeros(2, dtype="int32", requires_grad=True)


def test_random_makers_by_pytorchs_names():
    assert td.rand(3, 4).shape == td.randn(3, 4).shape == (3, 4)
    assert td.rand(()).shape == td.randn().shape == ()
    x = td.randint(2, 5, (1000,)).numpy()
    assert set(x.tolist()) == {2, 3, 4}
    assert set(td.randint(2, (100,)).tolist()) == {0, 1}
    assert sorted(td.randperm(9).tolist()) == list(range(9))
    with pytest.raises(ArgumentError, match="shape"):
        td.randint(3, 5)


def test_gradients_are_shown():
    assert repr(td.tensor([1.0], requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert "requires_grad" not in repr(td.tensor([1.0]))


WRONG = {
    "ragged": ([[1], [2, 3]], "the lists differ in length"),
    "none": (None, "NoneType is no number"),
    "none-in-list": ([1, None], "NoneType in a list"),
    "large": (2**70, f"{2**70} does not fit into 64 bits"),
    "large-in-list": ([1, -(2**65)], f"{-(2**65)} does not fit"),
    "text": (["a"], "str_ in a list is no number"),
    "bytes": (b"a", "bytes_ is no number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_data_that_is_no_array_is_told_apart(name):
    data, says = WRONG[name]
    for make in (td.tensor, td.asarray):
        with pytest.raises(ArgumentError) as caught:
            make(data)
        assert str(caught.value).startswith(f"{make.__name__}: {says}")


# ---- options


def test_unique_returns_what_is_asked_for():
    data = np.array([3, 1, 3, 2, 1, 1])
    found = td.unique(td.tensor(data), return_inverse=True, return_counts=True)
    wanted = np.unique(data, return_inverse=True, return_counts=True)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs)
    values, counts = td.unique(td.tensor(data), return_counts=True)
    assert counts.tolist() == [3, 1, 2]
    assert td.unique(td.tensor(data)).tolist() == values.tolist() == [1, 2, 3]


def test_bincount_adds_weights():
    x, weights = np.array([1, 3, 1]), np.array([0.5, 2.0, 0.25], np.float32)
    found = td.bincount(td.tensor(x), td.tensor(weights), minlength=6)
    np.testing.assert_array_equal(found.numpy(), np.bincount(x, weights, 6))
    assert td.bincount(td.tensor(x), td.tensor(x)).dtype is td.float64


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles_lie_between_elements_as_numpy_has_them(how):
    q = (0.0, 0.1, 0.5, 0.77, 1.0)
    found = td.quantile(td.tensor(A), q, axis=1, interpolation=how)
    np.testing.assert_allclose(found.numpy(), np.quantile(A, q, 1, method=how), rtol=1e-6)


def test_pad_takes_a_number_and_crops():
    x = td.tensor(A)
    np.testing.assert_array_equal(td.pad(x, 1).numpy(), np.pad(A, 1))
    np.testing.assert_array_equal(td.pad(x, -1).numpy(), A[1:-1, 1:-1])
    found = td.pad(x, [(-1, 2), (1, -3)], 5.0).numpy()
    np.testing.assert_array_equal(found, np.pad(A[1:, :1], ((0, 2), (1, 0)), constant_values=5.0))


def test_rows_by_pytorchs_options():
    x = td.tensor(A)
    assert td.one_hot(td.tensor([1]), num_classes=3).tolist() == [[0, 1, 0]]
    strided = td.as_strided(x, size=(2, 2), stride=(4, 1), storage_offset=1)
    np.testing.assert_array_equal(strided.numpy(), A[:2, 1:3])
    found = td.scatter_reduce(x[0], td.tensor([0, 0]), td.ones(2), axis=0, reduce="sum")
    np.testing.assert_allclose(found.numpy(), A[0] + [2, 0, 0, 0], rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: td.gather(x, 0, i),
        lambda x, i: td.scatter(x, 0, i, x),
        lambda x, i: td.scatter_add(x, 0, i, x),
        lambda x, i: td.index_add(x, 0, i, x[:1]),
        lambda x, i: td.scatter_reduce(x, 0, i, x, "sum"),
    ],
)
def test_an_axis_may_stand_in_second_place(call):
    assert call(td.ones(3), td.tensor([0])).shape in ((3,), (1,))


def test_rows_take_other_names_of_options():
    assert softmax(td.ones(2), dim=0).tolist() == [0.5, 0.5]


# ---- arrays beside tensors

BOTH = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "matmul": lambda a, b: a @ b.T,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
    "pow": lambda a, b: abs(a) ** b,
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("kind", ["float32", "float64", "int32"])
def test_operators_take_arrays_on_either_side(name, kind):
    op, b = BOTH[name], (np.arange(1, 13) % 5 + 1).reshape(3, 4).astype(kind)
    x = td.tensor(A)
    for found, wanted in ((op(x, b), op(x, td.tensor(b))), (op(b, x), op(td.tensor(b), x))):
        assert isinstance(found, td.Tensor)
        assert found.dtype is wanted.dtype
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_an_array_beside_a_tensor_is_read_when_it_is_written_down():
    array = np.ones(3, np.float32)
    y = td.zeros(3) + array
    array[:] = 9
    assert y.tolist() == [1.0, 1.0, 1.0]


def test_gradients_flow_beside_arrays():
    x = td.tensor([1.0, 2.0], requires_grad=True)
    (np.array([3.0, 4.0], np.float32) * x).sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_functions_take_arrays_and_lists_of_indices():
    x = td.tensor(A)
    np.testing.assert_array_equal(td.stack([A, A]).numpy(), np.stack([A, A]))
    np.testing.assert_array_equal(td.concat([x, A]).numpy(), np.concatenate([A, A]))
    np.testing.assert_array_equal(td.take(x, [2, 0], axis=0).numpy(), A[[2, 0]])
    np.testing.assert_array_equal(x.take([1], axis=1).numpy(), A[:, [1]])
    np.testing.assert_array_equal(td.flip(A).numpy(), A[::-1, ::-1])
    np.testing.assert_allclose(td.exp(A).numpy(), np.exp(A), rtol=1e-6)
    np.testing.assert_array_equal(td.where(MASK, x, 0.0).numpy(), np.where(MASK, A, 0))
    with pytest.raises(OperandError, match="list"):
        x * [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(OperandError, match="tensor"):
        td.sin(3.0)


NUMPY = {
    "sum": lambda x: np.sum(x), "sum-axis": lambda x: np.sum(x, axis=0),
    "mean": lambda x: np.mean(x, axis=1, keepdims=True), "max": lambda x: np.max(x),
    "std": lambda x: np.std(x, ddof=1), "argmax": lambda x: np.argmax(x, axis=0),
    "cumsum": lambda x: np.cumsum(x), "sort": lambda x: np.sort(x, axis=0),
    "concatenate": lambda x: np.concatenate([x, x]), "clip": lambda x: np.clip(x, -1, 1),
    "sin": lambda x: np.sin(x), "add": lambda x: np.add(x, 1), "all": lambda x: np.all(x),
    "einsum": lambda x: np.einsum("ij->j", x), "linalg": lambda x: np.linalg.norm(x),
    "round": lambda x: np.round(x, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPY)
def test_numpys_functions_take_tensors(name):
    found = NUMPY[name](td.tensor(A))
    assert not isinstance(found, td.Tensor)
    np.testing.assert_array_equal(found, NUMPY[name](A))


# ---- nested arguments


def test_gradients_are_nested_like_the_arguments():
    parameters = {"w": td.tensor(A), "rest": [td.ones(4), (td.tensor(2.0),)]}

    def loss(p, scale):
        return ((p["w"] * p["rest"][0] * p["rest"][1][0]) ** 2).sum() * scale

    value, found = td.value_and_grad(loss)(parameters, 3.0)
    assert value.item() == pytest.approx(3 * 4 * (A.astype(np.float64) ** 2).sum(), rel=1e-5)
    assert set(found) == {"w", "rest"}
    assert isinstance(found["rest"], list)
    assert isinstance(found["rest"][1], tuple)
    np.testing.assert_allclose(found["w"].numpy(), 24 * A, rtol=1e-5)
    np.testing.assert_allclose(found["rest"][0].numpy(), 24 * (A**2).sum(0), rtol=1e-5)
    assert found["rest"][1][0].item() == pytest.approx(12 * (A**2).sum(), rel=1e-5)
    both = td.grad(lambda p, q: (p[0] * q).sum(), argnums=(0, 1))([td.ones(2)], td.ones(2) * 5)
    assert both[0][0].tolist() == [5.0, 5.0]
    assert both[1].tolist() == [1.0, 1.0]


def test_pulled_back_cotangents_are_nested_like_the_arguments():
    _, pullback = td.vjp(lambda p: p["a"] * p["b"], {"a": td.ones(2), "b": td.ones(2) * 3})
    (found,) = pullback(td.ones(2))
    assert found["a"].tolist() == [3.0, 3.0]
    assert found["b"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("argument", [[], [1.0], {"a": td.ones(2), "b": 1}, [td.tensor([1])]])
def test_arguments_that_are_not_all_tensors_have_no_gradient(argument):
    with pytest.raises(GradientError, match="argument 0 has no gradient"):
        td.grad(lambda p: td.ones(()))(argument)
