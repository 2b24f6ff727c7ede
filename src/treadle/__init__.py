"""Treadle: every op a row of a table, every program a graph, every kernel compiled from Python."""

# isort: off
# fmt: off
from importlib import import_module
from typing import TYPE_CHECKING, Any

from treadle import random
from treadle.base.device import Device
from treadle.base.dtypes import (
    bfloat16, bool_ as bool, complex64, complex128, float16, float32, float64, float8_e4m3fn,
    float8_e5m2, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
)
from treadle.base.errors import TreadleError
from treadle.base.knobs import override
from treadle.base.limits import can_cast, finfo, iinfo, isdtype, promote_types, result_type
from treadle.base.shapes import Dim
from treadle.random import manual_seed, rand, randint, randn, randperm
from treadle.tensor.gradients import enable_grad, gradients, is_grad_enabled, no_grad
from treadle.tensor.memory_report import memory_report
from treadle.tensor.namespace import (
    astype, broadcast_shapes, e, inf, nan, namespace_info as __array_namespace_info__, newaxis, pi,
    version as __array_api_version__,
)
from treadle.tensor.picture import draw, graph
from treadle.tensor.precision import get_matmul_precision, set_matmul_precision
from treadle.tensor.tensor import Tensor, realize
from treadle.transforms.branches import cond, switch, while_loop
from treadle.transforms.checkpoint import checkpoint
from treadle.transforms.compile import compile
from treadle.transforms.explain import explain
from treadle.transforms.grad import grad, jvp, value_and_grad, vjp
from treadle.transforms.jacobian import hessian, jacobian
from treadle.transforms.loops import fori_loop, map, scan
from treadle.transforms.tune import tune

if TYPE_CHECKING:
    from treadle import amp, cuda, data, fft, io, linalg, logs, models, nn, optim
    from treadle.io import load, save

__version__ = "0.1.0"

__all__ = [
    "Device", "Dim", "Tensor", "TreadleError", "__array_api_version__", "__array_namespace_info__",
    "__version__", "amp", "astype", "bfloat16", "bool", "broadcast_shapes", "can_cast",
    "checkpoint", "compile", "complex128", "complex64", "cond", "cuda", "data", "draw", "e",
    "enable_grad", "explain", "fft", "finfo", "float16", "float32", "float64", "float8_e4m3fn",
    "float8_e5m2", "fori_loop", "get_matmul_precision", "grad", "gradients", "graph", "hessian",
    "iinfo", "inf", "int16", "int32", "int64", "int8", "io", "is_grad_enabled", "isdtype",
    "jacobian", "jvp", "linalg", "load", "logs", "manual_seed", "map", "memory_report", "models",
    "nan", "newaxis", "nn", "no_grad", "optim", "override", "pi", "promote_types", "rand",
    "randint", "randn", "random", "randperm", "realize", "result_type", "save", "scan",
    "set_matmul_precision", "switch", "tune", "uint16", "uint32", "uint64", "uint8",
    "value_and_grad", "vjp", "while_loop",
]

