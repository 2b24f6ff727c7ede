"""Schedules: closed forms, joined ones, resuming, and what they refuse."""

from __future__ import annotations

import math

import pytest

import treadle as td
from treadle import optim
from treadle.base.errors import ArgumentError, OperandError
from treadle.optim import lr_scheduler as s


def optimizer(lr=1.0, **options):
    return optim.SGD([td.ones(1).requires_grad_()], lr=lr, **options)


def values(schedule, steps):
    found = [schedule.get_last_lr()[0]]
    for _ in range(steps - 1):
        schedule.step()
        found.append(schedule.get_last_lr()[0])
    return found


CLOSED = {
    "lambda": (lambda o: s.LambdaLR(o, lambda k: 1 / (k + 1)), lambda k: 1 / (k + 1)),
    "multiplicative": (lambda o: s.MultiplicativeLR(o, lambda k: 0.5), lambda k: 0.5**k),
    "step": (lambda o: s.StepLR(o, 3), lambda k: 0.1 ** (k // 3)),
    "milestones": (lambda o: s.MultiStepLR(o, [2, 5]), lambda k: 0.1 ** ((k >= 2) + (k >= 5))),
    "constant": (lambda o: s.ConstantLR(o, 0.25, 4), lambda k: 0.25 if k < 4 else 1.0),
    "linear": (lambda o: s.LinearLR(o, 0.5, 1.0, 4), lambda k: 0.5 + min(k, 4) / 8),
    "exponential": (lambda o: s.ExponentialLR(o, 0.9), lambda k: 0.9**k),
    "polynomial": (lambda o: s.PolynomialLR(o, 5, 2.0), lambda k: (1 - min(k, 5) / 5) ** 2),
    "cosine": (lambda o: s.CosineAnnealingLR(o, 6), lambda k: (1 + math.cos(math.pi * k / 6)) / 2),
    "restarts": (
        lambda o: s.CosineAnnealingWarmRestarts(o, 4),
        lambda k: (1 + math.cos(math.pi * (k % 4) / 4)) / 2,
    ),
    "cycle": (
        lambda o: s.CyclicLR(o, 0.0, 1.0, 4, cycle_momentum=False),
        lambda k: 1 - abs(k % 8 - 4) / 4,
    ),
    "chain": (
        lambda o: s.ChainedScheduler([s.ExponentialLR(o, 0.9), s.StepLR(o, 2, 0.5)]),
        lambda k: 0.9**k * 0.5 ** (k // 2),
    ),
    "sequence": (
        lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.5, 99), s.ExponentialLR(o, 0.9)], [4]),
        lambda k: 0.5 if k < 4 else 0.9 ** (k - 4),
    ),
    "warm-up": (
        lambda o: s.WarmupStableDecayLR(o, 4, 3, 5, 0.2),
        lambda k: (k + 1) / 4 if k < 4 else 1.0 if k < 7 else 1 - 0.8 * min(1, (k - 6) / 5),
    ),
    "warm-up, cosine": (
        lambda o: s.WarmupStableDecayLR(o, 0, 2, 6, decay="cosine"),
        lambda k: (1 + math.cos(math.pi * min(1, max(0, k - 1) / 6))) / 2,
    ),
    "warm-up, root": (
        lambda o: s.WarmupStableDecayLR(o, 2, 0, 6, decay="sqrt"),
        lambda k: 0.5 if k == 0 else 1 - math.sqrt(min(1, max(0, k - 1) / 6)),
    ),
}


