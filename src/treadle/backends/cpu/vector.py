"""A vector value in LLVM IR with Python's operators, so that vector code reads as mathematics.

No fast-math flags and no contraction: fma happens where it is written, so the bits of a result do
not depend on how hard LLVM works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treadle.backends.cpu.writer import Writer, float_bits, round_to_float32
from treadle.base.target import Target


@dataclass(frozen=True)
class Format:
    """How a floating-point type keeps its numbers."""

    suffix: str  # in the names of intrinsics
    integer: str  # the integer type of the same width
    mantissa: int  # stored bits
    bias: int
    magic: float  # adding it rounds to an integer, which is then in the low bits
    magic_bits: int
    min_normal: float
    sqrt_half_bits: int


FORMATS = {
    "float": Format("f32", "i32", 23, 127, 1.5 * 2.0**23, 0x4B400000, 2.0**-126, 0x3F3504F3),
    "double": Format(
        "f64", "i64", 52, 1023, 1.5 * 2.0**52, 0x4338 << 48, 2.0**-1022, 0x3FE6A09E667F3BCD
    ),
}
SUFFIXES = {name: form.suffix for name, form in FORMATS.items()} | {"i32": "i32", "i64": "i64"}
FLOATS = {"i32": "float", "i64": "double"}
WIDE = 16  # lanes of a 512-bit register of float32


def has_fma(target: Target) -> bool:
    """Does the processor fuse? Of x86, those we treat as 16 bytes wide may not."""
    return not (target.is_x86 and target.vector_bytes == 16)


class Vec:
    """<lanes x type> in the function that ir writes; numbers in arithmetic become splats."""

    __slots__ = ("ir", "lanes", "target", "type", "value")

    def __init__(self, ir: Writer, value: str, lanes: int, type_: str, target: Target) -> None:
        self.ir, self.value, self.lanes, self.type, self.target = ir, value, lanes, type_, target

    @property
    def vector(self) -> str:
        """The LLVM type."""
        return f"<{self.lanes} x {self.type}>"

    @property
    def format(self) -> Format:
        """Of a floating-point vector."""
        return FORMATS[self.type]

    def like(self, value: str, type_: str = "") -> Vec:
        """Another value of as many lanes."""
        return Vec(self.ir, value, self.lanes, type_ or self.type, self.target)

    def constant(self, number: float, type_: str = "") -> Vec:
        """A splat; takes no instruction."""
        kind = type_ or self.type
        if kind not in FORMATS:
            return self.like(f"splat ({kind} {int(number)})", kind)
        exact = round_to_float32(number) if kind == "float" else float(number)
        return self.like(f"splat ({kind} {float_bits(exact)})", kind)

    def _value_of(self, other: Vec | float) -> str:
        return (other if isinstance(other, Vec) else self.constant(other)).value

    def _binary(self, float_op: str, integer_op: str, other: Vec | float) -> Vec:
        op = float_op if self.type in FORMATS else integer_op
        return self.like(self.ir.op(f"{op} {self.vector} {self.value}, {self._value_of(other)}"))

    def __add__(self, other: Vec | float) -> Vec:
        return self._binary("fadd", "add", other)

    def __sub__(self, other: Vec | float) -> Vec:
        return self._binary("fsub", "sub", other)

    def __mul__(self, other: Vec | float) -> Vec:
        return self._binary("fmul", "mul", other)

    def __truediv__(self, other: Vec | float) -> Vec:
        return self._binary("fdiv", "sdiv", other)

    def __radd__(self, other: float) -> Vec:
        return self.constant(other) + self

    def __rsub__(self, other: float) -> Vec:
        return self.constant(other) - self

    def __rmul__(self, other: float) -> Vec:
        return self.constant(other) * self

    def __rtruediv__(self, other: float) -> Vec:
        return self.constant(other) / self

    def __neg__(self) -> Vec:
        return self.like(self.ir.op(f"fneg {self.vector} {self.value}"))

    def __and__(self, other: Vec | int) -> Vec:
        return self._binary("", "and", other)

    def __lshift__(self, count: int) -> Vec:
        return self._binary("", "shl", count)

    def __rshift__(self, count: int) -> Vec:
        return self._binary("", "ashr", count)

    # ---- functions of the processor

    def intrinsic(self, name: str, *others: Vec | float) -> Vec:
        """llvm.<name> of this and others, all of one type."""
        values = [self.value, *(self._value_of(other) for other in others)]
        full = f"llvm.{name}.v{self.lanes}{SUFFIXES[self.type]}"
        return self.like(self.ir.call(self.vector, full, *(f"{self.vector} {v}" for v in values)))

    def fma(self, factor: Vec | float, term: Vec | float) -> Vec:
        """self * factor + term, rounded once where the processor can."""
        if has_fma(self.target):
            return self.intrinsic("fma", factor, term)
        return self * factor + term

    def polynomial(self, coefficients: Sequence[float]) -> Vec:
        """Horner's scheme; the constant term comes first."""
        result = self.constant(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            result = result.fma(self, coefficient)
        return result

    def absolute(self) -> Vec:
        """Without the sign."""
        return self.intrinsic("fabs")

    def copysign(self, sign: Vec) -> Vec:
        """With the sign of another."""
        return self.intrinsic("copysign", sign)

    def x86_wide(self, name: str, operands: Sequence[Vec], tail: Sequence[str]) -> Vec:
        """An AVX-512 intrinsic on float32 for any number of lanes, sixteen at a time."""
        wide = f"<{WIDE} x float>"
        padded = -(-self.lanes // WIDE) * WIDE
        ready = [operand.resize(padded) for operand in operands]
        pieces = []
        for first in range(0, padded, WIDE):
            lanes = range(first, first + WIDE)
            parts = [f"{wide} {operand.pick(lanes).value}" for operand in ready]
            result = self.ir.call(wide, f"llvm.x86.avx512.{name}.ps.512", *parts, *tail)
            pieces.append(Vec(self.ir, result, WIDE, "float", self.target))
        joined = pieces[0]
        for piece in pieces[1:]:
            joined = joined.join(piece)
        return joined.resize(self.lanes)

    # ---- lanes

    def pick(self, lanes: Sequence[int]) -> Vec:
        """The given lanes as a vector; past the last: any value."""
        if list(lanes) == list(range(self.lanes)):
            return self
        shuffled = self.ir.shuffle(self.type, self.value, "poison", lanes, self.lanes)
        return Vec(self.ir, shuffled, len(lanes), self.type, self.target)

    def resize(self, lanes: int) -> Vec:
        """The first lanes, or these and more of any value."""
        return self.pick([min(lane, self.lanes) for lane in range(lanes)])

    def join(self, other: Vec) -> Vec:
        """Lanes of this, then of other, which may be shorter."""
        count = self.lanes + other.lanes
        rest = other.resize(self.lanes)
        shuffled = self.ir.shuffle(self.type, self.value, rest.value, range(count), self.lanes)
        return Vec(self.ir, shuffled, count, self.type, self.target)

    # ---- choices; a mask is the name of a vector of i1

    def compare(self, relation: str, other: Vec | float) -> str:
        """A mask; relation as LLVM spells it (olt, ...), signed (slt, ...) for integers."""
        op = "fcmp" if self.type in FORMATS else "icmp"
        return self.ir.op(f"{op} {relation} {self.vector} {self.value}, {self._value_of(other)}")

    def where(self, mask: str, other: Vec | float) -> Vec:
        """Lanes of this where the mask is set, of other elsewhere."""
        kind = self.vector
        arguments = f"{kind} {self.value}, {kind} {self._value_of(other)}"
        return self.like(self.ir.op(f"select <{self.lanes} x i1> {mask}, {arguments}"))

    def mask(self, op: str, a: str, b: str) -> str:
        """And, or, xor of two masks."""
        return self.ir.op(f"{op} <{self.lanes} x i1> {a}, {b}")

    def at_most(self, bound: float) -> Vec:
        """The smaller; NaN stays NaN."""
        return self.constant(bound).where(self.compare("ogt", bound), self)

    def at_least(self, bound: float) -> Vec:
        """The larger; NaN stays NaN."""
        return self.constant(bound).where(self.compare("olt", bound), self)

    # ---- other types

    def _convert(self, op: str, type_: str) -> Vec:
        text = f"{op} {self.vector} {self.value} to <{self.lanes} x {type_}>"
        return self.like(self.ir.op(text), type_)

    def bits(self) -> Vec:
        """The same bits as integers."""
        return self._convert("bitcast", self.format.integer)

    def as_float(self) -> Vec:
        """The same bits as a floating-point number."""
        return self._convert("bitcast", FLOATS[self.type])

    def widened(self) -> Vec:
        """float32 as float64."""
        return self._convert("fpext", "double")

    def narrowed(self) -> Vec:
        """The nearest float32, or the low half of an i64."""
        if self.type == "i64":
            return self._convert("trunc", "i32")
        return self._convert("fptrunc", "float")
