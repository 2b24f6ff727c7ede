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

pytestmark = pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
STEPS = 20
SHAPES = ((4, 3), (3, 5), (5,), (), (2, 3, 4), (1, 1))


@pytest.fixture(autouse=True)
def _numbers_in_double():
    """Where PyTorch counts in its default dtype, it does so in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


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


# ---- schedules

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


# ---- averages


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


def test_how_many_cases_are_compared(request, capsys):
    here = [item for item in request.session.items if item.path == request.node.path]
    rules = f"{len(GRIDS) + 2} rules with {len(CASES) + len(LBFGS)} sets of options"
    schedules = f"{len(SCHEDULED) + len(PLATEAUS)} schedules"
    with capsys.disabled():
        print(f"\noptim: {len(here) - 1} cases: {rules}, {schedules}, means, scaling")  # noqa: T201
    assert len(CASES) >= 190
