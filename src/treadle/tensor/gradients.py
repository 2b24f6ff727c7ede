"""What a tensor knows about gradients: who collects them, who watches them, when they stop."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from typing import Any, ClassVar, Self, TypeVar

from treadle.autograd.backward import gradients as node_gradients
from treadle.base import watch
from treadle.base.errors import ArgumentError, GradientError, OperandError, ShapeError, explain
from treadle.ir.graph import toposort
from treadle.ir.node import COMPILED, Node, apply, full, leaf
from treadle.ir.recording import GRADIENTS
from treadle.ops import elementwise as e
from treadle.ops.defs import Kind
from treadle.ops.syntax import Syntax
from treadle.runtime.realize import in_memory
from treadle.tensor.tracing import TRACE, Followed

Hook = Callable[[Any], Any]
"""From a gradient to another, or to None."""
INSIDE: Any = object()
"""Stands for a gradient that a compiled function has used and not written out."""


class Switch:
    """Whether gradients are recorded, for a `with` block or for a decorated function."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(GRADIENTS.on)
        GRADIENTS.on = self.on

    def __exit__(self, *_: object) -> None:
        GRADIENTS.on = self.before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **options: Any) -> Any:
            with Switch(self.on):  # one of its own: functions call themselves, and from threads
                return function(*args, **options)

        return wrapped


def no_grad(function: Callable[..., Any] | None = None) -> Any:
    """Record without gradients: `with no_grad():`, or a decorator.

    >>> import treadle as td
    >>> x = td.tensor(2.0).requires_grad_()
    >>> with no_grad():
    ...     (x * x).requires_grad
    False
    """
    return Switch(False) if function is None else Switch(False)(function)


def enable_grad(function: Callable[..., Any] | None = None) -> Any:
    """Record with gradients, inside `no_grad` too: `with enable_grad():`, or a decorator."""
    return Switch(True) if function is None else Switch(True)(function)


def is_grad_enabled() -> bool:
    """Are gradients recorded here?"""
    return GRADIENTS.on


class Watched:
    """What is to be done with the gradient of a node when it is known."""

    __slots__ = ("hooks", "keeper")

    def __init__(self) -> None:
        self.hooks: dict[int, Hook] = {}
        self.keeper: Callable[[], Any] = lambda: None  # weak reference to a tensor that keeps it


WATCHED: weakref.WeakKeyDictionary[Node, Watched] = weakref.WeakKeyDictionary()
HOOKED: Any = WATCHED.data  # type: ignore[attr-defined] # is there any? That is quicker to ask here
_NUMBERS = count()


class HookHandle:
    """Takes a hook away again."""

    __slots__ = ("number", "watched")

    def __init__(self, watched: Watched, number: int) -> None:
        self.watched, self.number = watched, number

    def remove(self) -> None:
        """The hook is not called any more; more than once does nothing."""
        self.watched.hooks.pop(self.number, None)


