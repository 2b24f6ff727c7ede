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
from treadle.base.knobs import TRACE, override
from treadle.base.limits import can_cast, finfo, iinfo, isdtype, promote_types, result_type
from treadle.base.shapes import Dim
from treadle.random import (
    manual_seed, rand, rand_like, randint, randint_like, randn, randn_like, randperm,
)
from treadle.runtime.spans import span
from treadle.tensor.gradients import enable_grad, gradients, is_grad_enabled, no_grad
from treadle.tensor.namespace import (
    astype, broadcast_shapes, e, inf, is_complex, nan, namespace_info as __array_namespace_info__,
    newaxis, pi, version as __array_api_version__,
)
from treadle.tensor.picture import draw, graph
from treadle.tensor.precision import (
    get_matmul_precision, is_deterministic, set_deterministic, set_matmul_precision,
)
from treadle.tensor.tensor import Tensor, realize
from treadle.transforms.checkpoint import checkpoint
from treadle.transforms.compile import compile
from treadle.transforms.explain import explain
from treadle.transforms.grad import grad, value_and_grad, vjp
from treadle.transforms.tune import tune

if TYPE_CHECKING:
    from treadle import amp, cuda, data, fft, io, linalg, logs, models, nn, optim
    from treadle.io import load, save
    from treadle.profiler.profile import profile
    from treadle.tensor.memory_record import record_memory
    from treadle.tensor.memory_report import memory_report
    from treadle.tensor.placing import pin_memory
    from treadle.transforms.anomaly import detect_anomaly
    from treadle.transforms.branches import cond, switch, while_loop
    from treadle.transforms.counting import fori_loop
    from treadle.transforms.custom import custom_gradient, custom_jvp, custom_vjp
    from treadle.transforms.forward import jvp, linearize
    from treadle.transforms.jacobian import hessian, jacfwd, jacobian, jacrev
    from treadle.transforms.loops import map, scan
    from treadle.transforms.vmap import vmap

__version__ = "0.1.0"

__all__ = [
    "Device", "Dim", "Tensor", "TreadleError", "__array_api_version__", "__array_namespace_info__",
    "__version__", "amp", "astype", "bfloat16", "bool", "broadcast_shapes", "can_cast",
    "checkpoint", "compile", "complex128", "complex64", "cond", "cuda", "custom_gradient",
    "custom_jvp", "custom_vjp", "data", "detect_anomaly", "draw", "e", "enable_grad", "explain",
    "fft", "finfo", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "fori_loop",
    "get_matmul_precision", "grad", "gradients", "graph", "hessian", "iinfo", "inf", "int16",
    "int32", "int64", "int8", "io", "is_complex", "is_deterministic", "is_grad_enabled", "isdtype",
    "jacfwd", "jacobian", "jacrev", "jvp", "linalg", "linearize", "load", "logs", "manual_seed",
    "map", "memory_report", "models", "nan", "newaxis", "nn", "no_grad", "optim", "override", "pi",
    "pin_memory",
    "profile", "promote_types", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random", "randperm", "realize", "record_memory", "result_type", "save", "scan",
    "set_deterministic", "set_matmul_precision", "span", "switch", "tune", "uint16", "uint32",
    "uint64", "uint8", "value_and_grad", "vjp", "vmap", "while_loop",
]

