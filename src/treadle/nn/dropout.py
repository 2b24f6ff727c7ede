"""Layers that set elements to 0 by chance while training."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.nn import functional as f
from treadle.nn.module import Module
from treadle.nn.tree import shown
from treadle.tensor.tensor import Tensor


class _Dropout(Module):
    """What all kinds share: a probability, and an option that changes nothing."""

    _function: Any

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if isinstance(p, bool) or not isinstance(p, int | float) or not 0.0 <= p <= 1.0:
            raise ArgumentError(explain(type(self).__name__, "p is a probability", got=repr(p)))
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise, or to whole channels."""
        return self._function(input, self.p, self.training)

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "p", "inplace")


class Dropout(_Dropout):
    """Elements set to 0 with probability p while training, the others grown to make up for it."""

    _function = staticmethod(f.dropout)


class Dropout1d(_Dropout):
    """Channels of (batch, channels, length) set to 0 with probability p while training."""

    _function = staticmethod(f.dropout1d)


class Dropout2d(_Dropout):
    """Channels of (batch, channels, height, width) set to 0 with probability p while training."""

    _function = staticmethod(f.dropout2d)


class Dropout3d(_Dropout):
    """Channels of volumes set to 0 with probability p while training."""

    _function = staticmethod(f.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout that keeps the mean and the variance of what a SELU makes."""

    _function = staticmethod(f.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels."""

    _function = staticmethod(f.feature_alpha_dropout)
