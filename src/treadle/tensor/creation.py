"""Tensors from Python numbers, NumPy arrays and nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from importlib import import_module
from typing import Any

from treadle.backends.registry import backend_of, present
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import (
    DType,
    bool_,
    complex64,
    complex128,
    dtype,
    float32,
    float64,
    int64,
    uint64,
)  # fmt: skip
from treadle.base.errors import ArgumentError, DtypeError, ExchangeError, explain
from treadle.base.shapes import Shape, sizes_in
from treadle.base.sizes import Size
from treadle.ir.node import Type, iota, leaf, type_of
from treadle.ir.node import full as full_node
from treadle.ops.defs import ARRAYS, Kind, makes_tensors
from treadle.tensor.gradients import owned
from treadle.tensor.tensor import Tensor

Where = str | Device | None
Number = bool | int | float
PYTHON = {float64: float32, complex128: complex64}
"""Numbers of Python's as NumPy takes them, and as the default has them."""


@makes_tensors(Kind.CREATION)
def tensor(
    data: Any, dtype: Any = None, device: Where = None, requires_grad: bool = False
) -> Tensor:
    """A tensor with a copy of data: numbers, nested lists, a NumPy array, another tensor.

    >>> tensor([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    return followed(_array_of("tensor", data, dtype, device, copy=True), requires_grad)


def followed(made: Tensor, requires_grad: bool) -> Tensor:
    return made.requires_grad_() if requires_grad else made


@makes_tensors(Kind.CREATION, aliases=("as_tensor",))
def asarray(
    obj: Any, /, *, dtype: Any = None, device: Where = None, copy: bool | None = None
) -> Tensor:
    """obj as a tensor, without a copy where possible; copy=True makes one, copy=False forbids it.

    A NumPy array is shared as by from_numpy, unless another dtype or device is asked for.

    >>> asarray([1, 2]).dtype
    treadle.int64
    """
    return _array_of("asarray", obj, dtype, device, copy)


as_tensor = asarray


def _array_of(what: str, obj: Any, dtype: Any, device: Where, copy: bool | None) -> Tensor:
    if isinstance(obj, Tensor):
        found = obj.detach() if copy else obj
        found = found if dtype is None or found.dtype == dtype else found.cast(dtype)
        found = found if device is None else found.to(device)
        if copy is False and (found.dtype, found.device) != (obj.dtype, obj.device):
            facts = {
                "own": f"{obj.dtype.name} on {obj.device}",
                "asked": f"{found.dtype.name} on {found.device}",
            }
            raise ArgumentError(explain(what, "must copy", "leave copy out", **facts))
        return found
    if copy is False and not hasattr(obj, "__array_interface__"):
        hint = "leave copy out, or pass a NumPy array or a tensor"
        raise ArgumentError(explain(what, "must copy", hint, got=type(obj).__name__))
    return _from_array(what, obj, dtype, device or CPU, copy)


@makes_tensors(Kind.CREATION)
def from_numpy(array: Any) -> Tensor:
    """A tensor over the memory of a NumPy array that lies in row-major order, else over a copy.

    The array is given away: what is written to it later is seen by the tensor, and by ops on it
    that are recorded and not computed yet. td.tensor makes a copy. Only an array whose elements
    stand at odd addresses (a field of packed records) is copied though it is in order.
    """
    return _from_array("from_numpy", array, None, CPU, copy=None)


@makes_tensors(Kind.CREATION)
def from_dlpack(x: Any, /, *, device: Where = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's, where it is contiguous and aligned.

    On a GPU axes may be in any order, and our work waits for theirs. copy=True makes a copy,
    copy=False forbids it.
    """
    if isinstance(x, Tensor):
        found = deepcopy(x) if copy else x.detach()
        return found if device is None else found.to(device)
    from treadle.tensor import dlpack

    kind_of_memory, number = dlpack.place_asked(x)
    if kind_of_memory == dlpack.CUDA:
        found = import_module("treadle.tensor.device_memory").tensor_of(x, number, copy)
        return found if device is None else found.to(device)
    array, kind = dlpack.array_of(x)
    type_ = type_of(tuple(array.shape), kind, CPU)
    buffer = backend_of(CPU).upload(array, type_, bool(copy))
    if copy is False and not buffer.borrowed and type_.nbytes:
        wrong = f"must copy: {_unshared(array, type_)}"
        raise ExchangeError(explain("from_dlpack", wrong, "leave copy out"))
    made = owned(Tensor(leaf(type_, buffer)))
    return made if device is None else made.to(device)


