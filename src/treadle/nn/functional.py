"""Layers without parameters, under the names PyTorch gives them."""

from treadle.ops.composite import (
    gelu,
    linear,
    relu,
    silu,
)
from treadle.ops.elementwise import sigmoid
from treadle.ops.neural import (
    cross_entropy,
    layer_norm,
    log_softmax,
    scaled_dot_product_attention,
    softmax,
)  # fmt: skip

__all__ = [
    "cross_entropy", "gelu", "layer_norm", "linear", "log_softmax", "relu",
    "scaled_dot_product_attention", "sigmoid", "silu", "softmax",
]  # fmt: skip
