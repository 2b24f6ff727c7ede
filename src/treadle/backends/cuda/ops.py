"""One Triton row per primitive: texts of operands in, text of the result out."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign

from treadle.backends.cuda.narrow import loaded, memory_type, stored
from treadle.base.dtypes import DType, bool_, float32, float64, uint32

Primitive = Callable[[DType, DType, list[str]], str]
"""(dtype of the first value operand, dtype of the result, operands) -> result."""

SHORT = {
    "bool": "i8", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
    "int32": "i32", "uint64": "u64", "int64": "i64", "float16": "fp16", "bfloat16": "bf16",
    "float32": "fp32", "float64": "fp64", "float8_e4m3fn": "u8", "float8_e5m2": "u8",
}  # fmt: skip


def register_type(d: DType) -> str:
    """The Triton type of one element in registers."""
    return "tl.int1" if d is bool_ else f"tl.{d.compute.name}"


def number(value: float | int | bool, d: DType) -> str:
    """A constant that broadcasts to any tile."""
    if d is bool_:
        text = str(int(bool(value)))
    elif not d.is_float:
        text = str(int(value))
    elif value != value or value in (float("inf"), float("-inf")):
        text = f'float("{value}")'
    elif is_minus_zero(value):
        return f"(tl.full((1, 1), 0.0, {register_type(d)}) * -1.0)"
    else:
        text = repr(float(value))
    return f"tl.full((1, 1), {text}, {register_type(d)})"


def is_minus_zero(value: object) -> bool:
    """Is it -0.0, which Triton takes for 0.0 where it is written so?"""
    return isinstance(value, float) and not value and copysign(1.0, value) < 0


def parameter(name: str, d: DType) -> str:
    """The same for a number that is an argument of the kernel."""
    return f"tl.full((1, 1), {name}, {register_type(d)})"


# ---- rows


def _infix(sign: str, on_bool: str = "") -> Primitive:
    def row(d: DType, _: DType, x: list[str]) -> str:
        return f"{x[0]} {on_bool if d is bool_ else sign} {x[1]}"

    return row


def _compare(sign: str) -> Primitive:
    """Bool is compared as a number: true is not below false."""

    def row(d: DType, _: DType, x: list[str]) -> str:
        wide = ".to(tl.int32)" if d is bool_ else ""
        return f"{x[0]}{wide} {sign} {x[1]}{wide}"

    return row


def _extreme(name: str, on_bool: str) -> Primitive:
    def row(d: DType, _: DType, x: list[str]) -> str:
        return f"{x[0]} {on_bool} {x[1]}" if d is bool_ else f"{name}({x[0]}, {x[1]})"

    return row


def _by_width(single: str, wide: str, brief: str = "") -> Primitive:
    """A function with a form for float32, one for float64, and one for what is stored narrow."""

    def row(d: DType, _: DType, x: list[str]) -> str:
        plain = wide if d.compute is float64 else single
        return f"{brief if brief and d.is_storage else plain}({', '.join(x)})"

    return row


EXP = _by_width("exp_of", "tl.exp", "exp_brief")


def _div(d: DType, _: DType, x: list[str]) -> str:
    """To the last bit, if there is one more than is stored."""
    brief = d.compute is float64 or d.is_storage
    return f"{x[0]} / {x[1]}" if brief else f"tl.div_rn({x[0]}, {x[1]})"


def _sigmoid(d: DType, result: DType, x: list[str]) -> str:
    if d.is_storage:
        return f"sigmoid_brief({x[0]})"
    return f"1.0 / (1.0 + {EXP(d, result, [f'-{x[0]}'])})"


def _in_wide(name: str) -> Primitive:
    """A function that is computed in float64 for float32 too: the fast ones are too coarse."""

    def row(d: DType, _: DType, x: list[str]) -> str:
        if d.compute is float64:
            return f"{name}({', '.join(x)})"
        return f"{name}({', '.join(f'{value}.to(tl.float64)' for value in x)}).to(tl.float32)"

    return row


def _abs(d: DType, _: DType, x: list[str]) -> str:
    return x[0] if d.kind == "uint" else f"tl.abs({x[0]})"


def _neg(d: DType, _: DType, x: list[str]) -> str:
    if d.is_float:
        return f"{x[0]} * -1.0"  # -x is 0 - x to Triton, which loses the sign of a zero
    return f"(0 - {x[0]}).to({register_type(d)})" if d.kind == "uint" else f"-{x[0]}"


def _floor_divide(d: DType, result: DType, x: list[str]) -> str:
    if d.is_float:  # of x without its rest: x / y itself may round up to the next integer
        rest = f"libdevice.fmod({x[0]}, {x[1]})"
        quotient = _div(d, result, [f"({x[0]} - {rest})", x[1]])
        return f"whole_quotient({x[0]}, {x[1]}, {rest}, {quotient})"
    return f"{'floor' if d.kind == 'int' else 'unsigned'}_quotient({x[0]}, {x[1]})"


def _remainder(d: DType, result: DType, x: list[str]) -> str:
    if d.is_float:
        return f"float_remainder({x[0]}, {x[1]})"
    rest = f"{x[0]} - {_floor_divide(d, result, x)} * {x[1]}"
    return f"tl.where({x[1]} == 0, 0, {rest}).to({register_type(d)})"


def _rounding(name: str) -> Primitive:
    """To a whole number: integers are."""
    return lambda d, _, x: f"{name}({x[0]})" if d.is_float else x[0]


def _shift(sign: str) -> Primitive:
    """Shifting by all bits or more leaves what shifting bit by bit would: 0, or the sign."""

    def row(d: DType, _: DType, x: list[str]) -> str:
        inside = f"({x[1]} >= 0) & ({x[1]} < {d.bits})"
        moved = f"{x[0]} {sign} tl.where({inside}, {x[1]}, {d.bits - 1}).to({register_type(d)})"
        if d.kind == "int" and sign == ">>":
            return moved
        return f"tl.where({inside}, {moved}, 0).to({register_type(d)})"

    return row


def _bitcast(d: DType, result: DType, x: list[str]) -> str:
    """Through the form in memory, which is where bits are defined."""
    bits = f"({stored(x[0], d)}).to({memory_type(result)}, bitcast=True)"
    return loaded(bits, result) if result.is_storage else bits


def _threefry(_: DType, __: DType, x: list[str]) -> str:
    return f"threefry_of({', '.join(x)})"


def convert(d: DType, result: DType, x: list[str]) -> str:
    """A cast; floats to integers saturate and NaN gives 0, anything to bool compares with zero."""
    value = rounded(x[0], d)  # a value that leaves a narrow type is what it would be in memory
    if d.compute is result.compute:
        return rounded(value, result)
    if result is bool_:
        return f"{value} != 0"
    if result.is_float or not d.is_float:
        return rounded(f"({value}).to({register_type(result)})", result)
    low, high = float(result.least), float(result.greatest)
    middle = "tl.int32" if result.bits < 32 else register_type(result)
    safe = f"tl.where(({value} > {low!r}) & ({value} < {high!r}), {value}, 0.0).to({middle})"
    most = f"tl.where({value} >= {high!r}, {number(result.greatest, result)}, {safe})"
    whole = f"tl.where({value} <= {low!r}, {number(result.least, result)}, {most})"
    return f"({whole}).to({register_type(result)})"


def rounded(value: str, d: DType) -> str:
    """A float32 register rounded to the precision of a storage type."""
    return loaded(stored(value, d), d) if d.is_storage else value


PRIMITIVES: dict[str, Primitive] = {
    "neg": _neg, "abs": _abs, "cast": convert, "threefry": _threefry,
    "where": lambda d, r, x: f"tl.where({x[0]}, {x[1]}, {x[2]})",
    "add": _infix("+", "|"), "sub": _infix("-"), "mul": _infix("*", "&"), "div": _div,
    "floor_divide": _floor_divide, "remainder": _remainder,
    "maximum": _extreme("larger", "|"), "minimum": _extreme("smaller", "&"),
    "eq": _compare("=="), "ne": _compare("!="), "lt": _compare("<"), "le": _compare("<="),
    "gt": _compare(">"), "ge": _compare(">="),
    "bitwise_and": _infix("&", "&"), "bitwise_or": _infix("|", "|"),
    "bitwise_xor": _infix("^", "^"), "shift_left": _shift("<<"), "shift_right": _shift(">>"),
    "bitcast": _bitcast, "float_power": _in_wide("power"), "sigmoid": _sigmoid,
    "exp": EXP, "log": _by_width("tl.log", "tl.log"),
    "tanh": _by_width("tanh_of", "tanh_wide", "tanh_brief"),
    "sqrt": _by_width("tl.sqrt_rn", "tl.sqrt", "tl.sqrt"),
    "sin": _by_width("tl.sin", "tl.sin"), "cos": _by_width("tl.cos", "tl.cos"),
    "erf": _by_width("tl.erf", "tl.erf"), "floor": _rounding("tl.floor"),
    "ceil": _rounding("tl.ceil"), "round": _rounding("rounded_even"), "trunc": _rounding("cut"),
    "exp2": _by_width("tl.exp2", "tl.exp2"), "expm1": _in_wide("expm1_of"),
    "log2": _by_width("tl.log2", "tl.log2"), "log10": _in_wide("log10_of"),
    "log1p": _in_wide("log1p_of"), "atan": _in_wide("atan_of"),
    "after": lambda d, r, x: x[0],
}  # fmt: skip
BRIEF = ("exp", "sigmoid", "tanh")  # have a form that is worth it where operands are coarse


# ---- reductions

JOINS = {"max": "larger", "min": "smaller", "prod": "times"}


def joined(kind: str, x: str, y: str) -> str:
    """Two partial results as one."""
    return f"{x} + {y}" if kind == "sum" else f"{JOINS[kind]}({x}, {y})"


def reduced(kind: str, x: str, axis: int) -> str:
    """A tile joined along an axis that stays with one element."""
    if kind == "sum":
        return f"tl.sum({x}, {axis}, keep_dims=True)"
    return f"tl.reduce({x}, {axis}, {JOINS[kind]}, keep_dims=True)"


def accumulator(d: DType) -> DType:
    """What a reduction is computed in: bool as an integer."""
    return uint32 if d is bool_ else float32 if d.compute is float32 else d
