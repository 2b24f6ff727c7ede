"""Singular values: a bidiagonal matrix by reflections, then implicit QR steps with shifts.

Works on matrices with at least as many rows as columns; others are transposed first.
"""

from __future__ import annotations

from treadle.backends.cpu.linalg.eigh import hypotenuse
from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.householder import WIDTH, form, reflect, triangle
from treadle.backends.cpu.linalg.jacobi import complex_svd
from treadle.backends.cpu.linalg.product import PACK
from treadle.backends.cpu.linalg.rotations import HEAD, STRIP, begin, end, turn_rows
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import add_outer, combine, copy, dot, fill
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import copysign, epsilon, sqrt, tiny
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node

MOST = 60  # steps for one singular value, before what is there has to do
FEW = 4  # matrices: of more, each has a thread of its own
SINGLE = 64  # columns: of fewer, one thread does all


def bidiagonal(
    m: int, n: int, w: Array, left: Array, right: Array, d: Array, e: Array, tau: Array,
    weights: Array,
) -> None:  # fmt: skip
    """w, which goes, as reflections from the left and from the right of d, and e beside it."""
    fill(n * m, 0.0, left)
    fill(n * n, 0.0, right)
    for j in range(n):
        here = left + (j * m + j)
        for i in range(m - j):
            here[i] = w[(j + i) * n + j]
        tau[j] = reflect(m - j, here, d + j)
        size = n - j - 1
        if size > 0:
            rest = w + (j * n + j + 1)
            fill(size, 0.0, weights)
            combine(size, m - j, 1.0, here, 1, rest, n, weights)
            add_outer(m - j, size, -tau[j], here, 1, weights, rest, n)
            other = right + (j * n + j + 1)
            copy(size, rest, other)
            tau[n + j] = reflect(size, other, e + j)
            rest = rest + n
            for i in range(m - j - 1):
                weights[i] = dot(size, rest + i * n, other)
            add_outer(m - j - 1, size, -tau[n + j], weights, 1, other, rest, n)


def plain_step(low: int, high: int, d: Array, e: Array, left: Array, right: Array) -> None:
    """A step of QR without a shift, which is exact where a value is 0."""
    c = 1.0
    s = 0.0
    old_c = 1.0
    old_s = 0.0
    for i in range(low, high):
        f = d[i] * c
        r = hypotenuse(f, e[i])
        c = f / r if r > 0.0 else 1.0
        s = e[i] / r if r > 0.0 else 0.0
        if i > low:
            e[i - 1] = old_s * r
        f = old_c * r
        g = d[i + 1] * s
        r = hypotenuse(f, g)
        old_c = f / r if r > 0.0 else 1.0
        old_s = g / r if r > 0.0 else 0.0
        d[i] = r
        at = 2 * (i - low)
        right[at] = c
        right[at + 1] = s
        left[at] = old_c
        left[at + 1] = old_s
    h = d[high] * c
    e[high - 1] = h * old_s
    d[high] = h * old_c


def shifted_step(
    low: int, high: int, shift: float, d: Array, e: Array, left: Array, right: Array
) -> None:
    """A step of QR with a shift: a bulge is chased from the top to the bottom."""
    f = (abs(d[low]) - shift) * (copysign(1.0, d[low]) + shift / d[low])
    g = e[low]
    for i in range(low, high):
        r = hypotenuse(f, g)
        c = f / r if r > 0.0 else 1.0
        s = g / r if r > 0.0 else 0.0
        if i > low:
            e[i - 1] = r
        at = 2 * (i - low)
        right[at] = c
        right[at + 1] = s
        f = c * d[i] + s * e[i]
        e[i] = c * e[i] - s * d[i]
        g = s * d[i + 1]
        d[i + 1] = c * d[i + 1]
        r = hypotenuse(f, g)
        c = f / r if r > 0.0 else 1.0
        s = g / r if r > 0.0 else 0.0
        d[i] = r
        left[at] = c
        left[at + 1] = s
        f = c * e[i] + s * d[i + 1]
        d[i + 1] = c * d[i + 1] - s * e[i]
        if i < high - 1:
            g = s * e[i + 1]
            e[i + 1] = c * e[i + 1]
    e[high - 1] = f


def smaller_value(f: float, g: float, h: float) -> float:
    """The smaller singular value of the triangle f g over 0 h."""
    f = abs(f)
    g = abs(g)
    h = abs(h)
    small = min(f, h)
    large = max(f, h)
    if small == 0.0:
        return 0.0
    if g < large:
        one = 1.0 + small / large
        two = (large - small) / large
        three = (g / large) * (g / large)
        return small * (2.0 / (sqrt(one * one + three) + sqrt(two * two + three)))
    ratio = large / g
    if ratio == 0.0:
        return small * large / g
    one = (1.0 + small / large) * ratio
    two = ((large - small) / large) * ratio
    return 2.0 * (small * (1.0 / (sqrt(1.0 + one * one) + sqrt(1.0 + two * two)))) * ratio


