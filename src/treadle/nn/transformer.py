"""Encoders and decoders of attention and hidden layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import triu
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.attention import MultiheadAttention
from treadle.nn.containers import ModuleList
from treadle.nn.dropout import Dropout
from treadle.nn.linear import Linear
from treadle.nn.module import Module
from treadle.nn.normalisation import LayerNorm
from treadle.tensor.creation import full
from treadle.tensor.tensor import Tensor, realize

Activation = str | Callable[[Tensor], Any]


class _Layer(Module):
    """What both kinds of layers share: a hidden layer, norms, and their order."""

    def _hidden(
        self, d_model: int, dim_feedforward: int, dropout: float, activation: Activation,
        bias: bool, place: dict[str, Any],
    ) -> None:  # fmt: skip
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        if isinstance(activation, str) and activation not in ("relu", "gelu"):
            wrong = "activation is 'relu', 'gelu' or a function"
            raise ArgumentError(explain(type(self).__name__, wrong, got=repr(activation)))
        chosen: dict[Any, Any] = {"relu": f.relu, "gelu": f.gelu}
        self.activation: Any = chosen.get(activation, activation)

    def _feed(self, x: Tensor) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _around(self, x: Tensor, norm: Module, inside: Callable[[Tensor], Any]) -> Any:
        """What is inside added to x, with a norm before it or after all."""
        return x + inside(norm(x)) if self.norm_first else norm(x + inside(x))

    norm_first: bool


class TransformerEncoderLayer(_Layer):
    """Attention to itself, then a hidden layer, each added to what it reads, with norms.

    - **norm_first**: norms stand before what is added, not after
    - **activation**: "relu", "gelu" or a function
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = f.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        place = {"device": device, "dtype": dtype}
        options: dict[str, Any] = {"bias": bias, "batch_first": batch_first, **place}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **options)
        self._hidden(d_model, dim_feedforward, dropout, activation, bias, place)
        self.norm_first = norm_first
        self.norm1, self.norm2 = (
            LayerNorm(d_model, layer_norm_eps, bias=bias, **place) for _ in range(2)
        )
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None, is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The same shape."""

        def attend(x: Tensor) -> Any:
            masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask}
            found = self.self_attn(x, x, x, need_weights=False, is_causal=is_causal, **masks)
            return self.dropout1(found[0])

        x = self._around(src, self.norm1, attend)
        return self._around(x, self.norm2, lambda x: self.dropout2(self._feed(x)))


class TransformerDecoderLayer(_Layer):
    """Attention to itself, then to what an encoder made, then a hidden layer."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = f.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        place = {"device": device, "dtype": dtype}
        options: dict[str, Any] = {"bias": bias, "batch_first": batch_first, **place}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **options)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, **options)
        self._hidden(d_model, dim_feedforward, dropout, activation, bias, place)
        self.norm_first = norm_first
        self.norm1, self.norm2, self.norm3 = (
            LayerNorm(d_model, layer_norm_eps, bias=bias, **place) for _ in range(3)
        )
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The same shape."""

        def attend(x: Tensor) -> Any:
            masks = {"attn_mask": tgt_mask, "key_padding_mask": tgt_key_padding_mask}
            found = self.self_attn(x, x, x, need_weights=False, is_causal=tgt_is_causal, **masks)
            return self.dropout1(found[0])

        def look(x: Tensor) -> Any:
            masks = {"attn_mask": memory_mask, "key_padding_mask": memory_key_padding_mask}
            options = {"need_weights": False, "is_causal": memory_is_causal, **masks}
            return self.dropout2(self.multihead_attn(x, memory, memory, **options)[0])

        x = self._around(tgt, self.norm1, attend)
        x = self._around(x, self.norm2, look)
        return self._around(x, self.norm3, lambda x: self.dropout3(self._feed(x)))


def _copies(layer: Module, count: int) -> ModuleList:
    realize(*layer.parameters(), *layer.buffers())  # all at once, not one by one
    return ModuleList([deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """Copies of a layer one after the other, and a norm at the end if there is one."""

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        self.layers, self.num_layers = _copies(encoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Any:  # fmt: skip
        """The same shape; is_causal is a hint that the mask is causal."""
        found: Any = src
        for layer in self.layers:
            options = {"src_mask": mask, "src_key_padding_mask": src_key_padding_mask}
            found = layer(found, is_causal=bool(is_causal), **options)
        return found if self.norm is None else self.norm(found)


class TransformerDecoder(Module):
    """Copies of a layer one after the other, and a norm at the end if there is one."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers, self.num_layers = _copies(decoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The same shape; tgt_is_causal is a hint that tgt_mask is causal."""
        found: Any = tgt
        for layer in self.layers:
            found = layer(
                found, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return found if self.norm is None else self.norm(found)


class Transformer(Module):
    """An encoder of one sequence and a decoder of another."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = f.relu, custom_encoder: Any = None, custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        place = {"device": device, "dtype": dtype}
        shared = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                  batch_first, norm_first, bias, device, dtype)  # fmt: skip
        if custom_encoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
            layer: Module = TransformerEncoderLayer(*shared)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
            layer = TransformerDecoderLayer(*shared)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        for own in self.parameters():
            if own.ndim > 1:
                init.xavier_uniform_(own)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None, src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """What the decoder makes of tgt, looking at what the encoder makes of src."""
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            facts = {"d_model": self.d_model, "src": src.shape, "tgt": tgt.shape}
            raise ShapeError(explain("Transformer", "the last axis is d_model", **facts))
        options = {"src_key_padding_mask": src_key_padding_mask, "is_causal": src_is_causal}
        memory = self.encoder(src, mask=src_mask, **options)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """0 where a position is seen, minus infinity where it comes later."""
        kind = "float32" if dtype is None else dtype
        return triu(full((sz, sz), -math.inf, dtype=kind, device=device), 1)
