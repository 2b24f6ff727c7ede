"""Attention, an LSTM, and a GPT-2 that continues a text: sizes, parameters, float64 meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.models import (
    GPT2,
    Parameters,
    cross_entropy,
    gpt_blocks,
    gpt_output,
    gpt_parameters,
    in_float64,
    linear,
    linear_parameters,
    normal,
    softmax,
)

# ---- attention

ATTENTION = (1, 8, 2048, 64)  # batch, heads, length, size of a head


def attention_flops() -> float:
    """Of the forward pass: two products, half of each below the diagonal."""
    batch, heads, length, size = ATTENTION
    return 2.0 * batch * heads * length**2 * size


def _weights(q: Any, k: Any) -> Any:
    mask = np.tril(np.ones((len(q), len(k)), bool))
    return softmax(np.where(mask, q @ k.T / math.sqrt(q.shape[-1]), -np.inf))


def causal_attention(q: Any, k: Any, v: Any) -> Any:
    """Head by head: the scores of all would not fit well."""
    out = np.empty_like(q)
    for at in np.ndindex(q.shape[:2]):
        out[at] = _weights(q[at], k[at]) @ v[at]
    return out


def causal_attention_gradients(q: Any, k: Any, v: Any, dy: Any) -> tuple[Any, ...]:
    """The output, and the gradients of q, k and v."""
    out, dq, dk, dv = (np.empty_like(q) for _ in range(4))
    scale = 1 / math.sqrt(q.shape[-1])
    for at in np.ndindex(q.shape[:2]):
        weights = _weights(q[at], k[at])
        out[at] = weights @ v[at]
        dv[at] = weights.T @ dy[at]
        mixed = dy[at] @ v[at].T
        scores = weights * (mixed - (mixed * weights).sum(-1, keepdims=True)) * scale
        dq[at], dk[at] = scores @ k[at], scores.T @ q[at]
    return out, dq, dk, dv


# ---- LSTM

LSTM_LAYERS, LSTM_WIDTH, LSTM_LENGTH, LSTM_BATCH = 2, 256, 64, 32


def lstm_parameters(generator: Any) -> Parameters:
    """Two layers and a linear one; gates in PyTorch's order: in, forget, cell, out."""
    parameters: Parameters = {}
    width = LSTM_WIDTH
    scale = np.float32(1 / math.sqrt(width))
    shapes = {"weight_ih": (4 * width, width), "weight_hh": (4 * width, width)}
    shapes |= {"bias_ih": (4 * width,), "bias_hh": (4 * width,)}
    for layer in range(LSTM_LAYERS):
        for name, shape in shapes.items():
            drawn = generator.random(shape, dtype=np.float32) * 2 - 1
            parameters[f"{name}_l{layer}"] = drawn * scale
    return parameters | linear_parameters(generator, "fc", width, 10)


def lstm_flops() -> float:
    """One step: forward once, backward twice."""
    return 6.0 * LSTM_BATCH * LSTM_LENGTH * LSTM_LAYERS * 8 * LSTM_WIDTH**2


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm_loss(parameters: Parameters, x: Any, labels: Any) -> Any:
    """The loss before the first step."""
    parameters, x = in_float64(parameters), x.astype(np.float64)
    for layer in range(LSTM_LAYERS):
        given = x @ parameters[f"weight_ih_l{layer}"].T
        given = given + parameters[f"bias_ih_l{layer}"] + parameters[f"bias_hh_l{layer}"]
        h = c = np.zeros((len(x), LSTM_WIDTH))
        seen = []
        for t in range(x.shape[1]):
            gates = given[:, t] + h @ parameters[f"weight_hh_l{layer}"].T
            i, f, g, o = np.split(gates, 4, -1)
            c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
            seen.append(h)
        x = np.stack(seen, 1)
    return cross_entropy(linear(parameters, "fc", x[:, -1]), labels)


# ---- GPT-2 small: reading a text, and writing one more token

PREFILL = 128
PAST, CAPACITY = 128, 256  # tokens in the cache, and how many it can hold
HEAD = GPT2.width // GPT2.heads
MATRICES = 12 * GPT2.layers * GPT2.width**2 + GPT2.vocabulary * GPT2.width  # elements


def prefill_flops() -> float:
    """The blocks for every position, the output layer for the last."""
    blocks = 24.0 * PREFILL * GPT2.layers * GPT2.width**2
    attention = 2.0 * GPT2.layers * PREFILL**2 * GPT2.width
    return blocks + attention + 2.0 * GPT2.width * GPT2.vocabulary


def prefill_inputs(generator: Any) -> tuple[Any, ...]:
    """Parameters and a text."""
    parameters = gpt_parameters(generator, GPT2)
    return parameters, generator.integers(0, GPT2.vocabulary, (1, PREFILL))


def prefill(parameters: Parameters, tokens: Any) -> Any:
    """Logits of the last position."""
    parameters = in_float64(parameters)
    x = parameters["wte"][tokens] + parameters["wpe"][: tokens.shape[1]]
    return gpt_output(parameters, gpt_blocks(parameters, x, GPT2)[:, -1:])


def decode_inputs(generator: Any) -> tuple[Any, ...]:
    """Parameters, a token, and the keys and values of those before it, layer by layer."""
    parameters = gpt_parameters(generator, GPT2)
    token = generator.integers(0, GPT2.vocabulary, (1, 1))
    cache = (GPT2.layers, 1, GPT2.heads, PAST, HEAD)
    return parameters, token, normal(generator, *cache), normal(generator, *cache)


def is_matrix(name: str) -> bool:
    """Is it one of the weights that a product reads: those are worth storing small?"""
    return name == "wte" or (name.endswith(".weight") and ".ln" not in name and name[:3] != "lnf")


def narrow_inputs(generator: Any) -> tuple[Any, ...]:
    """The same, with matrices whose elements bfloat16 holds exactly."""
    parameters, *rest = decode_inputs(generator)
    for name in filter(is_matrix, parameters):
        bits = parameters[name].view(np.uint32)
        parameters[name] = (bits + 0x8000 & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return parameters, *rest


def quantised_inputs(generator: Any) -> tuple[Any, ...]:
    """The same, with matrices of int8 and a scale for each output channel (name.scale)."""
    parameters, *rest = decode_inputs(generator)
    for name in list(filter(is_matrix, parameters)):
        scale = np.abs(parameters[name]).max(-1, keepdims=True) / np.float32(127)
        parameters[f"{name}.scale"] = scale[:, 0]
        parameters[name] = np.round(parameters[name] / scale).astype(np.int8)
    return parameters, *rest


def decode(parameters: Parameters, token: Any, keys: Any, values: Any) -> Any:
    """Logits of one token after those in the cache."""
    scales = {name: value for name, value in parameters.items() if name.endswith(".scale")}
    parameters = in_float64(parameters)
    for name, scale in scales.items():
        matrix = name.removesuffix(".scale")
        parameters[matrix] = parameters[matrix] * scale.astype(np.float64)[:, None]

    def attend(layer: int, q: Any, k: Any, v: Any) -> Any:
        k, v = (np.concatenate(pair, 2) for pair in ((keys[layer], k), (values[layer], v)))
        return softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(HEAD)) @ v

    x = parameters["wte"][token] + parameters["wpe"][PAST : PAST + 1]
    return gpt_output(parameters, gpt_blocks(parameters, x, GPT2, attend))
