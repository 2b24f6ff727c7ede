"""Activations as modules. `inplace` is accepted and changes nothing: values are never changed."""

from __future__ import annotations

from typing import Any

from treadle import functions
from treadle.base.errors import ShapeError, explain
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.linear import parameter
from treadle.nn.module import Module
from treadle.nn.tree import shown
from treadle.tensor.tensor import Tensor


class _Elementwise(Module):
    """What activations share: how they are shown."""

    _shown: tuple[str, ...] = ()
    inplace = False

    def extra_repr(self) -> str:
        """The options, by name."""
        text = shown(self, *self._shown)
        return ", ".join([*([text] if text else []), *(["inplace=True"] if self.inplace else [])])


class _Plain(_Elementwise):
    """An activation whose one option is inplace."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


def _of(name: str, function: Any, meaning: str, base: type = _Plain) -> Any:
    """A class of an activation that is a function of its input alone."""

    def forward(self: Module, input: Tensor) -> Any:
        return function(input)

    forward.__doc__ = "Apply elementwise."
    return type(name, (base,), {"forward": forward, "__doc__": meaning, "__module__": __name__})


# fmt: off
ReLU = _of("ReLU", f.relu, "max(x, 0).")
ReLU6 = _of("ReLU6", f.relu6, "x kept within [0, 6].")
SELU = _of("SELU", f.selu, "elu with the alpha and scale that keep mean 0 and variance 1.")
SiLU = _of("SiLU", f.silu, "x times sigmoid(x).")
Mish = _of("Mish", f.mish, "x times tanh(softplus(x)).")
Hardsigmoid = _of("Hardsigmoid", f.hardsigmoid, "A sigmoid of three straight pieces.")
Hardswish = _of("Hardswish", f.hardswish, "x times hardsigmoid(x).")
Sigmoid = _of("Sigmoid", functions.sigmoid, "1 / (1 + exp(-x)).", _Elementwise)
Tanh = _of("Tanh", functions.tanh, "The hyperbolic tangent.", _Elementwise)
LogSigmoid = _of("LogSigmoid", f.logsigmoid, "The logarithm of the sigmoid.", _Elementwise)
Softsign = _of("Softsign", f.softsign, "x / (1 + abs(x)).", _Elementwise)
Tanhshrink = _of("Tanhshrink", f.tanhshrink, "x - tanh(x).", _Elementwise)
# fmt: on


class GELU(_Elementwise):
    """x times the normal distribution function of x; approximate="tanh" is a cheaper form."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Which form."""
        return f"approximate={self.approximate!r}"


class ELU(_Elementwise):
    """x where positive, else alpha * (exp(x) - 1)."""

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.elu(input, self.alpha)


class CELU(_Elementwise):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.celu(input, self.alpha)


class LeakyReLU(_Elementwise):
    """x where positive, else a fraction of it."""

    _shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.leaky_relu(input, self.negative_slope)


class PReLU(_Elementwise):
    """x where positive, else a learned fraction of it: one, or one a channel (axis 1)."""

    _shown = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        self.num_parameters, self.init = num_parameters, init
        self.weight = parameter("PReLU", num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Back to the first value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.prelu(input, self.weight)


class RReLU(_Elementwise):
    """x where positive, else a fraction of it: drawn while training, else the mean of the range."""

    _shown = ("lower", "upper")

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.rrelu(input, self.lower, self.upper, self.training)


class Threshold(_Elementwise):
    """x where it is above the threshold, else the value."""

    _shown = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.threshold(input, self.threshold, self.value)


class Hardtanh(_Elementwise):
    """x kept within [min_val, max_val]."""

    _shown = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.hardtanh(input, self.min_val, self.max_val)


class Hardshrink(_Elementwise):
    """x, or 0 where it is within lambd of 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """How near."""
        return f"{self.lambd}"


class Softshrink(_Elementwise):
    """x moved towards 0 by lambd."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """How far."""
        return f"{self.lambd}"


class Softplus(_Elementwise):
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""

    _shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Any:
        """Apply elementwise."""
        return f.softplus(input, self.beta, self.threshold)


class GLU(_Elementwise):
    """One half of an axis times the sigmoid of the other."""

    _shown = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Any:
        """An axis of half the size."""
        return f.glu(input, self.dim)


class Softmax(_Elementwise):
    """exp(x) over its sum along an axis."""

    _shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Any:
        """Numbers that sum to 1."""
        return f.softmax(input, self.dim)


class Softmin(Softmax):
    """exp(-x) over its sum along an axis."""

    def forward(self, input: Tensor) -> Any:
        """Numbers that sum to 1."""
        return f.softmin(input, self.dim)


class LogSoftmax(Softmax):
    """The logarithm of the softmax."""

    def forward(self, input: Tensor) -> Any:
        """Logarithms of numbers that sum to 1."""
        return f.log_softmax(input, self.dim)


class Softmax2d(_Elementwise):
    """Softmax of the channels at every place of images."""

    def forward(self, input: Tensor) -> Any:
        """Numbers that sum to 1."""
        if input.ndim not in (3, 4):
            wrong = "needs (channels, height, width), or a batch of them"
            raise ShapeError(explain("Softmax2d", wrong, shape=input.shape))
        return f.softmax(input, -3)
