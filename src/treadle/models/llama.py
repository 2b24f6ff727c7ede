"""Decoders of Llama's form, by Hugging Face's names: also Qwen2, Qwen3, Mistral and SmolLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treadle.base.errors import NotSupported, explain
from treadle.models.activations import activation
from treadle.models.cache import Cache, Past
from treadle.models.language import LanguageModel
from treadle.models.rotary import Rotary, rotated
from treadle.nn import Embedding, Linear, Module, RMSNorm, init
from treadle.tensor.tensor import Tensor

KINDS = ("llama", "mistral", "qwen2", "qwen3", "smollm3")
Turned = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class LlamaConfig:
    """Sizes and options under the original's names; the defaults are Llama 7B.

    `model_type` says which form it is: qwen2 has biases of queries, keys and values, qwen3 norms
    of queries and keys, and smollm3 leaves the positions of some layers out.
    """

    vocab_size: int = 32000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    hidden_act: str = "silu"
    max_position_embeddings: int = 2048
    initializer_range: float = 0.02
    rms_norm_eps: float = 1e-6
    tie_word_embeddings: bool = False
    rope_theta: float = 10000.0
    rope_scaling: Mapping[str, Any] | None = None
    rope_parameters: Mapping[str, Any] | None = None
    attention_bias: bool = False
    attention_dropout: float = 0.0
    mlp_bias: bool = False
    no_rope_layers: tuple[int, ...] | None = None
    sliding_window: int | None = None
    use_sliding_window: bool | None = None
    eos_token_id: Any = None
    model_type: str = "llama"

    def __post_init__(self) -> None:
        """Refuse what would give other numbers."""
        if self.model_type not in KINDS:
            hint = f"known are {', '.join(KINDS)}"
            raise NotSupported(explain("Llama", "another form", hint, model_type=self.model_type))
        windowed = self.model_type == "mistral" or self.use_sliding_window
        short = self.sliding_window is not None and windowed
        if short and (self.sliding_window or 0) < self.max_position_embeddings:
            hint = "with max_position_embeddings=sliding_window it is right for texts up to there"
            facts = {"sliding_window": self.sliding_window}
            raise NotSupported(explain("Llama", "attention to the last tokens only", hint, **facts))

    @property
    def width(self) -> int:
        """Of a head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def shared(self) -> int:
        """Heads of keys and values, each of which several of queries share."""
        return self.num_key_value_heads or self.num_attention_heads

    def rotary(self) -> Rotary:
        """Its positions, in the older and the newer way of writing them down."""
        given = self.rope_parameters or self.rope_scaling or {}
        theta = given.get("rope_theta") or self.rope_theta
        return Rotary(self.width, theta, given, self.max_position_embeddings)


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
        return self.o_proj(mixed.reshape((batch, length, -1)))


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

    def __init__(self, config: LlamaConfig | None = None) -> None:
        self.config = config = config or LlamaConfig()
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
            self.lm_head.weight = self.model.embed_tokens.weight
        self._writes()

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
