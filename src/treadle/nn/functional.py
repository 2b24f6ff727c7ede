"""Layers without parameters, under the names PyTorch gives them."""

# isort: off
# fmt: off
from treadle.nn.arranged import (
    batch_norm, dropout, fractional_max_pool2d, fractional_max_pool3d, group_norm, layer_norm, pad,
    rms_norm,
)

__all__ = [
    "batch_norm", "dropout", "fractional_max_pool2d", "fractional_max_pool3d", "group_norm",
    "layer_norm", "pad", "rms_norm",
]

# <gen imports>
from treadle.functions import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d, avg_pool2d, avg_pool3d,
    binary_cross_entropy, binary_cross_entropy_with_logits, celu, clamp, clip, conv1d, conv2d,
    conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, cosine_similarity, cross_entropy,
    elu, embedding, fold, gaussian_nll_loss, gelu, glu, hardshrink, hardsigmoid, hardswish,
    hardtanh, hinge_embedding_loss, huber_loss, instance_norm, interpolate, kl_div, l1_loss,
    leaky_relu, linear, log_softmax, logsigmoid, lp_pool1d, lp_pool2d, lp_pool3d,
    margin_ranking_loss, max_pool1d, max_pool2d, max_pool3d, mish, mse_loss, nan_to_num, nll_loss,
    normalize, one_hot, pixel_shuffle, pixel_unshuffle, poisson_nll_loss, pool, prelu, relu, relu6,
    resample, scaled_dot_product_attention, selu, sigmoid, silu, smooth_l1_loss, softmax, softplus,
    softshrink, softsign, tanhshrink, threshold, unfold,
)
# </gen imports huxhaddqfk5knqg3lrjv3demyrotm3rdrkqh5kxxqqbehqs43nwrdmw5c5h246ac2>
# <gen names>
__all__ += [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu", "clamp", "clip", "conv1d",
    "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_similarity", "cross_entropy", "elu", "embedding", "fold", "gaussian_nll_loss", "gelu",
    "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hinge_embedding_loss",
    "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "leaky_relu", "linear",
    "log_softmax", "logsigmoid", "lp_pool1d", "lp_pool2d", "lp_pool3d", "margin_ranking_loss",
    "max_pool1d", "max_pool2d", "max_pool3d", "mish", "mse_loss", "nan_to_num", "nll_loss",
    "normalize", "one_hot", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "pool", "prelu",
    "relu", "relu6", "resample", "scaled_dot_product_attention", "selu", "sigmoid", "silu",
    "smooth_l1_loss", "softmax", "softplus", "softshrink", "softsign", "tanhshrink", "threshold",
    "unfold",
]
# </gen names wcm3dqm7eve5h7i53zlqux7wlaa2pz2a4moukjernyy2ellauompk4ysvlgxx2rn23heb7cljr4>
