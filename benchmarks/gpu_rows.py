"""What is timed on a GPU: each row's kind of work, its sizes and its bar, and inputs for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Row:
    """One line of the table; bar: the ratio to the best peer that we want to reach.

    more: bars for memory, the first call, and the first call of a second process.
    """

    kind: str
    bar: float
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    options: dict[str, Any] = field(default_factory=dict)
    backward: bool = False
    more: dict[str, float] = field(default_factory=dict)


BF = "bfloat16"
DRAWN = 1 << 27  # numbers: most rows need fewer, and to draw them takes longest of all
ROWS = {
    "chain of 6 ops, 64M f32": Row("chain", 1.0, ((1 << 26,),) * 3),
    "softmax f32": Row("softmax", 1.0, ((16384, 4096),)),
    "softmax bf16": Row("softmax", 1.0, ((16384, 4096),), BF),
    "layer norm f32": Row("norm", 1.0, ((16384, 4096), (4096,), (4096,))),
    "layer norm bf16": Row("norm", 1.0, ((16384, 4096), (4096,), (4096,)), BF),
    "transpose f32": Row("transpose", 1.0, ((16384, 4096),)),
    "sum over axis 0 f32": Row("sum0", 1.0, ((16384, 4096),)),
    "layer norm f32 fb": Row("norm", 0.5, ((16384, 4096), (4096,), (4096,)), backward=True),
    "layer norm bf16 fb": Row("norm", 0.5, ((16384, 4096), (4096,), (4096,)), BF, backward=True),
    "cross-entropy bf16 fb": Row("entropy", 0.75, ((8192, 50304),), BF, backward=True),
    "matmul bf16 1024": Row("matmul", 1.05, ((1024, 1024),) * 2, BF),
    "matmul bf16 4096": Row("matmul", 1.03, ((4096, 4096),) * 2, BF),
    "matmul bf16 8192": Row("matmul", 1.0, ((8192, 8192),) * 2, BF),
    "matmul bf16 8192, b transposed": Row("matmul", 1.0, ((8192, 8192),) * 2, BF, {"b": True}),
    "matmul bf16 8192, a transposed": Row("matmul", 1.0, ((8192, 8192),) * 2, BF, {"a": True}),
    "matmul tf32 8192": Row("matmul", 1.05, ((8192, 8192),) * 2, "float32", {"tf32": True}),
    "matmul bf16 16 x 4096 x 4096": Row("matmul", 0.95, ((16, 4096), (4096, 4096)), BF),
    "linear + gelu bf16": Row("linear", 0.8, ((8192, 1024), (1024, 4096), (4096,)), BF),
    "attention causal 128": Row("attention", 1.15, ((4, 16, 4096, 128),) * 3, BF),
    "attention causal 128 fb": Row("attention", 1.1, ((4, 16, 4096, 128),) * 3, BF, backward=True),
    "attention causal 64": Row("attention", 1.05, ((4, 16, 4096, 64),) * 3, BF),
    "attention decode": Row(
        "attention", 1.0, ((64, 16, 1, 128), (64, 16, 4096, 128), (64, 16, 4096, 128)), BF,
        {"whole": True},
    ),
    "conv 3x3 64x128x28 bf16": Row("conv", 1.2, ((64, 128, 28, 28), (128, 128, 3, 3)), BF),
    "conv 3x3 64x128x28 bf16 fb": Row(
        "conv", 1.2, ((64, 128, 28, 28), (128, 128, 3, 3)), BF, backward=True
    ),
    "conv 3x3, channels last": Row("conv_last", 1.2, ((64, 28, 28, 128), (128, 128, 3, 3)), BF),
    "conv 3x3, channels last fb": Row(
        "conv_last", 1.2, ((64, 28, 28, 128), (128, 128, 3, 3)), BF, backward=True
    ),
    "resnet-50 step bf16": Row("resnet", 1.2, ((64, 3, 224, 224),), BF),
    "mlp step": Row("mlp", 0.5, ((128, 784),)),
    "gpt-2 step bf16": Row(
        "gpt2", 0.85, ((16, 1024),), BF, more={"memory": 1.0, "first": 0.5, "again": 0.1}
    ),
    "cumsum 64M": Row("cumsum", 1.2, ((1 << 26,),)),
    "sort 64M": Row("sort", 1.2, ((1 << 26,),)),
    "topk 64M": Row("topk", 1.2, ((1 << 26,),)),
}  # fmt: skip
MLP_SIZES = ((784, 512), (512, 512), (512, 10))
GPT2 = {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50304, "length": 1024}


@cache
def normal_numbers() -> Any:
    """What rows take their inputs from, again and again if they need more."""
    return np.random.default_rng(0).standard_normal(DRAWN, np.float32)


def arrays(row: Row) -> list[Any]:
    """Inputs of a row, normal numbers in float32."""
    sizes = [prod(shape) for shape in row.shapes]
    drawn, total = normal_numbers(), sum(sizes)
    enough = drawn[:total] if total <= DRAWN else np.resize(drawn, total)
    parts = np.split(enough, np.cumsum(sizes[:-1]))
    return [part.reshape(shape) for part, shape in zip(parts, row.shapes, strict=True)]


def labels(count: int, classes: int) -> Any:
    """Classes to be told apart."""
    return np.random.default_rng(1).integers(0, classes, count)
