"""Rotary positions: how fast each pair of a head's elements turns, and turning them.

Frequencies are scaled as configurations of the originals say, so that texts may be longer than
those a model has learned from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from treadle.base.errors import NotSupported, explain
from treadle.functions import concat, cos, sin
from treadle.nn import Module
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor

Found = tuple[list[float], float]
"""A frequency for each pair, and what cosines and sines are multiplied by."""


def _plain(width: int, theta: float) -> list[float]:
    return [theta ** (-2.0 * k / width) for k in range(width // 2)]


def _default(width: int, theta: float, options: Mapping[str, Any], most: int) -> Found:
    return _plain(width, theta), 1.0


def _linear(width: int, theta: float, options: Mapping[str, Any], most: int) -> Found:
    return [x / options["factor"] for x in _plain(width, theta)], 1.0


def _llama3(width: int, theta: float, options: Mapping[str, Any], most: int) -> Found:
    """Slow turns are slowed down, fast ones are not, and those between a little."""
    factor, length = options["factor"], options["original_max_position_embeddings"]
    slow, fast = options["low_freq_factor"], options["high_freq_factor"]

    def scaled(frequency: float) -> float:
        turns = length * frequency / (2 * math.pi)  # within a text of the old length
        part = min(1.0, max(0.0, (turns - slow) / (fast - slow)))
        return (1 - part) * frequency / factor + part * frequency

    return [scaled(x) for x in _plain(width, theta)], 1.0


def _yarn(width: int, theta: float, options: Mapping[str, Any], most: int) -> Found:
    """The same by a ramp over pairs, and attention a little sharper."""
    factor = options["factor"]
    length = options.get("original_max_position_embeddings") or most

    def pair(turns: float) -> float:
        """Which pair turns so often within a text of the old length."""
        return width * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low, high = pair(options.get("beta_fast") or 32.0), pair(options.get("beta_slow") or 1.0)
    if options.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    high = high + 0.001 if low == high else high

    def scaled(number: int, frequency: float) -> float:
        slowed = min(1.0, max(0.0, (number - low) / (high - low)))
        return frequency / factor * slowed + frequency * (1 - slowed)

    found = [scaled(k, x) for k, x in enumerate(_plain(width, theta))]
    return found, _sharpness(factor, options)


def _sharpness(factor: float, options: Mapping[str, Any]) -> float:
    def by(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    given, some, all_ = (options.get(x) for x in ("attention_factor", "mscale", "mscale_all_dim"))
    if given is not None:
        return float(given)
    return by(some) / by(all_) if some and all_ else by(1.0)


def _divided(width: int, theta: float, options: Mapping[str, Any], most: int) -> Found:
    """By numbers that a file holds, one for each pair."""
    pairs = zip(_plain(width, theta), options["factors"], strict=True)
    return [x / factor for x, factor in pairs], 1.0


SCALINGS: dict[str, Callable[[int, float, Mapping[str, Any], int], Found]] = {
    "default": _default, "linear": _linear, "llama3": _llama3, "yarn": _yarn, "divided": _divided,
}  # fmt: skip


def frequencies(
    width: int, theta: float = 10000.0, scaling: Mapping[str, Any] | None = None, most: int = 2048
) -> Found:
    """How far each pair turns from one position to the next, and a factor of all cosines.

    - **width**: of a head
    - **theta**: the slowest pair turns about once in 2π theta positions
    - **scaling**: `rope_scaling` of a configuration: its rope_type, and that type's numbers
    - **most**: positions that the model is made for
    """
    options = scaling or {}
    kind = options.get("rope_type") or options.get("type") or "default"
    if kind not in SCALINGS:
        hint = f"known are {', '.join(SCALINGS)}"
        raise NotSupported(explain("rope_scaling", "no such scaling of positions", hint, got=kind))
    try:
        return SCALINGS[kind](width, theta, options, most)
    except KeyError as error:
        wrong = f"{kind} needs {error.args[0]}"
        raise NotSupported(explain("rope_scaling", wrong, got=dict(options))) from None


class Rotary(Module):
    """Cosines and sines of positions; nothing that is learned."""

    def __init__(
        self, width: int, theta: float = 10000.0, scaling: Mapping[str, Any] | None = None,
        most: int = 2048,
    ) -> None:  # fmt: skip
        found, self.factor = frequencies(width, theta, scaling, most)
        self.frequencies = found  # no buffer: angles need the digits of float32

    def forward(self, positions: Tensor, dtype: Any) -> tuple[Tensor, Tensor]:
        """(batch, 1, length, width / 2) each, of positions (batch, length)."""
        turns = tensor(self.frequencies, device=positions.device)  # a program is of one device
        angles = positions.cast("float32")[:, None, :, None] * turns
        turned = (cos(angles) * self.factor, sin(angles) * self.factor)
        return turned[0].cast(dtype), turned[1].cast(dtype)


def rotated(x: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
    """x (batch, heads, length, width), the two halves of its elements turned as pairs."""
    cosines, sines = turned
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return concat([first * cosines - second * sines, second * cosines + first * sines], axis=-1)
