"""PyTorch, as it is (torch) and through its compiler (torch.compile)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.framework import LEARNING_RATE, Framework, Maker, Run, as_tuple
from benchmarks.models import GPT, MLP_SIZES, GptSizes
from benchmarks.workloads import PLAIN_PRODUCTS, stencil30

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


class Mlp(nn.Module):
    """Three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc3 = (nn.Linear(*sizes) for sizes in MLP_SIZES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        return self.fc3(functional.relu(self.fc2(functional.relu(self.fc1(x)))))


class Block(nn.Module):
    """Attention, then a hidden layer, each behind a norm and around a residual."""

    def __init__(self, sizes: GptSizes) -> None:
        super().__init__()
        width, self.heads = sizes.width, sizes.heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The residual stream after this block."""
        batch, length, width = x.shape
        parts = self.qkv(self.ln1(x)).split(width, -1)
        heads = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(heads).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.fc2(functional.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """A GPT whose output layer is its token embedding."""

    def __init__(self, sizes: GptSizes) -> None:
        super().__init__()
        self.wte = nn.Parameter(torch.empty(sizes.vocabulary, sizes.width))
        self.wpe = nn.Parameter(torch.empty(sizes.length, sizes.width))
        self.lnf, self.layers = nn.LayerNorm(sizes.width), sizes.layers
        for layer in range(sizes.layers):
            setattr(self, f"h{layer}", Block(sizes))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = functional.embedding(tokens, self.wte) + self.wpe[: tokens.shape[1]]
        for layer in range(self.layers):
            x = getattr(self, f"h{layer}")(x)
        return functional.linear(self.lnf(x), self.wte).flatten(0, 1)


def _loss(model: nn.Module, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(model(x), labels.flatten())


def _training(jit: Jit, build: Callable[[], nn.Module]) -> Maker:
    def make(parameters: dict[str, Any], x: Any, labels: Any) -> Run:
        model = build().train()
        model.load_state_dict({name: _tensor(value) for name, value in parameters.items()})
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
        "B.stencil30_512sq": lambda x: stencil30(torch, x),
        **dict.fromkeys(PLAIN_PRODUCTS, lambda a, b: a @ b),
    }
    return {
        "A.add_8x8": _plain(jit, lambda a, b: a + b),
        "A.chain10_8x8": _plain(jit, _chain10),
        "A.fwdbwd_8x8": tanh_sum,
        "B.layernorm_fwdbwd": _gradients(jit, norm, 3, upstream=True),
        "B.xent_fwdbwd_512x32000": _gradients(jit, functional.cross_entropy, 1, upstream=False),
        "C.gemm_bias_gelu": linear_gelu,
        "E.mlp_b128": _training(jit, Mlp),
        "E.gpt_4x256_b8_t128": _training(jit, lambda: Gpt(GPT)),
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
