"""How the params words of a matrix product are laid out for its kernels to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treadle.backends.cpu.params import Words
from treadle.backends.cpu.writer import Int, Writer
from treadle.passes.decompose import BATCH_AXES

SLOTS = {
    "left": 0, "right": 2, "out": 4, "scratch": 6,
    "epilogue": 8, "eparams": 9, "rows": 10, "steps": 11,
}  # fmt: skip
"""Words the caller fills: two for a buffer (index, byte offset), one for an address."""

NUMBERS = (
    "m", "n", "k",
    "left_row", "left_step", "left_panel", "left_run",  # strides of A, in elements
    "right_step", "right_column",  # strides of B along k and n
    "right_packed", "right_pitch",  # pack it first? 2: it is packed, in rows of so many columns
    "out_row",
    "depth", "runs",  # k steps between two visits of a tile, and how many visits
    "first_row", "block_rows", "block_columns", "row_blocks",  # the cut of one batch item
    "tasks", "total", "group",  # tasks of an item, of all items, and for one call
    "scratch_stride", "sums",  # bytes for a thread, and where in them running sums lie
    "swapped",  # is this the transposed product?
    "plane", "line", "high", "wide", "band", "segment",  # a correlation: see winograd_plan
)  # fmt: skip
GROUPS = ("extent", "left", "right", "out")
"""Batch axes: their extents, and the strides of each operand along them."""

_FIRST = 12
POSITION = {name: _FIRST + i for i, name in enumerate(NUMBERS)} | {
    f"{group}_{axis}": _FIRST + len(NUMBERS) + BATCH_AXES * g + axis
    for g, group in enumerate(GROUPS)
    for axis in range(BATCH_AXES)
}
WORDS = _FIRST + len(NUMBERS) + BATCH_AXES * len(GROUPS)


class Params(Words):
    """The params words of a kernel of a product."""

    def __init__(self, w: Writer, numbers: str, buffers: str, batched: str) -> None:
        names = ["tasks", "total", "group", *numbers.split()]
        for group in ("extent", *batched.split()):
            names += [f"{group}_{axis}" for axis in range(BATCH_AXES)]
        super().__init__(w, POSITION, names, {name: SLOTS[name] for name in buffers.split()})
        self.batched = batched.split()

    def word(self, slot: str) -> str:
        """A word the caller filled."""
        return self.w.word("%params", SLOTS[slot])

    @contextmanager
    def tasks(self) -> Iterator[tuple[str, str]]:
        """For each task of this call: its batch item, and its number within the item."""
        with self.items() as task:
            item = self.w.op(f"udiv i64 {task}, {self['tasks']}")
            yield item, self.w.op(f"urem i64 {task}, {self['tasks']}")

    def offsets(self, item: Int) -> dict[str, Int]:
        """Where batch item number `item` begins in each operand, in elements."""
        w = self.w
        offsets: dict[str, Int] = dict.fromkeys(self.batched, 0)
        rest = item
        for axis in reversed(range(BATCH_AXES)):
            extent = self[f"extent_{axis}"]
            index = w.rem(rest, extent)
            rest = w.div(rest, extent)
            for group in self.batched:
                offsets[group] = w.add(offsets[group], w.mul(index, self[f"{group}_{axis}"]))
        return offsets


ENTRY_PARAMS = ("ptr %bases", "ptr %params", "i64 %block", "i64 %tid")


def call_epilogue(w: Writer, p: Params, arguments: str) -> None:
    """Hand a finished tile over: arguments are the tile, its row stride, position and size."""
    function = w.op(f"inttoptr i64 {p.word('epilogue')} to ptr")
    own = w.op(f"inttoptr i64 {p.word('eparams')} to ptr")
    w.do(f"call void {function}(ptr %bases, ptr {own}, {arguments})")
