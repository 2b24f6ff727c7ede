"""Values that go from one device to another within a graph: NumPy's stands for the other one."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.device import CPU, device
from treadle.base.errors import ArgumentError
from treadle.ir.parser import parse_graph
from treadle.ir.printer import graph_text
from treadle.runtime import devices

THERE = device("reference")
ARRAY = np.linspace(-2.0, 2.0, 12, dtype=np.float32).reshape(3, 4)


def there_and_back(x):
    return (td.exp(x.to("reference")) * 2.0).to("cpu") * x


def expected(x):
    return np.exp(x) * 2.0 * x


def slope(x):
    return np.exp(x) * 2.0 * (x + 1.0)


@pytest.fixture
def copies(monkeypatch):
    """What goes from one device to another while a program runs."""
    found = []
    moved = devices.moved

    def counted(memory, source, target, hurried=False):
        found.append((source.device, target.device, source.shape))
        return moved(memory, source, target, hurried)

    monkeypatch.setattr(devices, "moved", counted)
    return found


@pytest.mark.parametrize("way", ["as it is", "compiled"])
def test_values_and_gradients_cross(way):
    wrapped = td.compile if way == "compiled" else lambda f: f
    x = td.tensor(ARRAY)
    for _ in range(2):
        found = wrapped(there_and_back)(x)
        np.testing.assert_allclose(found.numpy(), expected(ARRAY), rtol=1e-6)
        g = wrapped(td.grad(lambda x: there_and_back(x).sum()))(x)
        assert g.device is CPU
        np.testing.assert_allclose(g.numpy(), slope(ARRAY), rtol=1e-5)


def test_backward_reaches_leaves_on_both_devices():
    here = td.tensor(ARRAY).requires_grad_()
    there = td.tensor(ARRAY, device="reference").requires_grad_()
    ((here * 3.0).to("reference") * there).sum().backward()
    assert (here.grad.device, there.grad.device) == (CPU, THERE)
    np.testing.assert_allclose(here.grad.numpy(), ARRAY * 3.0)
    np.testing.assert_allclose(there.grad.numpy(), ARRAY * 3.0)


def test_a_leaf_that_is_moved_stays_where_its_gradient_goes():
    x = td.tensor(ARRAY).requires_grad_()
    y = x.to("reference")
    assert not y.is_leaf
    (y * y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), ARRAY * 2.0)
    with td.no_grad():
        assert not x.to("reference").requires_grad
    assert x.detach().to("reference").requires_grad_().is_leaf


def test_forward_mode_and_samples_cross():
    x, t = td.tensor(ARRAY), td.tensor(ARRAY[::-1].copy())
    y, change = td.jvp(there_and_back, [x], [t])
    np.testing.assert_allclose(y.numpy(), expected(ARRAY), rtol=1e-6)
    np.testing.assert_allclose(change.numpy(), slope(ARRAY) * ARRAY[::-1], rtol=1e-5)
    rows = td.vmap(lambda row: (row.to("reference") * row.to("reference").sum()).to("cpu"))(x)
    np.testing.assert_allclose(rows.numpy(), ARRAY * ARRAY.sum(1, keepdims=True), rtol=1e-5)
    second = td.grad(lambda x: td.grad(lambda x: there_and_back(x).sum())(x).sum())(x)
    np.testing.assert_allclose(second.numpy(), np.exp(ARRAY) * 2.0 * (ARRAY + 2.0), rtol=1e-5)


def test_what_is_computed_again_for_a_gradient_crosses_again():
    x = td.tensor(ARRAY).requires_grad_()
    td.checkpoint(lambda x: td.exp(x.to("reference") * 2.0), x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(ARRAY * 2.0) * 2.0, rtol=1e-5)


def test_a_compiled_step_over_two_devices_trains_as_one_device_does():
    def losses(where):
        first = td.tensor(ARRAY * 0.1).requires_grad_()
        last = td.tensor(ARRAY.T * 0.1, device=where).requires_grad_()

        @td.compile
        def step(x):
            loss = (td.tanh(x @ first).to(where) @ last).square().mean()
            gradients = td.gradients(loss, [first, last])
            for p, g in zip((first, last), gradients, strict=True):
                p.assign((p - 0.5 * g).detach())
            return loss

        return [step(td.tensor(ARRAY.T @ ARRAY)[:, :3]).item() for _ in range(4)]

    np.testing.assert_allclose(losses("reference"), losses("cpu"), rtol=1e-5)


def test_equal_transfers_are_one_and_views_cross_as_what_they_show(copies):
    @td.compile
    def f(x):
        y = x * 2.0
        return y.to("reference") + y.to("reference"), y.to("reference").T, x.to("reference")

    x = td.tensor(ARRAY)
    total, turned, same = f(x)
    assert sorted(shape for *_, shape in copies) == [(3, 4), (3, 4)]
    np.testing.assert_allclose(total.numpy(), ARRAY * 4.0)
    np.testing.assert_allclose(turned.numpy(), ARRAY.T * 2.0)
    np.testing.assert_allclose(same.numpy(), ARRAY)


def test_numbers_and_indices_do_not_cross(copies):
    def f(x):
        y = x.to("reference")
        return (y * 2.0 + td.arange(4, device="reference")).to("cpu") + td.arange(4)

    np.testing.assert_allclose(
        td.compile(f)(td.tensor(ARRAY)).numpy(), ARRAY * 2.0 + 2 * np.arange(4)
    )
    assert [(a, b) for a, b, _ in copies] == [(CPU, THERE), (THERE, CPU)]


def test_an_argument_that_is_returned_twice_has_memory_for_each():
    @td.compile
    def f(x):
        y = x.to("reference")
        return x, y, y, x

    found = f(td.tensor(ARRAY))
    assert len({id(y._node.buffer) for y in found}) == 4
    for y in found:
        np.testing.assert_array_equal(y.numpy(), ARRAY)


def test_complex_numbers_cross_as_they_lie():
    z = td.tensor(ARRAY + 1j * ARRAY[::-1])

    def f(z):
        return ((z * 2.0).to("reference") * z.to("reference")).to("cpu").conj()

    wanted = (2.0 * z.numpy() * z.numpy()).conj()
    for function in (f, td.compile(f)):
        np.testing.assert_allclose(function(z).numpy(), wanted, rtol=1e-6)


def test_a_long_way_over_devices():
    x, value = td.tensor(ARRAY), ARRAY

    @td.compile
    def f(x):
        for k in range(20):
            x = (x * 0.5 + 1.0).to("reference" if k % 2 == 0 else "cpu")
        return x

    for _ in range(20):
        value = value * 0.5 + 1.0
    np.testing.assert_allclose(f(x).numpy(), value, rtol=1e-6)


def test_a_graph_with_a_transfer_is_text_and_back():
    x = td.tensor(ARRAY).requires_grad_()
    text = graph_text([(x * 2.0).to("reference")._node])
    assert "transfer %2 Device('reference') : f32[3, 4] on reference" in text
    assert graph_text(parse_graph(text)) == text


def test_explain_shows_every_piece_and_what_moves():
    found = td.explain(lambda x: there_and_back(x + 1.0), td.tensor(ARRAY))
    assert found.transfers == ["f32[3, 4] cpu → reference", "f32[3, 4] reference → cpu"]
    assert [row.number for row in found.rows] == [0, 1]
    assert "moves    f32[3, 4] cpu → reference" in str(found)


def test_words_of_to():
    x = td.tensor(ARRAY)
    like = td.ones(2, dtype="float16", device="reference")
    for y in (x.to(like), x.to("reference", td.float16), x.to(device=THERE, dtype="float16"),
              x.to("float16").to("reference", non_blocking=True)):  # fmt: skip
        assert (y.device, y.dtype) == (THERE, td.float16)
    assert x.to("cpu") is x
    assert x.to(None, None) is x
    copy = x.to("cpu", copy=True)
    assert copy is not x
    np.testing.assert_array_equal(copy.numpy(), ARRAY)
    with pytest.raises(ArgumentError, match="takes device"):
        td.nn.Linear(2, 2).to("cpu", memory_format=1)
