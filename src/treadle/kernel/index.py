"""Index arithmetic: sums of scaled axes with // and %, simplified by their ranges when made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from treadle.base.errors import CompilerError, explain
from treadle.base.shapes import Shape, strides_of
from treadle.base.sizes import Size, UnknownSizeError, least, most


class Axis:
    """A loop variable that runs from 0 to extent - 1."""

    __slots__ = ("extent", "name")

    def __init__(self, name: str, extent: int) -> None:
        self.name, self.extent = name, extent

    def __repr__(self) -> str:
        return self.name

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, self.extent - 1 if self.extent >= 1 else 0


class Quotient:
    """of // by, rounded down."""

    __slots__ = ("by", "of")

    def __init__(self, of: Index, by: int) -> None:
        self.of, self.by = of, by

    def __repr__(self) -> str:
        return f"({self.of}) // {self.by}"

    def __hash__(self) -> int:
        return hash((self.of, self.by, "q"))

    def __eq__(self, other: object) -> bool:
        return type(other) is Quotient and self.by == other.by and self.of == other.of

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        low, high = self.of.bounds
        return low // self.by, high // self.by


class Remainder(Quotient):
    """of % by, never negative."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"({self.of}) % {self.by}"

    def __hash__(self) -> int:
        return hash((self.of, self.by, "r"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remainder) and self.by == other.by and self.of == other.of

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, self.by - 1


class Looked:
    """An index that is itself a loaded value, known to lie in [0, size)."""

    __slots__ = ("size", "value")

    def __init__(self, value: Any, size: int) -> None:
        self.value, self.size = value, size

    def __repr__(self) -> str:
        return f"[{self.value}]"

    def __hash__(self) -> int:
        return hash((id(self.value), self.size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Looked) and self.value is other.value and self.size == other.size

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, max(0, self.size - 1)


class Assumed:
    """An index that is used only where it lies in [0, size): a guard has seen to that."""

    __slots__ = ("of", "size")

    def __init__(self, of: Index, size: int) -> None:
        self.of, self.size = of, size

    def __repr__(self) -> str:
        return f"<{self.of}>"

    def __hash__(self) -> int:
        return hash((self.of, self.size, "a"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Assumed) and self.size == other.size and self.of == other.of

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, self.size - 1


Atom = Axis | Quotient | Remainder | Looked | Assumed


class Index:
    """constant + sum of coefficient * atom; equal expressions compare equal."""

    __slots__ = ("_hash", "bounds", "constant", "terms")

    def __init__(self, terms: Iterable[tuple[Atom, int]] = (), constant: int = 0) -> None:
        kept = []
        low = high = constant
        for term in terms:  # one loop: planning makes hundreds of these
            atom, c = term
            if c:
                kept.append(term)
                a, b = atom.bounds if c > 0 else atom.bounds[::-1]
                low += a * c
                high += b * c
        self.terms, self.constant, self.bounds = tuple(kept), constant, (low, high)
        self._hash = hash((frozenset(self.terms), constant))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Index)
            and self._hash == other._hash
            and self.constant == other.constant
            and dict(self.terms) == dict(other.terms)
        )

    def __repr__(self) -> str:
        parts = [str(a) if c == 1 else f"{a}*{c}" for a, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)

    def __add__(self, other: Index | int) -> Index:
        if not isinstance(other, Index):
            return Index(self.terms, self.constant + other) if other else self
        if not self.terms or not other.terms:
            return other + self.constant if not self.terms else self + other.constant
        total = dict(self.terms)
        for atom, c in other.terms:
            total[atom] = total.get(atom, 0) + c
        constant = self.constant + other.constant
        for atom, c in total.items():
            if type(atom) is Remainder and c:
                whole = _rejoined(total, atom, c)
                if whole is not None:
                    return whole + constant
        return Index(total.items(), constant)

    def __mul__(self, factor: int) -> Index:
        if factor == 1:
            return self
        return Index([(a, c * factor) for a, c in self.terms], self.constant * factor)

    def _split(self, by: int) -> tuple[Index, Index]:
        """(terms divisible by `by`, divided; the rest)."""
        whole = [(a, c // by) for a, c in self.terms if c % by == 0]
        rest = [(a, c) for a, c in self.terms if c % by]
        return Index(whole, self.constant // by), Index(rest, self.constant % by)

    def __floordiv__(self, by: int) -> Index:
        if by == 1:
            return self
        whole, rest = self._split(by)
        low, high = rest.bounds
        if low // by == high // by:
            return whole + low // by
        common = _common(by, rest.terms)
        if common > 1:  # (g x + c) // (g d) = (x + c // g) // d
            rest = Index([(a, c // common) for a, c in rest.terms], rest.constant // common)
            return whole + rest // (by // common)
        coarse = _coarse(rest, by)
        if coarse is not None:
            return whole + coarse
        rest, turns = _lifted(rest, by)
        return whole + Index([(_merged(Quotient, rest, by), 1)], -turns)

    def __mod__(self, by: int) -> Index:
        if by == 1:
            return Index()
        _, rest = self._split(by)
        low, high = rest.bounds
        if low // by == high // by:
            return rest + -(low // by) * by
        return Index([(_merged(Remainder, _lifted(rest, by)[0], by), 1)])

    def __and__(self, mask: int) -> Index | None:
        """The low bits, where mask is 1 less than a power of two: a remainder."""
        return self % (mask + 1) if mask >= 0 and not mask & (mask + 1) else None

    def coefficient(self, axis: Axis) -> int:
        """The factor of axis in the sum itself."""
        for atom, c in self.terms:
            if atom is axis:
                return c
        return 0

    def axes(self) -> set[Axis]:
        """Every axis the value depends on, but for those inside looked-up values."""
        found: set[Axis] = set()
        for atom, _ in self.terms:
            if isinstance(atom, Axis):
                found.add(atom)
            elif isinstance(atom, Quotient):
                found |= atom.of.axes()
        return found

    def is_affine(self) -> bool:
        """A plain sum of scaled axes?"""
        return all(isinstance(atom, Axis) for atom, _ in self.terms)


def _common(by: int, terms: Iterable[tuple[Atom, int]]) -> int:
    """A common divisor of by and the coefficients, the greatest if they are all known."""
    numbers = [by, *(c for _, c in terms)]
    try:
        return gcd(*numbers)
    except UnknownSizeError:
        smallest = min(numbers, key=most)
        divides = least(smallest) > 0 and not any(n % smallest for n in numbers)
        return smallest if divides else 1


def _lifted(rest: Index, by: int) -> tuple[Index, int]:
    """rest + turns * by, never negative: processors round quotients towards zero."""
    turns = max(0, -(rest.bounds[0] // by))
    return rest + turns * by, turns


def _coarse(rest: Index, by: int) -> Index | None:
    """(g x + y) // (g d) = x // d, if y stays within [0, g)."""
    terms = sorted(rest.terms, key=lambda term: -abs(most(term[1])))
    for k in range(len(terms) - 1, 0, -1):
        g = _common(by, terms[:k])
        low, high = Index(terms[k:], rest.constant % g).bounds
        if g > 1 and low >= 0 and high < g:
            return Index([(a, c // g) for a, c in terms[:k]], rest.constant // g) // (by // g)
    return None


def _rejoined(total: dict[Atom, int], part: Remainder, c: int) -> Index | None:
    """(x // n) n c + (x % n) c = x c, if the sum holds both."""
    quotient = part.of // part.by
    if quotient.constant or len(quotient.terms) != 1 or quotient.terms[0][1] != 1:
        return None
    other = quotient.terms[0][0]
    if total.get(other) != c * part.by:
        return None
    rest = [(a, k) for a, k in total.items() if a not in (other, part)]
    return Index(rest) + part.of * c


def _merged(kind: type[Quotient], of: Index, by: int) -> Quotient:
    """(x // a) // b = x // (a b), and (x % (a b)) % b = x % b."""
    if len(of.terms) == 1 and of.constant == 0 and of.terms[0][1] == 1:
        inner = of.terms[0][0]
        if kind is Quotient and type(inner) is Quotient:
            return Quotient(inner.of, inner.by * by)
        if kind is Remainder and isinstance(inner, Remainder) and inner.by % by == 0:
            return Remainder(inner.of, by)
    return kind(of, by)


ZERO = Index()


def as_quotient(atom: object) -> Quotient:
    """A quotient or remainder: what is left where axes and looked-up values are known."""
    if not isinstance(atom, Quotient):
        raise CompilerError(explain("index", "an unknown part", got=atom))
    return atom


def of_axis(axis: Axis) -> Index:
    """The axis as an expression; an axis of one element is 0."""
    return Index([(axis, 1)]) if axis.extent > 1 else ZERO


def smaller(a: Index, b: Index) -> Index | None:
    """min(a, b), if their ranges tell which it is."""
    low, high = (b + a * -1).bounds
    return a if low >= 0 else b if high <= 0 else None


def larger(a: Index, b: Index) -> Index | None:
    """max(a, b), if their ranges tell which it is."""
    found = smaller(a, b)
    return None if found is None else b if found is a else a


def assumed(index: Index, size: int) -> Index:
    """index, known to lie in [0, size): what is made of it simplifies by that range."""
    try:
        if index.bounds[0] >= 0 and index.bounds[1] < size:
            return index
    except UnknownSizeError:  # it does for some sizes
        pass
    return Index([(Assumed(index, size), 1)])


def resolved(index: Index) -> Index:
    """index without assumptions in it: the same number wherever they hold."""
    if all(isinstance(atom, Axis | Looked) for atom, _ in index.terms):
        return index
    total = Index((), index.constant)
    for atom, c in index.terms:
        if isinstance(atom, Assumed):
            part = resolved(atom.of)
        elif isinstance(atom, Remainder):
            part = resolved(atom.of) % atom.by
        elif isinstance(atom, Quotient):
            part = resolved(atom.of) // atom.by
        else:
            part = Index([(atom, 1)])
        total = total + part * c
    return total


def coarser(index: Index, bound: int | None) -> tuple[Index, int | None]:
    """0 <= index (None), or index < bound, said by fewer axes: whole rows are inside or outside."""
    factors = [c for _, c in index.terms] if len(index.terms) > 1 else []
    for c in factors:
        known = isinstance(c, int) and not isinstance(bound, Size)
        if known and c > 1 and (bound is None or bound % c == 0):
            rows = index // c
            if len(rows.terms) < len(index.terms):
                return coarser(rows, None if bound is None else bound // c)
    return index, bound


class Unravelled(tuple[Index, ...]):  # noqa: SLOT001 - a tuple can have no slots
    """An index that remembers the position it was made from: sums of // and % may not rejoin."""

    position: Index
    shape: Shape


def ravel(index: Sequence[Index], shape: Shape) -> Index:
    """Position of an element in row-major memory."""
    if isinstance(index, Unravelled) and index.shape == shape:
        return index.position
    total = ZERO
    for i, step in zip(index, strides_of(shape), strict=True):
        total = total + i * step
    return total


def unravel(position: Index, shape: Shape) -> tuple[Index, ...]:
    """Index of the element at a position."""
    result = []
    for size, step in zip(shape, strides_of(shape), strict=True):
        result.append((position // step) % size if size > 1 and step else ZERO)
    made = Unravelled(result)
    made.position, made.shape = position, shape
    return made
