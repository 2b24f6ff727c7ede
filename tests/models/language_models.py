"""Small language models that several tests go through, with weights large enough to matter."""

from __future__ import annotations

import numpy as np

import treadle as td
from treadle.models import (
    GPT2,
    CharRNN,
    CharRNNConfig,
    GPT2Config,
    Llama,
    LlamaConfig,
    LSTMConfig,
    LSTMLanguageModel,
)

TOKENS, LONGEST = 23, 64


def llama(**options):
    sizes = (TOKENS, 16, 24, 2, 4, 2)
    return Llama(LlamaConfig(*sizes, max_position_embeddings=LONGEST, **options))


LLAMA3 = {
    "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
ATTENDING = {
    "gpt2": lambda: GPT2(GPT2Config(TOKENS, LONGEST, 16, 2, 4, eos_token_id=None)),
    "llama": llama,
    "llama3": lambda: llama(rope_scaling=LLAMA3, rope_theta=500.0, tie_word_embeddings=True),
    "linear": lambda: llama(rope_scaling={"type": "linear", "factor": 2.0}),
    "yarn": lambda: llama(
        rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    ),
    "qwen2": lambda: llama(model_type="qwen2"),
    "qwen3": lambda: llama(model_type="qwen3", head_dim=8),
    "smollm3": lambda: llama(model_type="smollm3", no_rope_layers=(1, 0)),
}
RECURRENT = {
    "lstm": lambda: LSTMLanguageModel(LSTMConfig(TOKENS, 8, 8, 2)),
    "char-rnn": lambda: CharRNN(CharRNNConfig(TOKENS, 8, 2, "rnn")),
    "char-gru": lambda: CharRNN(CharRNNConfig(TOKENS, 8, 1, "gru")),
}
ALL = ATTENDING | RECURRENT


def made(name):
    """A model whose weights are drawn from a wide distribution: texts are not all one token."""
    model, rng = ALL[name](), np.random.default_rng(0)
    drawn = {}
    for key, own in model.state_dict(keep_vars=True).items():
        is_scale = own.ndim == 1 and key.endswith("weight")
        values = rng.standard_normal(own.shape) * (0.5 if own.ndim > 1 else 0.2) + is_scale
        drawn.setdefault(id(own), values.astype(np.float32))
    own = model.state_dict(keep_vars=True)
    model.load_state_dict({key: drawn[id(x)] for key, x in own.items()})
    td.realize(*model.parameters())
    return model.eval()


def text(length, seed=0):
    return np.random.default_rng(seed).integers(0, TOKENS, length).tolist()


def logits(model, tokens):
    """Of every position, without a cache."""
    found = model(td.tensor([tokens]))
    return (found[0] if isinstance(found, tuple) else found).numpy()[0]


def likeliest(model, tokens, count):
    """The likeliest tokens one after the other, each from all before it."""
    found = list(tokens)
    for _ in range(count):
        found.append(int(logits(model, found)[-1].argmax()))
    return found[len(tokens) :]