# <gen imports>
from treadle.functions import (
    abs, absolute, acos, acosh, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,
    adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, add, all, allclose, angle, any,
    argmax, argmin, argsort, argwhere, as_strided, asin, asinh, atan, atan2, atanh, avg_pool1d,
    avg_pool2d, avg_pool3d, batch_norm, binary_cross_entropy, binary_cross_entropy_with_logits,
    bincount, bitcast, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or,
    bitwise_right_shift, bitwise_xor, bmm, broadcast_arrays, broadcast_tensors, broadcast_to, cast,
    cat, ceil, celu, chunk, clamp, clip, clone, complex, concat, conj, contiguous, conv1d, conv2d,
    conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, copysign, cos, cosh,
    cosine_similarity, count_nonzero, cross_entropy, cummax, cummin, cumprod, cumsum,
    cumulative_prod, cumulative_sum, dequantize, detach, diag, diagonal, diff, digamma, div, divide,
    dot, dstack, einsum, elu, embedding, eq, equal, erf, erfc, erfinv, exp, exp2, expand,
    expand_dims, expm1, flatten, flip, float_power, floor, floor_divide, fmax, fmin, fmod, fold,
    fractional_max_pool2d, fractional_max_pool3d, gather, gaussian_nll_loss, ge, gelu, ger, glu,
    greater, greater_equal, group_norm, gt, hardshrink, hardsigmoid, hardswish, hardtanh,
    hinge_embedding_loss, hstack, huber_loss, hypot, imag, index_add, index_select, inner,
    instance_norm, interpolate, isclose, isfinite, isin, isinf, isnan, isreal, istft, kl_div, kron,
    l1_loss, layer_norm, le, leaky_relu, lerp, less, less_equal, lgamma, linear, log, log10, log1p,
    log2, log_softmax, logaddexp, logcumsumexp, logical_and, logical_not, logical_or, logical_xor,
    logsigmoid, logsumexp, lp_pool1d, lp_pool2d, lp_pool3d, lt, margin_ranking_loss, masked_fill,
    masked_select, matmul, matrix_product, matrix_transpose, max, max_pool1d, max_pool2d,
    max_pool3d, maximum, mean, median, meshgrid, min, minimum, mish, moveaxis, movedim, mse_loss,
    mul, multiply, mv, nan_to_num, ne, neg, negative, nextafter, nll_loss, nonzero, norm, normalize,
    not_equal, one_hot, outer, pad, permute, permute_dims, pixel_shuffle, pixel_unshuffle,
    poisson_nll_loss, polar, pool, positive, pow, prelu, prod, put_along_axis, quantile, quantize,
    ravel, real, reciprocal, relu, relu6, remainder, repeat, repeat_interleave, resample, reshape,
    rms_norm, roll, rot90, round, rsqrt, scaled_dot_product_attention, scatter, scatter_add,
    scatter_max, scatter_min, scatter_mul, scatter_reduce, searchsorted, selu, shift_left,
    shift_right, sigmoid, sign, signbit, silu, sin, sinh, slice, smooth_l1_loss, softmax, softplus,
    softshrink, softsign, sort, split, sqrt, square, squeeze, stack, std, stft, sub, subtract, sum,
    swapaxes, take, take_along_axis, tan, tanh, tanhshrink, tensordot, threshold, tile, topk, trace,
    transpose, tril, triu, true_divide, trunc, unbind, unflatten, unfold, unique, unique_all,
    unique_counts, unique_inverse, unique_values, unsqueeze, unstack, var, vdot, vecdot,
    vector_norm, view, view_as_complex, view_as_real, vstack, where, windows,
)
from treadle.tensor.creation import (
    arange, asarray, empty, empty_like, eye, from_dlpack, from_numpy, full, full_like, linspace,
    logspace, ones, ones_like, tensor, zeros, zeros_like,
)
# <sums huxhai45agcpfxq52t5tc6s43cushltgkd7bro7qddvalq462n5n4xn5zbbvspltcclyjnquteeugqjy>
# <sums 65dwfjotv2nkoi4fhi34iypczldotpaqmzbivwbkrjwpkq2ukzzf5iwiu2tprrlortd7xzgbdfbdhyw4>
# </gen imports njjmt66gpx46ac2qorkazvit5suhl446ac2>

