"""Products whose tiles are finished by groups of their own, while the next ones are multiplied.

Where much becomes of a tile alone, the groups that multiply leave their sums in shared memory,
rounded as they would be without anything after them, and go on. To each belongs a finisher, which
takes them slice by slice, in lines of whole rows. Tiles that meet others from memory are no work
for it: eight warps have too few reads on their way.
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
from treadle.base.sizes import least
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.parser import parse
from treadle.kernel.steps import ProductStep
from treadle.ops.defs import Kind

WARPS = 4  # that finish what a group has multiplied
AT_ONCE = 128  # columns of an instruction, which has no more registers than all threads begin with
REGISTERS = 160, 64, 24  # of a thread that computes, one that finishes and one that brings
WIDTH = 32  # columns of a slice: more would not fit into registers
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
    whole = made.n % made.tile.n == 0  # masks would take too many registers
    return alone and whole and not is_simple(loops) and least(made.k) >= DEPTH


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
    tile, pieces = chosen_for(product, depth, processors)
    return pieces == 1 and product.shape[-1] % tile.n == 0


class Finishing(Divided):
    """Such a product on its way to Gluon."""

    held = (*Divided.held, "left", "taken")

    def slices(self) -> int:
        """Of half a line each."""
        return self.tile.n // WIDTH

    def _leaving(self, epilogue: Built | None) -> dict[int, Tensor]:
        del epilogue
        return {}  # lines are written from registers as they are

    def choose(self, tiles: Sequence[Tile]) -> Tile:
        """The tile of least estimated time."""
        tile = super().choose(tiles)
        self.halves = tile.n // AT_ONCE
        return tile

    # ---- text

    def _layouts(self) -> list[str]:
        across = WIDTH // VECTOR
        shape = f"[1, {VECTOR}], [{32 // across}, {across}], [{WARPS}, 1], [1, 0]"
        lying = f"swizzle_byte_width={2 * WIDTH}, element_bitwidth=16, rank=2"
        return [
            f"LINES = gl.constexpr(gl.BlockedLayout({shape}))",
            f"LYING = gl.constexpr(gl.NVMMASharedLayout({lying}))",
        ]

    def _groups(self, given: str) -> dict[str, list[str]]:
        head = f"finish({given}, PART: gl.constexpr)"
        return {head: self._finisher(), **super()._groups(given)}

    def _ways_out(self, kind: str) -> list[str]:
        shape = f"[{GROUPS * self.slices()}, BM, {WIDTH}]"
        made = [f"room = gl.allocate_shared_memory({kind}, {shape}, LYING)"]
        return [*made, f"left = barriers({GROUPS}, 1)", f"taken = barriers({GROUPS}, 1)"]

    def _started(self, given: str) -> list[str]:
        computes, finishes, brings = REGISTERS
        groups = [f"({what}, ({given}, {k}))" for what in ("compute", "finish")
                  for k in range(GROUPS)]  # fmt: skip
        warps = [*[4] * (GROUPS - 1), *[WARPS] * GROUPS, 1]
        registers = [*[computes] * (GROUPS - 1), *[finishes] * GROUPS, brings]
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
            tile = f"gl.convert_layout({name}, GRID{WIDTH})"
            lines.append(f"    {room}.store({tile}.to({kind}))")
        return [*lines, "    free(left.index(PART))", "    done += 1"]

    def _finisher(self) -> list[str]:
        count, self.named = self.slices(), 0
        both = [self._both(k) for k in range(count)]
        ahead, after = ([[in_gluon(x) for x in pair[k]] for pair in both] for k in (0, 1))
        lines = [
            *self._turns(),
            f"    high = pair * {GROUPS} + PART",
            "    m = high * BM + gl.arange(0, BM, gl.SliceLayout(1, LINES))[:, None]",
            *(line for lines in ahead[:AHEAD] for line in lines),
            "    mbarrier.wait(left.index(PART), turn & 1)",
        ]
        ahead += [[]] * AHEAD
        for k in range(count):
            room = f"room.index(PART * {count} + {k})"
            lines.append(f"    tile{k} = {room}.load(LINES).to(tl.float32)")
            lines += ["    free(taken.index(PART))"] * (k == count - 1)
            lines += [*ahead[k + AHEAD], *after[k]]
        return ["    " + line for line in [*lines, "    turn += 1"]]

    def _both(self, k: int) -> tuple[list[str], list[str]]:
        """Of a slice: lines that ask for what lies in memory, and what becomes of it."""
        form = Form("map", 0, 0, False, 0, self.m % self.tile.m == 0, True, wide=self.wide)
        across = f"(wide * {self.slices()} + {k})"
        at = Finished(f"tile{k}", "m", f"n{k}", "high", across, f"(BM, {WIDTH})")
        emitter = SliceEmitter(parse(self._signature().text), form, at)
        emitter.count, emitter.indent = self.named, 1  # names are used once
        emitter.line(f"start{k} = wide * BN + {k * WIDTH}")
        columns = f"gl.arange(0, {WIDTH}, gl.SliceLayout(0, LINES))[None, :]"
        emitter.line(f"n{k} = start{k} + {columns}")
        emitter.begin("m < M", "")
        emitter.ask()
        ahead, emitter.lines = emitter.lines, []
        after = emitter.finish()
        self.named = emitter.count
        return ahead, after
