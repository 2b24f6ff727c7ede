"""Where attention finds what came before: nothing, a prompt as it is read, or a cache.

A cache has a fixed capacity, so that one compiled program serves every token: it writes a row and
reads as far as the cache is filled. Rows of a batch end at the same place; shorter prompts begin
later (`starts`), and what lies before is not seen.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.functions import maximum, softmax, where
from treadle.nn.functional import scaled_dot_product_attention as attention
from treadle.tensor.creation import arange, zeros
from treadle.tensor.tensor import Tensor


class Past:
    """No cache: every token sees itself and those before it in the same call.

    - **starts**: (batch,) where each row begins, or None if all begin at 0
    """

    def __init__(self, starts: Tensor | None = None) -> None:
        self.starts = starts

    def positions(self, tokens: Tensor) -> Tensor:
        """The number of each token in its row: (batch or 1, length)."""
        return self._counted(arange(tokens.shape[1], device=tokens.device).unsqueeze(0))

    def _counted(self, places: Tensor) -> Tensor:
        if self.starts is None:
            return places
        return maximum(places - self.starts.unsqueeze(1), 0)

    def attend(
        self, layer: int, q: Tensor, k: Tensor, v: Tensor,
        scale: float | None = None, dropout: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """q (batch, heads, length, width) mixed from the values it sees.

        k and v may have fewer heads, which groups of q's share.
        """
        options: Any = {"dropout_p": dropout, "scale": scale, "enable_gqa": True}
        if self.starts is None:
            return attention(q, k, v, is_causal=True, **options)
        places = arange(q.shape[2], device=q.device)
        begun = places >= self.starts.reshape(-1, 1, 1, 1)
        return attention(q, k, v, begun & (places.unsqueeze(1) >= places), **options)


class Prompt(Past):
    """The first tokens of a cache, all at once."""

    def __init__(self, cache: Cache, starts: Tensor | None = None) -> None:
        super().__init__(starts)
        self.cache = cache

    def attend(
        self, layer: int, q: Tensor, k: Tensor, v: Tensor,
        scale: float | None = None, dropout: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """As without a cache; keys and values are kept."""
        keys, values = self.cache.keys[layer], self.cache.values[layer]
        keys[:, :, : k.shape[2]], values[:, :, : k.shape[2]] = k, v
        return super().attend(layer, q, k, v, scale, dropout)


class Next(Past):
    """One more token.

    - **at**: where it goes, an integer tensor
    - **filled**: how far the cache is read, `at` included: a Dim, or None to read and mask all
    """

    def __init__(
        self, cache: Cache, at: Tensor, filled: Any = None, starts: Tensor | None = None
    ) -> None:
        super().__init__(starts)
        self.cache, self.at, self.filled = cache, at, filled

    def positions(self, tokens: Tensor) -> Tensor:
        """The number of the token in each row: (batch or 1, 1)."""
        return self._counted(self.at.reshape(1, 1))

    def attend(
        self, layer: int, q: Tensor, k: Tensor, v: Tensor,
        scale: float | None = None, dropout: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """q (batch, heads, 1, width) mixed from all values so far."""
        keys, values = self.cache.keys[layer], self.cache.values[layer]
        keys[:, :, self.at], values[:, :, self.at] = k[:, :, 0], v[:, :, 0]
        keys, values = keys[:, :, : self.filled], values[:, :, : self.filled]
        batch, heads, _, width = q.shape
        shared = keys.shape[1]  # a group of heads shares keys: its queries are rows of one product
        rows = q.reshape(batch, shared, heads // shared, width)
        scores = rows @ keys.mT * (width**-0.5 if scale is None else scale)
        mixed = softmax(self._seen(scores), axis=-1) @ values
        return mixed.reshape(q.shape)

    def _seen(self, scores: Tensor) -> Tensor:
        places = arange(scores.shape[-1], device=scores.device)
        if self.filled is None:
            scores = where(places <= self.at, scores, -math.inf)
        if self.starts is None:
            return scores
        return where(places >= self.starts.reshape(-1, 1, 1, 1), scores, -math.inf)


class Cache:
    """Keys and values of every layer: (batch, heads, capacity, width) each."""

    reads_prompts = True
    """Are all tokens of a prompt taken at once?"""

    def __init__(
        self, layers: int, batch: int, heads: int, capacity: int, width: int,
        dtype: Any = None, device: Any = None,
    ) -> None:  # fmt: skip
        shape = (batch, heads, capacity, width)
        self.keys = [zeros(*shape, dtype=dtype, device=device).realize() for _ in range(layers)]
        self.values = [zeros(*shape, dtype=dtype, device=device).realize() for _ in range(layers)]
        self.batch, self.capacity = batch, capacity

    def begin(self) -> None:
        """Another text: nothing is seen of what was kept until it is written over."""

    def prompt(self, starts: Tensor | None = None) -> Past:
        """For a call that reads the first tokens."""
        return Prompt(self, starts)

    def next(self, at: Tensor, filled: Any = None, starts: Tensor | None = None) -> Past:
        """For a call that reads one more token."""
        return Next(self, at, filled, starts)
