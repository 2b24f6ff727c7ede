"""Layers enough for perceptrons and transformers."""

from __future__ import annotations

import math
from typing import Any

from treadle.functions import gelu, layer_norm, linear, relu, take
from treadle.nn.functional import dropout
from treadle.nn.module import Module, Parameter
from treadle.random import normal, uniform
from treadle.random.keys import shape_in
from treadle.tensor.creation import ones, zeros
from treadle.tensor.tensor import Tensor


class Linear(Module):
    r"""y = x Wᵀ + b, with W of shape (outputs, inputs).

    - **inputs**, **outputs**: sizes of the last axis before and after
    - **bias**: add b?
    """

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        shape = shape_in("Linear", (outputs, inputs))
        bound = 1.0 / math.sqrt(inputs) if inputs else 0.0
        self.weight = Parameter(uniform(shape, -bound, bound))
        self.bias = Parameter(uniform((outputs,), -bound, bound)) if bias else None

    def forward(self, x: Tensor) -> Any:
        """Apply to the last axis."""
        return linear(x, self.weight, self.bias)


class Embedding(Module):
    """A vector for each of `count` numbers."""

    def __init__(self, count: int, size: int) -> None:
        self.weight = Parameter(normal(shape_in("Embedding", (count, size))))

    def forward(self, index: Tensor) -> Any:
        """The vectors at integer indices."""
        return take(self.weight, index)


class LayerNorm(Module):
    """The last axis normalised to mean 0 and variance 1, then scaled and shifted."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        self.eps = eps
        self.weight = Parameter(ones(size))
        self.bias = Parameter(zeros(size))

    def forward(self, x: Tensor) -> Any:
        """Apply to the last axis."""
        return layer_norm(x, self.weight, self.bias, eps=self.eps)


class Dropout(Module):
    """Elements set to 0 with probability p while training, the others grown to make up for it."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def forward(self, x: Tensor) -> Any:
        """Apply elementwise."""
        return dropout(x, self.p, self.training)


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x: Tensor) -> Any:
        """Apply elementwise."""
        return relu(x)


class GELU(Module):
    """x times the normal distribution function of x."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Tensor) -> Any:
        """Apply elementwise."""
        return gelu(x, approximate=self.approximate)


class Sequential(Module):
    """Modules one after the other; parameters are named by position, as in PyTorch."""

    def __init__(self, *modules: Module) -> None:
        for k, module in enumerate(modules):
            setattr(self, str(k), module)

    def forward(self, x: Any) -> Any:
        """Apply each in turn."""
        for _, module in self.named_children():
            x = module(x)
        return x
