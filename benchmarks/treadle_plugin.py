"""Treadle as two columns: lazy tensors (treadle) and compiled functions (treadle.compile)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import treadle as td
from benchmarks.framework import LEARNING_RATE, Framework, Maker, Run, as_tuple
from benchmarks.models import GPT, MLP_SIZES, GptSizes
from benchmarks.workloads import PLAIN_PRODUCTS, chain6, chain10, stencil30

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


class Mlp(td.nn.Module):
    """Three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc3 = (td.nn.Linear(*sizes) for sizes in MLP_SIZES)

    def forward(self, x: Any) -> Any:
        """Logits."""
        return self.fc3(td.relu(self.fc2(td.relu(self.fc1(x)))))


class Block(td.nn.Module):
    """Attention, then a hidden layer, each behind a norm and around a residual."""

    def __init__(self, sizes: GptSizes) -> None:
        super().__init__()
        width, self.heads = sizes.width, sizes.heads
        self.ln1, self.ln2 = td.nn.LayerNorm(width), td.nn.LayerNorm(width)
        self.qkv, self.proj = td.nn.Linear(width, 3 * width), td.nn.Linear(width, width)
        self.fc, self.fc2 = td.nn.Linear(width, 4 * width), td.nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """The residual stream after this block."""
        batch, length, width = x.shape
        joined = self.qkv(self.ln1(x))
        heads = (batch, length, self.heads, width // self.heads)
        parts = (joined[:, :, i * width : (i + 1) * width] for i in range(3))
        q, k, v = (part.reshape(heads).transpose(1, 2) for part in parts)
        mixed = td.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape((batch, length, width)))
        return x + self.fc2(td.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt(td.nn.Module):
    """A GPT whose output layer is its token embedding."""

    def __init__(self, sizes: GptSizes) -> None:
        super().__init__()
        self.wte = td.nn.Embedding(sizes.vocabulary, sizes.width)
        self.wpe = td.nn.Embedding(sizes.length, sizes.width)
        self.lnf, self.layers = td.nn.LayerNorm(sizes.width), sizes.layers
        for layer in range(sizes.layers):
            setattr(self, f"h{layer}", Block(sizes))

    def forward(self, tokens: Any) -> Any:
        """Logits."""
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for layer in range(self.layers):
            x = getattr(self, f"h{layer}")(x)
        logits = self.lnf(x) @ self.wte.weight.T
        return logits.reshape((-1, logits.shape[-1]))


def _training(jit: Jit, build: Callable[[], Any]) -> Maker:
    def make(arrays: dict[str, Any], x: Any, labels: Any) -> Run:
        model = build()
        named = {name if "." in name else f"{name}.weight": a for name, a in arrays.items()}
        model.load_state_dict({name: td.tensor(array) for name, array in named.items()})
        optimizer = td.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        batch = td.tensor(x), td.tensor(labels.reshape(-1))

        def step(x: Any, labels: Any) -> Any:
            optimizer.zero_grad()
            loss = td.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
            return loss

        compiled, parameters = jit(step), list(model.parameters())

        def run() -> Any:
            loss = compiled(*batch)
            td.realize(loss, *parameters)
            return loss

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
        **dict.fromkeys(PLAIN_PRODUCTS, lambda a, b: a @ b),
    }
    return {
        **{name: _forward(jit, function) for name, function in forward.items()},
        "A.fwdbwd_8x8": _with_gradients(jit, lambda a, b, c: td.tanh(a * b + c).sum(), 3),
        "B.layernorm_fwdbwd": _with_cotangent(jit, _layer_norm),
        "B.xent_fwdbwd_512x32000": _with_gradients(jit, _cross_entropy, 1),
        "E.mlp_b128": _training(jit, Mlp),
        "E.gpt_4x256_b8_t128": _training(jit, lambda: Gpt(GPT)),
    }


def load(column: str, threads: int) -> Framework:
    """Treadle as a column; the number of threads comes by TREADLE_THREADS."""
    del threads
    jit: Jit = td.compile if column == "treadle.compile" else lambda function: function
    return Framework(f"treadle {td.__version__}", _to_numpy, _rows(jit))
