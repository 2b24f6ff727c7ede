"""Rows of the elementwise primitives: (g, y, *operands) -> one cotangent per operand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from treadle.base.dtypes import DType, uint32
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, DtypeError, explain
from treadle.ops import rules
from treadle.ops.defs import JUMPS, ON_INTEGERS, Elementwise, Kind, Op, Samples

Reference = Callable[..., Any]


def elementwise(
    name: str,
    rule: Callable[..., Any],
    doc: str,
    reference: Reference,
    grad: Callable[..., Any] | str,
    low: float = -4.0,
    high: float = 4.0,
    smooth: bool = True,
    flops: float = 1.0,
    aliases: tuple[str, ...] = (),
    arguments: Callable[..., Any] | None = None,
) -> Op:
    """An elementwise row; grad may be a string that says why there is none."""
    return Elementwise(
        name, Kind.ELEMENTWISE, doc, types=partial(rule, name), shape=rules.broadcasting(name),
        grad=grad, reference=reference, samples=Samples(low, high, smooth=smooth), flops=flops,
        aliases=aliases, arguments=arguments,
    )  # fmt: skip


COSTLY = 12.0
LN2, LN10 = math.log(2.0), math.log(10.0)


def _flat(g: Any, y: Any, *operands: Any) -> tuple[None, ...]:
    """The gradient of steps: none but where they jump."""
    return (None,) * len(operands)


def _abs_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """The sign; of a complex number its direction, conjugated as cotangents are. 0 at 0."""
    if not x.dtype.is_complex:
        return (g * sign_of(x),)
    return (g * (conj(x) / where(eq(y, 0.0), 1.0, y)),)


def _power_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """0 where 0 * inf would be NaN: at an exponent of 0, and for the exponent of a base of 0."""
    still = bitwise_and(eq(a, 0.0), ge(real(b), 0.0))
    base = g * b * power(a, b - 1.0)
    return where(eq(b, 0.0), 0.0, base), where(still, 0.0, g * y * log(a))


def _in_float64(x: Any, y: Any) -> Any:
    """Tensors of 64 bits, or of twice as many where they are complex; numbers stand beside them."""
    parts = [x, y]
    for k, part in enumerate(parts):
        if hasattr(part, "_apply"):
            parts[k] = cast(part, "complex128" if part.dtype.is_complex else "float64")
    return tuple(parts), None


def power(x: Any, y: Any) -> Any:
    """x to the power y, in the float that both have in common."""
    return (x if hasattr(x, "_apply") else y)._apply(float_power, (x, y), None)


def _extreme_grad(better: Op, g: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """All to the operand that was taken, half to each of two equal ones; to both beside NaN."""
    shared = where(eq(a, b), g * 0.5, g)
    return where(better(b, a), 0.0, shared), where(better(a, b), 0.0, shared)


def _round(x: Any, decimals: int = 0) -> Any:
    if not hasattr(decimals, "__index__"):
        raise ArgumentError(explain("round", "decimals is an integer", got=repr(decimals)))
    if not decimals or (decimals > 0 and not x.dtype.is_inexact):
        return (x,), None
    scale = 10.0 ** abs(decimals)
    if not x.dtype.is_inexact:
        return cast(round_(cast(x, "float64") / scale) * scale, x.dtype)
    return round_(x * scale) / scale if decimals > 0 else round_(x / scale) * scale


def _div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return (x, y), None
    if rounding_mode == "floor":
        return floor_divide(x, y)
    if rounding_mode != "trunc":
        hint = "None, 'floor' or 'trunc'"
        raise ArgumentError(explain("div", "no such rounding_mode", hint, got=repr(rounding_mode)))
    down = floor_divide(x, y)
    if down.dtype.is_float:
        return trunc(div(x, y))
    return where(bitwise_and(lt(down, 0), ne(down * y, x)), down + 1, down)


def _joined(np: Any, real: Any, imag: Any) -> Any:
    """1j * inf would be NaN + inf j."""
    made = np.zeros(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real, imag, "c8"))
    made.real, made.imag = real, imag
    return made


# fmt: off
# ---- unary
neg = elementwise("neg", rules.number, "-x.", lambda np, x: np.negative(x),
                  lambda g, y, x: (-g,), aliases=("negative",))
abs_ = elementwise("abs", rules.size, "|x|; of a complex number a float.", lambda np, x: np.abs(x),
                   _abs_grad, smooth=False, aliases=("absolute",))
exp = elementwise("exp", rules.analytic, "e to the power x.", lambda np, x: np.exp(x),
                  lambda g, y, x: (g * y,), flops=COSTLY)
exp2 = elementwise("exp2", rules.analytic, "2 to the power x.", lambda np, x: np.exp2(x),
                   lambda g, y, x: (g * y * LN2,), flops=COSTLY)
expm1 = elementwise("expm1", rules.analytic, "exp(x) - 1, accurate near 0.",
                    lambda np, x: np.expm1(x), lambda g, y, x: (g * (y + 1.0),), flops=COSTLY)
log = elementwise("log", rules.analytic, "Natural logarithm.", lambda np, x: np.log(x),
                  lambda g, y, x: (g / x,), 0.1, 8.0, flops=COSTLY)
log2 = elementwise("log2", rules.analytic, "Logarithm to base 2.", lambda np, x: np.log2(x),
                   lambda g, y, x: (g / (x * LN2),), 0.1, 8.0, flops=COSTLY)
log10 = elementwise("log10", rules.analytic, "Logarithm to base 10.", lambda np, x: np.log10(x),
                    lambda g, y, x: (g / (x * LN10),), 0.1, 8.0, flops=COSTLY)
log1p = elementwise("log1p", rules.analytic, "log(1 + x), accurate near 0.",
                    lambda np, x: np.log1p(x), lambda g, y, x: (g / (x + 1.0),), -0.9, 8.0,
                    flops=COSTLY)
sqrt = elementwise("sqrt", rules.analytic, "Square root.", lambda np, x: np.sqrt(x),
                   lambda g, y, x: (g * 0.5 / y,), 0.1, 8.0, flops=4.0)
sin = elementwise("sin", rules.analytic, "Sine, in radians.", lambda np, x: np.sin(x),
                  lambda g, y, x: (g * cos(x),), flops=COSTLY)
cos: Op = elementwise("cos", rules.analytic, "Cosine, in radians.", lambda np, x: np.cos(x),
                  lambda g, y, x: (-g * sin(x),), flops=COSTLY)
atan = elementwise("atan", rules.analytic, "Inverse tangent, in radians.",
                   lambda np, x: np.arctan(x), lambda g, y, x: (g / (x * x + 1.0),), flops=COSTLY,
                   aliases=("arctan",))
tanh = elementwise("tanh", rules.analytic, "Hyperbolic tangent.", lambda np, x: np.tanh(x),
                   lambda g, y, x: (g * (1.0 - y * y),), flops=COSTLY)
sigmoid = elementwise("sigmoid", rules.analytic, "1 / (1 + exp(-x)).",
                      lambda np, x: 1.0 / (1.0 + np.exp(-x)),
                      lambda g, y, x: (g * y * (1.0 - y),), -8.0, 8.0, flops=COSTLY)
erf = elementwise("erf", rules.floating, "Error function.",
                  lambda np, x: np.vectorize(math.erf, otypes=[np.float64])(x),
                  lambda g, y, x: (g * (2.0 / math.sqrt(math.pi)) * exp(-(x * x)),), flops=COSTLY)
floor = elementwise("floor", rules.real_number, "Largest integer not above x.",
                    lambda np, x: np.floor(x), _flat)
ceil = elementwise("ceil", rules.real_number, "Smallest integer not below x.",
                   lambda np, x: np.ceil(x), _flat)
round_ = elementwise("round", rules.number,
                     "Nearest number of so many decimals, ties to the even one.",
                     lambda np, x: np.rint(x), _flat, arguments=_round)
trunc = elementwise("trunc", rules.real_number, "Nearest integer towards 0.",
                    lambda np, x: np.trunc(x), _flat, aliases=("fix",))

# ---- binary
add = elementwise("add", rules.any_dtype, "x + y; or, on bool.", lambda np, x, y: np.add(x, y),
                  lambda g, y, a, b: (g, g))
sub = elementwise("sub", rules.number, "x - y.", lambda np, x, y: np.subtract(x, y),
                  lambda g, y, a, b: (g, -g), aliases=("subtract",))
mul = elementwise("mul", rules.any_dtype, "x * y; and, on bool.",
                  lambda np, x, y: np.multiply(x, y), lambda g, y, a, b: (g * b, g * a),
                  aliases=("multiply",))
div = elementwise("div", rules.analytic,
                  "x / y, a float; rounding_mode 'floor' or 'trunc' rounds it and keeps integers.",
                  lambda np, x, y: np.true_divide(x, y),
                  lambda g, y, a, b: (g / b, -g * y / b), 0.5, 4.0, flops=4.0,
                  aliases=("divide", "true_divide"), arguments=_div)
float_power: Op = elementwise("float_power", rules.analytic, "x to the power y, in 64 bits.",
                              lambda np, x, y: np.power(x, y), _power_grad,
                              0.5, 3.0, flops=2 * COSTLY, arguments=_in_float64)
minimum = elementwise("minimum", rules.ordered, "The smaller; NaN if either is.",
                      lambda np, x, y: np.minimum(x, y),
                      lambda g, y, a, b: _extreme_grad(lt, g, a, b), smooth=False)
maximum = elementwise("maximum", rules.ordered, "The larger; NaN if either is.",
                      lambda np, x, y: np.maximum(x, y),
                      lambda g, y, a, b: _extreme_grad(gt, g, a, b), smooth=False)
floor_divide = elementwise("floor_divide", rules.real_number, "floor(x / y).",
                           lambda np, x, y: np.floor_divide(x, y), _flat, 1.0, 8.0, flops=8.0)
remainder = elementwise("remainder", rules.real_number, "x - y * floor(x / y): the sign of y.",
                        lambda np, x, y: np.remainder(x, y),
                        lambda g, y, a, b: (g, -g * floor_divide(a, b)), 1.0, 8.0, False, 8.0)

# ---- comparisons and choice
eq: Op = elementwise("eq", rules.equality, "x == y.", lambda np, x, y: np.equal(x, y),
                     JUMPS, aliases=("equal",))
ne: Op = elementwise("ne", rules.equality, "x != y.", lambda np, x, y: np.not_equal(x, y),
                     JUMPS, aliases=("not_equal",))
lt: Op = elementwise("lt", rules.comparison, "x < y.", lambda np, x, y: np.less(x, y),
                     JUMPS, aliases=("less",))
le: Op = elementwise("le", rules.comparison, "x <= y.", lambda np, x, y: np.less_equal(x, y),
                     JUMPS, aliases=("less_equal",))
gt: Op = elementwise("gt", rules.comparison, "x > y.", lambda np, x, y: np.greater(x, y),
                     JUMPS, aliases=("greater",))
ge: Op = elementwise("ge", rules.comparison, "x >= y.", lambda np, x, y: np.greater_equal(x, y),
                     JUMPS, aliases=("greater_equal",))
where: Op = elementwise("where", rules.choice, "x where the condition holds, y elsewhere.",
                    lambda np, condition, x, y: np.where(condition, x, y),
                    lambda g, y, c, a, b: (None, where(c, g, 0.0), where(c, 0.0, g)))

# ---- complex numbers; cotangents are those of a row of numbers: g dz, not g conj(dz)
real: Op = elementwise("real", rules.parts, "The real part of a complex number; any other itself.",
                       lambda np, x: np.real(x), lambda g, y, x: (g,), flops=0.0,
                       arguments=lambda x: ((x,), None) if x.dtype.is_complex else x)
imag: Op = elementwise("imag", rules.parts, "The imaginary part of a number; 0 if it is real.",
                       lambda np, x: np.imag(x),
                       lambda g, y, x: (complex_(g.zeros_like(), -g),), flops=0.0,
                       arguments=lambda x: ((x,), None) if x.dtype.is_complex else x.zeros_like())
conj: Op = elementwise("conj", rules.any_dtype, "The conjugate: the imaginary part negated.",
                       lambda np, x: np.conj(x), lambda g, y, x: (conj(g),),
                       arguments=lambda x: ((x,), None) if x.dtype.is_complex else x)
complex_: Op = elementwise("complex", rules.pair, "real + 1j * imag, of two floats.",
                           _joined,
                           lambda g, y, a, b: (real(g), -imag(g)), flops=0.0)

# ---- bits
bitwise_and: Op = elementwise("bitwise_and", rules.whole, "Bits set in both; and, on bool.",
                              lambda np, x, y: np.bitwise_and(x, y), ON_INTEGERS)
bitwise_or = elementwise("bitwise_or", rules.whole, "Bits set in either; or, on bool.",
                         lambda np, x, y: np.bitwise_or(x, y), ON_INTEGERS)
bitwise_xor = elementwise("bitwise_xor", rules.whole, "Bits set in one alone.",
                          lambda np, x, y: np.bitwise_xor(x, y), ON_INTEGERS)
shift_left = elementwise("shift_left", rules.shifts, "x << y; 0 where all bits are shifted out.",
                         lambda np, x, y: np.left_shift(x, y), ON_INTEGERS, 0.0, 7.0,
                         aliases=("bitwise_left_shift",))
shift_right = elementwise("shift_right", rules.shifts, "x >> y, keeping the sign.",
                          lambda np, x, y: np.right_shift(x, y), ON_INTEGERS, 0.0, 7.0,
                          aliases=("bitwise_right_shift",))
# fmt: on


def _threefry_types(_: Any) -> Any:
    return (uint32,) * 4, uint32


def _threefry(np: Any, key0: Any, key1: Any, low: Any, high: Any) -> Any:
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011), the first word of the result."""
    mask = np.uint64(0xFFFFFFFF)
    keys = [np.asarray(k, np.uint64) for k in (key0, key1)]
    keys.append(keys[0] ^ keys[1] ^ np.uint64(0x1BD11BDA))
    x, y = (np.asarray(c, np.uint64) for c in (low, high))
    x, y = (x + keys[0]) & mask, (y + keys[1]) & mask
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            x = (x + y) & mask
            y = ((y << np.uint64(turn)) | (y >> np.uint64(32 - turn))) & mask
            y = y ^ x
        x = (x + keys[(group + 1) % 3]) & mask
        y = (y + keys[(group + 2) % 3] + np.uint64(group + 1)) & mask
    return x.astype(np.uint32)


ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
threefry = Op(
    "threefry", Kind.ELEMENTWISE, "32 random bits of a counter (low, high) under a key (2 words).",
    types=_threefry_types, shape=rules.broadcasting("threefry"), reference=_threefry,
    grad=ON_INTEGERS, samples=Samples(0, 1 << 30), flops=100.0, public=False,
)  # fmt: skip


