"""Rows of losses that ask for a margin, or for the likelihood under a distribution."""

from __future__ import annotations

import math
from typing import Any

from treadle.ops.composite import composite
from treadle.ops.defs import Samples
from treadle.ops.elementwise import detach, eq, exp, gt, log, lt, where
from treadle.ops.losses import compared, in_numpy, pairs, usual

# ---- margins


def _above(x: Any) -> Any:
    """x where it is above 0, or 0; its slope at 0 is 1, as in PyTorch's losses."""
    return where(lt(x, 0.0), 0.0, x)


def _ranking(np: Any, x1: Any, x2: Any, target: Any, margin: float = 0.0) -> Any:
    return np.maximum(-target * (x1 - x2) + margin, 0)


TRIPLES: tuple[tuple[Any, ...], ...] = (
    ((3, 4), (3, 4), (3, 4), {}), ((5,), (5,), (5,), {"reduction": "none", "margin": 0.5}),
    ((), (), (), {"reduction": "sum"}),
)  # fmt: skip


@composite(
    in_numpy(_ranking), Samples(cases=TRIPLES, smooth=False),
    check=pairs("margin_ranking_loss", 3),
)  # fmt: skip
def margin_ranking_loss(
    x1: Any, x2: Any, target: Any, /, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """max(0, margin - target (x1 - x2)): target is 1 where x1 should be larger, else -1."""

    def loss(x1: Any, x2: Any, target: Any) -> Any:
        return _above(margin - target * (x1 - x2))

    return compared("margin_ranking_loss", reduction, loss, x1, x2, target)


def _signs(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Elements, and targets of which most are 1 or -1."""
    x = rng.integers(0, 4, shapes[0]).astype(kind)
    target = rng.choice([1, -1, 0], shapes[1])
    return [x, (abs(target) if str(kind)[0] in "ub" else target).astype(kind)]


def _hinge(np: Any, x: Any, target: Any, margin: float = 1.0) -> Any:
    return np.where(target == -1, 0, x) + np.where(target == 1, 0, np.maximum(margin - x, 0))


@composite(
    in_numpy(_hinge), Samples(cases=usual(margin=0.5), smooth=False, draw=_signs),
    check=pairs("hinge_embedding_loss"),
)  # fmt: skip
def hinge_embedding_loss(
    x: Any, target: Any, /, margin: float = 1.0, reduction: str = "mean"
) -> Any:  # fmt: skip
    """x where target is 1, max(0, margin - x) where it is -1, both where it is neither."""

    def loss(x: Any, target: Any) -> Any:
        apart = where(eq(target, 1.0), 0.0, _above(margin - x))
        return where(eq(target, -1.0), 0.0, x) + apart

    return compared("hinge_embedding_loss", reduction, loss, x, target)


# ---- likelihoods


def _gaussian(
    np: Any, x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6
) -> Any:  # fmt: skip
    var = np.maximum(var, eps)
    return 0.5 * (np.log(var) + (x - target) ** 2 / var + full * np.log(2 * np.pi))


@composite(
    in_numpy(_gaussian),
    Samples(cases=(*TRIPLES[:1], ((5,), (5,), (5,), {"reduction": "none", "full": True}),
                   ((3, 4), (3, 4), (3, 1), {})), low=0.5),
    check=pairs("gaussian_nll_loss"),
)  # fmt: skip
def gaussian_nll_loss(
    x: Any, target: Any, var: Any, /, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """(log(var) + (x - target)² / var) / 2, var at least eps; full: with the constant.

    Gradients pass to a var below eps as if it were eps, so that it can grow.
    """
    constant = 0.5 * math.log(2.0 * math.pi) if full else 0.0

    def loss(x: Any, target: Any, var: Any) -> Any:
        var = var + detach(where(lt(var, eps), eps - var, 0.0))
        return 0.5 * (log(var) + (x - target) * (x - target) / var) + constant

    return compared("gaussian_nll_loss", reduction, loss, x, target, var)


def _poisson(
    np: Any, x: Any, target: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8
) -> Any:  # fmt: skip
    losses = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    some = np.where(target > 1, target, 1)
    rest = some * np.log(some) - some + 0.5 * np.log(2 * np.pi * some)
    return losses + np.where((target > 1) & full, rest, 0)


@composite(
    in_numpy(_poisson),
    Samples(cases=(*usual(log_input=False), *usual(full=True)[5:]), low=0.5, smooth=False),
    check=pairs("poisson_nll_loss"),
)
def poisson_nll_loss(
    x: Any, target: Any, /, log_input: bool = True, full: bool = False, eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """exp(x) - target x for the logarithm x of a rate; log_input=False: x - target log(x + eps).

    full: with Stirling's approximation of log(target!) where target is above 1.
    """

    def loss(x: Any, target: Any) -> Any:
        found = exp(x) - target * x if log_input else x - target * log(x + eps)
        if not full:
            return found
        many = gt(target, 1.0)
        some = where(many, target, 1.0)
        rest = some * log(some) - some + 0.5 * log(some * (2.0 * math.pi))
        return found + where(many, rest, 0.0)

    return compared("poisson_nll_loss", reduction, loss, x, target)
