"""Treadle: every op a row of a table, every program a graph, every kernel compiled from Python."""

# isort: off
# fmt: off
from treadle import nn, optim, random
from treadle.base.dtypes import (
    bfloat16, bool_ as bool, float16, float32, float64, float8_e4m3fn, float8_e5m2, int8, int16,
    int32, int64, promote as promote_types, uint8, uint16, uint32, uint64,
)
from treadle.base.errors import TreadleError
from treadle.base.knobs import override
from treadle.base.limits import can_cast, finfo, iinfo, isdtype, result_type
from treadle.base.shapes import Dim
from treadle.random import manual_seed
from treadle.tensor.gradients import gradients, no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.transforms.compile import compile
from treadle.transforms.explain import explain
from treadle.transforms.grad import grad, value_and_grad

__version__ = "0.1.0"

__all__ = [
    "Dim", "Tensor", "TreadleError", "__version__", "bfloat16", "bool", "can_cast", "compile",
    "explain", "finfo", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "grad",
    "gradients", "iinfo", "int16", "int32", "int64", "int8", "isdtype", "manual_seed", "nn",
    "no_grad", "optim", "override", "promote_types", "random", "realize", "result_type", "uint16",
    "uint32", "uint64", "uint8", "value_and_grad",
]

# <gen imports>
from treadle.functions import (
    abs, absolute, acos, acosh, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,
    adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, add, all, allclose, any, argmax,
    argmin, argsort, argwhere, as_strided, asin, asinh, atan, atan2, atanh, avg_pool1d, avg_pool2d,
    avg_pool3d, bincount, bitcast, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_not,
    bitwise_or, bitwise_right_shift, bitwise_xor, broadcast_arrays, broadcast_tensors, broadcast_to,
    cast, cat, ceil, celu, chunk, clamp, clip, clone, concat, contiguous, conv1d, conv2d, conv3d,
    conv_transpose1d, conv_transpose2d, conv_transpose3d, copysign, cos, cosh, count_nonzero,
    cross_entropy, cummax, cummin, cumprod, cumsum, cumulative_prod, cumulative_sum, detach, diag,
    diagonal, diff, digamma, div, divide, dot, dstack, elu, eq, equal, erf, erfc, erfinv, exp, exp2,
    expand, expand_dims, expm1, flatten, flip, float_power, floor, floor_divide, fmax, fmin, fmod,
    fold, fractional_max_pool2d, fractional_max_pool3d, gather, ge, gelu, glu, greater,
    greater_equal, gt, hardshrink, hardsigmoid, hardswish, hardtanh, hstack, hypot, index_add,
    isclose, isfinite, isinf, isnan, layer_norm, le, leaky_relu, lerp, less, less_equal, lgamma,
    linear, log, log10, log1p, log2, log_softmax, logaddexp, logcumsumexp, logical_and, logical_not,
    logical_or, logical_xor, logsigmoid, logsumexp, lp_pool1d, lp_pool2d, lp_pool3d, lt,
    masked_fill, masked_select, matmul, matrix_transpose, max, max_pool1d, max_pool2d, max_pool3d,
    maximum, mean, median, meshgrid, min, minimum, mish, moveaxis, movedim, mul, multiply,
    nan_to_num, ne, neg, negative, nextafter, nonzero, norm, not_equal, one_hot, pad, permute,
    permute_dims, pool, positive, pow, prelu, prod, put_along_axis, quantile, ravel, reciprocal,
    relu, relu6, remainder, repeat, repeat_interleave, reshape, roll, rot90, round, rsqrt,
    scaled_dot_product_attention, scatter, scatter_add, scatter_max, scatter_min, scatter_mul,
    scatter_reduce, searchsorted, selu, shear, shift_left, shift_right, sigmoid, sign, signbit,
    silu, sin, sinh, slice, softmax, softplus, softshrink, softsign, sort, split, sqrt, square,
    squeeze, stack, std, sub, subtract, sum, swapaxes, take, take_along_axis, tan, tanh, tanhshrink,
    threshold, tile, topk, trace, transpose, tril, triu, true_divide, trunc, unbind, unflatten,
    unfold, unique, unique_all, unique_counts, unique_inverse, unique_values, unsqueeze, unstack,
    var, vector_norm, view, vstack, where, windows,
)
from treadle.tensor.creation import (
    arange, asarray, empty, empty_like, eye, from_dlpack, from_numpy, full, full_like, linspace,
    logspace, ones, ones_like, tensor, zeros, zeros_like,
)
# <sums huxhai45aggena6tygvbi4m2woassf4lehchkiqcsn5tzznu2drf5tyzobw5dtck2u3ovhvthn23kbym>
# <sums mda7iq7mcabx5gn4gq267j3yqghptdvviil64otejcwotqlt4updpqbjan4l46ac2qorkazvit5suhl4>
# </gen imports 46ac2>

