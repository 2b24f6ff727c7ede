"""Layers without parameters: the names, arguments, defaults and meaning of PyTorch's functional.

`td.*` has the same functions under Treadle's own conventions (`axis`, classes at the end). What is
not as in PyTorch:

- `inplace` is taken and means nothing: values never change. There are no names such as `relu_`.
- `size_average` and `reduce` are not taken, `reduction` says it; what stands behind them is by
  keyword.
- Losses broadcast nothing: where PyTorch warns of shapes that differ, a ShapeError says so.
- `ctc_loss` has the gradient of its own argument; PyTorch's is the same below `log_softmax`.
- A query that sees no key gives 0, also where weights are asked for; PyTorch gives NaN there.
- `max_unpool` of places that meet keeps the last, and only that has a gradient.
"""

# isort: off
# fmt: off
from treadle.nn.functional.activations import (
    celu, elu, gelu, glu, gumbel_softmax, hardshrink, hardsigmoid, hardswish, hardtanh,
    leaky_relu, log_softmax, logsigmoid, mish, prelu, relu, relu6, rrelu, selu, sigmoid, silu,
    softmax, softmin, softplus, softshrink, softsign, tanh, tanhshrink, threshold,
)
from treadle.nn.functional.attention import (
    multi_head_attention_forward, scaled_dot_product_attention,
)
from treadle.nn.functional.classes import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cross_entropy, kl_div,
    linear_cross_entropy, nll_loss,
)
from treadle.nn.functional.convolution import (
    bilinear, conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d,
    conv_transpose3d, fold, linear, unfold,
)
from treadle.nn.functional.ctc import ctc_loss
from treadle.nn.functional.distances import (
    cosine_embedding_loss, cosine_similarity, gaussian_nll_loss, huber_loss, l1_loss, mse_loss,
    pairwise_distance, pdist, poisson_nll_loss, smooth_l1_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from treadle.nn.functional.dropouts import (
    alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout,
)
from treadle.nn.functional.embeddings import (
    embedding, embedding_bag, one_hot,
)
from treadle.nn.functional.grids import (
    affine_grid, grid_sample,
)
from treadle.nn.functional.images import (
    channel_shuffle, interpolate, native_channel_shuffle, pad, pixel_shuffle, pixel_unshuffle,
    upsample, upsample_bilinear, upsample_nearest,
)
from treadle.nn.functional.margins import (
    hinge_embedding_loss, margin_ranking_loss, multi_margin_loss, multilabel_margin_loss,
    multilabel_soft_margin_loss, soft_margin_loss,
)
from treadle.nn.functional.normalisation import (
    batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize, rms_norm,
)
from treadle.nn.functional.pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d, avg_pool2d, avg_pool3d,
    fractional_max_pool2d, fractional_max_pool3d, lp_pool1d, lp_pool2d, lp_pool3d, max_pool1d,
    max_pool2d, max_pool3d, max_unpool1d, max_unpool2d, max_unpool3d,
)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss", "dropout",
    "dropout1d", "dropout2d", "dropout3d", "elu", "embedding", "embedding_bag",
    "feature_alpha_dropout", "fold", "fractional_max_pool2d", "fractional_max_pool3d",
    "gaussian_nll_loss", "gelu", "glu", "grid_sample", "group_norm", "gumbel_softmax",
    "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hinge_embedding_loss", "huber_loss",
    "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "linear",
    "linear_cross_entropy", "local_response_norm", "log_softmax", "logsigmoid", "lp_pool1d",
    "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d",
    "max_unpool1d", "max_unpool2d", "max_unpool3d", "mish", "mse_loss",
    "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "native_channel_shuffle", "nll_loss", "normalize", "one_hot",
    "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss",
    "prelu", "relu", "relu6", "rms_norm", "rrelu", "scaled_dot_product_attention", "selu",
    "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear",
    "upsample_nearest",
]
