"""Samples of distributions, made of random bits inside the graph."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import dtype, uint32
from treadle.base.shapes import Shape
from treadle.ir.node import Node, iota
from treadle.ops.composite import uniform_from
from treadle.ops.elementwise import cast, cos, log, sqrt, threefry
from treadle.ops.movement import slice_
from treadle.runtime.draws import GENERATOR, draw
from treadle.tensor.tensor import Tensor, no_grad


def manual_seed(seed: int) -> None:
    """Start the global generator again: the same seed gives the same numbers everywhere."""
    GENERATOR.seed(seed)


def _bits(shape: Shape, where: Device, streams: int = 1) -> list[Node]:
    """Independent uint32 random bits, `streams` of them for every element."""
    words, number = draw(where)
    key = [slice_(words, [(k, k + 1, 1)]).reshape(()) for k in range(3)]
    first = (key[2] + number) if number else key[2]
    count = math.prod(shape)
    index = cast(iota((count,), 0, where), uint32).reshape(shape)
    return [threefry(key[0], key[1], index, first * 4 + k) for k in range(streams)]


def uniform(
    shape: Shape, low: float = 0.0, high: float = 1.0, dtype: Any = "float32",
    device: str | Device = CPU,
) -> Tensor:  # fmt: skip
    """Floats in [low, high), equally likely."""
    with no_grad():
        (bits,) = _bits(tuple(shape), _device(device))
        return Tensor(uniform_from(bits, _dtype(dtype)) * (high - low) + low)


def normal(
    shape: Shape, mean: float = 0.0, deviation: float = 1.0, dtype: Any = "float32",
    device: str | Device = CPU,
) -> Tensor:  # fmt: skip
    """Normally distributed floats (Box-Muller)."""
    with no_grad():
        first, second = (
            uniform_from(bits, _dtype(dtype)) for bits in _bits(tuple(shape), _device(device), 2)
        )
        radius = sqrt(log(1.0 - first) * -2.0)
        return Tensor(radius * cos(second * (2.0 * math.pi)) * deviation + mean)


def bernoulli(shape: Shape, probability: float, device: str | Device = CPU) -> Tensor:
    """True with a probability."""
    return uniform(shape, device=device) < probability


def _device(where: str | Device) -> Device:
    return device(where)


def _dtype(kind: Any) -> Any:
    return dtype(kind)
