"""Are the vector functions accurate, right at the edges, and the same for any number of lanes?"""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest

from treadle.backends.cpu import host, jit
from treadle.backends.cpu.vmath import FUNCTIONS, Vec
from treadle.backends.cpu.writer import Writer, module
from treadle.base.target import Target

HOST = host.host_target()
SSE = replace(host.AVX2, cpu="nehalem", features="", vector_bytes=16, registers=16)
TYPES = {np.float32: "float", np.float64: "double"}
EXTENDED = np.finfo(np.longdouble).nmant > 60


def kernel_text(name: str, dtype: type, lanes: int, target: Target) -> str:
    """bases: the operands, then the result; params: how many elements."""
    w = Writer("kernel", ["ptr %bases", "ptr %params", "i64 %block", "i64 %tid"])
    type_, size = TYPES[dtype], np.dtype(dtype).itemsize
    vector = f"<{lanes} x {type_}>"
    arity = 2 if name == "float_power" else 1
    pointers = [w.load("ptr", w.gep("%bases", i, "ptr"), 8) for i in range(arity + 1)]
    with w.loop(0, w.word("%params", 0), lanes) as (i, _, _):
        loaded = [w.load(vector, w.gep(p, i, type_), size) for p in pointers[:arity]]
        result = FUNCTIONS[name](*(Vec(w, value, lanes, type_, target) for value in loaded))
        w.store(vector, result.value, w.gep(pointers[-1], i, type_), size)
    return module([w])


