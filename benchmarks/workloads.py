"""What is measured: every row of the table.

A: small tensors, where the overhead of a call is all. B: memory. C: matrix products.
D: convolutions. E: training. F: inference. G: attention. H: transforms. D to G are in
`networks.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.matrices import MATRIX_ROWS
from benchmarks.models import cross_entropy, gelu_tanh, layer_norm, normal, softmax
from benchmarks.networks import ATTENTION_ROWS, CONVOLUTION_ROWS, INFERENCE_ROWS, TRAINING_ROWS
from benchmarks.workload import COMPILED, LAZY, Bar, Workload, bars


def _normals(*shapes: tuple[int, ...]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda generator: tuple(normal(generator, *shape) for shape in shapes)


def _near_one(generator: Any, *shape: int) -> Any:
    return generator.random(shape, dtype=np.float32) + np.float32(0.5)


def _small_pair(generator: Any) -> tuple[Any, ...]:
    return normal(generator, 8, 8), _near_one(generator, 8, 8)


def _norm_inputs(generator: Any) -> tuple[Any, ...]:
    return normal(generator, 4096, 1024), _near_one(generator, 1024), normal(generator, 1024)


def _gelu_inputs(generator: Any) -> tuple[Any, ...]:
    weight = normal(generator, 768, 3072) * np.float32(0.04)
    return normal(generator, 128, 768), weight, normal(generator, 3072)


def chain10(library: Any, a: Any, b: Any) -> Any:
    """Ten elementwise ops, written for any array library with NumPy's names."""
    x = a + b
    x = x * b
    x = x - a
    x = library.maximum(x, 0.0)
    x = x * 0.5
    x = x + 1.0
    x = library.sqrt(x)
    x = library.tanh(x)
    x = library.exp(x)
    return x / b


def chain6(library: Any, a: Any, b: Any, c: Any) -> Any:
    """Six elementwise ops."""
    return library.maximum((a * b + c) * 0.5 - a, 0.0) * b


def stencil30(library: Any, x: Any) -> Any:
    """Thirty times the mean of four neighbours."""
    for _ in range(30):
        rows, columns = (library.roll(x, 1, a) + library.roll(x, -1, a) for a in (0, 1))
        x = (rows + columns) * 0.25
    return x


def sample_loss(library: Any, x: Any, y: Any, w1: Any, w2: Any, w3: Any) -> Any:
    """What a small perceptron makes of one sample, and how far that is from y."""
    h = library.tanh(library.tanh(x @ w1) @ w2)
    return ((h @ w3 - y) ** 2).sum()


def _sample_gradients(x: Any, y: Any, w1: Any, w2: Any, w3: Any) -> tuple[Any, ...]:
    first = np.tanh(x @ w1)
    second = np.tanh(first @ w2)
    by_out = 2 * (second @ w3 - y)
    by_second = by_out @ w3.T * (1 - second**2)
    by_first = by_second @ w2.T * (1 - first**2)
    pairs = (x, by_first), (first, by_second), (second, by_out)
    return tuple(a[:, :, None] * b[:, None, :] for a, b in pairs)


def _perceptron_inputs(generator: Any) -> tuple[Any, ...]:
    x, y = normal(generator, 256, 64), normal(generator, 256, 10)
    sizes = (64, 128), (128, 128), (128, 10)
    return x, y, *(normal(generator, *size) * np.float32(0.1) for size in sizes)


def _gelu_erf(x: Any) -> Any:
    return 0.5 * x * (1 + np.frompyfunc(math.erf, 1, 1)(x / math.sqrt(2)).astype(np.float64))


