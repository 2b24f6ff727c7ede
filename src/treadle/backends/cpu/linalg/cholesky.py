"""The Cholesky factor of a positive definite matrix."""

from __future__ import annotations

from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.triangular import solve_lower
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import combine, fill, scale
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import real_part, sqrt
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

BLOCK = 64


def factor_block(n: int, u: Array, ld: int) -> None:
    """A = Uᵀ U of a small block, from its upper half; NaN where it is not positive definite."""
    for i in range(n):
        row = u + (i * ld + i)
        combine(n - i, i, -1.0, u + i, ld, u + i, ld, row)
        root = sqrt(real_part(row[0]))
        scale(n - i, 1.0 / root, row)
        row[0] = root


def cholesky_factor(
    a: Array, out: Array, temporary: Array, scratch: Array, n: int, item: int
) -> None:
    """A whole matrix: the upper factor in memory of its own, which is then turned."""
    u = temporary + item * n * n
    turn(n, n, a + item * n * n, n, u, n)
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
    to = out + item * n * n
    for i in range(n):
        fill(n - i - 1, 0.0, to + (i * n + i + 1))
    for j in range(0, n, BLOCK):
        width = min(BLOCK, n - j)
        triangle(width, u + (j * n + j), n, to + (j * n + j))
        turn(width, n - j - width, u + (j * n + j + width), n, to + ((j + width) * n + j), n)


def triangle(n: int, u: Array, ld: int, to: Array) -> None:
    """The upper half of a block as the lower half of another."""
    for i in range(n):
        for j in range(i + 1):
            to[i * ld + j] = u[j * ld + i]


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
