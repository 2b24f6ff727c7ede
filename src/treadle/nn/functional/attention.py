"""Attention: with PyTorch's arguments, and with the projections of several heads."""

from __future__ import annotations

import math

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.nn.functional.dropouts import dropout
from treadle.tensor.creation import zeros
from treadle.tensor.tensor import Tensor


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query keyᵀ scale + attn_mask) value over the last two axes.

    - **attn_mask**: of bool, True is seen; another one is added
    - **dropout_p**: the share of weights set to 0, whenever it is not 0: there is no training flag
    - **is_causal**: each query sees the keys up to its own number
    - **scale**: 1 / sqrt(width) if left out
    - **enable_gqa**: key and value may have fewer heads (axis -3), which are shared in groups
    """
    if attn_mask is not None and is_causal:
        hint = "put the causal part into the mask"
        raise ArgumentError(
            explain("scaled_dot_product_attention", "attn_mask and is_causal", hint)
        )
    if not dropout_p:
        return f.scaled_dot_product_attention(
            query, key, value, attn_mask, is_causal, scale, enable_gqa
        )
    if enable_gqa and query.ndim > 2 and key.shape[-3] != query.shape[-3]:
        key, value = (f.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key, value))
    weights = attention_weights(query, key, attn_mask, is_causal, scale)
    return dropout(weights, dropout_p) @ value


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """How much of each key a query sees; one that sees none has weights of 0."""
    scores = query @ key.mT * ((query.shape[-1] or 1) ** -0.5 if scale is None else scale)
    if is_causal:
        scores = f.where(scores.iota_like(-2) >= scores.iota_like(-1), scores, -math.inf)
    if mask is None or not scores.shape[-1]:
        return f.softmax(scores, -1)
    shown = mask.dtype.kind == "bool"
    scores = f.where(mask, scores, -math.inf) if shown else scores + mask
    blind = f.max(scores.detach(), -1, keepdims=True) == -math.inf
    return f.where(blind, 0.0, f.softmax(f.where(blind, 0.0, scores), -1))


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
    bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
    out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
    need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """nn.MultiheadAttention as a function: (output, weights), or (output, None) without them.

    query is (L, N, E), key and value (S, N, E), or without N. Masks of bool are True where a key
    is *not* seen, others are added: attn_mask (L, S) or (N heads, L, S), key_padding_mask (N, S).
    is_causal is a hint that attn_mask is causal.
    """
    _require_heads(query, key, value, embed_dim_to_check, num_heads, (attn_mask, is_causal))
    batched = query.ndim == 3
    if not batched:
        together = query is key is value
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key, value = (query, query) if together else (key, value)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    batch, inputs = query.shape[1], (query, key, value)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _projected(inputs, weights, in_proj_bias)
    else:
        q, k, v = _projected_together(inputs, in_proj_weight, in_proj_bias)
    k, v, extra = _with_biases(k, v, bias_k, bias_v, (static_k, static_v))
    heads = [_split(x, num_heads) for x in (q, k, v)]
    for at, given in ((1, static_k), (2, static_v)):
        if given is not None:
            heads[at] = given.reshape((batch, num_heads, *given.shape[1:]))
    if add_zero_attn:
        heads[1:] = [_with_zero(x) for x in heads[1:]]
        extra += 1
    p = dropout_p if training else 0.0
    causal_alone = is_causal and key_padding_mask is None and not need_weights and not extra
    mask = None if causal_alone else _mask(attn_mask, key_padding_mask, query, num_heads, extra)
    found: Tensor | None = None
    if need_weights:
        found = attention_weights(heads[0], heads[1], mask, False, None)
        found = dropout(found, p) if p else found
        mixed = found @ heads[2]
    else:
        q, k, v = heads
        mixed = scaled_dot_product_attention(q, k, v, mask, p, causal_alone)
    output = f.linear(_joined(mixed), out_proj_weight, out_proj_bias)
    if found is not None and average_attn_weights:
        found = found.mean(1)
    if batched:
        return output, found
    return output.squeeze(1), None if found is None else found.squeeze(0)


def _thirds(x: Tensor | None) -> tuple[Tensor | None, ...]:
    if x is None:
        return (None, None, None)
    return tuple(f.split(x, x.shape[0] // 3))


def _projected_together(
    inputs: tuple[Tensor, Tensor, Tensor], weight: Tensor | None, bias: Tensor | None
) -> list[Tensor]:
    """Query, key and value times three weights in one: one product if they are the same tensor."""
    if weight is not None and inputs[0] is inputs[1] is inputs[2]:
        return list(f.split(f.linear(inputs[0], weight, bias), weight.shape[0] // 3, -1))
    return _projected(inputs, _thirds(weight), bias)


def _projected(
    inputs: tuple[Tensor, Tensor, Tensor], weights: tuple[Tensor | None, ...], bias: Tensor | None
) -> list[Tensor]:
    """Query, key and value times a weight each; biases are three in one."""
    made = []
    for x, weight, shift in zip(inputs, weights, _thirds(bias), strict=True):
        if weight is None:
            hint = "in_proj_weight, or with use_separate_proj_weight a weight each"
            raise ArgumentError(
                explain("multi_head_attention_forward", "a projection is missing", hint)
            )
        made.append(f.linear(x, weight, shift))
    return made


def _with_zero(x: Tensor) -> Tensor:
    """(N, heads, length, width) with a line of zeros at the end."""
    batch, heads, _, width = x.shape
    none = zeros((batch, heads, 1, width), dtype=x.dtype, device=x.device)
    return f.concat([x, none], 2)


def _with_biases(
    k: Tensor, v: Tensor, bias_k: Tensor | None, bias_v: Tensor | None,
    static: tuple[Tensor | None, Tensor | None],
) -> tuple[Tensor, Tensor, int]:  # fmt: skip
    """Keys and values with one more of each, if there is one; and how many were added."""
    if bias_k is None and bias_v is None:
        return k, v, 0
    if bias_k is None or bias_v is None or any(x is not None for x in static):
        hint = "give bias_k and bias_v, both, and neither static_k nor static_v"
        raise ArgumentError(explain("multi_head_attention_forward", "biases do not fit", hint))
    shape = (1, *k.shape[1:])
    k, v = (f.concat([x, y.expand(shape)], 0) for x, y in ((k, bias_k), (v, bias_v)))
    return k, v, 1


def _split(x: Tensor, heads: int) -> Tensor:
    """(length, N, E) as (N, heads, length, E / heads)."""
    length, batch, width = x.shape
    return x.reshape((length, batch, heads, width // heads)).permute(1, 2, 0, 3)


def _joined(x: Tensor) -> Tensor:
    """(N, heads, length, width) as (length, N, heads width)."""
    batch, heads, length, width = x.shape
    return x.permute(2, 0, 1, 3).reshape((length, batch, heads * width))


def _mask(
    mask: Tensor | None, padding: Tensor | None, query: Tensor, heads: int, extra: int
) -> Tensor | None:
    """What is added to scores (N, heads, L, S), with 0 for the keys that were added at the end."""
    length, batch, _ = query.shape
    added: Tensor | None = None
    if mask is not None:
        own = _added(mask, query)
        if own.ndim not in (2, 3) or own.shape[-2] != length:
            hint = "attn_mask is (L, S) or (N heads, L, S)"
            facts = {"attn_mask": mask.shape, "query": query.shape}
            raise ShapeError(explain("multi_head_attention_forward", "a mask", hint, **facts))
        added = own if own.ndim == 2 else own.reshape((batch, heads, length, own.shape[-1]))
    if padding is not None:
        keys = _added(padding, query).reshape((batch, 1, 1, padding.shape[-1]))
        added = keys if added is None else added + keys
    if added is None or not extra:
        return added
    none = zeros((*added.shape[:-1], extra), dtype=added.dtype, device=added.device)
    return f.concat([added, none], -1)


def _added(mask: Tensor, query: Tensor) -> Tensor:
    """A mask of what is not seen as numbers to add."""
    if mask.dtype.kind != "bool":
        return mask
    return f.where(mask, -math.inf, 0.0).astype(query.dtype)


def _require_heads(
    query: Tensor, key: Tensor, value: Tensor, width: int, heads: int,
    causal: tuple[Tensor | None, bool],
) -> None:  # fmt: skip
    what = "multi_head_attention_forward"
    facts = {"query": query.shape, "key": key.shape, "value": value.shape}
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        hint = "query (L, N, E), key and value (S, N, E), or all without N"
        raise ShapeError(explain(what, "wrong number of axes", hint, **facts))
    if query.shape[-1] != width or heads < 1 or width % heads:
        hint = f"query is {width} wide, a multiple of {heads} heads"
        raise ShapeError(explain(what, "heads do not fit", hint, **facts))
    if key.shape[:-1] != value.shape[:-1]:
        raise ShapeError(explain(what, "one value for each key", **facts))
    if causal[1] and causal[0] is None:
        raise ArgumentError(explain(what, "is_causal is a hint about attn_mask: give that too"))
