"""Does an optimizer's state go where its parameters go, to another precision or device?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.optim import SGD, Adafactor, Adam, NAdam, Rprop

RULES = {
    "SGD": lambda params: SGD(params, 0.1, 0.9, 0.5),
    "Adam": lambda params: Adam(params, 0.1, amsgrad=True),
    "NAdam": lambda params: NAdam(params, 0.1),
    "Adafactor": lambda params: Adafactor(params, 0.1),
    "Rprop": lambda params: Rprop(params, 0.1),
}


def made(rule):
    td.manual_seed(3)
    model = td.nn.Linear(3, 2)
    return model, RULES[rule](model.parameters())


def stepping(model, optimizer, compiled):
    def step(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return td.compile(step) if compiled else step


def inputs(count, kind, device="cpu"):
    values = np.random.default_rng(1).normal(size=(count, 4, 3))
    return [td.tensor(x, dtype=kind, device=device) for x in values]


def state_of(optimizer):
    return [x for p in optimizer.state for x in optimizer.state[p].values()]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("rule", RULES)
def test_a_model_made_double_after_its_optimizer_is_as_if_made_before(rule, compiled):
    late, optimizer = made(rule)
    late.double()
    early, _ = made(rule)
    early.double()
    other = RULES[rule](early.parameters())
    steps = [stepping(late, optimizer, compiled), stepping(early, other, compiled)]
    for x in inputs(3, "float64"):
        assert steps[0](x).item() == steps[1](x).item()
    assert all(x.dtype is td.float64 for x in state_of(optimizer))
    assert late.weight.tolist() == early.weight.tolist()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("rule", RULES)
def test_steps_go_on_after_a_move(rule, compiled):
    moved, optimizer = made(rule)
    step = stepping(moved, optimizer, compiled)
    stayed, other = made(rule)
    plain = stepping(stayed, other, False)
    xs = inputs(6, "float32")
    for k, x in enumerate(xs):
        if k == 2:
            moved.double()
        if k == 4:
            moved.to("reference", "float32")
        here = x.to(moved.weight.device, moved.weight.dtype)
        assert step(here).item() == pytest.approx(plain(x).item(), rel=1e-3)
    assert {x.device for x in state_of(optimizer)} == {moved.weight.device}
    ours, theirs = optimizer.state_dict()["state"][0], other.state_dict()["state"][0]
    assert ours["step"].item() == theirs["step"].item() == 6


def test_a_loaded_state_is_in_the_precision_of_now():
    model, optimizer = made("Adam")
    model.double()
    kept = optimizer.state_dict()
    third = td.full((2, 3), 1 / 3, dtype="float64")
    kept["state"][0]["exp_avg"] = third
    optimizer.load_state_dict(kept)
    assert optimizer.state[model.weight]["exp_avg"].tolist() == third.tolist()


def test_a_scaler_goes_along():
    model, optimizer = made("Adam")
    model.to("reference")
    scaler = td.amp.GradScaler("reference", init_scale=4.0)
    (x,) = inputs(1, "float32", "reference")
    scaler.scale((model(x) ** 2).sum()).backward()
    before = model.weight.numpy()
    scaler.step(optimizer)
    scaler.update()
    assert not np.array_equal(before, model.weight.numpy())
