"""Tensors from Python numbers, NumPy arrays and nothing."""

from __future__ import annotations

from typing import Any

from treadle.backends.registry import backend_of
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import DType, bool_, dtype, float32, float64, int64
from treadle.base.errors import ArgumentError, explain
from treadle.base.shapes import Shape, sizes_in
from treadle.ir.node import full as full_node
from treadle.ir.node import iota, leaf, type_of
from treadle.tensor.tensor import Tensor, owned


def tensor(data: Any, dtype: Any = None, device: str | Device | None = None) -> Tensor:
    """A tensor with a copy of data: numbers, nested lists, a NumPy array, another tensor.

    >>> tensor([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if isinstance(data, Tensor):
        copy = data.detach()
        copy = copy if dtype is None else copy.cast(dtype)
        return copy if device is None else copy.to(device)
    return _from_array(data, dtype, CPU if device is None else device, copy=True)


def from_numpy(array: Any) -> Tensor:
    """A tensor over a NumPy array's own memory where it is contiguous and aligned."""
    return _from_array(array, None, CPU, copy=False)


def _from_array(data: Any, wanted: Any, where: str | Device, copy: bool) -> Tensor:
    import numpy as np

    try:
        array = np.asarray(data)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    if array.dtype == object or array.dtype.kind not in "biufV":
        hint = "numbers, or nested lists of equal lengths"
        raise ArgumentError(explain("tensor", "cannot be an array", hint, got=array.dtype))
    kind = dtype(array.dtype.name)
    if wanted is not None:
        kind = dtype(wanted)
    elif kind is float64 and not isinstance(data, np.ndarray | np.generic):
        kind = float32  # Python floats take the default
    target = device(where)
    type_ = type_of(tuple(array.shape), kind, target)
    return owned(Tensor(leaf(type_, backend_of(target).upload(array, type_, copy))))


def _shape(shape: tuple[Any, ...]) -> Shape:
    sizes = shape[0] if len(shape) == 1 and hasattr(shape[0], "__iter__") else shape
    result = tuple(sizes_in("shape", sizes))
    if any(size < 0 for size in result):
        raise ArgumentError(explain("shape", "sizes are not negative", shape=result))
    return result


def full(
    shape: Shape | int, value: bool | int | float, dtype: Any = None, device: str | Device = CPU
) -> Tensor:
    """A tensor filled with one value."""
    sizes = _shape((shape,))
    value = value.item() if hasattr(value, "item") else value
    return owned(Tensor(full_node(value, type_of(sizes, _kind(value, dtype), _device(device)))))


def _kind(value: bool | int | float, wanted: Any) -> DType:
    if wanted is not None:
        return dtype(wanted)
    return bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else float32


def _device(where: str | Device) -> Device:
    return device(where)


def zeros(*shape: Any, dtype: Any = None, device: str | Device = CPU) -> Tensor:
    """Zeros."""
    return full(_shape(shape), 0.0, float32 if dtype is None else dtype, device)


def ones(*shape: Any, dtype: Any = None, device: str | Device = CPU) -> Tensor:
    """Ones."""
    return full(_shape(shape), 1.0, float32 if dtype is None else dtype, device)


def zeros_like(x: Tensor) -> Tensor:
    """Zeros of x's shape, dtype and device."""
    return Tensor(full_node(0, x._node.type))


def ones_like(x: Tensor) -> Tensor:
    """Ones of x's shape, dtype and device."""
    return Tensor(full_node(1, x._node.type))


def arange(
    start: int | float, stop: int | float | None = None, step: int | float = 1, dtype: Any = None,
    device: str | Device = CPU,
) -> Tensor:  # fmt: skip
    """Numbers from start (0 if only one is given) up to, not including, stop.

    >>> arange(5).tolist()
    [0, 1, 2, 3, 4]
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (x.item() if hasattr(x, "item") else x for x in (start, stop, step))
    if step == 0:
        raise ArgumentError(explain("arange", "step is 0"))
    count = max(0, -int(-(stop - start) // step))
    whole = all(isinstance(x, int) for x in (start, stop, step))
    kind = (int64 if whole else float32) if dtype is None else _kind(0, dtype)
    steps = Tensor(iota((count,), 0, _device(device))).cast(kind)
    return steps * step + start if (start, step) != (0, 1) else steps
