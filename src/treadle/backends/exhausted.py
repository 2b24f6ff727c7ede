"""The error of a device without memory: what was asked for, and who holds the rest."""

from __future__ import annotations

from collections.abc import Callable

from treadle.base.errors import OutOfMemory, explain

HOLDERS: list[Callable[[str], str]] = []
"""Given a backend's name, each says in words what is held of its memory."""


def exhausted(backend: str, what: str, wrong: str, hint: str, **facts: object) -> OutOfMemory:
    """The error to raise."""
    message = explain(what, wrong, hint, **facts)
    try:
        parts = [part for tell in HOLDERS if (part := tell(backend))]
    except MemoryError:  # not even for that
        parts = []
    return OutOfMemory("\n".join([message, *parts]))
