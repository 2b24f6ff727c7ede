"""A value, once made, never changes: whatever compiled functions write, whoever can still read."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu.backend import Cpu
from treadle.base.errors import GradientError
from treadle.runtime import realize as runtime

# ---- every way to read x before a compiled function gives it another value

READERS = {
    "a pending sum": lambda x: (x + 1) - 1,
    "a pending view": lambda x: x.flip(0).flip(0),
    "a detached tensor": lambda x: x.detach(),
    "a detached view": lambda x: x.reshape(2, 2).detach().reshape(4),
    "an array": lambda x: x.numpy(),
    "an array by DLPack": np.from_dlpack,
    "a view of an array": lambda x: np.asarray(x)[::-1][::-1],
    "data": lambda x: x.data,
    "a list of entries": lambda x: td.stack(list(x)),
    "a pull back": lambda x: td.vjp(lambda v: v * 1.0, x)[0],
    "a result that is the argument": lambda x: td.compile(lambda v: v)(x),
    "another tensor assigned": lambda x: td.zeros(4).assign(x),
    "a tensor that follows gradients": lambda x: x.detach().requires_grad_(),
}
MAKERS = {
    "memory": lambda: td.tensor([1.0, 2.0, 3.0, 4.0]),
    "pending": lambda: td.arange(4).cast("float32") + 1.0,
    "the user's array": lambda: td.from_numpy(np.arange(1.0, 5.0, dtype=np.float32)),
    "a parameter": lambda: td.nn.Parameter(td.tensor([1.0, 2.0, 3.0, 4.0])),
}


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


# ---- gradients are state


def zero_inside(w, optimizer, x):
    optimizer.zero_grad()
    loss = (w * x).sum()
    loss.backward()
    optimizer.step()
    return loss


def never_zero(w, optimizer, x):
    loss = (w * x).sum()
    loss.backward()
    optimizer.step()
    return loss


def zero_after(w, optimizer, x):
    loss = never_zero(w, optimizer, x)
    optimizer.zero_grad()
    return loss


def only_collect(w, optimizer, x):
    loss = (w * w * x).sum()
    loss.backward()
    return loss


def collect_afresh(w, optimizer, x):
    optimizer.zero_grad()
    return only_collect(w, optimizer, x)


def only_step(w, optimizer, x):
    optimizer.step()
    return (w * x).sum()


def twice(w, optimizer, x):
    only_collect(w, optimizer, x)
    return only_collect(w, optimizer, x * 2.0)


STEPS = (zero_inside, never_zero, zero_after, only_collect, collect_afresh, only_step, twice)


def learner(rule, transform):
    w = td.nn.Parameter(td.tensor([0.5, -1.0, 2.0]))
    optimizer = getattr(td.optim, rule)([w], lr=0.25)
    return w, optimizer, {f: transform(lambda x, f=f: f(w, optimizer, x)) for f in STEPS}


def gradient_of(w):
    try:
        return None if w.grad is None else w.grad.tolist()
    except GradientError:
        return "inside"


@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@pytest.mark.parametrize("seed", range(12))
def test_gradients_in_tensors_are_what_they_are_without_compiling(rule, seed):
    """Random steps in random order: whatever is there to be read is the same number."""
    rng = np.random.default_rng(seed)
    order = [STEPS[k] for k in rng.integers(0, len(STEPS), 8)]
    clear, look = rng.random(8) < 0.2, rng.random(8) < 0.5
    inputs = [td.tensor(rng.normal(size=3).astype(np.float32)) for _ in order]
    plain, fast = (learner(rule, transform) for transform in (lambda f: f, td.compile))
    for f, x, empty, wanted in zip(order, inputs, clear, look, strict=True):
        if empty or gradient_of(fast[0]) == "inside":
            for _, optimizer, _ in (plain, fast):
                optimizer.zero_grad()
        losses = [functions[f](x).item() for _, _, functions in (plain, fast)]
        np.testing.assert_allclose(*losses, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(fast[0].numpy(), plain[0].numpy(), rtol=1e-5, atol=1e-6)
        found, expected = gradient_of(fast[0]) if wanted else "inside", gradient_of(plain[0])
        if found != "inside":
            assert (found is None) == (expected is None)
            np.testing.assert_allclose(found or [], expected or [], rtol=1e-5, atol=1e-6)


def test_three_steps_without_forgetting_gradients():
    for compiled in (False, True):
        w = td.tensor([0.0]).requires_grad_()
        optimizer = td.optim.SGD([w], lr=1.0)
        step = (td.compile if compiled else lambda f: f)(
            lambda w=w, o=optimizer: never_zero(w, o, td.ones(1))
        )
        for _ in range(3):
            step()
        assert w.tolist() == [-6.0]
        assert w.grad.tolist() == [3.0]


# ---- derivatives inside derivatives


def test_a_gradient_inside_a_gradient_leaves_what_the_outer_one_follows():
    x, w = td.tensor(2.0), td.tensor(3.0)

    def outer(w):
        return td.grad(lambda x: w * x * x)(x) + w * w * w

    def pending(w):
        v = w * 1.0
        return td.grad(lambda x: v * x * x)(x + 0.0) + v * w * w

    def looked_at(w):
        slope = td.grad(lambda x: w * x * x)(x)
        slope.item()
        return slope + w * w * w

    def penalty(w):
        value, slope = td.value_and_grad(lambda x: (w * x * x).sum())(x)
        return slope * slope + value

    def thrice(w):
        return td.grad(lambda v: td.grad(lambda u: u * v * w * w)(v) * v)(x)

    for f, expected in ((outer, 31.0), (pending, 31.0), (penalty, 100.0), (thrice, 24.0)):
        for transform in (lambda f: f, td.compile):
            assert transform(td.grad(f))(w).item() == pytest.approx(expected)
            assert transform(td.grad(f))(w * 1.0).item() == pytest.approx(expected)
    assert td.grad(looked_at)(w).item() == 31.0
    assert td.jacobian(outer)(w).item() == 31.0
    assert td.jvp(outer, [w], [td.tensor(1.0)])[1].item() == 31.0


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


# ---- elements set outside of any function

KEYS = {
    "an element": 1,
    "a slice": slice(1, 3),
    "all": Ellipsis,
    "every second": slice(None, None, 2),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("maker", MAKERS)
def test_whoever_reads_a_value_keeps_it_when_elements_are_set(maker, key):
    for name, reader in READERS.items():
        x = MAKERS[maker]()
        held = []
        for k in range(4):
            expected = x.numpy().copy()
            held.append((reader(x), expected))
            with td.no_grad():
                x[KEYS[key]] = 10.0 * k
            changed = expected.copy()
            changed[KEYS[key]] = 10.0 * k
            np.testing.assert_array_equal(x.numpy(), changed, err_msg=name)
            for found, before in held:
                np.testing.assert_array_equal(np.asarray(found), before, err_msg=name)


def test_setting_elements_in_a_loop_copies_once_and_plans_nothing(monkeypatch):
    x, row = td.zeros(5, 6).realize(), td.arange(6).cast("float32").realize()
    x[0, 0] = 1.0
    copies, plans, real, plan = [], [], Cpu.copy, runtime.compile_graph
    monkeypatch.setattr(Cpu, "copy", lambda *args: copies.append(1) or real(*args))
    monkeypatch.setattr(runtime, "compile_graph", lambda *args: plans.append(1) or plan(*args))
    expected = x.numpy().copy()
    for i in range(5):
        x[i] = row
        expected[i] = np.arange(6)
        for j in range(6):
            x[i, -j] = i + 0.5 * j
            expected[i, -j] = i + 0.5 * j
    assert not copies
    assert not plans
    np.testing.assert_array_equal(x.numpy(), expected)
    x[1:3, ::2] = 7
    assert len(copies) <= 1


def test_setting_elements_takes_turns_with_compiled_functions():
    x = td.zeros(4)
    step = td.compile(lambda: x.assign(x + 1.0))
    for k in range(3):
        x[k] = 10.0
        step()
    assert x.tolist() == [13.0, 12.0, 11.0, 3.0]


def test_threads_that_read_what_another_sets_find_whole_values():
    x = td.zeros(64).realize()
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            y = x + 0.0
            first = y.numpy().copy()
            wrong.extend(
                [1] * bool((first != first[0]).any()) + [1] * bool((y.numpy() != first).any())
            )

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for k in range(300):
        x[:] = float(k)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
