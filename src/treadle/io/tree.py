"""Trees of tensors as a JSON text and tensors by name, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from treadle.base.dtypes import ALL, COMPLEX, DType
from treadle.base.errors import ArgumentError, FileError, OperandError, explain
from treadle.io.source import shown
from treadle.tensor.tensor import Tensor

DEEPEST = 100
"""Containers within each other: more is a mistake, such as a list that holds itself."""
DTYPES = {kind.name: kind for kind in (*ALL, *COMPLEX)}


class Taken:
    """Tensors and arrays taken out of a tree, by a name that says where they were."""

    def __init__(self, tree: Any) -> None:
        self.leaves: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self.form = self._form(tree, (), 0)

    @property
    def text(self) -> str:
        """What is left of the tree, as JSON."""
        try:
            return json.dumps(self.form, separators=(",", ":"), allow_nan=False)
        except ValueError as error:  # an integer of thousands of digits
            raise ArgumentError(explain("save", str(error))) from None

    def _form(self, tree: Any, path: tuple[str, ...], depth: int) -> Any:
        if depth > DEEPEST:
            where = shown(".".join(path[:5]))
            raise ArgumentError(explain("save", f"nested deeper than {DEEPEST}", below=where))
        if tree is None or isinstance(tree, str | bool | int):
            return _plain(tree, path)
        if isinstance(tree, float):
            return tree if isfinite(tree) else {"float": repr(tree)}
        if isinstance(tree, Tensor):
            return {"tensor": self._name(tree, path)}
        if isinstance(tree, np.ndarray | np.generic):
            kind = "array" if isinstance(tree, np.ndarray) else "number"
            return {kind: self._name(tree, path)}
        if isinstance(tree, DType):
            return {"dtype": tree.name}
        if isinstance(tree, dict):
            pairs = [
                [_key(key, path), self._form(value, (*path, str(key)), depth + 1)]
                for key, value in tree.items()
            ]
            return {"dict": pairs}
        if type(tree) in (list, tuple):
            parts = [self._form(x, (*path, str(k)), depth + 1) for k, x in enumerate(tree)]
            return {type(tree).__name__: parts}
        raise _refused(tree, path)

    def _name(self, leaf: Any, path: tuple[str, ...]) -> str:
        """The name of a leaf; what stands in several places is stored once."""
        name = self._names.get(id(leaf))
        if name is None:
            name = base = ".".join(path) or "value"
            number = 1
            while name in self.leaves or name == "__metadata__":
                number += 1
                name = f"{base}#{number}"
            self.leaves[name], self._names[id(leaf)] = leaf, name
        return name


def _plain(tree: Any, path: tuple[str, ...]) -> Any:
    """None, text, a truth or an integer; of a subclass, nothing is known."""
    if tree is None or type(tree) in (str, bool, int):
        return tree
    raise _refused(tree, path)


def _key(key: Any, path: tuple[str, ...]) -> Any:
    if key is None or type(key) in (str, bool, int) or (type(key) is float and isfinite(key)):
        return key
    hint = "strings and numbers are keys"
    raise _refused(key, path, "a key", hint)


def _refused(
    tree: Any,
    path: tuple[str, ...],
    what: str = "a value",
    hint: str = "dicts, lists, tuples, tensors, NumPy arrays, numbers, strings and None are",
) -> OperandError:
    facts = {"at": shown(".".join(path)), "got": type(tree).__name__}
    return OperandError(explain("save", f"{what} cannot be stored", hint, **facts))


# ---- and back


def built(wrong: Callable[..., FileError], form: Any, leaf: Callable[[str, str], Any]) -> Any:
    """The tree of a form; leaf(kind, name) gives a tensor, an array or a number."""
    found: dict[tuple[str, str], Any] = {}

    def stored(kind: str, name: Any) -> Any:
        if not isinstance(name, str):
            raise wrong("the tree names no tensor", got=shown(name))
        if (kind, name) not in found:
            found[kind, name] = leaf(kind, name)
        return found[kind, name]

    def build(part: Any, depth: int) -> Any:
        if not isinstance(part, dict | list):
            return part
        if not isinstance(part, dict) or len(part) != 1 or depth > DEEPEST:
            raise wrong("the tree is not one of td.save's", got=shown(part))
        ((kind, inside),) = part.items()
        if kind in ("tensor", "array", "number"):
            return stored(kind, inside)
        if kind in ("float", "dtype"):
            return _said(wrong, kind, inside)
        if kind not in ("dict", "list", "tuple") or not isinstance(inside, list):
            raise wrong("the tree is not one of td.save's", got=shown(part))
        if kind != "dict":
            parts = [build(x, depth + 1) for x in inside]
            return parts if kind == "list" else tuple(parts)
        pairs = [_pair(wrong, x) for x in inside]
        return {key: build(x, depth + 1) for key, x in pairs}

    return build(form, 0)


def _said(wrong: Callable[..., FileError], kind: str, text: Any) -> Any:
    """What is said by a word: a float that is not finite, or a dtype."""
    if kind == "float" and text in ("nan", "inf", "-inf"):
        return float(text)
    if kind == "dtype" and isinstance(text, str) and text in DTYPES:
        return DTYPES[text]
    raise wrong(f"the tree names no {kind}", got=shown(text))


def _pair(wrong: Callable[..., FileError], pair: Any) -> tuple[Any, Any]:
    whole = isinstance(pair, list) and len(pair) == 2
    if not whole or not isinstance(pair[0], str | bool | int | float | None):
        raise wrong("a dict in the tree is not made of keys and values", got=shown(pair))
    return pair[0], pair[1]
