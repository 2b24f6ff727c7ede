"""What a row of instructions is given: the writer, and how values of a dtype lie in registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from treadle.backends.cpu.vmath import Vec
from treadle.backends.cpu.writer import Writer, float_bits, round_to_float32
from treadle.base.dtypes import DType, float64
from treadle.base.target import Target

REGISTERS = {"float32": "float", "float64": "double", "bool": "i1"}


def register_type(d: DType) -> str:
    """The LLVM type of one lane in registers."""
    d = d.compute
    return REGISTERS.get(d.name) or f"i{d.bits}"


@dataclass
class Lanes:
    """What a row needs to write its instructions."""

    w: Writer
    lanes: int
    target: Target

    def type(self, d: DType) -> str:
        """The vector type of a dtype in registers."""
        return f"<{self.lanes} x {register_type(d)}>"

    def number(self, value: float | int | bool, d: DType) -> str:
        """A constant vector."""
        kind = register_type(d)
        if kind == "float":
            text = float_bits(round_to_float32(float(value)))
        elif kind == "double":
            text = float_bits(float(value))
        else:
            text = str(int(value) if kind != "i1" else int(bool(value)))
        return f"splat ({kind} {text})"

    def intrinsic(self, name: str, d: DType) -> str:
        """LLVM's function of a name on float vectors."""
        return f"llvm.{name}.v{self.lanes}{'f64' if d.compute is float64 else 'f32'}"

    def vec(self, value: str, d: DType) -> Vec:
        """A float vector with arithmetic."""
        return Vec(self.w, value, self.lanes, register_type(d), self.target)


Primitive = Callable[[Lanes, DType, DType, list[str]], str]
"""(lanes, dtype of the first value operand, dtype of the result, operands) -> result."""
