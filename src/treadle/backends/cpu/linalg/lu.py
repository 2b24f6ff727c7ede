"""LU with partial pivoting: L and U in one matrix, the order of rows, and what was exchanged."""

from __future__ import annotations

from math import prod

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.triangular import solve_lower
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import add_outer, copy, fill, largest, scale, swap
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import imaginary_part, real_part, tiny
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

PANEL = 32  # columns factored one by one, transposed so that a column is a row of memory
CHUNK = 64  # columns that one block updates
SMALL = 64  # columns: of fewer, a matrix is no larger than a panel
LINE = 16  # elements that rows are filled up to: no vector has more
SINGLE = 128  # rows: of fewer, one thread factors the whole matrix
FEW = 4  # matrices: of more, each has a thread of its own


def factor_panel(
    height: int, width: int, first: int, t: Array, order: Array, exchanged: Array
) -> None:
    """Columns that lie as rows of t; first: the row of the whole matrix they begin in."""
    for c in range(min(width, height)):
        column = t + c * height
        p = c + largest(height - c, column + c)
        exchanged[first + c] = float(first + p)
        if p != c:
            kept = order[first + c]
            order[first + c] = order[first + p]
            order[first + p] = kept
            for q in range(width):
                other = t[q * height + c]
                t[q * height + c] = t[q * height + p]
                t[q * height + p] = other
        pivot = column[c]
        below = height - c - 1
        if abs(pivot) >= tiny():
            scale(below, 1.0 / pivot, column + (c + 1))
        elif abs(pivot) > 0.0:
            for i in range(c + 1, height):
                column[i] = column[i] / pivot
        row = column + height
        add_outer(width - c - 1, below, -1.0, row + c, height, column + (c + 1), row + (c + 1),
                  height)  # fmt: skip


def panel(a: Array, out: Array, scratch: Array, m: int, n: int, j: int, item: int) -> None:
    """The panel that begins in column j; the first takes the matrix along, and counts its rows."""
    k = min(m, n)
    lu = out + item * (m * n + m + k)
    order = lu + m * n
    if j == 0:
        copy(m * n, a + item * m * n, lu)
        for i in range(m):
            order[i] = float(i)
    width = min(PANEL, k - j)
    t = scratch + PACK
    corner = lu + (j * n + j)
    turn(m - j, width, corner, n, t, m - j)
    factor_panel(m - j, width, j, t, order, order + m)
    turn(width, m - j, t, m - j, corner, n)


