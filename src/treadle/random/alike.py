"""Random tensors in the shape of another, by PyTorch's names."""

from __future__ import annotations

from typing import Any

from treadle.ops.defs import Kind, makes_tensors
from treadle.random.discrete import randint
from treadle.random.distributions import Where, rand, randn
from treadle.tensor.tensor import Tensor


@makes_tensors(Kind.RANDOM)
def rand_like(
    x: Tensor, /, dtype: Any = None, device: Where | None = None, requires_grad: bool = False,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Floats in [0, 1), equally likely, of x's shape, dtype and device."""
    kind, place = dtype or x.dtype, device or x.device
    return rand(x.shape, dtype=kind, device=place, requires_grad=requires_grad, key=key)


@makes_tensors(Kind.RANDOM)
def randn_like(
    x: Tensor, /, dtype: Any = None, device: Where | None = None, requires_grad: bool = False,
    key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Normally distributed floats of x's shape, dtype and device."""
    kind, place = dtype or x.dtype, device or x.device
    return randn(x.shape, dtype=kind, device=place, requires_grad=requires_grad, key=key)


@makes_tensors(Kind.RANDOM)
def randint_like(
    x: Tensor, /, low: int, high: int | None = None, dtype: Any = None,
    device: Where | None = None, key: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Integers in [low, high), or in [0, low), of x's shape, dtype and device; also as floats."""
    kind = dtype or x.dtype
    place = device or x.device
    return randint(low, high, x.shape, device=place, key=key).cast(kind)
