"""Eigenvalues of symmetric matrices: a tridiagonal one by reflections, then QL with shifts."""

from __future__ import annotations

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.householder import WIDTH, form, reflect, triangle
from treadle.backends.cpu.linalg.jacobi import hermitian_pack
from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.rotations import HEAD, STRIP, begin, end, turn_rows
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import axpy, combine, copy, dot, fill
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import copysign, epsilon, huge, sqrt, tiny
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

MOST = 60  # sweeps for one eigenvalue, before what is there has to do
FEW = 4  # matrices: of more, each has a thread of its own
SINGLE = 64  # rows: of fewer, one thread does all


def symmetric(n: int, a: Array, w: Array) -> None:
    """The lower half of a, and its mirror image."""
    turn(n, n, a, n, w, n)
    for i in range(n):
        copy(i + 1, a + i * n, w + i * n)


def tridiagonal(
    n: int, w: Array, v: Array, y: Array, d: Array, e: Array, tau: Array, room: Array, pack: Array
) -> None:
    """w, which goes, as reflections v on both sides of a tridiagonal matrix d, e.

    Some columns at a time: w itself is changed behind them, until then products with it take along
    what is missing: w - vᵀ y - yᵀ v.
    """
    fill(n * n, 0.0, v)
    for first in range(0, n - 1, WIDTH):
        last = min(n - 1, first + WIDTH)
        for j in range(first, last):
            row = w + (j * n + j)
            size = n - j
            missing = j - first
            combine(size, missing, -1.0, v + (first * n + j), n, y + (first * n + j), n, row)
            combine(size, missing, -1.0, y + (first * n + j), n, v + (first * n + j), n, row)
            d[j] = row[0]
            here = v + (j * n + j + 1)
            copy(size - 1, row + 1, here)
            tau[j] = reflect(size - 1, here, e + j)
            times(n, j, first, w, v, y, tau[j], room)
        behind = n - last
        left = v + (first * n + last)
        right = y + (first * n + last)
        rest = w + (last * n + last)
        product(behind, behind, last - first, -1.0, left, 1, n, right, n, 1, rest, n, pack)
        product(behind, behind, last - first, -1.0, right, 1, n, left, n, 1, rest, n, pack)
    d[n - 1] = w[n * n - 1]


def times(
    n: int, j: int, first: int, w: Array, v: Array, y: Array, tau: float, room: Array
) -> None:
    """y of reflection j: what is taken from both sides of the matrix behind it."""
    size = n - j - 1
    at = j + 1
    here = v + (j * n + at)
    found = y + (j * n + at)
    fill(size, 0.0, found)
    combine(size, size, 1.0, here, 1, w + (at * n + at), n, found)
    for p in range(first, j):
        room[p - first] = dot(size, y + (p * n + at), here)
        room[WIDTH + p - first] = dot(size, v + (p * n + at), here)
    combine(size, j - first, -1.0, room, 1, v + (first * n + at), n, found)
    combine(size, j - first, -1.0, room + WIDTH, 1, y + (first * n + at), n, found)
    half = -0.5 * tau * tau * dot(size, found, here)
    for i in range(size):
        found[i] = tau * found[i]
    axpy(size, half, here, found)


def hypotenuse(a: float, b: float) -> float:
    """The root of a² + b², without overflow."""
    total = a * a + b * b
    if total > tiny() / epsilon() and total < huge():
        return sqrt(total)
    large = max(abs(a), abs(b))
    if large == 0.0:
        return 0.0
    a = a / large
    b = b / large
    return large * sqrt(a * a + b * b)


def shifted_sweep(low: int, high: int, d: Array, e: Array, pairs: Array) -> int:
    """One implicit step of QL on rows low to high, its rotations in pairs; how many they are."""
    g = (d[low + 1] - d[low]) / (2.0 * e[low])
    r = hypotenuse(g, 1.0)
    g = d[high] - d[low] + e[low] / (g + copysign(r, g))
    s = 1.0
    c = 1.0
    p = 0.0
    count = 0
    for i in range(high - 1, low - 1, -1):
        f = s * e[i]
        b = c * e[i]
        r = hypotenuse(f, g)
        e[i + 1] = r
        if r == 0.0:
            d[i + 1] = d[i + 1] - p
            e[high] = 0.0
            return count
        inverse = 1.0 / r
        s = f * inverse
        c = g * inverse
        g = d[i + 1] - p
        r = (d[i] - g) * s + 2.0 * c * b
        p = s * r
        d[i + 1] = g + p
        g = c * r - b
        pairs[2 * count] = c
        pairs[2 * count + 1] = s
        count = count + 1
    d[low] = d[low] - p
    e[low] = g
    e[high] = 0.0
    return count


