"""Steps outside of compiled functions: recorded once, and one program from then on.

A rule recorded op by op at each step takes as long as many a step's kernels, and what it computes
would lie in memory of its own: a program writes over parameters and state that nobody else holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Self

from treadle.tensor.tensor import Tensor, realize
from treadle.transforms.compile import Compiled


class Repeated:
    """The programs of an optimizer's steps; no part of copies and files."""

    __slots__ = ("compiled", "state")

    def __init__(self) -> None:
        self.compiled: Compiled | None = None
        self.state: list[Tensor] = []

    def run(
        self, record: Callable[..., None], state: list[Tensor],
        gradients: Sequence[Tensor | None], skip: Tensor | None,
    ) -> None:  # fmt: skip
        """A step by gradients, which are computed before: with what else waits for the same.

        state: the tensors that a trace closes over. Somebody may have put others into their place.
        """
        if all(x is None for x in gradients):
            return
        realize(*[x for x in (*gradients, skip) if x is not None])
        same = len(state) == len(self.state) and all(map(is_, state, self.state))
        if self.compiled is None or not same:
            self.compiled, self.state = Compiled(record), state
        if skip is None:
            self.compiled(*gradients)
        else:
            self.compiled(*gradients, skip=skip)

    def __reduce__(self) -> tuple[Any, ...]:
        return Repeated, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)()
