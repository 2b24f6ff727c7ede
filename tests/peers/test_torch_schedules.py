"""Schedules of learning rates against PyTorch's, in float64.

Run by `make test-torch`; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest
from optim_runs import (
    BOTH,
    grid,
)

import treadle as td
from treadle import optim

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.usefixtures("numbers_in_double"),
    pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step"),
]


SCHEDULES = {
    "LambdaLR": [{"lr_lambda": lambda k: 0.95**k},
                 {"lr_lambda": [lambda k: 1 / (k + 1), lambda k: 0.5]}],
    "MultiplicativeLR": [{"lr_lambda": lambda k: 1 - 1 / (k + 2)}],
    "StepLR": [{"step_size": 1}, {"step_size": 7, "gamma": 0.5}],
    "MultiStepLR": [{"milestones": [3, 9, 9, 30]}, {"milestones": [0, 5], "gamma": 2.0}],
    "ConstantLR": [{}, {"factor": 0.7, "total_iters": 12}, {"factor": 1.0, "total_iters": 0}],
    "LinearLR": [{}, {"start_factor": 0.1, "total_iters": 30}, {"end_factor": 0.0},
                 {"start_factor": 1.0, "end_factor": 0.2, "total_iters": 49}],
    "ExponentialLR": [{"gamma": 0.9}, {"gamma": 1.1}],
    "PolynomialLR": [{}, {"total_iters": 20, "power": 2.0}, {"total_iters": 60, "power": 0.5}],
    "CosineAnnealingLR": [{"T_max": 50}, {"T_max": 7, "eta_min": 0.01}, {"T_max": 1}],
    "CosineAnnealingWarmRestarts": [{"T_0": 5}, {"T_0": 1},
                                    {"T_0": 4, "T_mult": 2, "eta_min": 0.02}],
    "CyclicLR": [
        *grid(base_lr=(0.01,), max_lr=(0.1, [0.2, 0.3]), step_size_up=(4,),
              step_size_down=(None, 9), gamma=(0.97,),
              mode=("triangular", "triangular2", "exp_range")),
        {"base_lr": 0.1, "max_lr": 0.2, "step_size_up": 6, "scale_fn": lambda x: 0.5 / x,
         "cycle_momentum": False},
        {"base_lr": 0.1, "max_lr": 0.2, "step_size_up": 6, "scale_fn": lambda x: 0.99**x,
         "scale_mode": "iterations", "base_momentum": 0.7},
    ],
    "OneCycleLR": [
        *grid(max_lr=(0.1, [0.2, 0.3]), total_steps=(50,), three_phase=BOTH,
              anneal_strategy=("cos", "linear"), cycle_momentum=BOTH),
        {"max_lr": 1.0, "epochs": 10, "steps_per_epoch": 6, "pct_start": 0.5, "div_factor": 3.0},
    ],
}  # fmt: skip
SCHEDULED = [(name, options) for name, grids in SCHEDULES.items() for options in grids]


def scheduled(cases):
    ids = [f"{name}-{k}" for k, (name, _) in enumerate(cases)]
    return pytest.mark.parametrize(("name", "options"), cases, ids=ids)


def pair(rule="SGD"):
    """The same optimizer with two groups, here and there."""
    options = {"lr": 0.5, "momentum": 0.9} if rule == "SGD" else {"lr": 0.5}
    ours = [td.tensor([1.0]).requires_grad_() for _ in range(2)]
    theirs = [torch.tensor([1.0], requires_grad=True) for _ in range(2)]
    return tuple(
        getattr(module, rule)([{"params": [a]}, {"params": [b], "lr": 0.25}], **options)
        for module, (a, b) in ((optim, ours), (torch.optim, theirs))
    )


def numbers_of(optimizer):
    return [
        float(x) for group in optimizer.param_groups
        for x in (group["lr"], *([group["betas"][0]] if "betas" in group else [group["momentum"]]))
    ]  # fmt: skip


def assert_same_schedule(mine, other, ours, theirs, steps=50):
    np.testing.assert_allclose(numbers_of(mine), numbers_of(other), rtol=1e-12)
    for k in range(steps):
        other.step()
        metric = [] if not hasattr(theirs, "patience") else [np.cos(k // 3) / (k + 1)]
        ours.step(*metric)
        theirs.step(*metric)
        np.testing.assert_allclose(numbers_of(mine), numbers_of(other), rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(ours.get_last_lr(), theirs.get_last_lr(), rtol=1e-12, atol=1e-16)
        assert getattr(ours, "last_epoch", None) == getattr(theirs, "last_epoch", None)


@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@scheduled(SCHEDULED)
def test_fifty_steps_of_a_schedule(name, options, rule):
    mine, other = pair(rule)
    ours = getattr(optim.lr_scheduler, name)(mine, **options)
    theirs = getattr(torch.optim.lr_scheduler, name)(other, **options)
    assert_same_schedule(mine, other, ours, theirs)


PLATEAUS = grid(
    mode=("min", "max"), threshold_mode=("rel", "abs"), patience=(0, 2), cooldown=(0, 3),
    factor=(0.5,), min_lr=(0.0, [0.1, 0.05]),
)  # fmt: skip


@pytest.mark.parametrize("options", PLATEAUS, ids=str)
def test_fifty_steps_of_a_plateau(options):
    mine, other = pair()
    ours = optim.lr_scheduler.ReduceLROnPlateau(mine, **options)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(other, **options)
    assert_same_schedule(mine, other, ours, theirs)


def joined(module, optimizer, kind):
    s = module
    if kind == "sequence":
        parts = [s.LinearLR(optimizer, 0.1, total_iters=10), s.CosineAnnealingLR(optimizer, 20)]
        return s.SequentialLR(optimizer, parts, [10])
    if kind == "three":
        parts = [
            s.ConstantLR(optimizer, 0.5, 3), s.ExponentialLR(optimizer, 0.9),
            s.CosineAnnealingWarmRestarts(optimizer, 4), s.StepLR(optimizer, 3),
        ]  # fmt: skip
        return s.SequentialLR(optimizer, parts, [5, 12, 30])
    if kind == "chain":
        parts = [s.ConstantLR(optimizer, 0.5, 20), s.ExponentialLR(optimizer, 0.9)]
        return s.ChainedScheduler(parts, optimizer)
    parts = [s.LinearLR(optimizer, total_iters=6), s.MultiStepLR(optimizer, [4, 8])]
    chain = s.ChainedScheduler([*parts, s.PolynomialLR(optimizer, 40, 2.0)])
    if kind == "many":
        return chain
    inner = [s.LinearLR(optimizer, 0.2, total_iters=4), s.StepLR(optimizer, 2)]
    nested = s.SequentialLR(optimizer, inner, [4])
    return s.SequentialLR(optimizer, [nested, s.LambdaLR(optimizer, lambda k: 0.9**k)], [12])


@pytest.mark.parametrize("kind", ["sequence", "three", "chain", "many", "nested"])
def test_fifty_steps_of_joined_schedules(kind):
    mine, other = pair()
    ours = joined(optim.lr_scheduler, mine, kind)
    theirs = joined(torch.optim.lr_scheduler, other, kind)
    assert_same_schedule(mine, other, ours, theirs)


@scheduled(SCHEDULED[::2])
def test_a_schedule_goes_on_from_their_state(name, options):
    mine, other = pair()
    theirs = getattr(torch.optim.lr_scheduler, name)(other, **options)
    for _ in range(8):
        other.step()
        theirs.step()
    ours = getattr(optim.lr_scheduler, name)(mine, **options)
    mine.load_state_dict(other.state_dict())
    ours.load_state_dict(theirs.state_dict())
    assert_same_schedule(mine, other, ours, theirs, 20)


@pytest.mark.parametrize("last", [3, 9])
@pytest.mark.parametrize(("name", "options"), [
    ("StepLR", {"step_size": 4}), ("MultiStepLR", {"milestones": [4, 12]}), ("LinearLR", {}),
    ("ExponentialLR", {"gamma": 0.9}), ("PolynomialLR", {"total_iters": 20}),
    ("ConstantLR", {"total_iters": 12}), ("LambdaLR", {"lr_lambda": lambda k: 1 / (k + 1)}),
    ("CosineAnnealingLR", {"T_max": 10}), ("CosineAnnealingWarmRestarts", {"T_0": 20}),
    ("MultiplicativeLR", {"lr_lambda": lambda k: 0.9}),
], ids=lambda x: x if isinstance(x, str) else "")  # fmt: skip
def test_a_schedule_begins_later(name, options, last):
    mine, other = pair()
    for optimizer in (mine, other):
        for group in optimizer.param_groups:
            group["initial_lr"] = 1.0
    ours = getattr(optim.lr_scheduler, name)(mine, last_epoch=last, **options)
    theirs = getattr(torch.optim.lr_scheduler, name)(other, last_epoch=last, **options)
    assert_same_schedule(mine, other, ours, theirs, 20)


@pytest.mark.parametrize("epochs", [[0.0, 0.5, 3.2, 4.0, 9.75, 30.0, 2.5], [1, 7, 15, 31]])
@pytest.mark.parametrize("options", [{"T_0": 4}, {"T_0": 3, "T_mult": 2}], ids=str)
def test_warm_restarts_take_parts_of_epochs(epochs, options):
    mine, other = pair()
    ours = optim.lr_scheduler.CosineAnnealingWarmRestarts(mine, **options)
    theirs = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(other, **options)
    for epoch in epochs:
        ours.step(epoch)
        theirs.step(epoch)
        np.testing.assert_allclose(numbers_of(mine), numbers_of(other), rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("options", grid(
    swa_lr=(0.05, [0.1, 0.9]), anneal_epochs=(0, 1, 10), anneal_strategy=("cos", "linear"),
), ids=str)  # fmt: skip
def test_fifty_steps_towards_averaging(options):
    mine, other = pair()
    ours = optim.swa_utils.SWALR(mine, **options)
    theirs = torch.optim.swa_utils.SWALR(other, **options)
    assert_same_schedule(mine, other, ours, theirs)
