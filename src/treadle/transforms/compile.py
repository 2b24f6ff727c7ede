"""A function traced once per kind of argument and run as one native program.

Forward, backward and update become one call. Tensors that the function assigns to (parameters,
optimizer state) are written in place; gradients made inside stay inside.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import update_wrapper
from operator import gt
from typing import Any

from treadle.backends.registry import backend_of
from treadle.base.dtypes import float32
from treadle.base.errors import ArgumentError, explain, require_function
from treadle.base.knobs import FAST_MATH
from treadle.base.trace import stage
from treadle.base.trees import Structure, builder, flatten, unflatten
from treadle.ir.graph import is_realised, structure, toposort
from treadle.ir.node import RECORDING, Call, Node, leaf, placeholder, type_of
from treadle.runtime.draws import Draws, begin_draws, end_draws
from treadle.runtime.realize import TRACED, compile_graph, realize
from treadle.runtime.stacks import ThreadStack
from treadle.tensor.gradients import keep_hooks
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Tracing

INLINE: ThreadStack[object] = ThreadStack()
"""While not empty, compiled functions are recorded like any other."""


_ONE_AT_A_TIME = threading.RLock()
MOST_TRACES = 512  # of one function: static arguments that always differ must not fill memory


class Compiled:
    """A traced function; call it like the original."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.entries: dict[Any, Traced] = {}
        self.short: dict[Any, Traced] = {}  # by the types of plain tensor arguments alone
        update_wrapper(self, function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        if TRACE or INLINE:
            return self.function(*args, **options)  # part of what is traced or differentiated
        if not options and not FAST_MATH.value:
            try:  # an argument that collects gradients makes a key that is never there
                key = tuple([(n := x._node).needs_grad or n.call.type for x in args])
                traced = self.short.get(key)
            except AttributeError:
                traced = None
            if traced is not None:
                return traced.call(args)
        return self._general(args, options)

    def _general(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        leaves: list[Tensor] = []
        shape = flatten((args, options), Tensor, leaves)
        types = tuple((t._node.type, t.requires_grad) for t in leaves)
        key = (shape, types, FAST_MATH.value)
        try:
            traced = self.entries.get(key)
        except TypeError as error:
            hint = "pass tensors, numbers, strings, or containers of them"
            raise ArgumentError(explain("compile", f"an argument is {error}", hint)) from None
        if traced is None:
            if len(self.entries) >= MOST_TRACES:
                self.entries.clear()
                self.short.clear()
            traced = self.entries[key] = Traced(self.function, shape, leaves)
            plain = all(isinstance(x, Tensor) and not x.requires_grad for x in args)
            if plain and not options and not FAST_MATH.value:
                self.short[tuple(t._node.type for t in leaves)] = traced
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
    return Compiled(function)


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
        _undo(trace)
        if not roots:
            hint = "return what it computes, or assign it to a tensor"
            raise ArgumentError(explain("compile", "the function makes no tensor", hint))
        _settle(roots, trace)
        self.calls: list[Call] = [placeholder(root.type).call for root in roots[: len(results)]]
        self._bind(roots, len(results))

    def _bind(self, roots: list[Node], count: int) -> None:
        """Find what the graph reads: arguments, random keys, and tensors it closes over."""
        _, leaves = structure(roots)
        given: dict[Node, int] = {t._node: k for k, t in enumerate(self.stand_ins)}
        order = [t._node for t in self.stand_ins]
        order += [self.draws.leaf] if self.draws.leaf is not None else []
        outside = [n for n in leaves if n not in given and n is not self.draws.leaf]
        owners = {t._node: t for t in self.states}
        self.closed: list[Tensor] = [owners[n] if n in owners else _owner(n) for n in outside]
        order += outside
        number = {node: k for k, node in enumerate(order)}
        replaces = {
            count + k: number[t._node] for k, t in enumerate(self.states) if t._node in number
        }
        first = len(order) - len(outside)
        self.written = {k - first for k in replaces.values()}  # of self.closed
        self.count = count
        self.program = compile_graph(roots, order, replaces)
        for stand_in in self.stand_ins:
            stand_in._node.buffer = None
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
            return _result(self.calls[0], buffers[0])
        return self.build([_result(*pair) for pair in zip(self.calls, buffers, strict=False)])

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


def _result(call: Call, buffer: Any) -> Tensor:
    node = Node(call, ())
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
    older = {n for n in order if n.operands and n.buffer is None and n not in trace.made}
    read = {x for n in order if n not in older for x in n.operands}
    wanted = [n for n in order if n in older and (n in read or n in states or n in roots)]
    realize(wanted, alone=True)


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
