"""The networks of rows D to G in JAX: functions of a dict of parameters."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.models import GPT, GPT2, GptSizes
from benchmarks.sequences import CAPACITY, LSTM_LAYERS, LSTM_WIDTH
from benchmarks.vision import resnet_blocks


def norm(x: Any, weight: Any, bias: Any) -> Any:
    """A layer norm."""
    centred = x - x.mean(-1, keepdims=True)
    scale = lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)
    return centred * scale * weight + bias


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over all positions."""
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()


def linear(parameters: Any, name: str, x: Any) -> Any:
    """A layer with weights of (outputs, inputs)."""
    return x @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]


def _named_norm(parameters: Any, name: str, x: Any) -> Any:
    return norm(x, parameters[f"{name}.weight"], parameters[f"{name}.bias"])


def mlp(parameters: Any, x: Any) -> Any:
    """Three linear layers."""
    hidden = jax.nn.relu(linear(parameters, "fc1", x))
    hidden = jax.nn.relu(linear(parameters, "fc2", hidden))
    return linear(parameters, "fc3", hidden)


# ---- convolutions


def convolve(x: Any, weight: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Any:
    """Channels first, as everybody else has them."""
    return lax.conv_general_dilated(
        x,
        weight,
        (stride, stride),
        [(padding, padding)] * 2,
        dimension_numbers=("NCHW", "OIHW", "NCHW"),
        feature_group_count=groups,
    )


def _pool(x: Any, size: int, padding: int) -> Any:
    margins = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, 2, 2), margins)


def cnn(parameters: Any, x: Any) -> Any:
    """Two convolutions, each pooled, and two linear layers."""
    for name in ("conv1", "conv2"):
        x = convolve(x, parameters[f"{name}.weight"], 1, 1)
        x = _pool(jax.nn.relu(x + parameters[f"{name}.bias"][:, None, None]), 2, 0)
    hidden = jax.nn.relu(linear(parameters, "fc1", x.reshape(len(x), -1)))
    return linear(parameters, "fc2", hidden)


def resnet(parameters: Any, kept: Any, x: Any, trains: bool) -> tuple[Any, Any]:
    """ResNet-18; logits, and the statistics that batch norms keep."""
    kept = dict(kept)

    def batch_norm(name: str, x: Any) -> Any:
        means = [f"{name}.running_mean", f"{name}.running_var"]
        if trains:
            count = x.size // x.shape[1]
            mean = x.mean((0, 2, 3))
            variance = jnp.square(x - mean[:, None, None]).mean((0, 2, 3))
            seen = (mean, variance * (count / (count - 1)))
            for key, new in zip(means, seen, strict=True):
                kept[key] = 0.9 * kept[key] + 0.1 * new
        else:
            mean, variance = (kept[key] for key in means)
        scale = parameters[f"{name}.weight"] * lax.rsqrt(variance + 1e-5)
        shift = parameters[f"{name}.bias"] - mean * scale
        return x * scale[:, None, None] + shift[:, None, None]

    def layer(name: str, norm_name: str, x: Any, stride: int, padding: int) -> Any:
        y = convolve(x, parameters[f"{name}.weight"], stride, padding)
        return batch_norm(norm_name, y)

    x = _pool(jax.nn.relu(layer("conv1", "bn1", x, 2, 3)), 3, 1)
    for name, _, _, stride in resnet_blocks():
        y = jax.nn.relu(layer(f"{name}.conv1", f"{name}.bn1", x, stride, 1))
        y = layer(f"{name}.conv2", f"{name}.bn2", y, 1, 1)
        if f"{name}.down.weight" in parameters:
            x = layer(f"{name}.down", f"{name}.downbn", x, stride, 0)
        x = jax.nn.relu(y + x)
    return linear(parameters, "fc", x.mean((2, 3))), kept


# ---- sequences


def lstm(parameters: Any, x: Any) -> Any:
    """Layers of cells by a scan over time, and a linear layer on the last step."""
    x = x.transpose(1, 0, 2)
    for layer in range(LSTM_LAYERS):
        given = x @ parameters[f"weight_ih_l{layer}"].T
        given = given + parameters[f"bias_ih_l{layer}"] + parameters[f"bias_hh_l{layer}"]
        recurrent = parameters[f"weight_hh_l{layer}"].T

        def cell(state: Any, gates: Any, recurrent: Any = recurrent) -> Any:
            h, c = state
            i, f, g, o = jnp.split(gates + h @ recurrent, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((x.shape[1], LSTM_WIDTH))
        _, x = lax.scan(cell, (zeros, zeros), given)
    return linear(parameters, "fc", x[-1])


def gpt(parameters: Any, tokens: Any, sizes: GptSizes = GPT, only_last: bool = False) -> Any:
    """A GPT whose output layer is its token embedding."""
    batch, length = tokens.shape
    x = parameters["wte"][tokens] + parameters["wpe"][:length]
    heads = (batch, length, sizes.heads, sizes.width // sizes.heads)
    for layer in range(sizes.layers):
        joined = linear(parameters, f"h{layer}.qkv", _named_norm(parameters, f"h{layer}.ln1", x))
        q, k, v = (part.reshape(heads) for part in jnp.split(joined, 3, -1))
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(parameters, f"h{layer}.proj", mixed.reshape(x.shape))
        hidden = linear(parameters, f"h{layer}.fc", _named_norm(parameters, f"h{layer}.ln2", x))
        hidden = jax.nn.gelu(hidden, approximate=True)
        x = x + linear(parameters, f"h{layer}.fc2", hidden)
    x = x[:, -1:] if only_last else x
    return _named_norm(parameters, "lnf", x) @ parameters["wte"].T


def _product(parameters: Any, name: str, x: Any) -> Any:
    """x times a matrix, widened where it is read."""
    y = x @ parameters[name].astype(x.dtype).T
    return y * parameters[f"{name}.scale"] if f"{name}.scale" in parameters else y


def decode(parameters: Any, token: Any, at: Any, keys: Any, values: Any) -> tuple[Any, Any, Any]:
    """GPT-2: logits of one more token, and the cache with it."""

    def layer_of(name: str, x: Any) -> Any:
        return _product(parameters, f"{name}.weight", x) + parameters[f"{name}.bias"]

    x = parameters["wte"][token].astype(jnp.float32)
    if "wte.scale" in parameters:
        x = x * parameters["wte.scale"][token][..., None]
    x = x + lax.dynamic_slice_in_dim(parameters["wpe"], at, 1)
    mask = (jnp.arange(CAPACITY) <= at)[None, None, None, :]
    new_keys, new_values = [], []
    for layer in range(GPT2.layers):
        joined = layer_of(f"h{layer}.qkv", _named_norm(parameters, f"h{layer}.ln1", x))
        q, k, v = (part.reshape(1, 1, GPT2.heads, -1) for part in jnp.split(joined, 3, -1))
        new_keys.append(lax.dynamic_update_slice_in_dim(keys[layer], k, at, 1))
        new_values.append(lax.dynamic_update_slice_in_dim(values[layer], v, at, 1))
        mixed = jax.nn.dot_product_attention(q, new_keys[-1], new_values[-1], mask=mask)
        x = x + layer_of(f"h{layer}.proj", mixed.reshape(1, 1, -1))
        hidden = layer_of(f"h{layer}.fc", _named_norm(parameters, f"h{layer}.ln2", x))
        x = x + layer_of(f"h{layer}.fc2", jax.nn.gelu(hidden, approximate=True))
    return _product(parameters, "wte", _named_norm(parameters, "lnf", x)), new_keys, new_values
