"""Nested containers flattened to leaves and built up again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Structure = tuple[Any, ...] | None


def flatten(tree: Any, is_leaf: Callable[[Any], bool], leaves: list[Any]) -> Structure:
    """Append the leaves of lists, tuples and dicts to leaves; return a hashable structure.

    What is neither a container nor a leaf is part of the structure.
    """
    if is_leaf(tree):
        leaves.append(tree)
        return None
    if isinstance(tree, list | tuple):
        return (type(tree), *(flatten(part, is_leaf, leaves) for part in tree))
    if isinstance(tree, dict):
        keys = tuple(tree)
        return (dict, keys, *(flatten(tree[key], is_leaf, leaves) for key in keys))
    return ("static", tree)


def unflatten(structure: Structure, leaves: list[Any]) -> Any:
    """The tree with leaves taken from the front of the list."""
    if structure is None:
        return leaves.pop(0)
    kind = structure[0]
    if kind == "static":
        return structure[1]
    if kind is dict:
        return {k: unflatten(s, leaves) for k, s in zip(structure[1], structure[2:], strict=True)}
    parts = [unflatten(s, leaves) for s in structure[1:]]
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
