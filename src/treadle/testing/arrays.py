"""Nodes over NumPy arrays, computed by the compiled backend and by the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.reference.eval import evaluate
from treadle.backends.registry import backend_of
from treadle.base.device import CPU
from treadle.base.dtypes import dtype
from treadle.base.limits import finfo
from treadle.ir.node import Node, leaf, type_of
from treadle.runtime.realize import realize

Array = Any


def node_of(array: Array, kind: Any = None) -> Node:
    """A leaf with a copy of an array's elements."""
    array = np.asarray(array)
    found = dtype(array.dtype if kind is None else kind)
    type_ = type_of(array.shape, found, CPU)
    return leaf(type_, backend_of(CPU).upload(array, type_, True))


def value_of(node: Node) -> Array:
    """The elements of a node in memory."""
    return backend_of(node.device).download(node.buffer, node.type)


def by_reference(roots: Sequence[Node], precise: bool = False) -> list[Array]:
    """Values by NumPy, node by node; precise: floats computed in float64."""
    return evaluate(roots, value_of, precise)


def compiled(roots: Sequence[Node]) -> list[Array]:
    """Values by the backend of the nodes' device."""
    realize(roots, alone=True)
    return [value_of(root) for root in roots]


def array_type(kind: Any) -> Any:
    """The NumPy dtype of one of our dtypes."""
    return numpy_dtype(dtype(kind))


def unit_roundoff(kind: Any) -> float:
    """The spacing of floats above 1: 2 to the power -(mantissa bits). 0 for what is exact."""
    return finfo(kind).eps if dtype(kind).is_inexact else 0.0
