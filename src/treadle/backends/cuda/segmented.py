"""Sums at indices that are looked up, of many entries: sorted by their index first.

Entries of one index are neighbours then, in the order in which they were. A program for every index
adds them up, so that two runs are equal to the last bit, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treadle.backends.cuda.clear import cleared
from treadle.backends.cuda.forms import SCAN, Form, size_of
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import loaded, stored
from treadle.backends.cuda.ops import accumulator, register_type
from treadle.backends.cuda.owners import Entries, places_of
from treadle.backends.cuda.sort import Sort
from treadle.backends.cuda.values import mask_of
from treadle.base.dtypes import int32, int64
from treadle.ir.node import Node, placeholder, type_of
from treadle.kernel.abstract import Store
from treadle.kernel.loops import Loops
from treadle.ops.scan import argsort

NOWHERE = (1 << 31) - 1  # the index of entries that are left out: they come last

Kernel = Callable[..., Launch]
"""Makes the launch of a form, with memory that it has besides that of its loop program."""


def launches_of(
    loops: Loops, form: Form, name: str, kernel: Kernel
) -> tuple[list[Launch], dict[object, int]]:
    """The launches, and bytes of the memory they need."""
    entries, places = size_of(loops.inner), places_of(loops)
    keys: Node = placeholder(type_of((entries,), int32))
    order = argsort(keys, axis=0)
    first = f"first of {name}"
    sort = Sort(order, keys, name)
    said = replace(form, kind="keys", columns=SCAN, exact_columns=entries % SCAN == 0)
    memory: dict[str, object] = {"keys": keys, "order": order, "first": first}
    launches = [
        kernel(said, memory={"keys": keys}), *sort.launches(), cleared(first, int32, places),
        _starts(memory, entries), kernel(form, memory=memory),
    ]  # fmt: skip
    sizes: list[tuple[object, int]] = [(x, x.type.nbytes) for x in (keys, order)]
    sizes += [(first, places * int32.size), *sort.temporaries().items()]
    return launches, dict(sizes)


def _starts(memory: dict[str, object], entries: int) -> Launch:
    """Where the entries of every index begin, counted from 1; 0: it has none."""
    add = Arguments()
    for name, dtype in (("keys", int32), ("order", int64), ("first", int32)):
        add.memory(name, dtype, memory[name])
    add.integer("n", entries, False)
    source = add.source(with_functions(STARTS), {"SCAN": SCAN}, 4)
    return Launch(source, (-(-entries // SCAN), 1), add.values, entries)


STARTS = f"""
@triton.jit
def kernel(keys, order, first, n, SCAN: tl.constexpr):
    at = tl.program_id(0) * SCAN + tl.arange(0, SCAN)
    inside = at < n
    later = inside & (at > 0)
    key = tl.load(keys + tl.load(order + at, mask=inside, other=0), mask=inside, other={NOWHERE})
    before = tl.load(order + at - 1, mask=later, other=0)
    before = tl.load(keys + before, mask=later, other=-1)
    tl.store(first + key, at + 1, mask=(key != before) & (key < {NOWHERE}))
"""


class Keys(Entries):
    """Every entry says its index."""

    memory = ("keys",)

    def body(self) -> None:
        """For a block of entries."""
        store, looked = self._target()
        self._columns("program * COLUMNS")
        valid = self.value(store.only) if store.only else ""
        place, entry = self._place(looked), self.there("columns")
        key = f"tl.where({valid}, {place}, {NOWHERE})" if valid else place
        self.line(f"tl.store(keys + {entry}, {key}{mask_of([self.column_mask])})")


class Sorted(Entries):
    """The entries of an index, one block of them after the other."""

    memory = ("keys", "order", "first")

    def body(self) -> None:
        """For one index."""
        store, _ = self._target()
        self._row_tile("tl.program_id(1) * ROWS", "rows")
        self.line("at = tl.load(first + program) - 1")
        with self._apart(), self.block("if at >= 0:"):
            self._entries("tl.load(order + at).to(tl.int32) + tl.zeros((1, 1), tl.int32)")
            pointer = self._pointer(store.buffer, store.position)
            dtype = self.kernel.arguments[store.buffer].dtype
            kind = register_type(accumulator(dtype))
            shape = "(1, ROWS)" if self.kernel.across else "(ROWS, 1)"
            total = self.name(f"tl.zeros({shape}, {kind})", "sum")
            self.line("more = 1")
            with self._apart(), self.block("while more > 0:"):
                self._add_up(store, total)
            mask = mask_of([self.row_mask])
            there = self.name(loaded(f"tl.load({pointer}{mask})", dtype))
            self.line(f"tl.store({pointer}, {stored(f'({there} + {total})', dtype)}{mask})")

    def _add_up(self, store: Store, total: str) -> None:
        along = "[:, None]" if self.kernel.across else "[None, :]"
        place = self.name(f"at + tl.arange(0, COLUMNS){along}", "k")
        inside = self.name(f"{place} < columns", "m")
        entry = f"tl.load(order + {place}, mask={inside}, other=0).to(tl.int32)"
        entry = self._entries(entry)
        same = f"tl.load(keys + {entry}, mask={inside}, other=-1) == program"
        self.column_mask = self.name(same, "m")
        value = f"tl.where({self.column_mask}, {self.value(store.value)}, 0)"
        self.line(f"{total} += tl.sum({value}, {self.axis}, keep_dims=True)")
        self.line("at += COLUMNS")
        self.line(f"more = tl.min({self.column_mask}.to(tl.int32))")
