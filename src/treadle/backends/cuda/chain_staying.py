"""Chained products in Gluon whose programs stay, and take blocks of lanes in turn.

There are as many programs as processors have room for. While groups are at the end of a block, the
operands of the next are brought.
"""

from __future__ import annotations

from treadle.backends.cuda.chain_gluon import GluonKernel


class StayingKernel(GluonKernel):
    """A chain whose programs have several blocks of lanes each.

    Of blocks of all items, a program takes one from the front, then one from the back, and so on:
    where a mask leaves a triangle, both together have as much to do as any such pair. In the text,
    `block` counts those that a program had before, and `done` their turns of the stream.
    """

    rounds = 2
    came = "held.index(block % ROUNDS)", "block // ROUNDS & 1"

    def _place(self, size: str) -> None:
        self._extents()
        self.line("pair = tl.program_id(0) + block // 2 * tl.num_programs(0)")
        self.line("place = pair + (block & 1) * (count - 1 - 2 * pair)")
        self.line(f"item = place // (M // {size})")
        self.line(f"first_lane = place % (M // {size}) * {size}")
        self.line(f"last_lane = first_lane + {size} - 1")
        self._item()

    def _count(self, turn: str) -> str:
        return f"(done + {turn})"

    def _room_of(self, group: str) -> str:
        return f"block % ROUNDS * {self.groups} + {group}"

    def _bring(self) -> list[str]:
        room = "held_free.index(block % ROUNDS), block // ROUNDS & 1 ^ 1"
        return [f"    mbarrier.wait({room})", *super()._bring()]

    def _leave(self) -> None:
        super()._leave()
        self.line("free(held_free.index(block % ROUNDS))")

    def _made(self) -> dict[str, str]:
        return super()._made() | {"held_free": f"barriers({self.rounds}, {self.groups})"}

    def _whole(self, lines: list[str]) -> list[str]:
        """The middle one of an odd number of blocks has no other: it is taken last, and once."""
        parts = [f"tl.cdiv({x} - tl.program_id(0), tl.num_programs(0))"
                 for x in ("(count + 1) // 2", "count // 2")]  # fmt: skip
        start = [f"count = M // LANES * {self._items()}", f"mine = {' + '.join(parts)}", "done = 0"]
        loop = ["for block in range(0, mine):", *lines, "    done += turns"]
        return ["    " + line for line in [*start, *loop]]