def _from_array(
    what: str, data: Any, wanted: Any, where: str | Device, copy: bool | None
) -> Tensor:
    import numpy as np

    try:
        array = np.asarray(data)
    except ValueError:
        hint = "nested lists of equal lengths"
        raise ArgumentError(explain(what, "the lists differ in length", hint)) from None
    if wanted is not None and dtype(wanted).is_integer and not hasattr(data, "dtype"):
        array = _integers(data, dtype(wanted), array)
    if array.dtype == object or array.dtype.kind not in "biufcV":
        raise ArgumentError(explain(what, *_nonumber_in(data, array)))
    kind = dtype(array.dtype.name)
    if wanted is not None:
        kind = dtype(wanted)
    elif not isinstance(data, np.ndarray | np.generic):
        kind = PYTHON.get(kind, kind)
    if array.dtype.kind == "c" and not kind.is_complex and kind is not bool_:
        hint = "pass the real parts: x.real"
        facts = {"own": array.dtype.name, "asked": kind.name}
        raise DtypeError(explain(what, "would lose the imaginary part", hint, **facts))
    target = device(where)
    type_ = type_of(tuple(array.shape), kind, target)
    buffer = backend_of(target).upload(array, type_, bool(copy))
    if copy is False and type_.nbytes and not getattr(buffer, "borrowed", False):
        wrong = f"must copy: {_unshared(array, type_)}"
        raise ArgumentError(explain(what, wrong, "leave copy out"))
    return owned(Tensor(leaf(type_, buffer)))


def _unshared(array: Any, type_: Type) -> str:
    """Why the memory of an array is not that of a tensor."""
    if type_.device is not CPU:
        return f"{type_.device} has memory of its own"
    if array.dtype.name != type_.dtype.name:
        return f"the array is {array.dtype.name}, asked for is {type_.dtype.name}"
    if not array.dtype.isnative:
        return "the bytes of its elements stand in the other order"
    if not array.flags.c_contiguous:
        return f"it is not in row-major order, its strides are {array.strides} bytes"
    return f"its elements are not aligned to {array.itemsize} bytes"


def _nonumber_in(data: Any, array: Any) -> tuple[str, str]:
    """What is wrong with data that is no array of numbers, and a hint."""
    odd = next((x for x in array.flat if not isinstance(x, int | float | complex)), None)
    if array.dtype == object and odd is None and None not in array.flat:
        whole = [x for x in array.flat if isinstance(x, int) and not -(2**63) <= x < 2**64]
        if whole:
            return f"{whole[0]} does not fit into 64 bits", "make it a float: float(...)"
        return "an array of objects", "numbers: array.astype(...)"
    inside = "" if array.ndim == 0 else f" in a {type(data).__name__}"
    return f"{type(odd).__name__}{inside} is no number", "numbers, nested lists, arrays, tensors"


def _integers(data: Any, kind: DType, plain: Any) -> Any:
    """Python numbers as integers of a dtype: untold, NumPy makes floats of the largest."""
    import numpy as np

    if plain.dtype.kind not in "iufO":
        return plain
    try:
        return np.asarray(data, kind.name)
    except OverflowError as error:
        raise ArgumentError(explain("tensor", str(error), "take a wider dtype")) from None
    except (TypeError, ValueError):  # not numbers, or NaN
        return plain


def shape_in(shape: tuple[Any, ...]) -> Shape:
    sizes = shape[0] if len(shape) == 1 and hasattr(shape[0], "__iter__") else shape
    result = tuple(sizes_in("shape", sizes))
    if any(size < 0 for size in result):
        raise ArgumentError(explain("shape", "sizes are not negative", shape=result))
    return result


# ---- filled with one value


