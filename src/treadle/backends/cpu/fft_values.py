"""Complex vectors in LLVM IR, and the small transforms that are done in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treadle.backends.cpu.vector import Vec

UNROLLED = (2, 3, 4, 5, 7, 8, 16)
"""Lengths that are transformed in registers; other primes by a loop."""


@dataclass(frozen=True)
class Pair:
    """Real and imaginary parts of as many complex numbers as there are lanes."""

    re: Vec
    im: Vec

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Pair) -> Pair:
        return Pair(self.re - other.re, self.im - other.im)

    def __mul__(self, other: Pair) -> Pair:
        re = self.re.fma(other.re, -(self.im * other.im))
        return Pair(re, self.im.fma(other.re, self.re * other.im))

    def scaled(self, factor: Vec | float) -> Pair:
        """Times a real number."""
        return Pair(self.re * factor, self.im * factor)

    def times(self, factor: float, term: Pair) -> Pair:
        """Times a real number, plus a term."""
        return Pair(self.re.fma(factor, term.re), self.im.fma(factor, term.im))

    def conjugate(self) -> Pair:
        """With the other sign of the imaginary part."""
        return Pair(self.re, -self.im)

    def swapped(self) -> Pair:
        """Parts exchanged: what a forward transform makes of it, exchanged, is the inverse."""
        return Pair(self.im, self.re)

    def turned(self, steps: int, whole: int) -> Pair:
        """Times exp(-2 pi i steps / whole)."""
        eighths, rest = divmod(8 * (steps % whole), whole)
        if rest:
            angle = -2 * math.pi * steps / whole
            c, s = math.cos(angle), math.sin(angle)
            return Pair(self.re.fma(c, self.im * -s), self.im.fma(c, self.re * s))
        if eighths >= 4:
            return Pair(-self.re, -self.im).turned(eighths - 4, 8)
        if eighths >= 2:
            return Pair(self.im, -self.re).turned(eighths - 2, 8)
        if not eighths:
            return self
        return Pair(self.re + self.im, self.im - self.re).scaled(math.sqrt(0.5))


def butterfly(xs: Sequence[Pair]) -> list[Pair]:
    """The transform of a few numbers: sum of xs[j] exp(-2 pi i j k / n) for every k."""
    n = len(xs)
    if n == 1:
        return list(xs)
    if n == 2:
        return [xs[0] + xs[1], xs[0] - xs[1]]
    columns = next((d for d in (4, 2, 3, 5, 7) if n % d == 0 and n > d), 1)
    if columns == 1:
        return _odd(xs)
    rows = n // columns
    found = list(xs)
    parts = [butterfly(xs[j::columns]) for j in range(columns)]
    for k in range(rows):
        across = butterfly([part[k].turned(j * k, n) for j, part in enumerate(parts)])
        found[k::rows] = across
    return found


def _odd(xs: Sequence[Pair]) -> list[Pair]:
    """A prime number of them: j and n - j have the same cosine and opposite sines."""
    n, first = len(xs), xs[0]
    half = range(1, n // 2 + 1)
    sums = [xs[j] + xs[n - j] for j in half]
    differences = [xs[j] - xs[n - j] for j in half]
    total = first
    for x in sums:
        total = total + x
    found = [total] * n
    for k in half:
        angles = [2 * math.pi * (j * k % n) / n for j in half]
        even, odd = first, differences[0].scaled(math.sin(angles[0]))
        for x, angle in zip(sums, angles, strict=True):
            even = x.times(math.cos(angle), even)
        for x, angle in zip(differences[1:], angles[1:], strict=True):
            odd = x.times(math.sin(angle), odd)
        # even - i odd, and even + i odd
        found[k] = Pair(even.re + odd.im, even.im - odd.re)
        found[n - k] = Pair(even.re - odd.im, even.im + odd.re)
    return found


def transposed(rows: Sequence[Vec]) -> list[Vec]:
    """A square of vectors, turned: log2 exchanges of halves, quarters, ..."""
    found, lanes = list(rows), len(rows)
    half = 1
    while half < lanes:
        for i in range(lanes):
            if i & half:
                continue
            a, b = found[i], found[i + half]
            low = [k if not k & half else k - half + lanes for k in range(lanes)]
            high = [k + half if not k & half else k + lanes for k in range(lanes)]
            found[i] = both(a, b, low)
            found[i + half] = both(a, b, high)
        half *= 2
    return found


def both(a: Vec, b: Vec, lanes: Sequence[int]) -> Vec:
    """Lanes of two vectors, those of the second counted on from the first's."""
    value = a.ir.shuffle(a.type, a.value, b.value, lanes, a.lanes)
    return Vec(a.ir, value, len(lanes), a.type, a.target)


def parted(low: Vec, high: Vec) -> Pair:
    """Neighbours (re, im, re, im, ...) of two vectors as parts."""
    count = 2 * low.lanes
    return Pair(both(low, high, range(0, count, 2)), both(low, high, range(1, count, 2)))


def mixed(x: Pair) -> tuple[Vec, Vec]:
    """Parts as neighbours, in two vectors."""
    lanes = x.re.lanes
    order = [k // 2 + (lanes if k % 2 else 0) for k in range(2 * lanes)]
    return both(x.re, x.im, order[:lanes]), both(x.re, x.im, order[lanes:])