class Differentiable(Syntax):
    """The part of a tensor that concerns gradients."""

    __slots__ = ("__weakref__", "_grad", "_node")

    _node: Node
    _grad: Any
    _plain: ClassVar[Any]  # what is computed from a tensor of any class: Tensor

    def __init__(self, node: Node | None = None, *others: object) -> None:
        if node.__class__ is not Node or others:
            hint = "td.tensor([1, 2]) for numbers, td.zeros(2, 3) for a shape"
            got = ", ".join(type(x).__name__ for x in (node, *others))
            raise OperandError(explain("Tensor", "is made by other functions", hint, got=got))
        self._node = node
        self._grad = None

    @property
    def requires_grad(self) -> bool:
        """Is a gradient recorded through this tensor? Can be set, as by requires_grad_."""
        return self._node.needs_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    @property
    def is_leaf(self) -> bool:
        """Does the gradient end here: not computed from anything that requires one?"""
        return not self._node.needs_grad or self._node.owner is not None

    @property
    def grad(self) -> Self | None:
        """The gradient collected by `backward`."""
        found = self._grad
        if TRACE and self not in TRACE.top.grads:
            TRACE.top.found.setdefault(self, found is not None)
        if found is INSIDE:
            hint = "return it from the function, or forget it: zero_grad(), or grad = None"
            wrong = "the gradient stayed inside the compiled function that collected and used it"
            raise GradientError(explain("grad", wrong, hint, shape=self._node.shape))
        return found

    @grad.setter
    def grad(self, value: Self | None) -> None:
        if value is not None:
            _same_shape("grad", value, self)
        if TRACE:
            TRACE.top.grads.setdefault(self, self._grad)
        self._grad = value

    def requires_grad_(self, wanted: bool = True) -> Self:
        """Collect gradients for this tensor; returns it."""
        if not self.dtype.is_inexact and wanted:
            hint = "only floating-point and complex tensors have gradients"
            facts = {"dtype": self.dtype.name}
            raise GradientError(explain("requires_grad_", "needs a float", hint, **facts))
        if self.is_leaf:
            if TRACE:
                TRACE.top.marked.setdefault(self, self._node)
            self._node = own_node(self._node, self, wanted)
            Followed.changes += 1
        elif not wanted:
            hint = "detach() gives the value without its gradient"
            raise GradientError(explain("requires_grad_", "this is computed, not a leaf", hint))
        return self

    def detach(self) -> Self:
        """The same value, outside any gradient."""
        node = self._node
        if in_memory(node) and not TRACE:
            return self._plain(leaf(node.type, node.buffer))
        with no_grad():
            return self._plain(apply(e.detach, (node,)))

    @property
    def data(self) -> Self:
        """The same value, outside any gradient; another one, of any type, can be set."""
        return self.detach()

    @data.setter
    def data(self, value: Self) -> None:
        if not hasattr(value, "_node"):
            hint = "wrap it with td.tensor(...)"
            raise OperandError(explain("data", "not a tensor", hint, got=type(value).__name__))
        if TRACE:
            if value._node.type is not self._node.type:
                facts = {"own": self._node.type, "value": value._node.type}
                wrong = "inside a compiled function a tensor keeps its shape and dtype"
                raise ArgumentError(explain("data", wrong, **facts))
            TRACE.top.assigned.setdefault(self, self._node)
        self._node = own_node(value._node, self, self.requires_grad)
        Followed.changes += 1

    def retain_grad(self) -> None:
        """Let `backward` collect `grad` here too, though this is no leaf."""
        self._require("retain_grad")
        if not self.is_leaf:
            WATCHED.setdefault(self._node, Watched()).keeper = weakref.ref(self)

    def register_hook(self, hook: Hook) -> HookHandle:
        """Call hook with the gradient of this tensor whenever one is computed.

        What it returns, unless None, is the gradient from there on. Inside a compiled function
        hooks are called while it is traced, and what they compute becomes part of the program.
        """
        self._require("register_hook")
        if not callable(hook):
            raise OperandError(explain("register_hook", "not a function", got=type(hook).__name__))
        watched = WATCHED.setdefault(self._node, Watched())
        number = next(_NUMBERS)
        watched.hooks[number] = hook
        return HookHandle(watched, number)

    def backward(
        self,
        gradient: Self | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Add d(self)/d(leaf) to `grad` of every leaf that requires it.

        - **gradient**: what flows in, by default 1 for a scalar
        - **retain_graph**: accepted for those used to it; graphs live as long as their tensors
        - **create_graph**: record the gradients too, for derivatives of higher order
        """
        self._require("backward")
        seed = None
        if gradient is not None:
            seed = _same_shape("backward", gradient, self)._node
        order = toposort([self._node], needs_none)
        collectors = [(n, t) for n in order if n.needs_grad and (t := _collector(n)) is not None]
        nodes = [node for node, _ in collectors]
        with Switch(create_graph), watch.during(watch.Kind.PHASE, "backward"):
            found = node_gradients([self._node], nodes, [seed], needs_none, tap(self._plain))
            for (node, tensor), g in zip(collectors, found, strict=True):
                part = self._plain(node.zeros_like() if g is None else g)
                before = tensor.grad
                tensor.grad = part if before is None else before + part

    def _require(self, what: str) -> None:
        if not self.requires_grad:
            ended = _end_of_gradients(self._node)
            if ended is not None:
                rule = ended.op.grad
                why = rule if isinstance(rule, str) else f"its result is {ended.dtype.name}"
                wrong = f"{ended.op} has no gradient: {why}"
                raise GradientError(explain(what, wrong, "take the gradient of what it is made of"))
            hint = "requires_grad_() on what it is computed from; if compiled, backward() inside"
            raise GradientError(explain(what, "nothing here requires a gradient", hint))


def _end_of_gradients(node: Node) -> Node | None:
    """The last op that passes no gradient on to something that requires one."""
    if not GRADIENTS.on:
        return None
    for x in reversed(toposort([node], lambda n: n.needs_grad)):
        if x.op is not e.detach and any(y.needs_grad for y in x.operands):
            return x
    return None


def _same_shape(what: str, gradient: Any, x: Any) -> Any:
    """The gradient, if it is a tensor of x's shape; in x's dtype."""
    if not hasattr(gradient, "_node"):
        hint = "wrap it with td.tensor(...)"
        got = type(gradient).__name__
        raise OperandError(explain(what, "the gradient is not a tensor", hint, got=got))
    if gradient.shape != x.shape:
        facts = {"tensor": x.shape, "gradient": gradient.shape}
        raise ShapeError(explain(what, "a gradient has the shape of its tensor", **facts))
    return gradient if gradient.dtype is x.dtype else gradient.cast(x.dtype)


def _collector(node: Node) -> Any:
    """The tensor that collects a node's gradient, if there is one."""
    if node.owner is not None:
        return node.owner()
    watched = WATCHED.get(node) if WATCHED else None
    return None if watched is None else watched.keeper()


def tap(make: Callable[[Node], Any]) -> Callable[[Node, Node], Node] | None:
    """What the backward walk does with a node's gradient: nothing, if nobody watches any."""
    if not WATCHED:
        return None

    def through_hooks(node: Node, g: Node) -> Node:
        watched = WATCHED.get(node)
        for hook in list(watched.hooks.values()) if watched is not None else ():
            result = hook(make(g))
            if result is not None:
                g = _same_shape("hook", result, node)._node
        return g

    return through_hooks


def gradient_held(x: Any) -> Any:
    """The gradient of a tensor; None also where it stayed inside a compiled function."""
    return None if x._grad is INSIDE else x.grad


def needs_none(node: Node) -> bool:
    """Does no gradient flow below?"""
    return not node.needs_grad


# ---- leaves


def own_node(node: Node, owner: Any, needs_grad: bool) -> Node:
    """A leaf of the gradient graph with node's value, which belongs to owner."""
    if node.buffer is not None and not TRACE:
        fresh = leaf(node.type, node.buffer)
    else:  # in a trace, what is read is the other tensor, not the memory it has just now
        with no_grad():
            fresh = apply(e.detach, (node,))
    keep_hooks(owner._node, fresh)
    return _given(fresh, owner, needs_grad)


def keep_hooks(before: Node, after: Node) -> None:
    """A leaf that stands for the same tensor as another is watched by the same hooks."""
    if WATCHED and before.owner is not None and before in WATCHED:
        WATCHED[after] = WATCHED[before]


T = TypeVar("T", bound=Differentiable)


def owned(tensor: T, needs_grad: bool = False) -> T:
    """A tensor whose memory is known to be its own: assignments are seen by compiled functions."""
    _given(tensor._node, tensor, needs_grad)
    return tensor


def _given(node: Node, owner: Any, needs_grad: bool) -> Node:
    node.owner, node.needs_grad = weakref.ref(owner), needs_grad
    if TRACE:
        TRACE.top.made.add(node)
    return node


# ---- gradients as values


def gradients(
    outputs: T | Sequence[T],
    inputs: Sequence[T],
    cotangents: T | Sequence[T | None] | None = None,
) -> list[T]:
    """d(outputs · cotangents) / d(inputs); zeros where nothing depends on an input.

    Inputs that do not require a gradient are followed through what is not computed yet; values
    that were looked at in between have forgotten where they come from.

    >>> import treadle as td
    >>> x = td.tensor([1.0, 2.0])
    >>> gradients((x * x).sum(), [x])[0].tolist()
    [2.0, 4.0]
    """
    roots = [outputs] if isinstance(outputs, Differentiable) else list(outputs)
    for x in (*roots, *inputs):
        if not isinstance(x, Differentiable):
            hint = "gradients(outputs, inputs) of tensors by tensors"
            raise OperandError(explain("gradients", "not a tensor", hint, got=type(x).__name__))
    if cotangents is None or isinstance(cotangents, Differentiable):
        cotangents = [cotangents] * len(roots)
    if len(roots) != len(cotangents):
        facts = {"outputs": len(roots), "cotangents": len(cotangents)}
        raise ArgumentError(explain("gradients", "one cotangent for each output", **facts))
    seeds = [
        None if c is None else _same_shape("gradients", c, y)._node
        for y, c in zip(roots, cotangents, strict=True)
    ]
    nodes = [y._node for y in roots]
    if not inputs:
        return []
    make = inputs[0]._plain
    stop = needs_none if all(x.requires_grad for x in inputs) else None
    found = node_gradients(nodes, [x._node for x in inputs], seeds, stop, tap(make))
    if None in found:
        _forgotten(nodes, [x for x, g in zip(inputs, found, strict=True) if g is None])
    return [
        make(full(0, x._node.type) if g is None else g) for g, x in zip(found, inputs, strict=True)
    ]


def _forgotten(roots: Sequence[Node], unreached: Sequence[Differentiable]) -> None:
    """Nothing depends on an input: is that so, or was it forgotten when a value was computed?"""
    if all(x.requires_grad for x in unreached):
        return
    for node in toposort(roots):
        made = node.op.kind is not Kind.SOURCE or node.op is COMPILED
        if made and not node.operands and node.owner is None:
            hint = "requires_grad_() on the input before it is used, or td.grad of a function"
            wrong = f"{node.op} was computed before the gradient was asked for"
            raise GradientError(explain("gradients", wrong, hint))
