"""Products whose tiles are finished by groups of their own, while the next ones are multiplied.

Where much becomes of a tile, the groups that multiply leave their sums in shared memory, rounded as
they would be without anything after them, and go on. A finisher takes them slice by slice, in lines
of whole rows: what it reads from memory of the next slice is on its way meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from treadle.backends.cuda.divided import Divided, is_simple
from treadle.backends.cuda.epilogue import EpilogueEmitter, Finished
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.gluon import GROUPS, in_gluon
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.matmul import sliced
from treadle.backends.cuda.narrow import memory_type
from treadle.base.sizes import least
from treadle.kernel.build import Built
from treadle.kernel.parser import parse

FINISHERS = ((4, 0, 2),)  # warps, and which groups' tiles they finish
HALVES = 2
REGISTERS = 200, 88, 24  # of a thread that computes, one that finishes and one that brings
WIDTH = 64  # columns of a slice: a line of shared memory
VECTOR = 8  # elements that a thread takes at once
DEPTH = 512  # along k: of less, more time goes into what becomes of a tile than into its sums


def divided(*given: object) -> Divided:
    """A product in Gluon, with a finisher where it is worth one."""
    made: Callable[..., Divided] = Divided
    if is_long(made(*given)):
        made = Finishing
    return made(*given)


def is_long(made: Divided) -> bool:
    """Does much become of its tiles, and is there time for that beside the next ones?"""
    epilogue = made.product.epilogue
    if epilogue is None or made.pieces > 1 or made.node.dtype.size != 2:
        return False
    return not is_simple(epilogue.loops) and least(made.k) >= DEPTH


class Finishing(Divided):
    """Such a product on its way to Gluon."""

    held = (*Divided.held, "left", "taken")

    def slices(self) -> int:
        """Of one line each."""
        return self.tile.n // WIDTH

    def _leaving(self, epilogue: Built | None) -> dict[int, Tensor]:
        del epilogue
        return {}  # lines are written from registers as they are

    @property
    def halves(self) -> int:  # type: ignore[override]
        """Fewer registers for an instruction than the threads have before they share them out."""
        return min(HALVES, self.tile.n // 128)

    # ---- text

    def _layouts(self) -> list[str]:
        across = WIDTH // VECTOR
        shape = f"[1, {VECTOR}], [{32 // across}, {across}], [{FINISHERS[0][0]}, 1], [1, 0]"
        lying = "swizzle_byte_width=128, element_bitwidth=16, rank=2"
        return [
            f"LINES = gl.constexpr(gl.BlockedLayout({shape}))",
            f"LYING = gl.constexpr(gl.NVMMASharedLayout({lying}))",
        ]

    def _groups(self, given: str) -> dict[str, list[str]]:
        head = f"finish({given}, FIRST: gl.constexpr, LAST: gl.constexpr)"
        return {head: self._finisher(), **super()._groups(given)}

    def _ways_out(self, kind: str) -> list[str]:
        shape = f"[{GROUPS * self.slices()}, BM, {WIDTH}]"
        made = [f"room = gl.allocate_shared_memory({kind}, {shape}, LYING)"]
        return [*made, f"left = barriers({GROUPS}, 1)", f"taken = barriers({GROUPS}, 1)"]

    def _started(self, given: str) -> list[str]:
        computes, finishes, brings = REGISTERS
        groups = [f"(compute, ({given}, {k}))" for k in range(GROUPS)]
        groups += [f"(finish, ({given}, {first}, {last}))" for _, first, last in FINISHERS]
        warps = [4] * (GROUPS - 1) + [count for count, *_ in FINISHERS] + [1]
        registers = [computes] * (GROUPS - 1) + [finishes] * len(FINISHERS) + [brings]
        start = f"[{', '.join(groups)}, (bring, ({given}))], {warps}, {registers}"
        return ["fence_async_shared()", f"gl.warp_specialize({start})"]

    def _compute(self) -> list[str]:
        return ["    done = 0", *super()._compute()]

    def _finish(self) -> list[str]:
        """Sums of a tile into the room that the finisher has left."""
        names, lines = [], []
        for acc in self.sums():
            both = sliced(acc, self.tile.n // self.halves, self.slices() // self.halves)
            names += both[0]
            lines += both[1]
        lines = [*lines, "    mbarrier.wait(taken.index(PART), (done & 1) ^ 1)"]
        kind = memory_type(self.node.dtype)
        for k, name in enumerate(names):
            room = f"room.index(PART * {len(names)} + {k})"
            lines.append(f"    {room}.store(gl.convert_layout({name}, GRID{WIDTH}).to({kind}))")
        return [*lines, "    free(left.index(PART))", "    done += 1"]

    def _finisher(self) -> list[str]:
        count, ahead, after = self.slices(), [], []
        self.named = 0
        for k in range(count):
            for lines, more in zip((ahead, after), self._both(k), strict=True):
                lines.append([in_gluon(line) for line in more])
        lines = [
            *self._turns(),
            "    for part in range(FIRST, LAST):",
            f"        high = pair * {GROUPS} + part",
            "        m = high * BM + gl.arange(0, BM, gl.SliceLayout(1, LINES))[:, None]",
            *ahead[0],
            "        mbarrier.wait(left.index(part), turn & 1)",
        ]
        for k in range(count):
            room = f"room.index(part * {count} + {k})"
            lines.append(f"        tile{k} = {room}.load(LINES).to(tl.float32)")
            lines += ahead[k + 1] if k + 1 < count else ["        free(taken.index(part))"]
            lines += after[k]
        return ["    " + line for line in [*lines, "    turn += 1"]]

    def _both(self, k: int) -> tuple[list[str], list[str]]:
        """Of a slice: lines that ask for what lies in memory, and what becomes of it."""
        exact_m, exact_n = self.m % self.tile.m == 0, self.n % self.tile.n == 0
        form = Form("map", 0, 0, False, 0, exact_m, exact_n, wide=self.wide)
        across = f"(wide * {self.slices()} + {k})"
        at = Finished(f"tile{k}", "m", f"n{k}", "high", across, f"(BM, {WIDTH})")
        emitter = EpilogueEmitter(parse(self._signature().text), form, at)
        emitter.count, emitter.indent = self.named, 2  # names are used once
        emitter.line(f"start{k} = wide * BN + {k * WIDTH}")
        columns = f"gl.arange(0, {WIDTH}, gl.SliceLayout(0, LINES))[None, :]"
        emitter.line(f"n{k} = start{k} + {columns}")
        emitter.begin("m < M", f"n{k} < N")
        for ex in emitter.kernel.order:
            if ex.op == "load" and not ex.operands:
                emitter.value(ex)
        ahead, emitter.lines = emitter.lines, []
        after = emitter.finish()
        self.named = emitter.count
        if exact_n or not k:
            return ahead, after
        inside = ["    " + line for line in after]
        return ahead, [f"        if start{k} < N:", *inside]
