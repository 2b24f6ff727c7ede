"""Functions of the driver that are called often: by themselves, as wrapped ones take longer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any


@cache
def library() -> Any:
    """The driver."""
    return ctypes.CDLL("libcuda.so.1")


def encoder() -> Any:
    """What writes a tensor map: cuTensorMapEncodeTiled."""
    return library().cuTensorMapEncodeTiled


def ready(
    function: Any, grid: tuple[int, int], threads: int, shared: int, stream: Any, address: int
) -> Callable[[], int]:
    """A launch that is made whenever it is called, with the arguments that lie at an address then.

    It returns the driver's code: 0 where all went well.
    """
    pointers = [ctypes.c_void_p(int(x)) for x in (function, stream, address)]
    sizes = *grid, 1, threads, 1, 1, shared
    return partial(library().cuLaunchKernel, pointers[0], *sizes, *pointers[1:], None)
