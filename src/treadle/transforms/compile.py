"""`compile`: a function traced once per kind of argument and run as one native program.

Forward, backward and update become one call. What decides a trace is what it is known by: types and
forms of the arguments, Python values among them, which of them are the same tensor, whether
gradients are recorded, what operands are cast by, and whatever else the trace found true while it
was made (`Traced.holds`).
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import update_wrapper, wraps
from importlib import import_module
from time import perf_counter_ns
from types import MethodType
from typing import Any

from treadle.base.errors import ArgumentError, explain, require_function
from treadle.base.knobs import MEANING
from treadle.base.shapes import Dim
from treadle.base.trace import show
from treadle.base.trees import Structure, flatten
from treadle.base.watch import AGAIN, WATCH, Caller, Kind
from treadle.ir.recording import GRADIENTS, RECORDING, user_site
from treadle.runtime.families import Family
from treadle.runtime.once import once
from treadle.runtime.scopes import scope
from treadle.runtime.stacks import ThreadStack
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Followed
from treadle.transforms.sized import general_type, without_sizes
from treadle.transforms.traced import Traced

INLINE: ThreadStack[object] = ThreadStack()
"""While not empty, compiled functions are recorded like any other."""
MOST_TRACES = 512  # of one function: static arguments that always differ must not fill memory


class Compiled:
    """A traced function; call it like the original.

    - **traces**: how often it was traced
    - **retraces**: why, each time but the first: `argument 0: (32, 10) → (17, 10)`
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.entries: dict[Any, list[Traced]] = {}
        # By the types of plain tensor arguments alone; without gradients, and with them.
        self.short: tuple[dict[Any, Traced], dict[Any, Traced]] = ({}, {})
        self.families: dict[Any, Family] = {}  # programs: traces may differ in numbers only
        self.traces = 0
        self.retraces: deque[str] = deque(maxlen=MOST_TRACES)
        self.bound: dict[int, Compiled] = {}  # methods, by the id of their instance
        update_wrapper(self, function, updated=())

    def __getattr__(self, name: str) -> Any:
        """What else the function has: of a compiled module, its parameters and its modes.

        Methods that return the module return what is compiled of it.
        """
        function = self.__dict__["function"]
        found = getattr(function, name)
        if getattr(found, "__self__", None) is not function:
            return found

        @wraps(found)
        def method(*args: Any, **options: Any) -> Any:
            result = found(*args, **options)
            return self if result is function else result

        return method

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        """The method of an instance, which has traces of its own for as long as it lives."""
        if instance is None:
            return self
        number = id(instance)
        if number not in self.bound:
            try:
                weak = weakref.ref(instance, lambda _: self.bound.pop(number, None))
            except TypeError:  # slots without room for that: an argument like any other
                return MethodType(self, instance)
            method = self.function
            self.bound[number] = Compiled(lambda *args, **options: method(weak(), *args, **options))
        return MethodType(self.bound[number]._call_method, instance)

    def _call_method(self, _: Any, *args: Any, **options: Any) -> Any:
        return self(*args, **options)

    def __call__(self, *args: Any, **options: Any) -> Any:
        if TRACE.items or INLINE.items:
            return self.function(*args, **options)  # part of what is traced or differentiated
        if not options and not MEANING.value and not RECORDING.watched:
            try:  # an argument that collects gradients makes a key that is never there
                key = tuple([x._node.needs_grad or x._node.call.type for x in args])
                traced = self.short[GRADIENTS.on].get(key)
            except AttributeError:
                traced = None
            if (
                traced is not None
                and traced.changes == Followed.changes
                and (not traced.loose or traced.rests())
                and (not traced.own or traced.own.isdisjoint(args))
                and (not traced.presence or traced.finds(args))
            ):
                return traced.call(args)
        return self._general(args, options)

    def _general(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        leaves: list[Tensor] = []
        sizes: dict[str, Dim] = {}
        args, options = without_sizes(args, options, sizes)
        shape = flatten((args, options), Tensor, leaves)
        types = tuple((general_type(t._node.type, sizes), t.requires_grad) for t in leaves)
        twins = _twins(leaves)
        key = (shape, types, twins, MEANING.value, GRADIENTS.on, RECORDING.policy)
        try:
            hash(key)
        except TypeError:
            raise _refusal(args, options) from None
        traced = self._known(key, leaves)
        if traced is None:
            traced = once(
                (self, key),
                lambda: self._known(key, leaves),
                lambda: self._remembered(key, self._traced(shape, leaves, twins, sizes), leaves),
            )
        if WATCH.on:
            return self._watched(traced.at(sizes) if sizes else traced, leaves)
        if sizes:
            return traced.at(sizes).call(leaves)
        plain = all(isinstance(x, Tensor) and not x.requires_grad for x in args)
        if (
            plain
            and traced.known_by_types
            and not (options or twins or MEANING.value or RECORDING.policy)
        ):
            self.short[GRADIENTS.on][tuple(t._node.type for t in leaves)] = traced
        results = traced.call(leaves)
        if RECORDING.watched and RECORDING.noted:
            _note_line(results)
        return results

    def _watched(self, traced: Traced, leaves: Sequence[Tensor]) -> Any:
        """A call that a profile is told of: who runs the program, and for how long."""
        thread, start = WATCH.thread, perf_counter_ns()
        before, thread.caller = thread.caller, Caller(traced.sites, scope())
        try:
            return traced.call(leaves)
        finally:
            thread.caller = before
            name = getattr(self.function, "__qualname__", type(self.function).__name__)
            WATCH.add(Kind.SPAN, f"compiled {name}", start)

    def _known(self, key: Any, leaves: Sequence[Tensor]) -> Traced | None:
        return next((t for t in self.entries.get(key, ()) if t.holds(leaves)), None)

    def _traced(
        self, shape: Structure, leaves: list[Tensor], twins: tuple[int, ...], sizes: dict[str, Dim]
    ) -> Traced:
        """A trace in which every tensor has one name, also if it is closed over and an argument."""
        known: frozenset[Tensor] = frozenset()
        while True:
            traced = Traced(self.function, shape, leaves, twins, known, self.families, sizes)
            found = known | traced.own.intersection(leaves)
            if found == known:
                return traced
            known = found

    def trace(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Traced, list[Tensor]]:
        """A trace that is not kept, and the tensors among the arguments."""
        leaves: list[Tensor] = []
        sizes: dict[str, Dim] = {}
        args, options = without_sizes(args, options, sizes)
        shape = flatten((args, options), Tensor, leaves)
        for t in leaves:
            general_type(t._node.type, sizes)
        traced = self._traced(shape, leaves, _twins(leaves), sizes)
        return (traced.at(sizes) if sizes else traced), leaves

    def forget(self) -> None:
        """Trace anew at the next call."""
        for known in (self.entries, self.families, *self.short):
            known.clear()

    def _remembered(self, key: Any, traced: Traced, leaves: Sequence[Tensor]) -> Traced:
        self.traces += 1
        if self.traces > 1:
            reason = import_module("treadle.transforms.retraces").reason(key, leaves, self.entries)
            self.retraces.append(reason or "all traces were forgotten")
            name = getattr(self.function, "__name__", type(self.function).__name__)
            why = f"traced {name} again, {self.traces} times by now: {self.retraces[-1]}"
            show(1, why)
            if WATCH.on:
                WATCH.add(Kind.STAGE, f"{AGAIN} {name}: {self.retraces[-1]}", perf_counter_ns())
        if sum(map(len, self.entries.values())) >= MOST_TRACES:
            self.forget()
        self.entries.setdefault(key, []).append(traced)
        return traced


def _note_line(results: Any) -> None:
    """Results of a compiled function stem from the line that calls it."""
    tensors: list[Tensor] = []
    flatten(results, Tensor, tensors)
    for tensor in tensors:
        tensor._node.site = user_site()


def _twins(tensors: list[Tensor]) -> tuple[int, ...]:
    """For each tensor, where the same one comes first; nothing if all are different."""
    first: dict[Tensor, int] = {}
    found = tuple([first.setdefault(x, k) for k, x in enumerate(tensors)])
    return found if len(first) < len(tensors) else ()


def compile(function: Callable[..., Any]) -> Compiled:  # noqa: A001
    """Trace function on its first call and run it as one native program from then on.

    >>> import treadle as td
    >>> @compile
    ... def f(x):
    ...     return (x * x).sum()
    >>> float(f(td.tensor([1.0, 2.0])))
    5.0
    """
    require_function("compile", function)
    return function if isinstance(function, Compiled) else Compiled(function)


def _refusal(args: tuple[Any, ...], options: dict[str, Any]) -> ArgumentError:
    """Which argument cannot be part of what a trace is known by."""
    wrong = ""
    for name, value in (*enumerate(args), *options.items()):
        try:
            hash(flatten(value, Tensor, []))
        except TypeError as error:
            wrong = f"argument {name} is or has an {error}"
            break
    hint = "make arrays tensors: td.tensor(x); the rest is numbers, text, or containers of them"
    return ArgumentError(explain("compile", wrong, hint))
