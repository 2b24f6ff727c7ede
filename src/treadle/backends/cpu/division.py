"""Quotients rounded down and what they leave, of integers and floats, exactly."""

from __future__ import annotations

from treadle.backends.cpu.lanes import Lanes
from treadle.base.dtypes import DType

EXACT = 1 << 52  # integers up to here are floats


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
    whole = w.call(t, ln.intrinsic("trunc", d), f"{t} {plain}")
    minus = w.op(f"fneg {t} {whole}")
    rest = w.call(t, ln.intrinsic("fma", d), f"{t} {minus}", f"{t} {x[1]}", f"{t} {x[0]}")
    by = w.call(t, ln.intrinsic("copysign", d), f"{t} {x[1]}", f"{t} {x[0]}")
    turned = _turned(ln, d, rest, x[0])
    back = w.op(f"fadd {t} {rest}, {by}")
    rest = w.op(f"select {mask} {turned}, {t} {back}, {t} {rest}")
    rest = w.call(t, ln.intrinsic("copysign", d), f"{t} {rest}", f"{t} {x[0]}")
    size = w.call(t, ln.intrinsic("fabs", d), f"{t} {whole}")
    far = w.op(f"fcmp uge {t} {size}, {ln.number(2.0 ** (kind.mantissa + 1), d)}")
    y_size = w.call(t, ln.intrinsic("fabs", d), f"{t} {x[1]}")
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
    down = w.call(t, ln.intrinsic("floor", d), f"{t} {whole}")  # an integer but for rounding
    above = w.op(f"fcmp ogt {t} {w.op(f'fsub {t} {whole}, {down}')}, {ln.number(0.5, d)}")
    upper = w.op(f"fadd {t} {down}, {ln.number(1, d)}")
    whole = w.op(f"select {mask} {above}, {t} {upper}, {t} {down}")
    plain = w.op(f"fdiv {t} {x[0]}, {x[1]}")
    nothing = w.op(f"fcmp oeq {t} {whole}, zeroinitializer")  # it has the sign of the quotient
    signed = w.call(t, ln.intrinsic("copysign", d), f"{t} {whole}", f"{t} {plain}")
    whole = w.op(f"select {mask} {nothing}, {t} {signed}, {t} {whole}")
    by_zero = w.op(f"fcmp oeq {t} {x[1]}, zeroinitializer")
    return w.op(f"select {mask} {by_zero}, {t} {plain}, {t} {whole}")


def floor_divide(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    """Rounds down; an integer divided by zero gives 0, as NumPy does."""
    t, w = ln.type(d), ln.w
    if d.is_float:
        return _whole_quotient(ln, d, x)
    mask = f"<{ln.lanes} x i1>"
    zero = w.op(f"icmp eq {t} {x[1]}, zeroinitializer")
    by = w.op(f"select {mask} {zero}, {t} {ln.number(1, d)}, {t} {x[1]}")
    if d.kind == "uint":
        quotient = _quotient(ln, d, x[0], by)
    else:
        least = w.op(f"icmp eq {t} {by}, {ln.number(-1, d)}")  # the one overflow: negate instead
        safe = w.op(f"select {mask} {least}, {t} {ln.number(1, d)}, {t} {by}")
        down = _quotient(ln, d, x[0], safe)
        negated = w.op(f"sub {t} zeroinitializer, {x[0]}")
        quotient = w.op(f"select {mask} {least}, {t} {negated}, {t} {down}")
    return w.op(f"select {mask} {zero}, {t} zeroinitializer, {t} {quotient}")


def _quotient(ln: Lanes, d: DType, a: str, b: str) -> str:
    """floor(a / b) by a division of floats: processors have none for vectors of integers.

    A quotient of integers below 2^53 is further from the next integer than it is rounded.
    """
    if d.bits < 64:
        return quotient_by_floats(ln, d, a, b)
    t, w = ln.type(d), ln.w
    mask = f"<{ln.lanes} x i1>"
    far = []
    for v in (a, b):
        raised = w.op(f"add {t} {v}, {ln.number(0 if d.kind == 'uint' else EXACT, d)}")
        bound = EXACT if d.kind == "uint" else 2 * EXACT
        far.append(w.op(f"icmp ugt {t} {raised}, {ln.number(bound, d)}"))
    either = w.op(f"or {mask} {far[0]}, {far[1]}")
    near = quotient_by_floats(ln, d, a, b)
    before = w.block
    with w.when(w.call("i1", f"llvm.vector.reduce.or.v{ln.lanes}i1", f"{mask} {either}")):
        exact = _one_by_one(ln, d, a, b)
        within = w.block
    return w.op(f"phi {t} [ {near}, %{before} ], [ {exact}, %{within} ]")


def quotient_by_floats(ln: Lanes, d: DType, a: str, b: str) -> str:
    """floor(a / b) of integers up to EXACT."""
    t, w, sign = ln.type(d), ln.w, "u" if d.kind == "uint" else "s"
    wide, long = f"<{ln.lanes} x double>", f"<{ln.lanes} x i64>"
    x, y = (w.op(f"{sign}itofp {t} {v} to {wide}") for v in (a, b))
    whole = w.call(wide, f"llvm.floor.v{ln.lanes}f64", f"{wide} {w.op(f'fdiv {wide} {x}, {y}')}")
    if d.bits == 64 or sign == "s":
        return w.op(f"fptosi {wide} {whole} to {t}")
    return w.op(f"trunc {long} {w.op(f'fptosi {wide} {whole} to {long}')} to {t}")


def _one_by_one(ln: Lanes, d: DType, a: str, b: str) -> str:
    t, w = ln.type(d), ln.w
    if d.kind == "uint":
        return w.op(f"udiv {t} {a}, {b}")
    mask = f"<{ln.lanes} x i1>"
    down, left = w.op(f"sdiv {t} {a}, {b}"), w.op(f"srem {t} {a}, {b}")
    uneven = w.op(f"icmp ne {t} {left}, zeroinitializer")
    differ = w.op(f"icmp slt {t} {w.op(f'xor {t} {left}, {b}')}, zeroinitializer")
    lower = w.op(f"and {mask} {uneven}, {differ}")
    return w.op(f"add {t} {down}, {w.op(f'sext {mask} {lower} to {t}')}")


def remainder(ln: Lanes, d: DType, result: DType, x: list[str]) -> str:
    """x - y floor(x / y); exact for floats as fmod is, with the sign of y."""
    t, w = ln.type(d), ln.w
    if d.is_float:
        rest, turned = _float_rest(ln, d, x)
        mask = f"<{ln.lanes} x i1>"
        shifted = w.op(f"fadd {t} {rest}, {x[1]}")
        rest = w.op(f"select {mask} {turned}, {t} {shifted}, {t} {rest}")
        zero = w.op(f"fcmp oeq {t} {rest}, zeroinitializer")
        signed = w.call(t, ln.intrinsic("copysign", d), f"{t} {rest}", f"{t} {x[1]}")
        return w.op(f"select {mask} {zero}, {t} {signed}, {t} {rest}")
    quotient = floor_divide(ln, d, result, x)
    rest = w.op(f"sub {t} {x[0]}, {w.op(f'mul {t} {quotient}, {x[1]}')}")
    zero = w.op(f"icmp eq {t} {x[1]}, zeroinitializer")
    return w.op(f"select <{ln.lanes} x i1> {zero}, {t} zeroinitializer, {t} {rest}")
