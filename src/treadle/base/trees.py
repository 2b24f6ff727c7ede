"""Nested containers flattened to leaves and built up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Structure = tuple[Any, ...] | None


def flatten(tree: Any, kind: type, leaves: list[Any]) -> Structure:
    """Append the leaves, of a kind, of lists, tuples and dicts to leaves; a hashable structure.

    What is neither is part of the structure, with its type and sign: 2 is not 2.0, nor 0.0 -0.0.
    """
    if isinstance(tree, kind):
        leaves.append(tree)
        return None
    if isinstance(tree, list | tuple):
        return (type(tree), *(flatten(part, kind, leaves) for part in tree))
    if isinstance(tree, dict):
        keys = tuple(tree)
        return (dict, keys, *(flatten(tree[key], kind, leaves) for key in keys))
    return ("static", type(tree), str(tree) if isinstance(tree, float) else "", tree)


def builder(structure: Structure) -> Callable[[Sequence[Any]], Any]:
    """A function from leaves to the tree, written out as one expression: it runs on every call."""
    names: dict[str, Any] = {}
    count = [0]

    def named(value: Any) -> str:
        names[f"v{len(names)}"] = value
        return f"v{len(names) - 1}"

    def text(part: Structure) -> str:
        if part is None:
            count[0] += 1
            return f"x[{count[0] - 1}]"
        kind = part[0]
        if kind == "static":
            return named(part[-1])
        if kind is dict:
            pairs = zip(part[1], part[2:], strict=True)
            return "{" + ", ".join(f"{named(k)}: {text(s)}" for k, s in pairs) + "}"
        inside = ", ".join(text(s) for s in part[1:])
        if kind is tuple:
            return f"({inside},)" if inside else "()"
        if kind is list:
            return f"[{inside}]"
        return (
            f"{named(kind)}({inside})" if hasattr(kind, "_fields") else f"{named(kind)}([{inside}])"
        )

    return eval(f"lambda x: {text(structure)}", names)


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The tree with these leaves."""
    rest = iter(leaves)

    def build(part: Structure) -> Any:
        if part is None:
            return next(rest)
        kind = part[0]
        if kind == "static":
            return part[-1]
        if kind is dict:
            return {key: build(s) for key, s in zip(part[1], part[2:], strict=True)}
        parts = [build(s) for s in part[1:]]
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)

    return build(structure)
