"""Layers that multiply by matrices, and those that only change shapes."""

from __future__ import annotations

import math
from typing import Any

from treadle.functions import flatten, unflatten
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.module import Module
from treadle.nn.parameter import Parameter
from treadle.nn.tree import shown
from treadle.random.keys import shape_in
from treadle.tensor.creation import empty
from treadle.tensor.tensor import Tensor


def parameter(what: str, *sizes: int, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter of a shape whose values are set afterwards."""
    return Parameter(empty(shape_in(what, sizes), dtype=dtype, device=device))


class Identity(Module):
    """What it is given; takes any arguments when it is made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Linear(Module):
    r"""y = x Wᵀ + b, with W of shape (out_features, in_features).

    - **in_features**, **out_features**: sizes of the last axis before and after
    - **bias**: add b?

    >>> Linear(3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter("Linear", out_features, in_features, device=device, dtype=dtype)
        own = parameter("Linear", out_features, device=device, dtype=dtype) if bias else None
        self.register_parameter("bias", own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5.0))
        if self.bias is not None:
            bound = 1.0 / math.sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Any:
        """Apply to the last axis."""
        return f.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{shown(self, 'in_features', 'out_features')}, bias={self.bias is not None}"


class Bilinear(Module):
    r"""y_k = x1ᵀ A_k x2 + b_k, with A of shape (out_features, in1_features, in2_features)."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        sizes = (out_features, in1_features, in2_features)
        self.weight = parameter("Bilinear", *sizes, device=device, dtype=dtype)
        own = parameter("Bilinear", out_features, device=device, dtype=dtype) if bias else None
        self.register_parameter("bias", own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        bound = 1.0 / math.sqrt(max(1, self.in1_features))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Any:
        """Apply to the last axes."""
        return f.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes."""
        sizes = shown(self, "in1_features", "in2_features", "out_features")
        return f"{sizes}, bias={self.bias is not None}"


class Flatten(Module):
    """Axes from start_dim to end_dim as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Any:
        """The same elements in another shape."""
        return flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Which axes."""
        return shown(self, "start_dim", "end_dim")


class Unflatten(Module):
    """One axis as several."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Any:
        """The same elements in another shape."""
        return unflatten(input, self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Which axis, which sizes."""
        return shown(self, "dim", "unflattened_size")
