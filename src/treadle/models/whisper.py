"""Whisper: an encoder of sound and a decoder of text, by Hugging Face's names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treadle.base.errors import ShapeError, explain
from treadle.models.activations import activation
from treadle.models.audio import LogMel, pieces
from treadle.models.cache import Cache, Past
from treadle.models.generate import generate
from treadle.models.language import LanguageModel, require_positions, tie
from treadle.nn import Conv1d, Dropout, Embedding, LayerNorm, Linear, Module, init
from treadle.nn.functional import scaled_dot_product_attention
from treadle.tensor.creation import tensor, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class WhisperConfig:
    """Sizes and options under the original's names; the defaults are Whisper tiny."""

    vocab_size: int = 51865
    num_mel_bins: int = 80
    d_model: int = 384
    encoder_layers: int = 4
    encoder_attention_heads: int = 6
    encoder_ffn_dim: int = 1536
    decoder_layers: int = 4
    decoder_attention_heads: int = 6
    decoder_ffn_dim: int = 1536
    activation_function: str = "gelu"
    dropout: float = 0.0
    attention_dropout: float = 0.0
    init_std: float = 0.02
    max_source_positions: int = 1500
    max_target_positions: int = 448
    decoder_start_token_id: int = 50258
    eos_token_id: int | None = 50257
    forced_decoder_ids: Sequence[Sequence[int]] | None = None
    suppress_tokens: Sequence[int] | None = None
    begin_suppress_tokens: Sequence[int] | None = None
    model_type: str = "whisper"


