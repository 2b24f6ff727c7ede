"""How a chain is cut for a processor's caches, and the table that its task reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from treadle.backends import choices
from treadle.backends.cpu.chain_tasks import BATCH, HEADER, POSITION, SWEEP
from treadle.backends.cpu.gemm_tiles import tile_for
from treadle.backends.questions import of_chain
from treadle.base.dtypes import bfloat16, float16, float32, float64
from treadle.base.errors import CompilerError, explain
from treadle.base.target import Ability, Target
from treadle.kernel.chain import LANES, Chained, Consumer, Operand, Producer, pitch
from treadle.kernel.levels import kept_count
from treadle.kernel.places import Place
from treadle.kernel.signature import Signature

ABLE = Ability((float16, bfloat16, float32, float64), balance=24, both=True)
KEPT = "kept"  # the name of scratch for values that wait for the next pass over a tile
STEP = 96  # stream positions of a tile: a multiple of the micro-kernels' rows, in L1 with its panel
OTHER_STEPS = (48, 192, 384)  # that a search may try


@dataclass(frozen=True)
class Length:
    """What is searched for."""

    step: int


@dataclass(eq=False)
class Cut:
    """Sizes of blocks and tiles, and where in a thread's scratch everything lies."""

    chain: Chained
    step: int
    offsets: dict[str, int] = field(default_factory=dict)
    nbytes: int = 0
    zeros: int = 0
    zero_count: int = 0
    sums: int = 0
    sum_count: int = 0

    @property
    def span(self) -> int:
        """Blocks of a task: all of an item where it adds up across them."""
        return -(-self.chain.frame.lane.extent // LANES) if self.chain.sums else 1

    @property
    def blocks(self) -> int:
        """Tasks of one batch item."""
        return -(-self.chain.frame.lane.extent // LANES) // self.span

    @property
    def tasks(self) -> int:
        """Tasks of all items."""
        return self.blocks * prod(axis.extent for axis in self.chain.frame.batch)


def cut(chain: Chained, target: Target) -> Cut:
    """The cut of a chain. It depends on the shape alone, so results do not on threads."""
    kept = max(kept_count(Signature(built.loops).text) for built in chain.programs())
    tile = tile_for(chain.dtype, target)
    size = tile.dtype.size
    found = Cut(chain, _length(chain, target).step)
    if len(chain.frame.batch) > BATCH:
        raise CompilerError(explain("chain", "too many batch axes"))

    def room(name: str, elements: int) -> None:
        found.offsets[name] = found.nbytes
        found.nbytes += -(-elements * size // 64) * 64

    for name, rows in chain.locals.items():
        if not name.startswith("acc"):
            room(name, LANES * (rows or found.step))
    for k, producer in enumerate(chain.producers):
        room(f"panel{k}", LANES * producer.depth)
    if chain.dtype is not tile.dtype:
        depths = [p.depth for p in chain.producers]
        depths += [c.columns for sweep in chain.sweeps for c in sweep.consumers]
        room("strip", found.step * max(depths))
    room(KEPT, found.step * LANES * kept * (8 // size))
    found.zeros = found.nbytes
    for name, rows in chain.locals.items():
        if name.startswith("acc"):
            room(name, LANES * rows)
    found.zero_count = (found.nbytes - found.zeros) // size
    found.sums = found.nbytes
    for name, columns in chain.sums.items():
        room(name, chain.frame.stream.extent * pitch(columns))
    found.sum_count = (found.nbytes - found.sums) // size
    for name, columns in chain.sums.items():
        room(f"panel-{name}", LANES * pitch(columns))
    _share_tiles(found)
    found.nbytes += 64 + 16 * size  # an odd number of lines: threads do not share cache sets
    found.nbytes = -(-found.nbytes // 128) * 128 + 64
    return found


def _length(chain: Chained, target: Target) -> Length:
    """How long tiles are: as timing has found, if it has."""
    longest = chain.frame.stream.extent
    ways = [Length(min(step, longest)) for step in (STEP, *OTHER_STEPS)]
    if not choices.is_open(target.machine):
        return ways[0]
    space = choices.Space(ways[0], lambda _: ways, ways.__contains__)
    return choices.take(target.machine, of_chain(chain), space)


def _share_tiles(found: Cut) -> None:
    """What is fed takes the place of a tile, where no later pass of the program reads one."""
    for sweep in found.chain.sweeps:
        loops, names = sweep.program.loops, sweep.program.buffers
        late = [names[s.buffer] for s in loops.passes[-1].stores]
        feeds = [name for name in dict.fromkeys(c.feed for c in sweep.consumers) if name in late]
        for name, k in zip(feeds, sweep.producers, strict=False):
            found.offsets[name] = found.offsets[f"tile{k}"]


class Table:
    """The words of a chain's task, once memory is laid out."""

    def __init__(self, found: Cut, scratch: int, place: Callable[[object], Place]) -> None:
        self.cut, self.chain, self.place = found, found.chain, place
        self.words = [0] * HEADER
        frame = self.chain.frame
        self.set("scratch", scratch)
        self.set("scratch_stride", found.nbytes)
        self.set("lanes", frame.lane.extent)
        self.set("streams", frame.stream.extent)
        self.set("block", LANES)
        self.set("step", found.step)
        self.set("blocks", found.blocks)
        self.set("total", found.tasks)
        self.set("group", 1)
        self.set("span", found.span)
        self.set("sums", found.sums)
        self.set("sum_count", found.sum_count)
        self.set("zeros", found.zeros)
        self.set("zero_count", found.zero_count)
        ahead = BATCH - len(frame.batch)
        for k, n in enumerate([1] * ahead + [axis.extent for axis in frame.batch]):
            self.set(f"extent_{k}", n)

    def set(self, name: str, value: int) -> None:
        """A number of the header."""
        self.words[POSITION[name]] = value

    def fill(self, programs: Sequence[tuple[int, list[Any]]]) -> list[Any]:
        """All words, given the programs' addresses and parameters."""
        chain = self.chain
        first, *others = programs
        sweeps, others = others[: len(chain.sweeps)], others[len(chain.sweeps) :]
        self.set("first", self._add([*first, 0]))
        packs = [self._producer(k, p) for k, p in enumerate(chain.producers)]
        self._many("packs", "pack_count", packs)
        records: list[list[Any]] = []
        turns: list[list[int]] = []
        for sweep, program in zip(chain.sweeps, sweeps, strict=True):
            made = [packs[k] for k in sweep.producers]
            fed = [[self._consumer(c) for c in sweep.consumers if c.across is across]
                   for across in (False, True)]  # fmt: skip
            turns += fed[1]
            records.append([*program])
            for group in (made, *fed):
                at = self._add(word for record in group for word in record)
                records[-1] += [at, len(group)]
            if len(records[-1]) != len(SWEEP):
                raise CompilerError(explain("chain", "a record of another length"))
        self._many("sweeps", "sweep_count", records)
        built = (*chain.last, *chain.end)
        counts = [prod(axis.extent for axis in b.loops.inner) for b in built]
        ends: list[list[Any]] = [[*p, count] for p, count in zip(others, counts, strict=True)]
        self._many("lasts", "last_count", ends[: len(chain.last)])
        self._many("ends", "end_count", ends[len(chain.last) :])
        self._many("turns", "turn_count", turns)
        self._many("limits", "limit_count", [list(limit) for limit in chain.limits])
        return self.words

    def _add(self, words: object) -> int:
        at = len(self.words)
        self.words += words  # type: ignore[arg-type]
        return at

    def _many(self, name: str, count: str, records: Sequence[Sequence[Any]]) -> None:
        self.set(name, self._add(word for record in records for word in record))
        self.set(count, len(records))

    def _producer(self, k: int, producer: Producer) -> list[int]:
        at = self.cut.offsets
        tile = at.get(f"tile{k}", 0)
        head = [producer.depth, at[f"panel{k}"], tile, at.get("strip", 0)]
        return head + self._operand(producer.lane) + self._operand(producer.stream)

    def _consumer(self, c: Consumer) -> list[int]:
        at = self.cut.offsets
        head = [c.columns, at[c.feed], at[c.into], at[c.factor], at.get("strip", 0)]
        head += [at.get(f"panel-{c.into}", 0), pitch(c.columns)]
        return head + self._operand(c.operand)

    def _operand(self, operand: Operand) -> list[int]:
        base, offset = self.place(operand.base)
        start = offset + operand.offset * operand.base.dtype.size
        ahead = [0] * (BATCH - len(operand.batch))
        return [base, start, operand.along, operand.depth, *ahead, *operand.batch]
