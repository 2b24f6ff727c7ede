"""A writer of LLVM IR text: names values, folds integer arithmetic, loops with carried values.

Loops carry their values through phi nodes, so the text needs no IR passes to become registers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

Int = str | int
"""An i64 value: the name of one, or a Python int that folds into the text."""


def float_bits(value: float) -> str:
    """A float literal for float and double alike: LLVM spells both by the bits of a double."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def round_to_float32(value: float) -> float:
    """The nearest float32; out of range becomes infinity, as a cast would."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


class Writer:
    """One function under construction."""

    def __init__(self, name: str, params: Sequence[str], internal: bool = False) -> None:
        linkage = "internal " if internal else ""
        self.head = f"define {linkage}void @{name}({', '.join(params)}) nounwind {{"
        self.entry: list[str] = []  # allocas, which LLVM wants in the entry block
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.block = "entry"
        self.count = 0

    def text(self) -> str:
        """The whole function."""
        return "\n".join([self.head, "entry:", *self.entry, *self.lines, "  ret void", "}"])

    def fresh(self, stem: str) -> str:
        """A name not used before in this function."""
        self.count += 1
        return f"{stem}{self.count}"

    def op(self, text: str) -> str:
        """Append an instruction with a result; return the result's name."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append("  " + text)

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(label + ":")
        self.block = label

    def call(self, result: str, function: str, *args: str) -> str:
        """Call an intrinsic with "type value" arguments, declaring it; "" for a void one."""
        types = ", ".join(_type_of(arg) for arg in args)
        self.declared.add(f"declare {result} @{function}({types})")
        text = f"call {result} @{function}({', '.join(args)})"
        if result == "void":
            self.do(text)
            return ""
        return self.op(text)

    def alloca(self, type_: str, align: int = 64) -> str:
        """Stack memory for the whole function."""
        name = "%" + self.fresh("stack")
        self.entry.append(f"  {name} = alloca {type_}, align {align}")
        return name

    # ---- i64 arithmetic; Python ints fold

    def add(self, a: Int, b: Int) -> Int:
        """a + b."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0:
            return b
        return a if b == 0 else self.op(f"add nsw i64 {a}, {b}")

    def sub(self, a: Int, b: Int) -> Int:
        """a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.op(f"sub nsw i64 {a}, {b}")

    def mul(self, a: Int, b: Int) -> Int:
        """a * b."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        return a if b == 1 else self.op(f"mul nsw i64 {a}, {b}")

    def div(self, a: Int, b: Int) -> Int:
        """a // b, for a >= 0 and b > 0."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if b == 1 else self.op(f"udiv i64 {a}, {b}")

    def rem(self, a: Int, b: Int) -> Int:
        """a % b, for a >= 0 and b > 0."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return 0 if b == 1 else self.op(f"urem i64 {a}, {b}")

    def smaller(self, a: Int, b: Int) -> Int:
        """min(a, b)."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self.call("i64", "llvm.smin.i64", f"i64 {a}", f"i64 {b}")

    def larger(self, a: Int, b: Int) -> Int:
        """max(a, b)."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return self.call("i64", "llvm.smax.i64", f"i64 {a}", f"i64 {b}")

    def compare(self, relation: str, a: Int, b: Int) -> str:
        """An i1; relation as LLVM spells it (slt, eq, ...)."""
        return self.op(f"icmp {relation} i64 {a}, {b}")

    # ---- memory

    def gep(self, base: str, index: Int, type_: str = "i8") -> str:
        """Pointer base + index elements of type_."""
        if index == 0:
            return base
        return self.op(f"getelementptr {type_}, ptr {base}, i64 {index}")

    def load(self, type_: str, pointer: str, align: int) -> str:
        """A plain load."""
        return self.op(f"load {type_}, ptr {pointer}, align {align}")

    def store(self, type_: str, value: str, pointer: str, align: int, stream: bool = False) -> None:
        """A plain store; stream marks it non-temporal (needs !0 in the module)."""
        tail = ", !nontemporal !0" if stream else ""
        self.do(f"store {type_} {value}, ptr {pointer}, align {align}{tail}")

    def prefetch(self, pointer: str, locality: int = 3) -> None:
        """Ask for the line that holds pointer (any address): into L1 if 3, L2 if 2."""
        where = ("i32 0", f"i32 {locality}", "i32 1")
        self.call("void", "llvm.prefetch.p0", f"ptr {pointer}", *where)

    def word(self, table: str, index: Int) -> str:
        """Load the i64 at table[index]."""
        return self.load("i64", self.gep(table, index, "i64"), 8)

    # ---- vectors

    def splat(self, type_: str, value: str, lanes: int) -> str:
        """A vector whose lanes all hold value."""
        vector = f"<{lanes} x {type_}>"
        one = self.op(f"insertelement {vector} poison, {type_} {value}, i32 0")
        return self.op(
            f"shufflevector {vector} {one}, {vector} poison, <{lanes} x i32> zeroinitializer"
        )

    def shuffle(self, type_: str, a: str, b: str, lanes: Sequence[int], width: int) -> str:
        """shufflevector of two <width x type_>; lanes picks from a then b."""
        vector = f"<{width} x {type_}>"
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.op(f"shufflevector {vector} {a}, {vector} {b}, <{len(lanes)} x i32> <{mask}>")

    def lanes_below(self, bound: Int, lanes: int) -> str:
        """The mask of lanes whose number is below bound (any i64)."""
        return self._lanes("slt", bound, lanes)

    def lanes_from(self, bound: Int, lanes: int) -> str:
        """The mask of all others."""
        return self._lanes("sge", bound, lanes)

    def _lanes(self, relation: str, bound: Int, lanes: int) -> str:
        """Numbers of 32 bits are compared in half the time: bounds are clipped to what matters."""
        least = self.smaller(bound, lanes)
        clipped = self.op(f"trunc i64 {self.larger(least, 0)} to i32")
        wide = self.splat("i32", clipped, lanes)
        numbers = ", ".join(f"i32 {lane}" for lane in range(lanes))
        return self.op(f"icmp {relation} <{lanes} x i32> <{numbers}>, {wide}")

    # ---- control

    @contextmanager
    def loop(
        self, lo: Int, hi: Int, step: Int = 1, carry: Sequence[tuple[str, str]] = ()
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """A counted loop. carry is [(type, first value)]; yields (index, current, next).

        Overwrite the entries of next inside the body. Afterwards current holds the last values.
        """
        head, body, done = self.fresh("head"), self.fresh("body"), self.fresh("done")
        index, following = "%" + self.fresh("i"), "%" + self.fresh("n")
        before = self.block
        self.do(f"br label %{head}")
        self.start(head)
        at = len(self.lines)
        current = ["%" + self.fresh("c") for _ in carry]
        later = list(current)
        self.lines += [""] * (1 + len(carry))
        self.do(f"br i1 {self.compare('slt', index, hi)}, label %{body}, label %{done}")
        self.start(body)
        yield index, current, later
        self.do(f"{following} = add nsw i64 {index}, {step}")
        self.do(f"br label %{head}")
        edge = self.block
        self.lines[at] = f"  {index} = phi i64 [ {lo}, %{before} ], [ {following}, %{edge} ]"
        for k, (type_, first) in enumerate(carry):
            self.lines[at + 1 + k] = (
                f"  {current[k]} = phi {type_} [ {first}, %{before} ], [ {later[k]}, %{edge} ]"
            )
        self.start(done)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Run the body only if the i1 condition holds; values made inside stay inside."""
        body, done = self.fresh("then"), self.fresh("done")
        self.do(f"br i1 {condition}, label %{body}, label %{done}")
        self.start(body)
        yield
        self.do(f"br label %{done}")
        self.start(done)


def _type_of(argument: str) -> str:
    """The type in front of "type value"."""
    if argument[0] == "<":
        return argument[: argument.index(">") + 1]
    return argument.split(maxsplit=1)[0]


def module(writers: Sequence[Writer], extra: str = "") -> str:
    """Functions and their declarations as one module."""
    declared = sorted(set().union(*(w.declared for w in writers)))
    return "\n".join([*declared, extra, *(w.text() for w in writers), "!0 = !{i32 1}", ""])
