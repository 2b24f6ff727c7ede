"""A kernel that `TREADLE_CHECK=1` has saved, run again on what it had read then."""

from __future__ import annotations

from pathlib import Path

from treadle.backends.registry import backend_of
from treadle.backends.watching import Piece
from treadle.base.knobs import override
from treadle.runtime.excerpt import Excerpt
from treadle.runtime.realize import compile_graph
from treadle.runtime.replay import Saved
from treadle.runtime.shadow import Difference, first_difference


class Rerun:
    """What came of it.

    - **then**, **now**: how the result differed from NumPy's when it was saved, and today; None if
      it does not
    - **text**: the graph
    """

    def __init__(self, path: str | Path) -> None:
        saved = Saved(path)
        self.text = saved.text
        excerpt = Excerpt(Piece(0, "replay", saved.roots, saved.leaves, ()))
        given = dict(zip(excerpt.leaves, saved.given.values(), strict=True))
        self.then = first_difference(excerpt, given, saved.found)
        self.now = first_difference(excerpt, given, _run(saved))

    def __str__(self) -> str:
        return f"{self.text}\nthen  {_said(self.then)}\nnow   {_said(self.now)}"


def _said(difference: Difference | None) -> str:
    return "as NumPy has it" if difference is None else str(difference)


def _run(saved: Saved) -> list[object]:
    inputs = [
        backend_of(leaf.device).upload(array, leaf.type, True)
        for leaf, array in saved.given.items()
    ]
    with override(check=0, anomaly=0):
        program = compile_graph(saved.roots, saved.leaves, {})
        results = program.run(inputs)
    pairs = zip(saved.roots, results, strict=True)
    return [backend_of(root.device).download(memory, root.type) for root, memory in pairs]