# <gen imports>
from treadle.functions import (
    abs, absolute, acos, acosh, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,
    adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, add, addbmm, addcdiv, addcmul,
    addmm, addmv, addr, all, allclose, amax, amin, aminmax, angle, any, arccos, arccosh, arcsin,
    arcsinh, arctan, arctan2, arctanh, argmax, argmin, argsort, argwhere, as_strided, asin, asinh,
    atan, atan2, atanh, atleast_1d, atleast_2d, atleast_3d, avg_pool1d, avg_pool2d, avg_pool3d,
    baddbmm, batch_norm, binary_cross_entropy, binary_cross_entropy_with_logits, bincount, bitcast,
    bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift,
    bitwise_xor, block_diag, bmm, broadcast_arrays, broadcast_tensors, broadcast_to, bucketize,
    cartesian_prod, cast, cat, cdist, ceil, celu, chain_matmul, chunk, clamp, clamp_max, clamp_min,
    clip, clone, column_stack, combinations, complex, concat, concatenate, conj, contiguous, conv1d,
    conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, copysign, corrcoef, cos,
    cosh, cosine_similarity, count_nonzero, cov, cross, cross_entropy, cummax, cummin, cumprod,
    cumsum, cumulative_prod, cumulative_sum, cumulative_trapezoid, deg2rad, dequantize, detach,
    diag, diag_embed, diagflat, diagonal, diagonal_scatter, diff, digamma, dist, div, divide, dot,
    dsplit, dstack, einsum, elu, embedding, eq, equal, erf, erfc, erfinv, exp, exp2, expand,
    expand_as, expand_dims, expm1, fix, flatten, flip, fliplr, flipud, float_power, floor,
    floor_divide, fmax, fmin, fmod, fold, frac, fractional_max_pool2d, fractional_max_pool3d, frexp,
    gather, gaussian_nll_loss, gcd, ge, gelu, ger, glu, greater, greater_equal, group_norm, gt,
    hardshrink, hardsigmoid, hardswish, hardtanh, heaviside, hinge_embedding_loss, histc, histogram,
    hsplit, hstack, huber_loss, hypot, i0, i0e, i1, i1e, imag, index_add, index_copy, index_fill,
    index_put, index_select, inner, instance_norm, interpolate, isclose, isfinite, isin, isinf,
    isnan, isneginf, isposinf, isreal, istft, kl_div, kron, kthvalue, l1_loss, layer_norm, lcm,
    ldexp, le, leaky_relu, lerp, less, less_equal, lgamma, linear, log, log10, log1p, log2,
    log_softmax, logaddexp, logaddexp2, logcumsumexp, logical_and, logical_not, logical_or,
    logical_xor, logit, logsigmoid, logsumexp, lp_pool1d, lp_pool2d, lp_pool3d, lt,
    margin_ranking_loss, masked_fill, masked_scatter, masked_select, matmul, matrix_product,
    matrix_transpose, max, max_pool1d, max_pool2d, max_pool3d, maximum, mean, median, meshgrid, min,
    minimum, mish, mm, mode, moveaxis, movedim, mse_loss, msort, mul, multiply, mv, mvlgamma,
    nan_to_num, nanmean, nanmedian, nanquantile, nansum, narrow, ne, neg, negative, nextafter,
    nll_loss, nonzero, norm, normalize, not_equal, one_hot, outer, pad, permute, permute_dims,
    pixel_shuffle, pixel_unshuffle, poisson_nll_loss, polar, polygamma, pool, positive, pow, prelu,
    prod, put_along_axis, quantile, quantize, rad2deg, ravel, real, reciprocal, relu, relu6,
    remainder, renorm, repeat, repeat_interleave, resample, reshape, reshape_as, rms_norm, roll,
    rot90, round, row_stack, rsqrt, scaled_dot_product_attention, scatter, scatter_add, scatter_max,
    scatter_min, scatter_mul, scatter_reduce, searchsorted, select, select_scatter, selu, sgn,
    shift_left, shift_right, sigmoid, sign, signbit, silu, sin, sinc, sinh, slice, slice_scatter,
    smooth_l1_loss, softmax, softplus, softshrink, softsign, sort, split, sqrt, square, squeeze,
    stack, std, std_mean, stft, sub, subtract, sum, swapaxes, swapdims, take, take_along_axis,
    take_along_dim, tan, tanh, tanhshrink, tensor_split, tensordot, threshold, tile, topk, trace,
    transpose, trapezoid, trapz, tril, triu, true_divide, trunc, unbind, unflatten, unfold, unique,
    unique_all, unique_consecutive, unique_counts, unique_inverse, unique_values, unsqueeze,
    unstack, vander, var, var_mean, vdot, vecdot, vector_norm, view, view_as, view_as_complex,
    view_as_real, vsplit, vstack, where, windows, xlog1py, xlogy, zeta,
)
from treadle.tensor.creation import (
    arange, as_tensor, asarray, empty, empty_like, eye, from_dlpack, from_numpy, full, full_like,
    ones, ones_like, tensor, zeros, zeros_like,
)
from treadle.tensor.spacing import (
    linspace, logspace,
)
from treadle.tensor.tapers import (
    bartlett_window, blackman_window, hamming_window, hann_window, kaiser_window,
)
from treadle.tensor.triangles import (
    tril_indices, triu_indices,
)
# <sums huxhai45agyebfofbrmow44qq2ny3wdyhau5i5xcwoasde463myv4tbxf3fh44q2k5zvgopxi57tgzhr>
# <sums 6dgttckeoirsb7kgw6tq7kbpyj67bsgwmasx7yl6nb6rdadpjkypkvaann4irpbx47v2gse3bbj2iafr>
# <sums t63n3khyaxt73kkdpzkzthkgbhxkdehsnszsusulnddxueifrcrxobnhp4io46ac2qorkab6crgvvjgy>
# </gen imports 46ac2ywxecy5dlx46ac2dzid6irzoe46ac23y4esqit4g46ac2>

