"""QR by reflections."""

from __future__ import annotations

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.householder import WIDTH, act, form, reflect, triangle
from treadle.backends.cpu.linalg.product import PACK
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import add_outer, copy, dot, fill
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import conjugate
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node


def factor_panel(
    height: int, width: int, p: Array, ld: int, r: Array, r_row: int, tau: Array, weights: Array
) -> None:
    """Columns that lie as rows of p become reflections; what is left of them is a part of R."""
    for c in range(width):
        row = p + c * ld
        for i in range(c):
            r[i * r_row + c] = row[i]
        fill(c, 0.0, row)
        tau[c] = reflect(height - c, row + c, r + (c * r_row + c))
        rest = row + ld
        for q in range(width - c - 1):
            weights[q] = dot(height - c, row + c, rest + (q * ld + c))
        add_outer(width - c - 1, height - c, -conjugate(tau[c]), weights, 1, row + c, rest + c, ld)


def factor(
    m: int, n: int, columns: int, w: Array, v: Array, t: Array, tau: Array, q: Array, room: Array,
    pack: Array,
) -> None:  # fmt: skip
    """R in the upper half of w, m x n, and Q, m x columns."""
    k = min(m, n)
    fill(k * m, 0.0, v)
    for j in range(0, k, WIDTH):
        width = min(WIDTH, k - j)
        corner = w + (j * n + j)
        panel = v + (j * m + j)
        turn(m - j, width, corner, n, panel, m)
        factor_panel(m - j, width, panel, m, corner, n, tau + j, room)
        triangle(m - j, width, panel, m, tau + j, t + j * WIDTH, pack)
        act(m - j, n - j - width, width, panel, m, t + j * WIDTH, 1, corner + width, n, room, pack)
    form(m, columns, k, 0, v, t, q, room, pack)


def qr_pack(
    a: Array, out: Array, temporary: Array, scratch: Array, m: int, n: int, columns: int, each: int,
    item: int,
) -> None:  # fmt: skip
    """A whole matrix: Q, m x columns, and behind it R, columns x n."""
    k = min(m, n)
    w = temporary + item * each
    v = w + m * n
    t = v + k * m
    tau = t + k * WIDTH
    copy(m * n, a + item * m * n, w)
    q = out + item * columns * (m + n)
    factor(m, n, columns, w, v, t, tau, q, scratch + PACK, scratch)
    r = q + m * columns
    for i in range(columns):
        fill(min(i, n), 0.0, r + i * n)
        if i < n:
            copy(n - i, w + (i * n + i), r + (i * n + i))


def plan(node: Node, target: Target) -> Work:
    """One block for each matrix."""
    x = given(node)
    m, n, k, size, items = x.m, x.n, min(x.m, x.n), x.size, x.items
    columns = m if x.options[0] else k
    each = m * n + k * m + k * WIDTH + k
    items = items if columns else 0
    step = step_of(qr_pack, items, m=m, n=n, columns=columns, each=each)
    room = PACK + 2 * WIDTH * max(n, columns, WIDTH)
    parts = x.parts("linalg.qr", node)
    return Work(text, parts, (step,), each * items * size, room * size, 4 * m * n * k * items)
