"""Chained products in Gluon.

One warp only brings operands, ahead by as many tiles as there are stages; groups of four warps have
64 lanes each, and one computes while products of the other are under way: there are two groups in a
program, or several programs on a processor. What is computed is the text of the chain's loop
programs, as in Triton; tiles and rows lie in registers as the tensor cores leave them.
"""

from __future__ import annotations

import re

from treadle.backends.cuda.chain import Bound, ChainKernel, variable
from treadle.backends.cuda.chain_blocks import Blocks, bytes_of, places
from treadle.backends.cuda.chain_cuts import programs_of
from treadle.backends.cuda.chain_gluon_parts import GluonPart
from treadle.backends.cuda.chain_parts import Part
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.gluon import (
    HEAD,
    LANES,
    add_tensor,
    grid_of,
    registers_of,
    started,
)
from treadle.backends.cuda.launch import Launch, Tensor
from treadle.backends.cuda.narrow import memory_type
from treadle.base.dtypes import DType
from treadle.kernel.chain import ONES, Chained, Consumer, Operand

SPREAD = """@gluon.jit
def spread(x, like):
    x, like = tl.broadcast(gl.to_tensor(x), like)
    return x

"""
TILE = re.compile(r"\btile\d+\b")
COPY = "tma.async_copy_global_to_shared"


