"""Rules that PyTorch lacks, and a few that it has, against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import optim

SHAPES = ((3, 4), (5,), (), (1, 1), (0,))


def starts():
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape) for shape in SHAPES]


def slope(p, k):
    """A gradient that is not the same in every step."""
    return np.cos(p * (1.0 + 0.1 * k)) + 0.3 * p


def ours(p, k):
    return td.cos(p * (1.0 + 0.1 * k)) + p * 0.3


def lion(p, g, s, t, lr=0.05, betas=(0.9, 0.99), decay=0.0):
    mean = s.get("m", 0.0)
    s["m"] = betas[1] * mean + (1 - betas[1]) * g
    return p * (1 - lr * decay) - lr * np.sign(betas[0] * mean + (1 - betas[0]) * g)


def lamb(p, g, s, t, lr=0.05, betas=(0.9, 0.999), eps=1e-6, decay=0.0):
    s["m"] = betas[0] * s.get("m", 0.0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0.0) + (1 - betas[1]) * g * g
    m, v = s["m"] / (1 - betas[0] ** t), s["v"] / (1 - betas[1] ** t)
    step = m / (np.sqrt(v) + eps) + decay * p
    long, far = np.sqrt((p * p).sum()), np.sqrt((step * step).sum())
    return p - lr * (long / far if long > 0 and far > 0 else 1.0) * step


def adam(p, g, s, t, lr=0.05, betas=(0.9, 0.999), eps=1e-8, decay=0.0):
    g = g + decay * p
    s["m"] = betas[0] * s.get("m", 0.0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0.0) + (1 - betas[1]) * g * g
    corrected = np.sqrt(s["v"] / (1 - betas[1] ** t)) + eps
    return p - lr * s["m"] / (1 - betas[0] ** t) / corrected


def rmsprop(p, g, s, t, lr=0.05, alpha=0.99, eps=1e-8, decay=0.0):
    g = g + decay * p
    s["v"] = alpha * s.get("v", 0.0) + (1 - alpha) * g * g
    return p - lr * g / (np.sqrt(s["v"]) + eps)


RULES = {"Lion": lion, "LAMB": lamb, "Adam": adam, "RMSprop": rmsprop}


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("decay", [0.0, 0.2])
@pytest.mark.parametrize("name", RULES)
def test_twenty_steps_are_those_of_the_formula(name, decay, maximize):
    params = [td.tensor(x).requires_grad_() for x in starts()]
    made = {"lr": 0.05, "weight_decay": decay, "maximize": maximize}
    optimizer = getattr(optim, name)(params, **made)
    expected, states = starts(), [{} for _ in SHAPES]
    for k in range(20):
        for p in params:
            p.grad = ours(p.detach(), k)
        optimizer.step()
        for n, p in enumerate(expected):
            g = slope(p, k) * (-1.0 if maximize else 1.0)
            expected[n] = RULES[name](p, g, states[n], k + 1, decay=decay)
    for p, array in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.numpy(), array, rtol=1e-11, atol=1e-12)


EVERY = [
    *[(name, {}) for name in optim.__all__ if isinstance(getattr(optim, name), type)
      and name not in ("Optimizer", "LBFGS")],
    ("SGD", {"momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "nesterov": True}), ("Adam", {"amsgrad": True}),
    ("RMSprop", {"centered": True, "momentum": 0.9}), ("Adagrad", {"lr_decay": 0.1}),
]  # fmt: skip
MATRICES = [x for x in starts() if x.ndim == 2]


def trained(name, options, transform, kind="float32", steps=4):
    params = [td.tensor(x.astype(np.float32)).cast(kind).requires_grad_() for x in MATRICES]
    optimizer = getattr(optim, name)(params, **options)

    def step(scale):
        optimizer.zero_grad()
        loss = sum(((p * scale).sin().sum() for p in params), td.zeros(()))
        loss.backward()
        optimizer.step()
        return loss

    run = transform(step)
    losses = [float(run(td.tensor(0.5 + k))) for k in range(steps)]
    return params, optimizer, losses


@pytest.mark.parametrize(("name", "options"), EVERY, ids=str)
def test_compiled_steps_are_the_lazy_ones(name, options):
    lazy, _, first = trained(name, options, lambda f: f)
    fast, _, second = trained(name, options, td.compile)
    np.testing.assert_allclose(first, second, rtol=1e-6)
    for a, b in zip(lazy, fast, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize(("name", "options"), EVERY, ids=str)
def test_state_of_half_precision_is_float32(name, options, kind):
    params, optimizer, _ = trained(name, options, lambda f: f, kind, 2)
    for p in params:
        assert p.dtype.name == kind
        assert all(x.dtype is td.float32 for x in optimizer.state[p].values())
        assert np.isfinite(p.numpy().astype(np.float32)).all()


@pytest.mark.parametrize(("name", "options"), EVERY, ids=str)
def test_a_state_loaded_goes_on_bit_for_bit(name, options):
    params, optimizer, _ = trained(name, options, lambda f: f)
    kept = optimizer.state_dict()
    numbers = {k: {n: x.numpy().copy() for n, x in s.items()} for k, s in kept["state"].items()}
    twins = [td.tensor(p.numpy()).requires_grad_() for p in params]
    other = getattr(optim, name)(twins, **options)
    other.load_state_dict(kept)
    for k in range(3):
        for mine in (params, twins):
            for p in mine:
                p.grad = ours(p.detach(), k)
        optimizer.step()
        other.step()
    for p, twin in zip(params, twins, strict=True):
        np.testing.assert_array_equal(p.numpy(), twin.numpy())
    for k, state in numbers.items():  # what was kept has not changed since
        for n, array in state.items():
            np.testing.assert_array_equal(kept["state"][k][n].numpy(), array)
    again = other.state_dict()
    assert again["param_groups"] == optimizer.state_dict()["param_groups"]


def test_steps_are_counted_exactly():
    p = td.zeros(2, dtype="float64").requires_grad_()
    optimizer = optim.Adam([p])
    kept = optimizer.state_dict()
    kept["state"][0]["step"] = 2**24
    optimizer.load_state_dict(kept)
    for _ in range(3):
        p.grad = td.ones(2, dtype="float64")
        optimizer.step()
    assert float(optimizer.state_dict()["state"][0]["step"]) == 2**24 + 3
