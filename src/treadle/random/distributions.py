"""Samples of continuous distributions, made of random bits inside the graph.

Parameters may be tensors; gradients flow to those that move and scale the samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.base.device import CPU, Device
from treadle.base.dtypes import DType, dtype, float32, float64
from treadle.base.errors import ArgumentError, explain
from treadle.ir.node import Node
from treadle.ops.defs import Kind, makes_tensors
from treadle.ops.elementwise import (
    cast,
    complex_,
    cos,
    detach,
    exp,
    log,
    log1p,
    maximum,
    sqrt,
    where,
)
from treadle.ops.special import erfinv
from treadle.random.keys import Bits, device_in, float_in, shape_in
from treadle.tensor.tensor import Tensor

ATTEMPTS = 12  # a gamma sample is refused less than once in 20 times: never in 12, in effect
Where = str | Device


class Draw:
    """One call of a distribution: its shape, its dtype, its bits."""

    def __init__(
        self, what: str, shape: Any, kind: Any, place: Where, key: Tensor | None,
        complexes: bool = False,
    ) -> None:  # fmt: skip
        self.shape = shape_in(what, shape)
        self.result: DType = dtype(kind)
        part = float_in(what, self.result.part if complexes else self.result)
        self.dtype = float64 if part is float64 else float32  # computed in
        self.bits = Bits(self.shape, device_in(place, key), key)

    def fraction(self) -> Node:
        """In [0, 1)."""
        return self.bits.fraction(self.dtype)

    def positive(self) -> Node:
        """In (0, 1]: safe to take the logarithm of."""
        return 1.0 - self.fraction()

    def normal(self) -> Node:
        """Mean 0, deviation 1 (Box-Muller)."""
        radius = sqrt(log(self.positive()) * -2.0)
        return radius * cos(self.fraction() * (2.0 * math.pi))

    def exponential(self) -> Node:
        """Mean 1."""
        return -log(self.positive())

    def of_parts(self, part: Callable[[], Node]) -> Node:
        """Samples, of a complex dtype for each part."""
        return complex_(part(), part()) if self.result.is_complex else part()

    def made(self, samples: Any) -> Tensor:
        """The samples as a tensor of the dtype asked for."""
        samples = samples.expand(self.shape) if samples.shape != self.shape else samples
        return Tensor(cast(samples, self.result) if samples.dtype is not self.result else samples)


def parameter(
    what: str, name: str, value: Any, draw: Draw, positive: bool = False, sign: bool = True
) -> Any:
    """A parameter as a number or a node of the dtype computed in; sign: may it be negative?"""
    if isinstance(value, Tensor):
        return cast(value._node, draw.dtype)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(explain(what, f"{name} is a number or a tensor", got=repr(value)))
    if positive and not value > 0:
        raise ArgumentError(explain(what, f"{name} is positive", got=value))
    if not sign and not value >= 0:
        raise ArgumentError(explain(what, f"{name} is not negative", got=value))
    return float(value)


@makes_tensors(Kind.RANDOM)
def uniform(
    shape: Any, low: Any = 0.0, high: Any = 1.0, dtype: Any = "float32", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Floats in [low, high), equally likely; of a complex dtype, both parts."""
    draw = Draw("uniform", shape, dtype, device, key, complexes=True)
    low, high = (parameter("uniform", *x, draw) for x in (("low", low), ("high", high)))
    kind = draw.result.part
    if (low, high) == (0.0, 1.0):
        return draw.made(draw.of_parts(lambda: draw.bits.fraction(kind)))
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise ArgumentError(explain("uniform", "low is above high", low=low, high=high))

    def part() -> Node:
        samples = cast(draw.fraction() * (high - low) + low, kind)
        # What is rounded to high belongs to low: half a step is rounded to each of them.
        found: Node = where(cast(samples, draw.dtype) >= high, low, samples)
        return found

    return draw.made(draw.of_parts(part))


