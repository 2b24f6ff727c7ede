"""BERT's encoder, by Hugging Face's names, and embeddings of sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from treadle.functions import maximum, normalize, tanh
from treadle.models.activations import activation
from treadle.models.language import Pretrained, require_positions
from treadle.nn import Dropout, Embedding, LayerNorm, Linear, Module, init
from treadle.nn.functional import scaled_dot_product_attention
from treadle.tensor.creation import arange, zeros
from treadle.tensor.tensor import Tensor


@dataclass(frozen=True)
class BertConfig:
    """Sizes and options under the original's names; the defaults are BERT base."""

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    model_type: str = "bert"


class Encoded(NamedTuple):
    """What the encoder makes: of every token, and of the first for classifying."""

    last_hidden_state: Tensor
    pooler_output: Tensor


class Embeddings(Module):
    """Tokens, positions and segments, added."""

    def __init__(self, config: BertConfig) -> None:
        width = config.hidden_size
        self.word_embeddings = Embedding(config.vocab_size, width, config.pad_token_id)
        self.position_embeddings = Embedding(config.max_position_embeddings, width)
        self.token_type_embeddings = Embedding(config.type_vocab_size, width)
        self.LayerNorm = LayerNorm(width, config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """(batch, length, hidden_size)."""
        require_positions("Bert", input_ids, self.position_embeddings.num_embeddings)
        places = arange(input_ids.shape[1], device=input_ids.device)
        kinds = zeros(1, 1, dtype="int64", device=input_ids.device)
        x = self.word_embeddings(input_ids) + self.position_embeddings(places)
        x = x + self.token_type_embeddings(kinds if token_type_ids is None else token_type_ids)
        return self.dropout(self.LayerNorm(x))


class SelfAttention(Module):
    """Heads in which every token sees every other."""

    def __init__(self, config: BertConfig) -> None:
        width = config.hidden_size
        self.heads, self.dropout = config.num_attention_heads, config.attention_probs_dropout_prob
        self.query, self.key, self.value = (Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """What each token takes from all that the mask shows."""
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        parts = (layer(x).reshape(shape) for layer in (self.query, self.key, self.value))
        q, k, v = (part.transpose(1, 2) for part in parts)
        dropout = self.dropout if self.training else 0.0
        mixed = scaled_dot_product_attention(q, k, v, mask, dropout)
        return mixed.transpose(1, 2).reshape(x.shape)


class Output(Module):
    """Back to the residual stream, and a norm of it."""

    def __init__(self, config: BertConfig, before: int) -> None:
        self.dense = Linear(before, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        """Apply to the last axis."""
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class Layer(Module):
    """Attention, then a hidden layer, each with a norm behind it."""

    def __init__(self, config: BertConfig) -> None:
        self.attention = {
            "self": SelfAttention(config), "output": Output(config, config.hidden_size),
        }  # fmt: skip
        self.intermediate = {"dense": Linear(config.hidden_size, config.intermediate_size)}
        self.output = Output(config, config.intermediate_size)
        self.act = activation(config.hidden_act)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """The residual stream after this layer."""
        x = self.attention["output"](self.attention["self"](x, mask), x)
        return self.output(self.act(self.intermediate["dense"](x)), x)


class Bert(Pretrained):
    """BERT's encoder; weights are those of Hugging Face's BertModel.

    - **input_ids**: tokens (batch, length)
    - **attention_mask**: 1 where there is a token, 0 where there is padding
    - **token_type_ids**: the segment of each token; the first if left out

    >>> import treadle as td
    >>> model = Bert(BertConfig(100, 16, 2, 2, 32, max_position_embeddings=8))
    >>> model.embed(td.tensor([[1, 2, 3], [4, 5, 0]]), td.tensor([[1, 1, 1], [1, 1, 0]])).shape
    (2, 16)
    """

    config_class = BertConfig

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        self.embeddings = Embeddings(config)
        self.encoder = {"layer": [Layer(config) for _ in range(config.num_hidden_layers)]}
        self.pooler = {"dense": Linear(config.hidden_size, config.hidden_size)}
        for name, own in self.named_parameters():
            if own.ndim == 2:
                init.normal_(own, 0.0, config.initializer_range)
            elif name.endswith("bias"):
                init.zeros_(own)

    @classmethod
    def translated(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        """Files of the first models name norms otherwise; those of others hold heads as well."""
        known = re.compile(r"(?:.*\.)?((?:embeddings|encoder|pooler)\..*)")
        old = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
        has_heads = any(name.startswith("bert.") for name in state)
        found = {}
        for name, value in state.items():
            match = known.fullmatch(name)
            if name.endswith("embeddings.position_ids") or (has_heads and match is None):
                continue
            plain = name if match is None else match[1]
            for before, after in old.items():
                plain = plain.replace(before, after)
            found[plain] = value
        return found

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Encoded:  # fmt: skip
        """The last layer, and the first token of it after the pooler."""
        x = self._states(input_ids, attention_mask, token_type_ids)
        return Encoded(x, tanh(self.pooler["dense"](x[:, 0])))

    def _states(self, input_ids: Tensor, mask: Tensor | None, kinds: Tensor | None) -> Tensor:
        shown = None if mask is None else (mask != 0)[:, None, None, :]
        x = self.embeddings(input_ids, kinds)
        for layer in self.encoder["layer"]:
            x = layer(x, shown)
        return x

    def embed(
        self, input_ids: Tensor, attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Vectors of sentences, of length 1: means of the last layer where there are tokens."""
        x = self._states(input_ids, attention_mask, token_type_ids)
        if attention_mask is None:
            return normalize(x.mean(1), axis=-1)
        weights = attention_mask.cast(x.dtype).unsqueeze(-1)
        return normalize((x * weights).sum(1) / maximum(weights.sum(1), 1e-9), axis=-1)
