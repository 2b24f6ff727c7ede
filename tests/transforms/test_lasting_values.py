"""A value, once made, never changes: whatever compiled functions write, whoever can still read."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from held_values import MAKERS, READERS

import treadle as td
from treadle.backends.cpu.backend import Cpu


def closed_and_read(x):
    return td.compile(lambda: x.assign(x * 2.0 + 1.0))


def closed_and_written(x):
    return td.compile(lambda: x.assign(td.full((4,), 7.0)))


def closed_item(x):
    def change():
        with td.no_grad():
            x[1:3] = x[:2] * 5.0

    return td.compile(change)


def argument(x):
    f = td.compile(lambda v: v.assign(v * 2.0 + 1.0))
    return lambda: f(x)


def argument_item(x):
    def change(v):
        with td.no_grad():
            v[::2] = 9.0
        return v * 1.0

    f = td.compile(change)
    return lambda: f(x)


def swapped(x):
    other = td.tensor([9.0, 8.0, 7.0, 6.0])

    def change():
        old = x.detach()
        x.assign(other)
        other.assign(old)

    return td.compile(change)


WRITERS = (closed_and_read, closed_and_written, closed_item, argument, argument_item, swapped)


@pytest.mark.parametrize("calls", [0, 2], ids=["the first call", "later calls"])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("maker", MAKERS)
def test_whoever_reads_a_value_keeps_it(maker, writer, calls):
    for name, reader in READERS.items():
        x = MAKERS[maker]()
        write = writer(x)
        for _ in range(calls):
            write()
        expected = x.numpy().copy()
        found = reader(x)
        for _ in range(2):
            write()
            np.testing.assert_array_equal(np.asarray(found), expected, err_msg=name)


@pytest.mark.parametrize("writer", WRITERS)
def test_compiled_assignments_give_what_the_function_gives(writer, monkeypatch):
    def values(compiled):
        with monkeypatch.context() as patch:
            if not compiled:
                patch.setattr(td, "compile", lambda f: f)
            x = td.tensor([1.0, 2.0, 3.0, 4.0])
            write = writer(x)
        found = []
        for _ in range(3):
            write()
            found.append(x.tolist())
        return found

    assert values(True) == values(False)


def test_the_user_s_array_is_never_written():
    for writer in WRITERS:
        array = np.arange(4, dtype=np.float32)
        write = writer(td.from_numpy(array))
        for _ in range(3):
            write()
        assert array.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_state_that_nobody_reads_is_not_copied(monkeypatch):
    x = td.tensor([1.0, 2.0, 3.0, 4.0])
    for write in (closed_and_read(x), argument(x)):
        write()
        copies, real = [], Cpu.copy
        with monkeypatch.context() as patch:
            patch.setattr(Cpu, "copy", lambda _, b, c=copies, f=real: c.append(b) or f(_, b))
            for _ in range(3):
                write()
                x.tolist()  # looked at, and let go of
            assert not copies
            kept = x.numpy()
            write()
            write()
            assert len(copies) == 1
            del kept


def test_two_names_for_one_tensor():
    x, w = td.tensor([1.0]), td.tensor([5.0])

    def both(a, b):
        a.assign(a + 1.0)
        return a * 10.0 + b

    def closed(a):
        w.assign(w + 1.0)
        return a * 10.0 + w

    for f in (both, closed):
        g, seen = td.compile(f), []
        for call in (f, g, g):
            x.assign(td.tensor([1.0]))
            w.assign(td.tensor([5.0]))
            found = call(x, x) if f is both else call(w)
            seen.append((found.tolist(), x.tolist(), w.tolist()))
            found = call(x, w) if f is both else call(x)
            seen[-1] += (found.tolist(), x.tolist(), w.tolist())
        assert seen[0] == seen[1] == seen[2]


def test_gradients_by_two_names_for_one_tensor():
    w = td.tensor([3.0]).requires_grad_()

    def f(v):
        w.grad = None
        (w * v * 2.0).sum().backward()
        return w.grad * 1.0

    assert f(w).tolist() == td.compile(f)(w).tolist() == [12.0]


def test_one_value_in_two_states():
    a, b = td.zeros(3), td.zeros(3)

    @td.compile
    def both(x):
        y = a + x
        a.assign(y)
        b.assign(y)
        return y

    results = [both(td.ones(3)) for _ in range(3)]
    assert [y.tolist() for y in results] == [[1.0] * 3, [2.0] * 3, [3.0] * 3]
    bump = td.compile(lambda: a.assign(a + 10.0))
    bump()
    assert (a.tolist(), b.tolist()) == ([13.0] * 3, [3.0] * 3)


def test_compiled_functions_on_the_reference_device():
    state, x = (td.tensor(v, device="reference") for v in ([0.0, 0.0], [1.0, 2.0]))
    f = td.compile(lambda v: state.assign(state + v) * 2.0)
    assert f(x).tolist() == [2.0, 4.0]
    kept = state.numpy()
    assert f(x).tolist() == [4.0, 8.0]
    assert (state.tolist(), kept.tolist()) == ([2.0, 4.0], [1.0, 2.0])


def test_state_that_nobody_reads_costs_no_new_node(monkeypatch):
    x = td.tensor([1.0, 2.0])
    step = td.compile(lambda: [x.assign(x + 1.0), None][1])
    step()
    step()
    made, real = [], Cpu.lend
    monkeypatch.setattr(Cpu, "lend", lambda *args: made.append(1) or real(*args))
    for _ in range(3):
        step()
    assert not made
    held = x.detach()
    step()
    assert made
    assert (x.tolist(), held.tolist()) == ([7.0, 8.0], [6.0, 7.0])


def test_a_tensor_given_another_value_meanwhile_is_not_mistaken_for_the_old_one():
    x, values = td.zeros(8), [td.full((8,), float(k)).realize() for k in range(7)]
    step = td.compile(lambda: [x.assign(x + 100.0), None][1])
    step()
    stop, wrong = threading.Event(), []

    def change():
        k = 0
        while not stop.is_set():
            x.assign(values[k := (k + 1) % 7])
            wrong.extend([k for k, v in enumerate(values) if float(v[3]) != k])

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(2000):
        step()
        found = x.numpy()
        wrong.extend([found] if (found != found[0]).any() else [])
    stop.set()
    thread.join()
    assert not wrong


# ---- an interrupt comes before a program or after it, never in the middle


class Interrupted:
    def __init__(self, real, before):
        self.real, self.before = real, before

    def __call__(self, address):
        if self.before:
            raise KeyboardInterrupt
        self.real(address)
        raise KeyboardInterrupt


@pytest.mark.parametrize("before", [True, False])
def test_an_interrupt_leaves_state_as_it_was_or_as_it_is_after(before):
    a, b = td.zeros(3), td.ones(3)

    @td.compile
    def step(x):
        old = a.detach()
        a.assign(b + x)
        b.assign(old * 2.0 + b)
        return a * 1.0

    step(td.ones(3))
    state = a.tolist(), b.tolist()
    ((traced,),) = step.entries.values()
    program, real = traced.program, traced.program.launch
    program.launch = Interrupted(real, before)
    with pytest.raises(KeyboardInterrupt):
        step(td.ones(3))
    program.launch = real
    if not before:
        state = [x + 1.0 for x in state[1]], [2.0 * x + y for x, y in zip(*state, strict=True)]
    assert (a.tolist(), b.tolist()) == tuple(state)
    step(td.ones(3))
    after = [x + 1.0 for x in state[1]], [2.0 * x + y for x, y in zip(*state, strict=True)]
    assert (a.tolist(), b.tolist()) == after


# ---- threads


def test_threads_that_step_and_threads_that_look():
    """Steps of several threads follow each other, and whoever looks sees the state of a moment."""
    size, steps = 70_000, 40
    a, b = td.zeros(size), td.zeros(size)

    @td.compile
    def step(x):
        a.assign(a + x)
        b.assign(b + a * 0.0 + x)

    @td.compile
    def other(x):
        b.assign(b + x)
        a.assign(a + x)

    wrong, x = [], td.ones(size)

    def run(f):
        for _ in range(steps):
            f(x)

    def look():
        for _ in range(steps):
            values = (a + 0.0).numpy(), b.numpy(), a.detach().numpy()
            wrong.extend(value for value in values if not (value == value[0]).all())

    threads = [threading.Thread(target=run, args=(f,)) for f in (step, other, step)]
    threads += [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert a.max().item() == a.min().item() == b.max().item() == b.min().item() == 3.0 * steps
