"""Running totals along an axis as Triton source.

A program takes some lines, a span of each at a time, and carries on what came before. Lines that
are few and long are done in one pass (one_pass.py); those that lie side by side are cut into parts:
first the total of every part, then what comes before each, then the scan itself. Sums of float32
are carried on in float64, so that they do not drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod

from treadle.backends.cuda.forms import INDEX_LIMIT, power_of_two
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import loaded, stored
from treadle.backends.cuda.one_pass import OnePass
from treadle.backends.cuda.ops import PRIMITIVES, number, register_type
from treadle.base.dtypes import DType, float32, float64, int64
from treadle.base.sizes import most
from treadle.ir.node import Node

TILE = 4096  # elements of a program at a time
SIDE = 64  # lines side by side, where they lie side by side
BUSY = 4  # programs a processor
LEAST = 4  # spans of a part

JOINS = {"cumsum": "add", "cumprod": "mul", "cummax": "maximum", "cummin": "minimum"}
LOG_SUM = """
@triton.jit
def join(a, b):
    peak = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    far = tl.where(a == b, 0.0, tl.abs(a - b))
    return peak + tl.log(1.0 + tl.exp(-far))
"""
TEXT = """
@triton.jit
def {name}(x, {arguments}, lines, n, inner, span, LINES: tl.constexpr, SPAN: tl.constexpr):
    {place}
    low = tl.program_id(1){wide} * span
    high = tl.minimum(low + span, n)
    {first}
    for start in range(low, high, SPAN):
        k = start + tl.arange(0, SPAN){along}
        inside = there & (k < high)
        value = {load}
        value = tl.where(inside, value, {start})
        {step}
    {last}
"""
BEFORE = """
@triton.jit
def kernel(parts, count, lines, LINES: tl.constexpr):
    line = tl.program_id(0) * LINES + tl.arange(0, LINES)[:, None]
    there = line < lines
    carry = tl.broadcast_to({start}, (LINES, 1))
    for part in range(0, count):
        at = parts + part * lines + line
        total = tl.load(at, mask=there, other=0)
        tl.store(at, carry, mask=there)
        carry = join(carry, total)
