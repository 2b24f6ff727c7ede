"""Gradients against finite differences, in float64 and complex128."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treadle.tensor.creation import tensor
from treadle.tensor.gradients import gradients
from treadle.tensor.tensor import Tensor

STEP = 2.0**-17  # a power of two; the cube root of the rounding error of float64, about
WIDE = (np.float64, np.complex128)
TOLERANCE = 1e-6  # of the largest derivative: STEP squared times a third derivative, and rounding


def gradcheck(
    function: Callable[..., Tensor],
    arrays: Sequence[Any],
    wrt: Sequence[int] | None = None,
    directions: int = 8,
    seed: int = 0,
) -> None:
    """Raise AssertionError where function's gradient is not its slope.

    The result is weighed by random numbers to one scalar; its slope is measured along axes, all of
    them if there are few, and along random directions. Floating-point operands must be float64 or
    complex128; the latter are moved along both axes of the plane.

    >>> gradcheck(lambda x: x * x, [np.array([1.0, 2.0])])
    """
    rng = np.random.default_rng(seed)
    chosen = [k for k, x in enumerate(arrays) if x.dtype in WIDE] if wrt is None else wrt
    inputs = [tensor(x, requires_grad=k in chosen) for k, x in enumerate(arrays)]
    result = function(*inputs)
    weights = rng.uniform(0.5, 1.5, result.shape)
    if result.dtype.is_complex:
        weights = weights + 1j * rng.uniform(-1.0, 1.0, result.shape)

    def value(k: int, moved: Any) -> float:
        operands = [tensor(moved) if n == k else x for n, x in enumerate(inputs)]
        return float((function(*operands) * tensor(np.conj(weights))).sum().real)

    found = gradients(result, [inputs[k] for k in chosen], tensor(weights))
    for k, gradient in zip(chosen, found, strict=True):
        own = gradient.numpy()
        if own.shape != arrays[k].shape or own.dtype != arrays[k].dtype:
            raise AssertionError(f"operand {k}: gradient is {own.dtype}{own.shape}")
        turns = (1, 1j) if own.dtype.kind == "c" else (1,)
        steps = _directions(arrays[k].shape, directions, rng)
        for along in [turn * step for turn in turns for step in steps]:
            high, low = (value(k, arrays[k] + s * STEP * along) for s in (1, -1))
            slope, expected = (high - low) / (2 * STEP), float((own.conj() * along).sum().real)
            scale = max(1.0, float(np.abs(own).max(initial=0)) * np.sqrt(np.abs(along).sum()))
            if not abs(slope - expected) <= TOLERANCE * scale:
                at = np.argwhere(along)[:1].tolist()
                raise AssertionError(f"operand {k} at {at}: gradient {expected}, slope {slope}")


def _directions(shape: tuple[int, ...], count: int, rng: np.random.Generator) -> list[Any]:
    """Unit steps along axes of the space of elements, and random signs."""
    size = int(np.prod(shape))
    axes = range(size) if size <= 2 * count else rng.choice(size, count, replace=False)
    found = [np.eye(1, size, n).reshape(shape) for n in axes]
    return found + [rng.choice([-1.0, 1.0], shape) for _ in range(2 if size else 0)]
