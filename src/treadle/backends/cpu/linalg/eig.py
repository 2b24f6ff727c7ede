"""Eigenvalues and eigenvectors of real matrices, whose pairs are conjugate."""

from __future__ import annotations

from treadle.backends.cpu.linalg.given import given
from treadle.backends.cpu.linalg.product import PACK, product
from treadle.backends.cpu.linalg.schur import hessenberg, schur, sized
from treadle.backends.cpu.linalg.schur_complex import complex_eig
from treadle.backends.cpu.linalg.turning import turn
from treadle.backends.cpu.linalg.vectors import copy, dot, fill, scale
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.written import Array
from treadle.backends.cpu.written_builtins import epsilon, sqrt, tiny
from treadle.backends.cpu.written_entry import step_of, text
from treadle.base.target import Target
from treadle.ir.node import Node


def divide(ar: float, ai: float, br: float, bi: float, found: Array) -> None:
    """(ar + i ai) / (br + i bi) in found."""
    size = abs(br) + abs(bi)
    xr = ar / size
    xi = ai / size
    yr = br / size
    yi = bi / size
    below = yr * yr + yi * yi
    found[0] = (xr * yr + xi * yi) / below
    found[1] = (xi * yr - xr * yi) / below


def real_vector(n: int, k: int, h: Array, wr: Array, wi: Array, size: float, v: Array) -> None:
    """v with h v = wr[k] v, from the last row up; pairs of rows are solved together."""
    fill(n, 0.0, v)
    v[k] = 1.0
    p = wr[k]
    i = k - 1
    while i >= 0:
        row = h + i * n
        r = dot(k - i, row + (i + 1), v + (i + 1))
        w = row[i] - p
        if wi[i] == 0.0:
            below = w if abs(w) > epsilon() * size else max(epsilon() * size, tiny())
            v[i] = -r / below
            i = i - 1
        else:
            above = row - n
            s = dot(k - i, above + (i + 1), v + (i + 1))
            x = above[i]
            y = row[i - 1]
            u = above[i - 1] - p
            below = (wr[i] - p) * (wr[i] - p) + wi[i] * wi[i]
            v[i] = (y * s - u * r) / below
            v[i - 1] = (x * r - w * s) / below
            i = i - 2
        most = max(abs(v[i + 1]), abs(v[min(k, i + 2)]))
        if epsilon() * most * most > 1.0:
            scale(k - i, 1.0 / most, v + (i + 1))


def complex_vector(
    n: int, k: int, h: Array, wr: Array, wi: Array, size: float, v: Array, u: Array, room: Array
) -> None:
    """v + i u with h (v + i u) = (wr[k] + i wi[k]) (v + i u), for the first of a pair, k."""
    fill(n, 0.0, v)
    fill(n, 0.0, u)
    p = wr[k]
    q = wi[k]
    last = k + 1
    one = h[last * n + k]
    two = h[k * n + last]
    if abs(one) > abs(two):  # the last row: one (v + i u)[k] = (p + i q - h) (v + i u)[last]
        v[k] = (p - h[last * n + last]) / one
        u[k] = q / one
        v[last] = 1.0
    else:
        v[k] = 1.0
        v[last] = (p - h[k * n + k]) / two
        u[last] = q / two
    i = k - 1
    while i >= 0:
        row = h + i * n
        count = last - i
        rr = -dot(count, row + (i + 1), v + (i + 1))
        ri = -dot(count, row + (i + 1), u + (i + 1))
        w = row[i] - p
        if wi[i] == 0.0:
            away = abs(w) + abs(q)
            divide(rr, ri, w if away > 0.0 else max(epsilon() * size, tiny()), -q, room)
            v[i] = room[0]
            u[i] = room[1]
            i = i - 1
        else:
            above = row - n
            sr = -dot(count, above + (i + 1), v + (i + 1))
            si = -dot(count, above + (i + 1), u + (i + 1))
            x = above[i]
            y = row[i - 1]
            t = above[i - 1] - p
            # (t - i q) a + x b = s, y a + (w - i q) b = r, by their determinant.
            dr = t * w - q * q - x * y
            di = -q * (t + w)
            if abs(dr) + abs(di) == 0.0:
                dr = max(epsilon() * size * size, tiny())
            divide(sr * w + si * q - x * rr, si * w - sr * q - x * ri, dr, di, room)
            v[i - 1] = room[0]
            u[i - 1] = room[1]
            divide(t * rr + q * ri - y * sr, t * ri - q * rr - y * si, dr, di, room)
            v[i] = room[0]
            u[i] = room[1]
            i = i - 2
        at = min(k, i + 2)
        most = max(abs(v[i + 1]), abs(u[i + 1]), abs(v[at]), abs(u[at]))
        if epsilon() * most * most > 1.0:
            scale(last - i, 1.0 / most, v + (i + 1))
            scale(last - i, 1.0 / most, u + (i + 1))


