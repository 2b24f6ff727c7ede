"""Functions with derivatives of their own: given by how cotangents or tangents go through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper, wraps
from typing import Any

from treadle.autograd.backward import pulled, turned
from treadle.autograd.custom import Route, reroute
from treadle.base.errors import ArgumentError, GradientError, ShapeError, explain, require_function
from treadle.base.trees import Structure, flatten, unflatten
from treadle.ir.node import Node, full
from treadle.ops.movement import reshape
from treadle.tensor.tensor import Tensor


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose gradient is what f says it is: f returns (result, pullback).

    pullback is given the cotangent of the result, nested like it, and returns one for each
    positional argument, nested like that (None where there is none); for one argument, that alone.
    Tensors f closes over get no gradient. Where there are several results it is called once for
    each, with zeros for the others. What pullback does is recorded, so that it can be
    differentiated, mapped and compiled as the rest.

    >>> import treadle as td
    >>> @custom_gradient
    ... def clipped(x):
    ...     return x * 1.0, lambda g: td.clip(g, -1.0, 1.0)
    >>> td.grad(lambda x: (clipped(x) * 5.0).sum())(td.ones(2)).tolist()
    [1.0, 1.0]
    """
    require_function("custom_gradient", f)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        result = f(*args, **options)
        if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
            hint = "return (result, function from its cotangent to those of the arguments)"
            got = type(result).__name__
            raise ArgumentError(
                explain("custom_gradient", "no pullback was returned", hint, got=got)
            )
        y, pullback = result
        return _Routed(args, y).by_pulling(pullback)

    return wrapped


