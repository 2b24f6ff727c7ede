"""Derivatives as functions of functions: gradients, and products with Jacobians from both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from treadle.autograd.backward import gradients as node_gradients
from treadle.base.errors import ArgumentError, GradientError, ShapeError, explain, require_function
from treadle.base.trees import Structure, flatten, unflatten
from treadle.ir.graph import toposort
from treadle.ir.node import Node, full, leaf
from treadle.ir.recording import GRADIENTS
from treadle.ops.picking import clone
from treadle.runtime.realize import TRACED
from treadle.tensor.gradients import gradients, needs_none, tap
from treadle.tensor.tensor import Tensor
from treadle.transforms.compile import INLINE


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns f's scalar result and its gradient by the arguments in argnums.

    An argument may be a list, tuple or dict of tensors, nested too: so is its gradient. With
    has_aux, f returns (scalar, anything else), and so does the first part of the result.

    >>> import treadle as td
    >>> f = value_and_grad(lambda x: (x * x).sum())
    >>> [float(part.sum()) for part in f(td.tensor([1.0, 2.0]))]
    [5.0, 6.0]
    """
    require_function("value_and_grad", f)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> tuple[Any, Any]:
        made: list[Tensor] = []
        followed, chosen = marked("grad", args, numbers, made)
        result = recorded(f, followed, options)
        y, aux = two_parts("grad", result) if has_aux else (result, None)
        if not isinstance(y, Tensor) or y.shape != () or not y.dtype.is_float:
            hint = "return a scalar float tensor, e.g. loss.mean()"
            got = f"{y.dtype.name}{y.shape}" if isinstance(y, Tensor) else type(y).__name__
            raise GradientError(explain("grad", "needs a scalar result", hint, got=got))
        walked: list[Node] = []
        slopes = node_gradients(
            [y._node], [x._node for x in chosen], [None], needs_none, tap(Tensor), walked
        )
        parts = [
            Tensor(full(0, x._node.type) if g is None else g)
            for x, g in zip(chosen, slopes, strict=True)
        ]
        if made:
            _forget(made, walked, y, aux, parts)
        plain = len(chosen) == len(numbers) and all(args[k].__class__ is Tensor for k in numbers)
        found = tuple(parts) if plain else unflatten(form_of(args, numbers, []), parts)
        return ((y, aux) if has_aux else y), found[0] if isinstance(argnums, int) else found

    return wrapped


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of f's scalar result by the arguments in argnums.

    With has_aux, f returns (scalar, anything else), and the result is (gradient, that).

    >>> import treadle as td
    >>> slope = grad(lambda x: x * x * x)
    >>> slope(td.tensor(2.0)).item(), grad(slope)(td.tensor(2.0)).item()
    (12.0, 12.0)
    """
    require_function("grad", f)
    both = value_and_grad(f, argnums, has_aux)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        value, found = both(*args, **options)
        return (found, value[1]) if has_aux else found

    return wrapped


def vjp(f: Callable[..., Any], *args: Tensor, has_aux: bool = False) -> Any:
    """f(*args), and a function from cotangents of the result to those of the arguments.

    The result may be nested tensors; cotangents come in the same form. With has_aux, f returns
    (result, anything else), and what else comes third.

    >>> import treadle as td
    >>> y, pullback = vjp(lambda x: x * x, td.tensor([1.0, 2.0]))
    >>> pullback(td.tensor([1.0, 10.0]))[0].tolist()
    [2.0, 40.0]
    """
    require_function("vjp", f)
    y, pullback, aux = pulling(f, args, has_aux)
    return (y, pullback, aux) if has_aux else (y, pullback)


def pulling(
    f: Callable[..., Any], args: Sequence[Any], has_aux: bool, made: list[Tensor] | None = None
) -> tuple[Any, Callable[[Any], tuple[Any, ...]], Any]:
    """(result, pullback, what else f returned); marks for arguments are added to made."""
    numbers = tuple(range(len(args)))
    args, chosen = marked("vjp", args, numbers, made)
    form = form_of(args, numbers, [])
    result = recorded(f, args, {})
    y, aux = two_parts("vjp", result) if has_aux else (result, None)
    outputs: list[Tensor] = []
    shape = flatten(y, Tensor, outputs)

    def pullback(cotangents: Any) -> tuple[Any, ...]:
        given: list[Tensor] = []
        if flatten(cotangents, Tensor, given) != shape:
            hint = "pass cotangents nested like the result"
            raise ArgumentError(explain("vjp", "another form than the result's", hint))
        for y, g in zip(outputs, given, strict=True):
            if y.shape != g.shape:
                facts = {"result": y.shape, "cotangent": g.shape}
                raise ShapeError(explain("vjp", "a cotangent has its result's shape", **facts))
        nested: tuple[Any, ...] = unflatten(form, gradients(outputs, chosen, given))
        return nested

    return y, pullback, aux


# ---- what all of them share


def recorded(f: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """f called with gradients recorded, and compiled functions in it like any other."""
    before, GRADIENTS.on = GRADIENTS.on, True
    INLINE.push(f)
    try:
        return f(*args, **options)
    finally:
        INLINE.pop()
        GRADIENTS.on = before


def marked(
    what: str, args: Sequence[Any], numbers: Sequence[int], made: list[Tensor] | None = None
) -> tuple[tuple[Any, ...], list[Tensor]]:
    """The arguments, with the tensors in those of the given numbers followed; and these tensors.

    What is followed remembers where it comes from even when somebody looks at it in between. Those
    that stand for others are added to made.
    """
    found, followed = list(args), []
    for number in numbers:
        x = args[number] if -len(args) <= number < len(args) else None
        if x.__class__ is Tensor and x.dtype.is_inexact:
            found[number] = _mark(x, made)
            followed.append(found[number])
            continue
        leaves: list[Tensor] = []
        form = flatten(x, Tensor, leaves)
        odd = [leaf.dtype.name for leaf in leaves if not leaf.dtype.is_inexact] or _strangers(form)
        if odd or not leaves:
            hint = "argnums are the numbers of positional arguments made of float tensors"
            wrong = f"argument {number} has no gradient"
            kind = type(x).__name__
            inside = odd and isinstance(x, list | tuple | dict)
            got = f"{odd[0]} in a {kind}" if inside else odd[0] if odd else kind
            raise GradientError(explain(what, wrong, hint, got=got))
        marks = [_mark(leaf, made) for leaf in leaves]
        found[number] = unflatten(form, marks)
        followed += marks
    return tuple(found), followed


def _strangers(form: Structure) -> list[str]:
    """Types of what is no tensor in a form."""
    if form is None:
        return []
    if form[0] == "static":
        return [form[1].__name__]
    parts = form[2:] if form[0] is dict else form[1:]
    return [name for part in parts for name in _strangers(part)]


def form_of(args: Sequence[Any], numbers: Sequence[int], leaves: list[Tensor]) -> Structure:
    """How arguments of these numbers are nested, as one tuple; their tensors go to leaves."""
    return flatten(tuple([args[number] for number in numbers]), Tensor, leaves)


def _mark(x: Tensor, made: list[Tensor] | None = None) -> Tensor:
    """x under a name of its own: what else depends on x is not part of the derivative by it."""
    before = x._node
    buffer = before.buffer
    if before.needs_grad and GRADIENTS.on:
        return Tensor(clone(before))  # gradients of x go on through it
    hidden = buffer is None or buffer is TRACED  # not to be read by another name
    node = clone(before) if hidden else leaf(before.call.type, buffer)
    node.needs_grad = True
    mark = Tensor(node)
    if made is not None:
        made.append(mark)
    return mark


def _forget(
    marks: Sequence[Tensor], walked: Sequence[Node], y: Tensor, aux: Any, parts: Sequence[Tensor]
) -> None:
    """What was followed for the time of a call is not any more: nothing is kept for that.

    Gradients depend on what the value depends on; where that needs none, neither do they.
    """
    ours = unmarked(marks)
    let_go(unfollowed(ours, walked))
    results = list(parts)
    if aux is not None:
        flatten(aux, Tensor, results)
    if y._node.needs_grad:  # somebody else follows it, and may follow them
        roots = [x._node for x in results]
        let_go(unfollowed(ours, toposort(roots, lambda n: n in ours or not n.needs_grad)))
        return
    for x in results:
        node = x._node
        if node.needs_grad and node.owner is None:
            node.needs_grad = False


def unmarked(marks: Sequence[Tensor]) -> set[Node]:
    """The nodes of marks, which are not followed any more."""
    ours = {mark._node for mark in marks}
    for node in ours:
        node.needs_grad = False
    return ours


def unfollowed(ours: set[Node], walked: Sequence[Node]) -> list[Node]:
    """Nodes that needed a gradient because of ours and need none any more.

    What depends on ours is added to them; what does not stays as it is: others may follow that.
    """
    ended = []
    for node in walked:
        follows = node.needs_grad and node.owner is None and node not in ours
        if follows and not ours.isdisjoint(node.operands):
            ours.add(node)
            node.needs_grad = any([x.needs_grad for x in node.operands])  # noqa: C419 - faster
            if not node.needs_grad:
                ended.append(node)
    return ended


def end_following(marks: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """What results need of marks is not followed any more."""
    walked = toposort([x._node for x in results], needs_none)
    let_go(unfollowed(unmarked(marks), walked))


def let_go(nodes: Sequence[Node]) -> None:
    """Nodes with a value need what they were computed from no more."""
    for node in nodes:
        if node.buffer is not None:
            node.operands = ()


def two_parts(what: str, result: Any) -> tuple[Any, Any]:
    """(result, anything else) of a function that was said to return both."""
    if not isinstance(result, tuple) or len(result) != 2:
        got = type(result).__name__
        raise ArgumentError(explain(what, "has_aux needs (result, anything else)", got=got))
    return result
