"""Decoders of Llama's form, by Hugging Face's names: also Qwen2, Qwen3, Mistral and SmolLM."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from treadle.io import open as open_file
from treadle.models.activations import activation
from treadle.models.cache import Cache, Past
from treadle.models.language import LanguageModel, require_positions, tie
from treadle.models.llama_config import LlamaConfig
from treadle.models.llama_gguf import config_of, weights_of
from treadle.models.rotary import rotated
from treadle.nn import Embedding, Linear, Module, RMSNorm, init
from treadle.tensor.tensor import Tensor

Turned = tuple[Tensor, Tensor]


class Attention(Module):
    """Heads of queries that share fewer heads of keys and values."""

    def __init__(self, config: LlamaConfig, layer: int) -> None:
        self.layer, self.width, self.dropout = layer, config.width, config.attention_dropout
        kept = config.no_rope_layers
        self.turns = kept is None or bool(kept[layer])
        bias, is_qwen2 = config.attention_bias, config.model_type == "qwen2"
        inner, shared = config.num_attention_heads * self.width, config.shared * self.width
        self.q_proj = Linear(config.hidden_size, inner, bias or is_qwen2)
        self.k_proj = Linear(config.hidden_size, shared, bias or is_qwen2)
        self.v_proj = Linear(config.hidden_size, shared, bias or is_qwen2)
        self.o_proj = Linear(inner, config.hidden_size, bias and not is_qwen2)
        self.normed = config.model_type == "qwen3"
        if self.normed:
            self.q_norm = RMSNorm(self.width, config.rms_norm_eps)
            self.k_norm = RMSNorm(self.width, config.rms_norm_eps)

    def forward(self, x: Tensor, past: Past, turned: Turned) -> Tensor:
        """What each token takes from those before it."""
        batch, length, _ = x.shape
        shape = (batch, length, -1, self.width)
        q, k, v = (layer(x).reshape(shape) for layer in (self.q_proj, self.k_proj, self.v_proj))
        if self.normed:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        if self.turns:
            q, k = rotated(q, turned), rotated(k, turned)
        dropout = self.dropout if self.training else 0.0
        mixed = past.attend(self.layer, q, k, v, dropout=dropout).transpose(1, 2)
        return self.o_proj(mixed.flatten(2))


class MLP(Module):
    """A hidden layer, let through by another."""

    def __init__(self, config: LlamaConfig) -> None:
        width, inner, bias = config.hidden_size, config.intermediate_size, config.mlp_bias
        self.gate_proj, self.up_proj = Linear(width, inner, bias), Linear(width, inner, bias)
        self.down_proj = Linear(inner, width, bias)
        self.act = activation(config.hidden_act)

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last axis."""
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class Layer(Module):
    """Attention, then a hidden layer, each behind a norm and around a residual."""

    def __init__(self, config: LlamaConfig, layer: int) -> None:
        self.self_attn, self.mlp = Attention(config, layer), MLP(config)
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x: Tensor, past: Past, turned: Turned) -> Tensor:
        """The residual stream after this layer."""
        x = x + self.self_attn(self.input_layernorm(x), past, turned)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(Module):
    """Everything but the output layer."""

    def __init__(self, config: LlamaConfig) -> None:
        self.embed_tokens = Embedding(config.vocab_size, config.hidden_size)
        self.layers = [Layer(config, layer) for layer in range(config.num_hidden_layers)]
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rotary_emb = config.rotary()

    def forward(self, input_ids: Tensor, past: Past) -> Tensor:
        """(batch, length, hidden_size)."""
        require_positions("Llama", input_ids)
        x = self.embed_tokens(input_ids)
        turned = self.rotary_emb(past.positions(input_ids), x.dtype)
        for layer in self.layers:
            x = layer(x, past, turned)
        return self.norm(x)


class Llama(LanguageModel):
    """A decoder with its output layer; weights are those of Hugging Face's LlamaForCausalLM.

    >>> config = LlamaConfig(32, 16, 24, 2, 4, num_key_value_heads=2)
    >>> len(Llama(config).generate([1, 2, 3], 4, seed=0))
    4
    """

    config_class = LlamaConfig

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        self.vocabulary, self.max_length = config.vocab_size, config.max_position_embeddings
        self.end_of_text = config.eos_token_id
        self.model = Body(config)
        self.lm_head = Linear(config.hidden_size, config.vocab_size, bias=False)
        for name, own in self.named_parameters():
            if own.ndim == 2:
                init.normal_(own, 0.0, config.initializer_range)
            elif name.endswith("bias"):
                init.zeros_(own)
        if config.tie_word_embeddings:
            tie(self.lm_head, self.model.embed_tokens)
        self._writes()

    @classmethod
    def from_pretrained(cls, path: Any, dtype: Any = "float32", device: Any = None) -> Self:
        """From a folder as Hugging Face writes it, or from a GGUF file, dequantised."""
        if Path(path).suffix != ".gguf":
            return super().from_pretrained(path, dtype, device)
        with open_file(path) as file:
            tensors = file.load(device)
            config = config_of(file.metadata, tensors)
        return cls(config)._filled(weights_of(config, tensors), dtype)

    @classmethod
    def translated(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        """Older files hold the frequencies of positions, which are no weights."""
        return {name: x for name, x in state.items() if not name.endswith("rotary_emb.inv_freq")}

    def new_cache(self, batch: int, capacity: int) -> Cache:
        """Keys and values of every layer."""
        config, weight = self.config, self.model.embed_tokens.weight
        place = {"dtype": weight.dtype, "device": weight.device}
        heads, width = config.shared, config.width
        return Cache(config.num_hidden_layers, batch, heads, capacity, width, **place)

    def features(self, input_ids: Tensor, past: Any = None) -> Tensor:
        """(batch, length, hidden_size) of tokens (batch, length)."""
        return self.model(input_ids, past or Past())

    def logits(self, features: Tensor) -> Tensor:
        """How likely each token comes next."""
        return self.lm_head(features)
