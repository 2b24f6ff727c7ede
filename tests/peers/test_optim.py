"""Update rules, schedules, averages and loss scaling against PyTorch's, in float64.

Run by `make test-torch`; skipped where PyTorch is not installed.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import treadle as td
from treadle import optim

torch = pytest.importorskip("torch")

STEPS = 20
SHAPES = ((4, 3), (3, 5), (5,), (), (2, 3, 4), (1, 1))
COMPARED: set[str] = set()


@pytest.fixture(autouse=True)
def _numbers_in_double():
    """Where PyTorch counts in its default dtype, it does so in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture(autouse=True)
def _counted(request):
    COMPARED.add(request.node.name)


@pytest.fixture(scope="module", autouse=True)
def _printed(request):
    yield
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"{len(COMPARED)} cases of optim compared with PyTorch")


def grid(**options):
    """Every combination of values, as keyword arguments."""
    return [dict(zip(options, values, strict=True)) for values in product(*options.values())]


DECAY, BOTH = (0.0, 0.1), (False, True)
GRIDS = {
    "SGD": [
        *grid(lr=(0.1,), momentum=(0.0, 0.9), dampening=(0.0, 0.3), weight_decay=DECAY,
              maximize=BOTH),
        *grid(lr=(0.1,), momentum=(0.9,), nesterov=(True,), weight_decay=DECAY, maximize=BOTH),
        {},
    ],
    "Adam": [
        *grid(lr=(0.1,), betas=((0.9, 0.999), (0.5, 0.8)), weight_decay=DECAY, amsgrad=BOTH,
              maximize=BOTH),
        {}, {"eps": 1e-3}, {"decoupled_weight_decay": True, "weight_decay": 0.2},
    ],
    "AdamW": [*grid(lr=(0.1,), weight_decay=(0.0, 0.01, 0.3), amsgrad=BOTH, maximize=BOTH), {}],
    "Adamax": [*grid(lr=(0.1,), weight_decay=DECAY, maximize=BOTH, betas=((0.8, 0.9),)), {}],
    "NAdam": [
        *grid(lr=(0.1,), weight_decay=DECAY, maximize=BOTH, decoupled_weight_decay=BOTH,
              momentum_decay=(4e-3, 0.0, 0.5)),
        {},
    ],
    "RAdam": [
        *grid(lr=(0.1,), weight_decay=DECAY, maximize=BOTH, decoupled_weight_decay=BOTH,
              betas=((0.9, 0.999), (0.7, 0.8))),
        {},
    ],
    "RMSprop": [
        *grid(lr=(0.01,), momentum=(0.0, 0.9), centered=BOTH, weight_decay=DECAY, maximize=BOTH),
        {}, {"alpha": 0.5, "eps": 1e-3},
    ],
    "Adagrad": [
        *grid(lr=(0.1,), lr_decay=(0.0, 0.2), weight_decay=DECAY, maximize=BOTH,
              initial_accumulator_value=(0.0, 0.5)),
        {},
    ],
    "Adadelta": [*grid(lr=(1.0, 0.1), rho=(0.9, 0.5), weight_decay=DECAY, maximize=BOTH), {}],
    "ASGD": [
        *grid(lr=(0.05,), lambd=(1e-4, 0.1), t0=(1e6, 5.0), weight_decay=DECAY, maximize=BOTH),
        {}, {"alpha": 0.3, "lambd": 0.2},
    ],
    "Rprop": [*grid(lr=(0.01,), etas=((0.5, 1.2), (0.3, 1.5)), maximize=BOTH),
              {}, {"step_sizes": (1e-3, 0.02)}],
    "Adafactor": [
        *grid(lr=(0.1,), beta2_decay=(-0.8, -0.3), d=(1.0, 2.0), weight_decay=DECAY, maximize=BOTH),
        {}, {"eps": (1e-5, 1e-2)},
    ],
}  # fmt: skip
CASES = [(name, options) for name, grids in GRIDS.items() for options in grids]


def arrays(seed=0, shapes=SHAPES):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def loss_of(params, scale):
    """A loss with curvature and bounded gradients, which are not the same in every step."""
    total = 0.0
    for k, p in enumerate(params):
        total = total + (p * (0.7 + 0.3 * k) + scale).sin().sum() + (p * p + 1.0).sqrt().sum()
    return total


def ours_after(name, options, steps=STEPS, compiled=True, starts=None):
    params = [td.tensor(x).requires_grad_() for x in starts or arrays()]
    optimizer = getattr(optim, name)(params, **options)

    def step(scale):
        optimizer.zero_grad()
        loss = loss_of(params, scale)
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step) if compiled else step
    for k in range(steps):
        run(td.tensor(np.cos(k)))
    return params, optimizer


def theirs_after(name, options, steps=STEPS, starts=None):
    params = [torch.tensor(x, requires_grad=True) for x in starts or arrays()]
    optimizer = getattr(torch.optim, name)(params, **options)
    for k in range(steps):
        optimizer.zero_grad()
        loss_of(params, float(np.cos(k))).backward()
        optimizer.step()
    return params, optimizer


def assert_same(ours, theirs, within=1e-10):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=within, atol=within)


@pytest.mark.parametrize("compiled", BOTH, ids=["lazy", "compiled"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_twenty_steps(name, options, compiled):
    ours, mine = ours_after(name, options, compiled=compiled)
    theirs, other = theirs_after(name, options)
    assert_same(ours, theirs)
    assert_same_state(mine, other)


def assert_same_state(mine, other):
    own, their = mine.state_dict(), other.state_dict()
    for number, kept in their["state"].items():
        for name, value in kept.items():
            if value is not None:
                np.testing.assert_allclose(
                    own["state"][number][name].numpy(), np.asarray(value), rtol=1e-10, atol=1e-10
                )
