"""Layers: parameters as a tree of modules."""

from treadle.nn import functional
from treadle.nn.layers import GELU, Dropout, Embedding, LayerNorm, Linear, ReLU, Sequential
from treadle.nn.module import Module, Parameter

__all__ = [
    "GELU", "Dropout", "Embedding", "LayerNorm", "Linear", "Module", "Parameter", "ReLU",
    "Sequential", "functional",
]  # fmt: skip