def normed(n: int, v: Array, u: Array) -> None:
    """Of length 1, and turned so that the largest element is real."""
    most = 0.0
    for i in range(n):
        most = max(most, abs(v[i]), abs(u[i]))
    if not (most > 0.0):
        return
    scale(n, 1.0 / most, v)
    scale(n, 1.0 / most, u)
    length = 1.0 / sqrt(dot(n, v, v) + dot(n, u, u))
    best = 0
    for i in range(1, n):
        if v[i] * v[i] + u[i] * u[i] > v[best] * v[best] + u[best] * u[best]:
            best = i
    c = length
    s = 0.0
    if u[best] != 0.0:
        size = sqrt(v[best] * v[best] + u[best] * u[best])
        c = length * v[best] / size
        s = length * u[best] / size
    for i in range(n):
        kept = v[i]
        v[i] = c * kept + s * u[i]
        u[i] = c * u[i] - s * kept
    if s != 0.0:
        u[best] = 0.0


def vectors_of(
    n: int, h: Array, z: Array, wr: Array, wi: Array, size: float, v: Array, u: Array,
    room: Array, pack: Array,
) -> None:  # fmt: skip
    """Rows of v + i u: the eigenvectors of the matrix that h is in the basis z."""
    k = 0
    while k < n:
        if wi[k] == 0.0:
            real_vector(n, k, h, wr, wi, size, v + k * n)
            fill(n, 0.0, u + k * n)
            k = k + 1
        else:
            complex_vector(n, k, h, wr, wi, size, v + k * n, u + k * n, room)
            fill(n, 0.0, v + (k + 1) * n)
            fill(n, 0.0, u + (k + 1) * n)
            k = k + 2
    back(n, z, v, room, pack)
    back(n, z, u, room, pack)
    k = 0
    while k < n:
        normed(n, v + k * n, u + k * n)
        if wi[k] != 0.0:
            copy(n, v + k * n, v + (k + 1) * n)
            for i in range(n):
                u[(k + 1) * n + i] = -u[k * n + i]
            k = k + 1
        k = k + 1


def back(n: int, z: Array, v: Array, room: Array, pack: Array) -> None:
    """Rows of v from the basis z to the one before."""
    fill(n * n, 0.0, room)
    product(n, n, n, 1.0, v, n, 1, z, n, 1, room, n, pack)
    copy(n * n, room, v)


def eig_pack(
    a: Array, out: Array, temporary: Array, scratch: Array, n: int, vectors: int, each: int,
    item: int,
) -> None:  # fmt: skip
    """A whole matrix: real and imaginary parts of the values, then of the vectors."""
    h = temporary + item * each
    z = h + n * n
    v = z + n * n
    u = v + n * n
    room = u + n * n
    wr = out + item * (2 * n + 2 * n * n * vectors)
    wi = wr + n
    copy(n * n, a + item * n * n, h)
    factor = sized(n, h)
    hessenberg(n, h, z, v, room)
    size = schur(n, h, z, wr, wi)
    if size != size:
        fill(2 * n + 2 * n * n * vectors, size, wr)
        return
    if vectors == 1:
        vectors_of(n, h, z, wr, wi, size, v, u, room, scratch)
        turn(n, n, v, n, wi + n, n)
        turn(n, n, u, n, wi + (n + n * n), n)
    if factor != 1.0:
        scale(2 * n, factor, wr)


def plan(node: Node, target: Target) -> Work:
    """One block for each matrix."""
    x = given(node)
    n, size, items, vectors = x.n, x.size, x.items if x.n else 0, x.options[0]
    each = 5 * n * n + 4 * n + 16
    entry, place = (complex_eig, "schur_complex") if x.is_complex else (eig_pack, "eig")
    step = step_of(entry, items, n=n, vectors=vectors, each=each)
    parts = x.parts(f"linalg.{place}", node)
    return Work(text, parts, (step,), each * items * size, PACK * size, 25 * n * n * n * items)
