"""The Cholesky factor of a positive definite matrix."""

from __future__ import annotations

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.triangular import solve_lower
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import combine, dot, fill, scale
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


def hermitian_factor(a: Array, out: Array, n: int, item: int) -> None:
    """A whole matrix of complex numbers, row by row."""
    source = a + item * n * n
    factor = out + item * n * n
    for i in range(n):
        row = factor + i * n
        for j in range(i):
            other = factor + j * n
            row[j] = (source[i * n + j] - dot(j, other, row)) / other[j]
        row[i] = sqrt(real_part(source[i * n + i] - dot(i, row, row)))
        fill(n - i - 1, 0.0, row + (i + 1))


def plan(node: Node, target: Target) -> Work:
    """One block for each matrix."""
    x = given(node)
    n, items = x.n, x.items if x.n else 0
    parts = x.parts("linalg.cholesky", node)
    if x.is_complex:
        return Work(text, parts, (step_of(hermitian_factor, items, n=n),), size=n * n * n * items)
    step = step_of(cholesky_factor, items, n=n)
    return Work(text, parts, (step,), n * n * items * x.size, PACK * x.size, n * n * n * items)
