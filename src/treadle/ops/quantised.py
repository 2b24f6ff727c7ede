"""Rows between floats and the small integers that stand for them: a quarter of the memory."""

from __future__ import annotations

from typing import Any

from treadle.base.dtypes import dtype as dtype_of
from treadle.base.dtypes import float32, int8
from treadle.base.errors import DtypeError, explain
from treadle.ops.composite import as_float, composite
from treadle.ops.defs import JUMPS, Samples
from treadle.ops.elementwise import cast, maximum, minimum, round_
from treadle.ops.rules import refuse_complex

SCALED = Samples(cases=(((4, 5), {"scale": 0.1}), ((7,), {"scale": 0.5, "zero_point": 3})))


def _quantized(np: Any, x: Any, scale: float, zero_point: int = 0, dtype: Any = "int8") -> Any:
    limits = np.iinfo(str(dtype))
    steps = np.round(np.asarray(x, np.float32) / np.float32(scale)) + zero_point
    return np.clip(steps, limits.min, limits.max).astype(limits.dtype)


@composite(_quantized, SCALED, grad=JUMPS)
def quantize(x: Any, /, scale: float, zero_point: int = 0, dtype: Any = "int8") -> Any:
    """The nearest integer to x / scale + zero_point that the dtype holds.

    >>> import treadle as td
    >>> td.quantize(td.tensor([0.0, 0.26, 99.0]), scale=0.1).tolist()
    [0, 3, 127]
    """
    kind = dtype_of(dtype)
    if not kind.is_integer or kind.bits > 16:
        hint = f"{int8.name} is usual; 8 and 16 bits, with or without a sign"
        raise DtypeError(explain("quantize", "not a small integer", hint, dtype=kind.name))
    steps = round_(cast(x, float32) / scale) + zero_point
    return cast(minimum(maximum(steps, float(kind.least)), float(kind.greatest)), kind)


@composite(
    lambda np, x, scale, zero_point=0: (np.asarray(x, np.float64) - zero_point) * scale, SCALED
)
def dequantize(x: Any, /, scale: float, zero_point: int = 0) -> Any:
    """(x - zero_point) * scale: the float32 that integers made by quantize stand for.

    A float keeps its dtype, and gradients flow to it.

    >>> import treadle as td
    >>> td.dequantize(td.tensor([0, 3], dtype="int8"), scale=0.5).tolist()
    [0.0, 1.5]
    """
    refuse_complex("dequantize", (x.dtype,), "not of complex numbers", "x.real and x.imag")
    return (as_float(x) - zero_point) * scale
