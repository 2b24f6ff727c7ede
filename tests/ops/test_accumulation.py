"""Long sums: narrow types add up in wide ones, and many small parts are not lost beside a large."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import INTEGERS, promote

NARROW = {8: "int32", 16: "int64"}  # bits of integers: what their products add up in
DEVICES = ["cpu", "reference"]


def extremes(kind, shape):
    """The largest and the smallest numbers of an integer type."""
    limits = np.iinfo(kind)
    return np.where(np.arange(np.prod(shape)) % 7 < 5, limits.max, limits.min).reshape(shape)


def integers(kind, shape, device="cpu"):
    return td.tensor(extremes(kind, shape), dtype=kind).to(device)


def expected_type(*kinds):
    widest = max(kind.bits for kind in kinds)
    return NARROW.get(widest, promote(kinds[0], kinds[-1]).name)


# ---- products of integers


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", INTEGERS, ids=lambda kind: kind.name)
def test_products_of_integers_add_up_in_a_type_that_holds_them(kind, device):
    a, b = integers(kind.name, (5, 300), device), integers(kind.name, (300, 3), device)
    wanted = expected_type(kind)
    exact = np.matmul(*(extremes(kind.name, x.shape).astype(object) for x in (a, b)))
    bits = np.iinfo(wanted).bits
    wrapped = np.array([int(x) % (1 << bits) for x in exact.flat], object).reshape(exact.shape)
    products = {
        "matmul": a @ b, "einsum": td.einsum("ij,jk->ik", a, b), "dot": td.dot(a, b),
        "tensordot": td.tensordot(a, b, axes=1), "inner": td.inner(a, b.T),
        "linear": td.linear(a, b.T), "bmm": td.bmm(a[None], b[None])[0],
        "vecdot": td.vecdot(a[:, None, :], b.T),
        "columns": td.stack([a @ b[:, k] for k in range(3)], 1),
    }  # fmt: skip
    for name, found in products.items():
        assert found.dtype == wanted, name
        values = [int(x) % (1 << bits) for x in found.numpy().flat]
        assert values == wrapped.reshape(-1).tolist(), name
    if kind.bits < 32:  # nothing was wrapped at all
        assert products["matmul"].tolist() == exact.tolist()


@pytest.mark.parametrize("other", ["int8", "uint8", "int16", "uint16", "int32"])
@pytest.mark.parametrize("one", ["int8", "uint8", "int16"])
def test_products_of_two_integer_types(one, other):
    a, b = integers(one, (2, 40)), integers(other, (40, 3))
    exact = extremes(one, (2, 40)).astype(np.int64) @ extremes(other, (40, 3)).astype(np.int64)
    wanted = expected_type(a.dtype, b.dtype)
    for found in (a @ b, td.einsum("ij,jk->ik", a, b), td.tensordot(a, b, axes=1)):
        assert found.dtype == wanted
        np.testing.assert_array_equal(found.numpy(), exact.astype(wanted))


def test_sums_within_einsum_are_those_of_products():
    x = td.ones(3, 300, dtype="int8")
    assert td.einsum("ij->i", x).tolist() == [300] * 3
    assert td.einsum("ij,kl->", x, x).item() == 810_000
    assert td.einsum("i,j->ij", x[0, :2] * 100, x[0, :2] * 100).tolist() == [[10_000] * 2] * 2
    three = td.einsum("i,i,i->", x[0] * 5, x[0] * 5, td.ones(300, dtype="int16") * 5)
    assert (three.item(), three.dtype) == (37_500, "int64")
    assert td.dot(td.tensor(100, dtype="int8"), td.tensor([100], dtype="int8")).tolist() == [10_000]


def test_convolutions_of_bytes():
    x, weight = td.ones(1, 4, 9, 9, dtype="uint8") * 255, td.ones(2, 4, 3, 3, dtype="uint8") * 255
    found = td.conv2d(x, weight)
    assert found.dtype == "int32"
    assert set(found.numpy().reshape(-1).tolist()) == {36 * 255 * 255}


# ---- values that meet at one place


NARROW_FLOATS = ["float16", "bfloat16"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", NARROW_FLOATS)
def test_narrow_floats_meet_in_float32(kind, device):
    zero, place = td.zeros(3, dtype=kind).to(device), td.zeros(1000, dtype="int64").to(device)
    ones = td.ones(1000, dtype=kind).to(device)
    assert td.scatter_add(zero, place, ones, axis=0).tolist() == [1000.0, 0.0, 0.0]
    assert td.index_add(zero, place, ones).tolist() == [1000.0, 0.0, 0.0]
    table = td.ones(3, 2, dtype=kind).to(device).requires_grad_()
    td.take(table, place, axis=0).sum().backward()
    assert table.grad.tolist() == [[1000.0] * 2, [0.0] * 2, [0.0] * 2]
    looked = td.gather(table, td.zeros(1000, 2, dtype="int64").to(device), axis=0)
    found = td.gradients(looked.sum(), [table])[0]
    assert (found.dtype, found.tolist()[0]) == (kind, [1000.0] * 2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [*NARROW_FLOATS, "float8_e4m3fn", "float8_e5m2"])
def test_what_meets_is_rounded_once(kind, device):
    rng = np.random.default_rng(5)
    base, values = rng.uniform(0.5, 1.5, 4), rng.uniform(0.9, 1.1, 60)
    place = rng.integers(0, 4, 60)
    x, y = (td.tensor(v, dtype=kind).to(device) for v in (base, values))
    index = td.tensor(place).to(device)
    for op, join in ((td.scatter_add, np.add), (td.scatter_mul, np.multiply)):
        exact = x.cast("float32").numpy()
        join.at(exact, place, y.cast("float32").numpy())
        wanted = td.tensor(exact).to(device).cast(kind)
        np.testing.assert_array_equal(
            op(x, index, y, axis=0).cast("float32").numpy(), wanted.cast("float32").numpy()
        )


def test_means_of_what_meets_do_not_overflow():
    x, place = td.zeros(2, dtype="float16"), td.zeros(1000, dtype="int64")
    found = td.scatter_reduce(x, place, td.ones(1000, dtype="float16") * 100, 0, "mean", False)
    assert found.tolist() == [100.0, 0.0]


def test_embedding_of_halves_learns_as_one_of_floats_does():
    rng = np.random.default_rng(6)
    tokens, upstream = rng.integers(0, 3, 5000), rng.uniform(0.5, 1.0, (5000, 4)).astype("f")
    for kind in NARROW_FLOATS:
        table = td.ones(3, 4, dtype=kind).requires_grad_()
        seeds = td.tensor(upstream, dtype=kind)
        (td.embedding(td.tensor(tokens), table) * seeds).sum().backward()
        exact = np.zeros((3, 4))
        np.add.at(exact, tokens, seeds.cast("float64").numpy())
        np.testing.assert_allclose(table.grad.cast("float64").numpy(), exact, rtol=2.0**-8)


# ---- long lines


def drift(found, exact):
    """How far running totals are from exact ones, relative to the largest."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize("shape", [(4_000_000,), (1_000_000, 4), (3, 1_000_000), (70_000, 40)])
