"""Products that read windows of memory with channels innermost: blocks of them are whole lines.

Places along one axis of the operand are taps times channels. A block of that axis lies within one
tap, so its lines start at one offset for all; places along the other axis are any function of it.
"""

from __future__ import annotations

from math import gcd

from treadle.backends.cuda.copies import COPIES
from treadle.backends.cuda.forms import INDEX_LIMIT
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.matmul import Tile, index_text, precision_of
from treadle.backends.cuda.streamed import QUICK, Streamed, brought
from treadle.base.dtypes import float32, int32
from treadle.base.errors import needed
from treadle.base.knobs import TF32
from treadle.base.sizes import most
from treadle.kernel.index import ZERO, Axis, Index, Quotient, Remainder, as_quotient
from treadle.kernel.operands import Operand, Place, Separable, Strided
from treadle.kernel.steps import ProductStep

LINE, GRAIN = 16, 8  # elements of the shortest line, and those between which lines begin
HALF = 112 << 10  # bytes of the shared memory of a processor
ACROSS = (  # windows are rows of tiles
    Tile(128, 256, 64, 8, 3, 1.0), Tile(128, 128, 64, 8, 3, 0.9), Tile(64, 128, 64, 4, 4, 0.7),
    Tile(128, 64, 64, 4, 4, 0.7), Tile(64, 64, 64, 4, 4, 0.5), Tile(64, 32, 64, 4, 4, 0.28),
)  # fmt: skip
ALONG = (  # windows are added up
    Tile(128, 128, 64, 8, 3, 1.0), Tile(64, 128, 64, 4, 3, 0.8), Tile(64, 64, 64, 4, 4, 0.5),
    Tile(32, 64, 64, 4, 4, 0.28), Tile(16, 64, 64, 4, 4, 0.15),
)  # fmt: skip


SINGLE = (  # float32 that is not rounded
    Tile(64, 128, 16, 8, 3, 0.9), Tile(64, 64, 16, 4, 3, 0.75), Tile(32, 64, 32, 4, 3, 0.55),
    Tile(32, 32, 32, 4, 3, 0.4), Tile(16, 32, 32, 2, 3, 0.25),
)  # fmt: skip
WIDTHS = (2, 4)  # bytes of an element


def run_of(place: Place) -> int:
    """How many neighbours along an axis lie side by side, from every multiple of that on; or 1."""
    axis, index = place
    run, moving = 0, 0
    for atom, factor in index.terms:
        if isinstance(atom, Axis):
            moving += factor
            continue
        if not isinstance(atom, Quotient):
            return 1
        inner = divisor(atom.of, axis)
        if inner is None:
            return 1
        run = gcd(run, atom.by if inner == 1 else inner)
        if isinstance(atom, Remainder) and inner == 1:
            moving += factor
        elif factor % GRAIN:
            return 1
    return (run or axis.extent) if moving == 1 and axis.extent > 1 else 1


def divisor(index: Index, axis: Axis) -> int | None:
    """n, where an index is axis // n; None if it is something else."""
    if index.constant or len(index.terms) != 1 or index.terms[0][1] != 1:
        return None
    atom = index.terms[0][0]
    if atom is axis:
        return 1
    if type(atom) is Quotient and divisor(atom.of, axis) == 1:
        return atom.by
    return None


def lies_in_lines(place: Place) -> bool:
    """Are all places along an axis multiples of what is read at once?"""
    return all(factor % GRAIN == 0 for _, factor in place[1].terms)


def steady(index: Index, axis: Axis) -> int:
    """Over how many neighbours along an axis an index stays the same, or 1."""
    found = 0
    for atom, _ in index.terms:
        if isinstance(atom, Quotient) and atom.of.axes() == {axis}:
            inner = divisor(atom.of, axis)
            whole = type(atom) is Quotient and inner == 1
            found = gcd(found, atom.by if whole else (inner or 1))
        elif atom is axis:
            return 1
    return found or axis.extent


def part_of(index: Index, axis: Axis) -> Index | None:
    """The terms of an index that an axis counts; None if there are some that two do."""
    terms = []
    for atom, factor in index.terms:
        axes = {atom} if isinstance(atom, Axis) else as_quotient(atom).of.axes()
        if len(axes) > 1:
            return None
        if axes == {axis}:
            terms.append((atom, factor))
    return Index(terms)


