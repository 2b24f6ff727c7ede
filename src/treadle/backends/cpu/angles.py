"""Sine, cosine and arctangent of floating-point vectors as inline vector code.

Arguments below 2^20 are reduced by a multiple of pi/2 in four parts; a loop over the lanes with
larger ones multiplies by the right bits of 2/pi instead. It runs only if there are such lanes.
"""

from __future__ import annotations

import math

from treadle.backends.cpu.vector import Vec, has_fma
from treadle.backends.cpu.writer import Writer, float_bits
from treadle.base.target import Target

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
# The first three have 33 bits, so their products with a whole number below 2^20 are exact.
HALF_PI_PARTS = (
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
)
LARGE = 2.0**20
# The bits of 2/pi after the binary point.
TWO_OVER_PI_WORDS = (
    *(0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561),
    *(0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484),
    *(0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F),
    *(0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B),
    *(0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB),
)
SIN = {  # (sin r - r) / r^3 as a polynomial in r^2, up to pi/4
    "float": (
        *(-0.1666666716337204, 0.008333379402756691),
        *(-0.00019853068806696683, 2.832653080986347e-06),
    ),
    "double": (
        *(-0.16666666666666666, 0.008333333333333042, -0.00019841269840962193),
        *(2.755731907361019e-06, -2.5052070764832004e-08, 1.6054284388274302e-10),
        -7.387809159937423e-13,
    ),
}
COS = {  # (cos r - 1 + r^2/2) / r^4
    "float": (0.04166664555668831, -0.0013887311797589064, 2.4432758436887525e-05),
    "double": (
        *(0.041666666666666664, -0.001388888888888838, 2.4801587301167973e-05),
        *(-2.7557319053599176e-07, 2.0876720164608784e-09, -1.1466632562270176e-11),
        4.581713418106858e-14,
    ),
}
ATAN = {  # (atan r - r) / r^3, up to tan(pi/8)
    "float": (
        *(-0.33333316445350647, 0.1999853104352951, -0.1424446403980255),
        *(0.105997234582901, -0.0609138123691082),
    ),
    "double": (
        *(-0.33333333333333326, 0.19999999999997203, -0.14285714285338919, 0.1111111108553628),
        *(-0.09090908060573437, 0.07692281060630256, -0.0666620405608717, 0.05876818566571531),
        *(-0.05217198651543448, 0.044989999275791295, -0.033375599502038236),
        0.015100972723005585,
    ),
}
HALF_PI_PAIRS = {"float": (1.5707963705062866, -4.371138828673793e-08), "double": HALF_PI}
TAN_EIGHTH, TAN_THREE_EIGHTHS = 0.41421356237309503, 2.414213562373095


def sine(x: Vec) -> Vec:
    """Sine of an angle in radians."""
    result = _circular(x, 0)
    return x.where(x.compare("oeq", 0.0), result)  # keeps the sign of zero


def cosine(x: Vec) -> Vec:
    """Cosine of an angle in radians."""
    return _circular(x, 1)


def _circular(x: Vec, quarter: int) -> Vec:
    """sin(x + quarter * pi/2)."""
    if x.type == "float":
        wide = x.widened()
        quadrant, r = (part.narrowed() for part in _replace_large(wide, _reduce(wide)))
        low = x.constant(0.0)
    else:
        quadrant, r, low = _replace_large(x, _reduce_to_pair(x))
    if quarter:
        quadrant = quadrant + quarter
    z = r * r
    sin = (z * r).fma(z.polynomial(SIN[x.type]), low) + r
    head = z.fma(-0.5, 1.0)
    rest = z.fma(-0.5, 1.0 - head) - r * low
    cos = (z * z).fma(z.polynomial(COS[x.type]), rest) + head
    result = cos.where((quadrant & 1).compare("ne", 0), sin)
    result = (-result).where((quadrant & 2).compare("ne", 0), result)
    return result.where(x.absolute().compare("olt", math.inf), x - x)


def _difference(a: Vec, b: Vec) -> tuple[Vec, Vec]:
    """a - b and what rounding lost."""
    total = a - b
    part = total - a
    return total, (a - (total - part)) - (b + part)


