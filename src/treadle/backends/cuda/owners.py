"""Sums at indices that are looked up, in an order that is always the same.

A first kernel marks for every index the first and the last of its entries. Then each entry has a
program. That of the first entry owns the index: between the marks it looks for the others and adds
up their values in order, nobody else writes there. So entries run side by side, and which of them
comes first changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treadle.backends.cuda.emit import Emitter
from treadle.backends.cuda.forms import SCAN, Form, power_of_two, size_of
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import loaded, stored
from treadle.backends.cuda.ops import accumulator, register_type
from treadle.backends.cuda.values import mask_of
from treadle.base.dtypes import int32
from treadle.base.sizes import most
from treadle.kernel.abstract import Looked, Store
from treadle.kernel.index import Looked as LookedIndex
from treadle.kernel.loops import Loops

FEWEST = 64  # entries: of fewer, lanes go over them one by one
MOST = 1 << 15  # entries: of more, an index is looked for too often, so they are sorted;
EACH = 16, 2048  # or if an index has so many, and there are so many in all
MOST_PLACES = 1 << 24  # that may have to be marked
TILE, TOGETHER = 8192, 8  # elements and entries that are added up at once
MARKS = ("first", "last")


def form_of(loops: Loops, wide: bool) -> Form | None:
    """The form of a scatter whose indices are the same for all rows; None: another will do."""
    (step,) = loops.passes
    entries, rows = most(size_of(loops.inner)), size_of(loops.outer)
    if len(step.stores) != 1 or step.reduces or entries < FEWEST or wide:
        return None
    (store,) = step.stores
    inner, outer = set(loops.inner), set(loops.outer)
    looked = [atom for atom, _ in store.position.terms if isinstance(atom, LookedIndex)]
    others = [atom for atom, _ in store.position.terms if not isinstance(atom, LookedIndex)]
    if len(looked) != 1 or not looked[0].value.axes <= inner or not outer.issuperset(others):
        return None
    if store.mode != "add" or not loops.arguments[store.buffer].dtype.is_float:
        return None
    places = most(looked[0].size)
    if (store.only is not None and not store.only.axes <= inner) or places > MOST_PLACES:
        return None
    lanes = min(SCAN, power_of_two(most(rows)))
    each, many = EACH
    if entries > MOST or entries >= max(many, each * places):
        return Form("sorted", lanes, TILE // lanes, False, 4, rows % lanes == 0, False)
    together = max(1, min(TOGETHER, TILE // lanes))
    return Form("owners", lanes, together, False, 4, rows % lanes == 0, False)


def places_of(loops: Loops) -> int:
    """Indices that entries may have."""
    (store,) = loops.passes[0].stores
    (size,) = (atom.size for atom, _ in store.position.terms if isinstance(atom, LookedIndex))
    return size


def marks_of(loops: Loops, name: str) -> tuple[Launch, dict[str, int]]:
    """The marks of a scatter, by name with their bytes, and the launch that clears them."""
    size = places_of(loops)
    names = [f"{mark} of {name}" for mark in MARKS]
    arguments = Arguments()
    for mark, buffer in zip(MARKS, names, strict=True):
        arguments.memory(mark, int32, buffer)
    arguments.integer("places", size, False)
    source = arguments.source(with_functions(CLEAR), {"SCAN": SCAN}, 4)
    launch = Launch(source, (-(-size // SCAN), 1), arguments.values, size)
    return launch, dict.fromkeys(names, size * int32.size)


CLEAR = """
@triton.jit
def kernel(first, last, places, SCAN: tl.constexpr):
    at = tl.program_id(0) * SCAN + tl.arange(0, SCAN)
    tl.store(first + at, tl.full((SCAN,), 2147483647, tl.int32), mask=at < places)
    tl.store(last + at, tl.full((SCAN,), -1, tl.int32), mask=at < places)