def _cast(x: Any, dtype: Any) -> Any:
    to = dtype_of(dtype)
    if x.dtype.is_complex and not to.is_complex and to.kind != "bool":
        hint = "take x.real, x.imag or abs(x), and cast that"
        facts = {"source": x.dtype.name, "to": to.name}
        raise DtypeError(explain("cast", "would lose the imaginary part", hint, **facts))
    return (x,), to


def _cast_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    if not (y.dtype.is_inexact and x.dtype.is_inexact):
        return (None,)
    return (cast(g if x.dtype.is_complex else real(g), x.dtype),)


def _bitcast(x: Any, dtype: Any) -> Any:
    to = dtype_of(dtype)
    rules.refuse_complex("bitcast", (x.dtype, to), "not of complex numbers", "td.view_as_real(x)")
    return (x,), _as_wide(x.dtype, to)


cast: Op = Op(
    "cast", Kind.ELEMENTWISE, "The elements converted to another dtype.",
    types=None, shape=lambda _, shapes: shapes[0],
    arguments=_cast,
    grad=_cast_grad, reference=lambda np, x: x, samples=Samples(), flops=1.0,
)  # fmt: skip
bitcast: Op = Op(
    "bitcast", Kind.ELEMENTWISE, "The bits of the elements read as another dtype of their width.",
    types=None, shape=lambda _, shapes: shapes[0],
    arguments=_bitcast,
    grad="it looks at bits", reference=lambda np, x: x, samples=Samples(), flops=0.0,
)  # fmt: skip
detach = Op(
    "detach", Kind.ELEMENTWISE, "The same values, with no gradient flowing back.",
    types=partial(rules.any_dtype, "detach"), shape=lambda _, shapes: shapes[0],
    grad=lambda g, y, x: (None,), reference=lambda np, x: x, flops=0.0,
)  # fmt: skip
rerouted = Op(
    "rerouted", Kind.ELEMENTWISE, "y, whose gradient goes to the others by a route of its own.",
    types=lambda dtypes: (tuple(dtypes), dtypes[0]), shape=lambda _, shapes: shapes[0],
    reference=lambda np, y, x: y, flops=0.0, public=False,
)  # fmt: skip
after = Elementwise(
    "after", Kind.ELEMENTWISE, "x, computed when y is: equal parts before and after stay apart.",
    types=partial(rules.first, "after"), shape=rules.broadcasting("after"),
    grad=lambda g, y, x, _: (g, None), flops=0.0, public=False,
    reference=lambda np, x, y: np.broadcast_arrays(x, y)[0],
)  # fmt: skip


def _as_wide(source: DType, to: DType) -> DType:
    """The dtype to read bits as, if both have as many."""
    if source.bits == to.bits:
        return to
    facts = {"source": source.name, "to": to.name}
    hint = "choose a dtype of the same width, or cast to convert values"
    raise DtypeError(explain("bitcast", "the dtypes differ in width", hint, **facts))


def sign_of(x: Any) -> Any:
    """-1, 0 or 1 in x's dtype, for gradients."""
    return cast(gt(x, 0), x.dtype) - cast(lt(x, 0), x.dtype)