"""


def carried(name: str, d: DType) -> DType:
    """What is carried along a line."""
    drifts = name in ("cumsum", "cumprod", "logcumsumexp")
    return float64 if drifts and d.compute is float32 else d.compute


def identity(name: str, d: DType) -> str:
    """What a scan starts from: joined with x it is x, to the sign of a zero."""
    zero = -0.0 if d.is_float else 0
    least, greatest = d.compute.least, d.compute.greatest
    values = {"cumsum": zero, "cumprod": 1, "cummax": least, "cummin": greatest,
              "logcumsumexp": -inf}  # fmt: skip
    return number(values[name], d.compute)


def _join(name: str, d: DType) -> str:
    if name == "logcumsumexp":
        return LOG_SUM
    return (
        f"\n@triton.jit\ndef join(a, b):\n    return {PRIMITIVES[JOINS[name]](d, d, ['a', 'b'])}\n"
    )


@dataclass(frozen=True)
class Cut:
    """Lines and elements of a tile, and the parts of a line."""

    lines: int
    span: int
    parts: int
    across: bool  # lines lie side by side in memory

    @property
    def axis(self) -> int:
        """Of a tile: where the scan goes along."""
        return 0 if self.across else 1


def sizes_of(node: Node) -> tuple[int, int, int]:
    """Of a node that goes along an axis: what lies before it, its length, what lies beside."""
    axis, shape = node.arg[0], node.shape
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def choose(outer: int, n: int, inner: int, processors: int) -> Cut:
    """The cut of lines that lie inner apart."""
    outer, n, inner = map(most, (outer, n, inner))
    if inner > 1:
        lines = min(SIDE, power_of_two(inner))
        span = min(TILE // lines, power_of_two(n))
        programs = outer * -(-inner // lines)
    else:
        span = min(TILE, power_of_two(n))
        lines = min(max(1, TILE // span), power_of_two(outer))
        programs = -(-outer // lines)
    parts = min(-(-n // (LEAST * span)), -(-BUSY * processors // max(1, programs)))
    return Cut(lines, span, max(1, parts), inner > 1)


class Scan:
    """One running total on its way to launches.

    sizes: how many lines there are before the axis, its length, and how many lie beside each other.
    """

    def __init__(
        self, name: str, dtype: DType, sizes: tuple[int, int, int], memory: tuple[object, object],
        temporary: str, processors: int,
    ) -> None:  # fmt: skip
        self.name, self.d, self.temporary = name, dtype, temporary
        self.outer, self.n, self.inner = sizes
        self.source, self.result = memory
        self.cut = choose(*sizes, processors)
        self.lines, self.size = self.outer * self.inner, prod(sizes)
        self.wide = most(self.size) >= INDEX_LIMIT
        self.kind = carried(name, dtype)

    def temporaries(self) -> dict[str, int]:
        """Bytes for the totals of parts."""
        if self.cut.parts == 1 or not self.size:
            return {}
        if not self.cut.across:
            return {self.temporary: self._one_pass().words * int64.size}
        return {self.temporary: self.cut.parts * self.lines * self.kind.size}

    def launches(self) -> list[Launch]:
        """The kernels, in order."""
        if not self.size:
            return []
        if self.cut.parts == 1:
            return [self._launch(whole=True)]
        if not self.cut.across:
            return self._one_pass().launches(self.source, self.result, self.temporary)
        return [self._launch(whole=False), self._before(), self._launch(whole=True)]

    def _one_pass(self) -> OnePass:
        join, start = _join(self.name, self.kind), identity(self.name, self.d)
        own = identity(self.name, self.kind)
        costly = self.name == "logcumsumexp"
        return OnePass(self.lines, self.n, self.d, self.kind, join, start, own, costly)

    def _launch(self, whole: bool) -> Launch:
        """Of each part its total, or (whole) the scan itself."""
        cut, arguments = self.cut, Arguments()
        arguments.memory("x", self.d, self.source)
        if whole:
            arguments.memory("y", self.d, self.result)
        if cut.parts > 1:
            arguments.memory("parts", self.kind, self.temporary)
        numbers = {"lines": self.lines, "n": self.n, "inner": self.inner, "span": self._part()}
        for name, value in numbers.items():
            arguments.integer(name, value, self.wide)
        constants = {"LINES": cut.lines, "SPAN": cut.span}
        text = with_functions(_join(self.name, self.kind) + self._text(whole))
        source = arguments.source(text, constants, 4 if cut.lines * cut.span <= 2048 else 8)
        blocks = self.outer * -(-self.inner // cut.lines) if cut.across else (
            -(-self.lines // cut.lines))  # fmt: skip
        return Launch(source, (blocks, self._count()), arguments.values, self.size)

    def _part(self) -> int:
        """Elements of a part: whole spans."""
        return -(-most(self.n) // (self.cut.span * self.cut.parts)) * self.cut.span

    def _count(self) -> int:
        """Parts of a line that is as long as it can be."""
        return -(-most(self.n) // self._part())

    def _text(self, whole: bool) -> str:
        cut, kind = self.cut, register_type(self.kind)
        shape = "(1, LINES)" if cut.across else "(LINES, 1)"
        first = f"carry = tl.broadcast_to({identity(self.name, self.kind)}, {shape})"
        at = "tl.program_id(1) * lines + line"
        if whole and cut.parts > 1:
            first = f"carry = tl.load(parts + {at}, mask=there, other=0)"
        total = f"tl.reduce(value, {cut.axis}, join, keep_dims=True).to({kind})"
        step = on = f"carry = join(carry, {total})"
        last = f"tl.store(parts + {at}, carry, mask=there)"
        if whole:
            scanned = f"join(carry, tl.associative_scan(value, {cut.axis}, join).to({kind}))"
            found = stored(f"found.to({register_type(self.d)})", self.d)
            lines = [
                f"found = {scanned}",
                f"tl.store(y + line_at + k * inner, {found}, mask=inside)",
            ]
            step = "\n        ".join([*lines, on])
            last = "pass"
        return TEXT.format(
            name="kernel",
            arguments=", ".join(["y"] * whole + ["parts"] * (cut.parts > 1)),
            place="\n    ".join(self._place()),
            wide=".to(tl.int64)" * self.wide,
            first=first,
            along="[:, None]" if cut.across else "[None, :]",
            load=loaded("tl.load(x + line_at + k * inner, mask=inside, other=0)", self.d),
            start=identity(self.name, self.d),
            step=step,
            last=last,
        )

    def _place(self) -> list[str]:
        wide = ".to(tl.int64)" * self.wide
        if not self.cut.across:
            return [
                f"line = tl.program_id(0){wide} * LINES + tl.arange(0, LINES)[:, None]",
                "there = line < lines",
                "line_at = line * n",
            ]
        return [
            "blocks = tl.cdiv(inner, LINES)",
            f"outer = tl.program_id(0){wide} // blocks",
            "lane = tl.program_id(0) % blocks * LINES + tl.arange(0, LINES)[None, :]",
            "there = lane < inner",
            "line = outer * inner + lane",
            "line_at = outer * n * inner + lane",
        ]

    def _before(self) -> Launch:
        """What comes before each part: the totals of those in front of it."""
        arguments, lines = Arguments(), min(128, power_of_two(most(self.lines)))
        arguments.memory("parts", self.kind, self.temporary)
        arguments.integer("count", self._count(), False)
        arguments.integer("lines", self.lines, False)
        start = identity(self.name, self.kind)
        body = BEFORE.format(start=start)
        text = with_functions(_join(self.name, self.kind) + body)
        source = arguments.source(text, {"LINES": lines}, 4)
        return Launch(source, (-(-self.lines // lines), 1), arguments.values, self.lines)
