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
SINGLE = 256  # rows: of fewer, one thread factors the whole matrix
FEW = 4  # matrices: of more, each has a thread of its own


def factor_block(n: int, u: Array, ld: int) -> None:
    """A = Uᵀ U of a small block, from its upper half; NaN where it is not positive definite."""
    for i in range(n):
        row = u + (i * ld + i)
        combine(n - i, i, -1.0, u + i, ld, u + i, ld, row)
        root = sqrt(real_part(row[0]))
        scale(n - i, 1.0 / root, row)
        row[0] = root


def take(a: Array, temporary: Array, n: int, chunks: int, item: int) -> None:
    """Some rows of a matrix as columns of another, in memory of its own."""
    first = (item % chunks) * BLOCK
    at = (item // chunks) * n * n
    turn(min(BLOCK, n - first), n, a + (at + first * n), n, temporary + (at + first), n)


def corner(temporary: Array, n: int, j: int, item: int) -> None:
    """The block on the diagonal that begins in row j."""
    factor_block(min(BLOCK, n - j), temporary + (item * n * n + j * n + j), n)


def beside(temporary: Array, scratch: Array, n: int, j: int, chunks: int, item: int) -> None:
    """Some columns of the rows of that block."""
    block = temporary + ((item // chunks) * n * n + j * n + j)
    width = min(BLOCK, n - j)
    first = width + (item % chunks) * BLOCK
    count = min(BLOCK, n - j - first)
    solve_lower(width, count, block, 1, n, 0, block + first, n, scratch)


def behind(temporary: Array, scratch: Array, n: int, j: int, chunks: int, item: int) -> None:
    """Some rows below that block, from their diagonals on."""
    block = temporary + ((item // chunks) * n * n + j * n + j)
    width = min(BLOCK, n - j)
    first = width + (item % chunks) * BLOCK
    rest = n - j - first
    product(min(BLOCK, rest), rest, width, -1.0, block + first, 1, n, block + first, n, 1,
            block + (first * n + first), n, scratch)  # fmt: skip


def give(temporary: Array, out: Array, n: int, chunks: int, item: int) -> None:
    """Some rows of the upper factor as columns of the lower one, with the zeros beside them."""
    j = (item % chunks) * BLOCK
    at = (item // chunks) * n * n + j * n + j
    width = min(BLOCK, n - j)
    to = out + at
    for i in range(width):
        fill(n - j - i - 1, 0.0, to + (i * n + i + 1))
    triangle(width, temporary + at, n, to)
    turn(width, n - j - width, temporary + (at + width), n, to + width * n, n)


def triangle(n: int, u: Array, ld: int, to: Array) -> None:
    """The upper half of a block as the lower half of another."""
    for i in range(n):
        for j in range(i + 1):
            to[i * ld + j] = u[j * ld + i]


def cholesky_factor(
    a: Array, out: Array, temporary: Array, scratch: Array, n: int, item: int
) -> None:
    """A whole matrix: the upper factor in memory of its own, which is then turned."""
    chunks = (n + BLOCK - 1) // BLOCK
    for chunk in range(chunks):
        take(a, temporary, n, chunks, item * chunks + chunk)
    for k in range(chunks):
        corner(temporary, n, k * BLOCK, item)
        rest = chunks - k - 1
        for chunk in range(rest):
            beside(temporary, scratch, n, k * BLOCK, rest, item * rest + chunk)
        for chunk in range(rest):
            behind(temporary, scratch, n, k * BLOCK, rest, item * rest + chunk)
    for chunk in range(chunks):
        give(temporary, out, n, chunks, item * chunks + chunk)


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
    """A block for each matrix; of few large ones, steps for each block on the diagonal."""
    x = given(node)
    n, items = x.n, x.items if x.n else 0
    parts = x.parts("linalg.cholesky", node)
    if x.is_complex:
        return Work(text, parts, (step_of(hermitian_factor, items, n=n),), size=n * n * n * items)
    steps = [step_of(cholesky_factor, items, n=n)]
    if items < FEW and n >= SINGLE:
        chunks = -(-n // BLOCK)
        steps = [step_of(take, items * chunks, n=n, chunks=chunks)]
        for k in range(chunks):
            numbers = {"n": n, "j": k * BLOCK, "chunks": chunks - k - 1}
            rest = items * numbers["chunks"]
            steps.append(step_of(corner, items, n=n, j=k * BLOCK))
            steps += [step_of(beside, rest, **numbers), step_of(behind, rest, **numbers)]
        steps.append(step_of(give, items * chunks, n=n, chunks=chunks))
    size = n * n * BLOCK * items if len(steps) > 1 else n * n * n * items
    return Work(text, parts, tuple(steps), n * n * items * x.size, PACK * x.size, size)
