"""Compiled functions follow what modules and optimizers are told afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


class Net(td.nn.Module):
    scale = 1.0

    def __init__(self):
        self.linear = td.nn.Linear(4, 4)
        self.drop = td.nn.Dropout(0.5)
        self.blocks = [td.nn.ReLU()]
        self._calls = 0

    def forward(self, x):
        self._calls += 1
        for block in self.blocks:
            x = block(x)
        return self.drop(self.linear(x)) * self.scale


def traces(compiled):
    return sum(map(len, compiled.entries.values()))


def test_evaluation_switches_dropout_off_and_training_on_again():
    model = Net()
    f, x = td.compile(lambda x: model(x)), td.ones(64, 4)
    expected = model.linear(x).numpy()
    for _ in range(2):
        model.train()
        assert (f(x).numpy() == 0.0).any()
        model.eval()
        np.testing.assert_allclose(f(x).numpy(), expected, rtol=1e-6)
    assert traces(f) == 2


def test_batch_statistics_follow_the_mode():
    class Norm(td.nn.Module):
        def __init__(self):
            self.mean, self.var = td.zeros(3), td.ones(3)

        def forward(self, x):
            return td.nn.functional.batch_norm(x, self.mean, self.var, training=self.training)

    model, x = Norm(), td.random.normal((16, 3)) * 3.0
    f = td.compile(lambda x: model(x))
    assert abs(f(x).numpy().mean()) < 1e-5
    after = model.mean.tolist()
    model.eval()
    lazily = model(x).numpy()
    np.testing.assert_allclose(f(x).numpy(), lazily, rtol=1e-5, atol=1e-6)
    assert model.mean.tolist() == after


CHANGES = {
    "a number": lambda m: setattr(m, "scale", 3.0),
    "a layer": lambda m: setattr(m, "linear", td.nn.Linear(4, 4)),
    "a layer in a list": lambda m: setattr(m, "blocks", [td.nn.GELU()]),
    "a layer below": lambda m: setattr(m.drop, "p", 0.0),
    "a weight": lambda m: setattr(m.linear, "weight", td.nn.Parameter(td.zeros(4, 4))),
    "nothing more": lambda m: delattr(m.linear, "_calls") if hasattr(m.linear, "_calls") else None,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_an_attribute_decides_is_followed(change):
    model = Net().eval()
    f, x = td.compile(lambda x: model(x)), td.random.normal((8, 4))
    for _ in range(2):
        np.testing.assert_allclose(f(x).numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)
        change(model)


def test_a_flag_is_read_without_a_call():
    model = Net()
    f, x = td.compile(lambda x: x * (2.0 if model.training else 3.0)), td.ones(1)
    assert f(x).item() == 2.0
    model.eval()
    assert f(x).item() == 3.0
    model.train()
    assert f(x).item() == 2.0
    assert traces(f) == 2


def test_what_the_function_sets_itself_does_not_trace_it_again():
    model = Net().eval()

    def f(x):
        was = model.training
        model.train(False)
        y = model(x)
        model.train(was)
        return y

    compiled = td.compile(f)
    for _ in range(5):
        compiled(td.ones(2, 4))
    assert traces(compiled) == 1
    assert model._calls == 1  # what Python does besides happens while tracing


def test_frozen_parameters_stay_as_they_are():
    model = td.nn.Linear(3, 1)
    optimizer = td.optim.SGD(model.parameters(), lr=0.5)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = td.ones(2, 3)
    step(x)
    model.bias.requires_grad_(False)
    bias, weight = model.bias.tolist(), model.weight.tolist()
    step(x)
    assert model.bias.tolist() == bias
    assert model.weight.tolist() != weight
    model.bias.requires_grad_()
    step(x)
    assert model.bias.tolist() != bias


def test_an_optimizer_follows_its_settings():
    w = td.nn.Parameter(td.ones(2))
    optimizer = td.optim.SGD([w], lr=1.0)

    @td.compile
    def step():
        optimizer.zero_grad()
        (w * 0.0).sum().backward()
        optimizer.step()

    step()
    assert w.tolist() == [1.0, 1.0]
    optimizer.weight_decay = 0.5
    step()
    assert w.tolist() == [0.5, 0.5]
