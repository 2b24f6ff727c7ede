"""Systems with triangular matrices."""

from __future__ import annotations

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.vectors import combine, copy, scale
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

BLOCK = 48  # rows solved one by one, between products
CHUNK = 128  # columns of a block


def solve_lower(
    n: int, k: int, a: Array, a_row: int, a_step: int, unit: int, x: Array, ld: int, pack: Array
) -> None:
    """x = a⁻¹ x for a lower triangular a, n x n with any strides; x has n rows of k."""
    for first in range(0, n, BLOCK):
        last = min(n, first + BLOCK)
        if first > 0:
            product(last - first, k, first, -1.0, a + first * a_row, a_row, a_step, x, ld, 1,
                    x + first * ld, ld, pack)  # fmt: skip
        for i in range(first, last):
            row = a + (i * a_row + first * a_step)
            combine(k, i - first, -1.0, row, a_step, x + first * ld, ld, x + i * ld)
            if unit == 0:
                scale(k, 1.0 / a[i * a_row + i * a_step], x + i * ld)


def solve_upper(
    n: int, k: int, a: Array, a_row: int, a_step: int, unit: int, x: Array, ld: int, pack: Array
) -> None:
    """x = a⁻¹ x for an upper triangular a."""
    last = n
    while last > 0:
        first = max(0, last - BLOCK)
        if last < n:
            product(last - first, k, n - last, -1.0, a + (first * a_row + last * a_step), a_row,
                    a_step, x + last * ld, ld, 1, x + first * ld, ld, pack)  # fmt: skip
        for i in range(last - 1, first - 1, -1):
            row = a + (i * a_row + (i + 1) * a_step)
            combine(k, last - 1 - i, -1.0, row, a_step, x + (i + 1) * ld, ld, x + i * ld)
            if unit == 0:
                scale(k, 1.0 / a[i * a_row + i * a_step], x + i * ld)
        last = first


def triangular_solve(
    a: Array, b: Array, out: Array, scratch: Array, n: int, k: int, upper: int, turned: int,
    unit: int, chunks: int, item: int,
) -> None:  # fmt: skip
    """Some columns of one system; turned: with the transposed matrix."""
    first = (item % chunks) * CHUNK
    width = min(CHUNK, k - first)
    number = item // chunks
    matrix = a + number * n * n
    source = b + (number * n * k + first)
    x = out + (number * n * k + first)
    for i in range(n):
        copy(width, source + i * k, x + i * k)
    row = n if turned == 0 else 1
    step = 1 if turned == 0 else n
    if upper == turned:
        solve_lower(n, width, matrix, row, step, unit, x, k, scratch)
    else:
        solve_upper(n, width, matrix, row, step, unit, x, k, scratch)


def plan(node: Node, target: Target) -> Work:
    """A block for some columns of each system."""
    x = given(node)
    k = node.shape[-2 if x.is_complex else -1]
    upper, turned, unit = x.options
    chunks = -(-k // CHUNK)
    numbers = {"n": x.n, "k": k, "upper": upper, "turned": turned, "unit": unit, "chunks": chunks}
    step = step_of(triangular_solve, x.items * chunks if x.n else 0, **numbers)
    parts = x.parts("linalg.triangular", node, ("a", "b"))
    return Work(text, parts, (step,), 0, PACK * x.size, x.n * x.n * k * x.items)
