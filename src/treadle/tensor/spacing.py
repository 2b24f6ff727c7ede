"""Tensors of numbers at equal steps, or with equal factors between them."""

from __future__ import annotations

from typing import Any

from treadle.base.dtypes import float64, int64
from treadle.ops.defs import Kind, makes_tensors
from treadle.ops.elementwise import complex_, div, where
from treadle.tensor.creation import Number, Where, followed, kind_in, number_in, ramp, shape_in
from treadle.tensor.tensor import Tensor


@makes_tensors(Kind.CREATION)
def linspace(
    start: Number, stop: Number, /, num: int = 50, *, dtype: Any = None, device: Where = None,
    endpoint: bool = True, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """num numbers at equal steps from start to stop, which is left out if endpoint is false.

    Integers are those numbers without what stands behind the point.

    >>> linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    start = number_in("linspace", complex, start=start)
    stop = number_in("linspace", complex, stop=stop)
    kind = kind_in(start * 0.0 + stop, dtype)
    if kind.is_complex:
        options: Any = {"dtype": kind.part, "device": device, "endpoint": endpoint}
        ends = ((start.real, stop.real), (start.imag, stop.imag))
        made: Tensor = complex_(*[linspace(*pair, num, **options) for pair in ends])
        return followed(made, requires_grad)
    (count,) = shape_in((num,))
    steps = count - 1 if endpoint else count
    largest = max(abs(start), abs(stop)) * steps * 2
    if kind.is_integer and isinstance(largest, int) and steps > 0 and largest < 1 << 63:
        whole = ramp(count, start * steps, stop - start, int64, device)  # exact: nothing is rounded
        return div(whole, steps, rounding_mode="trunc").cast(kind)
    line = ramp(count, start, (stop - start) / max(steps, 1), float64, device)
    if endpoint and count > 1:  # rounded steps need not end where they should
        last = line._node.iota_like(0) >= count - 1
        line = Tensor(where(last, float(stop), line._node))
    return followed(line.cast(kind), requires_grad)


@makes_tensors(Kind.CREATION)
def logspace(
    start: Number, stop: Number, /, num: int = 50, *, base: float = 10.0, dtype: Any = None,
    device: Where = None, endpoint: bool = True, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """base to the powers of linspace(start, stop, num).

    >>> logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    powers = linspace(start, stop, num, dtype=float64, device=device, endpoint=endpoint)
    made = (float(number_in("logspace", base=base)) ** powers).cast(kind_in(0.0, dtype))
    return followed(made, requires_grad)
