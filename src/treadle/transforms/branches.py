"""Branches in a graph: `cond` and `switch`, of which one is run, and `while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.dtypes import bool_, int64
from treadle.base.errors import (
    ArgumentError,
    DeviceError,
    DtypeError,
    ShapeError,
    explain,
    require_function,
)
from treadle.base.trees import flatten, unflatten
from treadle.ir.node import Node
from treadle.ir.recording import GRADIENTS
from treadle.ir.region import UNBOUNDED, Branch, Loop, are_alike
from treadle.ops.elementwise import cast, where
from treadle.ops.transfer import transfer
from treadle.runtime.draws import draw
from treadle.tensor.tensor import Tensor
from treadle.transforms.bodies import Body, as_tensors, drawn, enclosed, recorded_body, results_of
from treadle.transforms.loops import looped, require_same, said, shown, unlike, whole


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """true_fun(*operands) where pred is true, else false_fun(*operands); only one of them is run.

    Both are called once, on tensors whose values are not known, and give tensors of the same types
    in the same form. A pred that is a Python bool decides at once. `td.where` chooses element by
    element.

    >>> import treadle as td
    >>> x = td.tensor([3.0, -4.0])
    >>> cond(x.sum() > 0, lambda x: x, lambda x: -x, x).tolist()
    [-3.0, 4.0]
    """
    require_function("cond", true_fun)
    require_function("cond", false_fun)
    if isinstance(pred, bool):
        return (true_fun if pred else false_fun)(*operands)
    node = _truth("cond", pred)
    node = node.operands[0] if node.op is transfer else node  # where the branches are, it may be
    index = where(node, 0, cast(node.zeros_like(), int64) + 1)
    return _branched("cond", index, (true_fun, false_fun), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """branches[index](*operands); an index out of range is the first or the last.

    Every branch is called once, on tensors whose values are not known, and all give tensors of the
    same types in the same form; only the one of the index is run.

    >>> import treadle as td
    >>> double, square = (lambda x: x + x), (lambda x: x * x)
    >>> switch(td.tensor(1), [double, square], td.tensor([3.0])).tolist()
    [9.0]
    """
    if not branches:
        raise ArgumentError(explain("switch", "no branches", "pass functions of the operands"))
    for branch in branches:
        require_function("switch", branch)
    if not isinstance(index, Tensor):
        return branches[min(max(whole("switch", "index", index), 0), len(branches) - 1)](*operands)
    if index.shape != () or not index.dtype.is_integer:
        hint = "an integer of shape (), such as x.argmax()"
        raise DtypeError(explain("switch", "not an index", hint, got=index._node.type))
    return _branched("switch", cast(index._node, int64), branches, operands)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init: Any, *,
    max_steps: int | None = None,
) -> Any:  # fmt: skip
    """state = body_fun(state) for as long as cond_fun(state) is true; the last state.

    - **max_steps**: the loop ends after so many steps at the latest; with it there is a gradient

    >>> import treadle as td
    >>> while_loop(lambda x: x < 100, lambda x: x * 2, td.tensor(3)).item()
    192
    """
    require_function("while_loop", cond_fun)
    require_function("while_loop", body_fun)
    return looped_while("while_loop", cond_fun, body_fun, init, max_steps)


def looped_while(
    what: str, cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init: Any,
    max_steps: int | None = None,
) -> Any:  # fmt: skip
    """A loop that ends by a condition, with the name of whoever asks for it."""
    init = as_tensors(init)
    initial: list[Tensor] = []
    form = flatten(init, Tensor, initial)
    begins = _truth(what, cond_fun(init))
    limit = UNBOUNDED if max_steps is None else whole(what, "max_steps", max_steps)

    def step(state: Any) -> tuple[Any, Tensor]:
        after = as_tensors(body_fun(state))
        found: list[Tensor] = []
        returned = flatten(after, Tensor, found)
        if returned != form:
            hint = "return it nested as it was given"
            facts = {"given": shown(form), "returned": shown(returned)}
            raise ArgumentError(explain(what, "the state changes its form", hint, **facts))
        require_same(what, [x._node for x in initial], [x._node for x in found])
        return after, Tensor(_truth(what, cond_fun(after)))

    body = recorded_body(what, step, (tuple, form), [x._node.type for x in initial])
    if body.key is not None:
        hint = "draw before the loop, or from td.random.key(...) in the state"
        raise ArgumentError(explain(what, "random numbers in the body", hint))
    region, closed = enclosed(body.params, body.results)
    operands = (*[x._node for x in initial], *closed, begins)
    if max_steps is not None and GRADIENTS.on and any(x.needs_grad for x in operands):
        return _bounded(step, init, Tensor(begins), limit)
    if not initial:
        raise ArgumentError(explain(what, "no state", "a loop needs tensors"))
    spec = Loop(region, len(initial), 0, limit, False, True)
    return unflatten(form, results_of(spec, operands))


def _bounded(step: Callable[[Any], Any], init: Any, begins: Tensor, limit: int) -> Any:
    """A loop of as many steps as there may be, of which those after the end do nothing."""

    def stays(state: Any) -> tuple[Any, Tensor]:
        return state, Tensor(begins._node.zeros_like())

    def once(carry: Any, _: None) -> tuple[Any, None]:
        state, going = carry
        return cond(going, step, stays, state), None

    (state, _), _ = looped("while_loop", once, (init, begins), None, limit, False)
    return state


def _truth(what: str, value: Any) -> Node:
    """A condition as a node."""
    value = as_tensors(value)
    if not isinstance(value, Tensor):
        hint = "compare tensors: x.sum() > 0"
        raise ArgumentError(explain(what, "not a condition", hint, got=type(value).__name__))
    if value.shape != ():
        hint = "reduce it with all() or any(); td.where chooses element by element"
        raise ShapeError(explain(what, "a condition is one bool", hint, shape=value.shape))
    if value.dtype is not bool_:
        hint = "compare it with something: x != 0"
        raise DtypeError(explain(what, "a condition is a bool", hint, dtype=value.dtype.name))
    return value._node


def _branched(
    what: str, index: Node, functions: Sequence[Callable[..., Any]], operands: tuple[Any, ...]
) -> Any:
    given: list[Tensor] = []
    shape = flatten(as_tensors(operands, index.device), Tensor, given)
    types = [x._node.type for x in given]
    bodies = [recorded_body(what, f, shape, types) for f in functions]
    first = bodies[0]
    for body in bodies[1:]:
        _require_alike(what, first, body)
    params = [list(body.params) for body in bodies]
    nodes = [x._node for x in given]
    draws = max(body.draws for body in bodies)
    if draws:
        device, *others = {body.key.device: None for body in bodies if body.key}
        if others:
            hint = "draw on one of them, and move the numbers: td.rand(4).to('cuda')"
            wrong = "branches draw random numbers on different devices"
            devices = ", ".join(map(str, (device, *others)))
            raise DeviceError(explain(what, wrong, hint, devices=devices))
        nodes.append(drawn(*draw(device, draws)))
        for body, places in zip(bodies, params, strict=True):
            places.append(body.key or nodes[-1])
    outside: dict[Node, None] = {}
    for body, places in zip(bodies, params, strict=True):
        outside |= dict.fromkeys(enclosed(places, body.results)[1])
    regions = [
        enclosed([*places, *outside], body.results)[0]
        for body, places in zip(bodies, params, strict=True)
    ]
    spec = Branch(tuple(regions))
    return unflatten(first.shape, results_of(spec, (index, *nodes, *outside)))


def _require_alike(what: str, one: Body, other: Body) -> None:
    hint = "let both return tensors of the same types in the same form"
    if one.shape != other.shape:
        facts = {"first": shown(one.shape), "other": shown(other.shape)}
        raise ArgumentError(explain(what, "branches of different forms", hint, **facts))
    for a, b in zip(one.results, other.results, strict=True):
        if not are_alike([a], [b]):
            wrong = "branches give different types"
            raise unlike(a, b)(explain(what, wrong, hint, first=said(a), other=said(b)))
