"""Sums at indices that are looked up, in an order that is always the same.

Each entry has a program. The first entry of an index owns it: its program looks for the others of
the same index and adds up their values, nobody else writes there. So entries run side by side, and
which of them comes first changes nothing.
"""

from __future__ import annotations

from treadle.backends.cuda.emit import Emitter, mask_of
from treadle.backends.cuda.forms import SCAN, Form, power_of_two, size_of
from treadle.backends.cuda.narrow import loaded, stored
from treadle.backends.cuda.ops import accumulator, register_type
from treadle.kernel.abstract import Looked, Store
from treadle.kernel.index import Looked as LookedIndex
from treadle.kernel.loops import Loops

FEWEST, MOST = (
    64,
    1 << 17,
)  # entries: of few, lanes go over them one by one; many are too many pairs
TILE = 8192  # elements that are added up at once


def form_of(loops: Loops, wide: bool) -> Form | None:
    """The form of a scatter whose indices are the same for all rows; None: another will do."""
    (step,) = loops.passes
    entries, rows = size_of(loops.inner), size_of(loops.outer)
    if len(step.stores) != 1 or step.reduces or not FEWEST <= entries <= MOST or wide:
        return None
    (store,) = step.stores
    inner, outer = set(loops.inner), set(loops.outer)
    looked = [atom for atom, _ in store.position.terms if isinstance(atom, LookedIndex)]
    others = [atom for atom, _ in store.position.terms if not isinstance(atom, LookedIndex)]
    if len(looked) != 1 or not looked[0].value.axes <= inner or not outer.issuperset(others):
        return None
    if store.mode != "add" or not loops.arguments[store.buffer].dtype.is_float:
        return None
    if store.only is not None and not store.only.axes <= inner:
        return None
    lanes = min(SCAN, power_of_two(rows))
    return Form(
        "owners", lanes, max(1, min(SCAN, TILE // lanes)), False, 4, rows % lanes == 0, False
    )


class Owners(Emitter):
    """One such kernel on its way to text."""

    def body(self) -> None:
        """For one entry: is it the first of its index? Then the sum of all of them."""
        (store,) = self.kernel.passes[0].stores
        (looked,) = (atom for atom, _ in store.position.terms if isinstance(atom, Looked))
        self._row_tile("tl.program_id(1) * ROWS", "rows")
        self.known.append({})
        self._split_axes(self.name("program + tl.zeros((1, 1), tl.int32)", "c"), self.kernel.inner)
        own = self.value(looked.value)
        valid = self.value(store.only) if store.only else ""
        pointer = self._pointer(store.buffer, store.position)
        self.known.pop()
        before = self.name(f"tl.sum(({valid}).to(tl.int32)) - 1" if valid else "program * 0", "n")
        with self.block("for start in range(0, program, SCAN):"):
            same = self._same(store, looked, own, "start", "program", "SCAN")
            self.line(f"{before} += 2 * tl.sum({same}.to(tl.int32))")
        with self.block(f"if {before} == 0:"):
            self._add_up(store, looked, own, pointer)

    def _add_up(self, store: Store, looked: Looked, own: str, pointer: str) -> None:
        dtype = self.kernel.arguments[store.buffer].dtype
        kind = register_type(accumulator(dtype))
        shape = "(1, ROWS)" if self.kernel.across else "(ROWS, 1)"
        total = self.name(f"tl.zeros({shape}, {kind})", "sum")
        with self.block("for begin in range(program - program % SCAN, columns, SCAN):"):
            self._same(store, looked, own, "begin", "columns", "SCAN")
            wide = self.column_mask
            self.known[-1].clear()  # below they are looked at in smaller pieces
            end = self.name("tl.minimum(begin + SCAN, columns)", "end")
            with (
                self.block(f"if tl.sum({wide}.to(tl.int32)) > 0:"),
                self.block(f"for start in range(begin, {end}, COLUMNS):"),
            ):
                self._same(store, looked, own, "start", end, "COLUMNS")
                with self.block(f"if tl.sum({self.column_mask}.to(tl.int32)) > 0:"):
                    value = self.value(store.value)
                    found = f"tl.where({self.column_mask}, {value}, 0).to({kind})"
                    self.line(f"{total} += tl.sum({found}, {self.axis}, keep_dims=True)")
        mask = mask_of([self.row_mask])
        there = self.name(loaded(f"tl.load({pointer}{mask})", dtype))
        self.line(f"tl.store({pointer}, {stored(f'({there} + {total})', dtype)}{mask})")

    def _same(
        self, store: Store, looked: Looked, own: str, start: str, limit: str, size: str
    ) -> str:
        """Which entries below a limit have the index that is owned here; later: the column mask."""
        self._columns(start, limit, size)
        there = self.column_mask
        parts = [there, f"({self.value(looked.value)} == {own})"]
        parts += [self.value(store.only)] if store.only else []
        self.column_mask = self.name(" & ".join(parts), "m")
        return self.column_mask
