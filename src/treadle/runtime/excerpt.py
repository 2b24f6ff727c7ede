"""One piece of a program as a graph of its own, and what NumPy makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from treadle.backends.registry import BACKENDS
from treadle.backends.watching import Piece, Read
from treadle.ir.graph import copied, toposort
from treadle.ir.node import LEAF, Node
from treadle.ir.sites import parsed
from treadle.kernel.cost import QUIET
from treadle.ops.defs import Kind

Array = Any


class Excerpt:
    """A copy of what lies between the nodes that a piece reads and those that it writes."""

    def __init__(self, piece: Piece) -> None:
        self.kind, self.number = piece.kind, piece.number
        known = dict.fromkeys(piece.reads)
        between = toposort(piece.writes, known.__contains__)
        known |= {node: None for node in between if node.op is LEAF}
        self.sources = list(known)  # nodes of the program, in the order of the leaves
        self.roots, self.leaves = copied(piece.writes, self.sources)

    def nodes(self) -> list[Node]:
        """All but leaves, operands first."""
        ours = set(self.leaves)
        return [node for node in toposort(self.roots) if node not in ours]

    def computing(self) -> list[Node]:
        """Nodes that compute something: no views, no numbers."""
        found = [n for n in self.nodes() if n.op.kind not in QUIET and n.op.kind is not Kind.REGION]
        return found or self.roots

    def ops(self) -> str:
        """Names of what it computes, in order."""
        names = dict.fromkeys(n.op.name for n in self.nodes() if n.op.kind not in QUIET)
        return " ".join(names) or "copy"

    def sites(self) -> list[str]:
        """The user's lines, each once."""
        return list(dict.fromkeys(line_of(n.site) for n in self.computing() if n.site))

    def values(
        self, roots: Sequence[Node], given: Mapping[Node, Array], precise: bool = False
    ) -> list[Array]:
        """What NumPy makes of roots, from the values of leaves. precise: floats as float64."""
        return list(_evaluate()(roots, given.__getitem__, precise))


class Given:
    """What a piece reads: kept before it runs where it writes over that, else read afterwards."""

    def __init__(self, piece: Piece, read: Read) -> None:
        self.kept = {node: read(node) for node in piece.taken}

    def to(self, excerpt: Excerpt, read: Read) -> dict[Node, Array]:
        """The values of an excerpt's leaves."""
        pairs = zip(excerpt.leaves, excerpt.sources, strict=True)
        return {leaf: self.kept[x] if x in self.kept else read(x) for leaf, x in pairs}


def _evaluate() -> Callable[..., Sequence[Array]]:
    """The reference is loaded by name, as all backends are."""
    module = BACKENDS["reference"].partition(".backend:")[0]
    found: Callable[..., Sequence[Array]] = import_module(f"{module}.eval").evaluate
    return found


def line_of(site: str | None) -> str:
    """A site in words: `train.py:12 in softmax(axis=-1), backward, module blocks.0`."""
    known = parsed(site or "")
    text = known.line or "an unknown line"
    text += f" in {known.call}" if known.call else ""
    text += f", {known.phase}" if known.phase else ""
    return text + (f", module {known.module}" if known.module else "")