class Attention(Module):
    """Heads; keys have no bias."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        self.heads, self.dropout = heads, dropout
        self.k_proj, self.v_proj = Linear(width, width, bias=False), Linear(width, width)
        self.q_proj, self.out_proj = Linear(width, width), Linear(width, width)

    def split(self, x: Tensor) -> Tensor:
        """(batch, heads, length, width of a head)."""
        batch, length, width = x.shape
        return x.reshape((batch, length, self.heads, width // self.heads)).transpose(1, 2)

    def pair(self, x: Tensor) -> Pair:
        """Keys and values of what is looked at."""
        return self.split(self.k_proj(x)), self.split(self.v_proj(x))

    def joined(self, mixed: Tensor) -> Tensor:
        """Back to (batch, length, width)."""
        batch, heads, length, width = mixed.shape
        return self.out_proj(mixed.transpose(1, 2).reshape((batch, length, heads * width)))

    def forward(self, x: Tensor, pair: Pair) -> Tensor:
        """What each place of x takes from all that the keys and values are of."""
        dropout = self.dropout if self.training else 0.0
        q = self.split(self.q_proj(x))
        return self.joined(scaled_dot_product_attention(q, *pair, dropout_p=dropout))

    def causal(self, x: Tensor, past: Past, layer: int) -> Tensor:
        """What each place takes from those before it."""
        dropout = self.dropout if self.training else 0.0
        q, (k, v) = self.split(self.q_proj(x)), self.pair(x)
        return self.joined(past.attend(layer, q, k, v, dropout=dropout))


class _Layer(Module):
    """What layers of both sides share: attention to itself, and a hidden layer."""

    def __init__(self, config: WhisperConfig, heads: int, inner: int) -> None:
        width = config.d_model
        self.self_attn = Attention(width, heads, config.attention_dropout)
        self.self_attn_layer_norm, self.final_layer_norm = LayerNorm(width), LayerNorm(width)
        self.fc1, self.fc2 = Linear(width, inner), Linear(inner, width)
        self.act, self.drop = activation(config.activation_function), Dropout(config.dropout)

    def hidden(self, x: Tensor) -> Tensor:
        """The residual stream after the hidden layer."""
        return x + self.drop(self.fc2(self.act(self.fc1(self.final_layer_norm(x)))))


class EncoderLayer(_Layer):
    """Attention to all of the sound, then a hidden layer."""

    def __init__(self, config: WhisperConfig) -> None:
        super().__init__(config, config.encoder_attention_heads, config.encoder_ffn_dim)

    def forward(self, x: Tensor) -> Tensor:
        """The residual stream after this layer."""
        seen = self.self_attn_layer_norm(x)
        return self.hidden(x + self.drop(self.self_attn(seen, self.self_attn.pair(seen))))


class DecoderLayer(_Layer):
    """Attention to the text so far, to the sound, then a hidden layer."""

    def __init__(self, config: WhisperConfig) -> None:
        heads = config.decoder_attention_heads
        super().__init__(config, heads, config.decoder_ffn_dim)
        self.encoder_attn = Attention(config.d_model, heads, config.attention_dropout)
        self.encoder_attn_layer_norm = LayerNorm(config.d_model)

    def forward(self, x: Tensor, past: Past, layer: int, sound: Pair) -> Tensor:
        """The residual stream after this layer."""
        own = self.self_attn.causal(self.self_attn_layer_norm(x), past, layer)
        x = x + self.drop(own)
        x = x + self.drop(self.encoder_attn(self.encoder_attn_layer_norm(x), sound))
        return self.hidden(x)


class Encoder(Module):
    """Bands of sound to (batch, max_source_positions, d_model)."""

    def __init__(self, config: WhisperConfig) -> None:
        width, length = config.d_model, config.max_source_positions
        self.conv1 = Conv1d(config.num_mel_bins, width, 3, padding=1)
        self.conv2 = Conv1d(width, width, 3, stride=2, padding=1)
        self.embed_positions = Embedding(length, width, _weight=sinusoids(length, width))
        self.embed_positions.weight.requires_grad_(False)
        self.layers = [EncoderLayer(config) for _ in range(config.encoder_layers)]
        self.layer_norm = LayerNorm(width)
        self.act, self.drop = activation("gelu"), Dropout(config.dropout)

    def forward(self, input_features: Tensor) -> Tensor:
        """Every two windows become one place."""
        x = self.act(self.conv2(self.act(self.conv1(input_features)))).transpose(1, 2)
        places = self.embed_positions.num_embeddings
        if x.shape[1] != places:
            hint = f"{2 * places} windows: `log_mel` of a piece"
            raise ShapeError(
                explain("Whisper", "a piece of another length", hint, places=x.shape[1])
            )
        x = self.drop(x + self.embed_positions.weight)
        for layer in self.layers:
            x = layer(x)
        return self.layer_norm(x)


class Decoder(Module):
    """Tokens and sound to (batch, length, d_model)."""

    def __init__(self, config: WhisperConfig) -> None:
        width = config.d_model
        self.embed_tokens = Embedding(config.vocab_size, width)
        self.embed_positions = Embedding(config.max_target_positions, width)
        self.layers = [DecoderLayer(config) for _ in range(config.decoder_layers)]
        self.layer_norm = LayerNorm(width)
        self.drop = Dropout(config.dropout)

    def pairs(self, sound: Tensor) -> list[Pair]:
        """Keys and values that every layer makes of the encoder's output."""
        return [layer.encoder_attn.pair(sound) for layer in self.layers]

    def forward(self, input_ids: Tensor, past: Past, sound: Sequence[Pair]) -> Tensor:
        """(batch, length, d_model)."""
        require_positions("Whisper", input_ids, self.embed_positions.num_embeddings)
        x = self.embed_tokens(input_ids) + self.embed_positions(past.positions(input_ids))
        x = self.drop(x)
        for number, layer in enumerate(self.layers):
            x = layer(x, past, number, sound[number])
        return self.layer_norm(x)


class SoundCache(Cache):
    """Also the keys and values of the sound, which stay the same for a text."""

    def __init__(self, config: WhisperConfig, batch: int, capacity: int, **place: Any) -> None:
        heads = config.decoder_attention_heads
        width = config.d_model // heads
        super().__init__(config.decoder_layers, batch, heads, capacity, width, **place)
        shape = (batch, heads, config.max_source_positions, width)
        self.sound = [
            (zeros(*shape, **place).realize(), zeros(*shape, **place).realize())
            for _ in range(config.decoder_layers)
        ]


