"""Loops whose bodies go between the host and a GPU, on a driver that is as late as it may be."""

from __future__ import annotations

import gc

import numpy as np
import pytest

pytest.importorskip("triton")

from fake_driver import as_cuda
from late_driver import LateDriver
from triton_host import INTERPRETED

import treadle as td
from treadle.base.trees import flatten
from treadle.transforms import settling

pytestmark = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")

ARRAY = np.linspace(-2.0, 2.0, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def driver(monkeypatch):
    with as_cuda(monkeypatch, LateDriver) as driver:
        yield driver
        gc.collect()


def there_and_back(there, back, h, xs):
    """A carry on the host, half of each step on the GPU; rows of either."""
    return td.scan(lambda h, x: (back(td.tanh(there(h)) * 2.0) + x, (h, there(h * x))), h, xs)


def while_far(there, back, h, xs):
    return td.while_loop(lambda h: back(there(h).abs().sum()) < 90.0, lambda h: h * 2.0 + 1.0, h)


def either(there, back, h, xs):
    return td.cond(h.sum() > 0, lambda x: back(there(x) * 3.0) + x, lambda x: there(x).cpu(), xs)


def fed(there, back, h, xs):
    """The carry on the GPU; what it eats comes from the host, and goes back there."""
    return td.scan(lambda h, x: (h * 0.5 + there(x), back(h)), there(h), xs)


def there(x):
    return x.to("cuda")


def back(x):
    return x.to("cpu")


def stay(x):
    return x


CROSSING = [there_and_back, while_far, either, fed]


def arrays(tree):
    found = []
    flatten(tree, td.Tensor, found)
    return [x.numpy() for x in found]


@pytest.mark.parametrize("compiled", [False, True], ids=["as it is", "compiled"])
@pytest.mark.parametrize("most", [settling.MOST, 0], ids=["at once", "step by step"])
@pytest.mark.parametrize("function", CROSSING)
def test_it_gives_what_the_host_alone_does(driver, monkeypatch, function, most, compiled):
    monkeypatch.setattr(settling, "MOST", most)
    compare_with_the_host(function, compiled)


def compare_with_the_host(function, compiled):
    given = [td.tensor(ARRAY[3] + 0.5), td.tensor(ARRAY)]
    run = td.compile(function) if compiled else function
    for _ in range(2):
        found = arrays(run(there, back, *given))
        for a, b in zip(found, arrays(function(stay, stay, *given)), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("function", [there_and_back, fed])
def test_gradients_come_back(driver, function):
    def loss(there, back):
        def total(h, xs):
            found = []
            flatten(function(there, back, h, xs), td.Tensor, found)
            return sum((back(x) * back(x)).sum() for x in found)

        return total

    given = [td.tensor(ARRAY[3] + 0.5), td.tensor(ARRAY)]
    found = arrays(td.grad(loss(there, back), (0, 1))(*given))
    for a, b in zip(found, arrays(td.grad(loss(stay, stay), (0, 1))(*given)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)