def iterate(
    n: int, d: Array, e: Array, lefts: Array, rights: Array, capacity: int,
    u: Array, m: int, v: Array, vectors: int,
) -> None:  # fmt: skip
    """Steps until e is nothing; what they do to rows is kept, or done where it is too much."""
    lefts[0] = 0.0
    rights[0] = 0.0
    most = 0.0
    for i in range(n):
        most = max(most, abs(d[i]))
    for i in range(n - 1):
        most = max(most, abs(e[i]))
    high = n - 1
    left = MOST * n
    while high > 0 and left > 0:
        left = left - 1
        low = high
        zero = 0
        while low > 0:
            if not (abs(e[low - 1]) > epsilon() * (abs(d[low - 1]) + abs(d[low])) + tiny()):
                e[low - 1] = 0.0
                break
            low = low - 1
            if abs(d[low]) <= 0.25 * epsilon() * most:
                d[low] = 0.0
                zero = 1
        if low == high:
            high = high - 1
            continue
        if int(lefts[0]) + HEAD + 2 * n > capacity:
            if vectors == 1:
                turn_rows(lefts, u, m, 0, m)
                turn_rows(rights, v, n, 0, n)
            lefts[0] = 0.0
            rights[0] = 0.0
        step(low, high, zero, d, e, begin(lefts, low, 1), begin(rights, low, 1))
        end(lefts, high - low)
        end(rights, high - low)


def step(low: int, high: int, zero: int, d: Array, e: Array, left: Array, right: Array) -> None:
    """With the smaller value at the end as shift, unless one is 0 or it would change nothing."""
    shift = 0.0
    if zero == 0:
        shift = smaller_value(d[high - 1], e[high - 1], d[high])
        ratio = shift / abs(d[low])
        if ratio * ratio < epsilon():
            shift = 0.0
    if shift == 0.0:
        plain_step(low, high, d, e, left, right)
    else:
        shifted_step(low, high, shift, d, e, left, right)


def sort(n: int, d: Array, signs: Array, order: Array) -> None:
    """The values in d positive and descending, where each was, and its sign; NaN last."""
    for i in range(n):
        order[i] = float(i)
        signs[i] = 1.0
        if d[i] < 0.0:
            d[i] = -d[i]
            signs[i] = -1.0
        elif d[i] == 0.0:
            d[i] = 0.0
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if d[j] > d[best]:
                best = j
        if best != i:
            value = d[best]
            place = order[best]
            d[best] = d[i]
            order[best] = order[i]
            d[i] = value
            order[i] = place


def reduce(
    a: Array, out: Array, temporary: Array, scratch: Array, m: int, n: int, columns: int,
    vectors: int, each: int, capacity: int, result: int, turned: int, item: int,
) -> None:  # fmt: skip
    """Up to where only rotations are left to do: singular values in out, in order.

    m and n are those of the matrix that is worked on, which is turned if the given one is wide.
    """
    u = temporary + item * each
    v = u + columns * m
    e = v + n * n
    order = e + n
    signs = order + n
    lefts = signs + n
    rights = lefts + (1 + capacity)
    tau = rights + (1 + capacity)
    t = tau + 2 * n
    w = t + (n + WIDTH) * WIDTH
    left = w + m * n
    right = left + n * m
    q = right + n * n
    room = scratch + PACK
    d = out + item * result
    if turned == 1:
        turn(n, m, a + item * m * n, m, w, n)
    else:
        copy(m * n, a + item * m * n, w)
    bidiagonal(m, n, w, left, right, d, e, tau, room)
    if vectors == 1:
        triangles(m, n, 0, n, left, tau, t, scratch)
        form(m, columns, n, 0, left, t, q, room, scratch)
        turn(m, columns, q, columns, u, m)
        triangles(n, n, 1, n - 1, right, tau + n, t, scratch)
        form(n, n, n - 1, 1, right, t, q, room, scratch)
        turn(n, n, q, n, v, n)
    iterate(n, d, e, lefts, rights, capacity, u, m, v, vectors)
    sort(n, d, signs, order)


def triangles(
    m: int, n: int, shift: int, count: int, v: Array, tau: Array, t: Array, pack: Array
) -> None:
    """The T of every block of reflections."""
    for first in range(0, count, WIDTH):
        at = first + shift
        triangle(m - at, min(WIDTH, count - first), v + (first * m + at), m, tau + first,
                 t + first * WIDTH, pack)  # fmt: skip


