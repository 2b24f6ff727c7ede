"""Real matrices as quasi-triangular ones: reflections to Hessenberg form, then Francis' QR steps.

What is done to columns of the basis is kept as rows of its transpose z.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cpu.linalg.householder import reflect
from treadle.backends.cpu.linalg.vectors import Rows, add_outer, combine, dot, fill, largest, scale
from treadle.backends.cpu.writer import Int, Writer
from treadle.backends.cpu.written import Array, vectorised
from treadle.backends.cpu.written_builtins import conjugate, copysign, epsilon, huge, sqrt, tiny
from treadle.base.dtypes import DType
from treadle.base.target import Target

MOST = 60  # steps for one eigenvalue
ODD = 10  # after so many steps without an end, another shift


def sized(n: int, h: Array) -> float:
    """What a matrix of very large or small elements is divided by, so that their squares exist.

    Its reciprocal exists, too: elements below the smallest normal number are divided by that.
    """
    most = abs(h[largest(n * n, h)])
    least = sqrt(tiny()) / epsilon()
    if most == min(max(most, least), 1.0 / least):
        return 1.0
    factor = min(max(most, tiny()), huge())
    scale(n * n, 1.0 / factor, h)
    return factor


def hessenberg(n: int, h: Array, z: Array, v: Array, weights: Array) -> None:
    """h with zeros below its first subdiagonal, and z, the transpose of the basis for that.

    v has room for a vector and its conjugate.
    """
    u = v + n
    fill(n * n, 0.0, z)
    for i in range(n):
        z[i * n + i] = 1.0
    for j in range(n - 2):
        size = n - j - 1
        for i in range(size):
            v[i] = h[(j + 1 + i) * n + j]
        tau = reflect(size, v, h + ((j + 1) * n + j))
        for i in range(j + 2, n):
            h[i * n + j] = 0.0
        for i in range(size):
            u[i] = conjugate(v[i])
        rest = h + ((j + 1) * n + j + 1)
        fill(size, 0.0, weights)
        combine(size, size, 1.0, u, 1, rest, n, weights)
        add_outer(size, size, -conjugate(tau), v, 1, weights, rest, n)
        right = h + (j + 1)
        for i in range(n):
            weights[i] = dot(size, u, right + i * n)
        add_outer(n, size, -tau, weights, 1, u, right, n)
        below = z + (j + 1) * n
        fill(n, 0.0, weights)
        combine(n, size, 1.0, v, 1, below, n, weights)
        add_outer(size, n, -tau, u, 1, weights, below, n)


def _three(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "n:i a:p b:p c:p q:r r:r x:r y:r z:r", dtype, target)
    q, s, x, y, z = (r.splat(f"%{k}") for k in "qrxyz")
    minus = [r.w.op(f"fneg {r.tile.vector} {k}") for k in (x, y, z)]

    def body(at: Int, mask: str) -> None:
        rows = [r.load(f"%{k}", at, mask) for k in "abc"]
        total = r.fma(s, rows[2], r.fma(q, rows[1], rows[0]))
        for k, row, factor in zip("abc", rows, minus, strict=True):
            r.store(r.fma(factor, total, row), f"%{k}", at, mask)

    r.each("%n", body)
    return [r.w]


@vectorised(_three)
def three(
    n: int, a: Array, b: Array, c: Array, q: float, r: float, x: float, y: float, z: float
) -> None:
    """Three rows less x, y and z times a + q b + r c."""
    for i in range(n):
        total = a[i] + q * b[i] + r * c[i]
        a[i] = a[i] - x * total
        b[i] = b[i] - y * total
        c[i] = c[i] - z * total


def double_step(
    n: int, low: int, top: int, high: int, h: Array, z: Array, p: float, q: float, r: float
) -> None:
    """A bulge of three rows, which begins with p, q, r in row top, chased down to row high."""
    x = 0.0
    for k in range(top, high):
        last = k == high - 1
        if k > top:
            p = h[k * n + k - 1]
            q = h[(k + 1) * n + k - 1]
            r = 0.0 if last else h[min(n - 1, k + 2) * n + k - 1]
            x = abs(p) + abs(q) + abs(r)
            if x == 0.0:
                continue
            p = p / x
            q = q / x
            r = r / x
        s = copysign(sqrt(p * p + q * q + r * r), p)
        if k > top:
            h[k * n + k - 1] = -s * x
        elif low != top:
            h[k * n + k - 1] = -h[k * n + k - 1]
        p = p + s
        x = p / s
        y = q / s
        w = r / s
        q = q / p
        r = r / p
        third = k + 1 if last else k + 2  # the last has two rows only, and r and w are 0
        row = h + (k * n + k)
        if last:
            two(n - k, row, row + n, q, x, y)
            two(n, z + k * n, z + (k + 1) * n, q, x, y)
        else:
            three(n - k, row, row + n, h + (third * n + k), q, r, x, y, w)
            three(n, z + k * n, z + (k + 1) * n, z + third * n, q, r, x, y, w)
        for i in range(min(high, k + 3) + 1):
            place = h + (i * n + k)
            total = x * place[0] + y * place[1]
            if not last:
                total = total + w * place[2]
                place[2] = place[2] - total * r
            place[0] = place[0] - total
            place[1] = place[1] - total * q


def two(n: int, a: Array, b: Array, q: float, x: float, y: float) -> None:
    """Two rows less x and y times a + q b."""
    for i in range(n):
        total = a[i] + q * b[i]
        a[i] = a[i] - x * total
        b[i] = b[i] - y * total


def pair(n: int, high: int, h: Array, z: Array, wr: Array, wi: Array) -> None:
    """The eigenvalues of the last two rows; real ones are parted."""
    low = high - 1
    x = h[high * n + high]
    w = h[high * n + low] * h[low * n + high]
    p = 0.5 * (h[low * n + low] - x)
    q = p * p + w
    size = sqrt(abs(q))
    if q < 0.0:
        wr[low] = x + p
        wr[high] = x + p
        wi[low] = size
        wi[high] = -size
        return
    size = p + copysign(size, p)
    wr[low] = x + size
    wr[high] = x + size if size == 0.0 else x - w / size
    wi[low] = 0.0
    wi[high] = 0.0
    x = h[high * n + low]
    s = abs(x) + abs(size)
    p = x / s
    q = size / s
    r = sqrt(p * p + q * q)
    p = p / r
    q = q / r
    for j in range(low, n):
        kept = h[low * n + j]
        h[low * n + j] = q * kept + p * h[high * n + j]
        h[high * n + j] = q * h[high * n + j] - p * kept
    for i in range(high + 1):
        kept = h[i * n + low]
        h[i * n + low] = q * kept + p * h[i * n + high]
        h[i * n + high] = q * h[i * n + high] - p * kept
    for j in range(n):
        kept = z[low * n + j]
        z[low * n + j] = q * kept + p * z[high * n + j]
        z[high * n + j] = q * z[high * n + j] - p * kept
    h[high * n + low] = 0.0


def start(n: int, low: int, high: int, steps: int, h: Array, z: Array, size: float) -> None:
    """One step of QR on rows low to high, with the eigenvalues of the last two as shifts."""
    x = h[high * n + high]
    y = h[(high - 1) * n + high - 1]
    w = h[high * n + high - 1] * h[(high - 1) * n + high]
    if steps % ODD == 0:
        s = abs(h[high * n + high - 1]) + abs(h[(high - 1) * n + high - 2])
        y = 0.75 * s + x
        x = y
        w = -0.4375 * s * s
    top = high - 2
    p = 0.0
    q = 0.0
    r = 0.0
    while True:
        here = h[top * n + top]
        r = x - here
        s = y - here
        p = (r * s - w) / h[(top + 1) * n + top] + h[top * n + top + 1]
        q = h[(top + 1) * n + top + 1] - here - r - s
        r = h[(top + 2) * n + top + 1]
        s = abs(p) + abs(q) + abs(r)
        p = p / s
        q = q / s
        r = r / s
        if top == low:
            break
        near = abs(h[(top - 1) * n + top - 1]) + abs(here) + abs(h[(top + 1) * n + top + 1])
        if abs(h[top * n + top - 1]) * (abs(q) + abs(r)) <= epsilon() * abs(p) * near:
            break
        top = top - 1
    for i in range(top + 2, high + 1):
        h[i * n + i - 2] = 0.0
        if i > top + 2:
            h[i * n + i - 3] = 0.0
    double_step(n, low, top, high, h, z, p, q, r)


def schur(n: int, h: Array, z: Array, wr: Array, wi: Array) -> float:
    """Steps until h is quasi-triangular; the sum of its magnitudes, NaN if there was no end."""
    size = 0.0
    for i in range(n):
        for j in range(max(0, i - 1), n):
            size = size + abs(h[i * n + j])
    if size - size != 0.0:
        return size - size
    high = n - 1
    steps = 0
    while high >= 0:
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
            wr[high] = h[high * n + high]
            wi[high] = 0.0
            high = high - 1
            steps = 0
        elif low == high - 1:
            pair(n, high, h, z, wr, wi)
            high = high - 2
            steps = 0
        else:
            steps = steps + 1
            if steps > MOST:
                return 0.0 * (size / (size - size))
            start(n, low, high, steps, h, z, size)
    return size