def update(out: Array, scratch: Array, m: int, n: int, j: int, chunks: int, item: int) -> None:
    """Some columns beside the panel that begins in column j: rows exchanged, then eliminated."""
    k = min(m, n)
    lu = out + (item // chunks) * (m * n + m + k)
    exchanged = lu + (m * n + m)
    width = min(PANEL, k - j)
    first = (item % chunks) * CHUNK
    last = min(n, first + CHUNK)
    if first < j + width:
        exchange(j, width, lu, n, first, min(j, last), exchanged)
    if last > j + width:
        first = max(first, j + width)
        exchange(j, width, lu, n, first, last, exchanged)
        right = lu + (j * n + first)
        solve_lower(width, last - first, lu + (j * n + j), n, 1, 1, right, n, scratch)
        below = lu + ((j + width) * n)
        product(m - j - width, last - first, width, -1.0, below + j, n, 1, right, n, 1,
                below + first, n, scratch)  # fmt: skip


def exchange(
    j: int, width: int, lu: Array, n: int, first: int, last: int, exchanged: Array
) -> None:
    """What the panel did to the order of rows, for columns first to last."""
    if first >= last:
        return
    for c in range(j, j + width):
        p = int(exchanged[c])
        if p != c:
            swap(last - first, lu + (c * n + first), lu + (p * n + first))


def factor_small(
    m: int, n: int, x: Array, ld: int, y: Array, order: Array, exchanged: Array
) -> None:
    """A matrix of few columns as it lies, its rows filled up to whole vectors; y: a row besides."""
    for c in range(min(m, n)):
        row = x + c * ld
        p = c
        best = abs(real_part(row[c])) + abs(imaginary_part(row[c]))
        place = row + c
        for i in range(c + 1, m):
            place = place + ld
            size = abs(real_part(place[0])) + abs(imaginary_part(place[0]))
            if size > best:
                best = size
                p = i
        exchanged[c] = float(p)
        if p != c:
            kept = order[c]
            order[c] = order[p]
            order[p] = kept
            swap(ld, row, x + p * ld)
        place = row + c
        pivot = place[0]
        if best >= tiny():
            inverse = 1.0 / pivot
            for _ in range(c + 1, m):
                place = place + ld
                place[0] = place[0] * inverse
        elif best > 0.0:
            for _ in range(c + 1, m):
                place = place + ld
                place[0] = place[0] / pivot
        copy(ld, row, y)
        fill(c + 1, 0.0, y)
        add_outer(m - c - 1, ld, -1.0, row + (ld + c), ld, y, row + ld, ld)


def lu_small(a: Array, out: Array, scratch: Array, m: int, n: int, item: int) -> None:
    """A whole matrix of few columns."""
    lu = out + item * (m * n + m + min(m, n))
    order = lu + m * n
    ld = (n + LINE - 1) // LINE * LINE
    x = scratch + LINE * LINE
    fill(m * ld, 0.0, x)
    for i in range(m):
        copy(n, a + (item * m + i) * n, x + i * ld)
        order[i] = float(i)
    factor_small(m, n, x, ld, scratch, order, order + m)
    for i in range(m):
        copy(n, x + i * ld, lu + i * n)


def lu_pack(a: Array, out: Array, scratch: Array, m: int, n: int, item: int) -> None:
    """A whole matrix."""
    chunks = (n + CHUNK - 1) // CHUNK
    for j in range(0, min(m, n), PANEL):
        panel(a, out, scratch, m, n, j, item)
        for chunk in range(chunks):
            update(out, scratch, m, n, j, chunks, item * chunks + chunk)


def row_order(a: Array, out: Array, n: int, item: int) -> None:
    """The order after exchanges, one after the other; one with a row that is not there is none."""
    exchanged = a + item * n
    order = out + item * n
    for i in range(n):
        order[i] = float(i)
    for i in range(n):
        other = exchanged[i]
        if other >= 0.0 and other < float(n):
            p = int(other)
            kept = order[i]
            order[i] = order[p]
            order[p] = kept


def plan(node: Node, target: Target) -> Work:
    """A block for each matrix; of few large ones, steps for each panel and what lies beside it."""
    if node.op.name == "row_order":
        *batch, n = node.shape
        step = step_of(row_order, prod(batch), n=n)
        return Work(text, ("linalg.lu", ("a",), node.dtype, False), (step,))
    x = given(node)
    items, m, n, size = x.items, x.m, x.n, x.size
    parts = x.parts("linalg.lu", node)
    scratch = (PACK + PANEL * m) * size
    if not m:
        items = 0
    if n <= SMALL and m <= 4 * SMALL:
        step = step_of(lu_small, items, m=m, n=n)
        room = (LINE * LINE + m * (n + LINE)) * size
        return Work(text, parts, (step,), 0, room, m * n * min(m, n) * items)
    if items >= FEW or min(m, n) < SINGLE:
        steps = [step_of(lu_pack, items, m=m, n=n)]
        return Work(text, parts, tuple(steps), 0, scratch, m * n * min(m, n) * items)
    steps = []
    chunks = -(-n // CHUNK)
    for j in range(0, min(m, n), PANEL):
        steps.append(step_of(panel, items, m=m, n=n, j=j))
        steps.append(step_of(update, items * chunks, m=m, n=n, j=j, chunks=chunks))
    return Work(text, parts, tuple(steps), 0, scratch, m * n * PANEL * items)
