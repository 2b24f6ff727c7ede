"""Products whose tiles are finished by groups of their own, while the next ones are multiplied.

Where much becomes of a tile alone, the groups that multiply leave their sums in shared memory,
rounded as they would be without anything after them, and go on. A finisher takes them slice by
slice, in lines of whole rows. Tiles that meet others from memory are no work for it: four warps
have too few reads on their way.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.choices import Machine
from treadle.backends.cuda.divided import Divided, is_simple
from treadle.backends.cuda.epilogue import Finished
from treadle.backends.cuda.forms import Form, bytes_read
from treadle.backends.cuda.gluon import GROUPS, KNOWN, in_gluon
from treadle.backends.cuda.gluon_epilogue import SliceEmitter
from treadle.backends.cuda.gluon_tiles import chosen_for, is_enough
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.matmul import Tile
from treadle.backends.cuda.narrow import memory_type
from treadle.base.errors import needed
from treadle.base.sizes import least
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.parser import parse
from treadle.kernel.steps import ProductStep
from treadle.ops.defs import Kind

WARPS = 4  # that finish what both groups have multiplied
HALVES = 2
AT_ONCE = 128  # columns of an instruction, which has no more registers than all threads begin with
REGISTERS = 184, 120, 24  # of a thread that computes, one that finishes and one that brings
WIDTH = 64  # columns of a slice: a line of shared memory
MUCH = 20  # expressions: of more, threads hold half as many elements at once
VECTOR = 8  # elements that a thread takes at once
AHEAD = 2  # slices for which what lies in memory is on its way
DEPTH = 512  # along k: of less, more time goes into what becomes of a tile than into its sums


def divided(product: ProductStep, processors: int, machine: Machine, architecture: int) -> Divided:
    """A product in Gluon, with a finisher where it is worth one."""
    given = product, processors, machine, architecture
    plain = Divided(*given)
    return Finishing(*given) if is_long(plain) else plain


def is_long(made: Divided) -> bool:
    """Does much become of its tiles, and is there time for that beside the next ones?"""
    epilogue = made.product.epilogue
    if epilogue is None or made.pieces != 1 or made.node.dtype.size != 2:
        return False
    loops = epilogue.loops
    alone = not bytes_read(loops) and all(s.mode == "set" for s in loops.stores())
    return alone and not is_simple(loops) and least(made.k) >= DEPTH


def is_beside(product: Node, maps: Sequence[Node], *, processors: int, architecture: int) -> bool:
    """Would tiles be finished beside the next ones, if these maps became of them?"""
    depth = product.operands[0].shape[-1]
    if product.dtype.size != 2 or least(depth) < DEPTH:
        return False
    if any(n.op.kind is Kind.REDUCE for n in maps):
        return False
    if not all(n.op.name in KNOWN for n in maps if n.op.kind is Kind.ELEMENTWISE):
        return False
    if not is_enough(product, depth, processors, architecture):
        return False
    return chosen_for(product, depth, processors)[1] == 1


class Finishing(Divided):
    """Such a product on its way to Gluon."""

    held = (*Divided.held, "left", "taken")

    @property
    def width(self) -> int:
        """Columns of a slice."""
        loops = needed("finisher", self.product.epilogue, "epilogue").loops
        return WIDTH if len(loops.order()) <= MUCH else WIDTH // 2

    def slices(self) -> int:
        """Of one line each, or half a line."""
        return self.tile.n // self.width

    def _leaving(self, epilogue: Built | None) -> dict[int, Tensor]:
        del epilogue
        return {}  # lines are written from registers as they are

    def choose(self, tiles: Sequence[Tile]) -> Tile:
        """The tile of least estimated time."""
        tile = super().choose(tiles)
        self.halves = max(1, min(HALVES, tile.n // AT_ONCE))
        return tile

    # ---- text

    def _layouts(self) -> list[str]:
        across = self.width // VECTOR
        shape = f"[1, {VECTOR}], [{32 // across}, {across}], [{WARPS}, 1], [1, 0]"
        lying = f"swizzle_byte_width={2 * self.width}, element_bitwidth=16, rank=2"
        return [
            f"LINES = gl.constexpr(gl.BlockedLayout({shape}))",
            f"LYING = gl.constexpr(gl.NVMMASharedLayout({lying}))",
        ]

    def _groups(self, given: str) -> dict[str, list[str]]:
        head = f"finish({given})"
        return {head: self._finisher(), **super()._groups(given)}

    def _ways_out(self, kind: str) -> list[str]:
        shape = f"[{GROUPS * self.slices()}, BM, {self.width}]"
        made = [f"room = gl.allocate_shared_memory({kind}, {shape}, LYING)"]
        return [*made, f"left = barriers({GROUPS}, 1)", f"taken = barriers({GROUPS}, 1)"]

    def _started(self, given: str) -> list[str]:
        computes, finishes, brings = REGISTERS
        groups = [f"(compute, ({given}, {k}))" for k in range(GROUPS)]
        groups.append(f"(finish, ({given}))")
        warps = [*[4] * (GROUPS - 1), WARPS, 1]
        registers = [*[computes] * (GROUPS - 1), finishes, brings]
        start = f"[{', '.join(groups)}, (bring, ({given}))], {warps}, {registers}"
        return ["fence_async_shared()", f"gl.warp_specialize({start})"]

    def _compute(self) -> list[str]:
        return ["    done = 0", *super()._compute()]

    def _finish(self) -> list[str]:
        """Sums of a tile into the room that the finisher has left."""
        names, lines = self._sliced(self.slices())
        lines = [*lines, "    mbarrier.wait(taken.index(PART), (done & 1) ^ 1)"]
        kind = memory_type(self.node.dtype)
        for k, name in enumerate(names):
            room = f"room.index(PART * {len(names)} + {k})"
            tile = f"gl.convert_layout({name}, GRID{self.width})"
            lines.append(f"    {room}.store({tile}.to({kind}))")
        return [*lines, "    free(left.index(PART))", "    done += 1"]

    def _finisher(self) -> list[str]:
        count, self.named = self.slices(), 0
        both = [self._both(k) for k in range(count)]
        ahead, after = ([[in_gluon(x) for x in pair[k]] for pair in both] for k in (0, 1))
        lines = [
            *self._turns(),
            f"    for part in range({GROUPS}):",
            f"        high = pair * {GROUPS} + part",
            "        m = high * BM + gl.arange(0, BM, gl.SliceLayout(1, LINES))[:, None]",
            *(line for lines in ahead[:AHEAD] for line in lines),
            "        mbarrier.wait(left.index(part), turn & 1)",
        ]
        ahead += [[]] * AHEAD
        for k in range(count):
            room = f"room.index(part * {count} + {k})"
            lines.append(f"        tile{k} = {room}.load(LINES).to(tl.float32)")
            lines += ["        free(taken.index(part))"] * (k == count - 1)
            lines += [*ahead[k + AHEAD], *after[k]]
        return ["    " + line for line in [*lines, "    turn += 1"]]

    def _both(self, k: int) -> tuple[list[str], list[str]]:
        """Of a slice: lines that ask for what lies in memory, and what becomes of it."""
        exact_m, exact_n = self.m % self.tile.m == 0, self.n % self.tile.n == 0
        form = Form("map", 0, 0, False, 0, exact_m, exact_n, wide=self.wide)
        across = f"(wide * {self.slices()} + {k})"
        at = Finished(f"tile{k}", "m", f"n{k}", "high", across, f"(BM, {self.width})")
        emitter = SliceEmitter(parse(self._signature().text), form, at)
        emitter.count, emitter.indent = self.named, 2  # names are used once
        emitter.line(f"start{k} = wide * BN + {k * self.width}")
        columns = f"gl.arange(0, {self.width}, gl.SliceLayout(0, LINES))[None, :]"
        emitter.line(f"n{k} = start{k} + {columns}")
        emitter.begin("m < M", f"n{k} < N")
        emitter.ask()
        ahead, emitter.lines = emitter.lines, []
        after = emitter.finish()
        self.named = emitter.count
        if exact_n or not k:
            return ahead, after
        inside = ["    " + line for line in after]
        return ahead, [f"        if start{k} < N:", *inside]
