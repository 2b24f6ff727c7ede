"""Sorts of short lines in one kernel: the place of an element is how many come before it."""

from __future__ import annotations

from treadle.backends.cuda.forms import power_of_two
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.keys import RAW, ordered, place_of, register_bits
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.base.dtypes import DType, int64
from treadle.base.sizes import most

SHORT = 128  # elements of a line that are always counted
LONG = 4096  # elements of one that may be, where all comparisons together are few
FEW = 1 << 27  # comparisons
TILE = 4096  # comparisons at a time
ROWS = 64, 8  # elements whose places one program finds: of short lines, of others
TEXT = """
@triton.jit
def key_of(bits):
    {keys}
    return key

@triton.jit
def kernel(x, y, lines, n, inner, LINES: tl.constexpr, ROWS: tl.constexpr, OTHERS: tl.constexpr):
    parts = tl.cdiv(n, ROWS)
    line = tl.program_id(0){wide} // parts * LINES + tl.arange(0, LINES)[:, None, None]
    k = tl.program_id(0) % parts * ROWS + tl.arange(0, ROWS)[None, :, None]
    inside = (line < lines) & (k < n)
    bits = tl.load(x + {at_k}, mask=inside, other=0).to({kind})
    key = key_of(bits)
    place = tl.zeros((LINES, ROWS, 1), tl.int32)
    for start in range(0, n, OTHERS):
        j = start + tl.arange(0, OTHERS)[None, None, :]
        there = (line < lines) & (j < n)
        other = key_of(tl.load(x + {at_j}, mask=there, other=0).to({kind}))
        first = (other < key) | ((other == key) & (j < k))
        place += tl.sum((first & there).to(tl.int32), 2, keep_dims=True)
    tl.store(y + {at_place}, {found}, mask=inside)
"""


def is_counted(lines: int, n: int) -> bool:
    """Are lines sorted this way?"""
    return n <= SHORT or (n <= LONG and lines * n * n <= FEW)


def counted(
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
    rows = min(ROWS[most(n) > SHORT], power_of_two(most(n)))
    others = min(TILE // rows, power_of_two(most(n)))
    together = min(max(1, TILE // (rows * others)), power_of_two(most(lines)))

    text = TEXT.format(
        keys="\n    ".join(ordered(d, descending)), kind=f"tl.{register_bits(d).name}",
        wide=".to(tl.int64)" * wide, at_k=place_of("k", inner), at_j=place_of("j", inner),
        at_place=place_of("place", inner),
        found=f"bits.to(tl.{RAW[d.size].name})" if values else "(k + line * 0).to(tl.int64)",
    )  # fmt: skip
    constants = {"LINES": together, "ROWS": rows, "OTHERS": others}
    source = add.source(with_functions(text), constants, 4)
    grid = -(-n // rows) * -(-lines // together), 1
    return Launch(source, grid, add.values, lines * n)