"""


class Entries(Emitter):
    """What kernels of a scatter know: where an entry goes. **memory**: more arguments."""

    memory: tuple[str, ...] = MARKS

    def parameters(self) -> list[str]:
        """Names of the arguments, with those of more memory."""
        return [*super().parameters(), *self.memory]

    def _target(self) -> tuple[Store, Looked]:
        (store,) = self.kernel.passes[0].stores
        (looked,) = (atom for atom, _ in store.position.terms if isinstance(atom, Looked))
        return store, looked

    def _place(self, looked: Looked) -> str:
        """The index of entries, one and the same however it is said."""
        return self.name(f"{self._atom(looked)} + tl.zeros((1, 1), tl.int32)", "k")

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """What is known of other entries does not count here."""
        before = self.known
        self.known = [before[0], {}]
        yield
        self.known = before

    def _entries(self, at: str) -> str:
        """Entries, with their axes."""
        found = self.name(at, "c")
        self.known[-1]["columns"] = found
        self._split_axes(found, self.kernel.inner)
        return found


class Marks(Entries):
    """Every entry marks its index."""

    def body(self) -> None:
        """For a block of entries."""
        store, looked = self._target()
        self._columns("program * COLUMNS")
        valid = self.value(store.only) if store.only else ""
        place, entry = self._place(looked), self.there("columns")
        mask = mask_of([self.column_mask, valid])
        self.line(f'tl.atomic_min(first + {place}, {entry}{mask}, sem="relaxed")')
        self.line(f'tl.atomic_max(last + {place}, {entry}{mask}, sem="relaxed")')


class Owners(Entries):
    """The first entry of an index adds up all of them."""

    def body(self) -> None:
        """For one entry."""
        store, looked = self._target()
        self._row_tile("tl.program_id(1) * ROWS", "rows")
        with self._apart():
            self._entries("program + tl.zeros((1, 1), tl.int32)")
            own = self._place(looked)
            pointer = self._pointer(store.buffer, store.position)
            one = self.name(f"tl.sum({own})", "one")
            with self.block(f"if tl.load(first + {one}) == program:"):
                self._owned(store, looked, own, pointer)

    def _owned(self, store: Store, looked: Looked, own: str, pointer: str) -> None:
        dtype = self.kernel.arguments[store.buffer].dtype
        kind = register_type(accumulator(dtype))
        shape = "(1, ROWS)" if self.kernel.across else "(ROWS, 1)"
        total = self.name(f"tl.zeros({shape}, {kind})", "sum")
        end = self.name(f"tl.load(last + tl.sum({own}))", "end")
        with self.block(f"if {end} == program:"):
            self.line(f"{total} += ({self.value(store.value)}).to({kind})")
        with (
            self._apart(),
            self.block(f"if {end} > program:"),
            self.block(f"for begin in range(program - program % SCAN, {end} + 1, SCAN):"),
        ):
            self._add_up(store, looked, own, total)
        mask = mask_of([self.row_mask])
        there = self.name(loaded(f"tl.load({pointer}{mask})", dtype))
        self.line(f"tl.store({pointer}, {stored(f'({there} + {total})', dtype)}{mask})")

    def _add_up(self, store: Store, looked: Looked, own: str, total: str) -> None:
        """Entries are compared in large blocks; those found are added some at a time."""
        along, aside = ("[:, None]", "[None, :]")[:: 1 if self.kernel.across else -1]
        shape = "(COLUMNS, 1)" if self.kernel.across else "(1, COLUMNS)"
        self._columns("begin", "columns", "SCAN")
        entry = self.there("columns")
        parts = [self.column_mask, f"({self._place(looked)} == {own})"]
        parts += [self.value(store.only)] if store.only else []
        same = self.name(" & ".join(parts), "m")
        rank = self.name(f"tl.cumsum({same}.to(tl.int32), {self.axis})", "rank")
        count = self.name(f"tl.sum({same}.to(tl.int32))", "n")
        with self.block(f"for turn in range(0, {count}, COLUMNS):"), self._apart():
            picks = f"({rank} == turn + 1 + tl.arange(0, COLUMNS){aside}) & {same}"
            found = self.name(f"tl.sum(tl.where({picks}, {entry}, 0), {self.axis})", "f")
            self._entries(f"{found}.reshape{shape}")
            self.column_mask = self.name(f"turn + tl.arange(0, COLUMNS){along} < {count}", "m")
            value = f"tl.where({self.column_mask}, {self.value(store.value)}, 0)"
            self.line(f"{total} += tl.sum({value}, {self.axis}, keep_dims=True)")