def _reduce(x: Vec) -> tuple[Vec, Vec]:
    """x = n pi/2 + r for doubles below LARGE: (integers that end in the bits of n, r)."""
    shifted = x.fma(TWO_OVER_PI, x.format.magic)
    n = shifted - x.format.magic
    r = x
    for part in HALF_PI_PARTS[:3]:
        r = n.fma(-part, r)
    return shifted.bits(), r


def _reduce_to_pair(x: Vec) -> tuple[Vec, Vec, Vec]:
    """The same with r to twice the precision: (integers, r, low)."""
    shifted = x.fma(TWO_OVER_PI, x.format.magic)
    n = shifted - x.format.magic
    first, second, third, fourth = HALF_PI_PARTS
    a, a_low = _difference(x - n * first, n * second)
    b, b_low = _difference(a, n * third)
    low = (a_low + b_low) - n * fourth
    r = b + low
    return shifted.bits(), r, low - (r - b)


def _replace_large(x: Vec, fast: tuple[Vec, ...]) -> tuple[Vec, ...]:
    """The fast results, with those of large lanes computed the long way."""
    ir = x.ir
    large = x.absolute().compare("uge", LARGE)
    some = ir.call("i1", f"llvm.vector.reduce.or.v{x.lanes}i1", f"<{x.lanes} x i1> {large}")
    slow, done, before = ir.fresh("slow"), ir.fresh("done"), ir.block
    ir.do(f"br i1 {some}, label %{slow}, label %{done}")
    ir.start(slow)
    values = (x, *fast)
    places = [ir.alloca(value.vector) for value in values]
    for value, place in zip(values, places, strict=True):
        ir.store(value.vector, value.value, place, 64)
    words = _store_words(ir)
    with ir.loop(0, x.lanes) as (lane, _, _):
        number = ir.load("double", ir.gep(places[0], lane, "double"), 8)
        size = ir.call("double", "llvm.fabs.f64", f"double {number}")
        with ir.when(ir.op(f"fcmp oge double {size}, {float_bits(LARGE)}")):
            results = _reduce_one(ir, number, words, x.target)[: len(fast)]
            for place, (type_, result) in zip(places[1:], results, strict=True):
                ir.store(type_, result, ir.gep(place, lane, type_), 8)
    changed = [ir.load(v.vector, p, 64) for v, p in zip(fast, places[1:], strict=True)]
    after = ir.block
    ir.do(f"br label %{done}")
    ir.start(done)
    return tuple(
        old.like(ir.op(f"phi {old.vector} [ {old.value}, %{before} ], [ {new}, %{after} ]"))
        for old, new in zip(fast, changed, strict=True)
    )


def _store_words(ir: Writer) -> str:
    """A table on the stack: 64 zero bits, then those of 2/pi."""
    words = (0, *TWO_OVER_PI_WORDS)
    type_ = f"<{len(words)} x i64>"
    place = ir.alloca(type_)
    ir.store(type_, f"<{', '.join(f'i64 {word}' for word in words)}>", place, 64)
    return place


