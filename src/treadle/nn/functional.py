"""Layers without parameters, under the names PyTorch gives them."""

from treadle.functions import (
    cross_entropy,
    gelu,
    layer_norm,
    linear,
    log_softmax,
    relu,
    scaled_dot_product_attention,
    sigmoid,
    silu,
    softmax,
)

__all__ = [
    "cross_entropy", "gelu", "layer_norm", "linear", "log_softmax", "relu",
    "scaled_dot_product_attention", "sigmoid", "silu", "softmax",
]  # fmt: skip
