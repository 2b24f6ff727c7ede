"""How far rounding may move what a statement computes: one number for all elements of a result.

Tensors start as small whole numbers or quarters, so most of what is computed from them is exact in
every order; then the bound is 0 and every way to run a program must give the same bits. Where it
is not, a rule bounds the error of one statement from the errors and sizes of its operands, coarsely
and from above: the mistakes that are looked for are as large as the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treadle.base.dtypes import DType, dtype
from treadle.testing.arrays import unit_roundoff

Array = Any
GRAINS = (1.0, 0.25, 2.0**-4, 2.0**-6, 2.0**-8)
STEEPEST = 1.6  # no slope of a smooth function in the vocabulary is larger
ROUNDINGS = 24  # of a function of one element in its own dtype


class Unfit(Exception):
    """A statement whose values nobody could check: too large, too inexact, or not there."""


@dataclass(eq=False)
class Value:
    """What a name means: elements, how far each may be off, and which kind of object it is."""

    array: Array
    error: float = 0.0
    form: str = "tensor"  # or "array", "number", "function"
    kind: DType | None = None
    needs_grad: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> DType:
        """Of the elements."""
        return self.kind if self.kind is not None else dtype(self.array.dtype.name)

    @property
    def size(self) -> int:
        """How many elements."""
        return int(self.array.size)

    @property
    def is_exact(self) -> bool:
        """Are these the very bits in every way to compute it?"""
        return self.error == 0.0

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return largest(self.array)


def largest(array: Array) -> float:
    """The largest absolute value of an array; 0 if it is empty."""
    if not array.size or array.dtype == bool:
        return 1.0 if array.size else 0.0
    return float(np.abs(array.astype(np.float64)).max())


def limit_of(kind: DType) -> float:
    """Floats above are not computed with: nothing shall overflow, whatever the order."""
    if not kind.is_float:
        return math.inf
    return {4: 1e5, 8: 1e7}.get(kind.size, 500.0 if kind.size == 2 else 60.0)


def grain(array: Array) -> float:
    """The largest power of two of which all elements are multiples, if it is not too small."""
    wide = array.astype(np.float64)
    for step in GRAINS:
        if np.array_equal(np.round(wide / step) * step, wide):
            return step
    return 0.0


def sums_exactly(terms: Sequence[Value], mass: float, kind: DType) -> bool:
    """Is any partial sum of products of terms, up to a mass, a number of the dtype?"""
    step = math.prod(grain(x.array) for x in terms if x.dtype.is_float)
    return step > 0 and mass / step < 2.0 ** min(kind.mantissa, 52)


@dataclass(frozen=True)
class Facts:
    """What a rule may look at: operands, one result, and the graph between them."""

    inputs: Sequence[Value]
    result: Array
    kind: DType
    peak: float  # the largest absolute value of any node in between
    nodes: int
    coarsest: float  # the largest rounding, near 1, of any node in between

    @property
    def step(self) -> float:
        """One rounding of a number near 1."""
        return unit_roundoff(self.kind)

    @property
    def rounding(self) -> float:
        """Of the result, to its dtype."""
        return self.step * max(self.peak, 2.0**-14)

    @property
    def worst(self) -> float:
        """The largest error of an operand."""
        return max((x.error for x in self.inputs), default=0.0)

    @property
    def terms(self) -> int:
        """How many elements of the operands go into one of the result, at most."""
        most = max((x.size for x in self.inputs), default=1)
        return max(1, math.ceil(most / max(1, self.result.size)))

    @property
    def depth(self) -> int:
        """The length of the axis that a product sums over."""
        return max(1, *(n for x in self.inputs for n in x.shape[-2:]))


def _moved(f: Facts) -> float:
    return f.worst


def _added(f: Facts) -> float:
    return sum(x.error for x in f.inputs) + 3 * f.rounding


def _multiplied(f: Facts) -> float:
    """Each operand may be a factor of the others; a number in the text is at most 4."""
    sizes = [x.largest + x.error for x in f.inputs if x.dtype.is_float or x.size]
    parts = [x.error * math.prod([4.0, *sizes]) / max(x.largest + x.error, 1e-30)
             for x in f.inputs if x.error]  # fmt: skip
    return sum(parts) + 3 * f.rounding


def _smooth(f: Facts) -> float:
    return STEEPEST * f.worst + ROUNDINGS * f.step * max(1.0, f.peak)


def _summed(f: Facts) -> float:
    return f.terms * f.worst + (f.terms + 4) * f.step * max(_sum_mass(f), f.peak)


def _sum_mass(f: Facts) -> float:
    return f.terms * max((x.largest for x in f.inputs), default=0.0)


def _scanned(f: Facts) -> float:
    longest = max((n for x in f.inputs for n in x.shape), default=1)
    return longest * f.worst + (longest + 4) * f.step * _scan_mass(f)


def _scan_mass(f: Facts) -> float:
    longest = max((n for x in f.inputs for n in x.shape), default=1)
    return longest * max((x.largest for x in f.inputs), default=0.0)


def _product(f: Facts) -> float:
    a, b = f.inputs[:2]
    carried = a.error * b.largest + b.error * a.largest + a.error * b.error
    return f.depth * carried + (f.depth + 4) * f.step * _product_mass(f)


def _product_mass(f: Facts) -> float:
    a, b = f.inputs[:2]
    return f.depth * max(1.0, a.largest) * max(1.0, b.largest)


def _windowed(f: Facts) -> float:
    """Of a convolution: no element sums more products than there are weights."""
    a, b = f.inputs[:2]
    carried = a.error * b.largest + b.error * a.largest + a.error * b.error
    return b.size * carried + (b.size + 4) * f.step * _windowed_mass(f)


def _windowed_mass(f: Facts) -> float:
    """Where products are spared, sums of elements are multiplied, and halves of them."""
    a, b = f.inputs[:2]
    return 64 * b.size * max(1.0, a.largest) * max(1.0, b.largest)


def _shares(f: Facts) -> float:
    """Of a softmax and its like: results below 1 or near the operand."""
    longest = max((n for x in f.inputs for n in x.shape), default=1)
    reach = 4 * f.peak + longest + ROUNDINGS
    return 4 * f.worst + reach * f.step * max(1.0, f.peak)


def _loose(f: Facts) -> float:
    """Whatever a function of exact operands goes through, if it is no worse than gentle."""
    longest = max((n for x in f.inputs for n in x.shape), default=1)
    return 64 * f.coarsest * (f.nodes + longest) * max(1.0, f.peak)


@dataclass(frozen=True)
class Rule:
    """How errors go through a statement, and what the order of a sum may change.

    - **error**: bounds the error of the result where it is not exact
    - **mass**: bounds all partial sums, for statements that add up in an order of their own
    - **sharp**: operands must be exact, because the result jumps
    - **decides**: so must the first operand, which decides between the others
    - **always**: something inside is rounded, though the result may not show it
    - **bends**: the slope jumps, so operands must be exact where one is taken
    """

    error: Callable[[Facts], float]
    mass: Callable[[Facts], float] | None = None
    sharp: bool = False
    decides: bool = False
    always: bool = False
    bends: bool = False


RULES: dict[str, Rule] = {
    "move": Rule(_moved),
    "add": Rule(_added),
    "kink": Rule(_added, bends=True),
    "pick": Rule(_moved, bends=True),
    "multiply": Rule(_multiplied),
    "smooth": Rule(_smooth, always=True),
    "sum": Rule(_summed, _sum_mass),
    "scan": Rule(_scanned, _scan_mass),
    "product": Rule(_product, _product_mass),
    "windows": Rule(_windowed, _windowed_mass),
    "shares": Rule(_shares, always=True),
    "jump": Rule(_moved, sharp=True),
    "choose": Rule(_added, decides=True),
    "loose": Rule(_loose, always=True, sharp=True),
}


def bound(rule: Rule, facts: Facts, exact: bool) -> float:
    """The error of a result; exact: no node on the way was rounded in the order of the reference.

    Raises Unfit where the result is not worth checking.
    """
    if (rule.sharp and facts.worst) or (rule.decides and facts.inputs[0].error):
        raise Unfit("jumps on inexact values")
    array, kind = facts.result, facts.kind
    if not kind.is_float:
        if facts.worst:
            raise Unfit("whole numbers from inexact values")
        return 0.0
    size = largest(array)
    if not math.isfinite(size) or size > limit_of(kind) or facts.peak > 1e12:
        raise Unfit("too large")
    if exact and not facts.worst and not rule.always:
        mass = rule.mass(facts) if rule.mass is not None else 0.0
        if rule.mass is None or sums_exactly(facts.inputs, mass, kind):
            return 0.0
    error = rule.error(facts)
    if not error <= 0.05 * max(1.0, size):
        raise Unfit("too inexact")
    return error


def difference(value: Value, found: Array) -> str:
    """What is wrong with a result that shall be a value; empty if it lies within its bound."""
    expected = value.array
    if found.shape != expected.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    if found.dtype != expected.dtype:
        return f"{found.dtype} instead of {expected.dtype}"
    if value.is_exact:
        wrong = found != expected
    else:
        gap = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        wrong = ~(gap <= 2 * value.error)
    if not np.any(wrong):
        return ""
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    near = f" ± {2 * value.error:.2g}" if value.error else ""
    return (f"{int(np.sum(wrong))} of {found.size} wrong, first at {list(at)}: {found[at]} "
            f"instead of {expected[at]}{near}")  # fmt: skip
