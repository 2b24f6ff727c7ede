"""A function traced once per kind of argument and run as one native program.

Forward, backward and update become one call. Tensors that the function assigns to (parameters,
optimizer state) are written in place; gradients made inside stay inside.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import update_wrapper
from operator import gt
from types import MethodType
from typing import Any

from treadle.backends.registry import backend_of
from treadle.base import forks
from treadle.base.dtypes import float32
from treadle.base.errors import ArgumentError, GradientError, explain, require_function
from treadle.base.knobs import FAST_MATH
from treadle.base.trace import stage
from treadle.base.trees import Structure, builder, flatten, unflatten
from treadle.ir.graph import is_realised, structure, toposort
from treadle.ir.node import COMPILED, CONST, IOTA, Call, Node, leaf, placeholder, type_of
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.runtime.draws import Draws, begin_draws, end_draws
from treadle.runtime.realize import TRACED, compile_graph, realize
from treadle.runtime.stacks import ThreadStack
from treadle.tensor.gradients import keep_hooks, needs_none
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Tracing

INLINE: ThreadStack[object] = ThreadStack()
"""While not empty, compiled functions are recorded like any other."""


_ONE_AT_A_TIME = threading.RLock()
forks.share("tracing", _ONE_AT_A_TIME)
MOST_TRACES = 512  # of one function: static arguments that always differ must not fill memory


class Compiled:
    """A traced function; call it like the original."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.entries: dict[Any, Traced] = {}
        # By the types of plain tensor arguments alone; without gradients, and with them.
        self.short: tuple[dict[Any, Traced], dict[Any, Traced]] = ({}, {})
        self.bound: dict[int, Compiled] = {}  # methods, by the id of their instance
        update_wrapper(self, function)

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
        if not options and not FAST_MATH.value:
            try:  # an argument that collects gradients makes a key that is never there
                key = tuple([(n := x._node).needs_grad or n.call.type for x in args])
                traced = self.short[GRADIENTS.on].get(key)
            except AttributeError:
                traced = None
            if traced is not None:
                return traced.call(args)
        return self._general(args, options)

    def _general(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        leaves: list[Tensor] = []
        shape = flatten((args, options), Tensor, leaves)
        types = tuple((t._node.type, t.requires_grad) for t in leaves)
        key = (shape, types, FAST_MATH.value, GRADIENTS.on)
        try:
            traced = self.entries.get(key)
        except TypeError:
            raise _refusal(args, options) from None
        if traced is None:
            if len(self.entries) >= MOST_TRACES:
                for known in (self.entries, *self.short):
                    known.clear()
            traced = self.entries[key] = Traced(self.function, shape, leaves)
            plain = all(isinstance(x, Tensor) and not x.requires_grad for x in args)
            if plain and not options and not FAST_MATH.value:
                self.short[GRADIENTS.on][tuple(t._node.type for t in leaves)] = traced
        return traced.call(leaves)


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


class Traced:
    """One trace: its program, the state it reads and the state it replaces."""

    def __init__(
        self, function: Callable[..., Any], shape: Structure, arguments: list[Tensor]
    ) -> None:
        self.stand_ins = [_stand_in(t) for t in arguments]
        outputs, trace, self.draws = _trace(function, shape, self.stand_ins)
        results: list[Tensor] = []
        shape = flatten(outputs, Tensor, results)
        self.build, self.is_one = builder(shape), shape is None
        roots = [t._node for t in results]
        self.states = list(trace.assigned)
        roots += [t._node for t in self.states]
        left = _left_behind(roots, trace)
        _undo(trace)
        if left:
            hint = "return them by td.value_and_grad or td.gradients, or step the optimizer inside"
            wrong = "the function leaves gradients in tensors and does nothing with them"
            raise GradientError(explain("compile", wrong, hint, shapes=left))
        if not roots:
            hint = "return what it computes, or assign it to a tensor"
            raise ArgumentError(explain("compile", "the function makes no tensor", hint))
        _settle(roots, trace)
        followed = _followed(roots, trace)
        self.results: list[tuple[Call, bool]] = [
            (placeholder(t._node.type, COMPILED).call, t._node in followed) for t in results
        ]
        self._bind(roots, len(results), trace)

    def _bind(self, roots: list[Node], count: int, trace: Tracing) -> None:
        """Find what the graph reads: arguments, random keys, and tensors it closes over."""
        _, leaves = structure(roots)
        given: dict[Node, int] = {t._node: k for k, t in enumerate(self.stand_ins)}
        order = [t._node for t in self.stand_ins]
        order += [self.draws.leaf] if self.draws.leaf is not None else []
        outside = [n for n in leaves if n not in given and n is not self.draws.leaf]
        owners: dict[Node, Any] = {t._grad._node: Collected(t) for t in trace.collected}
        owners |= {t._node: t for t in self.states}
        owners = trace.read | owners
        self.closed: list[Any] = [owners[n] if n in owners else _owner(n) for n in outside]
        order += outside
        number = {node: k for k, node in enumerate(order)}
        replaces = {
            count + k: number[t._node] for k, t in enumerate(self.states) if t._node in number
        }
        first = len(order) - len(outside)
        self.written = {k - first for k in replaces.values()}  # of self.closed
        self.count = count
        self.program = compile_graph(roots, order, replaces)
        for node in order[:first]:
            node.buffer = None
        self.closes_over = bool(self.closed) or self.draws.leaf is not None

    def call(self, arguments: Sequence[Tensor]) -> Any:
        """Run on arguments; returns what the function returned, with new tensors."""
        inputs = [x._node.buffer for x in arguments]
        if None in inputs:
            realize([x._node for x in arguments])
            inputs = [x._node.buffer for x in arguments]
        if self.closes_over:
            self._add_state(inputs)
        buffers = self.program.run(inputs)
        if self.states:
            for tensor, buffer in zip(self.states, buffers[self.count :], strict=True):
                tensor._node.buffer = buffer
        if self.is_one:
            return _result(self.results[0], buffers[0])
        return self.build([_result(*pair) for pair in zip(self.results, buffers, strict=False)])

    def _add_state(self, inputs: list[Any]) -> None:
        """The memory of random keys and of the tensors the function closes over."""
        if self.draws.leaf is not None:
            inputs.append(self.draws.next_key())
        for k, tensor in enumerate(self.closed):
            # No name is given to the node here: `_private` counts the references to it.
            if tensor._node.buffer is None:
                realize((tensor._node,))
            if k in self.written:
                _private(tensor)
            inputs.append(tensor._node.buffer)


class Collected:
    """The gradient a tensor has when the function is called."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def _node(self) -> Node:
        gradient = self.tensor._grad
        if gradient is None:
            hint = "call backward() before, or both inside the function"
            facts = {"shape": self.tensor.shape}
            wrong = "the function reads a gradient of a tensor that has no gradient now"
            raise GradientError(explain("compile", wrong, hint, **facts))
        node: Node = gradient._node
        return node


def _result(known: tuple[Call, bool], buffer: Any) -> Tensor:
    node = Node(known[0], (), known[1])
    node.buffer = buffer
    return Tensor(node)


def _trace(
    function: Callable[..., Any], shape: Structure, stand_ins: list[Tensor]
) -> tuple[Any, Tracing, Draws]:
    trace = Tracing()
    with _ONE_AT_A_TIME:
        return _watched(function, shape, stand_ins, trace)


def _watched(
    function: Callable[..., Any], shape: Structure, stand_ins: list[Tensor], trace: Tracing
) -> tuple[Any, Tracing, Draws]:
    """Run the function while every node it makes is noted."""
    draws, made = begin_draws(), RECORDING.made
    TRACE.push(trace)
    RECORDING.watch(RECORDING.sites, trace.made)
    try:
        args, options = unflatten(shape, list(stand_ins))
        with stage("record"):
            return function(*args, **options), trace, draws
    except BaseException:
        _undo(trace)
        raise
    finally:
        RECORDING.watch(RECORDING.sites, made)
        TRACE.pop()
        end_draws()


def _undo(trace: Tracing) -> None:
    """Give tensors the values and gradients they had before the trace."""
    for tensor, before in trace.assigned.items():
        tensor._node = before
    for tensor, grad in trace.grads.items():
        tensor._grad = grad


def _settle(roots: list[Node], trace: Tracing) -> None:
    """Compute what was pending before the trace: each call reads it, and what is assigned later."""
    states = [node for node in trace.assigned.values() if node.buffer is None]
    order = toposort([*roots, *states], is_realised)
    older = {
        n for n in order
        if n.buffer is None and n not in trace.made
        and (n.op not in (CONST, IOTA) or n.owner is not None or n in states)
    }  # fmt: skip
    read = {x for n in order if n not in older for x in n.operands}
    wanted = [n for n in order if n in older and (n in read or n in states or n in roots)]
    realize(wanted, alone=True)


def _left_behind(roots: list[Node], trace: Tracing) -> list[Any]:
    """Shapes of gradients that tensors outside got, unless some are used for what is computed."""
    lost = {
        t: t._grad._node for t, before in trace.grads.items()
        if t._grad is not None and t._grad is not before
        and trace.assigned.get(t, t._node) not in trace.made
    }  # fmt: skip
    used = trace.made.intersection(toposort(roots, is_realised)) if lost else set()
    return [] if used.intersection(lost.values()) else [t.shape for t in lost]


def _followed(roots: list[Node], trace: Tracing) -> set[Node]:
    """Nodes through which tensors that outlive the trace would get a gradient."""
    found: set[Node] = set()
    for node in toposort(roots, needs_none):
        starts = node.owner is not None or node not in trace.made
        if node.needs_grad and (starts or not found.isdisjoint(node.operands)):
            found.add(node)
    return found


def _stand_in(tensor: Tensor) -> Tensor:
    """A tensor of the same type whose value is not known while tracing."""
    stand_in = Tensor(leaf(tensor._node.type, TRACED))
    return stand_in.requires_grad_() if tensor.requires_grad else stand_in


def _owner(node: Node) -> Tensor:
    """The tensor a closed-over value belongs to, so that later assignments are seen."""
    tensor = node.owner() if node.owner is not None else None
    return tensor if tensor is not None else Tensor(node)


def _references(tensor: Tensor) -> tuple[int, int]:
    """To the node of a tensor and to its memory; how many are Python's own depends on it."""
    node = tensor._node
    return sys.getrefcount(node), sys.getrefcount(node.buffer)


_ALONE = _references(Tensor(leaf(type_of((), float32), object())))
"""What is counted where nobody else holds them."""


def _private(tensor: Tensor) -> None:
    """Make sure nobody else sees the memory about to be overwritten."""
    seen = any(map(gt, _references(tensor), _ALONE))
    node = tensor._node
    if seen or getattr(node.buffer, "borrowed", False):
        fresh = leaf(node.type, backend_of(node.device).copy(node.buffer))
        fresh.needs_grad, fresh.owner = node.needs_grad, node.owner
        keep_hooks(node, fresh)
        tensor._node = fresh
