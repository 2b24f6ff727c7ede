"""Treadle as two columns: lazy tensors (treadle) and compiled functions (treadle.compile)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import treadle as td
from benchmarks.framework import LEARNING_RATE, Framework, Maker, Run, as_tuple
from benchmarks.matrices import in_library
from benchmarks.models import GPT, GPT2
from benchmarks.networks import DECODE
from benchmarks.treadle_models import Cnn, Decoder, Gpt, Lstm, Mlp, ResNet
from benchmarks.vision import CONVOLUTIONS, ConvSizes
from benchmarks.workloads import PLAIN_PRODUCTS, chain6, chain10, sample_loss, stencil30

Jit = Callable[[Any], Any]


def _realize(outputs: Any) -> Any:
    """Compute everything before the clock stops, the outputs of one call together."""
    if isinstance(outputs, (list, tuple)):
        td.realize(*outputs)
    else:
        outputs.realize()
    return outputs


def _to_numpy(outputs: Any) -> list[Any]:
    return [output.numpy() for output in as_tuple(outputs)]


def _inputs(arrays: tuple[Any, ...]) -> list[Any]:
    return [td.tensor(array) for array in arrays]


def _forward(jit: Jit, function: Callable[..., Any]) -> Maker:
    def make(*arrays: Any) -> Run:
        inputs, compiled = _inputs(arrays), jit(function)
        return lambda: _realize(compiled(*inputs))

    return make


def _with_gradients(jit: Jit, function: Callable[..., Any], count: int) -> Maker:
    differentiated = td.value_and_grad(function, argnums=tuple(range(count)))

    def both(*inputs: Any) -> Any:
        value, gradients = differentiated(*inputs)
        return (value, *as_tuple(gradients))

    return _forward(jit, both)


def _with_cotangent(jit: Jit, function: Callable[..., Any]) -> Maker:
    """The last input is the cotangent of the output; the others get gradients."""

    def both(*inputs: Any) -> Any:
        *leaves, cotangent = inputs
        output = function(*leaves)
        return (output, *td.gradients(output, leaves, cotangent))

    def make(*arrays: Any) -> Run:
        inputs, compiled = _inputs(arrays), jit(both)
        for leaf in inputs[:-1]:
            leaf.requires_grad_()
        return lambda: _realize(compiled(*inputs))

    return make


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return td.layer_norm(x, weight, bias, eps=1e-5)


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return td.cross_entropy(logits, labels)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return td.scaled_dot_product_attention(q, k, v, is_causal=True)


def _convolution(sizes: ConvSizes) -> Callable[..., Any]:
    return lambda x, weight: td.conv2d(x, weight, padding=sizes.padding, groups=sizes.groups)


def _loaded(build: Callable[[], Any], arrays: dict[str, Any]) -> Any:
    model = build()
    model.load_state_dict({name: td.tensor(array) for name, array in arrays.items()})
    return model


def _training(jit: Jit, build: Callable[[], Any]) -> Maker:
    def make(arrays: dict[str, Any], x: Any, labels: Any) -> Run:
        model = _loaded(build, arrays)
        optimizer = td.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        batch = td.tensor(x), td.tensor(labels.reshape(-1))

        def step(x: Any, labels: Any) -> Any:
            optimizer.zero_grad()
            loss = td.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
            return loss

        compiled, kept = jit(step), list(model.state_dict(keep_vars=True).values())

        def run() -> Any:
            loss = compiled(*batch)
            td.realize(loss, *kept)
            return loss

        return run

    return make


def _inference(jit: Jit, build: Callable[[], Any]) -> Maker:
    def make(arrays: dict[str, Any], x: Any) -> Run:
        model, given = _loaded(build, arrays).eval(), td.tensor(x)
        compiled = jit(model.forward)

        def run() -> Any:
            with td.no_grad():
                return _realize(compiled(given))

        return run

    return make


def _decoding(jit: Jit, narrow: str = "") -> Maker:
    def make(arrays: dict[str, Any], token: Any, keys: Any, values: Any) -> Run:
        decoder, given = Decoder(arrays, keys, values, narrow), td.tensor(token)
        compiled, kept = jit(decoder.step), [*decoder.keys, *decoder.values]

        def run() -> Any:
            with td.no_grad():
                logits = compiled(given)
                td.realize(logits, *kept)
                return logits

        return run

    return make


def _rows(jit: Jit) -> dict[str, Maker]:
    forward = {
        "A.add_8x8": lambda a, b: a + b,
        "A.chain10_8x8": lambda a, b: chain10(td, a, b),
        "B.chain6_4M": lambda a, b, c: chain6(td, a, b, c),
        "B.gelu_tanh_4M": lambda x: td.gelu(x, approximate="tanh"),
        "B.gelu_erf_4M": lambda x: td.gelu(x, approximate="none"),
        "B.softmax_4096x1024": lambda x: td.softmax(x, axis=-1),
        "B.layernorm_4096x1024": _layer_norm,
        "B.sum_axis0_4096sq": lambda x: x.sum(0),
        "B.sum_axis1_4096sq": lambda x: x.sum(1),
        "B.transpose_4096sq": lambda x: x.T,
        "B.cumsum_4096x1024": lambda x: td.cumsum(x, axis=-1),
        "B.stencil30_512sq": lambda x: stencil30(td, x),
        "C.gemm_bias_gelu": lambda x, w, b: td.gelu(x @ w + b, approximate="tanh"),
        "G.attention_1x8x2048x64": _attention,
        "H.sample_gradients_256": td.vmap(
            td.grad(lambda *xs: sample_loss(td, *xs), argnums=(2, 3, 4)), (0, 0, None, None, None)
        ),
        **in_library(td),
        **dict.fromkeys(PLAIN_PRODUCTS, lambda a, b: a @ b),
        **{name: _convolution(sizes) for name, sizes in CONVOLUTIONS.items()},
    }
    return {
        **{name: _forward(jit, function) for name, function in forward.items()},
        "A.fwdbwd_8x8": _with_gradients(jit, lambda a, b, c: td.tanh(a * b + c).sum(), 3),
        "B.layernorm_fwdbwd": _with_cotangent(jit, _layer_norm),
        "B.xent_fwdbwd_512x32000": _with_gradients(jit, _cross_entropy, 1),
        **{
            f"{name}_fb": _with_cotangent(jit, _convolution(sizes))
            for name, sizes in CONVOLUTIONS.items()
        },
        "E.mlp_b128": _training(jit, Mlp),
        "E.cnn_b64": _training(jit, Cnn),
        "E.resnet18_b8_64": _training(jit, ResNet),
        "E.lstm_2x256_t64_b32": _training(jit, Lstm),
        "E.gpt_4x256_b8_t128": _training(jit, lambda: Gpt(GPT)),
        "F.resnet18_b1_224": _inference(jit, ResNet),
        "F.gpt2s_prefill128": _inference(jit, lambda: Gpt(GPT2, only_last=True)),
        DECODE: _decoding(jit),
        f"{DECODE}_bf16": _decoding(jit, "bfloat16"),
        f"{DECODE}_int8": _decoding(jit, "int8"),
        "G.attention_1x8x2048x64_fb": _with_cotangent(jit, _attention),
    }


def load(column: str, threads: int) -> Framework:
    """Treadle as a column; the number of threads comes by TREADLE_THREADS."""
    del threads
    jit: Jit = td.compile if column == "treadle.compile" else lambda function: function
    return Framework(f"treadle {td.__version__}", _to_numpy, _rows(jit))