# <gen names>
__all__ += [
    "abs", "absolute", "acos", "acosh", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "add", "all", "allclose", "any", "arange", "argmax", "argmin", "argsort", "argwhere",
    "as_strided", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "bincount", "bitcast", "bitwise_and", "bitwise_invert", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "broadcast_arrays",
    "broadcast_tensors", "broadcast_to", "cast", "cat", "ceil", "celu", "chunk", "clamp", "clip",
    "clone", "concat", "contiguous", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "copysign", "cos", "cosh", "count_nonzero",
    "cross_entropy", "cummax", "cummin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum",
    "detach", "diag", "diagonal", "diff", "digamma", "div", "divide", "dot", "dstack", "elu",
    "empty", "empty_like", "eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expand",
    "expand_dims", "expm1", "eye", "flatten", "flip", "float_power", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "fold", "fractional_max_pool2d", "fractional_max_pool3d", "from_dlpack",
    "from_numpy", "full", "full_like", "gather", "ge", "gelu", "glu", "greater", "greater_equal",
    "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hstack", "hypot", "index_add",
    "isclose", "isfinite", "isinf", "isnan", "layer_norm", "le", "leaky_relu", "lerp", "less",
    "less_equal", "lgamma", "linear", "linspace", "log", "log10", "log1p", "log2", "log_softmax",
    "logaddexp", "logcumsumexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logsigmoid", "logspace", "logsumexp", "lp_pool1d", "lp_pool2d", "lp_pool3d", "lt",
    "masked_fill", "masked_select", "matmul", "matrix_transpose", "max", "max_pool1d", "max_pool2d",
    "max_pool3d", "maximum", "mean", "median", "meshgrid", "min", "minimum", "mish", "moveaxis",
    "movedim", "mul", "multiply", "nan_to_num", "ne", "neg", "negative", "nextafter", "nonzero",
    "norm", "not_equal", "one_hot", "ones", "ones_like", "pad", "permute", "permute_dims", "pool",
    "positive", "pow", "prelu", "prod", "put_along_axis", "quantile", "ravel", "reciprocal", "relu",
    "relu6", "remainder", "repeat", "repeat_interleave", "reshape", "roll", "rot90", "round",
    "rsqrt", "scaled_dot_product_attention", "scatter", "scatter_add", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_reduce", "searchsorted", "selu", "shear", "shift_left", "shift_right",
    "sigmoid", "sign", "signbit", "silu", "sin", "sinh", "slice", "softmax", "softplus",
    "softshrink", "softsign", "sort", "split", "sqrt", "square", "squeeze", "stack", "std", "sub",
    "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tanhshrink", "tensor",
    "threshold", "tile", "topk", "trace", "transpose", "tril", "triu", "true_divide", "trunc",
    "unbind", "unflatten", "unfold", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unsqueeze", "unstack", "var", "vector_norm", "view", "vstack", "where",
    "windows", "zeros", "zeros_like",
]
# <sums wcm3d3a27dntzumvpz2eifjw6fie6sgw5vk7mb6yoz6liu7uv4rlvrutspewh2n53omqmkbtobizwqpg4jd6h>
# <sums wyvtkpg4h3hoyt4jvm5gtwp5mjyodyjkf35s5y43kc55hhxexvbxa3xk7yla7p3wwhso73la4ynuxpzrkutct>
# </gen names gaoy75ng6acljr4>
