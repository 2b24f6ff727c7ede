"""How the tensors of a module get to another device or dtype and stay the same objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.dtypes import DType
from treadle.base.errors import DtypeError, explain
from treadle.tensor.gradients import gradient_held
from treadle.tensor.placing import target_of
from treadle.tensor.tensor import Tensor, realize


def module_target(args: Sequence[Any], options: dict[str, Any]) -> tuple[Any, DType | None]:
    """The device and the dtype asked for; a module's floats go to another float."""
    device, dtype = target_of(args, options)
    if dtype is not None and not dtype.is_inexact:
        raise DtypeError(explain("to", "a module's dtype is a float, or complex", dtype=dtype.name))
    return device, dtype


def moved(tensors: Sequence[Tensor], device: Any, dtype: DType | None) -> None:
    """Give tensors and their gradients a value elsewhere, floats in another dtype.

    Complex numbers stay complex: a float would not hold them.
    """
    if device is not None:
        realize(*tensors)  # all at once, not one by one on the way
    for x in tensors:
        gradient = gradient_held(x)
        x.data = _placed(x.detach(), device, dtype)
        if gradient is not None:
            x.grad = _placed(gradient.detach(), device, dtype)


def _placed(x: Tensor, device: Any, dtype: DType | None) -> Tensor:
    fits = dtype is not None and (x.dtype.is_float or (x.dtype.is_complex and dtype.is_complex))
    if fits and x.dtype is not dtype:
        x = x.cast(dtype)
    return x if device is None else x.to(device)