def block_of(operand: Separable, along: bool) -> int:
    """How many columns (along), or rows, lie side by side at one tap; 1 if none do."""
    one, other = (operand.columns, operand.rows) if along else (operand.rows, operand.columns)
    if not lies_in_lines(other):
        return 1
    run = run_of(one)
    for index, _ in operand.guards:
        if index.axes() == {one[0]}:
            continue  # each place of a block is looked at
        if index.axes() - {one[0], other[0]} or any(
            part_of(index, axis) is None for axis in (one[0], other[0])
        ):
            return 1
        run = gcd(run, steady(index, one[0]))
    return run


def is_read(operand: Operand) -> bool:
    """Is an operand of 16 or 32 bits read quickly where it lies? Of others nothing is asked."""
    if isinstance(operand, Strided):
        return True
    if operand.base.dtype.size not in WIDTHS:
        return not operand.guards
    if any(step % GRAIN for step in (operand.offset, *operand.strides)):
        return False
    if operand.base.type.size >= INDEX_LIMIT:
        return False
    return any(block_of(operand, along) % LINE == 0 for along in (True, False))


def is_windowed(product: ProductStep) -> bool:
    """Does a product read lines at places of their own?"""
    operand = product.sides()[0].operand
    separable = isinstance(operand, Separable) and operand.base.dtype.size in WIDTHS
    return separable and is_read(operand)


