"""What `to` is asked for, and how a value gets to another device."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from treadle.backends.registry import backend_of, present
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import DType, dtype
from treadle.base.errors import ArgumentError, DeviceError, DtypeError, OperandError, explain
from treadle.ir.node import leaf, type_of
from treadle.ir.recording import GRADIENTS
from treadle.ops.transfer import transfer
from treadle.runtime.devices import begin, moved
from treadle.runtime.realize import in_memory, is_known, realize_one
from treadle.tensor.gradients import owned
from treadle.tensor.tracing import TRACE

WORDS = ("device", "dtype", "non_blocking", "copy")


def target_of(
    args: Sequence[Any], options: dict[str, Any]
) -> tuple[str | Device | None, DType | None]:
    """The device and the dtype asked for: to("cuda"), to(td.float16), to("cuda", td.float16)."""
    odd = sorted(options.keys() - set(WORDS))
    if odd:
        raise ArgumentError(explain("to", f"takes {', '.join(WORDS)}", got=odd))
    place, kind = options.get("device"), options.get("dtype")
    for value in args:
        if hasattr(value, "_node"):
            place, kind = value.device, value.dtype
        elif isinstance(value, Device) or (isinstance(value, str) and not _names_a_dtype(value)):
            place = value
        elif not isinstance(value, bool | None):  # non_blocking, and what was left out
            kind = value
    return place, None if kind is None else dtype(kind)


def _names_a_dtype(name: str) -> bool:
    try:
        dtype(name)
    except DtypeError:
        return False
    return True


def moved_tensor(x: Any, where: str | Device, hurried: bool = False) -> Any:
    """A tensor on another device.

    It is an op like others where a gradient flows through it, or nobody knows the value yet; else
    the value is computed and copied now. A hurried copy goes on beside what is computed, and
    whoever needs its result waits for it.
    """
    target, node = present(where), x._node
    if target is node.device:
        return x
    if TRACE or (node.needs_grad and GRADIENTS.on) or not is_known(node):
        return transfer(x, target)
    if node.buffer is None:
        realize_one(node)
    if hurried and begin(node.buffer, node.type):
        return transfer(x, target)
    type_ = type_of(node.shape, node.dtype, target)
    return owned(x._plain(leaf(type_, moved(node.buffer, node.type, type_, hurried))))


# ---- pinned memory


def pin_memory(x: Any) -> Any:
    """The value of a tensor in memory that GPUs copy from beside their work."""
    if not hasattr(x, "_node"):
        hint = "wrap it with td.tensor(...)"
        raise OperandError(explain("pin_memory", "not a tensor", hint, got=type(x).__name__))
    return x.pin_memory()


def can_pin() -> bool:
    """Is there a GPU to pin memory for?"""
    try:
        backend_of(device("cuda"))
    except DeviceError:
        return False
    return True


def pinned_tensor(x: Any) -> Any:
    """The same value in memory that GPUs reach by themselves."""
    node = x._node
    if node.device is not CPU:
        hint = "only host memory is pinned: x.cpu().pin_memory()"
        raise DeviceError(explain("pin_memory", "it lies on a device", hint, device=node.device))
    if TRACE or not is_known(node):
        hint = "pin what a function is given, before it is called"
        raise ArgumentError(explain("pin_memory", "the value is not known here", hint))
    backend_of(device("cuda"))  # says what is missing
    array = import_module("treadle.backends.cuda.pinned").copied(x.numpy())
    return owned(x._plain(leaf(node.type, backend_of(CPU).upload(array, node.type, copy=False))))


def is_pinned(x: Any) -> bool:
    """Does a value lie in such memory?"""
    pinned = sys.modules.get("treadle.backends.cuda.pinned")
    node = x._node
    if pinned is None or node.device is not CPU or not in_memory(node):
        return False
    return bool(pinned.holds(node.buffer.address))
