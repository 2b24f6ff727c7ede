"""Samples of discrete distributions, made of random bits inside the graph."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.device import CPU
from treadle.base.dtypes import dtype, float32, float64, int64, uint64
from treadle.base.errors import ArgumentError, DtypeError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.ir.node import Node
from treadle.ops.composite import argmax, take
from treadle.ops.defs import Kind, makes_tensors
from treadle.ops.elementwise import cast, exp, floor, log, where
from treadle.ops.largest import best_indices
from treadle.ops.scan import argsort
from treadle.ops.special import lgamma
from treadle.random.distributions import Draw, Where, parameter, standard_gumbel
from treadle.random.keys import Bits, device_in, shape_in
from treadle.tensor.tensor import Tensor

FEW, STEPS = 10.0, 48  # below a mean of FEW, more than STEPS events happen once in 10^15 samples
ATTEMPTS = 16  # a Poisson sample is refused at most once in 4 times


@makes_tensors(Kind.RANDOM)
def bernoulli(
    shape: Any, probability: Any = 0.5, device: Where = CPU, key: Tensor | None = None
) -> Tensor:
    """True with a probability."""
    draw = Draw("bernoulli", shape, float32, device, key)
    chance = parameter("bernoulli", "probability", probability, draw)
    if isinstance(chance, float) and not 0.0 <= chance <= 1.0:
        raise ArgumentError(explain("bernoulli", "probability is in [0, 1]", got=chance))
    return Tensor(draw.fraction() < chance)


@makes_tensors(Kind.RANDOM)
def randint(
    low: int, high: Any = None, shape: Any = None, dtype: Any = "int64", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Integers in [low, high), equally likely; in [0, low) if high is None or left out.

    >>> randint(6, (3,)).shape, randint(1, 7, (3,)).shape
    ((3,), (3,))
    """
    if shape is None and isinstance(high, tuple | list):
        high, shape = None, high
    if shape is None:
        raise ArgumentError(explain("randint", "which shape?", "randint(low, high, shape)"))
    low, high = (0, low) if high is None else (low, high)
    kind = _integers("randint", dtype, low, high)
    bits = Bits(shape_in("randint", shape), device_in(device, key), key)
    span = high - low
    if span <= 1 << 32:  # the whole part of a 64-bit fraction times span
        upper, lower = (cast(bits.words(), uint64) * span for _ in range(2))
        offset = (upper + (lower >> 32)) >> 32
    else:
        offset = bits.wide() % span
    return Tensor(cast(cast(offset, int64) + low, kind))


def _integers(what: str, wanted: Any, low: int, high: int) -> Any:
    """The dtype, checked to hold the numbers."""
    kind = dtype(wanted)
    if not kind.is_integer:
        raise DtypeError(explain(what, "samples are integers", dtype=kind.name))
    if not all(isinstance(edge, int) for edge in (low, high)) or low >= high:
        raise ArgumentError(explain(what, "low < high, both integers", low=low, high=high))
    if low < max(kind.least, -(1 << 63)) or high - 1 > min(kind.greatest, (1 << 63) - 1):
        facts = {"low": low, "high": high, "dtype": kind.name}
        raise ArgumentError(explain(what, "the numbers do not fit", **facts))
    return kind


@makes_tensors(Kind.RANDOM)
def categorical(
    logits: Tensor, /, axis: int = -1, count: int | None = None, key: Tensor | None = None
) -> Tensor:
    """Class numbers, likely as softmax(logits) along axis; count of them in a new last axis."""
    axis = axis_in("categorical", axis, logits.ndim)
    if not logits.shape[axis]:
        raise ShapeError(explain("categorical", "no classes", shape=logits.shape, axis=axis))
    scores = cast(logits._node, float64 if logits.dtype is float64 else float32)
    if count is not None:
        scores = scores.reshape((*logits.shape, 1)).expand((*logits.shape, count))
    draw = Draw("categorical", scores.shape, scores.dtype, logits.device, key)
    return Tensor(argmax(scores + standard_gumbel(draw), axis=axis))


@makes_tensors(Kind.RANDOM)
def multinomial(
    weights: Tensor, /, count: int, replacement: bool = False, key: Tensor | None = None
) -> Tensor:
    """Numbers of count elements of the last axis, likely as their weights."""
    if not isinstance(count, int) or count < 0:
        raise ArgumentError(explain("multinomial", "count is a number of elements", count=count))
    logits = Tensor(log(cast(weights._node, float32)))
    if replacement:
        return categorical(logits, count=count, key=key)
    if weights.ndim == 0 or count > weights.shape[-1]:
        hint = "draw fewer, or with replacement=True"
        facts = {"shape": weights.shape, "count": count}
        raise ArgumentError(explain("multinomial", "not that many elements", hint, **facts))
    draw = Draw("multinomial", weights.shape, float32, weights.device, key)
    noisy = logits._node + standard_gumbel(draw)
    return Tensor(best_indices(noisy, count, weights.ndim - 1, True))


@makes_tensors(Kind.RANDOM, aliases=("randperm",))
def permutation(
    x: Tensor | int, /, axis: int = 0, device: Where = CPU, key: Tensor | None = None
) -> Tensor:
    """The numbers below x in random order, or the slices of a tensor along axis."""
    if isinstance(x, Tensor):
        axis = axis_in("permutation", axis, x.ndim)
        size, place = x.shape[axis], x.device
    else:
        (size,), place = shape_in("permutation", x), device_in(device, key)
    order = argsort(Bits((size,), place, key).wide(), axis=0)
    return Tensor(take(x._node, order, axis=axis) if isinstance(x, Tensor) else order)


@makes_tensors(Kind.RANDOM)
def poisson(
    shape: Any, rate: Any, dtype: Any = "int64", device: Where = CPU, key: Tensor | None = None
) -> Tensor:
    """How many events happen where `rate` are expected."""
    kind = _integers("poisson", dtype, 0, 1)
    draw = Draw("poisson", shape, float64, device, key)
    mean = parameter("poisson", "rate", rate, draw, sign=False)
    if isinstance(mean, float):
        found = _few(draw, mean) if mean < FEW else _many(draw, mean + draw.fraction() * 0.0)
    else:
        small = mean < FEW
        found = where(
            small, _few(draw, where(small, mean, 0.0)), _many(draw, where(small, FEW, mean))
        )
    return Tensor(cast(found.expand(draw.shape), kind))


def _few(draw: Draw, mean: Any) -> Node:
    """Count the terms of the distribution function below a fraction."""
    u = draw.fraction()
    term = u * 0.0 + (exp(-mean) if isinstance(mean, Node) else math.exp(-mean))
    below, count = term, cast(u >= term, float64)
    for k in range(1, STEPS):
        term = term * mean * (1.0 / k)
        below = below + term
        count = count + cast(u >= below, float64)
    return count


def _many(draw: Draw, mean: Node) -> Node:
    """Hörmann's transformed rejection, the attempts side by side."""
    b = 0.931 + 2.53 * mean**0.5
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    found = floor(mean)
    for _ in range(ATTEMPTS):
        u, v = draw.fraction() - 0.5, draw.positive()
        us = 0.5 - abs(u)
        k = floor((2.0 * a / us + b) * u + mean + 0.43)
        usual = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
        refused = (k < 0.0) | ((us < 0.013) & (v > us))
        safe = where(k < 0.0, 0.0, k)
        height = log(v * inverse / (a / (us * us) + b))
        fits = height <= safe * log(mean) - mean - lgamma(safe + 1.0)
        found = where(usual | (~refused & fits), safe, found)
    return found