# <gen names>
__all__ += [
    "abs", "absolute", "acos", "acosh", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "add", "all", "allclose", "angle", "any", "arange", "argmax", "argmin", "argsort", "argwhere",
    "as_strided", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "bincount", "bitcast", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm", "broadcast_arrays",
    "broadcast_tensors", "broadcast_to", "cast", "cat", "ceil", "celu", "chunk", "clamp", "clip",
    "clone", "complex", "concat", "conj", "contiguous", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "copysign", "cos", "cosh",
    "cosine_similarity", "count_nonzero", "cross_entropy", "cummax", "cummin", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "dequantize", "detach", "diag", "diagonal", "diff",
    "digamma", "div", "divide", "dot", "dstack", "einsum", "elu", "embedding", "empty",
    "empty_like", "eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expand_dims",
    "expm1", "eye", "flatten", "flip", "float_power", "floor", "floor_divide", "fmax", "fmin",
    "fmod", "fold", "fractional_max_pool2d", "fractional_max_pool3d", "from_dlpack", "from_numpy",
    "full", "full_like", "gather", "gaussian_nll_loss", "ge", "gelu", "ger", "glu", "greater",
    "greater_equal", "group_norm", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hinge_embedding_loss", "hstack", "huber_loss", "hypot", "imag", "index_add", "index_select",
    "inner", "instance_norm", "interpolate", "isclose", "isfinite", "isin", "isinf", "isnan",
    "isreal", "istft", "kl_div", "kron", "l1_loss", "layer_norm", "le", "leaky_relu", "lerp",
    "less", "less_equal", "lgamma", "linear", "linspace", "log", "log10", "log1p", "log2",
    "log_softmax", "logaddexp", "logcumsumexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logsigmoid", "logspace", "logsumexp", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "lt", "margin_ranking_loss", "masked_fill", "masked_select", "matmul", "matrix_product",
    "matrix_transpose", "max", "max_pool1d", "max_pool2d", "max_pool3d", "maximum", "mean",
    "median", "meshgrid", "min", "minimum", "mish", "moveaxis", "movedim", "mse_loss", "mul",
    "multiply", "mv", "nan_to_num", "ne", "neg", "negative", "nextafter", "nll_loss", "nonzero",
    "norm", "normalize", "not_equal", "one_hot", "ones", "ones_like", "outer", "pad", "permute",
    "permute_dims", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "polar", "pool",
    "positive", "pow", "prelu", "prod", "put_along_axis", "quantile", "quantize", "ravel", "real",
    "reciprocal", "relu", "relu6", "remainder", "repeat", "repeat_interleave", "resample",
    "reshape", "rms_norm", "roll", "rot90", "round", "rsqrt", "scaled_dot_product_attention",
    "scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "scatter_reduce",
    "searchsorted", "selu", "shift_left", "shift_right", "sigmoid", "sign", "signbit", "silu",
    "sin", "sinh", "slice", "smooth_l1_loss", "softmax", "softplus", "softshrink", "softsign",
    "sort", "split", "sqrt", "square", "squeeze", "stack", "std", "stft", "sub", "subtract", "sum",
    "swapaxes", "take", "take_along_axis", "tan", "tanh", "tanhshrink", "tensor", "tensordot",
    "threshold", "tile", "topk", "trace", "transpose", "tril", "triu", "true_divide", "trunc",
    "unbind", "unflatten", "unfold", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unsqueeze", "unstack", "var", "vdot", "vecdot", "vector_norm", "view",
    "view_as_complex", "view_as_real", "vstack", "where", "windows", "zeros", "zeros_like",
]
# <sums wcm3d3a27dntzumw7eh6ifjw63gph6w5e2l3ilu37mb6ybwcc6p23ydkg362rjrzxyzsbkrlfy7yab7unq3hm>
# <sums sfrnyasku37d4lnn33lf46xn42i25dgs52vxi7ihv4ez73irz7u2vxuvs3oywxafr6aannj7jelat4tjpxu3m>
# </gen names 5gfmk2hrybks7245tua7yqioluxpzrkutctkypr7qvuticljr4>

LATE = ("amp", "cuda", "data", "fft", "io", "linalg", "logs", "models", "nn", "optim")
FROM_FILES = ("load", "save")
"""Parts that are loaded when somebody asks for them."""


def __getattr__(name: str) -> Any:
    if name in LATE:
        return import_module(f"treadle.{name}")
    if name in FROM_FILES:
        return getattr(import_module("treadle.io"), name)
    raise AttributeError(f"module 'treadle' has no attribute {name!r}")
