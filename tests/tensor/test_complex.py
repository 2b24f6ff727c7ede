"""Complex tensors: made, indexed, assigned, shown, shared, stored, drawn, compiled."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import COMPLEX
from treadle.base.errors import ArgumentError, DtypeError, IndexingError, OperandError
from treadle.ir.parser import parse_graph
from treadle.ir.printer import graph_text
from treadle.runtime import realize as realizing

KINDS = [d.name for d in COMPLEX]
every_kind = pytest.mark.parametrize("kind", KINDS)


def data(shape=(3, 4), kind="complex64", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)


# ---- made of numbers


def test_python_numbers_are_complex64():
    x = td.tensor([1 + 2j, 3])
    assert x.dtype is td.complex64
    assert x.tolist() == [1 + 2j, 3 + 0j]
    assert td.tensor(1j).item() == 1j
    assert td.tensor([1.0, 2.0], dtype="complex128").dtype is td.complex128
    assert td.tensor(np.array([1j])).dtype is td.complex128
    assert td.full((2,), 1j).tolist() == [1j, 1j]
    assert td.zeros(2, dtype=complex).dtype is td.complex64
    assert td.eye(2, dtype="complex64").tolist() == [[1, 0], [0, 1]]
    assert td.ones_like(x).tolist() == [1, 1]
    assert td.full_like(td.ones(2), 1j, dtype="complex64").tolist() == [1j, 1j]
    assert td.arange(3, dtype="complex64").tolist() == [0, 1, 2]
    assert td.linspace(0, 1, 3).cast("complex64").tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("kind", "wanted"), [
    ("bool", "complex64"), ("int8", "complex64"), ("int64", "complex64"), ("float16", "complex64"),
    ("bfloat16", "complex64"), ("float32", "complex64"), ("float64", "complex128"),
    ("complex64", "complex64"), ("complex128", "complex128"),
])  # fmt: skip
def test_numbers_beside_tensors_are_weak(kind, wanted):
    x = td.ones(2, dtype=kind)
    assert (x * 1j).dtype.name == (1j * x).dtype.name == (x + np.complex64(1j)).dtype.name == wanted
    assert (td.where(x == 1, x, 1j)).dtype.name == wanted
    y = td.ones(2, dtype="complex64")
    for number in (True, 2, 2.5):
        assert (y * number).dtype is td.complex64
    assert (y * td.ones(2, dtype=kind)).dtype.name == wanted


def test_zeros_of_either_sign_are_different_numbers():
    x = td.tensor([1.0, -1.0])
    up, down = (td.complex(x, x * 0) + complex(0, zero) for zero in (0.0, -0.0))
    assert np.signbit(td.full((1,), complex(0.0, -0.0)).numpy().imag).all()
    assert not np.signbit(td.full((1,), complex(0.0, 0.0)).numpy().imag).any()
    assert up.tolist() == down.tolist()


def test_what_would_lose_the_imaginary_part_is_refused():
    x = td.tensor([1j])
    for call in (x.float, lambda: x.cast("int32"), lambda: x.to("float64")):
        with pytest.raises(DtypeError, match="imaginary"):
            call()
    for wanted in ("float32", "int8"):
        with pytest.raises(DtypeError, match="imaginary"):
            td.tensor([1j], dtype=wanted)
    assert x.bool().tolist() == [True]
    with pytest.raises(ArgumentError, match="fit"):
        td.full((2,), 1j, dtype="float32")
    y = td.zeros(3)
    with pytest.raises((ArgumentError, DtypeError, OperandError)):
        y[0] = 1j
    with pytest.raises((ArgumentError, DtypeError, OperandError)):
        y[0:1] = x
    for number in (float, int):
        with pytest.raises(OperandError, match="complex"):
            number(x)
    assert complex(x) == 1j
    with pytest.raises(IndexingError, match="no integers"):
        td.ones(3)[x]


def test_order_is_refused_and_equality_is_not():
    x, y = td.tensor([1 + 1j, 2.0]), td.tensor([1 + 1j, 2j])
    assert (x == y).tolist() == [True, False]
    assert (x != y).tolist() == [False, True]
    assert td.isclose(x, y + 1e-9).tolist() == [True, False]
    assert td.allclose(x, x)
    for call in (lambda: x < y, lambda: x >= 1, lambda: x.max(), lambda: td.sort(x),
                 lambda: td.argmax(x), lambda: x.clip(0, 1), lambda: td.maximum(x, y)):  # fmt: skip
        with pytest.raises(DtypeError, match="no order"):
            call()


def test_predicates_look_at_both_parts():
    nan, inf = np.nan, np.inf
    z = np.array([complex(nan, 0), complex(0, inf), complex(nan, inf), 1j, complex(1e38, 1e38) * 2])
    z = z.astype(np.complex64)
    x = td.tensor(z)
    for name in ("isnan", "isinf", "isfinite", "isreal", "logical_not"):
        np.testing.assert_array_equal(getattr(td, name)(x).numpy(), getattr(np, name)(z))
    np.testing.assert_array_equal(td.nan_to_num(x).numpy(), np.nan_to_num(z))
    assert x.is_complex()
    assert td.is_complex(x)
    assert not td.is_complex(x.real)


def test_whole_powers_are_products():
    x = td.tensor(np.array([1 + 1j, 1j, 2]))
    assert (x**8).tolist() == [16, 1, 256]
    assert (x**-2).tolist() == [-0.5j, -1, 0.25]
    assert (x**0).tolist() == [1, 1, 1]
    np.testing.assert_allclose((x**100).numpy(), x.numpy() ** 100, rtol=1e-13)


def test_rounding_is_that_of_the_parts():
    z = np.array([1.256 - 2.5j, -0.5 + 1234.5678j])
    for decimals in (0, 1, 2, -2):
        found = td.round(td.tensor(z), decimals).numpy()
        np.testing.assert_allclose(found, np.round(z, decimals), rtol=1e-15)


def test_numbers_that_change_compile_nothing_new(monkeypatch):
    made = []
    compiling = realizing.compile_graph
    monkeypatch.setattr(
        realizing, "compile_graph", lambda *args: made.append(1) or compiling(*args)
    )
    x = td.tensor(data((5, 3), seed=9))
    for k in range(1, 8):
        number = complex(k, -k / 2)
        np.testing.assert_allclose((x * number - 1).numpy(), x.numpy() * number - 1, rtol=1e-5)
    assert len(made) <= 4


# ---- parts and views


@every_kind
def test_parts(kind):
    z = data(kind=kind)
    x = td.tensor(z)
    for found, wanted in (
        (x.real, z.real), (x.imag, z.imag), (x.conj(), z.conj()), (abs(x), np.abs(z)),
        (x.angle(), np.angle(z)), (x.mH, z.conj().T), (x.H, z.conj().T), (td.real(x), z.real),
        (td.view_as_real(x), np.stack([z.real, z.imag], -1)),
        (td.view_as_complex(td.view_as_real(x)), z), (td.complex(x.real, x.imag), z),
        (td.polar(abs(x), x.angle()), z),
    ):  # fmt: skip
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
        assert found.numpy().dtype == wanted.dtype
    y = td.ones(2)
    assert y.real is y
    assert y.conj() is y
    assert y.imag.tolist() == [0, 0]
    assert y.angle().tolist() == [0, 0]


@every_kind
@pytest.mark.parametrize("key", [
    0, -1, (1, 2), slice(1, None), (slice(None), slice(None, None, -2)), ..., (None, 1),
    ([2, 0], slice(None)), ([0, 1], [1, 3]), (..., None),
], ids=str)  # fmt: skip
def test_indexing_and_assignment(key, kind):
    z = data(kind=kind)
    x = td.tensor(z)
    np.testing.assert_array_equal(x[key].numpy(), z[key])
    np.testing.assert_array_equal((x * 1)[key].numpy(), z[key])
    changed, other = z.copy(), td.tensor(z)
    changed[key] = 2 - 1j
    other[key] = 2 - 1j
    np.testing.assert_array_equal(other.numpy(), changed)

    def assign(x):
        y = x * 1
        y[key] = 3j
        return y

    changed[key] = 3j
    np.testing.assert_array_equal(td.compile(assign)(other).numpy(), changed)


def test_masks():
    z = data()
    x = td.tensor(z)
    np.testing.assert_array_equal(x[x.real > 0].numpy(), z[z.real > 0])
    x[x.real > 0] = 0
    z[z.real > 0] = 0
    np.testing.assert_array_equal(x.numpy(), z)
    np.testing.assert_array_equal(td.nonzero(x)[0].numpy(), np.nonzero(z)[0])
    assert td.any(x).item() is True
    assert td.count_nonzero(x).item() == np.count_nonzero(z)


@every_kind
def test_movement_of_lazy_values(kind):
    z, w = data(kind=kind), data(kind=kind, seed=1)
    x, y = td.tensor(z) * 2, td.tensor(w) + 1j
    z, w = z * 2, w + np.array(1j, kind)
    for found, wanted in (
        (td.concat([x, y], axis=1), np.concatenate([z, w], 1)), (td.flip(x, 0), np.flip(z, 0)),
        (td.pad(x, ((1, 0), (0, 2)), value=1 - 2j), np.pad(z, ((1, 0), (0, 2)),
                                                           constant_values=1 - 2j)),
        (td.roll(x, 1, 0), np.roll(z, 1, 0)), (x.T.reshape(2, -1), z.T.reshape(2, -1)),
        (td.tile(x, (2, 1)), np.tile(z, (2, 1))), (td.diag(x[:3, :3]), np.diag(z[:3, :3])),
        (td.where(x.real > 0, x, y), np.where(z.real > 0, z, w)),
        (td.take(x, td.tensor([2, 0, 0]), axis=1), np.take(z, [2, 0, 0], 1)),
        (td.gather(x, td.tensor([[1, 0, 2, 1]]), axis=0), np.take_along_axis(z, np.array(
            [[1, 0, 2, 1]]), 0)),
        (td.stack([x, y])[1], w), (x[:0], z[:0]), (x[:, :0].sum(1), z[:, :0].sum(1)),
        (x[:0].prod(0), z[:0].prod(0)),
    ):  # fmt: skip
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100])
def test_products_along_an_axis(size):
    z = data((2, size), "complex128")
    x = td.tensor(z)
    np.testing.assert_allclose(x.prod(1).numpy(), z.prod(1), rtol=1e-13)
    np.testing.assert_allclose(x.prod().numpy(), z.prod(), rtol=1e-12)
    np.testing.assert_allclose(x.cumprod(1).numpy(), z.cumprod(1), rtol=1e-12)
    np.testing.assert_allclose(x.cumsum(1).numpy(), z.cumsum(1), rtol=1e-12)


@every_kind
@pytest.mark.parametrize("shapes", [
    ((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (2, 4, 3)), ((1, 1), (1, 1)),
    ((3, 0), (0, 2)), ((65, 33), (33, 70)), ((4,), (4, 3)), ((0, 3), (3, 2)),
], ids=str)  # fmt: skip
def test_matrix_products(shapes, kind):
    a, b = (data(shape, kind, seed) for seed, shape in enumerate(shapes))
    found = (td.tensor(a) @ td.tensor(b)).numpy()
    np.testing.assert_allclose(found, a @ b, atol=1e-13 if kind == "complex128" else 2e-5)
    mixed = (td.tensor(a) @ td.tensor(b.real.copy())).numpy()
    np.testing.assert_allclose(mixed, a @ b.real, atol=1e-13 if kind == "complex128" else 2e-5)


# ---- text, memory, files


def test_they_print_as_numpy_prints_them():
    assert repr(td.tensor([1 + 2j])) == "tensor([1.+2.j], dtype=complex64)"
    assert repr(td.tensor(1j)) == "tensor(1j, dtype=complex64)"
    assert repr(td.zeros(0, dtype="complex128")) == "tensor([], shape=(0,), dtype=complex128)"
    assert "complex64" in td.tensor([3 + 4j])._repr_html_()
    assert ">5<" in td.tensor([[3 + 4j, 0]])._repr_html_()


def test_graphs_are_written_and_read():
    x = td.tensor(data())
    y = (x * complex(1.5, -0.0) + complex(np.inf, np.nan)).conj().real
    text = graph_text([y._node])
    assert "c64" in text
    assert graph_text(parse_graph(text)) == text


@every_kind
def test_memory_is_that_of_numpy(kind):
    z = data(kind=kind)
    x = td.from_numpy(z)
    assert x.numpy().ctypes.data == z.ctypes.data
    assert x.nbytes == z.nbytes
    np.testing.assert_array_equal(np.from_dlpack(td.tensor(z)), z)
    back = td.from_dlpack(z)
    assert back.numpy().ctypes.data == z.ctypes.data
    assert back.dtype.name == kind
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), td.tensor(x)):
        np.testing.assert_array_equal(again.numpy(), z)
        assert again.dtype.name == kind
    np.testing.assert_array_equal(td.tensor(z.T).numpy(), z.T)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["npz", "pt", "safetensors", "td"])
def test_files(suffix, kind, tmp_path):
    z = data(kind=kind)
    state = {"a": td.tensor(z), "b": td.ones(2)}
    if kind == "complex128" and suffix in ("safetensors", "td"):
        with pytest.raises(OperandError, match="view_as_real"):
            td.save(state, tmp_path / f"x.{suffix}")
        return
    td.save(state, tmp_path / f"x.{suffix}")
    found = td.load(tmp_path / f"x.{suffix}")["a"]
    assert found.dtype.name == kind
    np.testing.assert_array_equal(found.numpy(), z)


@every_kind
def test_random_numbers(kind):
    td.manual_seed(3)
    x = td.randn(200, 200, dtype=kind).numpy()
    assert x.dtype == kind
    assert abs(x.mean()) < 0.02
    for part in (x.real, x.imag):
        assert abs(part.var() - 0.5) < 0.02
    assert abs((x.real * x.imag).mean()) < 0.01
    moved = td.random.normal((100, 100), mean=2 - 1j, deviation=0.1, dtype=kind).numpy()
    assert abs(moved.mean() - (2 - 1j)) < 0.01
    assert abs(np.var(moved) - 0.01) < 0.002
    wide = td.random.uniform((50, 50), low=-2.0, high=td.tensor(1.0), dtype=kind).numpy()
    assert -2 <= wide.real.min() < wide.imag.max() < 1
    flat = td.rand(100, 100, dtype=kind).numpy()
    assert abs(flat.mean() - (0.5 + 0.5j)) < 0.02
    assert flat.imag.min() >= 0
    assert flat.imag.max() < 1
    with pytest.raises(DtypeError, match="floats"):
        td.random.exponential((2,), dtype=kind)


# ---- programs


@every_kind
def test_compiled_is_what_lazy_is(kind):
    z, w = td.tensor(data(kind=kind)), td.tensor(data(kind=kind, seed=1))

    def f(x, y):
        u = (x * y + 1j).exp() / (1 + abs(y))
        return u, u.real.sum(), (u @ u.mH).imag, x.conj()

    for a, b in zip(f(z, w), td.compile(f)(z, w), strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-6)


def test_the_reference_is_numpy_itself():
    z = data(kind="complex128")
    x = td.tensor(z).to("reference")
    y = td.sinh(x) * 1j + td.sqrt(x @ x.mH).sum()
    wanted = np.sinh(z) * 1j + np.sqrt(z @ z.conj().T).sum()
    np.testing.assert_array_equal(y.numpy(), wanted)
    np.testing.assert_array_equal(td.compile(td.tan)(x).numpy(), np.tan(z))


def test_state_is_updated_in_place():
    z = data((8, 4))
    state = td.tensor(z)

    @td.compile
    def step(k, row):
        state[2:3] = row
        state.assign(state * 2)
        return state.sum() + k

    row = data((1, 4), seed=4)
    for k in range(3):
        z[2:3] = row
        z *= 2
        total = step(td.tensor(float(k)), td.tensor(row))
        np.testing.assert_allclose(state.numpy(), z, rtol=1e-6)
        np.testing.assert_allclose(total.item(), z.sum() + k, rtol=1e-4)


def test_sizes_may_be_unknown():
    @td.compile
    def f(x):
        return (x * 1j).exp().sum(0), x.mH @ x

    for rows in (3, 5, 17):
        z = data((rows, 4))
        found = f(td.tensor(z).reshape(td.Dim("rows", rows, max=32), 4))
        np.testing.assert_allclose(found[0].numpy(), np.exp(z * 1j).sum(0), rtol=1e-5)
        np.testing.assert_allclose(found[1].numpy(), z.conj().T @ z, rtol=1e-4, atol=1e-5)


def test_checkpoints_and_parameters():
    z = data()
    weight = td.nn.Parameter(td.tensor(z))
    x = td.tensor(data(seed=2))

    def loss(x):
        return abs(x * weight).square().sum()

    td.checkpoint(loss, x).backward()
    first = weight.grad.numpy().copy()
    weight.grad = None
    loss(x).backward()
    np.testing.assert_allclose(weight.grad.numpy(), first, rtol=1e-6)


def test_loops_and_branches():
    start, xs = data((3,), "complex128"), data((5, 3), "complex128", 1)

    def body(z, x):
        z = z * x + 1j
        return z, td.exp(z)

    def unrolled(z):
        rows = []
        for k in range(5):
            z, y = body(z, td.tensor(xs[k]))
            rows.append(y)
        return z, td.stack(rows)

    for where_to in ("cpu", "reference"):
        z, rest = (td.tensor(x).to(where_to) for x in (start, xs))
        found, wanted = td.scan(body, z, rest), unrolled(td.tensor(start))
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)
    wanted = td.grad(lambda z: abs(unrolled(z)[1]).sum())(td.tensor(start)).numpy()
    for where_to in ("cpu", "reference"):
        z, rest = (td.tensor(x).to(where_to) for x in (start, xs))
        slope = td.grad(lambda z, rest: abs(td.scan(body, z, rest)[1]).sum())(z, rest)
        np.testing.assert_allclose(slope.numpy(), wanted, rtol=1e-11)
    for answer in (True, False):
        chosen = td.cond(td.tensor(answer), lambda z: z * 1j, td.conj, td.tensor(start))
        wanted = start * 1j if answer else start.conj()
        np.testing.assert_allclose(chosen.numpy(), wanted, rtol=1e-14)


def test_batches_of_functions():
    z = data((4, 3), "complex128")
    x = td.tensor(z)
    dots = td.vmap(lambda v: td.vdot(v, v))(x).numpy()
    np.testing.assert_allclose(dots, (np.abs(z) ** 2).sum(1), rtol=1e-13)
    slopes = td.vmap(td.grad(lambda v: (abs(v) ** 2).sum()))(x).numpy()
    np.testing.assert_allclose(slopes, 2 * z, rtol=1e-13)
    _, change = td.jvp(lambda v: td.sin(v).real, [x], [x])
    np.testing.assert_allclose(change.numpy(), (np.cos(z) * z).real, rtol=1e-12)


def test_layers():
    layer = td.nn.Linear(4, 2, dtype="complex64")
    x = data((3, 4))
    weight, bias = layer.weight.numpy(), layer.bias.numpy()
    np.testing.assert_allclose(layer(td.tensor(x)).numpy(), x @ weight.T + bias, rtol=1e-5)
    abs(layer(td.tensor(x))).sum().backward()
    assert layer.weight.grad.dtype is td.complex64
    assert td.nn.utils.clip_grad_norm_(layer.parameters(), 0.1).item() > 0
    assert layer.to(td.complex128).weight.dtype is td.complex128
    assert layer.to(td.float32).weight.dtype is td.complex128
    assert td.nn.Linear(2, 2).to("complex64").weight.dtype is td.complex64
