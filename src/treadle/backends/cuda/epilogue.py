"""What runs on the finished tile of a product, as lines of its Triton source."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.backends.cuda.emit import Emitter
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.ops import reduced, register_type
from treadle.backends.cuda.values import mask_of, text_of
from treadle.kernel.abstract import Kernel, Store


@dataclass(frozen=True)
class Finished:
    """Names of a tile and of where it is: of its rows and columns, and of their blocks."""

    tile: str
    row: str
    column: str
    down: str
    across: str
    shape: str = "(BM, BN)"


class EpilogueEmitter(Emitter):
    """One epilogue on its way to text."""

    def __init__(self, kernel: Kernel, form: Form, at: Finished) -> None:
        super().__init__(kernel, form)
        self.tile, self.at, self.tile_shape = at.tile, at, at.shape

    def run(self, row_check: str, column_check: str) -> list[str]:
        """Stores of the tile, and what it leaves of reductions."""
        self.begin(row_check, column_check)
        return self.finish()

    def begin(self, row_check: str, column_check: str) -> None:
        """Where the tile is."""
        if not self.form.exact_rows:
            self.row_mask = self.name(row_check, "m")
        if not self.form.exact_columns:
            self.column_mask = self.name(column_check, "m")
        self.known[-1]["columns"] = self.at.column
        self._split_axes(self.name(self.at.row, "r"), self.kernel.outer)
        self._split_axes(self.at.column, self.kernel.inner)

    def finish(self) -> list[str]:
        """What becomes of it, after what has been written so far."""
        (step,) = self.kernel.passes
        for r in step.reduces:
            total = reduced(r.kind, self._masked(r), self.axis)
            self.known[-1][r] = self._finished(r, total)
        self._stores([*step.stores, *self.kernel.row_stores])
        return self.lines

    def add_partial(self, s: Store, value: str) -> None:
        """A value for each row or column of the tile, kept where its block keeps them."""
        axes, block, mask, side = self.kernel.inner, self.at.down, self.column_mask, self.at.column
        if s in self.kernel.row_stores:
            axes, block, mask, side = self.kernel.outer, self.at.across, self.row_mask, self.at.row
        else:
            kind = register_type(self.kernel.arguments[s.buffer].dtype)
            if self.row_mask or not s.value.axes & self.outer:  # a row for all becomes one for each
                rows = self.row_mask or f"({self.at.row} >= 0)"
                value = f"tl.where({rows}, {value}, 0)"
            value = self.name(f"({value}).to({kind})")
            value = self.name(f"tl.sum({value}, 0, keep_dims=True)", "sum")
        line = " * ".join([block, *(text_of(axis.extent) for axis in axes)])
        pointer = f"b{s.buffer} + {line} + {self.index(s.position)}"
        pointer += f" + {side} * 0" * (not s.position.axes)  # of one row, the tile has more
        self.line(f"tl.store({pointer}, {value}{mask_of([mask])})")
