"""JAX with every workload under jax.jit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.framework import LEARNING_RATE, Framework, Maker, Run
from benchmarks.matrices import in_library
from benchmarks.models import GPT2
from benchmarks.networks import DECODE
from benchmarks.peers import jax_models
from benchmarks.sequences import CAPACITY, PAST, is_matrix
from benchmarks.vision import CONVOLUTIONS, ConvSizes
from benchmarks.workloads import PLAIN_PRODUCTS, chain6, chain10, sample_loss, stencil30


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


def _adam(parameters: Any, gradients: Any, state: Any) -> Any:
    first, second, count = state
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    scale, square_scale = 1 - 0.9**count, 1 - 0.999**count

    def update(p: Any, m: Any, v: Any) -> Any:
        return p - LEARNING_RATE * (m / scale) / (jnp.sqrt(v / square_scale) + 1e-8)

    return jax.tree.map(update, parameters, first, second), (first, second, count)


def _convolution(sizes: ConvSizes) -> Callable[..., Any]:
    return lambda x, weight: jax_models.convolve(x, weight, 1, sizes.padding, sizes.groups)


def _attention(q: Any, k: Any, v: Any) -> Any:
    """Its own has heads after the length."""
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    return jax.nn.dot_product_attention(q, k, v, is_causal=True).swapaxes(1, 2)


def _without_state(forward: Callable[..., Any]) -> Callable[..., Any]:
    return lambda parameters, kept, x: (forward(parameters, x), kept)


def _training(forward: Callable[..., Any]) -> Maker:
    """forward: parameters, state that is kept and x to logits and that state."""

    def loss_of(parameters: Any, kept: Any, x: Any, labels: Any) -> Any:
        logits, kept = forward(parameters, kept, x)
        return jax_models.cross_entropy(logits, labels), kept

    def step(parameters: Any, state: Any, kept: Any, x: Any, labels: Any) -> Any:
        differentiated = jax.value_and_grad(loss_of, has_aux=True)
        (loss, kept), gradients = differentiated(parameters, kept, x, labels)
        return loss, *_adam(parameters, gradients, state), kept

    def make(arrays: dict[str, Any], x: Any, labels: Any) -> Run:
        parameters = {name: jnp.asarray(value) for name, value in arrays.items()}
        kept = {name: parameters.pop(name) for name in arrays if "running" in name}
        first, second = (jax.tree.map(jnp.zeros_like, parameters) for _ in range(2))
        batch = jnp.asarray(x), jnp.asarray(labels)
        compiled = jax.jit(step, donate_argnums=(0, 1, 2))
        state = (first, second, jnp.zeros((), jnp.float32))

        def run() -> Any:
            nonlocal parameters, state, kept
            found = jax.block_until_ready(compiled(parameters, state, kept, *batch))
            loss, parameters, state, kept = found
            return loss

        return run

    return make


def _inference(function: Callable[..., Any]) -> Maker:
    def make(arrays: dict[str, Any], x: Any) -> Run:
        parameters = {name: jnp.asarray(value) for name, value in arrays.items()}
        given, compiled = jnp.asarray(x), jax.jit(function)
        return lambda: jax.block_until_ready(compiled(parameters, given))

    return make


def _decoding(narrow: Any = jnp.float32) -> Maker:
    def make(arrays: dict[str, Any], token: Any, keys: Any, values: Any) -> Run:
        parameters = {
            name: jnp.asarray(value, narrow if is_matrix(name) else None)
            for name, value in arrays.items()
        }
        room = ((0, 0), (0, CAPACITY - PAST), (0, 0), (0, 0))
        caches = [
            [jnp.asarray(np.pad(layer.transpose(0, 2, 1, 3), room)) for layer in cache]
            for cache in (keys, values)
        ]
        given, at = jnp.asarray(token), jnp.asarray(PAST)
        compiled = jax.jit(jax_models.decode, donate_argnums=(3, 4))

        def run() -> Any:
            found = jax.block_until_ready(compiled(parameters, given, at, *caches))
            logits, *caches[:] = found
            return logits

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
        "B.layernorm_4096x1024": jax_models.norm,
        "B.sum_axis0_4096sq": lambda x: x.sum(0),
        "B.sum_axis1_4096sq": lambda x: x.sum(1),
        "B.transpose_4096sq": lambda x: x.T,
        "B.cumsum_4096x1024": lambda x: jnp.cumsum(x, -1),
        "B.stencil30_512sq": lambda x: stencil30(jnp, x),
        "C.gemm_bias_gelu": lambda x, w, b: jax.nn.gelu(x @ w + b, approximate=True),
        "G.attention_1x8x2048x64": _attention,
        "H.sample_gradients_256": jax.vmap(
            jax.grad(lambda *xs: sample_loss(jnp, *xs), argnums=(2, 3, 4)), (0, 0, None, None, None)
        ),
        **in_library(jnp),
        **dict.fromkeys(PLAIN_PRODUCTS, lambda a, b: a @ b),
        **{name: _convolution(sizes) for name, sizes in CONVOLUTIONS.items()},
    }
    return {
        **{name: _forward(function) for name, function in forward.items()},
        "A.fwdbwd_8x8": _with_gradients(lambda a, b, c: jnp.tanh(a * b + c).sum(), 3),
        "B.layernorm_fwdbwd": _with_cotangent(jax_models.norm),
        "B.xent_fwdbwd_512x32000": _with_gradients(jax_models.cross_entropy, 1),
        **{
            f"{name}_fb": _with_cotangent(_convolution(sizes))
            for name, sizes in CONVOLUTIONS.items()
        },
        "E.mlp_b128": _training(_without_state(jax_models.mlp)),
        "E.cnn_b64": _training(_without_state(jax_models.cnn)),
        "E.resnet18_b8_64": _training(partial(jax_models.resnet, trains=True)),
        "E.lstm_2x256_t64_b32": _training(_without_state(jax_models.lstm)),
        "E.gpt_4x256_b8_t128": _training(_without_state(jax_models.gpt)),
        "F.resnet18_b1_224": _inference(lambda p, x: jax_models.resnet(p, p, x, False)[0]),
        "F.gpt2s_prefill128": _inference(partial(jax_models.gpt, sizes=GPT2, only_last=True)),
        DECODE: _decoding(),
        f"{DECODE}_bf16": _decoding(jnp.bfloat16),
        f"{DECODE}_int8": _decoding(jnp.int8),
        "G.attention_1x8x2048x64_fb": _with_cotangent(_attention),
    }


def load(column: str, threads: int) -> Framework:
    """JAX as a column; it takes as many threads as the process has processors."""
    del column, threads
    version = f"jax {jax.__version__}"
    return Framework(version, lambda o: [np.asarray(x) for x in jax.tree.leaves(o)], _rows())
