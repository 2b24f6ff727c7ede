"""Attention of several heads, with a memory of what was seen before."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import expand, repeat_interleave, where
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.functional.attention import attention_weights
from treadle.nn.linear import Linear, parameter
from treadle.nn.module import Module
from treadle.tensor.creation import arange, tensor, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE


class KVCache(Module):
    """Keys and values of the positions seen so far, in memory of a fixed capacity.

    A compiled function that attends through it is traced once, however much is in it. Neither keys
    nor values nor the length are part of `state_dict`. Lazily, more than fits is refused; who calls
    a compiled function looks at `room` before.

    - **batch**, **heads**, **capacity**, **width**: the shape of the keys and of the values
    """

    keys: Tensor
    values: Tensor
    length: Tensor

    def __init__(
        self, batch: int, heads: int, capacity: int, width: int, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self.capacity = capacity
        sizes, place = (batch, heads, capacity, width), {"device": device, "dtype": dtype}
        self.register_buffer("keys", zeros(*sizes, **place), persistent=False)
        self.register_buffer("values", zeros(*sizes, **place), persistent=False)
        count = tensor(0, dtype="int64", device=device)
        self.register_buffer("length", count, persistent=False)

    @property
    def room(self) -> int:
        """How many more positions fit."""
        return self.capacity - int(self.length)

    def reset(self) -> None:
        """Forget everything."""
        with no_grad():
            self.length.assign(self.length * 0)

    def forward(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Add keys and values (batch, heads, more, width); all there are, and who sees which.

        The last is a mask (more, capacity): a new position sees those before it and itself.
        """
        more = key.shape[-2]
        if more > self.capacity or (not TRACE and more > self.room):
            facts = {"capacity": self.capacity, "more": more}
            hint = "a larger capacity, or reset()"
            raise ArgumentError(explain("KVCache", "more than fits", hint, **facts))
        with no_grad():
            at = arange(more, device=key.device) + self.length
            self.keys[:, :, at] = key
            self.values[:, :, at] = value
            self.length.assign(self.length + more)
        seen = arange(self.capacity, device=key.device) <= at.reshape(-1, 1)
        return self.keys, self.values, seen

    def extra_repr(self) -> str:
        """The shape."""
        return f"{', '.join(map(str, self.keys.shape))}"


