"""What parameters are before they have learned anything: values drawn or set in place.

Every function takes a tensor, gives it other values and returns it. `generator` is a key made by
`td.random.key`; without one the global generator is used.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.base.errors import ArgumentError, OperandError, ShapeError, explain
from treadle.functions import argsort, where
from treadle.random import normal, truncated_normal, uniform
from treadle.tensor.creation import arange, eye, full, tensor, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_",
    "xavier_uniform_", "zeros_",
]  # fmt: skip

Key = Tensor | None
GAINS = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d", "sigmoid"), 1.0),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), 1.0),
    "tanh": 5.0 / 3.0, "relu": math.sqrt(2.0), "selu": 0.75,
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By what the deviation of weights is scaled so that a nonlinearity keeps that of its input."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ArgumentError(explain("calculate_gain", "a slope is a number", got=repr(slope)))
        return math.sqrt(2.0 / (1.0 + slope * slope))
    if nonlinearity not in GAINS:
        hint = ", ".join(sorted([*GAINS, "leaky_relu"]))
        raise ArgumentError(explain("calculate_gain", "unknown", hint, got=repr(nonlinearity)))
    return GAINS[nonlinearity]


def _give(into: Tensor, value: Tensor) -> Tensor:
    if not into.is_leaf:
        hint = "a part of one: p.data[2:4] = 1.0"
        wrong = "this is computed from a parameter, not one: it would not change"
        raise OperandError(explain("init", wrong, hint, shape=into.shape))
    with no_grad():
        return into.assign(value if value.dtype is into.dtype else value.cast(into.dtype))


def _like(into: Tensor, key: Key) -> dict[str, Any]:
    return {"dtype": into.dtype, "device": into.device, "key": key}


# ---- one value, or independent draws


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The value everywhere."""
    return _give(tensor, full(tensor.shape, val, dtype=tensor.dtype, device=tensor.device))


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Key = None) -> Tensor:
    """Numbers in [a, b), equally likely."""
    return _give(tensor, uniform(tensor.shape, a, b, **_like(tensor, generator)))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Key = None) -> Tensor:
    """Normally distributed numbers."""
    return _give(tensor, normal(tensor.shape, mean, std, **_like(tensor, generator)))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Key = None,
) -> Tensor:  # fmt: skip
    """Normally distributed numbers of which only those within [a, b] are taken."""
    edges = ((a - mean) / std, (b - mean) / std)
    return _give(
        tensor, truncated_normal(tensor.shape, *edges, mean, std, **_like(tensor, generator))
    )


# ---- by the number of inputs and outputs


def _fans(what: str, x: Tensor) -> tuple[int, int]:
    """How many elements one output is made of, and how many outputs one element is part of."""
    if x.ndim < 2:
        wrong = "inputs and outputs are counted by two axes at least"
        raise ShapeError(explain(what, wrong, shape=x.shape))
    field = math.prod(x.shape[2:])
    return x.shape[1] * field, x.shape[0] * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Key = None) -> Tensor:
    """Uniform, of a deviation that keeps that of values and of gradients, on average."""
    bound = gain * math.sqrt(6.0 / max(1, sum(_fans("xavier_uniform_", tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Key = None) -> Tensor:
    """Normal, of a deviation that keeps that of values and of gradients, on average."""
    deviation = gain * math.sqrt(2.0 / max(1, sum(_fans("xavier_normal_", tensor))))
    return normal_(tensor, 0.0, deviation, generator)


def _kaiming(what: str, x: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(explain(what, "mode is 'fan_in' or 'fan_out'", got=repr(mode)))
    fan = _fans(what, x)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(max(1, fan))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Key = None,
) -> Tensor:  # fmt: skip
    """Uniform, of a deviation that layers with a rectifier of slope a pass on unchanged."""
    deviation = _kaiming("kaiming_uniform_", tensor, a, mode, nonlinearity)
    bound = math.sqrt(3.0) * deviation
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Key = None,
) -> Tensor:  # fmt: skip
    """Normal, of a deviation that layers with a rectifier of slope a pass on unchanged."""
    deviation = _kaiming("kaiming_normal_", tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, deviation, generator)


# ---- matrices of a kind


def _matrix(what: str, x: Tensor, axes: tuple[int, ...] = (2,)) -> Tensor:
    if x.ndim not in axes:
        wrong = f"needs {' or '.join(map(str, axes))} axes"
        raise ShapeError(explain(what, wrong, shape=x.shape))
    return x


def eye_(tensor: Tensor) -> Tensor:
    """The unit matrix."""
    rows, columns = _matrix("eye_", tensor).shape
    return _give(tensor, eye(rows, columns, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution's weight that passes its channels on unchanged, in each group."""
    outputs, inputs, *window = _matrix("dirac_", tensor, (3, 4, 5)).shape
    if outputs % groups:
        facts = {"shape": tensor.shape, "groups": groups}
        raise ShapeError(explain("dirac_", "groups share the output channels equally", **facts))
    each = outputs // groups
    output = arange(outputs, device=tensor.device).reshape(-1, 1)
    hit = (output % each) == arange(inputs, device=tensor.device).reshape(1, -1)
    for k, size in enumerate(window):
        middle = arange(size, device=tensor.device) == size // 2
        hit = hit.reshape(*hit.shape, 1) & middle.reshape(*[1] * (2 + k), size)
    return _give(tensor, hit.cast(tensor.dtype))


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Key = None) -> Tensor:
    """A matrix whose rows, or columns where there are more rows, are orthogonal unit vectors.

    Axes after the first count as one. It is computed on the host, in float64.
    """
    import numpy as np

    if tensor.ndim < 2:
        raise ShapeError(explain("orthogonal_", "needs 2 axes at least", shape=tensor.shape))
    if not tensor.size:
        return tensor
    rows, columns = tensor.shape[0], tensor.size // tensor.shape[0]
    drawn = normal((rows, columns), dtype="float64", key=generator).numpy()
    unit, triangle = np.linalg.qr(drawn.T if rows < columns else drawn)
    unit = unit * np.sign(np.diag(triangle))
    found = np.ascontiguousarray(unit.T if rows < columns else unit).reshape(tensor.shape) * gain
    return _give(tensor, _on(found, tensor))


def _on(array: Any, like: Tensor) -> Tensor:
    return tensor(array, dtype=like.dtype, device=like.device)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Key = None) -> Tensor:
    """Normally distributed numbers, a part of each column zero."""
    rows, columns = _matrix("sparse_", tensor).shape
    count = math.ceil(sparsity * rows)
    order = argsort(uniform((rows, columns), device=tensor.device, key=generator), axis=0)
    drawn = normal((rows, columns), 0.0, std, **_like(tensor, generator))
    nothing = zeros(rows, columns, dtype=tensor.dtype, device=tensor.device)
    return _give(tensor, where(argsort(order, axis=0) < count, nothing, drawn))
