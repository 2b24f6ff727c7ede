"""Sizes that are not known yet: sums of products of unknowns, which say what holds for all."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import product
from math import prod
from typing import Any

from treadle.base.errors import ArgumentError, explain

HINT = "decide by something else, or give the axis no Dim with a max: then every size is traced"
Factors = tuple["Unknown", ...]
PACKAGE = __name__.partition(".")[0] + "."


class UnknownSizeError(ArgumentError):
    """What was asked of a size is true for some of its values and false for others."""


class Unknown:
    """A number between least and most: a Dim, or a quotient of sizes that does not come out."""

    __slots__ = ("least", "most", "text")

    def __init__(self, text: str, least: int, most: int) -> None:
        self.text, self.least, self.most = text, least, most


_UNKNOWNS: dict[tuple[str, int, int], Unknown] = {}


def _unknown(text: str, least: int, most: int) -> Unknown:
    return _UNKNOWNS.setdefault((text, least, most), Unknown(text, least, most))


@cache
def unknown(name: str, least: int, most: int) -> Size:
    """The size of a Dim."""
    return Size({(_unknown(name, least, most),): 1})


class Size:
    """A polynomial in unknowns. Equal ones compare equal; what is undecided raises.

    No int: whatever needs the number itself, in Python or below it, is refused.
    """

    __slots__ = ("_hash", "parts", "text")

    def __init__(self, parts: dict[Factors, int]) -> None:
        self.parts = parts
        words = [
            "*".join([*([] if c == 1 and f else [str(c)]), *(x.text for x in f)])
            for f, c in sorted(parts.items(), key=lambda part: [x.text for x in part[0]])
        ]
        self.text = " + ".join(words)
        self._hash = hash(self.text)

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return self._hash

    @property
    def bounds(self) -> tuple[int, int]:
        """Not below, and not above: by what each unknown exceeds its least."""
        above: dict[Factors, int] = {}
        for factors, c in self.parts.items():
            for chosen in product(*[((x,), ()) for x in factors]):
                more = tuple(x for part in chosen for x in part)
                left = c
                for x, part in zip(factors, chosen, strict=True):
                    left *= 1 if part else x.least
                above[more] = above.get(more, 0) + left
        low = high = 0
        for factors, c in above.items():
            furthest = c * prod([x.most - x.least for x in factors])
            low += min(furthest, c if not factors else 0)
            high += max(furthest, c if not factors else 0)
        return low, high

    # ---- arithmetic

    def __add__(self, other: Any) -> Any:
        if not self._takes(other):
            return NotImplemented
        total = dict(self.parts)
        for factors, c in _parts(other).items():
            total[factors] = total.get(factors, 0) + c
        return _made(total)

    def _takes(self, other: Any) -> bool:
        """Is it a whole number? A fraction would need the number itself."""
        if isinstance(other, float):
            raise _undecided("the number itself", self)
        return isinstance(other, int | Size)

    def __mul__(self, other: Any) -> Any:
        if not self._takes(other):
            return NotImplemented
        total: dict[Factors, int] = {}
        for f, a in self.parts.items():
            for g, b in _parts(other).items():
                both = tuple(sorted((*f, *g), key=_by_text))
                total[both] = total.get(both, 0) + a * b
        return _made(total)

    def __sub__(self, other: Any) -> Any:
        return self + -other if self._takes(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if self._takes(other) else NotImplemented

    def __truediv__(self, other: Any) -> Any:
        return float(self) if self._takes(other) else NotImplemented

    # fmt: off
    __radd__, __rmul__, __rtruediv__ = __add__, __mul__, __truediv__
    def __neg__(self) -> Any: return self * -1
    def __floordiv__(self, other: Any) -> Any: return _divided(self, other)[0]
    def __rfloordiv__(self, other: Any) -> Any: return _divided(_sized(other), other=self)[0]
    def __mod__(self, other: Any) -> Any: return _divided(self, other)[1]
    def __rmod__(self, other: Any) -> Any: return _divided(_sized(other), other=self)[1]
    # fmt: on

    # ---- what holds for all values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float | Size):
            return False
        if isinstance(other, float) and not other.is_integer():
            return False
        rest = self - (int(other) if isinstance(other, float) else other)
        if not isinstance(rest, Size):
            return bool(rest == 0)
        low, high = rest.bounds
        if low > 0 or high < 0 or _is_asked_by_us():
            return False
        raise _undecided(f"{self} == {other}", self, other)

    def _is_below(self, other: Any, sign: str) -> bool:
        rest = self * -1 + other
        low, high = rest.bounds if isinstance(rest, Size) else (rest, rest)
        least = 1 if sign == "<" else 0
        if low >= least or high < least:
            return bool(low >= least)
        raise _undecided(f"{self} {sign} {other}", self, other)

    # fmt: off
    def __lt__(self, other: Any) -> bool: return self._is_below(other, "<")
    def __le__(self, other: Any) -> bool: return self._is_below(other, "<=")
    def __gt__(self, other: Any) -> bool: return not self._is_below(other, "<=")
    def __ge__(self, other: Any) -> bool: return not self._is_below(other, "<")
    def __bool__(self) -> bool: return self != 0
    def __index__(self) -> int: raise _undecided("the number itself", self)
    def __float__(self) -> float: raise _undecided("the number itself", self)
    # fmt: on

    def _refused(self, *args: Any) -> Any:
        """Whatever else one may ask of an int."""
        raise _undecided("the number itself", self)

    __abs__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _refused
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __pow__ = __rpow__ = _refused
    __divmod__ = __rdivmod__ = __round__ = __trunc__ = __floor__ = __ceil__ = _refused
    bit_length = bit_count = to_bytes = as_integer_ratio = conjugate = _refused


def _is_asked_by_us() -> bool:
    """Is it no line of a user that compares? To us, what is not surely equal is different."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return bool(frame.f_globals.get("__name__", "").startswith(PACKAGE))


