"""Which rows compute in half under `autocast`, lazily and compiled, and what gradients are."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import treadle as td
from treadle.amp import autocast, is_autocast_enabled
from treadle.base.errors import ArgumentError
from treadle.nn import functional as F
from treadle.ops.defs import TABLE
from treadle.tensor.autocast import FULL, HALF

HALVES = {
    "matmul": lambda x: x @ x,
    "linear": lambda x: F.linear(x, x, x[0]),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None]),
    "bmm": lambda x: td.bmm(x[None], x[None]),
    "einsum": lambda x: td.einsum("ij,jk->ik", x, x),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
}
FULLS = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "exp": lambda x: x.exp(),
    "log": lambda x: abs(x).log(),
    "softmax": lambda x: F.softmax(x, -1),
    "cross entropy": lambda x: F.cross_entropy(x, td.tensor([0, 1, 2, 3])),
    "mse": lambda x: F.mse_loss(x, x),
    "norm": lambda x: td.norm(x),
    "layer norm": lambda x: F.layer_norm(x, (4,)),
    "pow": lambda x: abs(x) ** 2.5,  # by whole numbers: products of elements
}
OTHERS = {"relu": lambda x: F.relu(x), "add": lambda x: x + 1.0, "view": lambda x: x.reshape(-1)}


def both(function):
    return {"lazy": function, "compiled": td.compile(function)}.values()


def matrix(kind="float32"):
    return td.tensor(np.random.default_rng(0).standard_normal((4, 4))).cast(kind)


def test_every_name_of_the_policy_is_a_row():
    assert set(TABLE) >= HALF
    assert set(TABLE) >= FULL
    assert not HALF & FULL


@pytest.mark.parametrize("kind", [td.bfloat16, td.float16])
@pytest.mark.parametrize("name", HALVES)
def test_products_are_in_half(name, kind):
    for f in both(HALVES[name]):
        with autocast("cpu", dtype=kind):
            y = f(matrix())
        assert y.dtype is kind
        exact = f(matrix().cast(kind).cast("float32"))
        assert exact.dtype is td.float32
        rtol = 3e-2 if kind is td.bfloat16 else 4e-3
        np.testing.assert_allclose(
            y.cast("float32").numpy(), exact.numpy(), rtol=rtol, atol=rtol * 4
        )


@pytest.mark.parametrize("name", FULLS)
def test_sums_and_losses_are_in_float32(name):
    for f in both(FULLS[name]):
        with autocast("cpu"):
            y = f(matrix("bfloat16"))
        assert y.dtype is td.float32
        expected = f(matrix("bfloat16").cast("float32"))
        np.testing.assert_allclose(y.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OTHERS)
def test_the_rest_computes_in_what_it_is_given(name):
    with autocast("cpu"):
        assert OTHERS[name](matrix()).dtype is td.float32
        assert OTHERS[name](matrix("bfloat16")).dtype is td.bfloat16


def test_doubles_integers_and_other_devices_are_left_alone():
    with autocast("cpu"):
        assert (matrix("float64") @ matrix("float64")).dtype is td.float64
        assert (td.ones(2, 2, dtype="int32") @ td.ones(2, 2, dtype="int32")).dtype is td.int32
    with autocast("cuda"):
        assert (matrix() @ matrix()).dtype is td.float32
        assert matrix("bfloat16").exp().dtype is td.bfloat16


def test_blocks_nest_and_end():
    x = matrix()
    with autocast("cpu"):
        with autocast("cpu", enabled=False):
            assert (x @ x).dtype is td.float32
            assert not is_autocast_enabled("cpu")
        with autocast("cpu", dtype="float16"):
            assert (x @ x).dtype is td.float16
        assert (x @ x).dtype is td.bfloat16
    with pytest.raises(ZeroDivisionError), autocast("cpu"):
        _ = 1 / 0
    assert (x @ x).dtype is td.float32
    assert not is_autocast_enabled()


def test_a_function_is_decorated_and_calls_itself():
    @autocast("cpu")
    def f(x, again):
        return f(x, False) if again else x @ x

    assert f(matrix(), True).dtype is td.bfloat16
    assert not is_autocast_enabled()


def test_other_threads_are_not_cast():
    found = []
    with autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append((matrix() @ matrix()).dtype))
        thread.start()
        thread.join()
    assert found == [td.float32]


def test_a_compiled_function_is_known_by_the_policy():
    f = td.compile(lambda x: x @ x)
    x = matrix()
    for _ in range(3):
        assert f(x).dtype is td.float32
        with autocast("cpu"):
            assert f(x).dtype is td.bfloat16
        with autocast("cpu", td.float16):
            assert f(x).dtype is td.float16
    assert sum(map(len, f.entries.values())) == 3


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_have_the_dtype_of_their_parameters(compiled):
    layer, target = td.nn.Linear(4, 4), matrix()

    def collect(x):
        layer.zero_grad()
        with autocast("cpu"):
            loss = F.mse_loss(layer(x), target)
        loss.backward()
        return loss

    loss = (td.compile(collect) if compiled else collect)(matrix())
    assert loss.dtype is td.float32
    found = [p.grad.numpy() for p in layer.parameters()]
    assert all(p.grad.dtype is td.float32 for p in layer.parameters())
    layer.zero_grad()
    F.mse_loss(layer(matrix()), target).backward()
    for half, p in zip(found, layer.parameters(), strict=True):
        np.testing.assert_allclose(half, p.grad.numpy(), atol=2e-2)


def test_a_step_inside_is_in_float32():
    weight = td.nn.Parameter(matrix())
    twin = td.nn.Parameter(matrix())
    optimizers = td.optim.LAMB([weight]), td.optim.LAMB([twin])
    weight.grad = twin.grad = matrix()
    with autocast("cpu"):
        optimizers[0].step()
    optimizers[1].step()
    np.testing.assert_array_equal(weight.numpy(), twin.numpy())


def test_wrong_arguments_are_refused():
    with pytest.raises(ArgumentError, match="device_type"):
        autocast("tpu")
    with pytest.raises(ArgumentError, match="float16 or bfloat16"):
        autocast("cpu", dtype=td.float32)
