"""Operands each of whose axes may be two in memory, as heads side by side: their blocks are boxes.

A place along an axis is a part and what is inside of it: row r of so many heads lies at
r // length * pitch + r % length * step. A block that stays inside one part of either axis is
brought by the copy engine like any other, at four coordinates instead of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from treadle.backends.cuda.copies import tensor_of
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.streamed import Matrix
from treadle.backends.cuda.windowed import LINE, divisor
from treadle.base.shapes import Shape
from treadle.kernel.index import Quotient, Remainder
from treadle.kernel.operands import Place, Separable
from treadle.kernel.steps import ProductStep


class Fold(NamedTuple):
    """An axis in memory: parts, their pitch, how long each is, and the step inside."""

    parts: int
    pitch: int
    length: int
    step: int


@dataclass(frozen=True)
class Folded(Matrix):
    """Where such an operand lies: along the axis that is not k, and along k."""

    folds: tuple[Fold, Fold]

    def tensor(self, items: Shape, block: tuple[int, int]) -> Tensor | None:
        """As the copy engine reads it; None: it cannot, or blocks are not within parts."""
        if items or any(fold.length % n for fold, n in zip(self.folds, block, strict=True)):
            return None
        inside = [(fold.length, fold.step, n) for fold, n in zip(self.folds, block, strict=True)]
        if self.strides[1] != 1:
            inside.reverse()
        parts = [(fold.parts, fold.pitch, 1) for fold in self.folds]
        return tensor_of(self.buffer, self.dtype, self.offset, [*parts, *inside])

    def coordinates(self, line: str, step: str) -> str:
        """Where a block begins, as text."""
        lines, steps = self.folds
        inside = [f"({line}) % {lines.length}", f"{step} % {steps.length}"]
        if self.strides[1] != 1:
            inside.reverse()
        return ", ".join([f"({line}) // {lines.length}", f"{step} // {steps.length}", *inside])

    @property
    def around(self) -> int:
        """Axes of a block in front of its lines."""
        return len(self.folds)


def folded(product: ProductStep, block: tuple[int, int]) -> Folded | None:
    """The rows of a product's tiles, if they lie so and blocks of them can be brought."""
    side, dtype = product.sides()[0], product.node.dtype
    operand = side.operand
    if not isinstance(operand, Separable) or operand.guards or operand.strides or side.turned:
        return None
    rows, columns = _fold(operand.rows), _fold(operand.columns)
    if rows is None or columns is None or operand.base.dtype is not dtype:
        return None
    strides, folds = (rows.step, columns.step), (rows, columns)
    made = Folded(operand.base, dtype, operand.offset, side.shape[-2:], strides, (), folds)
    return made if 1 in strides and made.tensor((), block) is not None else None


def _fold(place: Place) -> Fold | None:
    """An axis as parts of one length, if that is how it lies."""
    axis, index = place
    if index.constant or not index.terms:
        return None
    if index.terms == ((axis, step := index.coefficient(axis)),):
        return Fold(1, _pitch_of_one(axis.extent * step), axis.extent, step)
    found = [
        (atom, factor) for atom, factor in index.terms
        if isinstance(atom, Quotient) and divisor(atom.of, axis) == 1
    ]  # fmt: skip
    found.sort(key=lambda term: isinstance(term[0], Remainder))
    if len(found) != len(index.terms) or len(found) != 2:
        return None
    (outer, pitch), (inner, step) = found
    if isinstance(outer, Remainder) or not isinstance(inner, Remainder):
        return None
    length = outer.by
    whole = inner.by == length and axis.extent % length == 0
    return Fold(axis.extent // length, pitch, length, step) if whole else None


def _pitch_of_one(elements: int) -> int:
    """Any that the copy engine takes: there is no second part."""
    return -(-elements // LINE) * LINE
