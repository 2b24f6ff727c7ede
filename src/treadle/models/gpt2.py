"""GPT-2: a decoder with learned positions, by Hugging Face's names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treadle.models.activations import activation
from treadle.models.cache import Cache, Past
from treadle.models.language import LanguageModel, require_positions, tie
from treadle.nn import Dropout, Embedding, LayerNorm, Linear, Module, Parameter, init
from treadle.tensor.creation import empty, zeros
from treadle.tensor.tensor import Tensor


@dataclass(frozen=True)
class GPT2Config:
    """Sizes and options under the original's names; the defaults are GPT-2 small."""

    vocab_size: int = 50257
    n_positions: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_inner: int | None = None
    activation_function: str = "gelu_new"
    resid_pdrop: float = 0.1
    embd_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    layer_norm_epsilon: float = 1e-5
    initializer_range: float = 0.02
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    tie_word_embeddings: bool = True
    eos_token_id: int | None = 50256
    model_type: str = "gpt2"


class Conv1D(Module):
    """y = x W + b, with W of shape (in, out): a linear layer the other way round."""

    def __init__(self, out_features: int, in_features: int, deviation: float) -> None:
        self.weight = init.normal_(Parameter(empty(in_features, out_features)), 0.0, deviation)
        self.bias = Parameter(zeros(out_features))

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last axis."""
        return x @ self.weight + self.bias


class Attention(Module):
    """Heads whose queries, keys and values come from one product."""

    def __init__(self, config: GPT2Config, layer: int) -> None:
        width = config.n_embd
        self.layer, self.heads, self.dropout = layer, config.n_head, config.attn_pdrop
        self.scale = (width // config.n_head) ** -0.5 if config.scale_attn_weights else 1.0
        if config.scale_attn_by_inverse_layer_idx:
            self.scale /= layer + 1
        deviation = config.initializer_range
        self.c_attn = Conv1D(3 * width, width, deviation)
        self.c_proj = Conv1D(width, width, deviation / math.sqrt(2 * config.n_layer))
        self.resid_dropout = Dropout(config.resid_pdrop)

    def forward(self, x: Tensor, past: Past) -> Tensor:
        """What each token takes from those before it."""
        batch, length, width = x.shape
        joined, shape = self.c_attn(x), (batch, length, self.heads, width // self.heads)
        parts = (joined[:, :, k * width : (k + 1) * width] for k in range(3))
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in parts)
        dropout = self.dropout if self.training else 0.0
        mixed = past.attend(self.layer, q, k, v, self.scale, dropout)
        return self.resid_dropout(self.c_proj(mixed.transpose(1, 2).reshape(x.shape)))


class MLP(Module):
    """A hidden layer."""

    def __init__(self, config: GPT2Config) -> None:
        width, deviation = config.n_embd, config.initializer_range
        inner = config.n_inner or 4 * width
        self.c_fc = Conv1D(inner, width, deviation)
        self.c_proj = Conv1D(width, inner, deviation / math.sqrt(2 * config.n_layer))
        self.act, self.dropout = activation(config.activation_function), Dropout(config.resid_pdrop)

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last axis."""
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class Block(Module):
    """Attention, then a hidden layer, each behind a norm and around a residual."""

    def __init__(self, config: GPT2Config, layer: int) -> None:
        eps = config.layer_norm_epsilon
        self.ln_1, self.attn = LayerNorm(config.n_embd, eps), Attention(config, layer)
        self.ln_2, self.mlp = LayerNorm(config.n_embd, eps), MLP(config)

    def forward(self, x: Tensor, past: Past) -> Tensor:
        """The residual stream after this block."""
        x = x + self.attn(self.ln_1(x), past)
        return x + self.mlp(self.ln_2(x))


class Transformer(Module):
    """Everything but the output layer."""

    def __init__(self, config: GPT2Config) -> None:
        self.wte = Embedding(config.vocab_size, config.n_embd)
        self.wpe = Embedding(config.n_positions, config.n_embd)
        self.drop = Dropout(config.embd_pdrop)
        self.h = [Block(config, layer) for layer in range(config.n_layer)]
        self.ln_f = LayerNorm(config.n_embd, config.layer_norm_epsilon)
        for table in (self.wte, self.wpe):
            init.normal_(table.weight, 0.0, config.initializer_range)

    def forward(self, input_ids: Tensor, past: Past) -> Tensor:
        """(batch, length, n_embd)."""
        require_positions("GPT2", input_ids, self.wpe.num_embeddings)
        x = self.drop(self.wte(input_ids) + self.wpe(past.positions(input_ids)))
        for block in self.h:
            x = block(x, past)
        return self.ln_f(x)


class GPT2(LanguageModel):
    """GPT-2 with its output layer; weights are those of Hugging Face's GPT2LMHeadModel.

    >>> model = GPT2(GPT2Config(n_layer=2, n_head=2, n_embd=8, n_positions=16, vocab_size=10))
    >>> len(model.generate([1, 2, 3], 4, seed=0))
    4
    """

    config_class = GPT2Config

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        self.vocabulary, self.max_length = config.vocab_size, config.n_positions
        self.end_of_text = config.eos_token_id
        self.transformer = Transformer(config)
        self.lm_head = Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            tie(self.lm_head, self.transformer.wte)
        else:
            init.normal_(self.lm_head.weight, 0.0, config.initializer_range)
        self._writes()

    @classmethod
    def translated(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        """Files of the first models lack `transformer.` and hold masks, which are no weights."""
        masks = (".attn.bias", ".attn.masked_bias")
        kept = {name: value for name, value in state.items() if not name.endswith(masks)}
        if any(name.startswith("transformer.") for name in kept):
            return kept
        return {x if x.startswith("lm_head.") else f"transformer.{x}": kept[x] for x in kept}

    def new_cache(self, batch: int, capacity: int) -> Cache:
        """Keys and values of every layer."""
        config, weight = self.config, self.transformer.wte.weight
        width = config.n_embd // config.n_head
        place = {"dtype": weight.dtype, "device": weight.device}
        return Cache(config.n_layer, batch, config.n_head, capacity, width, **place)

    def features(self, input_ids: Tensor, past: Any = None) -> Tensor:
        """(batch, length, n_embd) of tokens (batch, length)."""
        return self.transformer(input_ids, past or Past())

    def logits(self, features: Tensor) -> Tensor:
        """How likely each token comes next."""
        return self.lm_head(features)