class Windowed(Streamed):
    """A product whose rows, or whose depth, are taps and channels of windows."""

    def tiles(self) -> tuple[Tile, ...]:
        """Those whose blocks lie within a tap."""
        windows, turned = self._windows(), self.a.turned
        self.across = block_of(windows, not turned) % LINE == 0
        run = block_of(windows, self.across != turned)
        found = {}
        single = QUICK[1:] if TF32.value else SINGLE
        narrow = ACROSS if self.across else ALONG
        for tile in narrow if self.node.dtype.size == 2 else single:
            side = gcd(run, tile.k if self.across else tile.m)
            k, m = (side, tile.m) if self.across else (tile.k, side)
            speed = tile.speed * side / (tile.k if self.across else tile.m)
            found[m, tile.n, k] = Tile(m, tile.n, k, tile.warps, tile.stages, speed)
        return tuple(found.values())

    def _windows(self) -> Separable:
        operand = self.a.operand
        return needed("windows", operand if isinstance(operand, Separable) else None, "places")

    def _programs(self) -> int:
        """Two on a processor if both fit into its shared memory: one waits, the other works."""
        t = self.tile
        nbytes = (t.m + t.n) * t.k * t.stages * self.node.dtype.size
        each = 2 if nbytes <= HALF else 1
        return min(most(self.count(t)) * self.pieces, self.processors * each)

    def _pieces(self, tile: Tile) -> int:
        return 1 if self.across else super()._pieces(tile)

    def _right(self) -> Tensor | None:
        """The other operand as the copy engine reads it, if there is one and it can."""
        if self.architecture < COPIES or self.y.dtype is not self.node.dtype:
            return None
        return self.y.tensor(self.batch, (self.tile.n, self.tile.k))

    def _collect(self) -> None:
        add, right = self.arguments, self._right()
        add.memory("a", self.x.dtype, self.a.operand.base)
        if right is not None:
            add.tensor("b", self.y.dtype, right)
        else:
            add.memory("b", self.y.dtype, self.b.operand.base)
        if self.product.epilogue and not self.loose:
            add.loops(self.product.epilogue, self._signature(), self.wide)
        elif not self.loose:
            add.memory("c", self.node.dtype, self.node)
        if self.pieces > 1:
            add.memory("work", float32, self.work)
        if self.pieces > 1 and not self.loose:
            add.memory("finished", int32, self.counts)
        self._numbers()
        numbers = {"a_offset": self.a.operand.offset, "b_offset": self.b.operand.offset}
        numbers |= dict(zip(("b_k", "b_n"), self.b.strides, strict=True))
        for d in range(len(self.batch)):
            numbers |= {f"a_g{d}": self.left[d], f"b_g{d}": self.right[d]}
        for name, value in numbers.items():
            add.integer(name, value, self.wide)
        self._write_places()

    def _write_places(self) -> None:
        """Places as text: they are divided often, so by numbers that the compiler knows."""
        (rows, down), (steps, along) = needed("windows", self.a.places, "places")
        names = {rows: "am" if self.across else "(high * BM)", steps: "k"}
        if self.across:
            names[steps] = "start"

        def text(index: Index, axis: Axis) -> str:
            found = index_text(index, names, str)
            return found if index.terms else f"{names[axis]} * 0 + {found}"

        self.rows, self.steps = text(down, rows), text(along, steps)
        self.checks: dict[Index, tuple[str, str]] = {}  # along rows, and along the depth
        inside, block = (steps, "BK") if self.across else (rows, "BM")
        lanes = f"({names[inside]} + tl.arange(0, {block})[None, :])"
        for index, _ in self._windows().guards:
            if index.axes() == {inside}:  # each place of a block for itself
                self.checks[index] = "0", index_text(index, {inside: lanes}, str)
                continue
            high, deep = (part_of(index, axis) or ZERO for axis in (rows, steps))
            self.checks[index] = text(high, rows), text(deep + index.constant, steps)

    # ---- text

    def _result(self) -> None:
        return None

    def _loop(self) -> list[str]:
        low, high = "0", "K"
        if self.pieces > 1:
            low, high = "piece * span", "tl.minimum(K, piece * span + span)"
        exact, right = self.k % self.tile.k == 0, self._right()
        rows = "m" if self.m % self.tile.m == 0 else "m % M"
        columns = "n" if self.n % self.tile.n == 0 else "n % N"
        lines = [f"am = {rows}", "acc = tl.zeros((BM, BN), tl.float32)", *self._before_steps()]
        if right is None:
            lines.append(f"b_at = b + {self._first('b')} + ({columns}) * b_n")
        lines.append(f"for start in range({low}, {high}, BK):")
        lines += ["    " + line for line in self._step()]
        if right is not None:
            lines.append(f"    y = tl.trans({brought('b', self.y, 'wide * BN', 'BN')})")
        else:
            lines.append("    by = start + tl.arange(0, BK)[:, None]")
            mask = "" if exact else ", mask=by < K, other=0"
            y = self._operand(f"tl.load(b_at + by * b_k{mask})", self.y.dtype)
            lines.append(f"    y = {y}")
        return [*lines, f"    acc = tl.dot(x, y, acc{precision_of(self.node.dtype)})"]

    def _before_steps(self) -> list[str]:
        """Where a tile's windows begin."""
        lines = [f"edge{k} = {down}" for k, (down, _) in enumerate(self.checks.values())]
        if self.across:
            lines.append(f"rows = tl.multiple_of({self.rows}, ({GRAIN}, {GRAIN}))")
            return [*lines, f"a_at = a + {self._first('a')} + rows + tl.arange(0, BK)[None, :]"]
        lines.append(f"tap = tl.multiple_of({self.rows}, {GRAIN})")
        return [*lines, f"a_at = a + {self._first('a')} + tap + tl.arange(0, BM)[None, :]"]

    def _first(self, name: str) -> str:
        """Where the matrix of an operand begins."""
        if not self.batch:
            return f"{name}_offset"
        matrices = [f"d{d} * {name}_g{d}" for d in range(len(self.batch))]
        found = " + ".join([f"{name}_offset", *matrices])
        return f"tl.multiple_of({found}, {GRAIN})" if name == "a" else found

    def _step(self) -> list[str]:
        """A block of windows: what is beyond an edge of the image is 0."""
        lines = [] if self.across else ["k = start + tl.arange(0, BK)[:, None]"]
        checks = []
        for k, (index, (_, along)) in enumerate(self.checks.items()):
            lines.append(f"at{k} = edge{k} + ({along})")
            bounds = [bound for guarded, bound in self._windows().guards if guarded == index]
            most = [bound for bound in bounds if bound is not None]
            if None not in bounds:
                checks.append(f"(at{k} < {min(most)})")
            elif most:  # what is negative is a large number without a sign
                checks.append(f"(at{k}.to(tl.uint32, bitcast=True) < {min(most)})")
            else:
                checks.append(f"(at{k} >= 0)")
        checks += ["(k < K)"] * (not self.across and self.k % self.tile.k != 0)
        mask = f", mask={' & '.join(checks)}, other=0" if checks else ""
        if self.across:
            lines.append(f"tap = tl.multiple_of({self.steps}, {GRAIN})")
            return [*lines, f"x = {self._operand(f'tl.load(a_at + tap{mask})', self.x.dtype)}"]
        lines.append(f"rows = tl.multiple_of({self.steps}, ({GRAIN}, {GRAIN}))")
        x = self._operand(f"tl.load(a_at + rows{mask})", self.x.dtype)
        return [*lines, f"x = tl.trans({x})"]
