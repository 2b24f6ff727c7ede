"""What of a kernel stays the same while its loops run: found once, before them."""

from __future__ import annotations

from treadle.kernel.abstract import Ex, Kernel
from treadle.kernel.levels import ELEMENT, ROW


class Still:
    """Rows come in runs along the last outer axis, elements along the inner ones.

    - **moving**: the axes along which elements of a line change, those of a row, and runs of rows
    - **values**: what stays the same along a run
    - **indices**: of elements, parts of which stay the same
    - **checks**, **along**: guards that hold for a whole row, or line of elements, or not at all
    """

    def __init__(self, kernel: Kernel, level: dict[Ex, int]) -> None:
        inner = set(kernel.inner)
        whole = kernel.across or kernel.epilogue or kernel.tile
        self.in_runs = len(kernel.outer) > 1 and not whole
        self.moving = [inner] if kernel.across else [set(kernel.inner[-1:]), inner]
        self.values: dict[Ex, None] = {}
        if self.in_runs:
            last = kernel.outer[-1]
            self.moving.append({*inner, last})
            rows = [ex for ex in kernel.order if level[ex] == ROW and not ex.stage]
            self.values = {ex: None for ex in rows if last not in ex.axes}
        changing = [ex for ex in kernel.order if level[ex] == ELEMENT]
        self.indices = {index: None for ex in changing for index in ex.sums}
        self.indices |= {s.position: None for step in kernel.passes for s in step.stores}
        guards = [guard for ex in changing for guard in ex.guards if not guard.index.looked]
        self.checks = [guard for guard in guards if not guard.index.axes & inner]
        self.along = [guard for guard in guards if not guard.index.axes & self.moving[0]]
