"""Rows that bring elements to a common mean, variance or length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.limits import finfo
from treadle.base.shapes import axis_in
from treadle.ops.composite import as_float, composite, mean, precisely
from treadle.ops.defs import Samples
from treadle.ops.elementwise import maximum, sqrt
from treadle.ops.rules import refuse_complex
from treadle.ops.totals import norm


def _scaled(y: Any, weight: Any, bias: Any, name: str) -> Any:
    """y times a weight and plus a bias for each channel, which is axis 1."""
    shape = (1, -1, *(1,) * (y.ndim - 2))
    for x in (weight, bias):
        if x is not None and x.shape != (y.shape[1],):
            facts = {"channels": y.shape[1], "got": x.shape}
            raise ShapeError(explain(name, "one number for each channel", **facts))
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def _centred(x: Any, axes: Sequence[int], eps: float) -> tuple[Any, Any]:
    """x less its mean along axes, and what it is divided by to have variance 1."""
    centred = x - mean(x, axis=axes, keepdims=True)
    return centred, sqrt(mean(centred * centred, axis=axes, keepdims=True) + eps)


def _standard_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """By two means of the cotangent, which are taken together."""
    axes, eps = (dict(y.arg[1])[name] for name in ("axes", "eps"))
    parts = [mean(part, axis=axes, keepdims=True) for part in (g, g * y)]
    return ((g - parts[0] - y * parts[1]) / _centred(x, axes, eps)[1],)


@composite(
    lambda np, x, axes, eps=1e-5: (x - x.mean(axes, keepdims=True))
    / np.sqrt(x.var(axes, keepdims=True) + eps),
    Samples(cases=(((3, 5), {"axes": (1,)}), ((4, 3, 6), {"axes": (0, 2), "eps": 0.1}))),
    grad=_standard_grad, public=False,
)  # fmt: skip
def standard(x: Any, /, axes: Sequence[int], eps: float = 1e-5) -> Any:
    """x with mean 0 and variance 1 along axes."""
    refuse_complex("standard", (x.dtype,), "not of complex numbers", "take x.real or abs(x)")
    centred, root = _centred(x, axes, eps)
    return centred / root


def _channels(name: str, x: Any, least: int) -> None:
    if x.ndim < least:
        hint = "x is (batch, channels, ...)"
        raise ShapeError(explain(name, "too few axes", hint, shape=x.shape))


def _each(operands: Sequence[Any], names: Sequence[str], define: Any) -> Any:
    """A definition on the operands that were given, computed precisely, the others None."""
    given = [name for name, x in zip(names, operands, strict=True) if x is not None]

    def whole(*wide: Any) -> Any:
        return define(**dict.fromkeys(names) | dict(zip(given, wide, strict=True)))

    return precisely(whole, *(x for x in operands if x is not None))


# ---- groups of channels


def _grouped(
    np: Any, x: Any, weight: Any = None, bias: Any = None, num_groups: int = 1, eps: float = 1e-5
) -> Any:  # fmt: skip
    lines = x.reshape(x.shape[0], num_groups, x[:1, 0].size * x.shape[1] // num_groups)
    y = (lines - lines.mean(-1, keepdims=True)) / np.sqrt(lines.var(-1, keepdims=True) + eps)
    shape = (-1, *(1,) * (x.ndim - 2))
    y = y.reshape(x.shape) * (1 if weight is None else weight.reshape(shape))
    return y + (0 if bias is None else bias.reshape(shape))


@composite(
    _grouped, Samples(cases=(
        ((2, 6, 4), {"num_groups": 2}), ((2, 4, 3, 3), (4,), (4,), {"num_groups": 4}),
        ((3, 6), (6,), {"num_groups": 3, "eps": 0.1}),
    )),
)  # fmt: skip
def group_norm(
    x: Any, weight: Any = None, bias: Any = None, /, num_groups: int = 1, eps: float = 1e-5
) -> Any:
    """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and shifted."""
    _channels("group_norm", x, 2)
    if num_groups < 1 or x.shape[1] % num_groups:
        facts = {"num_groups": num_groups, "channels": x.shape[1]}
        raise ArgumentError(explain("group_norm", "groups of equal size", **facts))

    def define(x: Any, weight: Any, bias: Any) -> Any:
        size = math.prod(x.shape[1:]) // num_groups
        y = standard(x.reshape((x.shape[0], num_groups, size)), (2,), eps)
        return _scaled(y.reshape(x.shape), weight, bias, "group_norm")

    return _each((x, weight, bias), ("x", "weight", "bias"), define)


def _instance(
    np: Any, x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    return _grouped(np, x, weight, bias, x.shape[1], eps)


@composite(
    _instance, Samples(cases=(((2, 3, 5), {}), ((2, 3, 2, 4), (3,), (3,), {"eps": 0.1}))),
)  # fmt: skip
def instance_norm(
    x: Any, weight: Any = None, bias: Any = None, /, eps: float = 1e-5
) -> Any:  # fmt: skip
    """Each channel (axis 1) of each element of the batch normalised, then scaled and shifted."""
    _channels("instance_norm", x, 3)
    return group_norm(x, weight, bias, num_groups=x.shape[1], eps=eps)


# ---- batches


def _batch(
    np: Any, x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
    bias: Any = None, eps: float = 1e-5,
) -> Any:  # fmt: skip
    over, shape = (0, *range(2, x.ndim)), (-1, *(1,) * (x.ndim - 2))
    centre = x.mean(over) if running_mean is None else running_mean
    spread = x.var(over) if running_var is None else running_var
    y = (x - centre.reshape(shape)) / np.sqrt(spread.reshape(shape) + eps)
    y = y * (1 if weight is None else weight.reshape(shape))
    return y + (0 if bias is None else bias.reshape(shape))


@composite(
    _batch, Samples(cases=(
        ((5, 3), {}), ((4, 3, 2, 2), (3,), (3,), (3,), (3,), {}), ((4, 3, 5), (3,), (3,), {}),
    ), low=0.5),
)  # fmt: skip
def batch_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
    bias: Any = None, /, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Channels (axis 1) less their mean over the root of their variance, then scaled and shifted.

    Without running_mean and running_var, the mean and variance of the batch.
    """
    _channels("batch_norm", x, 2)
    if (running_mean is None) != (running_var is None):
        raise ArgumentError(explain("batch_norm", "give running_mean and running_var, or neither"))

    def define(x: Any, centre: Any, spread: Any, weight: Any, bias: Any) -> Any:
        if centre is None:
            y = standard(x, (0, *range(2, x.ndim)), eps)
        else:
            y = _scaled(x, None, -centre, "batch_norm")
            y = _scaled(y, 1.0 / sqrt(spread + eps), None, "batch_norm")
        return _scaled(y, weight, bias, "batch_norm")

    names = ("x", "centre", "spread", "weight", "bias")
    return _each((x, running_mean, running_var, weight, bias), names, define)