class CustomVjp:
    """A function whose reverse mode is given; made by `custom_vjp`."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.function = f
        self.routed: Callable[..., Any] | None = None
        update_wrapper(self, f)

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> CustomVjp:
        """forward(*args) is (result, saved); backward(saved, cotangent) those of the arguments."""
        for rule in (forward, backward):
            require_function("defvjp", rule)

        def both(*args: Any) -> Any:
            y, saved = forward(*args)
            return y, partial(backward, saved)

        self.routed = custom_gradient(both)
        return self

    def __call__(self, *args: Any) -> Any:
        return _given("defvjp", self.routed)(*args)


class CustomJvp:
    """A function whose forward mode is given; made by `custom_jvp`."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.function = f
        self.rule: Callable[..., Any] | None = None
        update_wrapper(self, f)

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(primals, tangents) is (result, its change); returns it, to be a decorator."""
        require_function("defjvp", rule)
        self.rule = rule
        return rule

    def __call__(self, *args: Any) -> Any:
        rule = _given("defjvp", self.rule)
        return _Routed(args, self.function(*args)).by_pushing(rule)


def custom_vjp(f: Callable[..., Any]) -> CustomVjp:
    """f with a reverse mode of its own, as JAX spells it: f.defvjp(forward, backward).

    >>> import treadle as td
    >>> half = custom_vjp(lambda x: x * x)
    >>> _ = half.defvjp(lambda x: (x * x, x), lambda x, g: g * x)
    >>> td.grad(half)(td.tensor(3.0)).item()
    3.0
    """
    require_function("custom_vjp", f)
    return CustomVjp(f)


def custom_jvp(f: Callable[..., Any]) -> CustomJvp:
    """f with a forward mode of its own: f.defjvp(rule). Reverse mode is its transpose.

    >>> import treadle as td
    >>> square = custom_jvp(lambda x: x * x)
    >>> @square.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return x * x, 2.0 * x * t
    >>> td.grad(square)(td.tensor(3.0)).item()
    6.0
    """
    require_function("custom_jvp", f)
    return CustomJvp(f)


def _given(name: str, rule: Callable[..., Any] | None) -> Callable[..., Any]:
    if rule is None:
        hint = f"call f.{name}(...) first"
        raise GradientError(explain("custom gradient", "the function has no rule yet", hint))
    return rule


class _Routed:
    """One call: its arguments and its result, which is to have other derivatives."""

    def __init__(self, args: tuple[Any, ...], y: Any) -> None:
        self.args = args
        self.arguments: list[Tensor] = []
        self.form: Structure = flatten(args, Tensor, self.arguments)
        self.outputs: list[Tensor] = []
        self.shape: Structure = flatten(y, Tensor, self.outputs)

    def by_pulling(self, pullback: Callable[[Any], Any]) -> Any:
        """The result with a gradient by pullback."""

        def route(k: int) -> Route:
            def pull(g: Node) -> list[Node | None]:
                cotangents = [y.zeros_like() for y in self.outputs]
                cotangents[k] = Tensor(turned(g))
                parts = self._fitted(pullback(unflatten(self.shape, cotangents)))
                return [None if part is None else turned(part) for part in parts]

            return Route(pull, None, self)

        return self._with(route)

    def by_pushing(self, rule: Callable[[Any, Any], Any]) -> Any:
        """The result with derivatives by a rule for tangents."""

        def change(k: int, tangents: Sequence[Tensor]) -> Node:
            moved = _second(rule(self.args, unflatten(self.form, tangents)))
            found: list[Tensor] = []
            if flatten(moved, Tensor, found) != self.shape:
                hint = "rule(primals, tangents) returns (result, change), nested alike"
                raise ArgumentError(explain("custom_jvp", "another form than the result's", hint))
            return _shaped("custom_jvp", found[k], self.outputs[k])._node

        def route(k: int) -> Route:
            def push(tangents: Sequence[Node | None]) -> Node:
                pairs = zip(tangents, self.arguments, strict=True)
                return change(k, [x.zeros_like() if t is None else Tensor(t) for t, x in pairs])

            def pull(g: Node) -> list[Node | None]:
                ones = [Tensor(reshape(full(1, x._node.type), x.shape)) for x in self.arguments]
                ends = {x._node for x in (*ones, *self.arguments)}
                by = [x._node for x in ones]
                return pulled([change(k, ones)], by, [g], ends.__contains__)

            return Route(pull, push, self)

        return self._with(route)

    def _with(self, route: Callable[[int], Route]) -> Any:
        nodes = [x._node for x in self.arguments]
        found = [
            Tensor(reroute(y._node, nodes, route(k))) if y.dtype.is_inexact else y
            for k, y in enumerate(self.outputs)
        ]
        return unflatten(self.shape, found)

    def _fitted(self, given: Any) -> list[Node | None]:
        """Cotangents of the arguments' tensors from what a pullback has returned."""
        parts = given if isinstance(given, tuple | list) and len(self.args) != 1 else (given,)
        if len(self.args) == 1 and isinstance(given, tuple) and len(given) == 1:
            parts = given
        if len(parts) != len(self.args):
            facts = {"arguments": len(self.args), "cotangents": len(parts)}
            raise ArgumentError(explain("custom_gradient", "one for each argument", **facts))
        found: list[Node | None] = []
        for arg, part in zip(self.args, parts, strict=True):
            own: list[Tensor] = []
            form = flatten(arg, Tensor, own)
            if part is None or not own:
                found += [None] * len(own)
                continue
            leaves: list[Tensor] = []
            if flatten(part, Tensor, leaves) != form:
                wrong = "a cotangent is nested like its argument"
                raise ArgumentError(explain("custom_gradient", wrong, got=type(part).__name__))
            pairs = zip(leaves, own, strict=True)
            found += [_shaped("custom_gradient", g, x)._node for g, x in pairs]
        return found


def _second(result: Any) -> Any:
    if not isinstance(result, tuple) or len(result) != 2:
        hint = "rule(primals, tangents) returns (result, change)"
        raise ArgumentError(explain("custom_jvp", "the rule returns two things", hint))
    return result[1]


def _shaped(what: str, change: Tensor, x: Tensor) -> Tensor:
    if change.shape != x.shape:
        facts = {"tensor": x.shape, "got": change.shape}
        raise ShapeError(explain(what, "a change has the shape of what changes", **facts))
    return change
