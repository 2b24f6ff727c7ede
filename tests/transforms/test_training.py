"""Training steps: compiled, lazy and in NumPy they give the same losses and share no memory."""

from __future__ import annotations

import gc
import math

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu.backend import Cpu
from treadle.base.errors import GradientError

SIZES = (12, 16, 5)
STEPS = 6


class Mlp:
    """Two layers in NumPy's float64, with gradients by hand."""

    def __init__(self, model):
        self.parts = [p.numpy().astype(np.float64) for p in model.parameters()]

    def step(self, x, y):
        w1, b1, w2, b2 = self.parts
        h = x @ w1.T + b1
        a = np.maximum(h, 0)
        z = a @ w2.T + b2
        e = np.exp(z - z.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y]).mean()
        dz = (p - np.eye(p.shape[1])[y]) / len(y)
        dh = dz @ w2 * (h > 0)
        return loss, [dh.T @ x, dh.sum(0), dz.T @ a, dz.sum(0)]


class Rule:
    """The update rules as their papers write them."""

    def __init__(self, name, lr):
        self.name, self.lr, self.t = name, lr, 0
        self.m, self.v = {}, {}

    def update(self, k, p, g):
        if self.name == "SGD":
            self.m[k] = 0.9 * self.m.get(k, 0) + g + 0.01 * p
            return p - self.lr * self.m[k]
        if self.name == "AdamW":
            p = p * (1 - self.lr * 0.01)
        self.m[k] = 0.9 * self.m.get(k, 0) + 0.1 * g
        self.v[k] = 0.999 * self.v.get(k, 0) + 0.001 * g * g
        m, v = self.m[k] / (1 - 0.9**self.t), self.v[k] / (1 - 0.999**self.t)
        return p - self.lr * m / (np.sqrt(v) + 1e-8)


OPTIMIZERS = {
    "SGD": lambda ps: td.optim.SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda ps: td.optim.Adam(ps, lr=0.02),
    "AdamW": lambda ps: td.optim.AdamW(ps, lr=0.02, weight_decay=0.01),
}
RATES = {"SGD": 0.1, "Adam": 0.02, "AdamW": 0.02}


def data():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((20, SIZES[0])).astype(np.float32)
    return x, rng.integers(0, SIZES[2], 20)


