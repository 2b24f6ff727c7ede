"""Matrix products in Gluon: a warp that brings operands, and two groups that multiply them.

A program has two tiles of 64 rows, a group each, which share the other operand. While the groups
are at what becomes of a finished tile, blocks of the next one arrive. Where whole tiles would leave
processors without work, all programs have equally many steps along k instead: what they have of a
tile they leave in memory, and who comes last adds it up, always in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from treadle.backends.cuda.clear import cleared
from treadle.backends.cuda.copies import tensor_of
from treadle.backends.cuda.epilogue import EpilogueEmitter, Finished
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.gluon import (
    GROUPS,
    HEAD,
    HOPPER,
    LANES,
    REGISTERS,
    add_tensor,
    grid_of,
    in_gluon,
    is_known,
    is_there,
)  # fmt: skip
from treadle.backends.cuda.launch import Launch, Tensor
from treadle.backends.cuda.matmul import GROUP, Tile, sliced
from treadle.backends.cuda.narrow import memory_type, stored
from treadle.backends.cuda.ops import with_helpers
from treadle.backends.cuda.streamed import Matrix, Streamed, matrices_of
from treadle.base.dtypes import float32, int32
from treadle.base.errors import needed
from treadle.kernel.abstract import Kernel, Store
from treadle.kernel.axes import linear
from treadle.kernel.build import Built
from treadle.kernel.parser import parse
from treadle.kernel.steps import ProductStep

TILE = Tile(LANES, 256, 64, 4, 3, 1.0)  # of a group
ENOUGH = 10  # steps of a program: of fewer, smaller tiles have more done at once
LEAVING = 8  # steps that take as long as to leave a part of a tile and to add it up
WASTE = 4 / 3  # elements of tiles, where as many are wanted as 1


def suits(product: ProductStep, processors: int, architecture: int) -> bool:
    """Can a product be computed so, and has every program enough to do?"""
    if architecture != HOPPER or not is_there() or product.node.dtype.size != 2:
        return False
    if len(product.node.shape) > 2 or any(
        x.tensor((), (1, 1)) is None for x in matrices_of(product)
    ):
        return False
    (m, n), k = product.node.shape, product.sides()[0].shape[-1]
    pairs, across = -(-m // (GROUPS * LANES)), -(-n // TILE.n)
    if -(-m // LANES) % GROUPS or pairs * across * GROUPS * LANES * TILE.n > WASTE * m * n:
        return False
    if pairs * across * -(-k // TILE.k) < ENOUGH * processors:
        return False
    return product.epilogue is not None and is_known(product.epilogue.loops)


def _shares(tiles: int, steps: int, processors: int) -> tuple[int, int]:
    """Steps of the busiest program: with whole tiles, and with parts of tiles."""
    return -(-tiles // processors) * steps, -(-tiles * steps // processors) + LEAVING


class Divided(Streamed):
    """A product on its way to Gluon."""

    def tiles(self) -> tuple[Tile, ...]:
        """One."""
        return (TILE,)

    def settle(self, tiles: Sequence[Tile]) -> Tile:
        """There is nothing to try."""
        return tiles[0]

    def _pieces(self, tile: Tile) -> int:
        """Tiles are cut otherwise, if they are."""
        pairs, steps = self._count(tile) // GROUPS, -(-self.k // tile.k)
        whole, parts = _shares(pairs, steps, self.processors)
        self.depth = steps
        self.span = 0 if whole <= parts else parts - LEAVING
        return 1

    def before(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """Counters of finished parts set to 0, and room for parts."""
        if not self.span:
            return [], {}
        self.work, self.counts = f"parts of {step}", f"finished of {step}"
        count, t = self._count(self.tile), self.tile
        room = count * self._most_parts() * t.m * t.n * float32.size
        sizes = {self.work: room, self.counts: count * int32.size}
        return [cleared(self.counts, int32, count)], sizes

    def _most_parts(self) -> int:
        """Of a tile."""
        return -(-self.depth // self.span) + 1

    def _constants(self) -> dict[str, int]:
        return {}  # they are in the text

    def _programs(self) -> int:
        pairs = self._count(self.tile) // GROUPS
        return -(-pairs * self.depth // self.span) if self.span else min(pairs, self.processors)

    # ---- arguments

    def _collect(self) -> None:
        add, dtype, t = self.arguments, self.node.dtype, self.tile
        for name, matrix, rows in (("a", self.x, t.m), ("b", self.y, t.n)):
            tensor = matrix.tensor((), (rows, t.k))
            if tensor is not None:
                add_tensor(add, name, dtype, tensor)
        epilogue = needed("divided", self.product.epilogue, "epilogue")
        add.loops(epilogue, self._signature(), self.wide)
        self.results = self._leaving(epilogue)
        for k, tensor in self.results.items():
            add_tensor(add, f"c{k}", dtype, tensor)
        if self.span:
            add.memory("work", float32, self.work)
            add.memory("finished", int32, self.counts)
        numbers = {"M": self.m, "N": self.n, "K": self.k}
        numbers |= {"span": self.span, "most": self._most_parts()} if self.span else {}
        for name, value in numbers.items():
            add.integer(name, value, self.wide)

    def _leaving(self, epilogue: Built) -> dict[int, Tensor]:
        """Results that leave by the copy engine, by number of the argument: a slice at a time."""
        loops, dtype = epilogue.loops, self.node.dtype
        found: dict[int, Tensor] = {}
        places = linear([*loops.outer, *loops.inner])
        sides = [(self.m, self.n, self.tile.m), (self.n, 1, self.tile.n // self.slices())]
        for s in loops.stores():
            same = loops.arguments[s.buffer].dtype is dtype and s.position == places
            if same and s.mode == "set" and not s.only:
                block = tensor_of(epilogue.buffers[s.buffer], dtype, 0, sides)
                found |= {s.buffer: block} if block is not None else {}
        return found

    # ---- text

    def _text(self) -> str:
        names = [name for name, _ in self.arguments.types]
        t, count, kind = self.tile, self.slices(), memory_type(self.node.dtype)
        numbers = {"BM": t.m, "BN": t.n, "BK": t.k, "STAGES": t.stages}
        lines = [f"{name} = gl.constexpr({value})" for name, value in numbers.items()]
        lines += [f"GRID{w} = gl.constexpr({grid_of(w)})" for w in {t.n, t.n // count}]
        rooms, given = ["a_room", "b_room", "room", "full", "empty"], ", ".join(names)
        given = ", ".join([*names, *rooms])
        lines += ["", "", "@gluon.jit", f"def bring({given}):", *self._bring()]
        lines += [
            "",
            "",
            "@gluon.jit",
            f"def compute({given}, PART: gl.constexpr):",
            *self._compute(),
        ]
        made = [f"{name}_room = gl.allocate_shared_memory({kind}, {shape}, {name}.layout)"
                for name, shape in self._rooms()]  # fmt: skip
        made += ["full = barriers(STAGES, 1)", f"empty = barriers(STAGES, {GROUPS})"]
        made += [f"room = {self._way_out(kind)}", "fence_async_shared()"]
        mine = ", ".join(f"(compute, ({given}, {k}))" for k in range(GROUPS))
        busy, other = REGISTERS
        warps, registers = [4] * (GROUPS - 1) + [1], [busy] * (GROUPS - 1) + [other]
        made.append(f"gl.warp_specialize([{mine}, (bring, ({given}))], {warps}, {registers})")
        lines += ["", "", "@gluon.jit", f"def kernel({', '.join(names)}):"]
        return with_helpers(HEAD + "\n".join([*lines, *("    " + line for line in made), ""]))

    def _rooms(self) -> list[tuple[str, str]]:
        """Shared memory for blocks of both operands."""
        return [("a", f"[{GROUPS} * STAGES, {_sides(self.x, 'BM')}]"),
                ("b", f"[STAGES, {_sides(self.y, 'BN')}]")]  # fmt: skip

    def _way_out(self, kind: str) -> str:
        """Shared memory that results leave through, if they do."""
        if not self.results:
            return "full"
        shape = f"[{GROUPS}, BM, {self.tile.n // self.slices()}]"
        return f"gl.allocate_shared_memory({kind}, {shape}, c{min(self.results)}.layout)"

    def _turns(self) -> list[str]:
        """The head of a loop over tiles, and lines that say which one it is, and from where."""
        whole = ["pairs = tl.cdiv(M, 2 * BM)", "along = tl.cdiv(N, BN)",
                 "steps = tl.cdiv(K, BK)", "turn = 0"]  # fmt: skip
        place = [f"group = tile // ({GROUP} * along)",
                 f"height = tl.minimum(pairs - group * {GROUP}, {GROUP})",
                 f"inside = tile % ({GROUP} * along)",
                 f"pair = group * {GROUP} + inside % height",
                 "wide = inside // height"]  # fmt: skip
        if not self.span:
            head = "for tile in range(tl.program_id(0), pairs * along, tl.num_programs(0)):"
            ends = ["low = 0", "last = steps"]
            return [*whole, head, *("    " + line for line in [*place, *ends])]
        whole += ["at = tl.program_id(0) * span",
                  "end = tl.minimum(at + span, pairs * along * steps)"]  # fmt: skip
        ends = ["tile = at // steps", "low = at % steps",
                "last = tl.minimum(steps, low + end - at)", "at += last - low"]  # fmt: skip
        return [*whole, "while at < end:", *("    " + line for line in [*ends, *place])]

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
            at = _places(self.x, f"(pair * {GROUPS} + {part}) * BM")
            lines.append(f"        {copy}(a, {at}, here, a_room.index(stage * {GROUPS} + {part}))")
        lines.append(
            f"        {copy}(b, {_places(self.y, 'wide * BN')}, here, b_room.index(stage))"
        )
        return ["    " + line for line in [*lines, "        turn += 1"]]

    def _compute(self) -> list[str]:
        x, y = f"a_room.index(stage * {GROUPS} + PART)", "b_room.index(stage)"
        x += "" if self.x.strides[1] == 1 else ".permute((1, 0))"
        y += ".permute((1, 0))" if self.y.strides[1] == 1 else ""
        lines = [
            *self._turns(),
            "    acc = gl.zeros((BM, BN), gl.float32, GRID256)",
            "    for step in range(low, last):",
            "        stage = turn % STAGES",
            "        mbarrier.wait(full.index(stage), turn // STAGES & 1)",
            f"        more = warpgroup_mma({x}, {y}, acc, is_async=True)",
            "        acc = warpgroup_mma_wait(0, deps=(more,))",
            "        free(empty.index(stage))",
            "        turn += 1",
            f"    high = pair * {GROUPS} + PART",
        ]
        finish = self._finish()
        if self.span:
            lines += ["    " + line for line in PARTS.strip().splitlines()]
            finish = ["    if done:", *("    " + line for line in finish)]
        return ["    " + line for line in [*lines, *finish, "tma.store_wait(0)"]]

    def _finish(self) -> list[str]:
        """What becomes of a finished tile, a part of its columns after the other."""
        count, width = self.slices(), self.tile.n // self.slices()
        names, lines = sliced("acc", self.tile.n, count)
        for k, name in enumerate(names):
            grid = f"GRID{width}"
            lines += [
                f"    {name} = gl.convert_layout({name}, {grid})",
                f"    m = high * BM + gl.arange(0, BM, gl.SliceLayout(1, {grid}))[:, None]",
                f"    start = wide * BN + {k * width}",
                f"    n = start + gl.arange(0, {width}, gl.SliceLayout(0, {grid}))[None, :]",
            ]
            lines += self._slice(name, width, f"(wide * {count} + {k})", k)
        return [in_gluon(line) for line in lines]

    def _slice(self, name: str, width: int, across: str, k: int) -> list[str]:
        exact_m, exact_n = self.m % self.tile.m == 0, self.n % self.tile.n == 0
        form = Form("map", 0, 0, False, 0, exact_m, exact_n, wide=self.wide)
        at = Finished(name, "m", "n", "high", across, f"(BM, {width})")
        kernel = parse(self._signature().text)
        lines = GluonEpilogue(kernel, form, at, self.results).run("m < M", "n < N")
        if exact_n or not k:
            return lines
        return ["    if start < N:", *("    " + line for line in lines)]


class GluonEpilogue(EpilogueEmitter):
    """What runs on a finished tile; results in **leaving** leave by the copy engine."""

    def __init__(self, kernel: Kernel, form: Form, at: Finished, leaving: Collection[int]) -> None:
        super().__init__(kernel, form, at)
        self.leaving = leaving

    def _store(self, s: Store) -> None:
        if s.buffer not in self.leaving:
            super()._store(s)
            return
        value = stored(self.value(s.value), self.kernel.arguments[s.buffer].dtype)
        for line in _leave(f"c{s.buffer}", value):
            self.line(line)


def _leave(name: str, value: str) -> list[str]:
    """A part of a tile on its way to memory, once the one before it has left."""
    return [
        f"out = {value}", "tma.store_wait(0)", "meet()", "room.index(PART).store(out)",
        "fence_async_shared()", "meet()",
        f"tma.async_copy_shared_to_global({name}, [high * BM, start], room.index(PART))",
    ]  # fmt: skip


def _sides(matrix: Matrix, lines: str) -> str:
    """Sides of a block: as it lies in memory."""
    return f"{lines}, BK" if matrix.strides[1] == 1 else f"BK, {lines}"


def _places(matrix: Matrix, line: str) -> str:
    return f"[{line}, k]" if matrix.strides[1] == 1 else f"[k, {line}]"


PARTS = """
done = last - low == steps
if not done:
    first = tile * steps // span
    count = ((tile + 1) * steps - 1) // span - first + 1
    rows = gl.arange(0, BM, gl.SliceLayout(1, GRID256))[:, None]
    columns = gl.arange(0, BN, gl.SliceLayout(0, GRID256))[None, :]
    places = work + (tile * 2 + PART) * (most * BM * BN) + rows * BN + columns
    tl.store(places + (tl.program_id(0) - first) * (BM * BN), acc)
    meet()
    came = tl.atomic_add(finished + tile * 2 + PART, 1, sem="acq_rel")
    done = came == count - 1
    if done:
        acc = tl.load(places, cache_modifier=".cg")
        for other in range(1, count):
            acc += tl.load(places + other * (BM * BN), cache_modifier=".cg")
"""
