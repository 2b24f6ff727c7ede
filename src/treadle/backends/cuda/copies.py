"""Which tensors a device's copy engine reads and writes, a block at a time."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.launch import Tensor
from treadle.base.dtypes import DType
from treadle.base.sizes import least

COPIES = 90  # the first architecture whose copy engine knows tensors
GRAIN = 16  # bytes: offsets, and all strides but the last, are multiples
MOST_AXES = 5
LONGEST = 256  # of a block, along an axis

Along = tuple[int, int, int]
"""Of an axis: its extent and stride in elements, and how long a block is."""


def tensor_of(buffer: object, dtype: DType, offset: int, axes: Sequence[Along]) -> Tensor | None:
    """A part of a buffer, if the copy engine can reach it."""
    extents, strides, block = zip(*axes, strict=True)
    grain = GRAIN // dtype.size
    lies = all(step > 0 and step % grain == 0 for step in strides[:-1]) and strides[-1] == 1
    fits = len(axes) <= MOST_AXES and max(block) <= LONGEST and min(map(least, extents)) > 0
    if not (lies and fits) or offset % grain:
        return None
    return Tensor(buffer, offset, extents, strides, block)
