"""What values of a written function are, and their arithmetic as LLVM IR.

A value is an integer, a truth, a real, a complex number (two names: its parts) or an address.
Where two kinds meet, the narrower is converted: int to real, real to complex.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.backends.cpu.writer import Writer, float_bits, round_to_float32
from treadle.base.dtypes import DType, float32
from treadle.base.errors import CompilerError, explain

RANK = {"bool": 0, "int": 1, "real": 2, "complex": 3}
INTEGER_OPS = {"Add": "add nsw", "Sub": "sub nsw", "Mult": "mul nsw", "FloorDiv": "sdiv",
               "Mod": "srem", "BitXor": "xor", "BitAnd": "and"}  # fmt: skip
REAL_OPS = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}
RELATIONS = {"Lt": ("slt", "olt"), "LtE": ("sle", "ole"), "Gt": ("sgt", "ogt"),
             "GtE": ("sge", "oge"), "Eq": ("eq", "oeq"), "NotEq": ("ne", "une")}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """kind: bool, int, real, complex, or one of the last three behind "*": an address of such."""

    kind: str
    parts: tuple[str, ...]

    @property
    def one(self) -> str:
        """The only part."""
        return self.parts[0]


@dataclass
class Arithmetic:
    """Instructions on values of one precision, added to a writer."""

    w: Writer
    dtype: DType  # float32 or float64

    @property
    def real(self) -> str:
        """LLVM's name of a real number."""
        return "float" if self.dtype is float32 else "double"

    def types(self, kind: str) -> tuple[str, ...]:
        """LLVM's types of the parts of a kind."""
        if kind.startswith("*"):
            return ("ptr",)
        return {"bool": ("i1",), "int": ("i64",), "real": (self.real,),
                "complex": (self.real, self.real)}[kind]  # fmt: skip

    def number(self, value: float) -> Value:
        """A real constant."""
        exact = round_to_float32(value) if self.dtype is float32 else value
        return Value("real", (float_bits(exact),))

    def converted(self, x: Value, kind: str) -> Value:
        """A value as another kind, which holds all of it."""
        if x.kind == kind:
            return x
        if x.kind == "bool" and kind in ("int", "real"):
            x = Value("int", (self.w.op(f"zext i1 {x.one} to i64"),))
        if x.kind == "int" and kind in ("real", "complex"):
            x = Value("real", (self.w.op(f"sitofp i64 {x.one} to {self.real}"),))
        if x.kind == "real" and kind == "complex":
            return Value("complex", (x.one, float_bits(0.0)))
        if x.kind != kind:
            raise CompilerError(explain("written", "no such conversion", source=x.kind, to=kind))
        return x

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """a op b, op as Python's syntax tree names it."""
        w = self.w
        if a.kind.startswith("*"):  # an address and a number of elements
            size = 2 if a.kind == "*complex" else 1
            step = b.one if size == 1 else w.op(f"mul nsw i64 {b.one}, {size}")
            sign = step if op == "Add" else w.op(f"sub nsw i64 0, {step}")
            element = "i64" if a.kind == "*int" else self.real
            return Value(a.kind, (w.gep(a.one, sign, element),))
        kind = max(a.kind, b.kind, key=RANK.__getitem__)
        kind = "real" if op == "Div" and kind == "int" else kind
        a, b = self.converted(a, kind), self.converted(b, kind)
        if kind == "int":
            return Value("int", (w.op(f"{INTEGER_OPS[op]} i64 {a.one}, {b.one}"),))
        if kind == "real":
            return Value("real", (self.on_reals(op, a.one, b.one),))
        return self._complex(op, a, b)

    def on_reals(self, op: str, a: str, b: str) -> str:
        """One instruction."""
        return self.w.op(f"{REAL_OPS[op]} {self.real} {a}, {b}")

    def _complex(self, op: str, a: Value, b: Value) -> Value:
        (ar, ai), (br, bi) = a.parts, b.parts
        do = self.on_reals
        if op in ("Add", "Sub"):
            return Value("complex", (do(op, ar, br), do(op, ai, bi)))
        if op == "Mult":
            real = do("Sub", do("Mult", ar, br), do("Mult", ai, bi))
            return Value("complex", (real, do("Add", do("Mult", ar, bi), do("Mult", ai, br))))
        # By the conjugate over the squared magnitude, scaled so that it is in range.
        size = self.larger(self.magnitude(br), self.magnitude(bi))
        cr, ci = do("Div", br, size), do("Div", bi, size)
        below = do("Add", do("Mult", cr, cr), do("Mult", ci, ci))
        below = do("Mult", below, size)
        top = self._complex("Mult", a, Value("complex", (cr, self.negated(ci))))
        return Value("complex", (do("Div", top.parts[0], below), do("Div", top.parts[1], below)))

    def negated(self, x: str) -> str:
        """-x of a real."""
        return self.w.op(f"fneg {self.real} {x}")

    def intrinsic(self, name: str, *operands: str) -> str:
        """LLVM's function of reals."""
        suffix = "f32" if self.dtype is float32 else "f64"
        named = [f"{self.real} {x}" for x in operands]
        return self.w.call(self.real, f"llvm.{name}.{suffix}", *named)

    def magnitude(self, x: str) -> str:
        """|x| of a real."""
        return self.intrinsic("fabs", x)

    def larger(self, a: str, b: str) -> str:
        """The larger of two reals, the other if one is NaN."""
        return self.intrinsic("maxnum", a, b)

    def absolute(self, x: Value) -> Value:
        """|x|: a real; of a complex number without overflow."""
        if x.kind == "int":
            return Value("int", (self.w.call("i64", "llvm.abs.i64", f"i64 {x.one}", "i1 false"),))
        if x.kind == "real":
            return Value("real", (self.magnitude(x.one),))
        a, b = map(self.magnitude, x.parts)
        large, small = self.larger(a, b), self.intrinsic("minnum", a, b)
        zero = self.w.op(f"fcmp oeq {self.real} {large}, {float_bits(0.0)}")
        t = self.real
        below = self.w.op(f"select i1 {zero}, {t} {float_bits(1.0)}, {t} {large}")
        ratio = self.on_reals("Div", small, below)
        root = self.intrinsic("fma", ratio, ratio, float_bits(1.0))
        return Value("real", (self.on_reals("Mult", large, self.intrinsic("sqrt", root)),))

    def compared(self, relation: str, a: Value, b: Value) -> Value:
        """A truth; relation as Python's syntax tree names it."""
        kind = max(a.kind, b.kind, key=RANK.__getitem__)
        a, b = self.converted(a, kind), self.converted(b, kind)
        whole, real = RELATIONS[relation]
        if kind in ("int", "bool"):
            return Value(
                "bool", (self.w.op(f"icmp {whole} {self.types(kind)[0]} {a.one}, {b.one}"),)
            )
        if kind == "real":
            return Value("bool", (self.w.op(f"fcmp {real} {self.real} {a.one}, {b.one}"),))
        pairs = zip(a.parts, b.parts, strict=True)
        x, y = (self.w.op(f"fcmp {real} {self.real} {p}, {q}") for p, q in pairs)
        joined = "and" if relation == "Eq" else "or"
        return Value("bool", (self.w.op(f"{joined} i1 {x}, {y}"),))

    def minus(self, x: Value) -> Value:
        """-x."""
        if x.kind == "int":
            return Value("int", (self.w.op(f"sub nsw i64 0, {x.one}"),))
        return Value(x.kind, tuple(map(self.negated, x.parts)))

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """One of two values."""
        kind = a.kind if a.kind == b.kind else max(a.kind, b.kind, key=RANK.__getitem__)
        a, b = self.converted(a, kind), self.converted(b, kind)
        parts = zip(self.types(kind), a.parts, b.parts, strict=True)
        return Value(kind, tuple(
            self.w.op(f"select i1 {condition.one}, {t} {x}, {t} {y}") for t, x, y in parts
        ))  # fmt: skip

    # ---- memory

    def _place(self, address: Value, index: Value) -> str:
        return self.binary("Add", address, index).one

    def load(self, address: Value, index: Value) -> Value:
        """An element."""
        kind, place = address.kind[1:], self._place(address, index)
        if kind == "int":
            return Value(kind, (self.w.load("i64", place, 8),))
        parts = [self.w.load(self.real, place, self.dtype.size)]
        if kind == "complex":
            parts.append(self.w.load(self.real, self.w.gep(place, 1, self.real), self.dtype.size))
        return Value(kind, tuple(parts))

    def store(self, address: Value, index: Value, x: Value) -> None:
        """An element replaced."""
        kind, place = address.kind[1:], self._place(address, index)
        x = self.converted(x, kind)
        type_, size = ("i64", 8) if kind == "int" else (self.real, self.dtype.size)
        for k, part in enumerate(x.parts):
            self.w.store(type_, part, self.w.gep(place, k, self.real), size)