class GluonKernel(ChainKernel):
    """One chain on its way to Gluon.

    With one product to make a tile, and a processor to itself, the next tile is asked for before
    this one is used up, so that its loop program runs beside that; else each runs beside what comes
    of another product, or program.

    - **rounds**: blocks of lanes whose own operands shared memory holds at once
    - **came**: the barrier at which these have come, and its phase
    - **rooms**: by name of an operand, its blocks, and how many of them shared memory holds
    - **kinds**: dtypes of those that are not as the chain's operands
    - **streamed**: names of the operands that stream by
    - **sections**: turns of the stream from and to, and are their tiles free of masks?
    - **results**: by name, blocks of what is left in memory
    """

    part = GluonPart
    rounds = 1
    came = "held.index(0)", "0"

    def __init__(self, chain: Chained, blocks: Blocks) -> None:
        super().__init__(chain, False, blocks.cut, copies=True)
        (self.sweep,), self.blocks = chain.sweeps, blocks
        self.consumer = self.sweep.consumers[0]
        self.into = variable(self.consumer.into)
        self.groups = self.cut.lanes // LANES
        self.ahead = len(chain.producers) == 1 and blocks.residents == 1
        self.dtype = memory_type(chain.dtype)
        self.rooms: dict[str, tuple[Tensor, int]] = {}
        self.kinds: dict[str, DType] = {}
        self.streamed: dict[Operand, str] = {}
        self.sections: list[tuple[str, str, bool]] = []
        self.results: dict[str, Tensor] = {}

    def launch(self) -> Launch:
        """The kernel and its arguments."""
        chain = self.chain
        for k, block in enumerate(self.blocks.held):
            self._room(f"x{k}", block, self.groups * self.rounds)
        for k, (operand, block) in enumerate(self.blocks.streamed.items()):
            self.streamed[operand] = f"y{k}"
            self._room(f"y{k}", block, self.cut.stages)
        for k, line in enumerate(self.blocks.lines.values()):
            self.kinds[f"r{k}"] = line.operand.base.dtype
            self._room(f"r{k}", line.block, self.cut.stages, swizzle=0)
        first, bound = self._bound(chain.first), self._bound(self.sweep.program)
        self._place("LANES")
        self._turns(bound)
        head, self.lines = self.lines, []
        self._begin(first)
        early = self._emitter(bound, 1)
        early.load()
        self.lines += early.finished()
        if self.ahead:
            self._pipelined(bound, early)
        else:
            self._straight(bound, early)
        self._leave()
        text, most = self._text(head), self._registers()
        source = self.arguments.source(text, {}, 4, self.cut.stages, most)
        grid = self.blocks.programs or programs_of(chain, self.cut)
        return Launch(source, (grid, 1), self.arguments.values, chain.size)

    def _registers(self) -> int:
        """Of a thread when it starts; 0: as many as it takes."""
        residents = self.blocks.residents
        return registers_of(self.groups, residents)[0] if residents > 1 else 0

    # ---- operands

    def _room(self, name: str, block: Tensor, count: int, swizzle: int = 128) -> None:
        self.rooms[name] = block, count
        dtype = self.kinds.get(name, self.chain.dtype)
        add_tensor(self.arguments, name, dtype, block, swizzle)

    def _memory(self, name: str, dtype: DType, buffer: object) -> None:
        if name in self.results:
            add_tensor(self.arguments, name, dtype, self.results[name])
        else:
            super()._memory(name, dtype, buffer)

    def _tile(self, name: str, number: str) -> str:
        """A block of an operand in shared memory, as a matrix."""
        block = self.rooms[name][0].block
        flat = f".reshape([{block[-2]}, {block[-1]}])" if len(block) > 2 else ""
        return f"{name}_room.index({number}){flat}"

    # ---- the turns of the stream

    def _turns(self, bound: Bound) -> None:
        """Tiles come from an end that is masked, if one is; the free ones are in the middle."""
        signs = self._limits(bound.number)
        self.masked, self.backwards = bool(signs), False in signs
        self.line("first = tl.minimum(low // BN, N // BN - 1)")
        self.line("last = tl.maximum(tl.cdiv(high, BN) - 1, first)")
        self.line("turns = last - first + 1")
        self.line(f"edge = {'last' if self.backwards else 'first'}")
        before = int(self.ahead)  # a turn that is done before
        self.sections = [(str(before), "turns", True)]
        if not signs:
            return
        ends = "free_low // BN - edge", "free_high // BN - edge"
        if self.backwards:
            ends = "edge + 1 - free_high // BN", "edge + 1 - free_low // BN"
        self.line(f"begin = tl.minimum(tl.maximum({ends[0]}, {before}), turns)")
        self.line(f"end = tl.minimum(tl.maximum({ends[1]}, begin), turns)")
        self.sections = [(str(before), "begin", False), ("begin", "end", True)]
        self.sections += [("end", "turns", False)] if len(signs) > 1 else []

    def _at(self, turn: str) -> list[str]:
        """Where the stream is at a turn."""
        sign, count = "-" if self.backwards else "+", self._count(turn)
        room = [f"stage = {count} % STAGES", f"phase = {count} // STAGES & 1"]
        return [*room, f"start = (edge {sign} {turn}) * BN"]

    def _count(self, turn: str) -> str:
        """A turn, counted over all that a program does."""
        return turn

    def _room_of(self, group: str) -> str:
        """The number of the room for what the lanes of a group bring."""
        return group

    def _bring(self) -> list[str]:
        """What the warp does that brings operands."""
        inside = self._at("turn")
        for operand, name in self.streamed.items():
            at, full = places(operand, "start", "0"), f"{name}_full.index(stage)"
            inside += [
                f"mbarrier.wait({name}_free.index(stage), phase ^ 1)",
                f"mbarrier.expect({full}, {bytes_of(self.rooms[name][0])})",
                f"{COPY}({name}, [{at}], {full}, {name}_room.index(stage))",
            ]
        lines = ["for turn in range(0, turns):", *("    " + line for line in inside)]
        return ["    " + line for line in [*self._bring_held(), *lines]]

    def _bring_held(self) -> list[str]:
        """The lines that bring what the lanes do."""
        size, came = self.groups * sum(map(bytes_of, self.blocks.held)), self.came[0]
        lines = [f"mbarrier.expect({came}, {size})"]
        for k, producer in enumerate(self.chain.producers):
            for part in range(self.groups):
                at = places(producer.lane, f"first_lane + {part * LANES}", "0")
                room = f"x{k}_room.index({self._room_of(str(part))})"
                lines.append(f"{COPY}(x{k}, [{at}], {came}, {room})")
        return lines

    # ---- what the others do

    def _begin(self, first: Bound) -> None:
        """The lanes, and what is added up for them."""
        grid = f"GRID{self.cut.stream}"
        self.line(f"lane = first_lane + PART * BM + gl.arange(0, BM, gl.SliceLayout(1, {grid}))")
        self.line(f"zero = gl.zeros((BM, BN), gl.float32, {grid})")
        for c in self.sweep.consumers:
            zeros = f"gl.zeros((BM, {c.columns}), gl.float32, GRID{c.columns})"
            self.line(f"{variable(c.into)} = {zeros}")
        self.lines += self._emitter(first, 1).run()
        self.line(f"mbarrier.wait({', '.join(self.came)})")

    def _begin_turn(self, turn: str, depth: int) -> None:
        layout = f"gl.SliceLayout(0, GRID{self.cut.stream})"
        for line in (*self._at(turn), f"stream = start + gl.arange(0, BN, {layout})"):
            self.line(line, depth)

    def _ask(self, k: int, depth: int) -> None:
        """The product that makes a tile, under way once its operand has come."""
        name = self.streamed[self.chain.producers[k].stream]
        self.line(f"mbarrier.wait({name}_full.index(stage), phase)", depth)
        self._multiply(k, depth)

    def _multiply(self, k: int, depth: int) -> None:
        name = self.streamed[self.chain.producers[k].stream]
        held = self._tile(f"x{k}", self._room_of("PART"))
        sides = f"{held}, {self._tile(name, 'stage')}.permute((1, 0))"
        self.line(f"tile{k} = warpgroup_mma({sides}, zero, use_acc=False, is_async=True)", depth)

    def _program(self, bound: Bound, early: Part, free: bool, depth: int) -> Part:
        """The loop program of a tile; names go on from those that are there."""
        part = self._emitter(bound, depth)
        part.count, part.known, part.lines = early.count, [dict(early.known[0])], []
        part.holds = bound.holds if free else {}
        return part

    def _awaited(self, lines: list[str], asked: list[str], depth: int) -> None:
        """Lines, each after the products whose tiles it reads; asked: what is under way."""
        for line in lines:
            for tile in TILE.findall(line):
                if tile in asked:
                    left = len(asked) - 1 - asked.index(tile)
                    self.line(f"{tile} = warpgroup_mma_wait({left}, deps=({tile},))", depth)
                    asked = asked[len(asked) - left :]
                    name = self.streamed[self.chain.producers[int(tile[4:])].stream]
                    if name != self.streamed[self.consumer.operand]:
                        self._free(name, "stage", depth)
            self.lines.append(line)

    def _free(self, name: str, stage: str, depth: int) -> None:
        """An operand's room may be filled again, once all four warps have come here."""
        self.line(f"free({name}_free.index({stage}))", depth)

    def _fed(self, consumer: Consumer) -> str:
        """What a tile is fed to a product as, in the layout that tensor cores take."""
        layout = f"gl.DotOperandLayout(0, GRID{consumer.columns}, 2)"
        return f"gl.convert_layout({variable(consumer.feed)}.to({self.dtype}), {layout})"

    def _added(self, consumer: Consumer, feed: str, stage: str) -> str:
        tile = self._tile(self.streamed[consumer.operand], stage)
        return f"warpgroup_mma({feed}, {tile}, {variable(consumer.into)}, is_async=True)"

    def _straight(self, bound: Bound, early: Part) -> None:
        """All of a tile before the next: the assembler lets no product go on into a new turn."""
        for low, high, free in self.sections:
            self.line(f"for turn in range({low}, {high}):")
            self._begin_turn("turn", 2)
            for k in self.sweep.producers:
                self._ask(k, 2)
            part = self._program(bound, early, free, 2)
            self._awaited(part.run(), [f"tile{k}" for k in self.sweep.producers], 2)
            name = self.streamed[self.consumer.operand]
            if self.consumer.operand not in [p.stream for p in self.chain.producers]:
                self.line(f"mbarrier.wait({name}_full.index(stage), phase)", 2)
            self._rescale(2)
            self.line(f"sums = {self._added(self.consumer, self._fed(self.consumer), 'stage')}", 2)
            self.line(f"{self.into} = warpgroup_mma_wait(0, deps=(sums,))", 2)
            self._free(name, "stage", 2)

    def _rescale(self, depth: int) -> None:
        """What was added up is made relative to a new maximum."""
        factor = self.consumer.factor
        if factor != ONES:
            layout = f"gl.SliceLayout(1, GRID{self.consumer.columns})"
            by = f"gl.convert_layout({variable(factor)}, {layout})[:, None]"
            self.line(f"{self.into} = {self.into} * {by}", depth)

    def _pipelined(self, bound: Bound, early: Part) -> None:
        """The next tile is asked for before this one is added, and computed beside that."""
        name = self.streamed[self.consumer.operand]
        rows = [bound.names[s.buffer] for s in bound.kernel.row_stores]
        through = ", ".join([variable(self.consumer.feed), *rows])
        self._begin_turn("0", 1)
        self._ask(0, 1)
        part = self._program(bound, early, not self.masked, 1)
        self._awaited(part.run(), ["tile0"], 1)
        self.line(f"mbarrier.wait({name}_full.index(stage), phase)")
        early.count = part.count  # names of the loops are others: they may be of other types
        for low, high, free in self.sections:
            self.line(f"for turn in range({low}, {high}):")
            self.line("before = (turn - 1) % STAGES", 2)
            self.line(f"fed = {self._fed(self.consumer)}", 2)
            self._begin_turn("turn", 2)
            self._ask(0, 2)
            self.line(f"sums = {self._added(self.consumer, 'fed', 'before')}", 2)
            part = self._program(bound, early, free, 2)
            self._awaited(part.run(), ["tile0", "sums"], 2)
            # What goes through the wait is computed before it, says Triton; the assembler would
            # still move it behind, but not behind a loop, as waiting for the next operand is.
            self.line(f"mbarrier.wait({name}_full.index(stage), phase)", 2)
            self.line(f"{self.into}, {through} = warpgroup_mma_wait(0, deps=(sums, {through}))", 2)
            self._free(name, "before", 2)
            self._rescale(2)
        last = self._added(self.consumer, self._fed(self.consumer), "(turns - 1) % STAGES")
        self.line(f"sums = {last}")
        self.line(f"{self.into} = warpgroup_mma_wait(0, deps=(sums,))")

    # ---- the end

    def _leave(self) -> None:
        """What becomes of totals; tiles leave through the room of an operand that was held."""
        self.line("meet()")
        width = self.cut.stream
        rows = [variable(x) for x, n in self.chain.locals.items() if n == 1]
        for built, result in zip(self.chain.last, self.blocks.results, strict=True):
            columns = built.loops.inner[0].extent if built.loops.inner else 0
            if columns not in (0, width):
                width = columns
                layout = f"gl.SliceLayout(1, GRID{width})"
                for name in ("lane", *rows):
                    self.line(f"{name} = gl.convert_layout({name}, {layout})")
            name = "" if result is None else f"b{self.parts}_{result.argument}"
            if result is not None:
                self.results[name] = result.block
            part = self._emitter(self._bound(built), 1, columns)
            if result is not None:
                lines = self._out(name, f"x{result.room}", result.operand)
                part.then[f"b{result.argument}"] = ["    " + line for line in lines]
            self.lines += part.run()
        self.line("tma.store_wait(0)")

    def _out(self, name: str, room: str, operand: Operand) -> list[str]:
        """The lines by which a tile leaves."""
        at = places(operand, "first_lane + PART * BM", "0")
        mine = self._room_of("PART")
        copy = f"tma.async_copy_shared_to_global({name}, [{at}], {room}_room.index({mine}))"
        stores = f"{self._tile(room, mine)}.store(leaving)"
        return [stores, "fence_async_shared()", "meet()", copy]

    # ---- the text

    def _text(self, head: list[str]) -> str:
        """The functions of the warps, and the kernel that starts them; head: where a program is."""
        texts = [f"@gluon.jit\ndef {x}:\n" + "\n".join(lines)
                 for x, lines in self._functions(head).items()]  # fmt: skip
        text = "\n\n\n".join([HEAD + SPREAD, self._numbers(), "# a chain", *texts])
        return with_functions(text + "\n")

    def _functions(self, head: list[str]) -> dict[str, list[str]]:
        names = [name for name, _ in self.arguments.types]
        brought, computed = (self._whole([*head, *x]) for x in (self._bring(), self.lines))
        rooms, residents = self._made(), self.blocks.residents
        words = set(re.findall(r"\w+", " ".join([*brought, *computed])))
        given = ", ".join(name for name in (*names, *rooms) if name in words)
        made = [f"{name} = {text}" for name, text in rooms.items()]
        made += started(given, self.groups, registers_of(self.groups, residents)[1])
        return {
            f"bring({given})": brought,
            f"compute({given}, PART: gl.constexpr)": computed,
            f"kernel({', '.join(names)})": ["    " + line for line in made],
        }

    def _whole(self, lines: list[str]) -> list[str]:
        """All that a warp does, of what it does for a block of lanes."""
        return lines

    def _made(self) -> dict[str, str]:
        """How rooms and barriers are made, by name."""
        made = {"held": f"barriers({self.rounds}, 1)"}
        for name, (block, count) in self.rooms.items():
            dtype = memory_type(self.kinds.get(name, self.chain.dtype))
            given = f"{dtype}, {[count, *block.block]}, {name}.layout"
            made[f"{name}_room"] = f"gl.allocate_shared_memory({given})"
            made |= self._barriers(name)
        return made

    def _barriers(self, name: str) -> dict[str, str]:
        """Those of what streams by."""
        if name not in self.streamed.values():
            return {}
        full, free = (f"barriers({self.cut.stages}, {n})" for n in (1, self.groups))
        return {f"{name}_full": full, f"{name}_free": free}

    def _numbers(self) -> str:
        """Sizes, and how tiles of so many columns lie in registers."""
        sizes = {"BM": LANES, "LANES": self.cut.lanes, "ROUNDS": self.rounds}
        sizes |= {"BN": self.cut.stream, "STAGES": self.cut.stages}
        numbers = {name: str(value) for name, value in sizes.items()}
        for n in sorted({self.cut.stream, *(c.columns for c in self.sweep.consumers)}):
            numbers[f"GRID{n}"] = grid_of(n, self.chain.dtype)
        return "".join(f"{name} = gl.constexpr({text})\n" for name, text in numbers.items())