def test_running_sums_do_not_drift(shape):
    rng = np.random.default_rng(7)
    axis = int(np.argmax(shape))
    for x in (rng.random(shape, np.float32), np.full(shape, 0.1, np.float32)):
        found = td.cumsum(td.tensor(x), axis=axis).numpy()
        assert drift(found, np.cumsum(x, axis, np.float64)) < 4e-7


def test_running_products_do_not_drift():
    x = 1 + np.random.default_rng(8).standard_normal(1_000_000, np.float32) * np.float32(1e-4)
    exact = np.cumprod(x, dtype=np.float64)
    np.testing.assert_allclose(td.cumprod(td.tensor(x), axis=0).numpy(), exact, rtol=4e-7)
    columns = td.cumprod(td.tensor(x.reshape(-1, 8)), axis=0).numpy()
    np.testing.assert_allclose(columns, np.cumprod(x.reshape(-1, 8), 0, np.float64), rtol=4e-7)


def test_running_products_pass_what_float32_does_not_hold():
    x = np.array([1e-30, 1e20, 1e20, 1e20, 1e-30] * 8, np.float32)
    found = td.cumprod(td.tensor(x), axis=0).numpy()
    np.testing.assert_allclose(found, np.cumprod(x, dtype=np.float64), rtol=1e-6)


def test_logarithms_of_running_sums_do_not_stop_growing():
    x = np.zeros(1_000_000, np.float32)
    found = td.logcumsumexp(td.tensor(x), axis=0).numpy()
    np.testing.assert_allclose(found, np.log(np.arange(1, 1_000_001)), rtol=0, atol=4e-6)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_running_sums_of_halves_are_rounded_where_they_are_stored(kind):
    x = td.ones(40_000, dtype=kind) * 0.5
    found = td.cumsum(x, axis=0).cast("float64").numpy()
    exact = td.tensor(np.arange(1, 40_001) * 0.5, dtype=kind).cast("float64").numpy()
    np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("shape", [(66, 300_000), (66, 3, 100_000), (1_000_000,)])
def test_sums_of_many_equal_elements(shape):
    x = np.full(shape, 0.1, np.float32)
    axes = tuple(range(1, len(shape))) or 0
    found = td.sum(td.tensor(x), axis=axes).numpy()
    np.testing.assert_allclose(found, x.sum(axes, np.float64), rtol=4e-6)
