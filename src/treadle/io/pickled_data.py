"""What names of Python's and NumPy's own stand for in pickles of plain data.

NumPy's scalars become Python's numbers; its arrays are made of bytes that the pickle holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.base.dtypes import DType
from treadle.io.npz import CODES, Header, elements
from treadle.io.pickled import KEYS, Built, Call, Name
from treadle.io.source import Source, shown

BUILTINS = ("builtins", "__builtin__")
FACTORIES = ("bool", "dict", "float", "int", "list", "long", "str", "tuple", "unicode")
"""What a defaultdict may say it fills in."""
ARRAY = Name("numpy", "ndarray")
COPIES, LEAST_COPIES = 8, 1 << 28
"""Arrays may hold the same bytes: so many times the file's, or so many."""


class ElementType(Built):
    """A dtype of NumPy's, of numbers only."""

    def __init__(self, source: Source, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or code.lstrip("<>|=") not in CODES:
            raise source.wrong("NumPy's element type is not taken", got=shown(code))
        self.code, self.swapped = code.lstrip("<>|="), code[0] == ">"

    def build(self, state: Any) -> None:
        """Its byte order; all else is for records and dates."""
        if state[1] not in ("<", ">", "|", "="):
            raise ValueError
        self.swapped = state[1] == ">"

    def value(self) -> DType:
        """The dtype itself."""
        return CODES[self.code]


class Array(Built):
    """An array of NumPy's, once it was told its bytes."""

    def __init__(self, data: PlainData) -> None:
        self.data, self.array = data, None

    def build(self, state: Any) -> None:
        """Its shape, element type, order and bytes."""
        _, shape, kind, fortran, content = state
        if self.array is not None or type(fortran) is not bool:
            raise ValueError
        self.array = self.data.elements(kind, shape, fortran, content)

    def value(self) -> Any:
        """The array."""
        if self.array is None:
            raise self.data.source.wrong("it holds an array without elements")
        return self.array


class PlainData:
    """The rows of the table, and how many bytes arrays of this file have taken."""

    def __init__(self, source: Source) -> None:
        self.source, self.taken = source, 0

    def calls(self) -> dict[Name, Call]:
        """Every name, and what calling it gives."""
        inside = [f"numpy.{core}.multiarray" for core in ("core", "_core")]
        inert = [Name(module, name) for module in BUILTINS for name in FACTORIES]
        return {
            **dict.fromkeys((*inert, ARRAY), not_called),
            **{Name(module, "set"): _set for module in BUILTINS},
            **{Name(module, "bytes"): _no_bytes for module in BUILTINS},
            **{Name(module, "scalar"): self.scalar for module in inside},
            **{Name(module, "_reconstruct"): self.empty for module in inside},
            Name("numpy", "dtype"): lambda *given: ElementType(self.source, *given),
            Name("collections", "OrderedDict"): _pairs,
            Name("collections", "Counter"): _counted,
            Name("collections", "defaultdict"): _with_default,
            Name("_codecs", "encode"): _encoded,
        }

    def scalar(self, kind: Any, content: Any) -> Any:
        """A number."""
        return self.elements(kind, (), False, content).item()

    def empty(self, kind: Any, *_: Any) -> Array:
        """An array to be filled."""
        if kind != ARRAY:
            raise TypeError
        return Array(self)

    def elements(self, kind: Any, shape: Any, fortran: bool, content: Any) -> Any:
        """Bytes as an array of its own."""
        if not isinstance(kind, ElementType) or not isinstance(content, bytes):
            raise TypeError
        self.taken += len(content)
        if self.taken > max(LEAST_COPIES, COPIES * self.source.size):
            raise self.source.wrong("its arrays are many times larger than the file")
        header = Header(kind.code, kind.swapped, fortran, self.source.sizes(shape), 0)
        body = np.frombuffer(content, np.uint8)
        return elements(self.source, "array", header, kind.value(), body).copy("K")


def not_called(*_: Any) -> Any:
    """What stands for a class that is only named."""
    raise TypeError


def _pairs(pairs: Any = ()) -> dict[Any, Any]:
    found = {}
    for key, value in pairs:
        if not isinstance(key, KEYS):
            raise TypeError
        found[key] = value
    return found


def _counted(counts: Any = None) -> dict[Any, Any]:
    if not isinstance(counts, dict | None):
        raise TypeError
    return dict(counts or {})


def _with_default(factory: Any = None) -> dict[Any, Any]:
    if factory is not None and type(factory) is not Name:
        raise TypeError
    return {}


def _encoded(text: Any, code: Any) -> bytes:
    if not isinstance(text, str) or code != "latin1":
        raise TypeError
    return text.encode("latin1")


def _no_bytes() -> bytes:
    return b""


def _set(parts: Any = ()) -> set[Any]:
    if not all(isinstance(part, KEYS) for part in parts):
        raise TypeError
    return set(parts)
