"""How the tensors of a module get to another device or dtype and stay the same objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import DType
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, DtypeError, explain
from treadle.tensor.gradients import gradient_held
from treadle.tensor.tensor import Tensor, realize


def target_of(args: Sequence[Any], options: dict[str, Any]) -> tuple[Any, DType | None]:
    """The device and the dtype asked for: to("cuda"), to(td.float16), to("cuda", td.float16)."""
    options.pop("non_blocking", None)
    device, dtype = options.pop("device", None), options.pop("dtype", None)
    for value in args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, Device) or (isinstance(value, str) and not _names_dtype(value)):
            device = value
        elif not isinstance(value, bool):  # non_blocking
            dtype = value
    if options:
        raise ArgumentError(explain("to", "takes a device and a dtype", got=sorted(options)))
    dtype = None if dtype is None else dtype_of(dtype)
    if dtype is not None and not dtype.is_inexact:
        raise DtypeError(explain("to", "a module's dtype is a float, or complex", dtype=dtype.name))
    return device, dtype


def _names_dtype(name: str) -> bool:
    try:
        dtype_of(name)
    except DtypeError:
        return False
    return True


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