class MultiheadAttention(Module):
    """softmax(q kᵀ / sqrt(width)) v in several heads, between projections.

    - **kdim**, **vdim**: sizes of keys and values, embed_dim if left out
    - **add_bias_kv**, **add_zero_attn**: one more key and value, learned, or zeros
    - **num_kv_heads**: heads of keys and values, each of which serves a group of queries' heads

    num_kv_heads is our own, as is `cache` of forward; the rest is PyTorch's.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
        *, num_kv_heads: int | None = None,
    ) -> None:  # fmt: skip
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = (embed_dim if n is None else n for n in (kdim, vdim))
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.head_dim = embed_dim // num_heads if num_heads > 0 else 0
        self._check(add_bias_kv or add_zero_attn)
        place = {"device": device, "dtype": dtype}
        narrow = self.num_kv_heads * self.head_dim
        same = self.kdim == self.vdim == embed_dim
        shapes = {
            "q_proj_weight": (embed_dim, embed_dim), "k_proj_weight": (narrow, self.kdim),
            "v_proj_weight": (narrow, self.vdim),
            "in_proj_weight": (embed_dim + 2 * narrow, embed_dim),
        }  # fmt: skip
        for name, shape in shapes.items():
            wanted = same if name == "in_proj_weight" else not same
            own = parameter("MultiheadAttention", *shape, **place) if wanted else None
            self.register_parameter(name, own)
        own = parameter("MultiheadAttention", embed_dim + 2 * narrow, **place) if bias else None
        self.register_parameter("in_proj_bias", own)
        for name in ("bias_k", "bias_v"):
            one = parameter("MultiheadAttention", 1, 1, embed_dim, **place) if add_bias_kv else None
            self.register_parameter(name, one)
        self.out_proj = Linear(embed_dim, embed_dim, bias, **place)
        self.reset_parameters()

    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None
    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def _check(self, extra: bool) -> None:
        facts = {"embed_dim": self.embed_dim, "num_heads": self.num_heads}
        if self.num_heads <= 0 or self.embed_dim <= 0 or self.embed_dim % self.num_heads:
            raise ArgumentError(explain("MultiheadAttention", "heads share embed_dim", **facts))
        if self.num_kv_heads <= 0 or self.num_heads % self.num_kv_heads:
            facts = {"num_heads": self.num_heads, "num_kv_heads": self.num_kv_heads}
            raise ArgumentError(explain("MultiheadAttention", "groups of heads differ", **facts))
        if extra and self.num_kv_heads != self.num_heads:
            wrong = "add_bias_kv and add_zero_attn go with heads that are not grouped"
            raise ArgumentError(explain("MultiheadAttention", wrong))

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None,
        average_attn_weights: bool = True, is_causal: bool = False, *,
        cache: KVCache | None = None,
    ) -> tuple[Any, Any]:  # fmt: skip
        """(output, weights), or (output, None) without need_weights.

        - **query**, **key**, **value**: (length, batch, size), (batch, length, size) with
          batch_first, or (length, size)
        - **key_padding_mask**, **attn_mask**: True where a key is not seen, or numbers to add
        - **is_causal**: a hint that attn_mask is causal; with a cache positions see those before
        - **cache**: keys and values seen before, to which these are added; masks do not go with it
        """
        turned = self.batch_first and query.ndim == 3
        if cache is not None or self.num_kv_heads != self.num_heads:
            return self._grouped(
                query, key, value, key_padding_mask, need_weights, attn_mask,
                average_attn_weights, cache,
            )  # fmt: skip
        q, k, v = (x.swapaxes(0, 1) if turned else x for x in (query, key, value))
        found, weights = f.multi_head_attention_forward(
            q, k, v, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
            self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight,
            self.out_proj.bias, self.training, key_padding_mask, need_weights, attn_mask,
            self.in_proj_weight is None, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (found.swapaxes(0, 1) if turned else found), weights

    # ---- grouped heads, and a cache

    def _grouped(
        self, query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None,
        need_weights: bool, mask: Tensor | None, average: bool, cache: KVCache | None,
    ) -> tuple[Any, Any]:  # fmt: skip
        if cache is not None and (mask is not None or padding is not None):
            raise ArgumentError(explain("MultiheadAttention", "a cache has a mask of its own"))
        given = [x.unsqueeze(0 if self.batch_first else 1) if x.ndim == 2 else x
                 for x in (query, key, value)]  # fmt: skip
        rows = given if self.batch_first else [x.swapaxes(0, 1) for x in given]
        q, k, v = self._projected(rows)
        seen: Tensor | None = None
        if cache is not None:
            k, v, seen = cache(k, v)
        elif mask is not None or padding is not None:
            seen = self._seen(q, k, mask, padding)
        mixed, weights = self._attend(q, k, v, seen, need_weights)
        if weights is not None:
            weights = weights.mean(1) if average else weights
            weights = weights.squeeze(0) if query.ndim == 2 else weights
        found = mixed.swapaxes(1, 2).reshape(*rows[0].shape[:2], self.embed_dim)
        found = self.out_proj(found)
        if query.ndim == 2:
            return found.squeeze(0), weights
        return (found if self.batch_first else found.swapaxes(0, 1)), weights

    def _projected(self, rows: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """(batch, heads, length, width) of queries, keys and values."""
        wide, narrow = self.embed_dim, self.num_kv_heads * self.head_dim
        ends = (0, wide, wide + narrow, wide + 2 * narrow)
        whole, bias = self.in_proj_weight, self.in_proj_bias
        own = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        found = []
        for k, x in enumerate(rows):
            part = slice(ends[k], ends[k + 1])
            weight: Any = own[k] if whole is None else whole[part]
            y = f.linear(x, weight, None if bias is None else bias[part])
            heads = self.num_heads if k == 0 else self.num_kv_heads
            found.append(y.reshape(*y.shape[:2], heads, self.head_dim).swapaxes(1, 2))
        return found[0], found[1], found[2]

    def _seen(self, q: Tensor, k: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        """What is added to scores (batch, heads, queries, keys), of both masks."""
        batch, heads, length, count = *q.shape[:3], k.shape[2]
        total = zeros((), dtype=q.dtype, device=q.device)
        if mask is not None:
            shape = (1, 1, length, count) if mask.ndim == 2 else (batch, heads, length, count)
            total = total + _added(mask, q).reshape(shape)
        if padding is not None:
            if padding.shape not in ((batch, count), (count,)):
                facts = {"expected": (batch, count), "key_padding_mask": padding.shape}
                raise ShapeError(explain("MultiheadAttention", "sizes differ", **facts))
            total = total + _added(padding, q).reshape(batch, 1, 1, count)
        return expand(total, (batch, heads, length, count))

    def _attend(
        self, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        p = self.dropout if self.training else 0.0
        if not need_weights:
            found = f.scaled_dot_product_attention(q, k, v, seen, p, enable_gqa=True)
            return found, None
        times = self.num_heads // self.num_kv_heads
        if times > 1:
            k, v = (repeat_interleave(x, times, axis=1) for x in (k, v))
        weights = attention_weights(q, k, seen, False, None)
        weights = f.dropout(weights, p) if p else weights
        return weights @ v, weights


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as numbers to add."""
    if mask.dtype.kind != "bool":
        return mask.cast(like.dtype)
    return where(mask, -math.inf, zeros((), dtype=like.dtype, device=like.device))
