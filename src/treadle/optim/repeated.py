"""Steps outside of compiled functions: recorded once, and one program from then on.

A rule recorded op by op at each step takes as long as many a step's kernels, and what it computes
would lie in memory of its own: a program writes over parameters and state that nobody else holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from treadle.tensor.tensor import Tensor, realize
from treadle.transforms.compile import Compiled


class Repeated:
    """The programs of an optimizer's steps; no part of copies and files."""

    __slots__ = ("compiled",)

    def __init__(self) -> None:
        self.compiled: Compiled | None = None

    def run(
        self, record: Callable[..., None], gradients: Sequence[Tensor | None], skip: Tensor | None
    ) -> None:
        """A step by gradients, which are computed before: with what else waits for the same."""
        waiting = [x for x in (*gradients, skip) if x is not None]
        if all(x is None for x in gradients):
            return
        realize(*waiting)
        if self.compiled is None:
            self.compiled = Compiled(record)
        if skip is None:
            self.compiled(*gradients)
        else:
            self.compiled(*gradients, skip=skip)

    def __reduce__(self) -> tuple[Any, ...]:
        return Repeated, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)()
