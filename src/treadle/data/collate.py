"""How samples become a batch: arrays stacked along a new first axis, inside any nesting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from treadle.base.device import CPU, Device
from treadle.base.dtypes import dtype
from treadle.base.errors import DtypeError, OperandError, ShapeError, explain
from treadle.functions import stack
from treadle.tensor.creation import from_numpy
from treadle.tensor.tensor import Tensor

TAKEN = "numbers, arrays, tensors, strings, and tuples, lists and dicts of such"


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples as a batch: numbers, arrays and tensors become one tensor with a new first axis.

    Tuples and lists become lists, dicts dicts, named tuples named tuples, each part a batch;
    strings and bytes stay a list. Python floats make float64, ints int64, as in PyTorch.

    >>> default_collate([(1, "a"), (2, "b")])[1]
    ['a', 'b']
    """
    return tensors(collated(batch))


def default_convert(data: Any) -> Any:
    """Arrays inside any nesting as tensors, without a new axis: what batch_size=None gives."""
    return tensors(data)


def collated(batch: Sequence[Any]) -> Any:
    """What default_collate gives, with NumPy arrays for tensors: workers send those."""
    if not len(batch):
        raise OperandError(explain("default_collate", "a batch of no samples has no shape"))
    first = batch[0]
    if isinstance(first, Tensor):
        if any(isinstance(x, Tensor) and x.device is not CPU for x in batch):
            return stack(list(batch))  # stays where it is
        return _stacked([x.numpy() if isinstance(x, Tensor) else x for x in batch])
    if isinstance(first, np.ndarray | np.generic):
        return _stacked(batch)
    if isinstance(first, bool | int | float):
        return _numbers(batch)
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return _named(first, batch)
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            sizes = sorted({len(sample) for sample in batch})
            hint = "pad them, or pass a collate_fn"
            raise ShapeError(
                explain("default_collate", "samples differ in length", hint, got=sizes)
            )
        parts = [collated(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    wrong, hint = "no batch can be made of such samples", f"{TAKEN}; or pass a collate_fn"
    raise OperandError(explain("default_collate", wrong, hint, got=type(first).__name__))


def _stacked(batch: Sequence[Any]) -> np.ndarray[Any, Any]:
    arrays = [np.asarray(x) for x in batch]
    shapes = {x.shape for x in arrays}
    if len(shapes) > 1:
        hint = "pad or crop them to one shape, or pass a collate_fn"
        facts = {"shapes": sorted(shapes)}
        raise ShapeError(explain("default_collate", "samples differ in shape", hint, **facts))
    _numeric(arrays[0])
    return np.stack(arrays)


def _numeric(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array, if a tensor can hold its elements."""
    if array.dtype.kind not in "biufcV" or (array.dtype.kind == "V" and array.dtype.names):
        hint = "convert it, or pass a collate_fn"
        facts = {"dtype": array.dtype}
        raise DtypeError(explain("default_collate", "no tensor holds such elements", hint, **facts))
    dtype(array.dtype.name)
    return array


def _numbers(batch: Sequence[Any]) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(batch)
    except ValueError:
        array = np.asarray(None)
    if array.ndim == 1 and array.dtype.kind in "biuf":
        return array
    kinds = sorted({type(x).__name__ for x in batch})
    raise OperandError(explain("default_collate", "numbers beside something else", got=kinds))


def _named(first: Mapping[Any, Any], batch: Sequence[Any]) -> Any:
    keys = list(first)
    for sample in batch:
        if set(sample) != set(keys):
            odd = sorted(map(str, set(sample) ^ set(keys)))
            wrong = "samples differ in their keys"
            raise OperandError(explain("default_collate", wrong, some_only=odd))
    return {key: collated([sample[key] for sample in batch]) for key in keys}


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A tree of lists, tuples and dicts with every leaf changed."""
    if isinstance(tree, dict):
        return {key: mapped(part, change) for key, part in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(mapped(part, change) for part in tree))
    if isinstance(tree, list | tuple):
        return type(tree)([mapped(part, change) for part in tree])
    return change(tree)


def tensors(tree: Any, device: Device | None = None, pinned: bool = False) -> Any:
    """A tree with its arrays as tensors over the same memory, or pinned, or on a device."""
    if isinstance(tree, list):  # what a batch nearly always is: worth a short way
        return [
            _tensor(x, device, pinned) if type(x) is np.ndarray else tensors(x, device, pinned)
            for x in tree
        ]
    return mapped(tree, lambda leaf: _tensor(leaf, device, pinned))


def _tensor(leaf: Any, device: Device | None, pinned: bool) -> Any:
    if isinstance(leaf, np.ndarray | np.generic):
        array = np.asarray(leaf)
        if array.dtype.kind in "USO":
            return leaf  # texts and objects
        leaf = from_numpy(_numeric(array))
    if not isinstance(leaf, Tensor):
        return leaf
    if pinned and leaf.device is CPU:
        leaf = leaf.pin_memory()
    return leaf if device is None else leaf.to(device, non_blocking=True)