class Whisper(LanguageModel):
    """Sound to text; weights are those of Hugging Face's WhisperForConditionalGeneration.

    `forward` takes the bands of `log_mel` and tokens; `transcribe` takes samples at 16 kHz.
    """

    config_class = WhisperConfig

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        config = self.config
        self.vocabulary, self.max_length = config.vocab_size, config.max_target_positions
        self.end_of_text = config.eos_token_id
        self.model: dict[str, Any] = {"encoder": Encoder(config), "decoder": Decoder(config)}
        self.proj_out = Linear(config.d_model, config.vocab_size, bias=False)
        self.log_mel = LogMel(config.num_mel_bins)
        for name, own in self.named_parameters():
            if own.ndim >= 2 and own.requires_grad:
                init.normal_(own, 0.0, config.init_std)
            elif name.endswith("bias"):
                init.zeros_(own)
        tie(self.proj_out, self.decoder.embed_tokens)
        self._writes()

    @property
    def encoder(self) -> Encoder:
        """The side that hears."""
        found: Encoder = self.model["encoder"]
        return found

    @property
    def decoder(self) -> Decoder:
        """The side that writes."""
        found: Decoder = self.model["decoder"]
        return found

    @classmethod
    def translated(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        """Files of the model without its output layer lack `model.`."""
        if any(name.startswith("model.") for name in state):
            return dict(state)
        return {f"model.{name}": value for name, value in state.items()}

    def forward(  # type: ignore[override]  # sound comes first
        self, input_features: Tensor, decoder_input_ids: Tensor
    ) -> Tensor:
        """Logits (batch, length, tokens) of the token after each; input_features: bands."""
        sound = self.decoder.pairs(self.encoder(input_features))
        return self.logits(self.decoder(decoder_input_ids, Past(), sound))

    def new_cache(self, batch: int, capacity: int) -> SoundCache:
        """Keys and values of text and sound."""
        weight = self.proj_out.weight
        place = {"dtype": weight.dtype, "device": weight.device}
        return SoundCache(self.config, batch, capacity, **place)

    def remember(self, input_features: Tensor, cache: SoundCache) -> None:
        """Hear: what `generate` does first with its `memory`."""
        pairs = self.decoder.pairs(self.encoder(input_features))
        for kept, made in zip(cache.sound, pairs, strict=True):
            for into, value in zip(kept, made, strict=True):
                into.assign(value)

    def features(self, input_ids: Tensor, past: Any = None) -> Tensor:
        """(batch, length, d_model) of tokens, for the sound that the cache remembers."""
        return self.decoder(input_ids, past, past.cache.sound)

    def logits(self, features: Tensor) -> Tensor:
        """How likely each token comes next."""
        return self.proj_out(features)

    def transcribe(
        self, audio: Any, prompt: Sequence[int] | None = None, max_new_tokens: int = 224,
        tokenizer: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        """The likeliest text of samples at 16 kHz, 30 s by 30 s: tokens, or text by a tokenizer.

        - **prompt**: the first tokens: start, language, task; the configuration's if left out
        - **options**: of `generate`
        """
        config = self.config
        forced = sorted(config.forced_decoder_ids or ())
        given = [config.decoder_start_token_id, *(token for _, token in forced)]
        quiet = (config.suppress_tokens or (), config.begin_suppress_tokens or ())
        options = {"temperature": 0.0, "suppress": quiet[0], "suppress_first": quiet[1]} | options
        found: list[int] = []
        for piece in pieces(audio):
            with no_grad():
                bands = self.log_mel(tensor(piece[None], device=self.log_mel.basis.device))
            found += generate(self, list(prompt or given), max_new_tokens, memory=bands, **options)
        return found if tokenizer is None else tokenizer.decode(found)


def sinusoids(length: int, width: int) -> Tensor:
    """Fixed positions: sines, then cosines, of angles that grow slower and slower."""
    half = width // 2
    steps = np.exp(-math.log(10000) / max(half - 1, 1) * np.arange(half))
    angles = np.outer(np.arange(length), steps)
    return tensor(np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32))
