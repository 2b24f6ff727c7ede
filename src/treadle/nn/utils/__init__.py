"""What is done to gradients and weights besides training: clipped, gathered, normalised, given."""

from treadle.nn.utils import rnn
from treadle.nn.utils.clipping import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from treadle.nn.utils.normed import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from treadle.nn.utils.stateless import functional_call
from treadle.nn.utils.vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "functional_call",
    "get_total_norm", "parameters_to_vector", "remove_spectral_norm", "remove_weight_norm", "rnn",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip
