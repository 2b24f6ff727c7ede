"""What a framework brings to the benchmark: a maker for each workload it can run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

LEARNING_RATE = 1e-4

Run = Callable[[], Any]  # one whole iteration, its results really computed when it returns
Maker = Callable[..., Run]  # the workload's inputs as NumPy arrays -> Run


def do_nothing() -> None:
    """For a framework that keeps nothing between workloads."""


@dataclass
class Framework:
    """A column of the table, loaded in a process of its own."""

    version: str
    to_numpy: Callable[[Any], list[Any]]
    makers: dict[str, Maker] = field(default_factory=dict)
    reset: Callable[[], None] = do_nothing


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """One output or several, as a tuple."""
    return tuple(outputs) if isinstance(outputs, (list, tuple)) else (outputs,)
