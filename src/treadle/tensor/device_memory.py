"""Memory of GPUs shared with other libraries, without a copy and in the right order.

Each library has streams of its own. Who reads says on which; who has the memory lets that stream
wait for what it is still computing. Memory is used for something else only when the other library's
work with it is done.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.registry import backend_of
from treadle.base.device import device
from treadle.base.errors import ArgumentError, ExchangeError, explain
from treadle.ir.node import leaf, type_of
from treadle.ops.movement import permute
from treadle.ops.shaping import as_strided
from treadle.tensor import capsules, dlpack
from treadle.tensor.gradients import owned
from treadle.tensor.tensor import Tensor

ALIGNMENT = 16  # bytes: kernels read as many at once
LEGACY, NOBODY = 1, -1
VERSIONED = (1, 0)


# ---- ours, read by others


def capsule(
    x: Any, stream: Any, max_version: tuple[int, int] | None, wanted: tuple[int, int] | None,
    copy: bool | None,
) -> Any:  # fmt: skip
    """The memory of a tensor, ready for the stream of who reads it."""
    place = dlpack.place_of(x.device)
    if wanted is not None and tuple(wanted) != place:
        if tuple(wanted) == (dlpack.CPU, 0) and copy is not False:
            return x.detach().cpu().__dlpack__(max_version=max_version)
        hint = "move it first: x.to(...)"
        facts = {"own": place, "asked": tuple(wanted)}
        raise ExchangeError(explain("dlpack", "it lies on another device", hint, **facts))
    capsules.code_of(x.dtype)  # refuses what DLPack has no name for
    reader = _reader(stream)
    memory, backend = _memory(x), _backend(x)
    memory = backend.copy(memory) if copy else memory
    owner = backend.shared.lend(memory, reader)
    versioned = max_version is not None and max_version[0] >= VERSIONED[0]
    return capsules.made(memory.address, tuple(x.shape), x.dtype, place, owner, versioned)


def _reader(stream: Any) -> int | None:
    """The stream that reads; None: nobody has to wait."""
    if stream is None:
        return LEGACY
    if isinstance(stream, bool) or not hasattr(stream, "__index__") or int(stream) in (0, -2):
        wrong = "stream is the address of a CUDA stream"
        hint = "1: the default stream, 2: that of the thread, -1: no waiting"
        raise ArgumentError(explain("dlpack", wrong, hint, got=repr(stream)))
    return None if int(stream) == NOBODY else int(stream)


def interface(x: Any) -> dict[str, Any]:
    """The same in the words of Numba and CuPy: they wait for the stream that is named."""
    kind = np.dtype(numpy_dtype(x.dtype))
    if kind.kind not in "biufc":
        raise AttributeError(f"__cuda_array_interface__ has no {x.dtype.name}: use DLPack")
    memory, backend = _memory(x), _backend(x)
    return {
        "shape": tuple(x.shape), "typestr": kind.str, "data": (memory.address, True),
        "strides": None, "stream": int(backend.gpu.stream) or LEGACY, "version": 3,
    }  # fmt: skip


def _memory(x: Any) -> Any:
    return x.detach().realize()._node.buffer


def _backend(x: Any) -> Any:
    return backend_of(x.device)


# ---- others', read by us


def tensor_of(x: Any, number: int, copy: bool | None) -> Tensor:
    """A tensor over the memory of another library's on a GPU."""
    where = device(f"cuda:{number}")
    backend: Any = backend_of(where)
    stream = int(backend.gpu.stream) or LEGACY
    try:
        found = x.__dlpack__(stream=stream, max_version=VERSIONED)
    except TypeError:  # written before versions
        found = x.__dlpack__(stream=stream)
    given = capsules.taken(found)
    order = _order(given.shape, given.strides)
    steps = zip(given.shape, given.strides, strict=True)
    empty = 0 in given.shape
    count = 0 if empty else 1 + sum((n - 1) * step for n, step in steps)
    if any(step < 0 for step in given.strides):
        given.release()
        wrong, hint = "elements that lie backwards are not shared", "copy it in the other library"
        raise ExchangeError(explain("from_dlpack", wrong, hint, strides=given.strides))
    nbytes = count * given.dtype.size
    memory = backend.shared.borrow(given.address, nbytes, given.release)
    copied = bool(given.address % ALIGNMENT)
    if copy is False and (order is None or copied) and not empty:
        wrong = "must copy: " + ("elements lie apart" if order is None else "it is not aligned")
        raise ExchangeError(explain("from_dlpack", wrong, "leave copy out"))
    if (copied or copy) and nbytes:
        memory = backend.copy(memory)
    if order is None:
        flat = Tensor(leaf(type_of((count,), given.dtype, where), memory))
        spread: Tensor = as_strided(flat, given.shape, given.strides)
        return spread
    inner = tuple(given.shape[k] for k in order)
    made = owned(Tensor(leaf(type_of(inner, given.dtype, where), memory)))
    if order == sorted(order):
        return made
    turned: Tensor = permute(made, [order.index(k) for k in range(len(order))])
    return turned


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int] | None:
    """The axes as they lie in memory, the slowest first; None if elements lie apart."""
    if 0 in shape:
        return list(range(len(shape)))
    order = sorted(range(len(shape)), key=lambda k: -strides[k] if shape[k] > 1 else 0)
    wide = [k for k in order if shape[k] > 1]
    steps = [prod(shape[j] for j in wide[place + 1 :]) for place in range(len(wide))]
    if [strides[k] for k in wide] != steps:
        return None
    if wide == sorted(wide):
        return list(range(len(shape)))
    return wide + [k for k in range(len(shape)) if shape[k] == 1]
