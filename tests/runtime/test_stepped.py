"""Loops and branches whose bodies move values: NumPy's stands for the other device."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.device import CPU, device
from treadle.base.errors import DeviceError
from treadle.base.trees import flatten
from treadle.ir.graph import toposort
from treadle.ir.region import LOOP
from treadle.runtime import devices
from treadle.transforms import settling

THERE = device("reference")
ARRAY = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
WEIGHT = ARRAY.T @ ARRAY * 0.3


def over(x):
    """On the other device."""
    return x.to("reference")


def here(x):
    return x.to("cpu")


def stay(x):
    return x


@pytest.fixture
def copies(monkeypatch):
    """Shapes of what goes from one device to another."""
    found = []
    moved = devices.moved

    def counted(memory, source, target, hurried=False):
        found.append(source.shape)
        return moved(memory, source, target, hurried)

    monkeypatch.setattr(devices, "moved", counted)
    return found


# ---- functions of (there, back, *tensors): the same on one device where both are `stay`


def recurrent(there, back, h, xs, w):
    def body(h, x):
        new = td.tanh(there(h @ w + x) * 2.0)
        return back(new * 0.5) + x, new

    last, ys = td.scan(body, h, xs)
    return last.sum() + back((ys * ys).sum())


def backwards(there, back, h, xs, w):
    return td.scan(
        lambda h, x: (back(td.sin(there(h))) + x, (h * x, there(h + x))),
        h, xs * w[0], reverse=True,
    )  # fmt: skip


def counted(there, back, h, xs, w):
    return td.fori_loop(0, 4, lambda i, h: back(there(h @ w) + there(i)) + h, h)


def mapped(there, back, h, xs, w):
    return td.map(lambda x: back(there(x * h).cumsum(0)) @ w, xs)


def bounded(there, back, h, xs, w):
    return td.while_loop(
        lambda s: back(there(s).abs().sum()) < 50.0,
        lambda s: back(there(s * 2.0) + 1.0) - h, xs, max_steps=9,
    )  # fmt: skip


def branched(there, back, h, xs, w):
    return td.cond(
        h.sum() > 0, lambda x: back(there(x) * 3.0) + x, lambda x: x - back(td.exp(there(x))), xs
    )


def nested(there, back, h, xs, w):
    def body(h, x):
        new = td.cond(x.sum() > 0, lambda h: back(there(h + x) * 2.0) - h, lambda h: h * x, h)
        inner, _ = td.scan(lambda c, _: (back(there(c) * 0.5) + x, None), new, length=2)
        return inner, there(inner)

    return td.scan(body, h, xs)


def exchanged(there, back, h, xs, w):
    def body(carry, x):
        near, far = carry
        return (back(far), there(near) + 1.0), x * near

    return td.scan(body, (h, there(h * 2.0)), xs)


FUNCTIONS = [recurrent, backwards, counted, mapped, bounded, branched, nested, exchanged]
each = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


def given():
    return [td.tensor(x) for x in (ARRAY[2] + 0.1, ARRAY, WEIGHT)]


def arrays(tree):
    found = []
    flatten(tree, td.Tensor, found)
    return [x.numpy() for x in found]


def same(one, other, rtol=1e-5):
    one, other = arrays(one), arrays(other)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6)


@each
@pytest.mark.parametrize("way", ["as it is", "compiled", "verified"])
def test_values_are_those_of_one_device(function, way):
    wrapped = td.compile if way == "compiled" else stay
    with td.override(verify=int(way == "verified")):
        for _ in range(2):
            same(
                wrapped(lambda *x: function(over, here, *x))(*given()),
                function(stay, stay, *given()),
            )


def total(function, there, back):
    """One number of all results."""

    def loss(*args):
        found = []
        flatten(function(there, back, *args), td.Tensor, found)
        return sum((back(x) * back(x)).sum() for x in found)

    return loss


@each
@pytest.mark.parametrize("wrapped", [stay, td.compile], ids=["as it is", "compiled"])
def test_gradients_are_those_of_one_device(function, wrapped):
    found = wrapped(td.grad(total(function, over, here), (0, 1, 2)))(*given())
    same(found, td.grad(total(function, stay, stay), (0, 1, 2))(*given()), 2e-4)


@pytest.mark.parametrize("function", [recurrent, branched], ids=lambda f: f.__name__)
def test_other_transforms_are_those_of_one_device(function):
    args = given()
    tangents = [td.tensor(x.numpy()[::-1].copy()) for x in args]
    pushed = [
        td.jvp(total(function, *ways), args, tangents) for ways in ((over, here), (stay, stay))
    ]
    same(*pushed, 1e-4)
    twice = [
        td.grad(lambda h: td.grad(total(function, *ways))(h, *args[1:]).sum())(args[0])  # noqa: B023
        for ways in ((over, here), (stay, stay))
    ]
    same(*twice, 1e-4)
    many = td.tensor(np.stack([ARRAY[0], ARRAY[1], ARRAY[2]]))
    mapped = [
        td.vmap(lambda h: total(function, *ways)(h, *args[1:]))(many)  # noqa: B023
        for ways in ((over, here), (stay, stay))
    ]
    same(*mapped, 1e-4)


def test_a_loop_without_an_end_goes_on_while_the_other_device_says_so():
    found = td.while_loop(
        lambda s: over(s).sum() < 100, lambda s: here(over(s) * 2) + s, td.ones(2)
    )
    assert found.tolist() == [81.0, 81.0]
    start = td.ones(2)
    stays = td.while_loop(lambda s: over(s).sum() < 0, lambda s: here(over(s) * 2) + s, start)
    assert stays.tolist() == [1.0, 1.0]
    assert stays._node.buffer is not start._node.buffer


def test_a_switch_takes_one_of_many():
    branches = [lambda x: over(x) * 2.0, lambda x: over(x + 1.0), lambda x: td.exp(over(x))]
    for k in (-1, 0, 1, 2, 7):
        found = td.switch(td.tensor(k), branches, td.tensor(ARRAY))
        assert found.device is THERE
        same(found, branches[min(max(k, 0), 2)](td.tensor(ARRAY)))


def test_a_condition_may_lie_on_either_device():
    x = td.tensor(ARRAY, device="reference")
    for pred in (td.tensor(True), over(td.tensor(True)), here(x.sum() < 9)):
        found = td.cond(pred, lambda x: x * 2.0, lambda x: x - 1.0, x)
        assert found.device is THERE
        np.testing.assert_allclose(found.numpy(), ARRAY * 2.0)


def test_random_numbers_and_checkpoints_and_complex_numbers_cross():
    def noisy(h, x):
        return h + here(over(td.rand(4)) + over(x)), None

    td.manual_seed(3)
    found = td.scan(noisy, td.zeros(4), td.tensor(ARRAY))[0].numpy()
    td.manual_seed(3)
    plain = td.scan(lambda h, x: (h + (td.rand(4) + x), None), td.zeros(4), td.tensor(ARRAY))[0]
    np.testing.assert_allclose(found, plain.numpy(), rtol=1e-6)

    def kept(there, back):
        def body(h, x):
            return td.checkpoint(lambda h: back(td.sin(there(h)) * 2.0) + x, h), None

        return lambda h: td.scan(body, h, td.tensor(ARRAY))[0].sum()

    same(td.grad(kept(over, here))(td.ones(4)), td.grad(kept(stay, stay))(td.ones(4)))

    z = td.tensor(ARRAY + 1j * ARRAY[::-1])

    def turned(there, back):
        return td.scan(lambda h, x: (back(there(h * x) * 1j) + x, h), z[0], z)

    same(turned(over, here), turned(stay, stay))

    def size(there, back):
        def loss(z):
            last, _ = td.scan(lambda h, x: (back(there(h * x) * 1j) + x * z, None), z, z * ARRAY)
            return td.abs(last).sum()

        return td.grad(loss)(z[1])

    same(size(over, here), size(stay, stay))


def test_rows_of_every_dtype_are_stacked():
    def run(there, back):
        def body(h, x):
            h = back(there(h) + 1.0)
            rows = [h > 0, h.to(td.int8), h.to(td.float16), h.sum(), there(h).sum() > 0]
            return h * 0.5 + x, rows

        return td.scan(body, td.zeros(4), td.tensor(ARRAY * 3.0))

    one, other = arrays(run(over, here)), arrays(run(stay, stay))
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


# ---- what need not be done in every step


def stepped_of(tree):
    """For each loop below some tensors, whether it goes over several devices."""
    found = []
    flatten(tree, td.Tensor, found)
    loops = [node for node in toposort([x._node for x in found]) if node.op is LOOP]
    return [devices.is_crossing(node) for node in loops]


def test_slices_and_stacks_are_moved_at_once(copies):
    xs, w = td.tensor(ARRAY), td.tensor(WEIGHT, device="reference")

    def run(h, xs):
        return td.scan(lambda h, x: (td.tanh(h @ w) + over(x), here(h * 2.0)), h, xs)

    h = td.zeros(4, device="reference")
    assert stepped_of(td.scan(lambda h, x: (h + over(x), here(h * 2.0)), h, xs + 1.0)) == [False]
    last, ys = td.compile(run)(h, xs)
    assert (last.device, ys.device) == (THERE, CPU)
    assert copies == [(3, 4), (3, 4)]
    same((last, ys), td.scan(
        lambda h, x: (td.tanh(h @ here(w)) + x, h * 2.0), td.zeros(4), xs))  # fmt: skip


def test_large_stacks_are_moved_step_by_step(copies, monkeypatch):
    monkeypatch.setattr(settling, "MOST", 40)
    found = td.scan(lambda h, x: (h + over(x), here(h)), over(td.zeros(4)), td.tensor(ARRAY))
    assert stepped_of(found) == [True]
    copies.clear()
    same(found, td.scan(lambda h, x: (h + x, h), td.zeros(4), td.tensor(ARRAY)))
    assert copies.count((4,)) == 6


def test_a_carry_that_is_always_elsewhere_stays_there(copies):
    def run(h):
        body = lambda h, _: (here(td.sin(over(h)) + 1.0), None)  # noqa: E731
        return td.scan(body, h, length=5)[0]

    found = td.compile(run)(td.tensor(ARRAY))
    assert found.device is CPU
    assert copies == [(3, 4), (3, 4)]
    value = ARRAY
    for _ in range(5):
        value = np.sin(value) + 1.0
    np.testing.assert_allclose(found.numpy(), value, rtol=1e-5)


def test_what_says_when_to_end_stays_where_it_is():
    found = td.while_loop(lambda s: here(s.sum() < 10), lambda s: s * 2, over(td.ones(2) * 2.0))
    assert stepped_of(found) == [False]
    assert found.tolist() == [8.0, 8.0]


def test_what_a_body_closes_over_is_moved_once(copies):
    w = td.tensor(WEIGHT, device="reference")

    @td.compile
    def run(h):
        return td.scan(lambda h, _: (td.tanh(h @ here(w * 2.0)), None), h, length=6)[0]

    run(td.ones(4)).numpy()
    assert copies == [(4, 4)]


def test_a_custom_gradient_in_the_body_is_kept():
    @td.custom_vjp
    def f(x):
        return td.sin(x)

    f.defvjp(lambda x: (td.sin(x), x), lambda x, g: (g * 7.0,))

    def run(h):
        return td.scan(lambda h, _: (here(over(f(h))), None), h, length=2)[0].sum()

    assert td.grad(run)(td.ones(3)).tolist() == [49.0] * 3


# ---- what cannot be


def test_a_carry_that_does_not_come_back_is_refused():
    with pytest.raises(DeviceError, match=r"move it back at the end of a step: x.to\('cpu'\)"):
        td.scan(lambda h, x: (over(h + x), None), td.zeros(4), td.tensor(ARRAY))
    with pytest.raises(DeviceError, match="branches give different types"):
        td.cond(td.tensor(True), lambda x: over(x), lambda x: x, td.ones(3))


def test_explain_shows_kernels_and_moves_of_a_step():
    found = td.explain(lambda *x: recurrent(over, here, *x), *given())
    assert found.transfers.count("f32[4] cpu → reference") == 1
    assert any("matrix_product" in str(row) for row in found.rows)


def test_draws_on_two_devices():
    """They go on from each other, wherever they are; branches draw on one."""

    def both():
        return td.rand(4), td.rand(4, device="reference")

    td.manual_seed(3)
    first, second = td.compile(both)()
    td.manual_seed(3)
    again, others = both()
    assert first.tolist() == again.tolist()
    assert second.tolist() == others.tolist()
    here, there = lambda x: x + td.rand(4), lambda x: x + td.rand(4, device="reference").cpu()
    with pytest.raises(DeviceError, match="different devices"):
        td.cond(td.tensor(True), here, there, td.zeros(4))