# ---- lengths


def _rms(np: Any, x: Any, weight: Any = None, eps: float = 0.0) -> Any:
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return y if weight is None else y * weight


@composite(
    _rms, Samples(cases=(((3, 8), {"eps": 1e-5}), ((2, 3, 5), (5,), {"eps": 1e-3})), low=0.5),
)  # fmt: skip
def rms_norm(x: Any, weight: Any = None, /, eps: float | None = None) -> Any:
    """The last axis over the root of its mean square, then scaled.

    eps is added to the mean square: if left out, the distance from 1 to the next float, of 32 bits
    at least.
    """
    axis_in("rms_norm", -1, x.ndim)
    least = finfo(as_float(x).dtype.compute).eps if eps is None else eps

    def define(x: Any, weight: Any) -> Any:
        y = x / sqrt(mean(x * x, axis=-1, keepdims=True) + least)
        return y if weight is None else y * weight

    return _each((x, weight), ("x", "weight"), define)


def _normal(np: Any, x: Any, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    size = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return x / np.maximum(size, eps)


@composite(
    _normal, Samples(cases=(((3, 5), {}), ((4, 2), {"p": 3.0, "axis": 0}), ((7,), {"axis": -1})),
                     low=0.5),
)  # fmt: skip
def normalize(x: Any, /, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    """x over its p-norm along an axis, which counts as at least eps."""
    axis_in("normalize", axis, x.ndim)
    sized = partial(norm, ord=p, axis=axis, keepdims=True)
    return precisely(lambda x: x / maximum(sized(x), eps), x, complexes=True)
