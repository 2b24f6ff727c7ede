"""Sizes and options of decoders of Llama's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treadle.base.errors import NotSupported, explain
from treadle.models.rotary import Rotary

KINDS = ("llama", "mistral", "qwen2", "qwen3", "smollm3")


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
