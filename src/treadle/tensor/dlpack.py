"""Memory of the host shared with other libraries through DLPack, both ways, without a copy.

NumPy makes and takes the capsules and looks after their lifetimes. It knows no bfloat16 and no
float8: those pass as unsigned integers of their width, and the type is corrected in the capsule.
"""

from __future__ import annotations

import ctypes
from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import DType, dtype
from treadle.base.errors import DeviceError, DtypeError, ExchangeError, OperandError, explain
from treadle.ir.node import Type

CPU, CUDA = 1, 2  # kinds of memory
HOST = (CPU, 3)  # readable by the processor; the second is pinned for the GPU
MANAGED = 13  # of a GPU, and moved about by its driver
UNSIGNED = 1
CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
# By the capsule's name, where the type stands: a code, a number of bits, a number of lanes.
OFFSETS = {b"dltensor": 20, b"dltensor_versioned": 52}

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def place_of(device: Device) -> tuple[int, int]:
    """(kind of memory, number of the device), as DLPack counts."""
    return (CUDA, device.index) if device.backend == "cuda" else (CPU, 0)


def capsule(
    array: Any,
    type_: Type,
    max_version: tuple[int, int] | None,
    wanted: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """The memory of an array, read-only where the reader's version can be told so."""
    if wanted is not None and tuple(wanted) != place_of(type_.device):
        hint = "move it first: x.to(...)"
        facts = {"own": place_of(type_.device), "asked": tuple(wanted)}
        raise ExchangeError(explain("dlpack", "it lies on another device", hint, **facts))
    if copy:
        array = array.copy()
    code = CODES.get(type_.dtype.name)
    array = array if code is None else array.view(f"uint{type_.dtype.bits}")
    if max_version is None or max_version[0] < 1:
        return _coded(_writable(array).__dlpack__(), code)
    return _coded(array.__dlpack__(max_version=max_version), code)


def _writable(array: Any) -> Any:
    """The same memory without the mark: readers of the first version know only that kind."""
    view = array.view()
    view.flags.writeable = True
    return view


def _coded(found: Any, code: int | None) -> Any:
    """A capsule whose elements are said to be of another kind."""
    if code is not None:
        _type_in(found)[0] = code
    return found


def _type_in(found: Any) -> Any:
    """The bytes of a capsule that say what its elements are."""
    name = _name_of(found)
    if name not in OFFSETS:
        raise ExchangeError(explain("from_dlpack", "an unknown kind of capsule", got=name))
    address = _pointer_of(found, name)
    return (ctypes.c_uint8 * 2).from_address(address + OFFSETS[name])


class _Given:
    """What NumPy asks for a capsule that is there already."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def __dlpack__(self, **_: Any) -> Any:
        return self.found

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CPU, 0)


def place_asked(x: Any) -> tuple[int, int]:
    """Where another library's tensor lies: (kind of memory, number of the device)."""
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        hint = "td.tensor(...) takes numbers and nested lists"
        got = type(x).__name__
        raise OperandError(explain("from_dlpack", "does not speak DLPack", hint, got=got))
    kind, number = x.__dlpack_device__()
    if kind == MANAGED:
        return CUDA, int(number)
    if kind not in (*HOST, CUDA):
        hint = "move it to the CPU in the other library first"
        facts = {"kind": int(kind), "number": int(number)}
        wrong = "only memory of the host and of NVIDIA GPUs is shared"
        raise DeviceError(explain("from_dlpack", wrong, hint, **facts))
    return int(kind), int(number)


def array_of(x: Any) -> tuple[Any, DType]:
    """The memory of another library's tensor as a NumPy array, and its dtype."""
    import numpy as np

    from treadle.backends.arrays import numpy_dtype

    try:
        found = x.__dlpack__(max_version=(1, 0))
    except TypeError:  # written before versions
        found = x.__dlpack__()
    type_ = _type_in(found)
    code, bits = type_
    narrow = next((name for name, number in CODES.items() if number == code), None)
    if narrow is not None:
        type_[0] = UNSIGNED
    try:
        array = np.from_dlpack(_Given(found))
    except (BufferError, RuntimeError, TypeError) as error:
        wrong = f"cannot be read: {error}"
        raise DtypeError(explain("from_dlpack", wrong, code=code, bits=bits)) from None
    own = dtype(array.dtype.name if narrow is None else narrow)
    return array.view(numpy_dtype(own)), own
