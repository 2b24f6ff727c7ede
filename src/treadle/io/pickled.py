"""A machine for pickles of plain data: what they name is looked up in a table, never imported.

A pickle is a program. This one can make numbers, texts, lists, tuples, dicts and sets; a class or
function is an inert Name, and calling it means a row of the table that the reader of a format
gives. There is no way from a file to any other code.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from treadle.base.errors import FileError
from treadle.io.source import Source, shown

WINDOW = 1 << 16
LONGEST_LINE = 1000
MISFITS = (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError)
LONGEST_INTEGER = 64  # bytes
KEYS = (str, int, float, bool, bytes, type(None))


class Name(NamedTuple):
    """A class or function that a pickle names."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Built(ABC):
    """What a pickle first makes and then tells its state."""

    @abstractmethod
    def build(self, state: Any) -> None:
        """Take the state."""

    @abstractmethod
    def value(self) -> Any:
        """What it is in the end."""


class Mark:
    """Where a container's parts begin on the stack."""


Call = Callable[..., Any]


class Machine:
    """Reads one pickle that begins at a place in a source; `end` is where it ended."""

    def __init__(
        self, source: Source, start: int, calls: Mapping[Name, Call], stored: Call, limit: int
    ) -> None:
        self.source, self.calls, self.stored = source, calls, stored
        self.end, self._limit = start, limit
        self._window, self._begin = b"", start
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that the pickle leaves on its stack."""
        while True:
            code = self._take(1)[0]
            if code == STOP:
                return self._pop()
            step = STEPS.get(code)
            if step is None:
                raise self._wrong("an instruction that plain data do not need", code=hex(code))
            step(self)

    # ---- bytes

    def _wrong(self, what: str, hint: str = "", /, **facts: object) -> FileError:
        return self.source.wrong(f"in the pickle: {what}", hint, at=self.end, **facts)

    def _take(self, count: int) -> bytes:
        """The next bytes; from beyond the end nothing is read and nothing allocated."""
        if self.end + count > self._limit:
            raise self._wrong("it ends before what it says it holds", bytes=count)
        place = self.end - self._begin
        if place + count > len(self._window):
            size = min(max(count, WINDOW), self._limit - self.end)
            self._window, self._begin, place = self.source.read(self.end, size), self.end, 0
        self.end += count
        return self._window[place : place + count]

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self) -> str:
        """Text up to the end of the line."""
        found = bytearray()
        while not found.endswith(b"\n"):
            found += self._take(1)
            if len(found) > LONGEST_LINE:
                raise self._wrong("a name is too long")
        return self._text(bytes(found[:-1]))

    def _text(self, data: bytes) -> str:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self._wrong("a text is not UTF-8") from None

    # ---- the stack

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _pop(self) -> Any:
        if not self._stack or self._stack[-1] is Mark:
            raise self._wrong("it takes a value that was not made")
        return self._stack.pop()

    def _top(self, kind: type) -> Any:
        """The value on top, which something is put into."""
        if not self._stack or not isinstance(self._stack[-1], kind):
            raise self._wrong(f"it changes something that is no {kind.__name__}")
        return self._stack[-1]

    def _marked(self) -> list[Any]:
        """All values since the last mark."""
        for place in range(len(self._stack) - 1, -1, -1):
            if self._stack[place] is Mark:
                found = self._stack[place + 1 :]
                del self._stack[place:]
                return found
        raise self._wrong("it ends a container that was not begun")

    def _several(self, count: int) -> tuple[Any, ...]:
        return tuple([self._pop() for _ in range(count)][::-1])

    # ---- containers

    def _items(self, parts: list[Any]) -> None:
        into = self._top(dict)
        if len(parts) % 2:
            raise self._wrong("a dict has a key without a value")
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            into[self._key(key)] = value

    def _key(self, key: Any) -> Any:
        """A key that is cheap to hash and to compare."""
        flat = type(key) is tuple and all(isinstance(part, KEYS) for part in key)
        if not flat and not isinstance(key, KEYS):
            raise self._wrong("no key for a dict", got=type(key).__name__)
        return key

    def _append(self, parts: list[Any]) -> None:
        self._top(list).extend(parts)

    def _add(self, parts: list[Any]) -> None:
        self._top(set).update(map(self._key, parts))

    # ---- the memo

    def _keep(self, number: int) -> None:
        value = self._pop()
        self._push(value)
        self._memo[number] = value

    def _recall(self, number: int) -> None:
        if number not in self._memo:
            raise self._wrong("it recalls a value that was not kept", number=number)
        self._push(self._memo[number])

    # ---- names

    def _name(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise self._wrong("a name is no text")
        found = Name(module, name)
        if found not in self.calls:
            hint = "save a state_dict, or plain data: no file makes Treadle run code"
            raise self._wrong(
                "it wants to run what is no part of plain data", hint, name=shown(str(found))
            )
        self._push(found)

    def _reduce(self) -> None:
        name, args = self._several(2)
        if type(name) is not Name or type(args) is not tuple:
            raise self._wrong("it calls something that cannot be called", got=type(name).__name__)
        self._push(self._called(self.calls[name], name, args))

    def _persistent(self) -> None:
        self._push(self._called(self.stored, "storage", (self._pop(),)))

    def _called(self, call: Call, name: object, args: tuple[Any, ...]) -> Any:
        try:
            return call(*args)
        except MISFITS as error:
            if isinstance(error, FileError):
                raise
            raise self._wrong("arguments that do not fit", to=str(name)) from None

    def _build(self) -> None:
        """The state of what waits for one. Attributes are dropped: plain data have none."""
        state, made = self._pop(), self._top(object)
        if isinstance(made, Built):
            self._called(made.build, type(made).__name__, (state,))
        elif not isinstance(self._top(dict), dict) or not isinstance(state, dict):
            raise self._wrong("it changes an object that is no plain data")

    # ---- numbers

    def _long(self, size: int) -> None:
        if not 0 <= size <= LONGEST_INTEGER:
            raise self._wrong("an integer is too long", bytes=size)
        self._push(int.from_bytes(self._take(size), "little", signed=True))

    def _protocol(self) -> None:
        if self._take(1)[0] > 5:
            raise self._wrong("a newer protocol than there is")

    def _memoize(self) -> None:
        self._keep(len(self._memo))

    def _counted(self, form: str) -> bytes:
        count = self._number(form)
        if count < 0:
            raise self._wrong("a length is negative", bytes=count)
        return self._take(count)


STOP = ord(".")
M = Machine
STEPS: dict[int, Callable[[Machine], Any]] = {
    0x80: M._protocol,
    0x95: lambda m: m._take(8),  # a frame
    ord("("): lambda m: m._push(Mark),
    ord("0"): M._pop,
    ord("1"): M._marked,
    ord("2"): lambda m: m._push(m._top(object)),
    ord("N"): lambda m: m._push(None),
    0x88: lambda m: m._push(True),
    0x89: lambda m: m._push(False),
    ord("K"): lambda m: m._push(m._number("<B")),
    ord("M"): lambda m: m._push(m._number("<H")),
    ord("J"): lambda m: m._push(m._number("<i")),
    0x8A: lambda m: m._long(m._number("<B")),
    0x8B: lambda m: m._long(m._number("<i")),
    ord("G"): lambda m: m._push(m._number(">d")),
    ord("X"): lambda m: m._push(m._text(m._counted("<I"))),
    0x8C: lambda m: m._push(m._text(m._counted("<B"))),
    0x8D: lambda m: m._push(m._text(m._counted("<Q"))),
    ord("U"): lambda m: m._push(m._text(m._counted("<B"))),
    ord("T"): lambda m: m._push(m._text(m._counted("<i"))),
    ord("C"): lambda m: m._push(m._counted("<B")),
    ord("B"): lambda m: m._push(m._counted("<I")),
    0x8E: lambda m: m._push(m._counted("<Q")),
    ord("]"): lambda m: m._push([]),
    ord("}"): lambda m: m._push({}),
    ord(")"): lambda m: m._push(()),
    0x8F: lambda m: m._push(set()),
    ord("l"): lambda m: m._push(m._marked()),
    ord("t"): lambda m: m._push(tuple(m._marked())),
    0x85: lambda m: m._push(m._several(1)),
    0x86: lambda m: m._push(m._several(2)),
    0x87: lambda m: m._push(m._several(3)),
    ord("a"): lambda m: m._append([m._pop()]),
    ord("e"): lambda m: m._append(m._marked()),
    ord("s"): lambda m: m._items(list(m._several(2))),
    ord("u"): lambda m: m._items(m._marked()),
    0x90: lambda m: m._add(m._marked()),
    ord("q"): lambda m: m._keep(m._number("<B")),
    ord("r"): lambda m: m._keep(m._number("<I")),
    0x94: M._memoize,
    ord("h"): lambda m: m._recall(m._number("<B")),
    ord("j"): lambda m: m._recall(m._number("<I")),
    ord("c"): lambda m: m._name(m._line(), m._line()),
    0x93: lambda m: m._name(*m._several(2)),
    ord("R"): M._reduce,
    ord("b"): M._build,
    ord("Q"): M._persistent,
}  # fmt: skip
