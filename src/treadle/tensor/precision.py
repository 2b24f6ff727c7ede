"""How exactly float32 products are computed where a device has something quicker."""

from __future__ import annotations

from treadle.base.errors import ArgumentError, explain
from treadle.base.knobs import MEANING, TF32

PRECISIONS = ("highest", "high", "medium")


def set_matmul_precision(precision: str) -> None:
    """Of float32 products: "highest" rounds nothing before it multiplies.

    "high" and "medium" let GPUs round operands to 10 bits (TF32) and use their tensor cores, which
    is many times quicker; sums stay in float32. It counts where a program is compiled. The CPU is
    not changed by it.

    >>> set_matmul_precision("highest")
    >>> get_matmul_precision()
    'highest'
    """
    if precision not in PRECISIONS:
        hint = f"one of {', '.join(PRECISIONS)}"
        raise ArgumentError(
            explain("set_matmul_precision", "unknown precision", hint, got=precision)
        )
    TF32.value = PRECISIONS.index(precision)
    MEANING.follow()


def get_matmul_precision() -> str:
    """As it was set: "highest" unless somebody did."""
    return PRECISIONS[TF32.value]