def _reduce_one(ir: Writer, x: str, words: str, target: Target) -> list[tuple[str, str]]:
    """Quadrant, r and low of one large double: its mantissa times a window of the bits of 2/pi.

    The window starts at the bit whose weight, after the exponent, is 2: bits before it add
    multiples of 4 quadrants. The top 128 bits of the product, t, are a fraction of 4 quadrants.
    """
    bits = ir.op(f"bitcast double {x} to i64")
    raised = ir.op(f"and i64 {ir.op(f'lshr i64 {bits}, 52')}, 2047")
    mantissa = ir.op(f"or i64 {ir.op(f'and i64 {bits}, {(1 << 52) - 1}')}, {1 << 52}")
    start = ir.sub(raised, 1075 - 62)
    # Infinity and NaN come here too and must stay inside the table; what they get is not used.
    start = ir.smaller(start, 62 + 1023 - 52)
    index, shift = ir.op(f"lshr i64 {start}, 6"), ir.op(f"and i64 {start}, 63")
    loaded = [ir.word(words, ir.add(index, i)) for i in range(4)]
    window = [
        ir.call("i64", "llvm.fshl.i64", f"i64 {loaded[i]}", f"i64 {loaded[i + 1]}", f"i64 {shift}")
        for i in range(3)
    ]
    m = ir.op(f"zext i64 {mantissa} to i128")
    products = [ir.op(f"mul i128 {m}, {ir.op(f'zext i64 {word} to i128')}") for word in window]
    high = ir.op(f"shl i128 {products[0]}, 64")
    tail = ir.op(f"lshr i128 {products[2]}, 64")
    t = ir.op(f"add i128 {ir.op(f'add i128 {high}, {products[1]}')}, {tail}")
    whole = ir.op(f"trunc i128 {ir.op(f'lshr i128 {t}, 126')} to i64")
    fraction = ir.op(f"shl i128 {t}, 2")  # signed: the nearest quadrant is subtracted
    negative = ir.op(f"icmp slt i128 {fraction}, 0")
    quadrant = ir.add(whole, ir.op(f"zext i1 {negative} to i64"))
    upper, lower = _fraction_to_pair(ir, fraction)
    r, low = _times_half_pi(ir, upper, lower, target)
    below = ir.op(f"fcmp olt double {x}, 0.0")
    flip = ir.op(f"xor i1 {below}, {negative}")
    return [
        ("i64", ir.op(f"select i1 {below}, i64 {ir.op(f'sub i64 0, {quadrant}')}, i64 {quadrant}")),
        ("double", _negate_if(ir, flip, r)),
        ("double", _negate_if(ir, flip, low)),
    ]


def _negate_if(ir: Writer, condition: str, value: str) -> str:
    return ir.op(f"select i1 {condition}, double {ir.op(f'fneg double {value}')}, double {value}")


def _fraction_to_pair(ir: Writer, fraction: str) -> tuple[str, str]:
    """|fraction| / 2^128 as two doubles of 53 bits each."""
    size = ir.call("i128", "llvm.abs.i128", f"i128 {fraction}", "i1 false")
    zeros = ir.call("i128", "llvm.ctlz.i128", f"i128 {size}", "i1 false")
    ready = ir.op(f"shl i128 {size}, {zeros}")
    exponent = ir.op(f"sub i64 1023, {ir.op(f'trunc i128 {zeros} to i64')}")
    parts = []
    for position in (75, 22):
        moved = ir.op(f"trunc i128 {ir.op(f'lshr i128 {ready}, {position}')} to i64")
        number = ir.op(f"sitofp i64 {ir.op(f'and i64 {moved}, {(1 << 53) - 1}')} to double")
        power = ir.op(f"shl i64 {ir.sub(exponent, 128 - position)}, 52")
        parts.append(ir.op(f"fmul double {number}, {ir.op(f'bitcast i64 {power} to double')}"))
    return parts[0], parts[1]


def _times_half_pi(ir: Writer, upper: str, lower: str, target: Target) -> tuple[str, str]:
    first, second = (float_bits(part) for part in HALF_PI)
    r = ir.op(f"fmul double {upper}, {first}")
    low = ir.op(f"fmul double {lower}, {first}")
    more = ir.op(f"fmul double {upper}, {second}")
    low = ir.op(f"fadd double {low}, {more}")
    if has_fma(target):
        minus = ir.op(f"fneg double {r}")
        arguments = (f"double {upper}", f"double {first}", f"double {minus}")
        low = ir.op(f"fadd double {low}, {ir.call('double', 'llvm.fma.f64', *arguments)}")
    total = ir.op(f"fadd double {r}, {low}")
    return total, ir.op(f"fsub double {low}, {ir.op(f'fsub double {total}, {r}')}")


def arctangent(x: Vec) -> Vec:
    """Arctangent: of |x|, of (|x|-1)/(|x|+1) plus pi/4, or of -1/|x| plus pi/2."""
    size = x.absolute()
    middle = size.compare("ogt", TAN_EIGHTH)
    outer = size.compare("ogt", TAN_THREE_EIGHTHS)
    above = x.constant(-1.0).where(outer, (size - 1.0).where(middle, size))
    below = size.where(outer, (size + 1.0).where(middle, 1.0))
    r = above / below
    z = r * r
    high, low = (
        x.constant(part).where(outer, x.constant(part * 0.5).where(middle, 0.0))
        for part in HALF_PI_PAIRS[x.type]
    )
    return (high + ((z * r).fma(z.polynomial(ATAN[x.type]), low) + r)).copysign(x)
