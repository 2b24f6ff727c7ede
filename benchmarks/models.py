"""Perceptron and GPT: their sizes, first parameters in PyTorch's layouts, and a float64 meaning."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Parameters = dict[str, Any]

MLP_SIZES = ((784, 512), (512, 512), (512, 10))


@dataclass(frozen=True)
class GptSizes:
    """The shape of a GPT and of its batch."""

    layers: int = 4
    width: int = 256
    heads: int = 4
    vocabulary: int = 4096
    length: int = 128
    batch: int = 8


GPT = GptSizes()
GPT2 = GptSizes(layers=12, width=768, heads=12, vocabulary=50257, length=1024, batch=1)


def normal(generator: Any, *shape: int) -> Any:
    """Standard normal float32 numbers."""
    return generator.standard_normal(shape, dtype=np.float32)


def linear_parameters(generator: Any, name: str, before: int, after: int) -> Parameters:
    """Weights that keep the size of what goes through them, and small biases."""
    scale = np.float32(1 / math.sqrt(before))
    weight = normal(generator, after, before) * scale
    return {f"{name}.weight": weight, f"{name}.bias": normal(generator, after) * np.float32(0.01)}


def mlp_parameters(generator: Any) -> Parameters:
    """Three linear layers."""
    parameters: Parameters = {}
    for i, sizes in enumerate(MLP_SIZES, 1):
        parameters |= linear_parameters(generator, f"fc{i}", *sizes)
    return parameters


def gpt_parameters(generator: Any, sizes: GptSizes = GPT) -> Parameters:
    """Embeddings, blocks and the last norm; the output layer shares the token embedding."""
    width = sizes.width
    parameters: Parameters = {
        "wte": normal(generator, sizes.vocabulary, width) * np.float32(0.02),
        "wpe": normal(generator, sizes.length, width) * np.float32(0.02),
    }

    def weights(name: str, after: int, before: int) -> None:
        parameters[f"{name}.weight"] = normal(generator, after, before) * np.float32(0.02)
        parameters[f"{name}.bias"] = normal(generator, after) * np.float32(0.01)

    def norm(name: str) -> None:
        parameters[f"{name}.weight"] = 1 + normal(generator, width) * np.float32(0.01)
        parameters[f"{name}.bias"] = normal(generator, width) * np.float32(0.01)

    for layer in range(sizes.layers):
        norm(f"h{layer}.ln1")
        weights(f"h{layer}.qkv", 3 * width, width)
        weights(f"h{layer}.proj", width, width)
        norm(f"h{layer}.ln2")
        weights(f"h{layer}.fc", 4 * width, width)
        weights(f"h{layer}.fc2", width, 4 * width)
    norm("lnf")
    return parameters


def mlp_flops(batch: int = 128) -> float:
    """One step: forward once, backward twice."""
    return 6.0 * batch * sum(before * after for before, after in MLP_SIZES)


def gpt_flops(sizes: GptSizes = GPT) -> float:
    """One step: the linear layers, the output layer and attention in full."""
    tokens = sizes.batch * sizes.length
    weights = 12 * sizes.layers * sizes.width**2 + sizes.vocabulary * sizes.width
    attention = 12 * sizes.layers * tokens * sizes.length * sizes.width
    return 6.0 * tokens * weights + attention


def softmax(x: Any) -> Any:
    """Over the last axis."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """Over the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def gelu_tanh(x: Any) -> Any:
    """Gelu by its tanh approximation."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over all positions."""
    top = logits.max(-1, keepdims=True)
    total = np.log(np.exp(logits - top).sum(-1)) + top[..., 0]
    return (total - np.take_along_axis(logits, labels[..., None], -1)[..., 0]).mean()


def in_float64(parameters: Parameters) -> Parameters:
    """The same numbers, wider; integers stay."""
    return {
        name: value.astype(np.float64) if value.dtype.kind == "f" else value
        for name, value in parameters.items()
    }


def linear(parameters: Parameters, name: str, x: Any) -> Any:
    """A layer with weights of (outputs, inputs)."""
    return x @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]


def _norm(parameters: Parameters, name: str, x: Any) -> Any:
    return layer_norm(x, parameters[f"{name}.weight"], parameters[f"{name}.bias"])


def mlp_loss(parameters: Parameters, x: Any, labels: Any) -> Any:
    """The loss before the first step."""
    parameters, x = in_float64(parameters), x.astype(np.float64)
    hidden = np.maximum(linear(parameters, "fc1", x), 0)
    hidden = np.maximum(linear(parameters, "fc2", hidden), 0)
    return cross_entropy(linear(parameters, "fc3", hidden), labels)


Attend = Callable[[int, Any, Any, Any], Any]  # layer and q, k, v of (batch, heads, length, size)


def _causal(layer: int, q: Any, k: Any, v: Any) -> Any:
    del layer
    mask = np.tril(np.ones((q.shape[2], k.shape[2]), bool))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    return softmax(np.where(mask, scores, -np.inf)) @ v


def gpt_blocks(parameters: Parameters, x: Any, sizes: GptSizes, attend: Attend = _causal) -> Any:
    """The residual stream after all blocks."""
    batch, length, width = x.shape

    def split_heads(part: Any) -> Any:
        return part.reshape(batch, length, sizes.heads, -1).transpose(0, 2, 1, 3)

    for layer in range(sizes.layers):
        joined = linear(parameters, f"h{layer}.qkv", _norm(parameters, f"h{layer}.ln1", x))
        q, k, v = (split_heads(part) for part in np.split(joined, 3, -1))
        mixed = attend(layer, q, k, v).transpose(0, 2, 1, 3).reshape(batch, length, width)
        x = x + linear(parameters, f"h{layer}.proj", mixed)
        hidden = linear(parameters, f"h{layer}.fc", _norm(parameters, f"h{layer}.ln2", x))
        x = x + linear(parameters, f"h{layer}.fc2", gelu_tanh(hidden))
    return x


def gpt_output(parameters: Parameters, x: Any) -> Any:
    """Logits of a residual stream."""
    return _norm(parameters, "lnf", x) @ parameters["wte"].T


def gpt_loss(parameters: Parameters, tokens: Any, labels: Any, sizes: GptSizes = GPT) -> Any:
    """The loss before the first step."""
    parameters = in_float64(parameters)
    x = parameters["wte"][tokens] + parameters["wpe"][: tokens.shape[1]]
    return cross_entropy(gpt_output(parameters, gpt_blocks(parameters, x, sizes)), labels)
