"""Eigenvalues and eigenvectors of complex matrices: Hessenberg form, then QR steps with a shift."""

from __future__ import annotations

from treadle.backends.cpu.linalg.householder import norm
from treadle.backends.cpu.linalg.product import product
from treadle.backends.cpu.linalg.schur import hessenberg, sized
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import copy, fill, largest, scale
from treadle.backends.cpu.written import Array, Scalar
from treadle.backends.cpu.written_builtins import (
    complex_of,
    conjugate,
    copysign,
    epsilon,
    imaginary_part,
    real_part,
    sqrt,
    tiny,
    zero_of,
)

MOST = 60  # steps for one eigenvalue
ODD = 10  # after so many steps without an end, another shift


def root(z: Scalar) -> Scalar:
    """The square root with a real part that is not negative."""
    size = abs(z)
    large = sqrt(0.5 * (size + abs(real_part(z))))
    if large == 0.0:
        return 0.0 * z
    small = imaginary_part(z) / (2.0 * large)
    if real_part(z) >= 0.0:
        return complex_of(large, small)
    return complex_of(abs(small), copysign(large, imaginary_part(z)))


def shift_of(n: int, high: int, steps: int, h: Array) -> Scalar:
    """The eigenvalue of the last two rows that is nearer to the last element."""
    corner = h + ((high - 1) * n + high - 1)
    last = corner[n + 1]
    if steps % ODD == 0:
        return last + abs(corner[n])
    half = 0.5 * (corner[0] - last)
    both = corner[1] * corner[n]
    way = root(half * half + both)
    if real_part(conjugate(half) * way) < 0.0:
        way = -way
    below = half + way
    return last if abs(below) == 0.0 else last - both / below


def mix(n: int, x: Array, y: Array, step: int, c: float, s: Scalar) -> None:
    """x and y, elements step apart, become c x + s y and c y - conj(s) x."""
    for i in range(n):
        one = x[i * step]
        two = y[i * step]
        x[i * step] = c * one + s * two
        y[i * step] = c * two - conjugate(s) * one


def single_step(n: int, low: int, high: int, shift: Scalar, h: Array, z: Array) -> None:
    """A bulge of two rows chased from row low to row high."""
    x = h[low * n + low] - shift
    y = h[(low + 1) * n + low]
    for k in range(low, high):
        if k > low:
            x = h[k * n + k - 1]
            y = h[(k + 1) * n + k - 1]
        large = max(abs(x), abs(y))
        if large == 0.0:
            continue
        one = abs(x) / large
        two = abs(y) / large
        length = sqrt(one * one + two * two)
        c = one / length
        s = conjugate(y) / (large * length)
        if one > 0.0:
            s = s * (x / abs(x))
        first = max(low, k - 1)
        mix(n - first, h + (k * n + first), h + ((k + 1) * n + first), 1, c, s)
        mix(min(high, k + 2) + 1, h + k, h + (k + 1), n, c, conjugate(s))
        mix(n, z + k * n, z + (k + 1) * n, 1, c, conjugate(s))
        if k > low:
            h[(k + 1) * n + k - 1] = 0.0


def complex_schur(n: int, h: Array, z: Array) -> float:
    """Steps until h is triangular; the sum of its magnitudes, NaN if there was no end."""
    size = 0.0
    for i in range(n):
        for j in range(max(0, i - 1), n):
            size = size + abs(h[i * n + j])
    if size - size != 0.0:
        return size - size
    high = n - 1
    steps = 0
    while high > 0:
        low = high
        while low > 0:
            near = abs(h[(low - 1) * n + low - 1]) + abs(h[low * n + low])
            if near == 0.0:
                near = size
            if abs(h[low * n + low - 1]) <= epsilon() * near:
                h[low * n + low - 1] = 0.0
                break
            low = low - 1
        if low == high:
            high = high - 1
            steps = 0
            continue
        steps = steps + 1
        if steps > MOST:
            return 0.0 * (size / (size - size))
        single_step(n, low, high, shift_of(n, high, steps, h), h, z)
    return size


def vector(n: int, k: int, h: Array, size: float, v: Array) -> None:
    """v with h v = h[k, k] v, from row k up."""
    fill(n, 0.0, v)
    v[k] = 1.0
    for i in range(k - 1, -1, -1):
        total = zero_of(v[k])
        for j in range(i + 1, k + 1):
            total = total + h[i * n + j] * v[j]
        below = h[i * n + i] - h[k * n + k]
        if abs(below) <= epsilon() * size:
            below = 0.0 * below + max(epsilon() * size, tiny())
        v[i] = -total / below
        most = abs(v[i])
        if epsilon() * most * most > 1.0:
            scale(k - i + 1, 1.0 / most, v + i)


def complex_eig(
    a: Array, out: Array, temporary: Array, scratch: Array, n: int, vectors: int, each: int,
    item: int,
) -> None:  # fmt: skip
    """A whole matrix: eigenvalues, and eigenvectors of length 1 with a real largest element."""
    h = temporary + item * each
    z = h + n * n
    v = z + n * n
    room = v + n * n
    values = out + item * (n + n * n * vectors)
    copy(n * n, a + item * n * n, h)
    factor = sized(n, h)
    hessenberg(n, h, z, v, room)
    size = complex_schur(n, h, z)
    if size != size:
        fill(n + n * n * vectors, size, values)
        return
    for i in range(n):
        values[i] = h[i * n + i] * factor
    if vectors == 1:
        for k in range(n):
            vector(n, k, h, size, v + k * n)
        fill(n * n, 0.0, room)
        product(n, n, n, 1.0, v, n, 1, z, n, 1, room, n, scratch)
        for k in range(n):
            row = room + k * n
            best = row[largest(n, row)]
            scale(n, conjugate(best) / (abs(best) * norm(n, row)), row)
        turn(n, n, room, n, values + n, n)