# <gen names>
__all__ += [
    "abs", "absolute", "acos", "acosh", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "all", "allclose", "amax",
    "amin", "aminmax", "angle", "any", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "argmax", "argmin", "argsort", "argwhere", "as_strided", "as_tensor",
    "asarray", "asin", "asinh", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "baddbmm", "bartlett_window", "batch_norm",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "bincount", "bitcast",
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "blackman_window", "block_diag", "bmm",
    "broadcast_arrays", "broadcast_tensors", "broadcast_to", "bucketize", "cartesian_prod", "cast",
    "cat", "cdist", "ceil", "celu", "chain_matmul", "chunk", "clamp", "clamp_max", "clamp_min",
    "clip", "clone", "column_stack", "combinations", "complex", "concat", "concatenate", "conj",
    "contiguous", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "copysign", "corrcoef", "cos", "cosh", "cosine_similarity", "count_nonzero",
    "cov", "cross", "cross_entropy", "cummax", "cummin", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "cumulative_trapezoid", "deg2rad", "dequantize", "detach", "diag",
    "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "diff", "digamma", "dist", "div",
    "divide", "dot", "dsplit", "dstack", "einsum", "elu", "embedding", "empty", "empty_like", "eq",
    "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expand_as", "expand_dims", "expm1",
    "eye", "fix", "flatten", "flip", "fliplr", "flipud", "float_power", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "fold", "frac", "fractional_max_pool2d", "fractional_max_pool3d",
    "frexp", "from_dlpack", "from_numpy", "full", "full_like", "gather", "gaussian_nll_loss", "gcd",
    "ge", "gelu", "ger", "glu", "greater", "greater_equal", "group_norm", "gt", "hamming_window",
    "hann_window", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside",
    "hinge_embedding_loss", "histc", "histogram", "hsplit", "hstack", "huber_loss", "hypot", "i0",
    "i0e", "i1", "i1e", "imag", "index_add", "index_copy", "index_fill", "index_put",
    "index_select", "inner", "instance_norm", "interpolate", "isclose", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "istft", "kaiser_window", "kl_div", "kron",
    "kthvalue", "l1_loss", "layer_norm", "lcm", "ldexp", "le", "leaky_relu", "lerp", "less",
    "less_equal", "lgamma", "linear", "linspace", "log", "log10", "log1p", "log2", "log_softmax",
    "logaddexp", "logaddexp2", "logcumsumexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logit", "logsigmoid", "logspace", "logsumexp", "lp_pool1d", "lp_pool2d",
    "lp_pool3d", "lt", "margin_ranking_loss", "masked_fill", "masked_scatter", "masked_select",
    "matmul", "matrix_product", "matrix_transpose", "max", "max_pool1d", "max_pool2d", "max_pool3d",
    "maximum", "mean", "median", "meshgrid", "min", "minimum", "mish", "mm", "mode", "moveaxis",
    "movedim", "mse_loss", "msort", "mul", "multiply", "mv", "mvlgamma", "nan_to_num", "nanmean",
    "nanmedian", "nanquantile", "nansum", "narrow", "ne", "neg", "negative", "nextafter",
    "nll_loss", "nonzero", "norm", "normalize", "not_equal", "one_hot", "ones", "ones_like",
    "outer", "pad", "permute", "permute_dims", "pixel_shuffle", "pixel_unshuffle",
    "poisson_nll_loss", "polar", "polygamma", "pool", "positive", "pow", "prelu", "prod",
    "put_along_axis", "quantile", "quantize", "rad2deg", "ravel", "real", "reciprocal", "relu",
    "relu6", "remainder", "renorm", "repeat", "repeat_interleave", "resample", "reshape",
    "reshape_as", "rms_norm", "roll", "rot90", "round", "row_stack", "rsqrt",
    "scaled_dot_product_attention", "scatter", "scatter_add", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_reduce", "searchsorted", "select", "select_scatter", "selu", "sgn",
    "shift_left", "shift_right", "sigmoid", "sign", "signbit", "silu", "sin", "sinc", "sinh",
    "slice", "slice_scatter", "smooth_l1_loss", "softmax", "softplus", "softshrink", "softsign",
    "sort", "split", "sqrt", "square", "squeeze", "stack", "std", "std_mean", "stft", "sub",
    "subtract", "sum", "swapaxes", "swapdims", "take", "take_along_axis", "take_along_dim", "tan",
    "tanh", "tanhshrink", "tensor", "tensor_split", "tensordot", "threshold", "tile", "topk",
    "trace", "transpose", "trapezoid", "trapz", "tril", "tril_indices", "triu", "triu_indices",
    "true_divide", "trunc", "unbind", "unflatten", "unfold", "unique", "unique_all",
    "unique_consecutive", "unique_counts", "unique_inverse", "unique_values", "unsqueeze",
    "unstack", "vander", "var", "var_mean", "vdot", "vecdot", "vector_norm", "view", "view_as",
    "view_as_complex", "view_as_real", "vsplit", "vstack", "where", "windows", "xlog1py", "xlogy",
    "zeros", "zeros_like", "zeta",
]
# <sums wcm3d3a27dntzumwq63qu7ngq3ll7uc5vazwsue4fxrrfrtpiynzldlc75b4r4hxx73ycsd3hnouwt63suxpo>
# <sums noauzu7vtognfiqjx73sknhblpbgcuryodelh5qy57m3bcapbjb3e34xylgtvkhn3zib7qpg4h3l6o5ydtm42>
# <sums s2thaq2oyncj3cu5kspbcegcyqzg7uyda6g7hthirctjuq5e6sca4malaelanvs42kkqpghdd6tsw6ujpfhst>
# </gen names th4zq5bju3flgazh5b3wvz6qwvj2wo5plm4cljr4>

