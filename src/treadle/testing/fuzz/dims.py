"""Compiled functions along sizes that are not known: what is served are the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import treadle as td
from treadle.base.errors import CompilerError

LEAST, MOST = 3, 64  # sizes that become Dims, each size one of its own
PART = "part"  # what functions are called that assign nothing


class Sized:
    """The public names of treadle, where compiled functions are given Dims for sizes.

    What is refused is called with plain sizes.
    """

    def __init__(self, space: Any = td) -> None:
        self._space = space

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space, name)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, called with marked tensors."""
        plain, sized = td.compile(function), td.compile(function)
        if not function.__name__.startswith(PART):
            return plain

        def called(*args: Any) -> Any:
            try:
                found = sized(*map(marked, args))
            except CompilerError:
                raise
            except td.TreadleError:
                return plain(*args)
            return tuple(map(unmarked, found)) if isinstance(found, tuple) else unmarked(found)

        return called


def marked(x: Any) -> Any:
    """A tensor with Dims along its axes."""
    if not isinstance(x, td.Tensor) or x.requires_grad:
        return x
    for axis, n in enumerate(x.shape):
        if LEAST <= n <= MOST:
            x = td.Dim(f"d{int(n)}", min=LEAST, max=MOST).of(x, axis)
    return x


def unmarked(x: td.Tensor) -> td.Tensor:
    """A tensor with plain sizes."""
    return x._resized(tuple(int(n) for n in x.shape))
