"""Loop programs as Triton source: tiles of rows and columns, passes over each tile.

A tile is two-dimensional. Rows are points of the outer axes, columns points of the inner ones;
columns run along the second axis of a tile, or along the first where neighbouring lanes are
neighbouring rows ("across"). Arguments: the buffers b0..., the slots of the signature p0..., then
what the form adds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from treadle.backends.cuda.coarse import precision
from treadle.backends.cuda.forms import constants_of
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.narrow import loaded, stored
from treadle.backends.cuda.ops import (
    JOINS,
    PRIMITIVES,
    accumulator,
    joined,
    number,
    reduced,
    register_type,
)
from treadle.backends.cuda.picked import picked
from treadle.backends.cuda.rising import Rising, rising
from treadle.backends.cuda.unordered import atomic
from treadle.backends.cuda.values import Values, mask_of, text_of
from treadle.base.dtypes import bool_
from treadle.kernel.abstract import Axis, Ex, Pass, Reduce, Store, Sum

VECTOR = 16  # bytes that a thread reads at once


class Emitter(Values):
    """One kernel on its way to text."""

    # ---- the function

    def text(self) -> str:
        """The module; its kernel is named `kernel`."""
        self._extents()
        self.body()
        sizes = [f"{name}: tl.constexpr" for name in constants_of(self.form)]
        parameters = [*self.parameters(), *sizes]
        head = f"@triton.jit\ndef kernel({', '.join(parameters)}):"
        return with_functions("\n".join([head, *self.lines, ""]))

    def body(self) -> None:
        """What one program does."""
        if self.form.kind == "map":
            self._map()
        elif self.form.kind == "blocks":
            self._blocks()
        else:
            self._rows()

    def parameters(self) -> list[str]:
        """Names of the arguments."""
        names = [f"b{k}" for k in range(len(self.kernel.arguments))]
        names += [f"p{k}" for k in range(len(self.kernel.slots))]
        if self.form.kind == "blocks":
            names.append("rows_per_block")
        return [*names, "span"] if self.form.split else names

    def _extents(self) -> None:
        rows = self.kernel.outer[1:] if self.form.split else self.kernel.outer
        for name, axes in (("rows", rows), ("columns", self.kernel.inner)):
            self.line(f"{name} = {' * '.join(text_of(a.extent) for a in axes) or '1'}")
        wide = ".to(tl.int64)" if self.form.wide else ""
        self.line(f"program = tl.program_id(0){wide}")

    def _map(self) -> None:
        if self.kernel.outer:
            self.line("across = tl.cdiv(columns, COLUMNS)")
            self._columns("(program % across) * COLUMNS")
            self._row_tile("(program // across) * ROWS", "rows")
        else:
            self._columns("program * COLUMNS")
        self._stores(self.kernel.passes[0].stores)

    def _rows(self) -> None:
        low, high = "0", "columns"
        if self.form.split:
            part = self.name("tl.program_id(1)", "part")
            self.known[-1][self.kernel.outer[0]] = part
            low = self.name(f"{part} * span", "low")
            high = f"tl.maximum(tl.minimum({low} + span, columns), {low})"  # some parts are empty
            high = self.name(high, "high")
        self._row_tile("program * ROWS", "rows")
        if self.form.whole:
            self._columns("0")
        self._passes(low, high)

    def _blocks(self) -> None:
        """Rows one after the other: column sums stay in registers, or in memory if long."""
        form, step = self.form, "ROWS"
        if form.around:
            first, last, step = "program * ROWS", "rows", self.name("tl.num_programs(0) * ROWS")
        else:
            first, last = "program * rows_per_block", "tl.minimum(first + rows_per_block, rows)"
        self.line(f"first = {first}")
        self.line(f"last = {last}")
        sums = [s for step in self.kernel.passes for s in step.stores if s.mode == "partial"]
        if not form.in_memory:
            self._columns("0" if form.whole else "tl.program_id(1) * COLUMNS")
            for ex in self.kernel.order:
                if ex.stage == 0 and ex.op != "reduced" and not ex.axes & self.outer:
                    self.value(ex)
            shape = "(1, COLUMNS)" if form.around else self.shape
            for s in sums:
                kind = register_type(self.kernel.arguments[s.buffer].dtype)
                self.partial[s] = self.name(f"tl.zeros({shape}, {kind})", "sum")
        with self.block(f"for begin in {self._range('first', 'last', step)}:"):
            self._row_tile("begin", "last")
            self._passes("0", "columns")
        for s in sums if not form.in_memory else []:
            pointer = f"b{s.buffer} + program * columns + {self.index(s.position)}"
            total = f"tl.sum({self.partial[s]}, 0, keep_dims=True)"
            self.line(f"tl.store({pointer}, {total}{mask_of([self.column_mask])})")

    # ---- tiles

    def _row_tile(self, start: str, limit: str) -> None:
        if not self.kernel.outer[self.form.split :]:
            return
        side = "[None, :]" if self.kernel.across else "[:, None]"
        r = self.name(f"{start} + tl.arange(0, ROWS){side}", "r")
        self.row_mask = "" if self.form.exact_rows else self.name(f"{r} < {limit}", "m")
        self._split_axes(r, self.kernel.outer[self.form.split :])

    def _columns(self, start: str, limit: str = "columns", size: str = "COLUMNS") -> None:
        side = "[:, None]" if self.kernel.across else "[None, :]"
        c = self.name(f"{start} + tl.arange(0, {size}){side}", "c")
        exact = self.form.exact_columns or not limit
        self.column_mask = "" if exact else self.name(f"{c} < {limit}", "m")
        self.known[-1]["columns"] = c
        self._split_axes(c, self.kernel.inner)

    def _split_axes(self, linear: str, axes: list[Axis]) -> None:
        """Values of axes at a row-major position."""
        names = self.known[-1]
        for axis in reversed(axes[1:]):
            extent = text_of(axis.extent)
            names[axis] = self.name(f"{linear} % {extent}", "a")
            linear = self.name(f"{linear} // {extent}", "a")
        if axes:
            names[axes[0]] = linear

    # ---- passes

    def _passes(self, low: str, high: str) -> None:
        at_once = self.form.whole or (self.form.kind == "blocks" and not self.form.in_memory)
        steps = list(self.kernel.passes)
        while steps:
            step = self._without_picked(steps.pop(0))
            if at_once:
                for r in step.reduces:
                    total = reduced(r.kind, self._masked(r), self.axis)
                    self.known[-1][r] = self._finished(r, total)
                self._stores(step.stores)
            elif steps and not self.kernel.across and (found := rising(step, steps[0])):
                self._rise(found, steps.pop(0), low, high)
            else:
                self._chunks(step, low, high)
        self._stores(self.kernel.row_stores)

    def _without_picked(self, step: Pass) -> Pass:
        """A pass without its sums of one term, which are known then.

        Not where a program has rows one after the other, and writes them: its threads would meet at
        each (see `_pick`), and nothing come ahead.
        """
        if self.form.split or (self.form.kind == "blocks" and self._writes_elements()):
            return step
        left = []
        for r in step.reduces:
            found = picked(r, self.kernel.inner)
            if found:
                self.known[-1][r] = self._pick(*found, number(0, accumulator(r.dtype)))
            else:
                left.append(r)
        return Pass(left, step.stores)

    def _pick(self, number: Ex, x: Ex, zero: str) -> str:
        """The element of a row whose column has a number; zero where there is none."""
        at = self.value(number)
        at = at if self.form.wide else self.name(f"near({at})")
        there = self.name(f"({at} >= 0) & ({at} < columns)", "m")
        at = self.name(f"tl.where({there}, {at}, 0)", "c")
        known, mask = self.known, self.column_mask
        rest = {key: name for names in known for key, name in names.items() if self._stays(key)}
        self.known, self.column_mask = [rest | {self.kernel.inner[0]: at, "columns": at}], there
        value = self.value(x)
        self.known, self.column_mask = known, mask
        found = self.name(f"tl.where({there}, {value}, {zero}) + {zero}", "t")
        if self._writes_elements():
            self.line("tl.debug_barrier()")  # results may lie where others still look
        return found

    def _writes_elements(self) -> bool:
        stores = [s for step in self.kernel.passes for s in step.stores]
        return any(s.mode == "set" and s.position.axes & self.inner for s in stores)

    def _stays(self, key: object) -> bool:
        """Is what has a name the same for all columns?"""
        if isinstance(key, Ex | Sum):
            return not key.axes & self.inner
        return key != "columns" and key not in self.inner

    def _chunks(self, step: Pass, low: str, high: str) -> None:
        if not step.reduces and not step.stores:
            return
        for ex in self._needed(step):
            if not ex.axes & self.inner:
                self.value(ex)
        sums = [self._begun(r, self.shape) for r in step.reduces]

        def add() -> None:
            self._join(step.reduces, sums)
            self._stores(step.stores)

        self._sweep(low, high, add)
        self._whole(step.reduces, sums)

    def _rise(self, found: Rising, after: Pass, low: str, high: str) -> None:
        """A maximum and sums relative to it, as parts of a row come."""
        for ex in self._needed(Pass([*found.beside, *after.reduces])):
            if not ex.axes & self.inner and ex.stage < found.near.stage:
                self.value(ex)
        group = self._neighbours()
        lanes = f"(ROWS, COLUMNS // {group})"
        top, *sums = (self._begun(r, lanes) for r in (found.top, *(r for r, _ in found.sums)))
        others = [self._begun(r, self.shape) for r in found.beside]
        exp = partial(self._exp, found.near)

        def add() -> None:
            self._join(found.beside, others)
            parts = f"reshape(ROWS, COLUMNS // {group}, {group})"
            x = f"tl.broadcast_to({self._masked(found.top)}, {self.shape})"
            x = self.name(f"{x}.{parts}")
            now = self.name(joined("max", top, f"tl.reduce({x}, 2, {JOINS['max']})"), "now")
            base = self.name(_base(now))
            near, fewer = self.name(exp(f"{x} - {base}[:, :, None]")), exp(f"{top} - {base}")
            fewer = self.name(fewer)
            for total, (_, factor) in zip(sums, found.sums, strict=True):
                term = near
                if factor is not None:
                    wide = self.name(f"tl.broadcast_to({self.value(factor)}, {self.shape})")
                    mask = self.column_mask
                    wide = self.name(f"tl.where({mask}, {wide}, 0)") if mask else wide
                    term = f"{near} * {wide}.{parts}"
                self.line(f"{total} = {total} * {fewer} + tl.sum({term}, 2)")
            self.line(f"{top} = {now}")

        self._sweep(low, high, add)
        self._whole(found.beside, others)
        most = self._finished(found.top, reduced("max", top, self.axis))
        self.known[-1][found.top] = most
        fewer = self.name(exp(f"{top} - {_base(most)}"))
        for total, (r, _) in zip(sums, found.sums, strict=True):
            whole = reduced("sum", f"{total} * {fewer}", self.axis)
            value = f'tl.where({most} == float("-inf"), float("nan"), {whole})'
            self.known[-1][r] = self._finished(r, value)

    def _join(self, reduces: list[Reduce], sums: list[str]) -> None:
        """The elements of a chunk join what was found so far."""
        for r, total in zip(reduces, sums, strict=True):
            self.line(f"{total} = {joined(r.kind, total, self._masked(r))}")

    def _whole(self, reduces: list[Reduce], sums: list[str]) -> None:
        """What all chunks have left, for rows."""
        for r, total in zip(reduces, sums, strict=True):
            self.known[-1][r] = self._finished(r, reduced(r.kind, total, self.axis))

    def _exp(self, near: Ex, text: str) -> str:
        return PRIMITIVES["exp"](precision("exp", near.args[0], self.inner), near.dtype, [text])

    def _neighbours(self) -> int:
        """How many elements of a row a thread reads at once."""
        loads = [ex for ex in self.kernel.order if ex.op == "load" and ex.axes & self.inner]
        sizes = [self.kernel.arguments[ex.data[0]].dtype.size for ex in loads]
        return min(self.form.columns, VECTOR // max([2, *sizes]))

    def _begun(self, r: Reduce, shape: str) -> str:
        """What a reduction starts from, for each element of a tile."""
        d = accumulator(r.dtype)
        first = number(r.start, d)
        zeros = f"tl.zeros({shape}, {register_type(d)})"
        return self.name(f"{first} + {zeros}", "sum")

    def _sweep(self, low: str, high: str, add: Callable[[], None]) -> None:
        """A loop over whole chunks of columns, and one over what is left."""
        ends = [low, high]
        if not self.form.exact_columns:  # no mask but for the last
            ends[1:] = [self.name(f"{low} + ({high} - {low}) // COLUMNS * COLUMNS", "end"), high]
        for first, last in pairwise(ends):
            many = first == low  # what is left at the end is one chunk
            with self.block(f"for start in {self._range(first, last, 'COLUMNS', many)}:"):
                self._columns("start", high if last == high else "")
                add()

    def _range(self, first: str, last: str, step: str, many: bool = True) -> str:
        """What a loop goes over; of many, what they read comes before its turn."""
        if self.form.stages == 1 or not many:
            return f"range({first}, {last}, {step})"
        return f"tl.range({first}, {last}, {step}, num_stages={self.form.stages})"

    def _needed(self, step: Pass) -> list[Ex]:
        """Expressions of a pass, operands first."""
        found: set[Ex] = set()
        stack = step.inputs
        while stack:
            ex = stack.pop()
            if ex not in found:
                found.add(ex)
                stack += ex.operands
        return [ex for ex in self.kernel.order if ex in found]

    def _masked(self, r: Reduce) -> str:
        """A reduction's operand; columns that do not exist count as nothing."""
        value = self.value(r.value)
        d = accumulator(r.dtype)
        if r.dtype is bool_:
            value = f"{value}.to({register_type(d)})"
        mask = self.column_mask
        if not mask and not r.value.axes & self.inner:
            mask = f"({self.find('columns')} >= 0)"  # spreads the value over all columns
        return self.name(f"tl.where({mask}, {value}, {number(r.start, d)})") if mask else value

    def _finished(self, r: Reduce, total: str) -> str:
        return self.name(f"{total} != 0" if r.dtype is bool_ else total, "t")

    # ---- memory

    def _stores(self, stores: list[Store]) -> None:
        """All values first: what is stored may take the place of what another one is made of."""
        for s in stores:
            self.value(s.value)
        for s in stores:
            self._store(s)

    def _store(self, s: Store) -> None:
        d = self.kernel.arguments[s.buffer].dtype
        value = self.value(s.value)
        if s.mode == "partial":
            self.add_partial(s, value)
            return
        axes = s.position.axes
        pointer = self._pointer(s.buffer, s.position)
        mask = self._mask(axes, only=self.value(s.only) if s.only else "")
        if spread := self._spread(axes):
            pointer += f" + tl.zeros({spread}, tl.int32)"
            mask = mask_of([self.row_mask, self.column_mask])
        if s.mode in ("set", "over"):
            self.line(f"tl.store({pointer}, {stored(value, d)}{mask})")
        elif how := atomic(s.mode, d):  # a lane's are in order, unless the form says otherwise
            self.line(f'{how}({pointer}, {value}{mask}, sem="relaxed")')
        else:
            before = self.name(loaded(f"tl.load({pointer}{mask})", d))
            total = PRIMITIVES[s.mode](d, d, [before, value])
            self.line(f"tl.store({pointer}, {stored(total, d)}{mask})")

    def _spread(self, axes: frozenset[Axis]) -> str:
        """The shape of a tile of which one row or column is all there is to store."""
        part = self.tile and not (axes & self.outer and axes & self.inner)
        return self.tile_shape if part else ""

    def add_partial(self, s: Store, value: str) -> None:
        """A value for each column joins the sums of this block of rows."""
        if not self.form.in_memory:
            total, mask = self.partial[s], self.row_mask  # columns that there are not stay here
            value = f"tl.where({mask}, {value}, 0)" if mask else value
            if self.form.around and self.form.rows > 1:
                value = f"tl.sum(tl.broadcast_to({value}, {self.shape}), 0, keep_dims=True)"
            self.line(f"{total} = {total} + {value}")
            return
        pointer = self.name(f"b{s.buffer} + program * columns + {self.index(s.position)}")
        later = mask_of([self.column_mask, "(begin > first)"])
        before = self.name(f"tl.load({pointer}{later}, other=0)")
        self.line(f"tl.store({pointer}, {before} + {value}{mask_of([self.column_mask])})")


def _base(top: str) -> str:
    """What elements are counted from: nothing is smaller than -inf."""
    return f'tl.where({top} == float("-inf"), 0.0, {top})'
