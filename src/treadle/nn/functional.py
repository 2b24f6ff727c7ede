"""Layers without parameters, under the names PyTorch gives them."""

# isort: off
# fmt: off
__all__: list[str] = []

# <gen imports>
from treadle.functions import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d, avg_pool2d, avg_pool3d, celu, clamp, clip,
    conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, cross_entropy,
    elu, fold, fractional_max_pool2d, fractional_max_pool3d, gelu, glu, hardshrink, hardsigmoid,
    hardswish, hardtanh, interpolate, layer_norm, leaky_relu, linear, log_softmax, logsigmoid,
    lp_pool1d, lp_pool2d, lp_pool3d, max_pool1d, max_pool2d, max_pool3d, mish, nan_to_num, one_hot,
    pixel_shuffle, pixel_unshuffle, pool, prelu, relu, relu6, resample,
    scaled_dot_product_attention, selu, sigmoid, silu, softmax, softplus, softshrink, softsign,
    tanhshrink, threshold, unfold,
)
# </gen imports huxhaddqfkgevodsa5ykjj3mr2g2lggf5ro3fukucqt5k3iid446ac2>
# <gen names>
__all__ += [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "celu",
    "clamp", "clip", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cross_entropy", "elu", "fold", "fractional_max_pool2d",
    "fractional_max_pool3d", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "interpolate", "layer_norm", "leaky_relu", "linear", "log_softmax", "logsigmoid", "lp_pool1d",
    "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "mish", "nan_to_num",
    "one_hot", "pixel_shuffle", "pixel_unshuffle", "pool", "prelu", "relu", "relu6", "resample",
    "scaled_dot_product_attention", "selu", "sigmoid", "silu", "softmax", "softplus", "softshrink",
    "softsign", "tanhshrink", "threshold", "unfold",
]
# </gen names wcm3dqm7evell2no2x4g6keox2ssv5zvj5zbiky467sxfkbjvg4kwmccljr4>
