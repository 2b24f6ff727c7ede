"""One LLVM row per primitive: vectors in, vector out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from treadle.backends.cpu.narrow import from_float8, to_float8, to_odd
from treadle.backends.cpu.vmath import FUNCTIONS, Vec
from treadle.backends.cpu.writer import Writer, float_bits, round_to_float32
from treadle.base.dtypes import DType, bool_, float16, float64, uint32
from treadle.base.target import Target
from treadle.ops.defs import TABLE
from treadle.ops.elementwise import ROTATIONS

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

    def vec(self, value: str, d: DType) -> Vec:
        """A float vector with arithmetic."""
        return Vec(self.w, value, self.lanes, register_type(d), self.target)


Row = Callable[[Lanes, DType, DType, list[str]], str]
"""(lanes, dtype of the first value operand, dtype of the result, operands) -> result."""


def _plain(on_float: str, on_int: str, on_bool: str = "") -> Row:
    """An instruction for floats, one for integers (s/u chosen by sign), one for bool."""

    def row(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
        if d.is_float:
            name = on_float
        elif d is bool_:
            name = on_bool
        else:
            name = on_int.replace("?", "s" if d.kind == "int" else "u")
        return ln.w.op(f"{name} {ln.type(d)} {', '.join(x)}")

    return row


def _compare(on_float: str, on_int: str) -> Row:
    def row(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
        sign = "s" if d.kind == "int" else "u"
        name = f"fcmp {on_float}" if d.is_float else f"icmp {on_int.replace('?', sign)}"
        return ln.w.op(f"{name} {ln.type(d)} {x[0]}, {x[1]}")

    return row


def _extreme(on_float: str, on_int: str, on_bool: str) -> Row:
    """The larger or smaller; a NaN on either side wins."""

    def row(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
        t = ln.type(d)
        if d is bool_:
            return ln.w.op(f"{on_bool} {t} {x[0]}, {x[1]}")
        if not d.is_float:
            name = f"llvm.{'s' if d.kind == 'int' else 'u'}{on_int}.v{ln.lanes}{register_type(d)}"
            return ln.w.call(t, name, f"{t} {x[0]}", f"{t} {x[1]}")
        mask = f"<{ln.lanes} x i1>"
        first = ln.w.op(f"fcmp {on_float} {t} {x[0]}, {x[1]}")
        best = ln.w.op(f"select {mask} {first}, {t} {x[0]}, {t} {x[1]}")
        odd = ln.w.op(f"fcmp uno {t} {x[0]}, {x[0]}")
        return ln.w.op(f"select {mask} {odd}, {t} {x[0]}, {t} {best}")

    return row


def _function(name: str) -> Row:
    return lambda ln, d, _, x: FUNCTIONS[name](*(ln.vec(v, d) for v in x)).value


def _neg(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
    if d.is_float:
        return ln.w.op(f"fneg {ln.type(d)} {x[0]}")
    return ln.w.op(f"sub {ln.type(d)} zeroinitializer, {x[0]}")


def _abs(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
    if d.is_float:
        return FUNCTIONS["abs"](ln.vec(x[0], d)).value
    if d.kind == "uint":
        return x[0]
    t = ln.type(d)
    return ln.w.call(t, f"llvm.abs.v{ln.lanes}{register_type(d)}", f"{t} {x[0]}", "i1 false")


def _where(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    t = ln.type(result)
    return ln.w.op(f"select <{ln.lanes} x i1> {x[0]}, {t} {x[1]}, {t} {x[2]}")


def _intrinsic(ln: Lanes, d: DType, name: str) -> str:
    return f"llvm.{name}.v{ln.lanes}{'f64' if d.compute is float64 else 'f32'}"


def _turned(ln: Lanes, d: DType, rest: str, other: str) -> str:
    """Where a rest is not 0 and has another sign."""
    t, w = ln.type(d), ln.w
    mask = f"<{ln.lanes} x i1>"
    signs = [w.op(f"fcmp olt {t} {v}, zeroinitializer") for v in (rest, other)]
    left = w.op(f"fcmp one {t} {rest}, zeroinitializer")
    return w.op(f"and {mask} {left}, {w.op(f'xor {mask} {signs[0]}, {signs[1]}')}")


def _fmod(ln: Lanes, d: DType, x: list[str]) -> str:
    """x - y trunc(x / y), exactly: at once where the quotient is exact, else by the C function.

    A quotient below 2^digits rounds to at most the next integer; then one y is too much.
    """
    t, w, kind = ln.type(d), ln.w, d.compute
    mask = f"<{ln.lanes} x i1>"
    plain = w.op(f"fdiv {t} {x[0]}, {x[1]}")
    whole = w.call(t, _intrinsic(ln, d, "trunc"), f"{t} {plain}")
    minus = w.op(f"fneg {t} {whole}")
    rest = w.call(t, _intrinsic(ln, d, "fma"), f"{t} {minus}", f"{t} {x[1]}", f"{t} {x[0]}")
    by = w.call(t, _intrinsic(ln, d, "copysign"), f"{t} {x[1]}", f"{t} {x[0]}")
    turned = _turned(ln, d, rest, x[0])
    back = w.op(f"fadd {t} {rest}, {by}")
    rest = w.op(f"select {mask} {turned}, {t} {back}, {t} {rest}")
    rest = w.call(t, _intrinsic(ln, d, "copysign"), f"{t} {rest}", f"{t} {x[0]}")
    size = w.call(t, _intrinsic(ln, d, "fabs"), f"{t} {whole}")
    far = w.op(f"fcmp uge {t} {size}, {ln.number(2.0 ** (kind.mantissa + 1), d)}")
    y_size = w.call(t, _intrinsic(ln, d, "fabs"), f"{t} {x[1]}")
    endless = w.op(f"fcmp oeq {t} {y_size}, {ln.number(float('inf'), d)}")
    hard = w.op(f"or {mask} {far}, {endless}")
    before = w.block
    with w.when(w.call("i1", f"llvm.vector.reduce.or.v{ln.lanes}i1", f"{mask} {hard}")):
        slow = w.op(f"frem {t} {x[0]}, {x[1]}")
        within = w.block
    return w.op(f"phi {t} [ {rest}, %{before} ], [ {slow}, %{within} ]")


def _float_rest(ln: Lanes, d: DType, x: list[str]) -> tuple[str, str]:
    """What division leaves, with the sign of x, and where that differs from the sign of y."""
    rest = _fmod(ln, d, x)
    return rest, _turned(ln, d, rest, x[1])


def _whole_quotient(ln: Lanes, d: DType, x: list[str]) -> str:
    """floor(x / y) of floats from what is left: x / y itself may round up to the next integer."""
    t, w = ln.type(d), ln.w
    mask = f"<{ln.lanes} x i1>"
    rest, turned = _float_rest(ln, d, x)
    whole = w.op(f"fdiv {t} {w.op(f'fsub {t} {x[0]}, {rest}')}, {x[1]}")
    lower = w.op(f"fsub {t} {whole}, {ln.number(1, d)}")
    whole = w.op(f"select {mask} {turned}, {t} {lower}, {t} {whole}")
    down = w.call(t, _intrinsic(ln, d, "floor"), f"{t} {whole}")  # an integer but for rounding
    above = w.op(f"fcmp ogt {t} {w.op(f'fsub {t} {whole}, {down}')}, {ln.number(0.5, d)}")
    upper = w.op(f"fadd {t} {down}, {ln.number(1, d)}")
    whole = w.op(f"select {mask} {above}, {t} {upper}, {t} {down}")
    plain = w.op(f"fdiv {t} {x[0]}, {x[1]}")
    nothing = w.op(f"fcmp oeq {t} {whole}, zeroinitializer")  # it has the sign of the quotient
    signed = w.call(t, _intrinsic(ln, d, "copysign"), f"{t} {whole}", f"{t} {plain}")
    whole = w.op(f"select {mask} {nothing}, {t} {signed}, {t} {whole}")
    by_zero = w.op(f"fcmp oeq {t} {x[1]}, zeroinitializer")
    return w.op(f"select {mask} {by_zero}, {t} {plain}, {t} {whole}")


def _floor_divide(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    """Rounds down; an integer divided by zero gives 0, as NumPy does."""
    t, w = ln.type(d), ln.w
    if d.is_float:
        return _whole_quotient(ln, d, x)
    mask = f"<{ln.lanes} x i1>"
    zero = w.op(f"icmp eq {t} {x[1]}, zeroinitializer")
    by = w.op(f"select {mask} {zero}, {t} {ln.number(1, d)}, {t} {x[1]}")
    if d.kind == "uint":
        quotient = w.op(f"udiv {t} {x[0]}, {by}")
    else:
        least = w.op(f"icmp eq {t} {by}, {ln.number(-1, d)}")  # the one overflow: negate instead
        safe = w.op(f"select {mask} {least}, {t} {ln.number(1, d)}, {t} {by}")
        down = w.op(f"sdiv {t} {x[0]}, {safe}")
        left = w.op(f"srem {t} {x[0]}, {safe}")
        signs = w.op(f"xor {t} {left}, {safe}")
        uneven = w.op(f"icmp ne {t} {left}, zeroinitializer")
        differ = w.op(f"icmp slt {t} {signs}, zeroinitializer")
        lower = w.op(f"and {mask} {uneven}, {differ}")
        down = w.op(f"add {t} {down}, {w.op(f'sext {mask} {lower} to {t}')}")
        negated = w.op(f"sub {t} zeroinitializer, {x[0]}")
        quotient = w.op(f"select {mask} {least}, {t} {negated}, {t} {down}")
    return w.op(f"select {mask} {zero}, {t} zeroinitializer, {t} {quotient}")


def _remainder(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    """x - y floor(x / y); exact for floats as fmod is, with the sign of y."""
    t, w = ln.type(d), ln.w
    if d.is_float:
        rest, turned = _float_rest(ln, d, x)
        mask = f"<{ln.lanes} x i1>"
        shifted = w.op(f"fadd {t} {rest}, {x[1]}")
        rest = w.op(f"select {mask} {turned}, {t} {shifted}, {t} {rest}")
        zero = w.op(f"fcmp oeq {t} {rest}, zeroinitializer")
        signed = w.call(t, _intrinsic(ln, d, "copysign"), f"{t} {rest}", f"{t} {x[1]}")
        return w.op(f"select {mask} {zero}, {t} {signed}, {t} {rest}")
    quotient = _floor_divide(ln, d, result, x)
    rest = w.op(f"sub {t} {x[0]}, {w.op(f'mul {t} {quotient}, {x[1]}')}")
    zero = w.op(f"icmp eq {t} {x[1]}, zeroinitializer")
    return w.op(f"select <{ln.lanes} x i1> {zero}, {t} zeroinitializer, {t} {rest}")


def _rounding(name: str) -> Row:
    """To a whole number: integers are."""
    return lambda ln, d, r, x: _function(name)(ln, d, r, x) if d.is_float else x[0]


def _shift(up: bool) -> Row:
    """Shifting by all bits or more leaves what shifting bit by bit would: 0, or the sign."""

    def row(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
        t, w = ln.type(d), ln.w
        mask = f"<{ln.lanes} x i1>"
        signed = d.kind == "int" and not up
        inside = w.op(f"icmp ult {t} {x[1]}, {ln.number(d.bits, d)}")
        by = w.op(f"select {mask} {inside}, {t} {x[1]}, {t} {ln.number(d.bits - 1, d)}")
        moved = w.op(f"{'shl' if up else 'ashr' if signed else 'lshr'} {t} {x[0]}, {by}")
        if signed:
            return moved
        return w.op(f"select {mask} {inside}, {t} {moved}, {t} zeroinitializer")

    return row


def _bitcast(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    """Through the form in memory, which is where bits are defined."""
    source, target = (f"<{ln.lanes} x {memory_type(k)}>" for k in (d, result))
    stored = narrow(ln, x[0], d)
    return widen(ln, ln.w.op(f"bitcast {source} {stored} to {target}"), result)


def _threefry(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
    """Threefry-2x32, 20 rounds: the same bits as the reference on every backend."""
    t, w = ln.type(uint32), ln.w

    def add(a: str, b: str) -> str:
        return w.op(f"add {t} {a}, {b}")

    def xor(a: str, b: str) -> str:
        return w.op(f"xor {t} {a}, {b}")

    keys = [x[0], x[1], xor(xor(x[0], x[1]), ln.number(0x1BD11BDA, uint32))]
    a, b = add(x[2], keys[0]), add(x[3], keys[1])
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            a = add(a, b)
            by = f"{t} splat (i32 {turn})"
            b = w.call(t, f"llvm.fshl.v{ln.lanes}i32", f"{t} {b}", f"{t} {b}", by)
            b = xor(b, a)
        a = add(a, keys[(group + 1) % 3])
        b = add(add(b, keys[(group + 2) % 3]), ln.number(group + 1, uint32))
    return a


def convert(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    """A cast; floats to integers saturate, anything to bool compares with zero."""
    w = ln.w
    value = rounded(ln, x[0], d)  # a value that leaves a narrow type is what it would be in memory
    source, target = ln.type(d), ln.type(result)
    if d.compute is result.compute:
        return rounded(ln, value, result)
    if result is bool_:
        name = "fcmp une" if d.is_float else "icmp ne"
        return w.op(f"{name} {source} {value}, zeroinitializer")
    if d is float64 and result is float16:  # once, as NumPy does; others go by way of float32
        return rounded(ln, to_odd(ln.vec(value, d)).value, result)
    if d.is_float and result.is_float:
        name = "fptrunc" if d.compute is float64 else "fpext"
        return rounded(ln, w.op(f"{name} {source} {value} to {target}"), result)
    if result.is_float:
        name = "sitofp" if d.kind == "int" else "uitofp"
        return rounded(ln, w.op(f"{name} {source} {value} to {target}"), result)
    if d.is_float:
        name = f"llvm.fpto{'s' if result.kind == 'int' else 'u'}i.sat.v{ln.lanes}"
        kinds = f"{register_type(result)}.v{ln.lanes}{'f64' if d.compute is float64 else 'f32'}"
        return w.call(target, name + kinds, f"{source} {value}")
    if d.bits == result.bits:
        return value
    if d.bits > result.bits:
        return w.op(f"trunc {source} {value} to {target}")
    return w.op(f"{'sext' if d.kind == 'int' else 'zext'} {source} {value} to {target}")


def rounded(ln: Lanes, value: str, d: DType) -> str:
    """A float32 register rounded to the precision of a storage type."""
    return value if not d.is_storage else widen(ln, narrow(ln, value, d), d)


def narrow(ln: Lanes, value: str, d: DType) -> str:
    """Registers to memory for types whose two forms differ."""
    w, n = ln.w, ln.lanes
    if d is bool_:
        return w.op(f"zext <{n} x i1> {value} to <{n} x i8>")
    if d.name == "float16":
        return w.op(f"fptrunc <{n} x float> {value} to <{n} x half>")
    if d.is_storage and d.bits == 8:
        return to_float8(ln.vec(value, d), d).value
    if d.name != "bfloat16":
        return value
    t = f"<{n} x i32>"  # round to nearest even by integer arithmetic; NaN stays NaN
    bits = w.op(f"bitcast <{n} x float> {value} to {t}")
    odd = w.op(f"and {t} {w.op(f'lshr {t} {bits}, splat (i32 16)')}, splat (i32 1)")
    up = w.op(f"add {t} {bits}, {w.op(f'add {t} {odd}, splat (i32 32767)')}")
    bad = w.op(f"fcmp uno <{n} x float> {value}, zeroinitializer")
    quiet = w.op(f"or {t} {bits}, splat (i32 4194304)")
    chosen = w.op(f"select <{n} x i1> {bad}, {t} {quiet}, {t} {up}")
    return w.op(f"trunc {t} {w.op(f'lshr {t} {chosen}, splat (i32 16)')} to <{n} x i16>")


def widen(ln: Lanes, value: str, d: DType) -> str:
    """Memory to registers for types whose two forms differ."""
    w, n = ln.w, ln.lanes
    if d is bool_:
        return w.op(f"icmp ne <{n} x i8> {value}, zeroinitializer")
    if d.name == "float16":
        return w.op(f"fpext <{n} x half> {value} to <{n} x float>")
    if d.is_storage and d.bits == 8:
        return from_float8(Vec(w, value, n, "i8", ln.target), d).value
    if d.name != "bfloat16":
        return value
    wide = w.op(f"zext <{n} x i16> {value} to <{n} x i32>")
    high = w.op(f"shl <{n} x i32> {wide}, splat (i32 16)")
    return w.op(f"bitcast <{n} x i32> {high} to <{n} x float>")


def memory_type(d: DType) -> str:
    """The LLVM type of one element in memory."""
    names = {"float32": "float", "float64": "double", "float16": "half", "bool": "i8"}
    return names.get(d.name) or f"i{d.bits}"


ROWS: dict[str, Row] = {
    "neg": _neg, "abs": _abs, "cast": convert, "where": _where, "threefry": _threefry,
    "add": _plain("fadd", "add", "or"), "sub": _plain("fsub", "sub"),
    "mul": _plain("fmul", "mul", "and"), "div": _plain("fdiv", ""),
    "floor_divide": _floor_divide, "remainder": _remainder,
    "maximum": _extreme("ogt", "max", "or"), "minimum": _extreme("olt", "min", "and"),
    "eq": _compare("oeq", "eq"), "ne": _compare("une", "ne"),
    "lt": _compare("olt", "?lt"), "le": _compare("ole", "?le"),
    "gt": _compare("ogt", "?gt"), "ge": _compare("oge", "?ge"),
    "bitwise_and": _plain("", "and", "and"), "bitwise_or": _plain("", "or", "or"),
    "bitwise_xor": _plain("", "xor", "xor"),
    "shift_left": _shift(up=True), "shift_right": _shift(up=False), "bitcast": _bitcast,
    "floor": _rounding("floor"), "ceil": _rounding("ceil"), "round": _rounding("round"),
    "trunc": _rounding("trunc"), "after": lambda ln, d, result, x: x[0],
}  # fmt: skip
ROWS |= {name: _function(name) for name in FUNCTIONS if name in TABLE and name not in ROWS}

JOIN: dict[str, Row] = {
    "sum": ROWS["add"], "prod": ROWS["mul"], "max": ROWS["maximum"], "min": ROWS["minimum"],
}  # fmt: skip


def identity(kind: str, d: DType) -> float | int:
    """What a reduction starts from, in the type it is computed in."""
    return {"sum": 0, "prod": 1, "max": d.compute.least, "min": d.compute.greatest}[kind]
