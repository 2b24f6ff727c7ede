"""Matrix products in Gluon: a warp that brings operands, and two groups that multiply them.

A program has two tiles of 64 rows, a group each, which share the other operand. While the groups
are at what becomes of a finished tile, blocks of the next one arrive. Where whole tiles would leave
processors without work, steps are dealt evenly to programs (see `dealt.py`). Where sizes are not
known yet, tiles are cut along k, and pieces left in memory (see `joined.py`): first those of the
first piece, so that programs that run together read the same lines of both operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.copies import tensor_of
from treadle.backends.cuda.epilogue import Finished
from treadle.backends.cuda.folded import folded
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.gluon import (
    GROUPS,
    HEAD,
    LANES,
    add_tensor,
    grid_of,
    in_gluon,
    is_known,
    started,
)  # fmt: skip
from treadle.backends.cuda.gluon_epilogue import GluonEpilogue
from treadle.backends.cuda.gluon_tiles import DEPTH, chosen, is_enough, pairs_of, tiles_of
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.matmul import GROUP, Tile, sliced
from treadle.backends.cuda.meeting import asked, come, met_by
from treadle.backends.cuda.narrow import memory_type
from treadle.backends.cuda.streamed import LITTLE, Matrix, Quick, is_brought
from treadle.base.dtypes import float32
from treadle.base.sizes import most
from treadle.kernel.axes import linear
from treadle.kernel.build import Built
from treadle.kernel.loops import Loops
from treadle.kernel.parser import parse
from treadle.kernel.steps import ProductStep

WIDTH = 2  # bytes of elements that may lie folded
HELD = 128  # columns that are looked at together, where much becomes of them


def suits(product: ProductStep, processors: int, architecture: int) -> bool:
    """Can a product that is brought by blocks be computed so, and is it enough for everybody?"""
    if product.epilogue is not None and not is_known(product.epilogue.loops):
        return False
    depth = product.sides()[0].shape[-1]
    return is_enough(product.node, depth, processors, architecture)


def is_folded(product: ProductStep) -> bool:
    """Does one operand lie in parts, such as heads, that blocks stay inside of?"""
    dtype = product.node.dtype
    if dtype.size != WIDTH or not is_brought(product, 1):
        return False
    return folded(product, (LANES, DEPTH // dtype.size)) is not None


def is_simple(loops: Loops | None) -> bool:
    """Is it little that becomes of a tile?"""
    return loops is None or (len(loops.order()) <= LITTLE and len(loops.stores()) == 1)


class Divided(Quick):
    """A product on its way to Gluon."""

    most_pieces = 1
    held: tuple[str, ...] = ("a_room", "b_room", "room", "full", "empty")  # in shared memory
    halves = 1  # parts of a tile's columns that are multiplied by instructions of their own

    def tiles(self) -> tuple[Tile, ...]:
        """Wide and narrow ones."""
        return tiles_of(self.node.dtype)

    def operands(self) -> tuple[Matrix, Matrix]:
        """Where both lie; of the first one axes may be folded."""
        x, y = super().operands()
        return folded(self.product, (self.tile.m, self.tile.k)) or x, y

    def timed(self, tile: Tile) -> Tile:
        """There is nothing to try."""
        return tile

    def choose(self, tiles: Sequence[Tile]) -> Tile:
        """The tile of least estimated time, and into how many pieces it is cut."""
        tile, self.cut = chosen(tiles, self.m, self.n, self.k, self.processors)
        self.pairs = pairs_of(most(self.m), most(self.n), tile)
        return tile

    def slices(self) -> int:
        """So many that there are registers for what becomes of a tile, and room for its way out."""
        epilogue, wide = self.product.epilogue, self.node.dtype.size > 2
        loops = epilogue.loops if epilogue else None
        return 1 if is_simple(loops) and not wide else max(1, self.tile.n // (HELD >> wide))

    def _pieces(self, tile: Tile) -> int:
        return self.cut

    def _constants(self) -> dict[str, int]:
        return {}  # they are in the text

    def _programs(self) -> int:
        return min(self.pairs * self.pieces, self.processors)

    # ---- arguments

    def _collect(self) -> None:
        add, dtype, t = self.arguments, self.node.dtype, self.tile
        for name, matrix, rows in (("a", self.x, t.m), ("b", self.y, t.n // self.halves)):
            tensor = matrix.tensor((), (rows, t.k))
            if tensor is not None:
                add_tensor(add, name, dtype, tensor)
        self.results: dict[int, Tensor] = {}
        self.met: tuple[int, Tensor] | None = None
        epilogue = self.product.epilogue
        numbers = {"M": self.m, "N": self.n, "K": self.k}
        if self.pieces > 1:
            add.memory("work", float32, self.work)
            numbers["span"] = -(-self.k // (t.k * self.pieces))
        else:
            if epilogue is not None:
                add.loops(epilogue, self._signature(), self.wide)
            self.results = self._leaving(epilogue)
            for k, tensor in self.results.items():
                add_tensor(add, f"c{k}", dtype, tensor)
            self.met = self._met(epilogue)
            if self.met is not None:
                add_tensor(add, "met", dtype, self.met[1])
            if epilogue is None and not self.results:
                add.memory("c", dtype, self.node)
        for name, value in numbers.items():
            add.integer(name, value, False)  # the copy engine counts in 32 bits

    def _leaving(self, epilogue: Built | None) -> dict[int, Tensor]:
        """Results that leave by the copy engine, by number of the argument: a slice at a time."""
        dtype = self.node.dtype
        leaves: dict[int, object] = {} if epilogue else {0: self.node}
        if epilogue is not None:
            loops = epilogue.loops
            places = linear([*loops.outer, *loops.inner])
            for s in loops.stores():
                same = loops.arguments[s.buffer].dtype is dtype and s.position == places
                if same and s.mode == "set" and not s.only:
                    leaves[s.buffer] = epilogue.buffers[s.buffer]
        sides = [(self.m, self.n, self.tile.m), (self.n, 1, self.tile.n // self.slices())]
        found = {k: tensor_of(buffer, dtype, 0, sides) for k, buffer in leaves.items()}
        return {k: block for k, block in found.items() if block is not None}

    def _met(self, epilogue: Built | None) -> tuple[int, Tensor] | None:
        """The array that tiles meet, where there is room for it: that of the one result."""
        if epilogue is None or len(self.results) != 1 or self._doors() != self.slices():
            return None
        (result,) = self.results.values()
        return met_by(epilogue, result, self.node.dtype)

    # ---- text

    def _text(self) -> str:
        names = [name for name, _ in self.arguments.types]
        held = (*self.held, *["came"] * (self.met is not None))
        t, count, kind = self.tile, self.slices(), memory_type(self.node.dtype)
        numbers = {"BM": t.m, "BN": t.n, "BK": t.k, "STAGES": t.stages}
        lines = [f"{name} = gl.constexpr({value})" for name, value in numbers.items()]
        grids = {w: grid_of(w, self.node.dtype) for w in sorted({t.n // self.halves, t.n // count})}
        lines += [f"GRID{w} = gl.constexpr({grid})" for w, grid in grids.items()]
        lines += self._layouts()
        given = ", ".join([*names, *held])
        for head, body in self._groups(given).items():
            lines += ["", "", "@gluon.jit", f"def {head}:", *body]
        made = [f"{name}_room = gl.allocate_shared_memory({kind}, {shape}, {name}.layout)"
                for name, shape in self._rooms()]  # fmt: skip
        made += ["full = barriers(STAGES, 1)", f"empty = barriers(STAGES, {GROUPS})"]
        made += [*self._ways_out(kind), *self._started(given)]
        lines += ["", "", "@gluon.jit", f"def kernel({', '.join(names)}):"]
        return with_functions(HEAD + "\n".join([*lines, *("    " + line for line in made), ""]))

    def _rooms(self) -> list[tuple[str, str]]:
        """Shared memory for blocks of both operands."""
        half = f"BN // {self.halves}"
        around = "1, " * self.x.around
        return [("a", f"[{GROUPS} * STAGES, {around}{_sides(self.x, 'BM')}]"),
                ("b", f"[{self.halves} * STAGES, {_sides(self.y, half)}]")]  # fmt: skip

    def _block(self, half: int) -> str:
        """Columns of the other operand."""
        return f"b_room.index(stage * {self.halves} + {half})"

    def _sums(self) -> list[str]:
        """Names of what is added up."""
        return ["acc"] if self.halves == 1 else [f"acc{k}" for k in range(self.halves)]

    def _layouts(self) -> list[str]:
        """Lines that name further layouts."""
        return []

    def _groups(self, given: str) -> dict[str, list[str]]:
        """What each kind of group does, by the head of its function."""
        both = {f"bring({given})": self._bring()}
        both[f"compute({given}, PART: gl.constexpr)"] = self._compute()
        return both

    def _ways_out(self, kind: str) -> list[str]:
        """Shared memory that results leave through, if they do."""
        if not self.results:
            return ["room = full"]
        doors = GROUPS * self._doors()
        shape = f"[{doors}, BM, {self.tile.n // self.slices()}]"
        layout = f"c{min(self.results)}.layout"
        made = [f"room = gl.allocate_shared_memory({kind}, {shape}, {layout})"]
        return made + [f"came = barriers({doors}, 1)"] * (self.met is not None)

    def _started(self, given: str) -> list[str]:
        return started(given)

    def _turns(self) -> list[str]:
        """The head of a loop over tiles, and lines that say which one it is, and from where."""
        inside = [f"group = tile // ({GROUP} * along)",
                  f"height = tl.minimum(pairs - group * {GROUP}, {GROUP})",
                  f"inside = tile % ({GROUP} * along)",
                  f"pair = group * {GROUP} + inside % height",
                  "wide = inside // height", "low = 0", "last = steps"]  # fmt: skip
        tiles = "pairs * along"
        if self.pieces > 1:
            cut = ["piece = tile // (pairs * along)", "tile = tile % (pairs * along)"]
            ends = ["low = piece * span", "last = tl.minimum(steps, low + span)"]
            inside = [*cut, *inside[:-2], *ends]
            tiles += f" * {self.pieces}"
        return [
            "pairs = tl.cdiv(M, 2 * BM)",
            "along = tl.cdiv(N, BN)",
            "steps = tl.cdiv(K, BK)",
            "turn = 0",
            f"for tile in range(tl.program_id(0), {tiles}, tl.num_programs(0)):",
            *("    " + line for line in inside),
        ]

    def _bring(self) -> list[str]:
        copy = "tma.async_copy_global_to_shared"
        nbytes = f"({GROUPS} * BM + BN) * BK * {self.node.dtype.size}"
        lines = [
            *self._turns(),
            "    for step in range(low, last):",
            "        stage = turn % STAGES",
            "        k = step * BK",
            "        mbarrier.wait(empty.index(stage), (turn // STAGES & 1) ^ 1)",
            "        here = full.index(stage)",
            f"        mbarrier.expect(here, {nbytes})",
        ]
        for part in range(GROUPS):
            at = self.x.coordinates(f"(pair * {GROUPS} + {part}) * BM", "k")
            lines.append(
                f"        {copy}(a, [{at}], here, a_room.index(stage * {GROUPS} + {part}))"
            )
        for half in range(self.halves):
            at = self.y.coordinates(f"wide * BN + {half} * BN // {self.halves}", "k")
            lines.append(f"        {copy}(b, [{at}], here, {self._block(half)})")
        return ["    " + line for line in [*lines, "        turn += 1"]]

    def _compute(self) -> list[str]:
        x = f"a_room.index(stage * {GROUPS} + PART)"
        x += f".reshape([{_sides(self.x, 'BM')}])" * bool(self.x.around)
        x += "" if self.x.strides[1] == 1 else ".permute((1, 0))"
        turned = ".permute((1, 0))" if self.y.strides[1] == 1 else ""
        sums, width = self._sums(), self.tile.n // self.halves
        more = [name.replace("acc", "more") for name in sums]
        products = [
            f"warpgroup_mma({x}, {self._block(k)}{turned}, {acc}, is_async=True)"
            for k, acc in enumerate(sums)
        ]
        lines = [
            *self._turns(),
            *(f"    {acc} = gl.zeros((BM, {width}), gl.float32, GRID{width})" for acc in sums),
            "    for step in range(low, last):",
            "        stage = turn % STAGES",
            "        mbarrier.wait(full.index(stage), turn // STAGES & 1)",
            *(f"        {name} = {made}" for name, made in zip(more, products, strict=True)),
            f"        {', '.join(sums)} = warpgroup_mma_wait(0, deps=({', '.join(more)},))",
            "        free(empty.index(stage))",
            "        turn += 1",
        ]
        if self.met is not None:
            width = self.tile.n // self.slices()
            doors = [self._door(k) for k in range(self.slices())]
            more = asked(doors, width, self.tile.m * width * self.node.dtype.size)
            lines = ["come = 0", *lines, *("        " + line for line in more)]
        lines.append(f"    high = pair * {GROUPS} + PART")
        finish = self._left() if self.pieces > 1 else [*self._finish(), "tma.store_wait(0)"]
        return ["    " + line for line in [*lines, *finish]]

    def _door(self, k: int) -> str:
        """The room that a slice of a result leaves through, of those of its group."""
        return f"PART * {self._doors()} + {k % self._doors()}"

    def _left(self) -> list[str]:
        grid = f"GRID{self.tile.n}"
        return [
            f"    m = high * BM + gl.arange(0, BM, gl.SliceLayout(1, {grid}))[:, None]",
            f"    n = wide * BN + gl.arange(0, BN, gl.SliceLayout(0, {grid}))[None, :]",
            "    tl.store(work + (piece * M + m) * N + n, acc, mask=(m < M) & (n < N))",
        ]

    def _finish(self) -> list[str]:
        """What becomes of a finished tile, a part of its columns after the other."""
        count, width = self.slices(), self.tile.n // self.slices()
        names, lines = self._sliced(count)
        self.gone = self.named = 0
        for k, name in enumerate(names):
            grid = f"GRID{width}"
            lines += [
                f"    {name} = gl.convert_layout({name}, {grid})",
                f"    m = high * BM + gl.arange(0, BM, gl.SliceLayout(1, {grid}))[:, None]",
                f"    start = wide * BN + {k * width}",
                f"    n = start + gl.arange(0, {width}, gl.SliceLayout(0, {grid}))[None, :]",
            ]
            if self.met is not None:
                lines += ["    " + line for line in come(self._door(k), k, width)]
            lines += self._slice(name, width, f"(wide * {count} + {k})", k)
        lines += ["    come += 1"] * (self.met is not None)
        return [in_gluon(line) for line in lines]

    def _sliced(self, count: int) -> tuple[list[str], list[str]]:
        """Names of so many neighbouring parts of a tile, and the lines that give them these."""
        width, each = self.tile.n // self.halves, count // self.halves
        both = [sliced(name, width, each) for name in self._sums()]
        return [x for names, _ in both for x in names], [x for _, lines in both for x in lines]

    def _leave(self, number: int, value: str) -> list[str]:
        """A result on its way to memory: into a room that an earlier one has left, and out."""
        if number not in self.results:
            return []
        room = f"room.index({self._door(self.gone)})"
        left = [] if self.met is not None else [f"tma.store_wait({self._doors() - 1})"]
        lines = [
            f"out{self.gone} = {value}", *left, "meet()",
            f"{room}.store(out{self.gone})", "fence_async_shared()", "meet()",
            f"tma.async_copy_shared_to_global(c{number}, [high * BM, start], {room})",
        ]  # fmt: skip
        self.gone += 1
        return lines

    def _doors(self) -> int:
        """Rooms of a group, taken in turns from tile to tile; one where slices may be missing."""
        many = len(self.results) * self.slices()
        return 2 if many % 2 == 0 and self.n % self.tile.n == 0 else 1

    def _slice(self, name: str, width: int, across: str, k: int) -> list[str]:
        exact_m, exact_n = self.m % self.tile.m == 0, self.n % self.tile.n == 0
        if self.product.epilogue is None:
            lines = self._leave(0, name) or [
                f"tl.store(c + m * N + n, {name}, mask=(m < M) & (n < N))"
            ]
            return ["    " + line for line in lines]
        form = Form("map", 0, 0, False, 0, exact_m, exact_n, wide=self.wide)
        at = Finished(name, "m", "n", "high", across, f"(BM, {width})")
        kernel = parse(self._signature().text)
        here = {} if self.met is None else {self.met[0]: f"met{k}"}
        emitter = GluonEpilogue(kernel, form, at, self._leave, here)
        emitter.count = self.named  # names are used once: what lies nowhere yet cannot be changed
        lines = emitter.run("m < M", "n < N")
        self.named = emitter.count
        if exact_n or not k:
            return lines
        return ["    if start < N:", *("    " + line for line in lines)]


def _sides(matrix: Matrix, lines: str) -> str:
    """Sides of a block: as it lies in memory."""
    return f"{lines}, BK" if matrix.strides[1] == 1 else f"BK, {lines}"
