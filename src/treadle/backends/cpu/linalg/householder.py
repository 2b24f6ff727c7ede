"""Reflections that make zeros, and how many of them at once act on a matrix.

A reflection is I - tau v vᵀ with v[0] = 1. Vectors lie as rows, each with zeros before it begins.
Some of them, one after the other, are I - Vᵀ T V with a small upper triangle T. Where numbers are
complex, what is transposed on the right side is conjugated.
"""

from __future__ import annotations

from treadle.backends.cpu.linalg.product import product, turned_product
from treadle.backends.cpu.linalg.vectors import combine, dot, fill, largest, scale, turned_combine
from treadle.backends.cpu.written import Array, Scalar
from treadle.backends.cpu.written_builtins import (
    conjugate,
    copysign,
    epsilon,
    huge,
    imaginary_part,
    real_part,
    sqrt,
    tiny,
    zero_of,
)

WIDTH = 32  # reflections that act at once


def norm(n: int, x: Array) -> float:
    """The length of a vector, without overflow."""
    if n <= 0:
        return 0.0
    total = real_part(dot(n, x, x))
    if total > tiny() / epsilon() and total < huge():
        return sqrt(total)
    most = abs(x[largest(n, x)])
    if not (most > 0.0) or most > huge():
        return sqrt(total)
    total = 0.0
    for i in range(n):
        part = abs(x[i]) / most
        total = total + part * part
    return most * sqrt(total)


def reflect(n: int, x: Array, found: Array) -> Scalar:
    """x as a reflection that takes it to a multiple of its first axis, which found[0] becomes.

    Gives tau; x becomes v.
    """
    first = x[0]
    length = norm(n - 1, x + 1)
    x[0] = 1.0
    if length == 0.0 and imaginary_part(first) == 0.0:
        found[0] = first
        fill(n - 1, 0.0, x + 1)
        return 0.0
    size = max(abs(first), length)
    low = abs(first) / size
    high = length / size
    beta = -copysign(size * sqrt(low * low + high * high), real_part(first))
    found[0] = beta
    below = first - beta
    if abs(below) > tiny() / epsilon():
        scale(n - 1, 1.0 / below, x + 1)
    else:
        for i in range(1, n):
            x[i] = x[i] / below
    return (beta - first) / beta


def triangle(m: int, width: int, v: Array, ld: int, tau: Array, t: Array, pack: Array) -> None:
    """The T of some reflections, WIDTH apart, from their vectors of m and their taus."""
    for i in range(width):
        fill(WIDTH, 0.0, t + i * WIDTH)
    turned_product(width, width, m, 1.0, v, ld, 1, v, 1, ld, t, WIDTH, pack)
    for i in range(width):
        for p in range(i):  # T[p, i] = -tau sum of T[p, q] (V v)[q], from the top down
            total = zero_of(tau[i])
            for q in range(p, i):
                total = total + t[p * WIDTH + q] * conjugate(t[i * WIDTH + q])
            t[p * WIDTH + i] = -tau[i] * total
        t[i * WIDTH + i] = tau[i]
    for i in range(width):
        fill(i, 0.0, t + i * WIDTH)


def act(
    m: int, n: int, width: int, v: Array, ld: int, t: Array, turned: int, c: Array, c_row: int,
    room: Array, pack: Array,
) -> None:  # fmt: skip
    """(I - Vᵀ T V) c, or with T transposed, in c: m x n; room for 2 width x n elements."""
    if n <= 0:
        return
    fill(2 * width * n, 0.0, room)
    turned_product(width, n, m, 1.0, v, ld, 1, c, c_row, 1, room, n, pack)
    inner = room + width * n
    for i in range(width):
        if turned == 1:
            turned_combine(n, i + 1, 1.0, t + i, WIDTH, room, n, inner + i * n)
        else:
            combine(n, width - i, 1.0, t + (i * WIDTH + i), 1, room + i * n, n, inner + i * n)
    product(m, n, width, -1.0, v, 1, ld, inner, n, 1, c, c_row, pack)


def form(
    m: int, columns: int, count: int, shift: int, v: Array, t: Array, q: Array, room: Array,
    pack: Array,
) -> None:  # fmt: skip
    """The first columns of the product of count reflections: m x columns in q.

    Vector i begins shift after i, so those of one block all begin after the block's first.
    """
    fill(m * columns, 0.0, q)
    for i in range(min(m, columns)):
        q[i * columns + i] = 1.0
    first = (count + WIDTH - 1) // WIDTH * WIDTH - WIDTH
    while first >= 0:
        width = min(WIDTH, count - first)
        at = first + shift
        if at < m and at < columns:
            act(m - at, columns - at, width, v + (first * m + at), m, t + first * WIDTH, 0,
                q + (at * columns + at), columns, room, pack)  # fmt: skip
        first = first - WIDTH
