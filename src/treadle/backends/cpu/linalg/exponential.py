"""The exponential of a matrix: a series of a matrix that was halved until it is small, squared."""

from __future__ import annotations

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.vectors import axpy, copy, fill, scale
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import huge
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

TERMS = 16  # of the series; a matrix of norm 1/2 has no more than rounding left behind them
MOST = 1100  # halvings: no number has more


def times(n: int, a: Array, b: Array, c: Array, pack: Array) -> None:
    """c = a b."""
    fill(n * n, 0.0, c)
    product(n, n, n, 1.0, a, n, 1, b, n, 1, c, n, pack)


def series(n: int, x: Array, powers: Array, total: Array, other: Array, pack: Array) -> None:
    """The sum of xᵏ / k! up to 16, in total: four terms at a time, by the fourth power."""
    size = n * n
    times(n, x, x, powers, pack)
    times(n, powers, x, powers + size, pack)
    times(n, powers, powers, powers + 2 * size, pack)
    fourth = powers + 2 * size
    factor = 1.0
    for k in range(1, TERMS + 1):
        factor = factor / float(k)
    copy(size, fourth, total)
    scale(size, factor, total)
    k = TERMS
    while k > 0:
        factor = factor * float(k)
        axpy(size, factor, powers + size, total)
        factor = factor * float(k - 1)
        axpy(size, factor, powers, total)
        factor = factor * float(k - 2)
        axpy(size, factor, x, total)
        factor = factor * float(k - 3)
        for i in range(n):
            total[i * n + i] = total[i * n + i] + factor
        k = k - 4
        if k > 0:
            times(n, total, fourth, other, pack)
            copy(size, other, total)


def exponential(a: Array, out: Array, temporary: Array, scratch: Array, n: int, item: int) -> None:
    """A whole matrix."""
    size = n * n
    x = temporary + item * 5 * size
    powers = x + size
    total = out + item * size
    other = powers + 3 * size
    copy(size, a + item * size, x)
    most = 0.0
    for i in range(n):
        row = 0.0
        for j in range(n):
            row = row + abs(x[i * n + j])
        if not (row <= most):
            most = row
    if not (most < huge()):
        fill(size, most - most, total)  # nothing is known of it
        return
    squarings = 0
    factor = 1.0
    while most * factor > 0.5 and squarings < MOST:
        squarings = squarings + 1
        factor = 0.5 * factor
    scale(size, factor, x)
    series(n, x, powers, total, other, scratch)
    for _ in range(squarings):
        times(n, total, total, other, scratch)
        copy(size, other, total)


def plan(node: Node, target: Target) -> Work:
    """One block for each matrix."""
    x = given(node)
    n, size, items = x.n, x.size, x.items if x.n else 0
    step = step_of(exponential, items, n=n)
    parts = x.parts("linalg.exponential", node)
    return Work(text, parts, (step,), 5 * n * n * items * size, PACK * size, 30 * n * n * n * items)
