"""The first NaN or infinity: which op makes it, from what, and at which line."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.backends.watching import Piece, Read
from treadle.base.errors import AnomalyError, explain
from treadle.ir.node import LEAF, Node
from treadle.ir.printer import type_text
from treadle.ops.defs import Kind
from treadle.runtime.excerpt import Excerpt, Given, line_of

Array = Any


class Finite:
    """Watches what pieces write.

    An infinity that is made of infinities, as those of a mask, is no fault, and a NaN is always
    one, also where it was in what the piece reads.
    """

    def __init__(self) -> None:
        self.given: Given | None = None

    def before(self, piece: Piece, read: Read) -> None:
        """Keep what will be written over."""
        self.given = Given(piece, read)

    def after(self, piece: Piece, read: Read) -> None:
        """Raise where a value is not finite and should be."""
        given, self.given = self.given, None
        written = {node: _lacks(read(node)) for node in piece.writes}
        if given is None or not any(written.values()):
            return
        excerpt = Excerpt(piece)
        values = given.to(excerpt, read)
        message = _op_that_makes(excerpt, values) or _given_before(excerpt, values)
        if not message and not any(map(_lacks, values.values())):
            wrong = f"a kernel makes {max(written.values())} and NumPy does not: {excerpt.ops()}"
            message = explain("anomaly", wrong, "run it with TREADLE_CHECK=1", at=_lines(excerpt))
        if message:
            raise AnomalyError(message)


def _lacks(array: Array) -> str:
    """What there is besides finite numbers: "NaN", "inf" or nothing."""
    if array.dtype.kind not in "fcV" or not array.size:
        return ""
    array = _wide(array)
    if np.isfinite(array).all():
        return ""
    return "NaN" if np.isnan(array).any() else "inf"


def _wide(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.kind == "V" or array.itemsize < 4 else array


def _op_that_makes(excerpt: Excerpt, given: dict[Node, Array]) -> str:
    """The first op whose result has what none of its operands has, in words."""
    plain = [n for n in excerpt.nodes() if n.op.kind is not Kind.REGION]
    values = given | dict(zip(plain, excerpt.values(plain, given), strict=True))
    for node in plain:
        operands = _operands(node)
        if node.op.kind in (Kind.SOURCE, Kind.MOVEMENT):
            continue
        found, before = _lacks(values[node]), {_lacks(values[x]) for x in operands}
        if (found == "NaN" and "NaN" not in before) or (found == "inf" and before <= {""}):
            return _made(node, [(x, values[x]) for x in operands], values[node], found)
    return ""


def _given_before(excerpt: Excerpt, given: dict[Node, Array]) -> str:
    """A NaN that was there already, in words."""
    for leaf, array in given.items():
        if _lacks(array) == "NaN":
            wrong = f"NaN was in what {excerpt.ops()} reads at {_lines(excerpt)}"
            return f"anomaly: {wrong}\n{_ranges([(leaf, array)])}"
    return ""


def _lines(excerpt: Excerpt) -> str:
    return ", ".join(excerpt.sites()) or "an unknown line"


def _operands(node: Node) -> tuple[Node, ...]:
    """What a value is computed from; of a result of a loop, what the loop reads."""
    if node.op.kind is Kind.RESULT:
        return tuple(dict.fromkeys(node.operands[0].operands))
    return tuple(dict.fromkeys(node.operands))


def _made(node: Node, operands: list[tuple[Node, Array]], result: Array, what: str) -> str:
    name = node.operands[0].op.name if node.op.kind is Kind.RESULT else node.op.name
    wide = _wide(result)
    bad = np.argwhere(np.isnan(wide) if what == "NaN" else np.isinf(wide))
    first = f", the first at {tuple(map(int, bad[0]))}" if result.ndim else ""
    how_many = f"{len(bad)} of {result.size} elements{first}"
    return "\n".join([
        f"anomaly: {name} makes {what} at {line_of(node.site)}",
        f"  result {type_text(node.type)}: {how_many}",
        _ranges(operands),
        "  hint: that line is where to look; clamp what it reads, or add a small number to it",
    ])  # fmt: skip


def _ranges(operands: list[tuple[Node, Array]]) -> str:
    lines = []
    for number, (node, array) in enumerate(operands):
        source = "in memory" if node.op is LEAF else f"by {node.op.name}"
        source += f" at {line_of(node.site)}" if node.site else ""
        lines.append(f"  input {number} {type_text(node.type)} {range_of(array)}, {source}")
    return "\n".join(lines)


def range_of(array: Array) -> str:
    """`from -1.5 to 3`, and how many elements are not finite."""
    if not array.size:
        return "without elements"
    wide = _wide(np.asarray(array))
    odd = [
        f"{count} {name}"
        for name, count in (("NaN", np.isnan(wide).sum()), ("inf", np.isinf(wide).sum()))
        if count
    ]
    finite = wide[np.isfinite(wide)]
    if finite.dtype.kind == "c":
        finite = np.abs(finite)
    parts = [f"from {float(finite.min()):.6g} to {float(finite.max()):.6g}"] if finite.size else []
    return ", ".join(parts + odd)