@makes_tensors(Kind.CREATION)
def full(
    shape: Shape | int, fill_value: complex, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with one value.

    >>> full((2,), 7).tolist()
    [7, 7]
    """
    value = number_in("full", complex, fill_value=fill_value)
    return _filled(shape_in((shape,)), value, kind_in(value, dtype), device, requires_grad)


@makes_tensors(Kind.CREATION)
def zeros(
    shape: int | Sequence[int] = (), *sizes: int, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros; the shape as one tuple or as several sizes."""
    return _filled(shape_in((shape, *sizes)), 0, kind_in(0.0, dtype), device, requires_grad)


@makes_tensors(Kind.CREATION)
def ones(
    shape: int | Sequence[int] = (), *sizes: int, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones; the shape as one tuple or as several sizes."""
    return _filled(shape_in((shape, *sizes)), 1, kind_in(0.0, dtype), device, requires_grad)


@makes_tensors(Kind.CREATION)
def empty(
    shape: int | Sequence[int] = (), *sizes: int, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor whose values nobody has chosen yet: zeros, since values cannot be written later."""
    return zeros(shape, *sizes, dtype=dtype, device=device, requires_grad=requires_grad)


@makes_tensors(Kind.CREATION)
def full_like(
    x: Tensor, /, fill_value: complex, *, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """One value in x's shape, and in its dtype and on its device if no other is named."""
    value = number_in("full_like", complex, fill_value=fill_value)
    return followed(x.full_like(value, dtype=dtype, device=device), requires_grad)


@makes_tensors(Kind.CREATION)
def zeros_like(
    x: Tensor, /, *, dtype: Any = None, device: Where = None, requires_grad: bool = False
) -> Tensor:
    """Zeros of x's shape, dtype and device."""
    return full_like(x, 0, dtype=dtype, device=device, requires_grad=requires_grad)


@makes_tensors(Kind.CREATION)
def ones_like(
    x: Tensor, /, *, dtype: Any = None, device: Where = None, requires_grad: bool = False
) -> Tensor:
    """Ones of x's shape, dtype and device."""
    return full_like(x, 1, dtype=dtype, device=device, requires_grad=requires_grad)


@makes_tensors(Kind.CREATION)
def empty_like(
    x: Tensor, /, *, dtype: Any = None, device: Where = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of x's shape, dtype and device whose values nobody has chosen yet."""
    return full_like(x, 0, dtype=dtype, device=device, requires_grad=requires_grad)


def _filled(shape: Shape, value: complex, kind: DType, where_to: Where, grad: bool) -> Tensor:
    stored = kind.nearest(number_in("full", fill_value=value)) if kind.is_storage else value
    made = owned(Tensor(full_node(stored, type_of(shape, kind, device_in(where_to)))))
    return followed(made, grad)


def kind_in(value: complex, wanted: Any) -> DType:
    if wanted is not None:
        return dtype(wanted)
    kinds = ((bool, bool_), (int, int64), (complex, complex64))
    return next((kind for python, kind in kinds if isinstance(value, python)), float32)


def number_in(what: str, widest: type = float, **given: Any) -> Any:
    """An argument that is a Python number, or has one."""
    ((name, value),) = given.items()
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, int | float | widest):
        raise ArgumentError(explain(what, f"{name} is a number", got=repr(value)))
    return value


# ---- numbers in order


@makes_tensors(Kind.CREATION)
def arange(
    start: Number, /, stop: Number | None = None, step: Number = 1, *, dtype: Any = None,
    device: Where = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers from start (0 if only one is given) up to, not including, stop.

    >>> arange(5).tolist()
    [0, 1, 2, 3, 4]
    """
    if stop is None:
        start, stop = 0, start
    if isinstance(stop, Size) and not start and step == 1:
        kind = kind_in(0, dtype)
        return followed(ramp(stop, 0, 1, int64, device).cast(kind), requires_grad)
    start, stop = number_in("arange", start=start), number_in("arange", stop=stop)
    step = number_in("arange", step=step)
    if step == 0 or not all(map(math.isfinite, (start, stop, step))):
        facts = {"start": start, "stop": stop, "step": step}
        raise ArgumentError(explain("arange", "finite numbers, and a step that is not 0", **facts))
    count = max(0, -int(-(stop - start) // step))
    whole = all(isinstance(x, int) for x in (start, stop, step))
    kind = kind_in(0 if whole else 0.0, dtype)
    if whole and kind is uint64:  # half of them are no int64: counted with wrap-around
        start, step = start % (1 << 64), step % (1 << 64)
    wide = uint64 if whole and kind is uint64 else int64 if whole else float64
    return followed(ramp(count, start, step, wide, device).cast(kind), requires_grad)


def ramp(count: int, start: Number, step: Number, kind: DType, where_to: Where) -> Tensor:
    """start + step * i, computed in a wide dtype."""
    steps = Tensor(iota((count,), 0, device_in(where_to))).cast(kind)
    return steps * step + start if (start, step) != (0, 1) else steps


@makes_tensors(Kind.CREATION)
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None,
    device: Where = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones on the k-th diagonal, zeros elsewhere."""
    rows, columns = shape_in((n_rows, n_rows if n_cols is None else n_cols))
    place = CPU if device is None else device
    row = Tensor(iota((rows, 1), 0, device_in(place)))
    column = Tensor(iota((1, columns), 1, device_in(place)))
    made = (row + number_in("eye", k=k) == column).cast(kind_in(0.0, dtype))
    return followed(made, requires_grad)


def device_in(where_to: Where) -> Device:
    return present(where_to or CPU)


def _beside(x: Any, like: Tensor | None, kind: DType | None = None) -> Tensor:
    """A copy: by the time it is read, the array may have changed."""
    return asarray(x, dtype=kind, device=CPU if like is None else like.device, copy=True)


ARRAYS.made = _beside
