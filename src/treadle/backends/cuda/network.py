"""Sorts of lines that one program holds, by Triton's network of comparisons.

What is compared is a key and, below it, where its element stands: so equal elements keep their
order. Of a float the last bit says which of two zeros it was.
"""

from __future__ import annotations

from treadle.backends.cuda.forms import power_of_two
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.keys import RAW, constants, levelled, place_of, straight, twisted
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.base.dtypes import DType, int64
from treadle.base.sizes import most

LONG = 2048  # elements of a line at most
TILE = 1024  # elements of short lines together
TEXT = """
@triton.jit
def kernel(x, y, lines, n, inner, LINES: tl.constexpr, SPAN: tl.constexpr):
    line = tl.program_id(0){wide} * LINES + tl.arange(0, LINES)[:, None]
    k = tl.arange(0, SPAN)[None, :]
    inside = (line < lines) & (k < n)
    {constants}
    bits = tl.load(x + {at}, mask=inside, other=0).to(tl.uint32)
    {keys}
    last = key == (every >> 1)
    {levelled}
    word = (key.to(tl.uint64) << 32) | (k * 2 + last.to(tl.int32)).to(tl.uint64)
    word = tl.sort(tl.where(k < n, word, 18446744073709551615), 1)
    {found}
    tl.store(y + {at}, {result}, mask=inside)
"""
INDEX = "((word >> 1) & 2147483647).to(tl.int64)"
ELEMENTS = """key = (word >> 32).to(tl.uint32)
    key = tl.where((word & 1) != 0, every >> 1, key)
    {straight}"""


def fits(d: DType, n: int) -> bool:
    """Are lines sorted this way?"""
    return d.size <= 4 and n <= LONG


def by_network(
    d: DType, descending: bool, values: bool, sizes: tuple[int, int, int], wide: bool,
    memory: tuple[object, object],
) -> Launch:  # fmt: skip
    """The launch; sizes: lines, their length, and how far apart their elements lie."""
    lines, n, inner = sizes
    add = Arguments()
    add.memory("x", RAW[d.size], memory[0])
    add.memory("y", RAW[d.size] if values else int64, memory[1])
    for name, value in {"lines": lines, "n": n, "inner": inner}.items():
        add.integer(name, value, wide)
    span = power_of_two(most(n))
    together = min(max(1, TILE // span), power_of_two(most(lines)))
    ends = ELEMENTS.format(straight="\n    ".join(straight(d, descending)))
    text = TEXT.format(
        wide=".to(tl.int64)" * wide, constants="\n    ".join(constants(d)),
        at=place_of("k", inner), keys="\n    ".join(twisted(d, descending)),
        levelled="\n    ".join(levelled(d)), found=ends if values else "",
        result=f"bits.to(tl.{RAW[d.size].name})" if values else INDEX,
    )  # fmt: skip
    warps = max(1, span * together // 256)
    source = add.source(with_functions(text), {"LINES": together, "SPAN": span}, warps)
    return Launch(source, (-(-lines // together), 1), add.values, lines * n)
