"""Where the elements of a triangle of a matrix stand."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.base.shapes import sizes_in
from treadle.ops.defs import Kind, makes_tensors
from treadle.tensor.creation import Where, asarray, kind_in
from treadle.tensor.tensor import Tensor


@makes_tensors(Kind.CREATION)
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = "int64", device: Where = None
) -> Tensor:
    """Rows and columns of the elements up to a diagonal of a matrix, as (2, count), row by row.

    >>> tril_indices(2, 3).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    row, col, offset = _sizes("tril_indices", row, col, offset)
    import numpy as np

    ends = np.clip(np.arange(row) + (offset + 1), 0, col)
    return _indices("tril_indices", np.zeros_like(ends), ends, dtype, device)


@makes_tensors(Kind.CREATION)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = "int64", device: Where = None
) -> Tensor:
    """Rows and columns of the elements from a diagonal of a matrix on, as (2, count), row by row.

    >>> triu_indices(2, 3).tolist()
    [[0, 0, 0, 1, 1], [0, 1, 2, 1, 2]]
    """
    row, col, offset = _sizes("triu_indices", row, col, offset)
    import numpy as np

    starts = np.clip(np.arange(row) + offset, 0, col)
    return _indices("triu_indices", starts, np.full_like(starts, col), dtype, device)


def _sizes(name: str, row: int, col: int, offset: int) -> tuple[int, int, int]:
    row, col, offset = sizes_in(name, (row, col, offset))
    if min(row, col) < 0:
        raise ArgumentError(explain(name, "sizes are not negative", row=row, col=col))
    return row, col, max(-row, min(offset, col))  # beyond these all are alike


def _indices(name: str, starts: Any, ends: Any, kind: Any, place: Where) -> Tensor:
    """Rows and columns of what stands from a start up to an end in every row."""
    import numpy as np

    counts = ends - starts
    before = np.cumsum(counts) - counts  # elements of the rows above
    indices = np.empty((2, int(counts.sum())), np.int64)
    indices[0] = np.repeat(np.arange(len(counts)), counts)
    indices[1] = np.arange(indices.shape[1])
    indices[1] += np.repeat(starts - before, counts)
    most = int(indices.max(initial=0))
    if kind_in(0, kind).is_integer and most > kind_in(0, kind).greatest:
        facts = {"dtype": kind_in(0, kind).name, "largest": most}
        raise ArgumentError(explain(name, "an index does not fit", "take a wider dtype", **facts))
    return asarray(indices, dtype=kind, device=place)
