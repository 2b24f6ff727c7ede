"""Functions that kernels call, as text."""

from __future__ import annotations

import re
from functools import lru_cache

from treadle.backends.cuda.narrow import CONVERSIONS
from treadle.ops.elementwise import ROTATIONS

HEAD = """import triton
import triton.language as tl
from triton.language.extra import libdevice
"""


def _whole(value: int) -> str:
    return f"tl.full((1, 1), {value}, tl.uint32)"


def _threefry() -> str:
    """Threefry-2x32, 20 rounds: the same bits as the reference on every backend."""
    lines = ["", "def threefry_of(k0, k1, x, y):"]
    lines.append(f"    k2 = k0 ^ k1 ^ {_whole(0x1BD11BDA)}")
    lines += ["    x = x + k0", "    y = y + k1"]
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            lines += ["    x = x + y", f"    y = ((y << {turn}) | (y >> {32 - turn})) ^ x"]
        lines.append(f"    x = x + k{(group + 1) % 3}")
        lines.append(f"    y = y + k{(group + 2) % 3} + {_whole(group + 1)}")
    return "\n".join([*lines, "    return x", ""])


FUNCTIONS = {
    "exp_of": """
def exp_of(x):
    high = x * 1.4426950408889634
    low = tl.fma(x, 1.4426950216293335, -high) + x * 1.9259629911e-08
    return tl.exp2(high) * tl.where(tl.abs(high) < 256.0, 1.0 + low * 0.6931471805599453, 1.0)
""",
    "tanh_of": """
def tanh_of(x):
    z = x * x
    tail = z * (0.13331915 + z * (-0.05378329 + z * (0.02079462 + z * -0.00589395)))
    near = x + x * z * (tail - 0.33333299)
    size = 1.0 - 2.0 / (exp_of(2.0 * tl.abs(x)) + 1.0)
    return tl.where(tl.abs(x) < 0.6, near, tl.where(x < 0, -size, size))
""",
    "exp_brief": """
def exp_brief(x):
    return tl.exp2(x * 1.4426950408889634)
""",
    "tanh_brief": """
def tanh_brief(x):
    far = 1.0 - libdevice.fast_dividef(2.0, 1.0 + tl.exp2(x * 2.8853900817779268))
    return tl.where(tl.abs(x) < 0.03, x - x * x * x * 0.33333334, far)
""",
    "sigmoid_brief": """
def sigmoid_brief(x):
    return libdevice.fast_dividef(1.0, 1.0 + tl.exp2(x * -1.4426950408889634))
""",
    "tanh_wide": """
def tanh_wide(x):
    u = expm1_of(-2.0 * tl.abs(x))
    size = u / (-2.0 - u)
    return tl.where(x < 0, -size, tl.where(x == 0, x, size))
""",
    "power": """
def power(x, y):
    size = tl.exp(y * tl.log(tl.abs(x)))
    endless = float("inf")
    whole = tl.floor(y) == y
    odd = whole & (tl.floor(y * 0.5) * 2.0 != y)
    negative = (x < 0) | ((x == 0) & (1.0 / x < 0))
    size = tl.where(negative & odd, size * -1.0, size)
    size = tl.where((x < 0) & (x > -endless) & (whole == 0), float("nan"), size)
    one = (y == 0) | (x == 1) | ((tl.abs(x) == 1) & (tl.abs(y) == endless))
    return tl.where(one, 1.0, size)
""",
    "expm1_of": """
def expm1_of(x):
    u = tl.exp(x)
    near = (u - 1.0) * x / tl.log(u)
    result = tl.where(u == 1.0, x, tl.where(u < 0.5, u - 1.0, near))
    return tl.where(u == float("inf"), u, result)
""",
    "log1p_of": """
def log1p_of(x):
    u = x + 1.0
    near = tl.log(u) * x / (u - 1.0)
    return tl.where((u == 1.0) | (x == float("inf")), x, tl.where(u == 0.0, tl.log(u), near))
""",
    "log10_of": """
def log10_of(x):
    return tl.log(x) * 0.4342944819032518
""",
    "atan_of": """
def atan_of(x):
    size = tl.abs(x)
    z = tl.where(size > 1.0, 1.0 / size, size)
    guess = z / (z * z * 0.28 + 1.0)
    sine, cosine = tl.sin(guess), tl.cos(guess)
    t = (z * cosine - sine) / (cosine + z * sine)
    s = t * t
    y = guess + (t + t * s * (-1.0 / 3.0 + s * (0.2 - s * (1.0 / 7.0))))
    y = tl.where(size > 1.0, 1.5707963267948966 - y, y)
    return tl.where(x < 0, -y, tl.where(x == 0, x, y))
""",
    "rounded_even": """
def rounded_even(x):
    down = tl.floor(tl.abs(x))
    rest = tl.abs(x) - down
    odd = down * 0.5 != tl.floor(down * 0.5)
    size = tl.where((rest > 0.5) | ((rest == 0.5) & odd), down + 1.0, down)
    return tl.where(x < 0, size * -1.0, tl.where(x == 0, x, size))
""",
    "cut": """
def cut(x):
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))
""",
    "float_remainder": """
def float_remainder(x, y):
    rest = libdevice.fmod(x, y)
    zero = tl.where(y < 0, tl.abs(rest) * -1.0, tl.abs(rest))
    whole = tl.where((rest < 0) != (y < 0), rest + y, rest)
    return tl.where(rest == 0, zero, whole)
""",
    "whole_quotient": """
def whole_quotient(x, y, rest, quotient):
    down = tl.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1.0, quotient)
    whole = tl.floor(down)
    whole = tl.where(down - whole > 0.5, whole + 1.0, whole)
    return tl.where(y == 0, x / y, tl.where(whole == 0, x / y * 0.0, whole))
""",
    "floor_quotient": """
def floor_quotient(x, y):
    zero = y == 0
    safe = tl.where(zero | (y == -1), 1, y).to(y.dtype)
    down = x // safe
    rest = x - down * safe
    down = tl.where((rest != 0) & ((rest < 0) != (safe < 0)), down - 1, down)
    return tl.where(zero, 0, tl.where(y == -1, -x, down)).to(x.dtype)
""",
    "unsigned_quotient": """
def unsigned_quotient(x, y):
    zero = y == 0
    safe = tl.where(zero, 1, y).to(y.dtype)
    return tl.where(zero, 0, x // safe).to(x.dtype)
""",
    "larger": """
def larger(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
""",
    "smaller": """
def smaller(x, y):
    return tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
""",
    "times": """
def times(x, y):
    return x * y
""",
    "near": """
def near(x):
    there = (x > -2147483648) & (x <= 2147483647)
    return tl.where(there, x, -2147483648).to(tl.int32)
""",
    "clamped": """
def clamped(x, size):
    x = tl.where(x < 0, x + size, x)
    return tl.maximum(tl.minimum(x, size - 1), 0)
""",
}  # exp2 of a rounded product alone would lose |x| * 6e-8
FUNCTIONS["threefry_of"] = _threefry()
FUNCTIONS |= CONVERSIONS


@lru_cache(maxsize=1024)
def with_functions(text: str) -> str:
    """A kernel preceded by the functions it calls."""
    wanted: dict[str, None] = {}
    stack = [text]
    while stack:
        words = set(re.findall(r"\w+", stack.pop()))
        for name, body in FUNCTIONS.items():
            if name in words and name not in wanted:
                wanted[name] = None
                stack.append(body)
    used = [f"@triton.jit{body}" for name, body in FUNCTIONS.items() if name in wanted]
    return "\n\n".join([HEAD, *used, text])
