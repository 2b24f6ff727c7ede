"""Activations by the names that configurations of the originals give them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from treadle.base.errors import ArgumentError, explain
from treadle.functions import gelu, relu, silu, tanh
from treadle.tensor.tensor import Tensor

_TANH = partial(gelu, approximate="tanh")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": gelu, "gelu_new": _TANH, "gelu_pytorch_tanh": _TANH, "gelu_fast": _TANH,
    "relu": relu, "silu": silu, "swish": silu, "tanh": tanh,
}  # fmt: skip


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """The function that a configuration names."""
    if name not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ArgumentError(explain("models", "no such activation", f"known: {known}", got=name))
    return ACTIVATIONS[name]
