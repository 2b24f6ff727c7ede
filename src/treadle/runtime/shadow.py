"""Every kernel held against NumPy on what it has read: the first that differs is named and saved.

How far a result may be off follows from the piece itself. NumPy computes it several times: as the
dtypes say, in float64, and in float64 from operands that are off by some roundings. Where these
differ much, rounding counts for much, and where they choose differently nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.watching import Piece, Read
from treadle.base.dtypes import DType, float64
from treadle.base.errors import CompilerError
from treadle.base.knobs import TF32
from treadle.ir.node import Node
from treadle.ir.printer import type_text
from treadle.ops.defs import Kind
from treadle.runtime.excerpt import Excerpt, Given
from treadle.runtime.replay import save

Array = Any
ROUNDINGS = 16  # that one op may be off, as a multiple of one rounding
SHAKES, SHAKEN = 3, 16  # times that operands are moved, by so many roundings
APART = 2  # times as far as NumPy's own results are from each other
UNSEEN = 16  # times as far in float64: what rounding does inside is not seen by a wider float
HALF = 10  # bits of what is computed in a wider float
USUAL = 0.95  # of the elements are not above what counts as usual
AMBIGUOUS = frozenset(("qr_pack", "eigh_pack", "svd_pack", "eig_pack", "lu_pack"))
"""Factors are not the only ones there are: signs, and the order of equal values."""


class Difference(NamedTuple):
    """A result that is not what NumPy makes."""

    node: Node
    wrong: int  # elements
    where: tuple[int, ...]  # of the worst
    found: Any
    expected: Any
    allowed: float

    def __str__(self) -> str:
        how_many = f"{self.wrong} of {self.node.type.size} elements differ"
        at = f"at {self.where} it is {self.found}, NumPy makes {self.expected}"
        return f"{type_text(self.node.type)}: {how_many}; {at}, off by {self.allowed:.3g} at most"


class Shadow:
    """Watches every piece of a program."""

    def __init__(self) -> None:
        self.given: Given | None = None
        self.excerpts: dict[int, Excerpt] = {}

    def before(self, piece: Piece, read: Read) -> None:
        """Keep what will be written over."""
        self.given = Given(piece, read)

    def after(self, piece: Piece, read: Read) -> None:
        """Raise where a result differs."""
        given, self.given = self.given, None
        if given is None or piece.kind == "reference":
            return
        excerpt = self.excerpts.get(piece.number) or Excerpt(piece)
        self.excerpts[piece.number] = excerpt
        values = given.to(excerpt, read)
        found = [read(node) for node in piece.writes]
        difference = first_difference(excerpt, values, found)
        if difference is not None:
            path = save(excerpt, values, found)
            raise CompilerError(_message(excerpt, difference, path))


def _message(excerpt: Excerpt, difference: Difference, path: str) -> str:
    lines = ", ".join(excerpt.sites()) or "an unknown line"
    head = f"check: kernel {excerpt.number} differs from NumPy: {excerpt.kind} {excerpt.ops()}"
    hint = f"treadle replay {path} runs it again; send that file with a bug report"
    return f"{head}\n  at {lines}\n  {difference}\n  saved as {path}\n  hint: {hint}"


def first_difference(
    excerpt: Excerpt, given: Mapping[Node, Array], found: list[Array]
) -> Difference | None:
    """The first result of a piece that is not close to NumPy's."""
    if any(node.op.name in AMBIGUOUS for node in excerpt.nodes()):
        return None
    plain = excerpt.values(excerpt.roots, given)
    wide = excerpt.values(excerpt.roots, given, precise=True)
    moved = _moved(given)
    runs = [excerpt.values(excerpt.roots, x, precise=True) for x in moved]
    terms = _terms(excerpt)
    for k, node in enumerate(excerpt.roots):
        difference = _compared(node, found[k], plain[k], wide[k], [run[k] for run in runs], terms)
        if difference is not None:
            return difference
    return None


def _moved(given: Mapping[Node, Array]) -> list[dict[Node, Array]]:
    """Floats that are off by some roundings, up or down as by chance, always the same."""
    if not any(leaf.dtype.is_float for leaf in given):
        return []
    rng = np.random.default_rng(0)

    def off(leaf: Node, array: Array) -> Array:
        if not leaf.dtype.is_float:
            return array
        roundings = SHAKEN if leaf.dtype.mantissa > HALF else 1
        sign = rng.integers(0, 2, array.shape) * 2 - 1
        return array.astype(np.float64) * (1 + roundings * unit(leaf.dtype) * sign)

    with np.errstate(all="ignore"):
        return [{leaf: off(leaf, x) for leaf, x in given.items()} for _ in range(SHAKES)]


def unit(kind: DType) -> float:
    """One rounding of a number near 1."""
    return 2.0 ** -(kind.mantissa + 1)


def _terms(excerpt: Excerpt) -> int:
    """How many numbers are added up for one element, at most."""
    found = 1
    for node in excerpt.nodes():
        if node.op.kind is Kind.CONTRACT:
            found += int(node.operands[0].shape[-1])
        elif node.op.kind in (Kind.REDUCE, Kind.SCAN, Kind.SCATTER, Kind.ROUTINE, Kind.REGION):
            found += max(int(x.type.size) for x in node.operands)
    return found


def _compared(
    node: Node, found: Array, plain: Array, wide: Array, shaken: Sequence[Array], terms: int
) -> Difference | None:
    if not node.dtype.is_float:
        sure = np.all([plain == other for other in (wide, *shaken)], axis=0)
        allowed, wrong = np.zeros(found.shape), (found != plain) & sure
    else:
        with np.errstate(all="ignore"):
            rounded = wide.astype(numpy_dtype(node.dtype)).astype(np.float64)
            found, plain = found.astype(np.float64), plain.astype(np.float64)
            allowed = _allowed(node, plain, wide, shaken, terms)
            odd = ~np.all([np.isfinite(x) for x in (plain, rounded, *shaken)], axis=0)
            near = np.abs(found - wide) <= allowed
            wrong = ~(near | (found == plain) | (odd & ~np.isfinite(found)))
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        off = np.nan_to_num(np.abs(found.astype(np.float64) - plain), nan=np.inf, posinf=np.inf)
    worst = np.unravel_index(int(np.argmax(np.where(wrong, off, -1.0))), found.shape)
    where = tuple(int(k) for k in worst)
    return Difference(
        node, int(wrong.sum()), where, found[where], plain[where], float(allowed[where])
    )


def _allowed(node: Node, plain: Array, wide: Array, shaken: Sequence[Array], terms: int) -> Array:
    """How far each element may be from the one that float64 gives."""
    spread = np.max([np.abs(other - wide) for other in (plain, *shaken)], axis=0)
    spread = np.where(np.isfinite(spread), spread, 0.0)
    size = np.where(np.isfinite(wide), np.abs(wide), 0.0)
    root = math.sqrt(terms)
    rounding = 2.0**-11 if TF32.value and node.device.backend == "cuda" else unit(node.dtype)
    allowed = rounding * (ROUNDINGS + root) * (size + _usual(size))
    allowed += (APART + root / APART) * (spread + _usual(spread))
    return allowed * (UNSEEN if node.dtype is float64 else 1)


def _usual(values: Array) -> float:
    return float(np.quantile(values, USUAL)) if values.size else 0.0