def evaluate(name, *operands, lanes=16, target=HOST, level=2):
    dtype = operands[0].dtype.type
    text = kernel_text(name, dtype, lanes, target)
    code = jit.load(text, lambda: text, ("kernel",), target, level)
    count = len(operands[0])
    padded = -(-count // lanes) * lanes
    arrays = [np.concatenate([x, np.ones(padded - count, dtype)]) for x in operands]
    arrays.append(np.empty(padded, dtype))
    bases = np.array([x.ctypes.data for x in arrays], np.int64)
    params = np.array([padded], np.int64)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(code["kernel"])
    function(bases.ctypes.data, params.ctypes.data, 0, 0)
    return arrays[-1][:count]


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


REFERENCES = {
    "abs": np.abs,
    "atan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "float_power": np.power,
    "round": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": sigmoid,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
# Largest error in units of last place: float32, float64.
BOUNDS = {
    **dict.fromkeys(("abs", "ceil", "floor", "round", "trunc"), (0.0, 0.0)),
    **dict.fromkeys(("exp", "exp2", "log", "log10", "log1p", "log2"), (1.1, 1.1)),
    **dict.fromkeys(("cos", "sin", "rsqrt", "sigmoid"), (1.6, 1.6)),
    **dict.fromkeys(("atan", "erf", "expm1", "tanh"), (2.0, 2.1)),
    "float_power": (0.6, 1.2),
    "sqrt": (0.5, 0.501),
}
SPECIAL = (
    *(0.0, 1.0, math.inf, math.nan, 0.5, 2.0, 3.0, 2.5, 1e-30, 1e30, 0.1, 10.0, 100.0, 1000.0),
    *(88.72, 88.73, 87.3, 103.9, 104.0, 127.99, 128.0, 149.0, 150.0, 709.78, 709.79, 745.1, 745.2),
    *(1.5707964, 3.1415927, 2.0**20, 2.0**24 + 1, 1e22, 0.41421356, 2.4142135, 0.70710678),
)


def special(dtype):
    limits = np.finfo(dtype)
    values = [*SPECIAL, limits.max, limits.tiny, limits.smallest_subnormal, limits.tiny / 3]
    return np.array([*values, *(-value for value in values)], dtype)


def operand(dtype, seed=0, count=20_000):
    """Special values, random bits, all sizes, near 1, near overflow, near zeros of sine."""
    chance = np.random.default_rng(seed)
    width = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = chance.integers(0, np.iinfo(width).max, count, dtype=width).view(dtype)
    sized = chance.standard_normal(count) * np.exp2(chance.uniform(-30, 8, count))
    near_one = 1 + chance.standard_normal(count) * np.exp2(chance.uniform(-20, 0, count))
    large = chance.uniform(-800, 800, count) * (1 if dtype is np.float64 else 0.14)
    zeros = np.round(chance.uniform(0, 2000, count)) * (np.pi / 2)
    parts = [special(dtype), bits, sized, near_one, large, zeros]
    return np.concatenate([part.astype(dtype) for part in parts])


def operands(name, dtype):
    x = operand(dtype)
    if name != "float_power":
        return (x,)
    chance = np.random.default_rng(1)
    a, b = np.meshgrid(special(dtype), special(dtype))
    base = np.abs(chance.standard_normal(20_000) * np.exp2(chance.uniform(-8, 8, 20_000)))
    exponent = chance.uniform(-1100, 1100, 20_000) / np.log2(base)
    signed = chance.standard_normal(20_000) * 4
    whole = np.round(chance.uniform(-20, 20, 20_000))
    bases = [a.ravel(), x, base, signed]
    exponents = [b.ravel(), chance.permutation(x), exponent, whole]
    return tuple(np.concatenate([p.astype(dtype) for p in parts]) for parts in (bases, exponents))


def error_in_ulps(got, want):
    """The distance in units of last place of got's type; infinite for a wrong kind or sign."""
    limits = np.finfo(got.dtype)
    wide = want.dtype.type
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        size = np.clip(np.abs(want), wide(limits.smallest_normal), wide(limits.max))
        unit = np.ldexp(wide(1), np.frexp(size)[1] - 1 - limits.nmant)
        ends = wide(limits.min), wide(limits.max)
        distance = np.abs(np.clip(got.astype(wide), *ends) - np.clip(want, *ends)) / unit
        wrong = np.isnan(got) != np.isnan(rounded)
        wrong |= (np.signbit(got) != np.signbit(rounded)) & ((got != 0) | (want == 0))
    both_nan = np.isnan(got) & np.isnan(rounded)
    return np.where(both_nan, 0, np.where(wrong, np.inf, distance)).astype(np.float64)


def worst(name, got, xs, want):
    errors = error_in_ulps(got, want)
    at = int(np.argmax(errors))
    place = ", ".join(repr(x[at]) for x in xs)
    return errors[at], f"{name}({place}) gave {got[at]!r}, not {want[at]!r}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("target", [HOST, host.AVX2, SSE], ids=["host", "avx2", "sse"])
@pytest.mark.parametrize("dtype", TYPES, ids=TYPES.values())
@pytest.mark.parametrize("name", REFERENCES)
def test_values_are_within_the_bound(name, dtype, target):
    if not EXTENDED and dtype is np.float64:
        pytest.skip("no reference: long double is double here")
    if target is not HOST and not (HOST.is_x86 and HOST.vector_bytes >= target.vector_bytes):
        pytest.skip("the host cannot run this code")
    xs = operands(name, dtype)
    reference = np.float64 if dtype is np.float32 else np.longdouble
    want = REFERENCES[name](*(x.astype(reference) for x in xs))
    error, story = worst(name, evaluate(name, *xs, target=target, lanes=target.lanes), xs, want)
    slack = 0.7 if target is SSE and BOUNDS[name][0] > 0.5 else 0  # no fma
    assert error <= BOUNDS[name][dtype is np.float64] + slack, story


def erf_of(x: float) -> Decimal:
    """The series of the error function, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        square = Decimal(x) * Decimal(x)
        term = total = Decimal(x)
        n = 0
        while abs(term) > abs(total) * Decimal("1e-40"):
            n += 1
            term = -term * square / n
            total += term / (2 * n + 1)
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
        return 2 * total / pi.sqrt()


@pytest.mark.parametrize("dtype", TYPES, ids=TYPES.values())
def test_erf_is_within_the_bound(dtype):
    chance = np.random.default_rng(2)
    sized = chance.standard_normal(700) * np.exp2(chance.uniform(-30, 1, 700))
    x = np.concatenate([chance.uniform(-6, 6, 700), sized, chance.uniform(0.5, 2, 300)])
    x = x.astype(dtype)
    got = evaluate("erf", x)
    unit = np.spacing(np.abs(got))
    exact = [erf_of(float(value)) for value in x]
    pairs = zip(got, exact, unit, strict=True)
    errors = [abs(Decimal(float(g)) - want) / Decimal(float(u)) for g, want, u in pairs]
    assert float(max(errors)) <= BOUNDS["erf"][dtype is np.float64], x[int(np.argmax(errors))]


@pytest.mark.parametrize("dtype", TYPES, ids=TYPES.values())
def test_erf_is_right_at_the_edges(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 30, -30, tiny, -tiny], dtype)
    got = evaluate("erf", x)
    want = np.array([0.0, -0.0, 1, -1, np.nan, 1, -1, tiny, -tiny], dtype)
    np.testing.assert_array_equal(got, want)
    assert list(np.signbit(got[:2])) == [False, True]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", TYPES, ids=TYPES.values())
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_bits_depend_neither_on_lanes_nor_on_the_level(name, dtype):
    xs = tuple(x[:4001] for x in operands(name, dtype))
    base = np.nan_to_num(evaluate(name, *xs), nan=7.0)
    for lanes in (1, 4, 8, 12, 32):
        other = np.nan_to_num(evaluate(name, *xs, lanes=lanes), nan=7.0)
        assert other.tobytes() == base.tobytes(), lanes
    low = np.nan_to_num(evaluate(name, *xs, level=0), nan=7.0)
    assert low.tobytes() == base.tobytes()


@pytest.mark.parametrize("target", [host.AVX2, host.AARCH64, SSE], ids=["avx2", "arm", "sse"])
@pytest.mark.parametrize("dtype", TYPES, ids=TYPES.values())
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_processor_needs_a_library_call(name, dtype, target):
    text = jit.assembly(kernel_text(name, dtype, target.lanes, target), target, 2)
    opcodes = [line.split()[0] for line in text.splitlines() if line.startswith("\t")]
    assert not {"call", "callq", "bl", "blr"} & set(opcodes)
