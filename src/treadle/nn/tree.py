"""Which modules and parameters an attribute holds: itself, or the parts of a list or a dict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def parts(name: str, value: Any, kind: type[T]) -> Iterator[tuple[str, T]]:
    """Every object of a kind in a value, with its dotted name."""
    if isinstance(value, kind):
        yield name, value
    elif isinstance(value, list | tuple):
        for k, part in enumerate(value):
            yield from parts(f"{name}.{k}", part, kind)
    elif isinstance(value, dict) and not name.startswith("_"):
        for key, part in value.items():
            yield from parts(f"{name}.{key}", part, kind)


def indented(text: str) -> str:
    """The lines of a text after the first one moved to the right."""
    return text.replace("\n", "\n  ")


def shown(module: Any, *names: str) -> str:
    """Attributes as a call would give them: a=1, b=2."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)
