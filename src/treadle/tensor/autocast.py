"""Which rows compute in half precision under `autocast`, and which in float32."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from treadle.base.dtypes import DType, bfloat16, float16, float32
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, explain
from treadle.ir.recording import RECORDING
from treadle.ops.defs import Op
from treadle.tensor.tensor import Tensor

HALF = frozenset((
    "bmm", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "dot", "inner", "linear", "matmul", "matrix_product", "mv",
    "scaled_dot_product_attention", "tensordot", "vecdot",
))  # fmt: skip
"""Rows whose float32 operands are cast to half: products, where half is faster."""
FULL = frozenset((
    "acos", "asin", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "cosh", "cosine_similarity", "cross_entropy", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "digamma", "erfinv", "exp", "exp2", "expm1", "float_power",
    "gaussian_nll_loss", "group_norm", "hinge_embedding_loss", "huber_loss", "instance_norm",
    "kl_div", "l1_loss", "layer_norm", "lgamma", "log", "log10", "log1p", "log2", "log_softmax",
    "logaddexp", "logcumsumexp", "logsumexp", "margin_ranking_loss", "mean", "mse_loss", "nll_loss",
    "norm", "normalize", "poisson_nll_loss", "pow", "prod", "quantile", "reciprocal", "rms_norm",
    "rsqrt", "sinh", "smooth_l1_loss", "softmax", "softplus", "std", "sum", "tan", "var",
))  # fmt: skip
"""Rows whose half operands are cast to float32: sums, losses, norms, exponentials, logarithms."""
NARROW = (bfloat16, float16)
DEFAULTS = {"cpu": bfloat16, "cuda": float16}


class Policy(NamedTuple):
    """Half precisions by kind of device; what is recorded with one is known by it."""

    kinds: tuple[tuple[str, DType], ...]

    def __call__(self, op: Op, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands in the precision that a row computes in."""
        if op.name not in HALF and op.name not in FULL:
            return operands
        half = self.on(next(x for x in operands if isinstance(x, Tensor)).device.backend)
        if half is None:
            return operands
        into = half if op.name in HALF else float32
        return tuple([_cast(x, into) for x in operands])

    def on(self, kind: str) -> DType | None:
        """The half precision on a kind of device."""
        return next((half for name, half in self.kinds if name == kind), None)


def _cast(x: Any, into: DType) -> Any:
    """A float of 16 or 32 bits in another of them; everything else as it is."""
    is_one = isinstance(x, Tensor) and (x.dtype is float32 or x.dtype in NARROW)
    return x.cast(into) if is_one and x.dtype is not into else x


class autocast:  # noqa: N801 - as in PyTorch
    """Products in half precision, sums and losses in float32: a `with` block, or a decorator.

    Matrix products, convolutions, `linear` and attention cast float32 operands to half; sums,
    means, losses, norms, exponentials and logarithms cast half operands to float32; everything else
    computes in what it is given. Parameters stay as they are, and so do their gradients. float64 is
    left alone. Compiled functions follow: one called inside is traced with the policy.

    - **device_type**: "cpu" or "cuda": tensors there are cast
    - **dtype**: td.bfloat16 or td.float16; by default bfloat16 on the CPU, float16 on CUDA
    - **enabled**: False switches it off inside another one
    - **cache_enabled**: accepted for those used to it; equal casts in a program are one anyway

    >>> import treadle as td
    >>> with autocast("cpu"):
    ...     y = td.ones(2, 3) @ td.ones(3, 2)
    ...     z = y.exp()
    >>> y.dtype, z.dtype
    (treadle.bfloat16, treadle.float32)
    """

    def __init__(
        self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:  # fmt: skip
        if device_type not in DEFAULTS:
            wrong = f"device_type is one of {', '.join(DEFAULTS)}"
            raise ArgumentError(explain("autocast", wrong, got=device_type))
        half = DEFAULTS[device_type] if dtype is None else dtype_of(dtype)
        if half not in NARROW:
            wrong = "dtype is float16 or bfloat16"
            raise ArgumentError(explain("autocast", wrong, dtype=half.name))
        self.device_type, self.dtype, self.enabled = device_type, half, enabled
        self.before: list[Policy | None] = []

    def __enter__(self) -> None:
        policy = RECORDING.policy
        self.before.append(policy)
        others = () if policy is None else policy.kinds
        kinds = [pair for pair in others if pair[0] != self.device_type]
        if self.enabled:
            kinds.append((self.device_type, self.dtype))
        RECORDING.cast_by(Policy(tuple(sorted(kinds, key=str))) if kinds else None)

    def __exit__(self, *_: object) -> None:
        RECORDING.cast_by(self.before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **options: Any) -> Any:
            with autocast(self.device_type, self.dtype, self.enabled):
                return function(*args, **options)

        return wrapped


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Is what is recorded here cast?"""
    return RECORDING.policy is not None and RECORDING.policy.on(device_type) is not None


class uncast:  # noqa: N801 - beside autocast
    """A block in which nothing is cast, whatever stands around it."""

    def __enter__(self) -> None:
        self.before = RECORDING.policy
        if self.before is not None:
            RECORDING.cast_by(None)

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            RECORDING.cast_by(self.before)
