"""Are indices in range? Refused at the call where they are known; kernels are safe in any case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.base.errors import IndexingError, explain


class Known:
    """What is known of an index tensor at the call: the runtime, which stands above, tells."""

    __slots__ = ("values",)

    values: Callable[[Any], Any]  # an array of its elements, or None if they are not in memory


KNOWN = Known()


def require_inside(
    name: str, index: Any, size: int, lowest: int | None = None, ignored: int | None = None
) -> None:
    """Refuse an index outside [lowest, size); without a lowest, negative ones count from the end.

    ignored stands for no index.
    """
    found = KNOWN.values(index)
    if found is None or found.dtype.kind not in "iu":  # no index at all: the row says so
        return
    least = -size if lowest is None else lowest
    if ignored is not None and not least <= ignored < size:
        found = found[found != ignored]
    if not found.size or (least <= 0 and found.view(f"u{found.itemsize}").max() < size):
        return  # negative ones are the largest of all without a sign: mostly, one look is enough
    low, high = int(found.min()), int(found.max())
    if low < least or high >= size:
        facts = {"index": low if low < least else high, "size": size}
        raise IndexingError(explain(name, "an index is out of range", **facts))