def _tanh_gradients(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    y = np.tanh(a * b + c)
    slope = 1 - y * y
    return y.sum(), slope * b, slope * a, slope


def _norm_gradients(x: Any, weight: Any, bias: Any, dy: Any) -> tuple[Any, ...]:
    centred = x - x.mean(-1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    unit = centred * scale
    g = dy * weight
    shift = g.mean(-1, keepdims=True) + unit * (g * unit).mean(-1, keepdims=True)
    return unit * weight + bias, scale * (g - shift), (dy * unit).sum(0), dy.sum(0)


def _cross_entropy_gradient(logits: Any, labels: Any) -> tuple[Any, ...]:
    gradient = softmax(logits)
    gradient[np.arange(len(labels)), labels] -= 1
    return cross_entropy(logits, labels), gradient / len(labels)


def _small_bars(lazy: float, compiled: float) -> tuple[Bar, ...]:
    return (Bar(LAZY, lazy, ("torch",)), Bar(COMPILED, compiled))


MANY = 4096 * 1024
VECTOR = 4.0 * MANY  # bytes
SQUARE = 4.0 * 4096 * 4096

_SMALL = (
    Workload("A.add_8x8", _small_pair, lambda a, b: a + b, bars=(Bar(LAZY, 2.5),)),
    Workload(
        "A.chain10_8x8", _small_pair, lambda a, b: chain10(np, a, b), bars=_small_bars(0.8, 0.6)
    ),
    Workload("A.fwdbwd_8x8", _normals(*[(8, 8)] * 3), _tanh_gradients, bars=_small_bars(1.0, 0.6)),
)

_MEMORY = (
    Workload(
        "B.chain6_4M",
        _normals(*[(MANY,)] * 3),
        lambda a, b, c: chain6(np, a, b, c),
        bytes=4 * VECTOR,
        bars=bars(0.85),
    ),
    Workload("B.gelu_tanh_4M", _normals((MANY,)), gelu_tanh, bytes=2 * VECTOR, bars=bars(0.5)),
    Workload("B.gelu_erf_4M", _normals((MANY,)), _gelu_erf, bytes=2 * VECTOR),
    Workload(
        "B.softmax_4096x1024", _normals((4096, 1024)), softmax, bytes=2 * VECTOR, bars=bars(0.6)
    ),
    Workload("B.layernorm_4096x1024", _norm_inputs, layer_norm, bytes=2 * VECTOR, bars=bars(0.6)),
    Workload(
        "B.layernorm_fwdbwd",
        lambda generator: (*_norm_inputs(generator), normal(generator, 4096, 1024)),
        _norm_gradients,
        bytes=4 * VECTOR,
        tolerance=1e-3,
        bars=bars(0.7),
    ),
    Workload(
        "B.sum_axis0_4096sq",
        _normals((4096, 4096)),
        lambda x: x.sum(0),
        bytes=SQUARE,
        tolerance=1e-3,
    ),
    Workload(
        "B.sum_axis1_4096sq",
        _normals((4096, 4096)),
        lambda x: x.sum(1),
        bytes=SQUARE,
        tolerance=1e-3,
        bars=bars(0.95),
    ),
    Workload("B.transpose_4096sq", _normals((4096, 4096)), lambda x: x.T, bytes=2 * SQUARE),
    Workload(
        "B.cumsum_4096x1024",
        _normals((4096, 1024)),
        lambda x: x.cumsum(-1),
        bytes=2 * VECTOR,
        tolerance=1e-3,
    ),
    Workload(
        "B.stencil30_512sq",
        _normals((512, 512)),
        lambda x: stencil30(np, x),
        bytes=30 * 2 * 4.0 * 512 * 512,
    ),
    Workload(
        "B.xent_fwdbwd_512x32000",
        lambda generator: (normal(generator, 512, 32000), generator.integers(0, 32000, 512)),
        _cross_entropy_gradient,
        bytes=2 * 4.0 * 512 * 32000,
        bars=bars(0.25),
    ),
)

_PRODUCTS = (
    *(
        Workload(
            f"C.gemm_{size}",
            _normals((size, size), (size, size)),
            np.matmul,
            bytes=3 * 4.0 * size**2,
            flops=2.0 * size**3,
            bars=bars(0.8 if size <= 128 else 1.0),
        )
        for size in (64, 128, 256, 512, 1024, 2048)
    ),
    Workload(
        "C.gemm_int64_512",
        lambda generator: tuple(generator.integers(-99, 99, (512, 512)) for _ in range(2)),
        np.matmul,
        bytes=3 * 8.0 * 512**2,
        flops=2.0 * 512**3,
    ),
    Workload(
        "C.gemv_4096",
        _normals((1, 4096), (4096, 4096)),
        np.matmul,
        bytes=SQUARE,
        flops=2.0 * 4096**2,
    ),
    Workload(
        "C.gemm_bias_gelu",
        _gelu_inputs,
        lambda x, weight, bias: gelu_tanh(x @ weight + bias),
        bytes=4.0 * (768 * 3072 + 128 * 768 + 128 * 3072),
        flops=2.0 * 128 * 768 * 3072,
        bars=bars(0.9),
    ),
    Workload(
        "C.bmm_96x128x64x128",
        _normals((96, 128, 64), (96, 64, 128)),
        np.matmul,
        bytes=4.0 * 96 * (2 * 128 * 64 + 128 * 128),
        flops=2.0 * 96 * 128 * 64 * 128,
    ),
)

_TRANSFORMS = (
    Workload(
        "H.sample_gradients_256",
        _perceptron_inputs,
        _sample_gradients,
        bytes=4.0 * 256 * (64 * 128 + 128 * 128 + 128 * 10),
        tolerance=1e-3,
        bars=bars(1.0),
    ),
)

WORKLOADS = {
    row.name: row
    for row in (
        *_SMALL, *_MEMORY, *_PRODUCTS,
        *CONVOLUTION_ROWS, *TRAINING_ROWS, *INFERENCE_ROWS, *ATTENTION_ROWS, *_TRANSFORMS,
        *MATRIX_ROWS,
    )
}  # fmt: skip
PLAIN_PRODUCTS = tuple(n for n in WORKLOADS if n.startswith("C.") and n != "C.gemm_bias_gelu")
