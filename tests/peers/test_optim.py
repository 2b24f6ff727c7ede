"""Update rules against PyTorch's, in float64.

Run by `make test-torch`; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest
from optim_runs import (
    BOTH,
    DECAY,
    STEPS,
    arrays,
    assert_same,
    assert_same_state,
    grid,
    loss_of,
    ours_after,
    theirs_after,
)

import treadle as td
from treadle import optim

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("numbers_in_double")
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


@pytest.mark.parametrize("compiled", BOTH, ids=["lazy", "compiled"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_twenty_steps(name, options, compiled):
    ours, mine = ours_after(name, options, compiled=compiled)
    theirs, other = theirs_after(name, options)
    assert_same(ours, theirs)
    assert_same_state(mine, other)


# ---- groups, state


def test_groups_have_numbers_of_their_own():
    def groups(params):
        return [{"params": params[:2], "lr": 0.3}, {"params": params[2:], "weight_decay": 0.2}]

    ours = [td.tensor(x).requires_grad_() for x in arrays()]
    theirs = [torch.tensor(x, requires_grad=True) for x in arrays()]
    mine = optim.AdamW(groups(ours), lr=0.1)
    other = torch.optim.AdamW(groups(theirs), lr=0.1)
    for k in range(STEPS):
        for params, optimizer in ((ours, mine), (theirs, other)):
            optimizer.zero_grad()
            loss_of(params, 1.0).backward()
            optimizer.step()
            optimizer.param_groups[k % 2]["lr"] *= 0.9
            optimizer.param_groups[1]["betas"] = (0.9 - 0.01 * k, 0.99)
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", GRIDS)
def test_parameters_skip_steps(name):
    """Each counts its own steps."""
    ours = [td.tensor(x).requires_grad_() for x in arrays()]
    theirs = [torch.tensor(x, requires_grad=True) for x in arrays()]
    mine, other = getattr(optim, name)(ours, lr=0.05), getattr(torch.optim, name)(theirs, lr=0.05)
    for k in range(10):
        for params, optimizer in ((ours, mine), (theirs, other)):
            optimizer.zero_grad()
            used = params if k < 3 else [p for n, p in enumerate(params) if (n + k) % 3]
            loss_of(used, 1.0).backward()
            optimizer.step()
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", GRIDS)
def test_training_goes_on_from_their_state(name):
    options = next(o for o in GRIDS[name] if o.get("momentum") or "momentum" not in o)
    theirs, other = theirs_after(name, options, 5)
    ours = [td.tensor(p.detach().numpy()).requires_grad_() for p in theirs]
    mine = getattr(optim, name)(ours)
    mine.load_state_dict(other.state_dict())
    for _ in range(5):
        for params, optimizer in ((ours, mine), (theirs, other)):
            optimizer.zero_grad()
            loss_of(params, 0.3).backward()
            optimizer.step()
    assert_same(ours, theirs)
    back = getattr(torch.optim, name)([p.clone().detach().requires_grad_() for p in theirs])
    kept = mine.state_dict()
    kept["state"] = {
        n: {k: torch.tensor(np.array(v)) for k, v in state.items()}
        for n, state in kept["state"].items()
    }
    back.load_state_dict(kept)
    assert_same_state(mine, back)


@pytest.mark.parametrize("compiled", BOTH, ids=["lazy", "compiled"])
@pytest.mark.parametrize("name", sorted(GRIDS.keys() - {"Adagrad"}))
def test_a_model_made_double_after_its_optimizer(name, compiled):
    """Of Adagrad, theirs makes state at once, and goes on in float32."""
    ours, theirs = td.nn.Linear(3, 2).float(), torch.nn.Linear(3, 2).float()
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    mine = getattr(optim, name)(ours.parameters(), lr=0.1)
    other = getattr(torch.optim, name)(theirs.parameters(), lr=0.1)
    ours.double(), theirs.double()

    def step(model, optimizer, x):
        optimizer.zero_grad()
        (model(x).sin() * 3.0).sum().backward()
        optimizer.step()

    run = td.compile(lambda x: step(ours, mine, x)) if compiled else lambda x: step(ours, mine, x)
    for x in arrays(1, [(4, 3)] * 5):
        run(td.tensor(x))
        step(theirs, other, torch.tensor(x))
    assert_same(ours.parameters(), theirs.parameters())
    assert_same_state(mine, other)


# ---- rules that are called in another way

LBFGS = [
    *grid(line_search_fn=(None, "strong_wolfe"), lr=(1.0, 0.3), history_size=(100, 3),
          max_iter=(20, 4)),
    {"max_eval": 6, "line_search_fn": "strong_wolfe"}, {"tolerance_grad": 1.0},
    {"tolerance_change": 1e-2, "lr": 0.1},
]  # fmt: skip


def bowl(params):
    """Convex and no parabola. In a narrow valley a rounding error grows to anything in 60 steps."""
    a, b = params
    apart = (a[1:] - 0.3 * a[:-1]) ** 2 * 2.0
    return apart.sum() + ((1.0 - a) ** 2 + 0.3 * a**4).sum() + (b**4 + 0.2 * b * b).sum()


@pytest.mark.parametrize("compiled", BOTH, ids=["lazy", "compiled"])
@pytest.mark.parametrize("options", LBFGS, ids=str)
def test_lbfgs(options, compiled):
    starts = [np.array([-1.2, 1.0, 0.7, 0.3]), np.array([[0.5, -0.4]])]
    ours = [td.tensor(x).requires_grad_() for x in starts]
    theirs = [torch.tensor(x, requires_grad=True) for x in starts]
    calls = [0, 0]

    def run(params, optimizer, k, transform):
        def loss():
            optimizer.zero_grad()
            found = bowl(params)
            found.backward()
            return found

        inner = transform(loss)

        def closure():
            calls[k] += 1
            return inner()

        return [float(optimizer.step(closure).detach()) for _ in range(3)]

    keep = (lambda f: f) if not compiled else td.compile
    mine, other = optim.LBFGS(ours, **options), torch.optim.LBFGS(theirs, **options)
    found, expected = run(ours, mine, 0, keep), run(theirs, other, 1, lambda f: f)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert_same(ours, theirs)
    assert calls[0] == calls[1]


@pytest.mark.parametrize("options", [
    {}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw"}, {"weight_decay": 0.0},
    {"momentum": 0.5, "ns_steps": 3}, {"lr": 0.1, "ns_coefficients": (2.0, -1.5, 0.5)},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("shape", [(4, 4), (3, 8), (8, 3), (1, 1)])
def test_muon(options, shape):
    """PyTorch multiplies in bfloat16 and so do we: what rounding differs by is bounded."""
    starts, steps = arrays(1, [shape]), 5
    ours, _ = ours_after("Muon", options, steps, True, starts)
    theirs, _ = theirs_after("Muon", options, steps, starts)
    lr = options.get("lr", 1e-3)
    longest = 0.2 * np.sqrt(max(shape)) if "adjust_lr_fn" in options else np.sqrt(max(shape))
    np.testing.assert_allclose(
        ours[0].numpy(), theirs[0].detach().numpy(), rtol=0, atol=steps * lr * longest * 0.04
    )


def test_how_many_cases_are_compared(request, capsys):
    here = [item for item in request.session.items if item.path == request.node.path]
    rules = f"{len(GRIDS) + 2} rules with {len(CASES) + len(LBFGS)} sets of options"
    with capsys.disabled():
        print(f"\noptim: {len(here) - 1} cases: {rules}")  # noqa: T201
    assert len(CASES) >= 190
