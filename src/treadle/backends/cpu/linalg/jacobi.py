"""Complex eigenvalues and singular values by rotations of two columns at a time (Jacobi's method).

They need more steps than what is done for reals, and are as exact.
"""

from __future__ import annotations

from treadle.backends.cpu.linalg.householder import WIDTH, norm
from treadle.backends.cpu.linalg.product import PACK
from treadle.backends.cpu.linalg.qr import factor
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import copy, dot, fill, largest, scale
from treadle.backends.cpu.written import Array, Scalar
from treadle.backends.cpu.written_builtins import (
    conjugate,
    copysign,
    epsilon,
    huge,
    real_part,
    sqrt,
    tiny,
)

MOST = 40  # rounds


def identity(n: int, v: Array) -> None:
    """Ones on the diagonal."""
    fill(n * n, 0.0, v)
    for i in range(n):
        v[i * n + i] = 1.0


def turn_two(n: int, x: Array, y: Array, step: int, c: float, s: float, phase: Scalar) -> None:
    """x and y, elements step apart, become c x - s y' and s x + c y', where y' = y phase."""
    for i in range(n):
        one = x[i * step]
        two = phase * y[i * step]
        x[i * step] = c * one - s * two
        y[i * step] = s * one + c * two


def tangent(low: float, high: float, between: float) -> float:
    """Of the angle that makes `between` 0, beside `low` and `high` on the diagonal."""
    ratio = (high - low) / (2.0 * between)
    if abs(ratio) > 1.0 / epsilon():
        return 0.5 / ratio
    return copysign(1.0, ratio) / (abs(ratio) + sqrt(1.0 + ratio * ratio))


def hermitian_rounds(n: int, a: Array, v: Array) -> None:
    """a becomes diagonal, rows of v its eigenvectors."""
    size = 0.0
    for i in range(n * n):
        size = max(size, abs(a[i]))
    for _ in range(MOST):
        changed = 0
        for p in range(n):
            for q in range(p + 1, n):
                between = abs(a[p * n + q])
                near = sqrt(abs(a[p * n + p])) * sqrt(abs(a[q * n + q]))
                if between > 0.25 * epsilon() * max(near, 0.01 * epsilon() * size):
                    changed = 1
                    phase = conjugate(a[p * n + q]) / between
                    t = tangent(real_part(a[p * n + p]), real_part(a[q * n + q]), between)
                    c = 1.0 / sqrt(1.0 + t * t)
                    turn_two(n, a + p, a + q, n, c, t * c, phase)
                    turn_two(n, a + p * n, a + q * n, 1, c, t * c, conjugate(phase))
                    turn_two(n, v + p * n, v + q * n, 1, c, t * c, phase)
                    a[p * n + q] = 0.0
                    a[q * n + p] = 0.0
                    a[p * n + p] = real_part(a[p * n + p])
                    a[q * n + q] = real_part(a[q * n + q])
        if changed == 0:
            return


def hermitian_pack(
    a: Array, out: Array, temporary: Array, n: int, vectors: int, each: int, item: int
) -> None:
    """A whole matrix: eigenvalues ascending, and eigenvectors."""
    w = temporary + item * each
    v = w + n * n
    source = a + item * n * n
    values = out + item * (n + n * n * vectors)
    for i in range(n):
        for j in range(i):
            w[i * n + j] = source[i * n + j]
            w[j * n + i] = conjugate(source[i * n + j])
        w[i * n + i] = real_part(source[i * n + i])
    identity(n, v)
    hermitian_rounds(n, w, v)
    for i in range(n):
        best = 0
        for j in range(n - i):
            if real_part(w[j * n + j]) > real_part(w[best * n + best]):
                best = j
        last = n - 1 - i  # the largest of those that are left goes behind them
        values[last] = real_part(w[best * n + best])
        w[best * n + best] = w[last * n + last]
        if vectors == 1:
            column = values + (n + last)
            for k in range(n):
                column[k * n] = v[best * n + k]
            copy(n, v + last * n, v + best * n)


def column_rounds(m: int, n: int, x: Array, v: Array) -> None:
    """Rows of x, which are columns of a matrix, become orthogonal; rows of v tell how."""
    for _ in range(MOST):
        changed = 0
        for p in range(n):
            for q in range(p + 1, n):
                one = x + p * m
                two = x + q * m
                low = norm(m, one)
                high = norm(m, two)
                meet = dot(m, one, two)
                between = abs(meet)
                if between > epsilon() * low * high and between > tiny():
                    changed = 1
                    phase = conjugate(meet) / between
                    t = tangent(low * low, high * high, between)
                    c = 1.0 / sqrt(1.0 + t * t)
                    turn_two(m, one, two, 1, c, t * c, phase)
                    turn_two(n, v + p * n, v + q * n, 1, c, t * c, phase)
        if changed == 0:
            return


def sorted_columns(m: int, n: int, x: Array, v: Array, values: Array) -> None:
    """Lengths of the rows of x, descending, and the rows of x and v in that order."""
    for i in range(n):
        values[i] = norm(m, x + i * m)
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if real_part(values[j]) > real_part(values[best]):
                best = j
        if best != i:
            for k in range(m):
                kept = x[i * m + k]
                x[i * m + k] = x[best * m + k]
                x[best * m + k] = kept
            for k in range(n):
                kept = v[i * n + k]
                v[i * n + k] = v[best * n + k]
                v[best * n + k] = kept
            value = values[i]
            values[i] = values[best]
            values[best] = value


def complex_svd(
    a: Array, out: Array, temporary: Array, scratch: Array, m: int, n: int, columns: int,
    vectors: int, each: int, result: int, turned: int, item: int,
) -> None:  # fmt: skip
    """A whole matrix, m x n, or the transpose of the one that is given (turned)."""
    x = temporary + item * each
    v = x + n * m
    w = v + n * n
    reflections = w + m * n
    t = reflections + n * m
    tau = t + (n + WIDTH) * WIDTH
    q = tau + n
    source = a + item * m * n
    values = out + item * result
    if turned == 1:
        copy(m * n, source, x)
    else:
        turn(m, n, source, n, x, m)
    most = abs(x[largest(n * m, x)]) if n * m > 0 else 0.0
    factor_ = most if most > 0.0 and most < huge() else 1.0
    scale(n * m, 1.0 / factor_, x)
    identity(n, v)
    column_rounds(m, n, x, v)
    sorted_columns(m, n, x, v, values)
    if vectors == 1:
        turn(n, m, x, m, w, n)
        factor(m, n, columns, w, reflections, t, tau, q, scratch + PACK, scratch)
        for j in range(n):
            length = abs(w[j * n + j])
            if length > 0.0:
                phase = w[j * n + j] / length
                for i in range(m):
                    q[i * columns + j] = q[i * columns + j] * phase
        place(m, n, columns, q, v, values + n, turned)
    scale(n, factor_, values)


def place(m: int, n: int, columns: int, q: Array, v: Array, to: Array, turned: int) -> None:
    """U and the adjoint of V; of a matrix that was turned, they are each other's transposes."""
    if turned == 1:  # aᵀ = q s vᴴ: a = conj(v) s qᵀ
        for i in range(n):
            for j in range(n):
                to[i * n + j] = conjugate(v[j * n + i])
        turn(m, columns, q, columns, to + n * n, m)
    else:
        copy(m * columns, q, to)
        right = to + m * columns
        for i in range(n):
            for j in range(n):
                right[i * n + j] = conjugate(v[i * n + j])
