"""Complex numbers beside PyTorch: values, gradients by its convention, memory that is shared."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

torch = pytest.importorskip("torch")

UNARY = (
    "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "sigmoid", "reciprocal",
    "square", "abs", "angle", "real", "imag", "conj", "neg", "sgn",
)  # fmt: skip
OURS = {"sgn": "sign"}
OTHERS = {
    "mul": lambda xp, x, y: x * y,
    "div": lambda xp, x, y: x / y,
    "sub": lambda xp, x, y: x - y * 2.0,
    "pow": lambda xp, x, y: x**y,
    "power-of-3": lambda xp, x, y: x**3,
    "power-of-half": lambda xp, x, y: y**0.5,
    "scaled": lambda xp, x, y: x * (2.0 - 1j) + 1j,
    "beside-real": lambda xp, x, y: x * y.real + y.imag,
    "complex": lambda xp, x, y: xp.complex(x.real, y.imag),
    "polar": lambda xp, x, y: xp.polar(abs(x), y.real),
    "parts": lambda xp, x, y: xp.view_as_real(x * y),
    "of-parts": lambda xp, x, y: xp.view_as_complex(xp.view_as_real(x)) * y,
    "where": lambda xp, x, y: xp.where(x.real > 0, x, y),
    "matmul": lambda xp, x, y: x @ y.T,
    "adjoint": lambda xp, x, y: x.mH @ y,
    "einsum": lambda xp, x, y: xp.einsum("ij,kj->ik", x, y),
    "vdot": lambda xp, x, y: xp.vdot(x.reshape(-1), y.reshape(-1)),
    "sum": lambda xp, x, y: x.sum() * y,
    "mean": lambda xp, x, y: x.mean() + y,
    "prod": lambda xp, x, y: x.prod(1),
    "cumsum": lambda xp, x, y: x.cumsum(1),
    "cumprod": lambda xp, x, y: x.cumprod(0),
    "logaddexp": lambda xp, x, y: xp.logaddexp(x, y),
    "logcumsumexp": lambda xp, x, y: xp.logcumsumexp(x, 1),
    "sinc": lambda xp, x, y: xp.sinc(x),
    "l1_loss": lambda xp, x, y: xp.nn.functional.l1_loss(x, y),
    "dist": lambda xp, x, y: xp.dist(x, y),
    "addcmul": lambda xp, x, y: xp.addcmul(x, x, y, value=2 - 1j),
    "addcdiv": lambda xp, x, y: xp.addcdiv(x, x, y, value=2 - 1j),
    "addmm": lambda xp, x, y: xp.addmm(x[:, :3], x, y.T, beta=1j, alpha=2 - 1j),
    "norm": lambda xp, x, y: (abs(x) ** 2).sum().sqrt(),
    "concat": lambda xp, x, y: xp.cat([x, y]),
    "slice": lambda xp, x, y: x[1:, ::2] * y[:-1, 1::2],
    "index": lambda xp, x, y: x[:, 2] * y[0, 1],
    "gather": lambda xp, x, y: x[[1, 0, 1]],
    "flip": lambda xp, x, y: xp.flip(x, (0,)) * y,
    "roll": lambda xp, x, y: xp.roll(x, 1, 1) * y,
    "tril": lambda xp, x, y: xp.tril(x),
    "isfinite": lambda xp, x, y: xp.isfinite(x),
    "isreal": lambda xp, x, y: xp.isreal(x),
    "eq": lambda xp, x, y: x == y,
}


def data(seed, kind="complex128", shape=(3, 4)):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)


def compare(function, kind):
    """Values, and gradients of both operands under a complex cotangent."""
    arrays = data(1, kind), data(2, kind)
    own = [td.tensor(x, requires_grad=True) for x in arrays]
    other = [torch.tensor(x, requires_grad=True) for x in arrays]
    found, wanted = function(td, *own), function(torch, *other)
    close = {"rtol": 1e-12, "atol": 1e-12} if kind == "complex128" else {"rtol": 2e-5, "atol": 2e-5}
    assert found.dtype.name == str(wanted.dtype).removeprefix("torch.")
    np.testing.assert_allclose(found.numpy(), wanted.detach().resolve_conj().numpy(), **close)
    if not wanted.requires_grad:
        return
    weights = data(3, kind, tuple(wanted.shape))
    weights = weights if wanted.is_complex() else weights.real.copy()
    found.backward(td.tensor(weights))
    wanted.backward(torch.tensor(weights))
    for x, y in zip(own, other, strict=True):
        if y.grad is None:
            assert x.grad is None or not x.grad.numpy().any()
        else:
            np.testing.assert_allclose(x.grad.numpy(), y.grad.resolve_conj().numpy(), **close)


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
@pytest.mark.parametrize("name", UNARY)
def test_functions(name, kind):
    def call(xp, x, y):
        return getattr(xp, OURS.get(name, name) if xp is td else name)(x)

    compare(call, kind)


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
@pytest.mark.parametrize("name", OTHERS)
def test_operations(name, kind):
    compare(OTHERS[name], kind)


def test_gradients_of_functions_have_the_same_convention():
    z = data(5)
    slope = td.grad(lambda x: (x * x.conj()).real.sum() + (x**2).imag.sum())(td.tensor(z))
    x = torch.tensor(z, requires_grad=True)
    ((x * x.conj()).real.sum() + (x**2).imag.sum()).backward()
    np.testing.assert_allclose(slope.numpy(), x.grad.numpy(), rtol=1e-13)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("first", ["int32", "int64", "bool", "float16", "float32", "float64",
                                   "complex64", "complex128"])  # fmt: skip
@pytest.mark.parametrize("second", ["complex64", "complex128"])
def test_promotion(first, second):
    wanted = torch.promote_types(getattr(torch, first), getattr(torch, second))
    if (first, second) == ("float16", "complex64"):
        wanted = torch.complex64
    assert td.promote_types(first, second).name == str(wanted).removeprefix("torch.")
    if first not in ("complex64", "complex128"):
        found = td.ones(2, dtype=first) * 1j
        beside = torch.ones(2, dtype=getattr(torch, first)) * 1j
        name = str(beside.dtype).removeprefix("torch.")
        assert found.dtype.name == ("complex64" if name == "complex32" else name)


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_memory_is_shared_both_ways(kind):
    z = torch.tensor(data(7, kind))
    x = td.from_dlpack(z)
    assert x.dtype.name == kind
    assert x.numpy().ctypes.data == z.data_ptr()
    back = torch.from_dlpack(td.tensor(data(8, kind)))
    np.testing.assert_array_equal(back.numpy(), data(8, kind))


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_files_are_read_both_ways(kind, tmp_path):
    state = {"a": data(9, kind), "b": data(10, kind).T}
    torch.save({k: torch.tensor(v) for k, v in state.items()}, tmp_path / "x.pt")
    td.save({k: td.tensor(v) for k, v in state.items()}, tmp_path / "y.pt")
    found, other = td.load(tmp_path / "x.pt"), torch.load(tmp_path / "y.pt", weights_only=True)
    for k, v in state.items():
        np.testing.assert_array_equal(found[k].numpy(), v)
        np.testing.assert_array_equal(other[k].numpy(), v)


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.1, "amsgrad": True}, "AdamW": {"lr": 0.1, "weight_decay": 0.1},
    "RMSprop": {"lr": 0.05, "centered": True}, "Adagrad": {"lr": 0.1},
    "Adadelta": {}, "NAdam": {"lr": 0.1}, "RAdam": {"lr": 0.1}, "Adamax": {"lr": 0.1},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_update_the_parts(name):
    z, goal = data(11), data(12)
    own, other = td.nn.Parameter(td.tensor(z)), torch.nn.Parameter(torch.tensor(z))
    ours = getattr(td.optim, name)([own], **OPTIMIZERS[name])
    theirs = getattr(torch.optim, name)([other], **OPTIMIZERS[name])
    for _ in range(6):
        pairs = ((own, ours, td.tensor(goal)), (other, theirs, torch.tensor(goal)))
        for x, optimizer, target in pairs:
            optimizer.zero_grad()
            (abs(x * x - target) ** 2).sum().backward()
            optimizer.step()
    assert own.dtype is td.complex128
    close = 1e-8 if name == "NAdam" else 1e-12  # theirs multiplies its schedule in float32
    np.testing.assert_allclose(own.numpy(), other.detach().numpy(), rtol=close)
