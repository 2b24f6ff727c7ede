"""DLPack's structures, for memory that NumPy does not reach: made here, and read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple

from treadle.base.dtypes import ALL, COMPLEX, DType
from treadle.base.errors import DtypeError, ExchangeError, explain

READ_ONLY = 1
VERSION = (1, 0)
KINDS = {"int": 0, "uint": 1, "float": 2, "complex": 5, "bool": 6}
OTHERS = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
USED = {PLAIN: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}
Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class Tensor(ctypes.Structure):
    """Where elements lie, and what they are."""

    _fields_ = (
        ("data", c_void_p), ("kind", c_int32), ("number", c_int32), ("ndim", c_int32),
        ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)), ("strides", ctypes.POINTER(c_int64)),
        ("offset", c_uint64),
    )  # fmt: skip


class Plain(ctypes.Structure):
    """The first version."""

    _fields_ = (("tensor", Tensor), ("context", c_void_p), ("deleter", Deleter))


class Versioned(ctypes.Structure):
    """The second: it knows of itself which it is, and may be marked as not to be written."""

    _fields_ = (
        ("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", Deleter),
        ("flags", c_uint64), ("tensor", Tensor),
    )  # fmt: skip


class Found(NamedTuple):
    """What a capsule holds: an address, element strides, and how it is given back."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType
    release: Callable[[], None]


_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p)(
    ("PyCapsule_New", _api)
)
# By address: a capsule that is being destroyed must not be referred to.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.c_char_p)(("PyCapsule_SetName", _api))

_LENT: dict[int, tuple[Any, ...]] = {}
"""By the address of a structure: what must live as long as it."""


def _delete(address: int, lent: dict[int, tuple[Any, ...]] = _LENT) -> None:
    lent.pop(address, None)


def _destroy(capsule: int) -> None:
    """A capsule goes: if nobody has taken what it holds, neither will anybody."""
    for name in USED:
        if _is_valid(capsule, name):
            _delete(_pointer(capsule, name))


_DELETE = Deleter(_delete)
_DESTROY = Deleter(_destroy)


def code_of(dtype: DType) -> int:
    """DLPack's number of a kind of elements."""
    code = OTHERS.get(dtype.name, KINDS.get(dtype.kind))
    if code is None:
        raise DtypeError(explain("dlpack", "DLPack has no such elements", dtype=dtype.name))
    return code


def made(
    address: int, shape: tuple[int, ...], dtype: DType, place: tuple[int, int], owner: Any,
    versioned: bool,
) -> Any:  # fmt: skip
    """A capsule over memory in order of its axes; owner lives as long as somebody reads it."""
    sizes, strides = [(c_int64 * len(shape))(*x) for x in (shape, in_order(shape))]
    pointers = [ctypes.cast(x, ctypes.POINTER(c_int64)) for x in (sizes, strides)]
    bits = 8 if dtype.kind == "bool" else dtype.bits
    tensor = Tensor(address, *place, len(shape), code_of(dtype), bits, 1, *pointers, 0)
    if versioned:
        whole: Any = Versioned(*VERSION, None, _DELETE, READ_ONLY, tensor)
    else:
        whole = Plain(tensor, None, _DELETE)
    at = ctypes.addressof(whole)
    _LENT[at] = whole, sizes, strides, owner
    return _new(at, VERSIONED if versioned else PLAIN, ctypes.cast(_DESTROY, c_void_p))


def taken(capsule: Any) -> Found:
    """What a capsule holds, which is ours from then on."""
    own = id(capsule)
    name = next((name for name in USED if _is_valid(own, name)), None)
    if name is None:
        raise ExchangeError(explain("from_dlpack", "an unknown kind of capsule", got=repr(capsule)))
    at = _pointer(own, name)
    whole: Any = (Versioned if name is VERSIONED else Plain).from_address(at)
    if name is VERSIONED and whole.major != VERSION[0]:
        got = f"{whole.major}.{whole.minor}"
        raise ExchangeError(explain("from_dlpack", "a version that is not known", got=got))
    tensor = whole.tensor
    kind = _dtype_of(tensor)
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else in_order(shape)
    _rename(own, USED[name])

    def release() -> None:
        if whole.deleter:
            whole.deleter(at)

    return Found((tensor.data or 0) + tensor.offset, shape, strides, kind, release)


def in_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of elements that lie in order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _dtype_of(tensor: Any) -> DType:
    code, bits, lanes = tensor.code, tensor.bits, tensor.lanes
    for dtype in (*ALL, *COMPLEX):
        own = OTHERS.get(dtype.name, KINDS.get(dtype.kind))
        if (own, 8 if dtype.kind == "bool" else dtype.bits) == (code, bits) and lanes == 1:
            return dtype
    facts = {"code": code, "bits": bits, "lanes": lanes}
    raise DtypeError(explain("from_dlpack", "elements of a kind that is not here", **facts))
