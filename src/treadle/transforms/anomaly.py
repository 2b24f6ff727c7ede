"""`detect_anomaly`: stop where the first NaN or infinity is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

from treadle.base.knobs import override
from treadle.runtime.realize import realize
from treadle.tensor.living import pending_nodes


@contextmanager
def detect_anomaly() -> Iterator[None]:
    """Raise where the first NaN or infinity is made, and say by which op, from what, and where.

    Every value that a kernel leaves in memory is looked at, in compiled functions too, which are
    traced once more for it; what waits when the block ends is computed then. A step that fails
    leaves parameters as they were. `TREADLE_ANOMALY=1` does the same for a whole program.

    >>> import treadle as td
    >>> try:
    ...     with detect_anomaly():
    ...         td.log(td.tensor([1.0, -1.0])).realize()
    ... except ArithmeticError as error:
    ...     str(error).splitlines()[0][:23]
    'anomaly: log makes NaN '
    """
    older = WeakSet(pending_nodes())
    with override(anomaly=1):
        yield
        realize([node for node in pending_nodes() if node not in older])