LATE = ("amp", "cuda", "data", "fft", "io", "linalg", "logs", "models", "nn", "optim")
FROM = {
    "cond": "transforms.branches", "custom_gradient": "transforms.custom",
    "custom_jvp": "transforms.custom", "custom_vjp": "transforms.custom",
    "detect_anomaly": "transforms.anomaly",
    "fori_loop": "transforms.counting", "hessian": "transforms.jacobian",
    "jacfwd": "transforms.jacobian", "jacobian": "transforms.jacobian",
    "jacrev": "transforms.jacobian", "jvp": "transforms.forward", "linearize": "transforms.forward",
    "load": "io", "map": "transforms.loops", "memory_report": "tensor.memory_report",
    "pin_memory": "tensor.placing",
    "profile": "profiler.profile", "record_memory": "tensor.memory_record", "save": "io",
    "scan": "transforms.loops",
    "switch": "transforms.branches", "vmap": "transforms.vmap", "while_loop": "transforms.branches",
}
"""Parts, and names of others, that are loaded when somebody asks for them."""


if TRACE.value:
    import_module("treadle.profiler.environment").begin()


def __getattr__(name: str) -> Any:
    if name in LATE:
        return import_module(f"treadle.{name}")
    if name in FROM:
        return getattr(import_module(f"treadle.{FROM[name]}"), name)
    raise AttributeError(f"module 'treadle' has no attribute {name!r}")
