"""Positions as rotations: pairs of elements of queries and keys turned by an angle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import concat, cos, sin, stack
from treadle.nn.module import Module
from treadle.tensor.creation import arange, tensor
from treadle.tensor.tensor import Tensor


class RotaryEmbedding(Module):
    """Turn pairs of elements by angles that grow with the position, slower from pair to pair.

    - **dim**: how many elements of the last axis are turned; others stay as they are
    - **base**: the slowest pair turns once in about 6 base positions
    - **interleaved**: pairs are neighbours (GPT-J), not elements half of dim apart (Llama)
    - **scaling**: None, or a dict as in Hugging Face's configurations: {"rope_type": "linear",
      "factor": 2.0}, or "llama3" with "factor", "low_freq_factor", "high_freq_factor" and
      "original_max_position_embeddings"

    >>> import treadle as td
    >>> RotaryEmbedding(2)(td.tensor([[1.0, 0.0], [1.0, 0.0]])).tolist()[0]
    [1.0, 0.0]
    """

    def __init__(
        self, dim: int, base: float = 10000.0, interleaved: bool = False,
        scaling: Mapping[str, Any] | None = None, device: Any = None,
    ) -> None:  # fmt: skip
        if dim <= 0 or dim % 2:
            raise ArgumentError(explain("RotaryEmbedding", "pairs need an even dim", dim=dim))
        self.dim, self.base, self.interleaved = dim, base, interleaved
        numbers = [base ** (-2.0 * k / dim) for k in range(dim // 2)]
        # No buffer: angles need the digits of float32, whatever the module is cast to.
        self.numbers, self.device = _scaled(numbers, scaling or {}), device

    @property
    def frequencies(self) -> Tensor:
        """How far each pair turns from one position to the next."""
        return tensor(self.numbers, dtype="float32", device=self.device)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Any:
        """Turn (..., length, size); positions (length), or (batch, length), count from 0."""
        if x.ndim < 2 or x.shape[-1] < self.dim:
            facts = {"dim": self.dim, "shape": x.shape}
            raise ShapeError(explain("RotaryEmbedding", "needs (..., length, size)", **facts))
        at = arange(x.shape[-2], device=x.device) if positions is None else positions
        turns = tensor(self.numbers, dtype="float32", device=x.device)  # no program of two devices
        angles = at.cast("float32").unsqueeze(-1) * turns
        if at.ndim == 2:
            between = [1] * (x.ndim - 3)
            angles = angles.reshape(angles.shape[0], *between, *angles.shape[1:])
        turned = x if x.shape[-1] == self.dim else x[..., : self.dim]
        found = self._turn(turned, cos(angles).cast(x.dtype), sin(angles).cast(x.dtype))
        return found if x.shape[-1] == self.dim else concat([found, x[..., self.dim :]], axis=-1)

    def _turn(self, x: Tensor, c: Tensor, s: Tensor) -> Tensor:
        half = self.dim // 2
        if self.interleaved:
            pairs = x.reshape(*x.shape[:-1], half, 2)
            a, b = pairs[..., 0], pairs[..., 1]
            return stack([a * c - b * s, b * c + a * s], axis=-1).reshape(x.shape)
        a, b = x[..., :half], x[..., half:]
        return concat([a * c - b * s, b * c + a * s], axis=-1)

    def extra_repr(self) -> str:
        """The options."""
        return f"{self.dim}, base={self.base}, interleaved={self.interleaved}"


def _scaled(numbers: list[float], scaling: Mapping[str, Any]) -> list[float]:
    """Frequencies made slower, for longer texts than were trained on."""
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "default":
        return numbers
    if kind == "linear":
        return [n / scaling["factor"] for n in numbers]
    if kind == "llama3":
        return [_between(n, scaling) for n in numbers]
    hint = "default, linear, llama3"
    raise ArgumentError(explain("RotaryEmbedding", "unknown scaling", hint, got=repr(kind)))


def _between(frequency: float, scaling: Mapping[str, Any]) -> float:
    """Slow ones over the factor, fast ones as they are, those between in proportion."""
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * frequency / (2.0 * math.pi)
    share = min(1.0, max(0.0, (turns - low) / (high - low)))
    return frequency * (share + (1.0 - share) / scaling["factor"])
