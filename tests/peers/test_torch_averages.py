"""Averaged models and mixed precision against PyTorch's.

Run by `make test-torch`; skipped where PyTorch is not installed.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from optim_runs import (
    BOTH,
    grid,
)

import treadle as td
from treadle import optim

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("numbers_in_double")


def twins():
    """The same network here and there."""

    def of(nn):
        return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2))

    ours, theirs = of(td.nn).double(), of(torch.nn)
    ours.load_state_dict({name: x.detach().numpy() for name, x in theirs.state_dict().items()})
    return ours, theirs


AVERAGES = {
    "mean": lambda s: {},
    "mean function": lambda s: {"avg_fn": s.get_swa_avg_fn()},
    "means function": lambda s: {"multi_avg_fn": s.get_swa_multi_avg_fn()},
    "ema": lambda s: {"avg_fn": s.get_ema_avg_fn(0.9)},
    "many ema": lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.7)},
    "own": lambda s: {"avg_fn": lambda mean, new, count: mean * 0.5 + new * 0.5},
}


@pytest.mark.parametrize("compiled", BOTH, ids=["lazy", "compiled"])
@pytest.mark.parametrize(("kind", "use_buffers"), [
    pair for pair in product(AVERAGES, BOTH)
    if pair != ("means function", True)  # PyTorch's refuses buffers that count
])  # fmt: skip
def test_averaged_models(kind, use_buffers, compiled):
    (ours, theirs), s, t = twins(), optim.swa_utils, torch.optim.swa_utils
    options = AVERAGES[kind]
    own = s.AveragedModel(ours, use_buffers=use_buffers, **options(s))
    their = t.AveragedModel(theirs, use_buffers=use_buffers, **options(t))
    mine, other = optim.SGD(ours.parameters(), lr=0.1), torch.optim.SGD(theirs.parameters(), lr=0.1)
    rng = np.random.default_rng(3)

    def step(x):
        mine.zero_grad()
        ours(x).square().mean().backward()
        mine.step()
        own.update_parameters(ours)

    run = td.compile(step) if compiled else step
    batches = [rng.standard_normal((8, 4)) for _ in range(6)]
    for x in batches:
        run(td.tensor(x))
        other.zero_grad()
        theirs(torch.tensor(x)).square().mean().backward()
        other.step()
        their.update_parameters(theirs)
    assert_same_tensors(own, their)
    s.update_bn([[td.tensor(x)] for x in batches], own)
    t.update_bn([[torch.tensor(x)] for x in batches], their)
    assert_same_tensors(own, their)


def assert_same_tensors(ours, theirs):
    own, their = ours.state_dict(), theirs.state_dict()
    assert own.keys() == their.keys()
    for name, value in own.items():
        expected = their[name].numpy()
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-10, atol=1e-12, err_msg=name)


# ---- mixed precision


@pytest.mark.parametrize("compiled", BOTH, ids=["lazy", "compiled"])
@pytest.mark.parametrize("options", grid(
    init_scale=(4.0, 65536.0), growth_interval=(1, 3), growth_factor=(2.0, 1.5),
    backoff_factor=(0.5, 0.25),
), ids=str)  # fmt: skip
def test_thirty_steps_with_a_scaler(options, compiled):
    rng = np.random.default_rng(4)
    factors = np.where(rng.random(30) < 0.25, np.inf, rng.standard_normal(30))
    factors[7] = np.nan
    ours, theirs = td.tensor([0.5, -1.0]).requires_grad_(), torch.tensor([0.5, -1.0])
    theirs.requires_grad_()
    mine, other = optim.Adam([ours], lr=0.1), torch.optim.Adam([theirs], lr=0.1)
    scaler, their_scaler = td.amp.GradScaler(**options), torch.amp.GradScaler("cpu", **options)

    def step(p, optimizer, scaler, factor):
        optimizer.zero_grad()
        scaler.scale((p.sin() * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    run = (lambda x: step(ours, mine, scaler, x)) if not compiled else td.compile(
        lambda x: step(ours, mine, scaler, x)
    )  # fmt: skip
    for factor in factors:
        run(td.tensor(factor, dtype="float32"))
        step(theirs, other, their_scaler, float(factor))
        assert scaler.state_dict() == their_scaler.state_dict()
        np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


CAST = {
    "matmul": (lambda x: x @ x, lambda x: x @ x),
    "linear": (lambda x: td.nn.functional.linear(x, x), lambda x: torch.nn.functional.linear(x, x)),
    "conv2d": (lambda x: td.nn.functional.conv2d(x[None, None], x[None, None]),
               lambda x: torch.nn.functional.conv2d(x[None, None], x[None, None])),
    "relu": (lambda x: (x @ x).relu(), lambda x: (x @ x).relu()),
    "mse": (lambda x: td.nn.functional.mse_loss(x @ x, x),
            lambda x: torch.nn.functional.mse_loss(x @ x, x)),
    "add": (lambda x: x @ x + x, lambda x: x @ x + x),
}  # fmt: skip


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", CAST)
def test_autocast_gives_the_same_dtypes_and_values(name, half):
    array = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32) * 0.3
    own, their = CAST[name]
    with td.amp.autocast("cpu", dtype=half):
        y = own(td.tensor(array))
    with torch.autocast("cpu", dtype=getattr(torch, half)):
        z = their(torch.tensor(array))
    assert y.dtype.name == str(z.dtype).removeprefix("torch.")
    expected = z.to(torch.float32).numpy()
    unit = {"bfloat16": 2.0**-8, "float16": 2.0**-11}[half]
    np.testing.assert_allclose(y.cast("float32").numpy(), expected, rtol=4 * unit, atol=4 * unit)
