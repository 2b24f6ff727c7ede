"""A writer of PTX: kernels whose threads and warps do what Triton has no words for.

Registers have 32 or 64 bits without sign, or one bit, which says whether something is so. `assign`
changes one, so loops need nothing else to carry what they change. Threads may branch apart; where
the block ends that some of them were in, all are together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

HEAD = ".version 6.3\n.target sm_70\n.address_size 64\n"  # what is newer takes it, too
PREFIX = {1: "%p", 32: "%r", 64: "%d"}
SHARED = "memory"
EVERY = "0xffffffff"  # lane of a warp


class Value:
    """A register."""

    __slots__ = ("bits", "name", "writer")

    def __init__(self, writer: Writer, name: str, bits: int) -> None:
        self.writer, self.name, self.bits = writer, name, bits

    def _with(self, op: str, other: Value | int) -> Value:
        return self.writer.op(f"{op}{self.bits}", self.bits, self, other)

    def _test(self, how: str, other: Value | int) -> Value:
        return self.writer.op(f"setp.{how}.u{self.bits}", 1, self, other)

    def __add__(self, other: Value | int) -> Value:
        return self if other == 0 else self._with("add.u", other)

    def __sub__(self, other: Value | int) -> Value:
        return self._with("sub.u", other)

    def __mul__(self, other: Value | int) -> Value:
        return self if other == 1 else self._with("mul.lo.u", other)

    def __floordiv__(self, other: Value | int) -> Value:
        return self._with("div.u", other)

    def __mod__(self, other: Value | int) -> Value:
        return self._with("rem.u", other)

    def __and__(self, other: Value | int) -> Value:
        return self._with("and.b", other)

    def __or__(self, other: Value | int) -> Value:
        return self._with("or.b", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._with("xor.b", other)

    def __lshift__(self, other: Value | int) -> Value:
        return self if other == 0 else self._with("shl.b", other)

    def __rshift__(self, other: Value | int) -> Value:
        return self if other == 0 else self._with("shr.u", other)

    def __lt__(self, other: Value | int) -> Value:
        return self._test("lt", other)

    def __ge__(self, other: Value | int) -> Value:
        return self._test("ge", other)

    def __gt__(self, other: Value | int) -> Value:
        return self._test("gt", other)

    def equals(self, other: Value | int) -> Value:
        """Is it the same number?"""
        return self._test("eq", other)

    def differs(self, other: Value | int) -> Value:
        """Is it another one?"""
        return self._test("ne", other)

    def smaller(self, other: Value | int) -> Value:
        """The smaller of two."""
        return self._with("min.u", other)

    def ones(self) -> Value:
        """How many bits are set, in 32 bits."""
        return self.writer.op(f"popc.b{self.bits}", 32, self)

    def as_bits(self, bits: int) -> Value:
        """As so many bits: the low ones, or with zeros above."""
        return (
            self if bits == self.bits else self.writer.op(f"cvt.u{bits}.u{self.bits}", bits, self)
        )


class Writer:
    """One kernel under construction."""

    def __init__(self, parameters: Sequence[str]) -> None:
        self.names = parameters
        self.lines: list[str] = []
        self.counts = dict.fromkeys(PREFIX, 0)
        self.labels = 0

    def text(self, threads: int, blocks: int = 1) -> str:
        """The module, for so many threads a block, of which a processor holds some at least."""
        given = ",\n".join(f"    .param .u64 {name}" for name in self.names)
        registers = [
            f"    .reg {'.pred' if bits == 1 else f'.b{bits}'} {PREFIX[bits]}<{count}>;"
            for bits, count in self.counts.items()
            if count
        ]
        return "\n".join([
            HEAD,
            f".extern .shared .align 1024 .b8 {SHARED}[];",
            f".visible .entry kernel(\n{given}\n)",
            f".maxntid {threads}, 1, 1\n.minnctapersm {blocks}",
            "{", *registers, *self.lines, "    ret;", "}\n",
        ])  # fmt: skip

    # ---- instructions

    def do(self, text: str, *operands: Value | int | str, where: Value | None = None) -> None:
        """An instruction, for threads for which something is so."""
        guard = "" if where is None else f"@{where.name} "
        given = ", ".join(x.name if isinstance(x, Value) else str(x) for x in operands)
        self.lines.append(f"    {guard}{text} {given};" if given else f"    {guard}{text};")

    def new(self, bits: int) -> Value:
        """A register nobody has used."""
        number = self.counts[bits]
        self.counts[bits] += 1
        return Value(self, f"{PREFIX[bits]}{number}", bits)

    def op(self, text: str, bits: int, *operands: Value | int | str) -> Value:
        """An instruction with a result."""
        found = self.new(bits)
        self.do(text, found, *operands)
        return found

    def number(self, value: int | str, bits: int = 32) -> Value:
        """A register that holds a number, or what PTX has a name for."""
        return self.op(f"mov.u{bits}", bits, value)

    def assign(self, register: Value, value: Value | int, where: Value | None = None) -> None:
        """Change a register."""
        self.do(f"mov.u{register.bits}", register, value, where=where)

    def choose(self, where: Value, yes: Value | int, no: Value | int, bits: int) -> Value:
        """One of two."""
        return self.op(f"selp.b{bits}", bits, yes, no, where)

    def both(self, one: Value, other: Value) -> Value:
        """Are both so?"""
        return self.op("and.pred", 1, one, other)

    def parameter(self, name: str) -> Value:
        """An argument of the kernel: all have 64 bits."""
        return self.op("ld.param.u64", 64, f"[{name}]")

    def shared(self) -> Value:
        """The address of the block's shared memory."""
        return self.number(SHARED)

    # ---- memory: "shared", whose addresses have 32 bits, or "global"

    def load(
        self, space: str, size: int, address: Value, offset: int = 0,
        where: Value | None = None, into: Value | None = None,
    ) -> Value:  # fmt: skip
        """So many bytes; what it is changed to where a thread loads at all."""
        found = self.new(max(32, 8 * size)) if into is None else into
        self.do(f"ld.{space}.u{8 * size}", found, f"[{address.name}+{offset}]", where=where)
        return found

    def store(
        self, space: str, size: int, address: Value, value: Value | int, offset: int = 0,
        where: Value | None = None,
    ) -> None:  # fmt: skip
        """So many bytes."""
        self.do(f"st.{space}.u{8 * size}", f"[{address.name}+{offset}]", value, where=where)

    def add_to(
        self, space: str, size: int, address: Value, value: Value | int, offset: int = 0,
        where: Value | None = None,
    ) -> None:  # fmt: skip
        """Add to memory, whoever else does."""
        what = f"red.relaxed.{'cta' if space == 'shared' else 'gpu'}.{space}.add.u{8 * size}"
        self.do(what, f"[{address.name}+{offset}]", value, where=where)

    # ---- threads together

    def barrier(self) -> None:
        """All threads of the block wait for each other."""
        self.do("bar.sync", 0)

    def warp_barrier(self) -> None:
        """Those of the warp do."""
        self.do("bar.warp.sync", EVERY)

    def votes(self, where: Value) -> Value:
        """A bit for each lane for which something is so."""
        return self.op("vote.sync.ballot.b32", 32, where, EVERY)

    def from_lower(self, value: Value, distance: int) -> Value:
        """What a lower lane has; its own where there is none."""
        if value.bits == 32:
            return self.op("shfl.sync.up.b32", 32, value, distance, 0, EVERY)
        halves = [self.from_lower((value >> k).as_bits(32), distance) for k in (0, 32)]
        return halves[0].as_bits(64) | halves[1].as_bits(64) << 32

    # ---- control

    def label(self) -> str:
        """A name of a place nobody has used."""
        self.labels += 1
        return f"L{self.labels}"

    @contextmanager
    def when(self, where: Value) -> Iterator[None]:
        """What threads do for which something is so."""
        end = self.label()
        self.lines.append(f"    @!{where.name} bra {end};")
        yield
        self.lines.append(f"{end}:")

    @contextmanager
    def repeat(self) -> Iterator[str]:
        """What is done again and again; yields what to branch to in order to leave."""
        again, end = self.label(), self.label()
        self.lines.append(f"{again}:")
        yield end
        self.do("bra", again)
        self.lines.append(f"{end}:")
