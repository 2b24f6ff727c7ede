"""PyTorch, as it is (torch) and through its compiler (torch.compile)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.framework import LEARNING_RATE, Framework, Maker, Run, as_tuple
from benchmarks.matrices import in_library
from benchmarks.models import GPT, GPT2
from benchmarks.networks import DECODE
from benchmarks.peers.pytorch_models import Cnn, Decoder, Gpt, Lstm, Mlp, ResNet
from benchmarks.sequences import CAPACITY, PAST, is_matrix
from benchmarks.vision import CONVOLUTIONS, ConvSizes
from benchmarks.workloads import PLAIN_PRODUCTS, sample_loss, stencil30

Jit = Callable[[Any], Any]


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


def _to_numpy(outputs: Any) -> list[Any]:
    return [output.detach().numpy() for output in as_tuple(outputs)]


def _plain(jit: Jit, function: Callable[..., Any]) -> Maker:
    """Called with nothing around it, for rows that measure the overhead of a call."""

    def make(*arrays: Any) -> Run:
        inputs, compiled = [_tensor(array) for array in arrays], jit(function)
        return lambda: compiled(*inputs)

    return make


def _forward(jit: Jit, function: Callable[..., Any]) -> Maker:
    def make(*arrays: Any) -> Run:
        inputs, compiled = [_tensor(array) for array in arrays], jit(function)

        def run() -> Any:
            with torch.no_grad():
                return compiled(*inputs)

        return run

    return make


def _gradients(jit: Jit, function: Callable[..., Any], count: int, upstream: bool) -> Maker:
    """Outputs and the gradients of the first inputs; upstream: the last input is the cotangent."""

    def make(*arrays: Any) -> Run:
        inputs, compiled = [_tensor(array) for array in arrays], jit(function)
        leaves = [tensor.requires_grad_(True) for tensor in inputs[:count]]
        cotangent = inputs.pop() if upstream else None

        def run() -> Any:
            output = compiled(*inputs)
            return (output, *torch.autograd.grad(output, leaves, cotangent))

        return run

    return make


def _chain10(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a + b
    x = x * b
    x = x - a
    x = torch.relu(x)
    x = x * 0.5
    x = x + 1.0
    x = torch.sqrt(x)
    x = torch.tanh(x)
    x = torch.exp(x)
    return x / b


def _loss(model: nn.Module, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(model(x), labels.flatten())


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def _convolution(sizes: ConvSizes) -> Callable[..., Any]:
    return lambda x, weight: functional.conv2d(
        x, weight, padding=sizes.padding, groups=sizes.groups
    )


def _loaded(build: Callable[[], nn.Module], parameters: dict[str, Any]) -> nn.Module:
    model = build()
    own = set(model.state_dict())
    named = {n if n in own else f"rnn.{n}": _tensor(value) for n, value in parameters.items()}
    found = model.load_state_dict(named, strict=False)  # counts of batches are not given
    if found.unexpected_keys or any("num_batches" not in name for name in found.missing_keys):
        raise ValueError(f"parameters do not fit: {found}")
    return model


def _training(jit: Jit, build: Callable[[], nn.Module]) -> Maker:
    def make(parameters: dict[str, Any], x: Any, labels: Any) -> Run:
        model = _loaded(build, parameters).train()
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)
        batch, compiled = (_tensor(x), _tensor(labels)), jit(_loss)

        def step() -> Any:
            optimizer.zero_grad(set_to_none=True)
            loss = compiled(model, *batch)
            loss.backward()
            optimizer.step()
            return loss

        return step

    return make


def _inference(jit: Jit, build: Callable[[], nn.Module]) -> Maker:
    def make(parameters: dict[str, Any], x: Any) -> Run:
        compiled, given = jit(_loaded(build, parameters).eval()), _tensor(x)

        def run() -> Any:
            with torch.no_grad():
                return compiled(given)

        return run

    return make


def _decoding(jit: Jit, narrow: torch.dtype = torch.float32) -> Maker:
    """As it is, the cache is cut to what it holds; compiled, shapes stay and a mask tells."""

    def make(parameters: dict[str, Any], token: Any, keys: Any, values: Any) -> Run:
        own = {name: _tensor(value) for name, value in parameters.items()}
        own |= {name: own[name].to(narrow) for name in own if is_matrix(name)}
        room = (0, 0, 0, CAPACITY - PAST)
        caches = [[functional.pad(_tensor(x), room) for x in cache] for cache in (keys, values)]
        plain = Decoder(own).__call__
        compiled, at, mask = jit(plain), torch.tensor([PAST]), None
        if compiled is not plain:
            mask = (torch.arange(CAPACITY) <= PAST)[None, None, None, :]
        given = _tensor(token)

        def run() -> Any:
            with torch.no_grad():
                return compiled(given, *caches, at, mask)

        return run

    return make


def _rows(jit: Jit) -> dict[str, Maker]:
    def norm(x: Any, weight: Any, bias: Any) -> Any:
        return functional.layer_norm(x, (1024,), weight, bias)

    def linear_gelu(*arrays: Any) -> Run:
        x, weight, bias = arrays
        make = _forward(
            jit, lambda x, w, b: functional.gelu(functional.linear(x, w, b), approximate="tanh")
        )
        return make(x, weight.T, bias)  # the layout its linear layers keep weights in

    tanh_sum = _gradients(jit, lambda a, b, c: torch.tanh(a * b + c).sum(), 3, upstream=False)
    forward = {
        "B.chain6_4M": lambda a, b, c: torch.relu((a * b + c) * 0.5 - a) * b,
        "B.gelu_tanh_4M": lambda x: functional.gelu(x, approximate="tanh"),
        "B.gelu_erf_4M": functional.gelu,
        "B.softmax_4096x1024": lambda x: functional.softmax(x, -1),
        "B.layernorm_4096x1024": norm,
        "B.sum_axis0_4096sq": lambda x: x.sum(0),
        "B.sum_axis1_4096sq": lambda x: x.sum(1),
        "B.transpose_4096sq": lambda x: x.t().contiguous(),
        "B.cumsum_4096x1024": lambda x: torch.cumsum(x, -1),
        "G.attention_1x8x2048x64": _attention,
        "H.sample_gradients_256": torch.func.vmap(
            torch.func.grad(lambda *xs: sample_loss(torch, *xs), argnums=(2, 3, 4)),
            (0, 0, None, None, None),
        ),
        "B.stencil30_512sq": lambda x: stencil30(torch, x),
        **in_library(torch),
        **dict.fromkeys(PLAIN_PRODUCTS, lambda a, b: a @ b),
        **{name: _convolution(sizes) for name, sizes in CONVOLUTIONS.items()},
    }
    return {
        "A.add_8x8": _plain(jit, lambda a, b: a + b),
        "A.chain10_8x8": _plain(jit, _chain10),
        "A.fwdbwd_8x8": tanh_sum,
        "B.layernorm_fwdbwd": _gradients(jit, norm, 3, upstream=True),
        "B.xent_fwdbwd_512x32000": _gradients(jit, functional.cross_entropy, 1, upstream=False),
        "C.gemm_bias_gelu": linear_gelu,
        **{
            f"{name}_fb": _gradients(jit, _convolution(sizes), 2, upstream=True)
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
        f"{DECODE}_bf16": _decoding(jit, torch.bfloat16),
        f"{DECODE}_int8": _decoding(jit, torch.int8),
        "G.attention_1x8x2048x64_fb": _gradients(jit, _attention, 3, upstream=True),
        **{name: _forward(jit, function) for name, function in forward.items()},
    }


def load(column: str, threads: int) -> Framework:
    """PyTorch as a column."""
    torch.set_num_threads(threads)
    version = f"torch {torch.__version__}"
    if column == "torch":
        return Framework(version, _to_numpy, _rows(lambda function: function))
    rows = _rows(lambda function: torch.compile(function, dynamic=False))
    return Framework(f"{version} inductor", _to_numpy, rows, torch._dynamo.reset)
