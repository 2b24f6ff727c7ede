"""What a device may do more quickly: round float32 products, add up in any order."""

from __future__ import annotations

from treadle.base.errors import ArgumentError, explain
from treadle.base.knobs import DETERMINISTIC, MEANING, TF32

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


def set_deterministic(on: bool) -> None:
    """Off: GPUs add up floats that meet at an index in any order, which is quicker.

    So `scatter_add`, `index_add` and gradients of embeddings and lookups may differ in their last
    digits from run to run; nothing else does. It counts where a program is compiled. The CPU is
    not changed by it.

    >>> set_deterministic(True)
    >>> is_deterministic()
    True
    """
    DETERMINISTIC.value = int(bool(on))
    MEANING.follow()


def is_deterministic() -> bool:
    """As it was set: True unless somebody did."""
    return bool(DETERMINISTIC.value)
