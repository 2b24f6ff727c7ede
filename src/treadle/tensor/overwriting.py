"""`x[key] = value` written straight into x's memory, where nobody else can see it.

A value, once made, never changes: the memory is one whose readers are counted (`runtime/kept.py`),
and it is copied first where somebody can still read it. So a loop that sets one element after the
other copies once, records nothing and plans nothing.
"""

from __future__ import annotations

import threading
import weakref
from math import isfinite
from types import EllipsisType
from typing import Any

from treadle.backends.registry import backend_of
from treadle.base.device import CPU
from treadle.ir.node import Node, const, placeholder
from treadle.runtime.kept import TAKING, WRITING, Kept
from treadle.runtime.realize import in_memory, realize_one
from treadle.tensor.gradients import Differentiable
from treadle.tensor.hosted import peek
from treadle.tensor.tracing import TRACE

BASIC = (int, slice, EllipsisType)


def overwrite(tensor: Differentiable, key: Any, value: Any) -> bool:
    """Set elements of a tensor in place, if that is possible here; else nothing has happened.

    What waits to be computed stays so at the first assignment: it is recorded like any other op.
    """
    parts = key if key.__class__ is tuple else (key,)
    if TRACE or not all([part.__class__ in BASIC for part in parts]):  # noqa: C419 - faster
        return False
    type_ = tensor._node.call.type
    if type_.device is not CPU or tensor._node.needs_grad:
        return False
    if not in_memory(tensor._node):
        if tensor._node.owner is None:
            return False
        realize_one(tensor._node)
    source = _number(value, tensor._node) if value.__class__ is not Node else _array(value, type_)
    if source is None or not _fits(tensor._node, parts, source):
        return False
    writing = threading.RLock()
    with writing:
        _write(tensor, parts, source, writing)
    return True


def _number(value: Any, x: Node) -> Any:
    """A Python number as x's dtype holds it; None if there is more to do."""
    if not isinstance(value, bool | int | float) or x.dtype.is_storage:
        return None
    held = const(value, x.dtype, x.device).arg
    large = x.dtype.is_float and isfinite(held) and abs(held) > x.dtype.largest
    return None if large else held


def _array(value: Node, type_: Any) -> Any:
    """The elements of another value; None if there is more to do than to copy them."""
    if value.needs_grad or value.device is not CPU or value.dtype is not type_.dtype:
        return None
    array = peek(value)
    if array is None:
        realize_one(value)
        array = backend_of(CPU).download(value.buffer, value.type)
    return array


def _fits(x: Node, parts: tuple[Any, ...], source: Any) -> bool:
    """Does a key name elements, of the shape of what they are to be?"""
    try:
        seen = _elements(x.buffer, x, parts)
    except (IndexError, TypeError, ValueError):
        return False
    return getattr(source, "shape", ()) in ((), seen.shape)


def _elements(memory: Any, x: Node, parts: tuple[Any, ...]) -> Any:
    """The elements that a key names, as a view of memory."""
    whole = parts if Ellipsis in parts else (*parts, Ellipsis)  # a number would be no view
    return backend_of(CPU).download(memory, x.call.type)[whole]


def _write(
    tensor: Differentiable, parts: tuple[Any, ...], source: Any, writing: threading.RLock
) -> None:
    """Write where nobody else can look; what is half done is the old value or the new one."""
    fresh = placeholder(tensor._node.call.type)
    fresh.owner = tensor._node.owner or weakref.ref(tensor)
    try:
        _take(tensor, fresh, writing)
        _elements(fresh.buffer.memory, fresh, parts)[...] = source
    finally:
        try:
            _give(fresh)
        except KeyboardInterrupt:  # once more: nothing may stay half given
            _give(fresh)
            raise
        finally:
            WRITING.discard(writing)


def _give(fresh: Node) -> None:
    if fresh.buffer.__class__ is Kept:
        fresh.buffer = fresh.buffer.lend()


def _take(tensor: Differentiable, fresh: Node, writing: threading.RLock) -> None:
    """Make fresh the tensor's node, with memory that is lent to nobody.

    No name may be left for what the tensor had: a loan is back when nobody has it.
    """
    while True:
        if tensor._node.buffer is None:  # another thread has assigned what waits
            realize_one(tensor._node)
        with TAKING:
            memory = tensor._node.buffer
            if memory is not None and memory.__class__ is not Kept:
                WRITING.add(writing)
                known = memory.home
                _hold(fresh, known if known.__class__ is Kept else _copied(memory), writing)
                tensor._node = fresh
                del memory
                if fresh.buffer.lent:
                    _hold(fresh, _copied(fresh.buffer.memory), writing)
                return
        if memory is not None:
            memory.wait()


def _hold(fresh: Node, kept: Kept, writing: threading.RLock) -> None:
    kept.writing, fresh.buffer = writing, kept


def _copied(memory: Any) -> Kept:
    backend = backend_of(CPU)
    return Kept(backend, backend.copy(memory))
