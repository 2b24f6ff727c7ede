"""JAX with every workload under jax.jit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.framework import LEARNING_RATE, Framework, Maker, Run
from benchmarks.models import GPT, GptSizes
from benchmarks.workloads import PLAIN_PRODUCTS, chain6, chain10, stencil30


def _forward(function: Callable[..., Any]) -> Maker:
    def make(*arrays: Any) -> Run:
        inputs, compiled = [jnp.asarray(array) for array in arrays], jax.jit(function)
        return lambda: jax.block_until_ready(compiled(*inputs))

    return make


def _with_gradients(function: Callable[..., Any], count: int) -> Maker:
    return _forward(jax.value_and_grad(function, argnums=tuple(range(count))))


def _with_cotangent(function: Callable[..., Any]) -> Maker:
    def both(*inputs: Any) -> Any:
        output, pull_back = jax.vjp(function, *inputs[:-1])
        return (output, *pull_back(inputs[-1]))

    return _forward(both)


def _norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    scale = lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)
    return centred * scale * weight + bias


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()


def _linear(parameters: Any, name: str, x: Any) -> Any:
    return x @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]


def _named_norm(parameters: Any, name: str, x: Any) -> Any:
    return _norm(x, parameters[f"{name}.weight"], parameters[f"{name}.bias"])


def _mlp(parameters: Any, x: Any) -> Any:
    hidden = jax.nn.relu(_linear(parameters, "fc1", x))
    hidden = jax.nn.relu(_linear(parameters, "fc2", hidden))
    return _linear(parameters, "fc3", hidden)


def _gpt(parameters: Any, tokens: Any, sizes: GptSizes = GPT) -> Any:
    batch, length = tokens.shape
    x = parameters["wte"][tokens] + parameters["wpe"][:length]
    heads = (batch, length, sizes.heads, sizes.width // sizes.heads)
    for layer in range(sizes.layers):
        joined = _linear(parameters, f"h{layer}.qkv", _named_norm(parameters, f"h{layer}.ln1", x))
        q, k, v = (part.reshape(heads) for part in jnp.split(joined, 3, -1))
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + _linear(parameters, f"h{layer}.proj", mixed.reshape(x.shape))
        hidden = _linear(parameters, f"h{layer}.fc", _named_norm(parameters, f"h{layer}.ln2", x))
        hidden = jax.nn.gelu(hidden, approximate=True)
        x = x + _linear(parameters, f"h{layer}.fc2", hidden)
    return _named_norm(parameters, "lnf", x) @ parameters["wte"].T


def _adam(parameters: Any, gradients: Any, state: Any) -> Any:
    first, second, count = state
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    scale, square_scale = 1 - 0.9**count, 1 - 0.999**count

    def update(p: Any, m: Any, v: Any) -> Any:
        return p - LEARNING_RATE * (m / scale) / (jnp.sqrt(v / square_scale) + 1e-8)

    return jax.tree.map(update, parameters, first, second), (first, second, count)


def _training(forward: Callable[..., Any]) -> Maker:
    def loss_of(parameters: Any, x: Any, labels: Any) -> Any:
        return _cross_entropy(forward(parameters, x), labels)

    def step(parameters: Any, state: Any, x: Any, labels: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, labels)
        return loss, *_adam(parameters, gradients, state)

    def make(arrays: dict[str, Any], x: Any, labels: Any) -> Run:
        parameters = {name: jnp.asarray(value) for name, value in arrays.items()}
        first, second = (jax.tree.map(jnp.zeros_like, parameters) for _ in range(2))
        batch = jnp.asarray(x), jnp.asarray(labels)
        compiled = jax.jit(step, donate_argnums=(0, 1))
        state = (first, second, jnp.zeros((), jnp.float32))

        def run() -> Any:
            nonlocal parameters, state
            loss, parameters, state = jax.block_until_ready(compiled(parameters, state, *batch))
            return loss

        return run

    return make


def _rows() -> dict[str, Maker]:
    forward = {
        "A.add_8x8": lambda a, b: a + b,
        "A.chain10_8x8": lambda a, b: chain10(jnp, a, b),
        "B.chain6_4M": lambda a, b, c: chain6(jnp, a, b, c),
        "B.gelu_tanh_4M": lambda x: jax.nn.gelu(x, approximate=True),
        "B.gelu_erf_4M": lambda x: jax.nn.gelu(x, approximate=False),
        "B.softmax_4096x1024": jax.nn.softmax,
        "B.layernorm_4096x1024": _norm,
        "B.sum_axis0_4096sq": lambda x: x.sum(0),
        "B.sum_axis1_4096sq": lambda x: x.sum(1),
        "B.transpose_4096sq": lambda x: x.T,
        "B.cumsum_4096x1024": lambda x: jnp.cumsum(x, -1),
        "B.stencil30_512sq": lambda x: stencil30(jnp, x),
        "C.gemm_bias_gelu": lambda x, w, b: jax.nn.gelu(x @ w + b, approximate=True),
        **dict.fromkeys(PLAIN_PRODUCTS, lambda a, b: a @ b),
    }
    return {
        **{name: _forward(function) for name, function in forward.items()},
        "A.fwdbwd_8x8": _with_gradients(lambda a, b, c: jnp.tanh(a * b + c).sum(), 3),
        "B.layernorm_fwdbwd": _with_cotangent(_norm),
        "B.xent_fwdbwd_512x32000": _with_gradients(_cross_entropy, 1),
        "E.mlp_b128": _training(_mlp),
        "E.gpt_4x256_b8_t128": _training(_gpt),
    }


def load(column: str, threads: int) -> Framework:
    """JAX as a column; it takes as many threads as the process has processors."""
    del column, threads
    version = f"jax {jax.__version__}"
    return Framework(version, lambda o: [np.asarray(x) for x in jax.tree.leaves(o)], _rows())