def rotate(
    out: Array, temporary: Array, m: int, n: int, columns: int, each: int, capacity: int,
    result: int, turned: int, strips: int, item: int,
) -> None:  # fmt: skip
    """Some columns of u or v through all rotations, and to where they belong.

    Of a matrix that was turned, what is u here is v for the one who asked.
    """
    number = item // strips
    strip = item % strips
    u = temporary + number * each
    v = u + columns * m
    order = v + (n * n + n)
    signs = order + n
    lefts = signs + n
    rights = lefts + (1 + capacity)
    to = out + (number * result + n)
    tall = (m + STRIP - 1) // STRIP
    if strip < tall:
        first = strip * STRIP
        last = min(m, first + STRIP)
        turn_rows(lefts, u, m, first, last)
        if turned == 1:
            place_rows(n, columns, u, m, order, signs, 0, to + n * n, m, 1, first, last)
        else:
            place_rows(n, columns, u, m, order, signs, 0, to, 1, columns, first, last)
    else:
        first = (strip - tall) * STRIP
        last = min(n, first + STRIP)
        turn_rows(rights, v, n, first, last)
        if turned == 1:
            place_rows(n, n, v, n, order, signs, 1, to, 1, n, first, last)
        else:
            place_rows(n, n, v, n, order, signs, 1, to + m * columns, n, 1, first, last)


def place_rows(
    n: int, count: int, z: Array, ld: int, order: Array, signs: Array, signed: int, to: Array,
    row: int, step: int, first: int, last: int,
) -> None:  # fmt: skip
    """Row order[j] of z, with its sign, at to[j row + i step]; rows from n on keep their places."""
    for j in range(count):
        source = z + j * ld
        sign = 1.0
        if j < n:
            at = int(order[j])
            source = z + at * ld
            if signed == 1:
                sign = signs[at]
        place = to + (j * row + first * step)
        for i in range(first, last):
            place[0] = sign * source[i]
            place = place + step


def svd_pack(
    a: Array, out: Array, temporary: Array, scratch: Array, m: int, n: int, columns: int,
    vectors: int, each: int, capacity: int, result: int, turned: int, strips: int, item: int,
) -> None:  # fmt: skip
    """A whole matrix."""
    reduce(a, out, temporary, scratch, m, n, columns, vectors, each, capacity, result, turned, item)
    if vectors == 1:
        for strip in range(strips):
            rotate(out, temporary, m, n, columns, each, capacity, result, turned, strips,
                   item * strips + strip)  # fmt: skip


def plan(node: Node, target: Target) -> Work:
    """A block for each matrix; of few large ones the rotations are shared out."""
    x = given(node)
    full, vectors = x.options
    m, n, turned = max(x.m, x.n), min(x.m, x.n), int(x.m < x.n)
    result = node.shape[-2 if x.is_complex else -1]
    items, size = (x.items if result else 0), x.size
    columns = m if full else n
    if x.is_complex:
        each = n * m + n * n + m * n + n * m + (n + WIDTH) * WIDTH + n + m * columns
        step = step_of(complex_svd, items, m=m, n=n, columns=columns, vectors=vectors, each=each,
                       result=result, turned=turned)  # fmt: skip
        room = (PACK + 2 * WIDTH * max(m, WIDTH)) * size
        parts = x.parts("linalg.jacobi", node)
        return Work(text, parts, (step,), each * items * size, room, 20 * m * n * n * items)
    capacity = (2 * n * n + 8 * n) * int(vectors) + 8 * n + 16
    each = (columns * m + n * n + 5 * n + 2 + 2 * capacity + (n + WIDTH) * WIDTH + 2 * m * n
            + n * n + m * columns)  # fmt: skip
    strips = -(-m // STRIP) + -(-n // STRIP)
    parts = x.parts("linalg.svd", node)
    room = (PACK + 2 * WIDTH * max(m, WIDTH)) * size
    numbers = {"m": m, "n": n, "columns": columns, "each": each, "capacity": capacity,
               "result": result, "turned": turned}  # fmt: skip
    if not vectors or items >= FEW or n < SINGLE:
        steps = [step_of(svd_pack, items, vectors=int(vectors), strips=strips, **numbers)]
    else:
        shared = step_of(rotate, items * strips, strips=strips, **numbers)
        steps = [step_of(reduce, items, vectors=1, **numbers), shared]
    return Work(text, parts, tuple(steps), each * items * size, room, 20 * m * n * n * items)
