"""`tune`: the ways of a function's kernels that are fastest on this machine, found by timing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.base.errors import ArgumentError, explain, require_function
from treadle.base.knobs import TUNE_SECONDS, override
from treadle.runtime.realize import forget
from treadle.transforms.compile import Compiled


def tune(
    function: Callable[..., Any], *args: Any, seconds: int | None = None, **options: Any
) -> Compiled:
    """The compiled function, with kernels that a search of some seconds on such arguments found.

    Nothing that the function assigns to is changed. What is found is kept on disk for this
    processor, and used wherever the same kernels on the same shapes are compiled from now on. The
    order of sums may be another one then; it does not depend on the number of threads.

    >>> import treadle as td
    >>> f = tune(lambda x: td.softmax(x) * 2.0, td.ones(64, 64), seconds=1)
    >>> float(f(td.ones(64, 64))[0, 0])
    0.03125
    """
    require_function("tune", function)
    bound = TUNE_SECONDS.value if seconds is None else seconds
    if not isinstance(bound, int) or bound < 1:
        raise ArgumentError(explain("tune", "seconds is a whole number above 0", got=repr(seconds)))
    compiled = function if isinstance(function, Compiled) else Compiled(function)
    compiled.forget()
    with override(tune=1, tune_seconds=bound):
        traced, tensors = compiled.trace(args, options)
        traced.rehearse(tensors)
    compiled.forget()
    forget()
    return compiled