def build(name):
    """(model, optimizer, step function) from a fixed seed."""
    td.manual_seed(2)
    first, middle, last = SIZES
    model = td.nn.Sequential(td.nn.Linear(first, middle), td.nn.ReLU(), td.nn.Linear(middle, last))
    optimizer = OPTIMIZERS[name](model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


def losses_of(name, transform):
    x, y = data()
    _, _, step = build(name)
    run = transform(step)
    return [float(run(td.tensor(x), td.tensor(y))) for _ in range(STEPS)]


def losses_in_numpy(name):
    x, y = data()
    model, _, _ = build(name)
    mlp, rule, losses = Mlp(model), Rule(name, RATES[name]), []
    for _ in range(STEPS):
        rule.t += 1
        loss, grads = mlp.step(x.astype(np.float64), y)
        losses.append(loss)
        mlp.parts = [
            rule.update(k, p, g) for k, (p, g) in enumerate(zip(mlp.parts, grads, strict=True))
        ]
    return losses


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_lazy_and_numpy_steps_give_the_same_losses(name):
    expected = losses_in_numpy(name)
    assert expected[-1] < expected[0]
    np.testing.assert_allclose(losses_of(name, lambda f: f), expected, rtol=2e-5)
    np.testing.assert_allclose(losses_of(name, td.compile), expected, rtol=2e-5)


def trained(name="Adam"):
    x, y = (td.tensor(part) for part in data())
    model, optimizer, step = build(name)
    run = td.compile(step)
    run(x, y)
    return model, optimizer, lambda: run(x, y)


def test_a_detached_value_does_not_change_with_the_parameter():
    model, _, step = trained()
    p = next(model.parameters())
    before = p.detach()
    array = before.numpy().copy()
    step()
    np.testing.assert_array_equal(before.numpy(), array)
    assert not np.array_equal(p.numpy(), array)


def test_a_pending_value_is_that_of_before_the_step():
    model, _, step = trained()
    p = next(model.parameters())
    expected = p.numpy() * 2.0
    pending = p * 2.0
    step()
    np.testing.assert_array_equal(pending.numpy(), expected)


def test_an_array_taken_before_the_step_does_not_change():
    model, _, step = trained()
    p = next(model.parameters())
    array = p.numpy()
    copy = array.copy()
    step()
    np.testing.assert_array_equal(array, copy)


def test_a_loss_returned_before_keeps_its_value():
    _, _, step = trained()
    first = step()
    value = float(first)
    later = [float(step()) for _ in range(3)]
    assert float(first) == value
    assert value not in later


def test_two_names_of_one_value_part_when_one_is_assigned():
    a = td.tensor([1.0, 2.0])
    b = td.tensor(a)
    a.assign(a + 1.0)
    assert (a.tolist(), b.tolist()) == ([2.0, 3.0], [1.0, 2.0])


def test_a_copied_model_trains_apart():
    import copy

    model, _, step = trained()
    twin = copy.deepcopy(model)
    before = [p.numpy().copy() for p in twin.parameters()]
    step()
    for p, own, array in zip(model.parameters(), twin.parameters(), before, strict=True):
        np.testing.assert_array_equal(own.numpy(), array)
        assert not np.array_equal(p.numpy(), array)


def test_assigning_outside_is_seen_by_the_compiled_function():
    w = td.tensor([2.0])
    f = td.compile(lambda x: x * w)
    assert f(td.tensor([3.0])).tolist() == [6.0]
    w.assign(td.tensor([5.0]))
    assert f(td.tensor([3.0])).tolist() == [15.0]


def test_the_learning_rate_reaches_compiled_steps():
    p = td.tensor([1.0]).requires_grad_()
    optimizer = td.optim.SGD([p], lr=0.5)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        (p * x).sum().backward()
        optimizer.step()

    step(td.tensor([1.0]))
    assert p.tolist() == [0.5]
    optimizer.lr = 0.0
    step(td.tensor([1.0]))
    assert p.tolist() == [0.5]


def test_gradients_made_inside_stay_inside():
    model, _, step = trained()
    step()
    for p in model.parameters():
        with pytest.raises(GradientError, match="stayed inside"):
            _ = p.grad
        p.grad = None
        assert p.grad is None


def resident_pages():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def grown_pages(run, steps):
    for _ in range(200):
        run()
    before = resident_pages()
    for _ in range(steps):
        run()
    return resident_pages() - before


def lazy_step():
    x, y = (td.tensor(part) for part in data())
    _, _, step = build("SGD")
    return lambda: float(step(x, y))


ALLOWED = 1 << 9  # pages of 4 KiB: two megabytes of noise, whatever the number of steps


@pytest.mark.parametrize("kind", ["compiled", "lazy"])
def test_memory_stays_flat_over_two_thousand_steps(kind):
    run = trained("SGD")[2] if kind == "compiled" else lazy_step()
    assert grown_pages(run, 2000) < ALLOWED


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compiled", "lazy"])
def test_memory_stays_flat_over_ten_thousand_steps(kind):
    run = trained("Adam")[2] if kind == "compiled" else lazy_step()
    assert grown_pages(run, 10_000) < ALLOWED


def test_losses_are_numbers_after_many_steps():
    _, _, step = trained()
    loss = [float(step()) for _ in range(100)][-1]
    assert math.isfinite(loss)
    assert loss < 0.05


def test_a_compiled_step_copies_no_state(monkeypatch):
    model = td.nn.Linear(6, 3)
    optimizer = td.optim.AdamW(model.parameters(), lr=0.1)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = (model(x) * model(x)).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = td.tensor(np.ones((4, 6), np.float32))
    step(x)
    copies = []
    real = Cpu.copy
    monkeypatch.setattr(Cpu, "copy", lambda self, b: copies.append(b) or real(self, b))
    step(x)
    assert not copies
    shared = model.weight.detach()
    before = shared.numpy().copy()
    step(x)
    assert len(copies) == 1  # somebody else holds the weight's memory now
    np.testing.assert_array_equal(shared.numpy(), before)


def test_a_function_compiled_before_training_sees_the_training():
    model = td.nn.Linear(4, 4)
    optimizer = td.optim.SGD(model.parameters(), lr=0.5)
    predict = td.compile(lambda x: model(x))
    x = td.ones(3, 4)
    before = predict(x).numpy().copy()

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = td.square(model(x)).sum()
        loss.backward()
        optimizer.step()
        return loss

    step(x)
    np.testing.assert_array_equal(predict(x).numpy(), model(x).numpy())
    assert np.abs(predict(x).numpy() - before).max() > 0.1


def test_a_compiled_function_copies_one_parameter_to_another():
    a, b = td.tensor([1.0, 2.0]), td.tensor([3.0, 4.0])

    @td.compile
    def swap():
        old = a.detach()
        a.assign(b)
        b.assign(old)

    for _ in range(3):
        swap()
    assert (a.tolist(), b.tolist()) == ([3.0, 4.0], [1.0, 2.0])


def test_a_compiled_function_reads_what_a_detached_parameter_is_now():
    weight, average = td.tensor([1.0]), td.tensor([0.0])

    @td.compile
    def step():
        weight.assign(weight + 1.0)
        average.assign(average + weight.detach())

    for _ in range(3):
        step()
    assert (weight.tolist(), average.tolist()) == ([4.0], [9.0])


def test_a_compiled_function_sees_what_is_assigned_to_zeros_later():
    offset = td.zeros(2)
    add = td.compile(lambda x: x + offset)
    assert add(td.ones(2)).tolist() == [1.0, 1.0]
    offset.assign(td.ones(2))
    assert add(td.ones(2)).tolist() == [2.0, 2.0]


def test_a_compiled_step_leaves_arrays_of_the_user_alone():
    memory = np.zeros(1024 + 16, np.float32)
    start = -memory.ctypes.data % 64 // 4
    array = memory[start : start + 1024]
    tensor = td.from_numpy(array)

    @td.compile
    def step():
        tensor.assign(tensor + 1.0)

    step()
    assert float(tensor[0]) == 1.0
    assert not array.any()