@makes_tensors(Kind.RANDOM)
def normal(
    shape: Any, mean: Any = 0.0, deviation: Any = 1.0, dtype: Any = "float32", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Normally distributed floats; of a complex dtype both parts have half of the variance."""
    draw = Draw("normal", shape, dtype, device, key, complexes=True)
    deviation = parameter("normal", "deviation", deviation, draw, sign=False)
    if not draw.result.is_complex:
        return draw.made(draw.normal() * deviation + parameter("normal", "mean", mean, draw))
    around = mean._node if isinstance(mean, Tensor) else mean
    samples = draw.of_parts(draw.normal) * math.sqrt(0.5)
    return draw.made(samples * deviation + around)


# ---- by PyTorch's names: the shape as one tuple or as several sizes


@makes_tensors(Kind.RANDOM)
def rand(
    *shape: Any, dtype: Any = "float32", device: Where = CPU, requires_grad: bool = False,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Floats in [0, 1), equally likely; the shape as one tuple or as several sizes."""
    made = uniform(_one(shape), dtype=dtype, device=device, key=key)
    return made.requires_grad_() if requires_grad else made


@makes_tensors(Kind.RANDOM)
def randn(
    *shape: Any, dtype: Any = "float32", device: Where = CPU, requires_grad: bool = False,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Normally distributed floats; the shape as one tuple or as several sizes."""
    made = normal(_one(shape), dtype=dtype, device=device, key=key)
    return made.requires_grad_() if requires_grad else made


def _one(shape: tuple[Any, ...]) -> Any:
    return shape[0] if len(shape) == 1 else shape


@makes_tensors(Kind.RANDOM)
def truncated_normal(
    shape: Any, low: float = -2.0, high: float = 2.0, mean: Any = 0.0, deviation: Any = 1.0,
    dtype: Any = "float32", device: Where = CPU, key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Normally distributed floats kept within mean + [low, high] * deviation."""
    if not low < high:
        raise ArgumentError(explain("truncated_normal", "low < high", low=low, high=high))
    draw = Draw("truncated_normal", shape, dtype, device, key)
    mean = parameter("truncated_normal", "mean", mean, draw)
    deviation = parameter("truncated_normal", "deviation", deviation, draw, sign=False)
    first, last = (math.erf(edge * math.sqrt(0.5)) for edge in (low, high))
    raw = erfinv(draw.fraction() * (last - first) + first) * math.sqrt(2.0)
    return draw.made(where(raw < low, low, where(raw > high, high, raw)) * deviation + mean)


@makes_tensors(Kind.RANDOM)
def exponential(
    shape: Any, rate: Any = 1.0, dtype: Any = "float32", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Waiting times of events that come at a rate."""
    draw = Draw("exponential", shape, dtype, device, key)
    return draw.made(draw.exponential() / parameter("exponential", "rate", rate, draw, True))


@makes_tensors(Kind.RANDOM)
def laplace(
    shape: Any, mean: Any = 0.0, scale: Any = 1.0, dtype: Any = "float32", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Differences of two waiting times: exponential tails on both sides of the mean."""
    draw = Draw("laplace", shape, dtype, device, key)
    centred = draw.exponential() - draw.exponential()
    mean = parameter("laplace", "mean", mean, draw)
    return draw.made(centred * parameter("laplace", "scale", scale, draw, True) + mean)


@makes_tensors(Kind.RANDOM)
def gumbel(
    shape: Any, mean: Any = 0.0, scale: Any = 1.0, dtype: Any = "float32", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The distribution of a largest element: adding it to logits and taking argmax samples them."""
    draw = Draw("gumbel", shape, dtype, device, key)
    mean = parameter("gumbel", "mean", mean, draw)
    return draw.made(standard_gumbel(draw) * parameter("gumbel", "scale", scale, draw, True) + mean)


def standard_gumbel(draw: Draw) -> Node:
    """-log of an exponential sample, which is kept above 0."""
    return -log(-log1p(-maximum(draw.fraction(), 2.0**-25)))


@makes_tensors(Kind.RANDOM)
def gamma(
    shape: Any, concentration: Any, rate: Any = 1.0, dtype: Any = "float32", device: Where = CPU,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Gamma distributed floats, by the method of Marsaglia and Tsang."""
    draw = Draw("gamma", shape, dtype, device, key)
    wanted = parameter("gamma", "concentration", concentration, draw, True)
    if isinstance(wanted, Node):
        wanted = detach(wanted)  # samples do not move smoothly with it: some are refused
    rate = parameter("gamma", "rate", rate, draw, True)
    if isinstance(wanted, float):
        wanted = draw.fraction() * 0.0 + wanted
    small = wanted < 1.0  # sampled one higher, then scaled down by a power of a fraction
    d = where(small, wanted + 1.0, wanted) - 1.0 / 3.0
    found = d
    for _ in range(ATTEMPTS):  # the last attempt that is accepted wins: all are alike
        z, u = draw.normal(), draw.positive()
        root = z / sqrt(d * 9.0) + 1.0
        cube = root * root * root
        safe = where(root > 0.0, cube, 1.0)
        accepted = log(u) < z * z * 0.5 + d - d * safe + d * log(safe)
        found = where((root > 0.0) & accepted, d * safe, found)
    scale = where(small, exp(log(draw.positive()) / wanted), 1.0)
    return draw.made(found * scale / rate)