def _by_text(x: Unknown) -> str:
    return x.text


def _undecided(asked: str, *sizes: Any) -> UnknownSizeError:
    factors = {x for s in sizes if isinstance(s, Size) for f in s.parts for x in f}
    ranges = ", ".join(sorted(f"{x.text} from {x.least} to {x.most}" for x in factors))
    wrong = f"a size that is not known yet was asked for: {asked}"
    return UnknownSizeError(explain("Dim", wrong, HINT, sizes=ranges))


def _parts(x: Any) -> dict[Factors, int]:
    return x.parts if isinstance(x, Size) else {(): int(x)}


def _sized(x: Any) -> Size:
    return Size({(): x.__index__()})


def _made(parts: dict[Factors, int]) -> Size | int:
    parts = {f: c for f, c in parts.items() if c}
    return Size(parts) if any(parts) else parts.get((), 0)


def _divided(size: Size, other: Size | int) -> tuple[Any, Any]:
    """(quotient rounded down, remainder): what divides term by term does, the rest may too."""
    if not size._takes(other):
        return NotImplemented, NotImplemented
    quotient, remainder = _long_division(size, other)
    low, high = _ends(remainder)
    least, most = _ends(other)
    if least <= 0:
        raise _undecided(f"{size} // {other}", size, other)
    if low == high and least == most:
        return quotient + low // least, low % least
    for turn in (0, -1):  # rest between turn * other and (turn + 1) * other
        up, down = _ends(other * (turn + 1) - remainder)[0], _ends(remainder - other * turn)[0]
        if up > 0 and down >= 0:
            return quotient + turn, remainder - other * turn
    ends = [x // y for x in (low, high) for y in (least, most)]
    part = Size({(_unknown(f"(({remainder})//({other}))", min(ends), max(ends)),): 1})
    left_over = Size({(_unknown(f"(({remainder})%({other}))", 0, most - 1),): 1})
    return quotient + part, left_over


def _long_division(size: Size, other: Size | int) -> tuple[Any, Any]:
    """(quotient, rest), term by term: of the rest none is a multiple of other's first term."""
    first, c = max(_parts(other).items(), key=_order)
    quotient, rest = 0, size
    while True:
        terms = sorted(_parts(rest).items(), key=_order, reverse=True)
        shares = [(_without(factors, first), d) for factors, d in terms if d % c == 0]
        found = next(((left, d) for left, d in shares if left is not None and d), None)
        if found is None:
            return quotient, rest
        share = _made({found[0]: found[1] // c})
        quotient, rest = quotient + share, rest - other * share


def _order(term: tuple[Factors, int]) -> tuple[int, list[str]]:
    """Products of more unknowns are larger: so what is left gets smaller step by step."""
    return len(term[0]), [x.text for x in term[0]]


def _without(factors: Factors, divisor: Factors) -> Factors | None:
    left = list(factors)
    for x in divisor:
        if x not in left:
            return None
        left.remove(x)
    return tuple(left)


def _ends(x: Size | int) -> tuple[int, int]:
    return x.bounds if isinstance(x, Size) else (x, x)


def most(x: Any) -> Any:
    """The largest that a size can be: what memory is laid out for, and what is tuned for."""
    return x.bounds[1] if isinstance(x, Size) else x


def least(x: Any) -> Any:
    """The smallest that a size can be."""
    return x.bounds[0] if isinstance(x, Size) else x


def as_number(x: Any) -> Any:
    """A count to divide by: a float, or a size, which becomes a number beside a tensor."""
    return x if isinstance(x, Size) else float(x)


def names_in(sizes: Iterable[Size]) -> set[str]:
    """The Dims that sizes depend on."""
    return {word for size in sizes for word in re.findall(r"[^\W\d]\w*", size.text)}


def evaluator(sizes: Iterable[Size]) -> Callable[[Mapping[str, int]], list[int]]:
    """A function from the values of Dims to those of sizes, written out as one expression."""
    sizes = list(sizes)
    if not sizes:
        return lambda values: []
    names = sorted(names_in(sizes))
    text = ", ".join(size.text for size in sizes)
    found = eval(f"lambda {', '.join(names)}: [{text}]")
    return lambda values: found(*[int(values[name]) for name in names])
