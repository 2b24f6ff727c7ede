"""Treadle: every op a row of a table, every program a graph, every kernel compiled from Python."""

# isort: off
# fmt: off
from treadle import nn, optim, random
from treadle.base.dtypes import (
    bfloat16, bool_ as bool, float16, float32, float64, int8, int16, int32, int64,
    promote as promote_types, uint8, uint16, uint32, uint64,
)
from treadle.base.errors import TreadleError
from treadle.base.knobs import override
from treadle.base.shapes import Dim
from treadle.ops.composite import (
    argmax, argmin, clip, gelu, isnan, linear, logsumexp, matmul, mean, reciprocal, relu, rsqrt,
    sign, silu, square, take, var,
)
from treadle.ops.neural import (
    cross_entropy, layer_norm, log_softmax, scaled_dot_product_attention, softmax,
)
from treadle.ops.contract import gather, scatter_add
from treadle.ops.elementwise import (
    abs_ as abs, add, bitwise_and, bitwise_or, bitwise_xor, cast, cos, detach, div, eq, erf,
    exp, floor, floor_divide, ge, gt, le, log, lt, maximum, minimum, mul, ne, neg, pow_ as pow,
    remainder, shift_left, shift_right, sigmoid, sin, sqrt, sub, tanh, where,
)
from treadle.ops.movement import concat, expand, flip, pad, permute, reshape
from treadle.ops.reduce import max_ as max, min_ as min, sum_ as sum
from treadle.random import manual_seed
from treadle.tensor.creation import (
    arange, from_numpy, full, ones, ones_like, tensor, zeros, zeros_like,
)
from treadle.tensor.tensor import Tensor, gradients, no_grad, realize
from treadle.transforms.compile import compile
from treadle.transforms.explain import explain
from treadle.transforms.grad import grad, value_and_grad

__version__ = "0.1.0"

__all__ = [
    "Dim", "Tensor", "TreadleError", "__version__", "abs", "add", "arange", "argmax", "argmin",
    "bfloat16", "bitwise_and", "bitwise_or", "bitwise_xor", "bool", "cast", "clip", "compile",
    "concat", "cos", "cross_entropy", "detach", "div", "eq", "erf", "exp", "expand", "explain",
    "flip", "float16", "float32", "float64", "floor", "floor_divide", "from_numpy", "full",
    "gather", "ge", "gelu", "grad", "gradients", "gt", "int8", "int16", "int32", "int64",
    "isnan", "layer_norm", "le", "linear", "log", "log_softmax", "logsumexp", "lt",
    "manual_seed", "matmul", "max", "maximum", "mean", "min", "minimum", "mul", "ne", "neg",
    "nn", "no_grad", "ones", "ones_like", "optim", "override", "pad", "permute", "pow",
    "promote_types", "random", "realize", "reciprocal", "relu", "remainder", "reshape", "rsqrt",
    "scaled_dot_product_attention", "scatter_add", "shift_left", "shift_right", "sigmoid",
    "sign", "silu", "sin", "softmax", "sqrt", "square", "sub", "sum", "take", "tanh", "tensor",
    "uint8", "uint16", "uint32", "uint64", "value_and_grad", "var", "where", "zeros",
    "zeros_like",
]
# fmt: on