@pytest.mark.parametrize(("make", "expected"), CLOSED.values(), ids=CLOSED)
def test_fifteen_steps_are_those_of_the_formula(make, expected):
    found = values(make(optimizer()), 15)
    assert found == pytest.approx([expected(k) for k in range(15)], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("make", [make for make, _ in CLOSED.values()], ids=CLOSED)
def test_a_schedule_goes_on_from_its_state(make):
    one, other = optimizer(), optimizer()
    first, second = make(one), make(other)
    values(first, 6)
    second.load_state_dict(first.state_dict())
    other.load_state_dict(one.state_dict())
    assert values(first, 8) == values(second, 8)
    assert type(first).__name__ in repr(first)


def test_one_cycle_goes_up_and_down_and_momentum_the_other_way():
    o = optimizer(momentum=0.9)
    schedule = s.OneCycleLR(o, 1.0, total_steps=10, pct_start=0.5)
    rates, momenta = [o.lr], [o.momentum]
    for _ in range(9):
        schedule.step()
        rates.append(o.lr)
        momenta.append(o.momentum)
    assert max(rates) == rates[4] == 1.0
    assert rates[0] == pytest.approx(1 / 25)
    assert rates[-1] == pytest.approx(1 / 25e4)
    assert min(momenta) == momenta[4] == pytest.approx(0.85)
    with pytest.raises(ArgumentError, match="over"):
        values(schedule, 3)


def test_a_plateau_is_waited_for():
    o = optimizer()
    schedule = s.ReduceLROnPlateau(o, factor=0.5, patience=1)
    for loss, rate in [(3.0, 1.0), (2.0, 1.0), (2.0, 1.0), (2.0, 0.5), (td.tensor(1.0), 0.5)]:
        schedule.step(loss)
        assert o.lr == rate


def test_schedules_reach_compiled_steps():
    p = td.ones(1).requires_grad_()
    o = optim.SGD([p], lr=1.0)
    schedule = s.StepLR(o, 1, 0.5)

    @td.compile
    def step():
        o.zero_grad()
        p.sum().backward()
        o.step()

    for _ in range(3):
        step()
        schedule.step()
    assert p.tolist() == [1 - 1 - 0.5 - 0.25]
    assert sum(map(len, step.entries.values())) == 1


def test_a_schedule_inside_a_trace_is_refused():
    o = optimizer()
    schedule = s.StepLR(o, 1)

    @td.compile
    def step(x):
        schedule.step()
        return x

    with pytest.raises(ArgumentError, match="traced function"):
        step(td.ones(1))


WRONG = {
    "belongs": (OperandError, lambda: s.StepLR(td.ones(1), 1)),
    "step_size": (ArgumentError, lambda: s.StepLR(optimizer(), 0)),
    "each group": (ArgumentError, lambda: s.LambdaLR(optimizer(), [abs, abs])),
    "a function": (ArgumentError, lambda: s.LambdaLR(optimizer(), 3.0)),
    "factor": (ArgumentError, lambda: s.ConstantLR(optimizer(), 2.0)),
    "factors": (ArgumentError, lambda: s.LinearLR(optimizer(), 0.0)),
    "T_0": (ArgumentError, lambda: s.CosineAnnealingWarmRestarts(optimizer(), 0)),
    "mode": (ArgumentError, lambda: s.CyclicLR(optimizer(), 0.1, 0.2, mode="square")),
    "momentum": (ArgumentError, lambda: s.CyclicLR(
        optim.Adagrad([td.ones(1).requires_grad_()]), 0.1, 0.2)),
    "total_steps": (ArgumentError, lambda: s.OneCycleLR(optimizer(), 1.0)),
    "anneal_strategy": (ArgumentError, lambda: s.OneCycleLR(
        optimizer(), 1.0, 9, anneal_strategy="up")),
    "below 1": (ArgumentError, lambda: s.ReduceLROnPlateau(optimizer(), factor=1.0)),
    "go on from": (ArgumentError, lambda: s.StepLR(optimizer(), 1, last_epoch=4)),
    "milestone": (ArgumentError, lambda: s.SequentialLR(
        o := optimizer(), [s.StepLR(o, 1)], [3])),
    "one optimizer": (ArgumentError, lambda: s.ChainedScheduler(
        [s.StepLR(optimizer(), 1), s.StepLR(optimizer(), 1)])),
    "metric": (OperandError, lambda: s.ChainedScheduler([s.ReduceLROnPlateau(optimizer())])),
    "another schedule": (ArgumentError, lambda: s.StepLR(optimizer(), 1).load_state_dict({})),
    "decay": (ArgumentError, lambda: s.WarmupStableDecayLR(optimizer(), 1, 1, 1, decay="up")),
}  # fmt: skip


@pytest.mark.parametrize("said", WRONG)
def test_wrong_arguments_are_refused(said):
    error, make = WRONG[said]
    with pytest.raises(error, match=said):
        make()
