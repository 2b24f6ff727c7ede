"""Tensors of several devices at once: each is computed where it lives."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu.buffers import Buffer
from treadle.base.device import CPU, device
from treadle.base.errors import DeviceError
from treadle.runtime import realize

REFERENCE = device("reference")
ARRAY = np.linspace(-2.0, 2.0, 12, dtype=np.float32).reshape(3, 4)


def pair():
    return td.tensor(ARRAY), td.tensor(ARRAY, device="reference")


def is_on(x, where):
    """Is the memory of a tensor what its device makes?"""
    return isinstance(x._node.buffer, Buffer) == (where is CPU)


def check(here, there, expected):
    for x, where in ((here, CPU), (there, REFERENCE)):
        assert x.device is where
        assert is_on(x, where)
        np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_tensors_of_two_devices_are_computed_together(turned):
    here, there = pair()
    a, b = td.exp(here) * 2.0, td.exp(there) * 2.0
    td.realize(*((b, a) if turned else (a, b)))
    check(a, b, np.exp(ARRAY) * 2.0)


def test_the_same_graph_on_another_device_is_another_program():
    for _ in range(2):
        here, there = pair()
        a, b = here + 1.5, there + 1.5
        assert a.tolist() == b.tolist()
        check(a, b, ARRAY + 1.5)


def test_what_is_held_lives_on_its_device():
    here, there = pair()
    a, b = td.sin(here @ here.T), td.sin(there @ there.T)
    x, y = (a * 2.0).sum(), (b * 2.0).sum()
    td.realize(x, y)
    check(x, y, (np.sin(ARRAY @ ARRAY.T) * 2.0).sum())
    check(a.realize(), b.realize(), np.sin(ARRAY @ ARRAY.T))


def test_long_graphs_of_two_devices_are_cut_into_pieces(monkeypatch):
    monkeypatch.setattr(realize, "SMALLEST", 4)
    monkeypatch.setattr(realize, "LARGEST", 16)
    monkeypatch.setattr(realize, "LONG", 10)
    (here, there), value = pair(), ARRAY
    for _ in range(40):
        here, there, value = here * 0.5 + 1.0, there * 0.5 + 1.0, value * 0.5 + 1.0
    td.realize(here, there)
    check(here, there, value)


def test_a_compiled_function_of_two_devices_has_a_part_for_each():
    total = td.zeros(3, 4, device="reference").realize()
    other = td.zeros(3, 4).realize()

    @td.compile
    def step(x, y, *, scale):
        total.assign(total + y)
        other.assign(other - x)
        return {"x": x * scale, "y": td.exp(y) * scale, "kept": y}

    for turn in (1, 2):
        here, there = pair()
        found = step(here, there, scale=3.0)
        check(found["x"], found["y"] * 0.0 + found["kept"] * 3.0, ARRAY * 3.0)
        np.testing.assert_allclose(found["y"].numpy(), np.exp(ARRAY) * 3.0, rtol=1e-6)
        np.testing.assert_allclose(total.numpy(), ARRAY * turn, rtol=1e-6)
        np.testing.assert_allclose(other.numpy(), ARRAY * -turn, rtol=1e-6)
        assert is_on(total, REFERENCE)
        assert is_on(other, CPU)


def test_an_op_on_two_devices_is_refused():
    here, there = pair()
    for function in (lambda x, y: x + y, td.compile(lambda x, y: x + y)):
        with pytest.raises(DeviceError, match="different devices"):
            function(here, there)
