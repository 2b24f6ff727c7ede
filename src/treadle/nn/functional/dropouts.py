"""Dropout: what sets elements or whole channels to nothing at random.

`inplace` means nothing here: see `activations`.
"""

from __future__ import annotations

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.random import bernoulli
from treadle.tensor.tensor import Tensor

FLOOR = -1.7580993408473766  # what selu tends to far below 0: minus its scale times its alpha


def _require(what: str, p: float) -> None:
    if not isinstance(p, int | float) or not 0.0 <= p <= 1.0:
        raise ArgumentError(explain(what, "p is a probability", got=repr(p)))


def _dropped(what: str, x: Tensor, p: float, training: bool, shape: Shape) -> Tensor:
    """x with a draw for each element of a shape that broadcasts to it."""
    _require(what, p)
    if not training or p == 0.0:
        return x
    if p == 1.0:
        return x * 0.0
    kept = bernoulli(shape, 1.0 - p, device=x.device)
    return f.where(kept, x * (1.0 / (1.0 - p)), 0.0)


def _per_channel(what: str, x: Tensor, lead: int, axes: tuple[int, int]) -> Shape:
    """One number for each channel: for each element of the first `lead` axes."""
    if x.ndim not in axes:
        hint = f"input has {axes[0]} or {axes[1]} axes"
        raise ShapeError(explain(what, "wrong number of axes", hint, shape=x.shape))
    return (*x.shape[:lead], *(1,) * (x.ndim - lead))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability p, the others grown by 1 / (1 - p).

    Not training: input itself.
    """
    return _dropped("dropout", input, p, training, input.shape)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) set to 0 with probability p."""
    shape = _per_channel("dropout1d", input, input.ndim - 1, (2, 3))
    return _dropped("dropout1d", input, p, training, shape)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels (the first two axes) of (N, C, H, W) or (N, C, L) set to 0.

    PyTorch reads three axes as (N, C, L) here, not as (C, H, W).
    """
    shape = _per_channel("dropout2d", input, 2, (3, 4))
    return _dropped("dropout2d", input, p, training, shape)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) set to 0 with probability p."""
    shape = _per_channel("dropout3d", input, input.ndim - 3, (4, 5))
    return _dropped("dropout3d", input, p, training, shape)


def _alpha(what: str, x: Tensor, p: float, training: bool, shape: Shape) -> Tensor:
    """x with elements at selu's floor, scaled so that mean and variance stay."""
    _require(what, p)
    if not training or p == 0.0:
        return x
    if p == 1.0:
        return x * 0.0
    scale = ((1.0 - p) * (1.0 + p * FLOOR**2)) ** -0.5
    kept = bernoulli(shape, 1.0 - p, device=x.device)
    return f.where(kept, x, FLOOR) * scale - scale * p * FLOOR


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout for selu: mean 0 and variance 1 stay what they are."""
    return _alpha("alpha_dropout", input, p, training, input.shape)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """alpha_dropout of whole channels: the first two axes of (N, C, ...)."""
    if input.ndim < 2:
        raise ShapeError(explain("feature_alpha_dropout", "too few axes", shape=input.shape))
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    return _alpha("feature_alpha_dropout", input, p, training, shape)