def iterate(
    n: int, d: Array, e: Array, sweeps: Array, capacity: int, z: Array, vectors: int
) -> None:
    """Sweeps until e is nothing; what they do to rows is kept, or done where it is too much."""
    sweeps[0] = 0.0
    e[n - 1] = 0.0
    for low in range(n):
        for _ in range(MOST):
            high = low
            while high < n - 1:
                near = sqrt(abs(d[high])) * sqrt(abs(d[high + 1]))
                if abs(e[high]) <= epsilon() * near + tiny():
                    break
                high = high + 1
            if high == low:
                break
            if int(sweeps[0]) + HEAD + 2 * n > capacity:
                if vectors == 1:
                    turn_rows(sweeps, z, n, 0, n)
                sweeps[0] = 0.0
            count = shifted_sweep(low, high, d, e, begin(sweeps, high, -1))
            end(sweeps, count)


def sort(n: int, d: Array, order: Array) -> None:
    """The values in d ascending, and where each was; NaN last."""
    for i in range(n):
        order[i] = float(i)
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if d[j] < d[best]:
                best = j
        if best != i:
            value = d[best]
            place = order[best]
            d[best] = d[i]
            order[best] = order[i]
            d[i] = value
            order[i] = place


def reduce(
    a: Array, out: Array, temporary: Array, scratch: Array, n: int, vectors: int, each: int,
    capacity: int, item: int,
) -> None:  # fmt: skip
    """Up to where only rotations are left to do: eigenvalues in out, in order."""
    w = temporary + item * each
    v = w + n * n
    y = v + n * n
    e = y + n * n
    tau = e + n
    order = tau + n
    t = order + n
    sweeps = t + (n + WIDTH) * WIDTH
    room = scratch + PACK
    d = out + item * (n + n * n * vectors)
    symmetric(n, a + item * n * n, w)
    tridiagonal(n, w, v, y, d, e, tau, room, scratch)
    if vectors == 1:
        for first in range(0, n - 1, WIDTH):
            width = min(WIDTH, n - 1 - first)
            at = first + 1
            triangle(n - at, width, v + (first * n + at), n, tau + first, t + first * WIDTH,
                     scratch)  # fmt: skip
        form(n, n, n - 1, 1, v, t, w, room, scratch)
        turn(n, n, w, n, y, n)
    iterate(n, d, e, sweeps, capacity, y, vectors)
    sort(n, d, order)


def rotate(out: Array, temporary: Array, n: int, each: int, strips: int, item: int) -> None:
    """Some columns through all rotations, and to where they belong."""
    y = temporary + ((item // strips) * each + 2 * n * n)
    order = y + (n * n + 2 * n)
    sweeps = order + (n + (n + WIDTH) * WIDTH)
    first = (item % strips) * STRIP
    last = min(n, first + STRIP)
    turn_rows(sweeps, y, n, first, last)
    to = out + ((item // strips) * (n + n * n) + n)
    for j in range(n):
        row = y + int(order[j]) * n
        place = to + (first * n + j)
        for i in range(first, last):
            place[0] = row[i]
            place = place + n


def eigh_pack(
    a: Array, out: Array, temporary: Array, scratch: Array, n: int, vectors: int, each: int,
    capacity: int, strips: int, item: int,
) -> None:  # fmt: skip
    """A whole matrix."""
    reduce(a, out, temporary, scratch, n, vectors, each, capacity, item)
    if vectors == 1:
        for strip in range(strips):
            rotate(out, temporary, n, each, strips, item * strips + strip)


def plan(node: Node, target: Target) -> Work:
    """A block for each matrix; of few large ones the rotations are shared out."""
    x = given(node)
    n, size, items, vectors = x.n, x.size, x.items if x.n else 0, x.options[0]
    if x.is_complex:
        each = 2 * n * n
        step = step_of(hermitian_pack, items, n=n, vectors=vectors, each=each)
        parts = x.parts("linalg.jacobi", node)
        return Work(text, parts, (step,), each * items * size, 0, 9 * n * n * n * items)
    capacity = (2 * n * n + 8 * n) * vectors + 8 * n + 16
    each = 3 * n * n + 4 * n + (n + WIDTH) * WIDTH + 1 + capacity
    strips = -(-n // STRIP)
    parts = x.parts("linalg.eigh", node)
    room = (PACK + 2 * WIDTH * max(n, WIDTH)) * size
    numbers = {"n": n, "vectors": vectors, "each": each, "capacity": capacity}
    if not vectors or items >= FEW or n < SINGLE:
        steps = [step_of(eigh_pack, items, **numbers, strips=strips)]
    else:
        shared = step_of(rotate, items * strips, n=n, each=each, strips=strips)
        steps = [step_of(reduce, items, **numbers), shared]
    return Work(text, parts, tuple(steps), each * items * size, room, 9 * n * n * n * items)
