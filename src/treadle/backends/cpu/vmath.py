"""The functions of floating-point vectors as inline vector code, to about 2 units of last place.

Coefficients are weighted least-squares fits at Chebyshev nodes, rounded one after another. Every
function is right for NaN, infinities, zeros of both signs, denormals and overflow. On AVX-512 the
float32 forms of the quotients start from a 14-bit reciprocal instead of a division.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from treadle.backends.cpu.angles import arctangent, cosine, sine
from treadle.backends.cpu.vector import Vec, has_fma

__all__ = ["FUNCTIONS", "Vec"]


@dataclass(frozen=True)
class Numbers:
    """The constants of a type. ln2_high has enough zeros at its end that k * ln2_high is exact."""

    ln2_high: float
    ln2_low: float
    log2e_high: float  # rounded to the type
    log2e_low: float
    exp_bounds: tuple[float, float]  # beyond them the result is 0 or infinity
    exp2_bounds: tuple[float, float]
    expm1_tiny: float  # below, expm1 is the identity
    exp: tuple[float, ...]  # (e^r - 1 - r) / r^2
    exp2: tuple[float, ...]  # (2^r - 1) / r
    log: tuple[float, ...]  # float: (log(1+f) - f + f^2/2) / f^3; double: of s = f / (2 + f)
    erf_end: float  # from here erf is 1
    erf: tuple[float, ...]  # -log(erfc t) / t - 1


NUMBERS = {
    "float": Numbers(
        ln2_high=0.693359375,
        ln2_low=-2.12194440e-4,
        log2e_high=1.4426950216293335,
        log2e_low=1.925963033500011e-08,
        exp_bounds=(-104.5, 89.0),
        exp2_bounds=(-151.0, 129.0),
        expm1_tiny=2.0**-26,
        exp=(
            *(0.5, 0.1666654348373413, 0.041666287928819656),
            *(0.008366518653929234, 0.001394630060531199),
        ),
        exp2=(
            *(0.6931471824645996, 0.24022650718688965, 0.05550406128168106, 0.009618086740374565),
            *(0.0013336660340428352, 0.00015452293155249208, 1.4671833014290314e-05),
        ),
        log=(
            *(0.33333316445350647, -0.2500079870223999, 0.20002293586730957, -0.16624918580055237),
            *(0.14181138575077057, -0.13125552237033844, 0.12881365418434143, -0.07867448031902313),
        ),
        erf_end=3.95,
        erf=(
            *(0.12837916612625122, 0.6366193890571594, 0.10277765989303589, -0.01915249228477478),
            *(-0.00016136794874910265, 0.0016679383115842938, -0.0006333091878332198),
            *(0.00011776772589655593, -9.269843758374918e-06),
        ),
    ),
    "double": Numbers(
        ln2_high=0.693147180559663,
        ln2_low=2.8235290563031577e-13,
        log2e_high=1.4426950408889634,
        log2e_low=2.0355273740931033e-17,
        exp_bounds=(-746.0, 710.0),
        exp2_bounds=(-1076.0, 1025.0),
        expm1_tiny=2.0**-55,
        exp=(
            *(0.5, 0.16666666666666666, 0.04166666666666667, 0.00833333333333437),
            *(0.0013888888888882018, 0.00019841269837430486, 2.480158733020745e-05),
            *(2.7557325477581662e-06, 2.755726895710571e-07, 2.5047452294827364e-08),
            *(2.0916286155834104e-09, 1.7364792235094246e-10),
        ),
        exp2=(
            *(0.6931471805599453, 0.24022650695910072, 0.05550410866482346, 0.009618129107628038),
            *(0.0013333558145999535, 0.00015403530394069394, 1.5252734211783677e-05),
            *(1.3215486310108002e-06, 1.0177909532094775e-07, 7.055062560158748e-09),
            *(4.4772199099348393e-10, 2.552217447578768e-11),
        ),
        log=(
            *(0.6666666666666734, 0.3999999999941668, 0.28571428742014493, 0.2222219860636477),
            *(0.1818356280462781, 0.15314085317055184, 0.14795636254562441),
        ),
        erf_end=5.95,
        erf=(
            *(0.12837916709551256, 0.636619772367586, 0.10277260330167215, -0.019128447002684786),
            *(-0.00020919472171248315, 0.0016962065755048647, -0.000590126461962449),
            *(2.588171715789338e-05, 6.44839566960658e-05, -2.970876129475615e-05),
            *(3.384307629041068e-06, 2.8623154768784675e-06, -1.7671648990789757e-06),
            *(3.557331068871899e-07, 1.2538927949021904e-07, -1.3597285310093696e-07),
            *(6.344646385856073e-08, -2.023934832277999e-08, 4.816290047490372e-09),
            *(-8.726749607953707e-10, 1.195236455596084e-10, -1.202545995749902e-11),
            *(8.398740287042034e-13, -3.6396981411293777e-14, 7.371338208611674e-16),
        ),
    ),
}
LOG10 = {  # log10(e) and log10(2), each in two parts; whole multiples of the third are exact
    "float": (0.4342944920063019, -1.0103049952192578e-08, 0.301025390625, 4.605039066518657e-06),
    "double": (
        *(0.4342944819032518, 1.098319650216765e-17),
        *(0.30102999566395283, 2.8363394551044964e-14),
    ),
}
THIRD = (0.3333333333333333, 1.850371707708594e-17)
TWO_LOG2E = (2.8853900817779268, 4.0710547481862066e-17)
ATANH = (  # ((atanh(s)/s - 1)/s^2 - 1/3)/s^2 as a polynomial in s^2
    *(0.1999999999999999, 0.14285714285721904, 0.11111111108900733, 0.09090909421177085),
    *(0.07692279272889505, 0.06668129971561458, 0.05837936160855116, 0.05990502921343396),
)

# ---- exponentials


def _split(x: Vec) -> tuple[Vec, Vec, Vec]:
    """x = n ln 2 + r with |r| <= ln 2 / 2: (n as an integer, n, r)."""
    numbers, form = NUMBERS[x.type], x.format
    shifted = x.fma(numbers.log2e_high, form.magic)
    n = shifted - form.magic
    r = n.fma(-numbers.ln2_low, n.fma(-numbers.ln2_high, x))
    return shifted.bits() - form.magic_bits, n, r


def _power_of_two(n: Vec, like: Vec) -> Vec:
    form = like.format
    return ((n << form.mantissa) + (form.bias << form.mantissa)).as_float()


def _scale(x: Vec, integer: Vec, n: Vec) -> Vec:
    """x * 2^n for normal x, rounded once: in two steps, so that neither factor overflows."""
    if x.type == "float" and x.target.has_avx512:
        return x.x86_wide("mask.scalef", (x, n, x), ("i16 -1", "i32 4"))
    half = integer >> 1
    return x * _power_of_two(half, x) * _power_of_two(integer - half, x)


def exp(x: Vec) -> Vec:
    """e^x."""
    numbers = NUMBERS[x.type]
    low, high = numbers.exp_bounds
    integer, n, r = _split(x.at_most(high).at_least(low))
    return _scale((r * r).fma(r.polynomial(numbers.exp), r) + 1.0, integer, n)


def exp2(x: Vec) -> Vec:
    """2^x."""
    numbers, form = NUMBERS[x.type], x.format
    low, high = numbers.exp2_bounds
    x = x.at_most(high).at_least(low)
    shifted = x + form.magic
    n = shifted - form.magic
    r = x - n
    return _scale(r.fma(r.polynomial(numbers.exp2), 1.0), shifted.bits() - form.magic_bits, n)


def expm1(x: Vec) -> Vec:
    """e^x - 1."""
    numbers = NUMBERS[x.type]
    integer, _, r = _split(x.at_most(numbers.exp_bounds[1]).at_least(-40.0))
    p = (r * r).fma(r.polynomial(numbers.exp), r)
    half = _power_of_two(integer - 1, x)  # 2^n itself may overflow where the result does not
    result = half.fma(p, half - 0.5) * 2.0
    return result.where(x.absolute().compare("ogt", numbers.expm1_tiny), x)


def _expm1_negative(x: Vec) -> Vec:
    """e^x - 1 for x <= 0; the sign of zero is lost."""
    integer, _, r = _split(x.at_least(-40.0))
    p = (r * r).fma(r.polynomial(NUMBERS[x.type].exp), r)
    scale = _power_of_two(integer, x)
    return scale.fma(p, scale - 1.0)


def _ratio(a: Vec, one: float, e: Vec) -> Vec:
    """a / (one + e) for |e| <= one, as if one + e were exact: a reciprocal and one correction."""
    d = e + one
    low = e - (d - one)
    if a.type == "float" and a.target.has_avx512:
        r = d.x86_wide("rcp14", (d, d), ("i16 -1",))
    else:
        r = 1.0 / d
    q = a * r
    return (-q).fma(low, (-q).fma(d, a)).fma(r, q)


def tanh(x: Vec) -> Vec:
    """Hyperbolic tangent."""
    e = _expm1_negative(x.absolute() * -2.0)
    return _ratio(e, 2.0, e).copysign(x)


def sigmoid(x: Vec) -> Vec:
    """1 / (1 + e^-x)."""
    e = exp(-x.absolute())
    return _ratio(e.where(x.compare("olt", 0.0), 1.0), 1.0, e)


def erf(x: Vec) -> Vec:
    """Error function: 1 - e^-g with g(t) = -log(erfc t), a polynomial without branches."""
    numbers = NUMBERS[x.type]
    t = x.absolute().at_most(numbers.erf_end)
    g = t.fma(t.polynomial(numbers.erf), t)
    return _expm1_negative(-g).copysign(x)


# ---- logarithms


def _decompose(x: Vec) -> tuple[Vec, Vec]:
    """x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2): (k, f)."""
    form = x.format
    tiny = x.compare("olt", form.min_normal)
    normal = (x * 2.0 ** (form.mantissa + 1)).where(tiny, x)
    offset = normal.bits() - form.sqrt_half_bits
    fraction = (offset & ((1 << form.mantissa) - 1)) + form.sqrt_half_bits
    k = ((offset >> form.mantissa) + form.magic_bits).as_float() - form.magic
    k = (k - float(form.mantissa + 1)).where(tiny, k)
    return k, fraction.as_float() - 1.0


def _log_tail(f: Vec, low: Vec | float) -> Vec:
    """log(1 + f) - f + low."""
    coefficients = NUMBERS[f.type].log
    square = f * f
    if f.type == "float":
        return square.fma(-0.5, (f * square).fma(f.polynomial(coefficients), low))
    s = f / (f + 2.0)
    z = s * s
    half = square * 0.5
    return s.fma(z.fma(z.polynomial(coefficients), half), low) - half


def _log_edges(result: Vec, x: Vec) -> Vec:
    """The result for positive numbers; what a logarithm is elsewhere."""
    result = result.where(x.compare("olt", math.inf), x)
    below = result.constant(-math.inf).where(x.compare("oeq", 0.0), math.nan)
    return result.where(x.compare("ugt", 0.0), below)


def log(x: Vec) -> Vec:
    """Natural logarithm."""
    numbers = NUMBERS[x.type]
    k, f = _decompose(x)
    return _log_edges(k.fma(numbers.ln2_high, _log_tail(f, k * numbers.ln2_low) + f), x)


def log2(x: Vec) -> Vec:
    """Logarithm to base 2."""
    numbers = NUMBERS[x.type]
    k, f = _decompose(x)
    tail = f.fma(numbers.log2e_low, _log_tail(f, 0.0) * numbers.log2e_high)
    return _log_edges(f.fma(numbers.log2e_high, tail) + k, x)


def log10(x: Vec) -> Vec:
    """Logarithm to base 10."""
    log10e, log10e_low, log10_2, log10_2_low = LOG10[x.type]
    k, f = _decompose(x)
    tail = f.fma(log10e_low, _log_tail(f, 0.0) * log10e)
    return _log_edges(k.fma(log10_2, f.fma(log10e, k.fma(log10_2_low, tail))), x)


def log1p(x: Vec) -> Vec:
    """log(1 + x)."""
    numbers = NUMBERS[x.type]
    u = x + 1.0
    k, f = _decompose(u)
    unscaled = k.compare("oeq", 0.0)
    lost = (1.0 - (u - x)).where(x.compare("oge", 1.0), x - (u - 1.0)) / u
    low = k.fma(numbers.ln2_low, lost.constant(0.0).where(unscaled, lost))
    f = x.where(unscaled, f)
    result = _log_edges(k.fma(numbers.ln2_high, _log_tail(f, low) + f), u)
    return x.where(x.compare("oeq", 0.0), result)  # keeps the sign of zero


# ---- powers; pairs of doubles whose sum is the value


def _two_sum(a: Vec, b: Vec) -> tuple[Vec, Vec]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Vec, b: Vec) -> tuple[Vec, Vec]:
    product = a * b
    if has_fma(a.target):
        return product, a.fma(b, -product)
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Vec) -> tuple[Vec, Vec]:
    shifted = a * (2.0**27 + 1)
    high = shifted - (shifted - a)
    return high, a - high


def _log2_pair(x: Vec) -> tuple[Vec, Vec]:
    """log2 of a positive double to some 65 bits: k + 2 log2(e) atanh(f / (2 + f))."""
    k, f = _decompose(x)
    d = f + 2.0
    r = 1.0 / d
    s = f * r
    product, error = _two_product(s, d)
    s_low = (((f - product) - error) - s * (f - (d - 2.0))) * r
    z, z_low = _two_product(s, s)
    z_low = z_low + s * s_low * 2.0
    a, a_low = _two_sum(z.constant(THIRD[0]), z * z.polynomial(ATANH))
    b, b_low = _two_product(z, a)
    b_low = b_low + z * (a_low + THIRD[1]) + z_low * a
    c, c_low = _two_product(s, b)
    c_low = c_low + s * b_low + s_low * b
    h, h_low = _two_sum(s, c)
    h_low = h_low + c_low + s_low
    m, m_low = _two_product(h, h.constant(TWO_LOG2E[0]))
    m_low = m_low + h * TWO_LOG2E[1] + h_low * TWO_LOG2E[0]
    high, low = _two_sum(k, m)
    return _two_sum(high, low + m_low)


def _power_of_positive(x: Vec, y: Vec) -> Vec:
    """x^y for doubles, finite x > 0 and finite y."""
    form = x.format
    high, low = _log2_pair(x)
    y = y.at_most(2.0**65).at_least(-(2.0**65))  # enough to overflow, and its products do not
    p, p_low = _two_product(y, high)
    p_low = y.fma(low, p_low)
    far = p.absolute().compare("uge", 1100.0)
    p_low = p.constant(0.0).where(far, p_low)
    p = p.at_most(1100.0).at_least(-1100.0)
    shifted = p + form.magic
    n = shifted - form.magic
    r = (p - n) + p_low
    value = r.fma(r.polynomial(NUMBERS["double"].exp2), 1.0)
    return _scale(value, shifted.bits() - form.magic_bits, n)


def power(x: Vec, y: Vec) -> Vec:
    """x^y, special values as in C."""
    size = x.absolute()
    if x.type == "float":  # float64 has bits to spare
        value = exp2(y.widened() * log2(size.widened())).narrowed()
    else:
        value = _power_of_positive(size, y)
    y_infinite = y.absolute().compare("oeq", math.inf)
    edge = x.mask("or", size.compare("oeq", 0.0), size.compare("oeq", math.inf))
    edge = x.mask("or", edge, y_infinite)
    shrinks = x.mask("xor", size.compare("ogt", 1.0), y.compare("ogt", 0.0))
    value = value.constant(0.0).where(shrinks, math.inf).where(edge, value)
    whole = y.intrinsic("trunc").compare("oeq", y)
    half = y * 0.5
    odd = x.mask("and", whole, half.intrinsic("trunc").compare("une", half))
    value = value.copysign(x).where(odd, value)
    negative = x.mask("and", x.compare("olt", 0.0), x.compare("ogt", -math.inf))
    invalid = x.mask("and", negative, y.intrinsic("trunc").compare("une", y))
    value = value.constant(math.nan).where(invalid, value)
    value = (x + y).where(x.compare("uno", y), value)
    one = x.mask("or", x.compare("oeq", 1.0), y.compare("oeq", 0.0))
    one = x.mask("or", one, x.mask("and", size.compare("oeq", 1.0), y_infinite))
    return value.constant(1.0).where(one, value)


FUNCTIONS: dict[str, Callable[..., Vec]] = {
    "abs": Vec.absolute,
    "atan": arctangent,
    "ceil": lambda x: x.intrinsic("ceil"),
    "cos": cosine,
    "erf": erf,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "float_power": power,
    "floor": lambda x: x.intrinsic("floor"),
    "log": log,
    "log10": log10,
    "log1p": log1p,
    "log2": log2,
    "round": lambda x: x.intrinsic("roundeven"),
    "rsqrt": lambda x: 1.0 / x.intrinsic("sqrt"),
    "sigmoid": sigmoid,
    "sin": sine,
    "sqrt": lambda x: x.intrinsic("sqrt"),
    "tanh": tanh,
    "trunc": lambda x: x.intrinsic("trunc"),
}
