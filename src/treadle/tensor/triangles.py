"""Where the elements of a triangle of a matrix stand."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.base.shapes import sizes_in
from treadle.ops.defs import Kind, makes_tensors
from treadle.tensor.creation import Where, tensor
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
    columns = [range(min(col, max(0, k + offset + 1))) for k in range(row)]
    return _indices(columns, dtype, device)


@makes_tensors(Kind.CREATION)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = "int64", device: Where = None
) -> Tensor:
    """Rows and columns of the elements from a diagonal of a matrix on, as (2, count), row by row.

    >>> triu_indices(2, 3).tolist()
    [[0, 0, 0, 1, 1], [0, 1, 2, 1, 2]]
    """
    row, col, offset = _sizes("triu_indices", row, col, offset)
    return _indices([range(max(0, k + offset), col) for k in range(row)], dtype, device)


def _sizes(name: str, row: int, col: int, offset: int) -> tuple[int, int, int]:
    row, col, offset = sizes_in(name, (row, col, offset))
    if min(row, col) < 0:
        raise ArgumentError(explain(name, "sizes are not negative", row=row, col=col))
    return row, col, offset


def _indices(columns: list[range], kind: Any, place: Where) -> Tensor:
    rows = [k for k, line in enumerate(columns) for _ in line]
    return tensor([rows, [k for line in columns for k in line]], dtype=kind, device=place)
