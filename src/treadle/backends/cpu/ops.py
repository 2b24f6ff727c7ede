"""One LLVM row per primitive: vectors in, vector out."""

from __future__ import annotations

from treadle.backends.cpu.division import floor_divide, remainder
from treadle.backends.cpu.lanes import Lanes, Primitive, register_type
from treadle.backends.cpu.narrow import from_float8, to_float8, to_odd
from treadle.backends.cpu.vmath import FUNCTIONS, Vec
from treadle.base.dtypes import DType, bool_, float16, float64, uint32
from treadle.kernel.abstract import Reduce
from treadle.ops.defs import TABLE
from treadle.ops.elementwise import ROTATIONS


def _plain(on_float: str, on_int: str, on_bool: str = "") -> Primitive:
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


def _compare(on_float: str, on_int: str) -> Primitive:
    def row(ln: Lanes, d: DType, _: DType, x: list[str]) -> str:
        sign = "s" if d.kind == "int" else "u"
        name = f"fcmp {on_float}" if d.is_float else f"icmp {on_int.replace('?', sign)}"
        return ln.w.op(f"{name} {ln.type(d)} {x[0]}, {x[1]}")

    return row


def _extreme(on_float: str, on_int: str, on_bool: str) -> Primitive:
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


def _function(name: str) -> Primitive:
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


def _rounding(name: str) -> Primitive:
    """To a whole number: integers are."""
    return lambda ln, d, r, x: _function(name)(ln, d, r, x) if d.is_float else x[0]


def _shift(up: bool) -> Primitive:
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


PRIMITIVES: dict[str, Primitive] = {
    "neg": _neg, "abs": _abs, "cast": convert, "where": _where, "threefry": _threefry,
    "add": _plain("fadd", "add", "or"), "sub": _plain("fsub", "sub"),
    "mul": _plain("fmul", "mul", "and"), "div": _plain("fdiv", ""),
    "floor_divide": floor_divide, "remainder": remainder,
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
PRIMITIVES |= {
    name: _function(name) for name in FUNCTIONS if name in TABLE and name not in PRIMITIVES
}

JOIN: dict[str, Primitive] = {
    "sum": PRIMITIVES["add"],
    "prod": PRIMITIVES["mul"],
    "max": PRIMITIVES["maximum"],
    "min": PRIMITIVES["minimum"],
}


def joined(ln: Lanes, r: Reduce, parts: list[str]) -> str:
    """Accumulators, then lanes, joined by a fixed tree; every lane holds the result."""
    row, d, n = JOIN[r.kind], r.dtype, ln.lanes
    while len(parts) > 1:
        paired = [row(ln, d, d, parts[k : k + 2]) for k in range(0, len(parts) - 1, 2)]
        parts = paired + parts[2 * len(paired) :]
    total, step = parts[0], n // 2
    while step:
        across = [k ^ step for k in range(n)]
        other = ln.w.shuffle(register_type(d), total, "poison", across, n)
        total = row(ln, d, d, [total, other])
        step //= 2
    return total
