"""The Cholesky factor of a positive definite matrix."""

from __future__ import annotations

from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.triangular import solve_lower
from treadle.backends.cpu.linalg.vectors import combine, copy, fill, scale
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array, conjugate, real_part, sqrt
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

BLOCK = 64
TILE = 16  # of a transpose: rows that share lines of the cache


def factor_block(n: int, u: Array, ld: int) -> None:
    """A = Uᵀ U of a small block, from its upper half; NaN where it is not positive definite."""
    for i in range(n):
        row = u + (i * ld + i)
        combine(n - i, i, -1.0, u + i, ld, u + i, ld, row)
        root = sqrt(real_part(row[0]))
        scale(n - i, 1.0 / root, row)
        row[0] = root


def turned(n: int, source: Array, to: Array) -> None:
    """The lower half of a matrix as the upper half of another, tile by tile."""
    for i in range(0, n, TILE):
        for j in range(i, n, TILE):
            for p in range(i, min(n, i + TILE)):
                for q in range(max(p, j), min(n, j + TILE)):
                    to[p * n + q] = conjugate(source[q * n + p])


def cholesky_factor(a: Array, out: Array, temporary: Array, scratch: Array, n: int, item: int) -> None:
    """A whole matrix: the upper factor in memory of its own, which is then turned."""
    u = temporary + item * n * n
    turned(n, a + item * n * n, u)
    for j in range(0, n, BLOCK):
        width = min(BLOCK, n - j)
        rest = n - j - width
        block = u + (j * n + j)
        factor_block(width, block, n)
        right = block + width
        solve_lower(width, rest, block, 1, n, 0, right, n, scratch)
        for i in range(0, rest, BLOCK):
            product(min(BLOCK, rest - i), rest - i, width, -1.0, right + i, 1, n, right + i, n, 1,
                    block + ((width + i) * n + width + i), n, scratch)  # fmt: skip
    lower(n, u, out + item * n * n)


def lower(n: int, u: Array, to: Array) -> None:
    """The transpose of an upper half, and zeros."""
    for i in range(0, n, TILE):
        high = min(n, i + TILE)
        for j in range(0, high, TILE):
            for p in range(i, high):
                for q in range(j, min(p + 1, j + TILE)):
                    to[p * n + q] = conjugate(u[q * n + p])
        for p in range(i, high):
            fill(n - p - 1, 0.0, to + (p * n + p + 1))


def plan(node: Node, target: Target) -> Work:
    """One block for each matrix."""
    *batch, n, _ = node.shape
    items = 1
    for size in batch:
        items *= size
    step = step_of(cholesky_factor, items if n else 0, n=n)
    parts = ("linalg.cholesky", ("a",), node.dtype, False)
    size = node.dtype.size
    return Work(text, parts, (step,), n * n * items * size, PACK * size, n * n * n * items)
