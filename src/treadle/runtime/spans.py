"""`span`: a name for a part of a program, as a decorator or a with block.

The decorator gives the function itself. It changes hands when somebody profiles or traces: then its
code is that of a stand-in, which calls what the function was with a clock around it. So a function
that nobody looks at costs what it costs without the decorator, in Python as in everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from importlib import import_module
from threading import RLock
from time import perf_counter_ns
from types import CodeType, FunctionType
from typing import Any, TypeVar
from weakref import ref

from treadle.base import forks
from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.base.watch import WATCH, Kind
from treadle.ir.recording import RECORDING
from treadle.runtime.scopes import BLOCKS, CALLS, Mine

Function = TypeVar("Function", bound=Callable[..., Any])
PIECEWISE, AWAITED = 0x20 | 0x200, 0x80  # flags of code: generators, coroutines
LINE, UNITS = 0x80 | 13 << 3, 8  # of a table of lines: an entry without columns, for so many units
_SPAN = int(Kind.SPAN)


class span:  # noqa: N801 - called like a function
    """A name for what runs in a with block, or whenever a function is called.

    A profile has Python's time in it, by the key `span`. The kernels of what was recorded in it
    stand under it by the key `scope`, wherever they run.

    >>> @span("Softmax")
    ... def softmax(x):
    ...     return x
    >>> with span("load"):
    ...     softmax(1)
    1
    """

    __slots__ = ("name", "noted")

    def __init__(self, name: str) -> None:
        if name.__class__ is not str or not name:
            hint = 'td.span("Softmax"), as a decorator or in a with statement'
            raise ArgumentError(explain("span", "a name is text", hint, got=repr(name)))
        self.name = name
        self.noted = False  # was it ever entered while somebody looked?

    def __enter__(self) -> None:
        # Knobs that ask for lines do not ask for spans: they know programs by their sites, and
        # would have them compiled again for each name.
        if RECORDING.watched and (WATCH.on or RECORDING.made is not None):
            self.noted = True
            outer, mine = BLOCKS.get(), CALLS.mine
            while outer is not None and outer[0] is None:
                outer = outer[1]
            BLOCKS.set([self, outer, mine, len(mine.names), perf_counter_ns()])

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.noted:
            block = BLOCKS.get()
            while block is not None and block[0] is not self:  # what is within it may go on
                block = block[1]
            if block is not None:
                block[0] = None
                if WATCH.on:
                    end, thread = perf_counter_ns(), block[2].thread
                    WATCH.events.extend((_SPAN, self.name, block[4], end, thread, None))

    def __call__(self, function: Function) -> Function:
        if not callable(function):
            raise OperandError(explain("span", "not a function", got=type(function).__name__))
        self._refuse(function)
        if not isinstance(function, FunctionType):
            return _Around(function, self.name)  # type: ignore[return-value]
        _FUNCTIONS.add(_Named(function, self.name))
        return function

    def _refuse(self, function: Any) -> None:
        """Say what of a call is no whole, and what to name instead."""
        if isinstance(function, type):
            hint = f"@td.span({self.name!r}) above its __init__, or above other methods"
            raise OperandError(explain("span", "a class is not a function", hint, got=function))
        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if flags & AWAITED:
            hint = f"with td.span({self.name!r}): around what it does between two awaits"
            wrong = "an async function does not run from call to return: others run while it waits"
        elif flags & PIECEWISE:
            hint = f"with td.span({self.name!r}): around what it does between two of them"
            wrong = "a function that gives values one by one does not run from call to return"
        else:
            return
        raise OperandError(explain("span", wrong, hint, function=function.__name__))


class _Around:
    """What has no code to exchange, as a compiled function, with a clock; else it is the same."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        update_wrapper(self, function, updated=())
        self._function, self._name = function, name

    def __getattr__(self, name: str) -> Any:
        """What is asked of the function."""
        if name == "_function":  # a copy that is not filled yet
            raise AttributeError(name)
        return getattr(self._function, name)

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        """The method of an instance, where the function can be one."""
        bind = getattr(type(self._function), "__get__", None)
        if instance is None or bind is None:
            return self
        return _Around(bind(self._function, instance, kind), self._name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not RECORDING.watched:
            return self._function(*args, **options)
        with span(self._name):
            return self._function(*args, **options)


def _stand_in(*args: Any, **options: Any) -> Any:
    """What a named function is while it is wanted; numbers stand for what is put there.

    Options that are not there are not handed on either: that would cost a tenth of it all.
    """
    called: Any = 0.5
    calls: Any = 1.5
    clock: Any = 2.5
    watch: Any = 3.5
    name: Any = 4.5
    mine = calls.mine
    mine.names.append(name)
    start = clock()
    try:
        return called(*args, **options) if options else called(*args)
    finally:
        end = clock()
        mine.names.pop()
        if watch.on:
            watch.events.extend((0, name, start, end, mine.thread, None))


class _Named:
    """A decorated function: whose code is another while somebody wants to know of its calls."""

    __slots__ = ("code", "function", "name", "signed")

    def __init__(self, function: FunctionType, name: str) -> None:
        self.function, self.name = ref(function), name
        self.signed = False  # has the function a signature of ours?
        self.code: CodeType | None = None  # what it was, while it is another

    def begin(self) -> None:
        """Have the function timed."""
        function = self.function()
        if function is None or self.code is not None:
            return
        self.signed = "__signature__" not in vars(function)
        if self.signed:  # those who ask would see that of the stand-in
            vars(function)["__signature__"] = import_module("inspect").signature(function)
        self.code = code = function.__code__
        same = FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        same.__kwdefaults__ = function.__kwdefaults__
        plain = _stand_in.__code__
        put = {0.5: same, 1.5: CALLS, 2.5: perf_counter_ns, 3.5: WATCH, 4.5: self.name}
        constants = tuple([put.get(x, x) if type(x) is float else x for x in plain.co_consts])
        function.__code__ = plain.replace(
            co_consts=constants, co_name=code.co_name, co_qualname=code.co_qualname,
            co_filename=code.co_filename, co_firstlineno=code.co_firstlineno,
            co_freevars=code.co_freevars, co_linetable=_one_line(len(plain.co_code) // 2),
        )  # fmt: skip

    def end(self) -> None:
        """Give the function its code back."""
        function = self.function()
        if function is not None and self.code is not None:
            function.__code__ = self.code
            if self.signed:
                vars(function).pop("__signature__", None)
        self.code = None


def _one_line(units: int) -> bytes:
    """A table by which all of a code is of its first line: the stand-in's own are of this file."""
    lengths = [min(UNITS, units - at) for at in range(0, units, UNITS)]
    return bytes([byte for length in lengths for byte in (LINE | length - 1, 0)])


class _Functions:
    """Decorated functions, in the order in which they were, and how many want to know of calls."""

    def __init__(self) -> None:
        self.all: list[_Named] = []
        self.wanted = 0  # by a profile, and by traces
        self.lock = RLock()
        forks.share("spans", self.lock)

    def add(self, named: _Named) -> None:
        """One more."""
        with self.lock:
            self.all.append(named)
            if self.wanted:
                named.begin()

    def begin(self) -> None:
        """Somebody wants to know of their calls."""
        with self.lock:
            self.wanted += 1
            if self.wanted == 1:
                self.all = [named for named in self.all if named.function() is not None]
                for named in self.all:
                    named.begin()

    def end(self) -> None:
        """Somebody does no longer."""
        with self.lock:
            self.wanted -= 1
            if not self.wanted:
                for named in reversed(self.all):
                    named.end()


_FUNCTIONS = _Functions()
WATCH.begun.append(_FUNCTIONS.begin)
WATCH.ended.append(_FUNCTIONS.end)


@contextmanager
def afresh() -> Iterator[None]:
    """For a trace: named functions are known to it; modules, phases and spans around it are not."""
    block, mine, within = BLOCKS.get(), CALLS.mine, RECORDING.wishes.within
    _FUNCTIONS.begin()
    try:
        BLOCKS.set(None)
        CALLS.mine = Mine()
        RECORDING.outside("")
        yield
    finally:
        BLOCKS.set(block)
        CALLS.mine = mine
        RECORDING.outside(within)
        _FUNCTIONS.end()
