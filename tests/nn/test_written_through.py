"""What changes a module from outside, or from a compiled function, is never lost silently."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import OperandError


def trained():
    """A model, its optimizer and a compiled step that has been called."""
    model = nn.Linear(2, 1)
    optimizer = td.optim.SGD(model.parameters(), lr=0.1)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    step(td.ones(3, 2))
    return model, optimizer, step


@pytest.mark.parametrize("move", [
    lambda m, _: m.double(), lambda m, _: m.half(), lambda m, _: m.to("cpu"),
    lambda m, _: m.zero_grad(set_to_none=False), lambda _, o: o.zero_grad(set_to_none=False),
])  # fmt: skip
def test_a_model_moves_after_a_compiled_step(move):
    """Its gradients stayed inside, and nobody asks for them."""
    model, optimizer, _ = trained()
    move(model, optimizer)
    assert np.isfinite(model.weight.numpy()).all()


def test_elements_set_in_data_are_set_in_the_parameter():
    layer = nn.Embedding(3, 2)
    layer.weight.data[0] = 0.0
    layer.weight.data[1:] = td.ones(2)
    np.testing.assert_array_equal(layer.weight.numpy(), [[0, 0], [1, 1], [1, 1]])
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.requires_grad
    assert type(layer.weight.data + 1) is td.Tensor


def test_elements_set_in_data_by_a_compiled_function():
    layer = nn.Embedding(3, 2)

    @td.compile
    def put(x):
        layer.weight.data[2] = x
        return layer.weight.sum()

    for value in (5.0, 7.0):
        put(td.full((2,), value))
        np.testing.assert_array_equal(layer.weight.numpy()[2], [value, value])


def test_a_part_of_a_parameter_is_not_initialised_in_vain():
    with pytest.raises(OperandError, match="it would not change"):
        nn.init.ones_(nn.Linear(2, 3).weight[:1])


def test_a_compiled_module_is_used_like_the_module():
    compiled = td.compile(nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5)))
    assert compiled.eval() is compiled
    assert not compiled.training
    x = td.ones(3, 2)
    np.testing.assert_array_equal(compiled(x).numpy(), compiled(x).numpy())
    assert len(list(compiled.parameters())) == 2
    assert list(compiled.state_dict()) == ["0.weight", "0.bias"]
    assert compiled.train() is compiled
    assert (compiled(td.ones(64, 2)).numpy() == 0).any()
    with pytest.raises(AttributeError):
        _ = compiled.nothing


class Scaled(nn.Module):
    def __init__(self):
        self.options, self.sizes, self.count, self.last = {"by": 2.0}, [1], 0, None

    def forward(self, x):
        return x * self.options["by"] * len(self.sizes)


class Counting(Scaled):
    def forward(self, x):
        self.count += 1
        return x * self.count


class Remembering(Scaled):
    def forward(self, x):
        self.last = x if self.last is None else self.last + x
        return self.last


def test_compiled_functions_see_lists_and_dicts_change():
    module = Scaled()
    compiled, x = td.compile(module), td.ones(2)
    assert compiled(x).tolist() == [2, 2]
    module.options["by"] = 10.0
    assert compiled(x).tolist() == [10, 10]
    module.sizes.append(3)
    assert compiled(x).tolist() == [20, 20]


@pytest.mark.parametrize("kind", [Counting, Remembering])
def test_state_in_plain_attributes_is_refused_where_calls_would_not_repeat_it(kind):
    with pytest.raises(OperandError, match="register_buffer"):
        td.compile(kind())(td.ones(2))


@pytest.mark.parametrize("layer", [nn.LayerNorm(4), nn.BatchNorm1d(4), nn.GroupNorm(2, 4)])
def test_norms_give_the_dtype_they_are_given(layer):
    x = td.random.normal((3, 4)).cast(td.bfloat16)
    assert layer(x).dtype is td.bfloat16
