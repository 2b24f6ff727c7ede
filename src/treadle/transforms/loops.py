"""Loops of a known number of steps as parts of a graph: `scan` and `map`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.autograd.batch_regions import batch_regions
from treadle.autograd.loops import differentiate_regions
from treadle.base.device import CPU
from treadle.base.errors import (
    ArgumentError,
    DeviceError,
    DtypeError,
    OperandError,
    ShapeError,
    TreadleError,
    explain,
    require_function,
)
from treadle.base.trees import Structure, flatten, unflatten
from treadle.ir.node import Node, Type, iota, type_of
from treadle.ir.region import Loop, are_alike
from treadle.ops.joining import stack
from treadle.ops.movement import concat, cut
from treadle.passes.pipeline import simplify
from treadle.runtime.draws import draw
from treadle.tensor.tensor import Tensor
from treadle.transforms.bodies import Body, as_tensors, drawn, enclosed, recorded_body, results_of
from treadle.transforms.lifting import lifted

differentiate_regions(simplify)
batch_regions()


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any = None, *,
    length: int | None = None, reverse: bool = False, unroll: int | bool = 1,
) -> tuple[Any, Any]:  # fmt: skip
    """Run f(carry, x) -> (carry, y) for each x along the first axis of xs; the last carry, all y.

    f is called once, on tensors whose values are not known, and becomes the body of a loop in the
    graph: a thousand steps are compiled as fast as ten. carry, x and y are tensors, or lists,
    tuples and dicts of them; every step returns a carry of the same types. A y of None is none.

    - **length**: the number of steps, where there are no xs
    - **reverse**: from the last x to the first; each y stands where its x does
    - **unroll**: so many steps are one step of the loop; True: all, without a loop

    >>> import treadle as td
    >>> total, sums = scan(lambda c, x: (c + x, c + x), td.tensor(0.0), td.tensor([1.0, 2.0, 3.0]))
    >>> total.item(), sums.tolist()
    (6.0, [1.0, 3.0, 6.0])
    """
    require_function("scan", f)
    carry = as_tensors(carry)
    count = _length("scan", xs, length)
    many = count if unroll is True else whole("scan", "unroll", unroll)
    if many < 1 and count:
        hint = "1 is a loop of single steps, True is no loop"
        raise ArgumentError(explain("scan", "no number of steps", hint, unroll=unroll))
    if many > 1 and count:
        return _unrolled(f, carry, xs, count, reverse, min(many, count))
    return looped("scan", f, carry, xs, count, reverse)


def map(f: Callable[[Any], Any], xs: Any) -> Any:  # noqa: A001
    """f of each x along the first axis of xs, one after the other; the results stacked.

    >>> import treadle as td
    >>> map(lambda x: x * x, td.tensor([1.0, 2.0, 3.0])).tolist()
    [1.0, 4.0, 9.0]
    """
    require_function("map", f)
    return looped("map", lambda _, x: ((), f(x)), (), xs, _length("map", xs, None), False)[1]


# ---- loops of a known length


def looped(
    what: str, f: Callable[..., Any], carry: Any, xs: Any, length: int, reverse: bool
) -> tuple[Any, Any]:
    """A loop in the graph: scan with the name of whoever asks for it."""
    initial: list[Tensor] = []
    form = flatten(carry, Tensor, initial)
    rows: list[Tensor] = []
    of_xs = flatten(xs, Tensor, rows)
    types = [x._node.type for x in initial] + [_slice_type(x._node.type) for x in rows]
    body = recorded_body(what, f, (tuple, form, of_xs), types)
    of_ys = _form_of_ys(what, body, form)
    require_same(what, [x._node for x in initial], body.results)
    stacks = dict(zip(body.params[len(initial) :], [x._node for x in rows], strict=True))
    ends, more = lifted(body.params, body.results, stacks, length)
    stacks |= more
    if body.key is not None:  # numbers of its own for every step
        stacks[body.key] = _keys(body.key, body.draws, length)
    region, closed = enclosed([*body.params[: len(initial)], *stacks], ends)
    spec = Loop(region, len(initial), len(stacks), length, reverse)
    operands = (*[x._node for x in initial], *stacks.values(), *closed)
    if not operands:
        raise ArgumentError(explain(what, "neither a carry nor xs", "a loop needs tensors"))
    results = results_of(spec, operands)
    return unflatten(form, results[: len(initial)]), unflatten(of_ys, results[len(initial) :])


def _unrolled(
    f: Callable[..., Any], carry: Any, xs: Any, length: int, reverse: bool, many: int
) -> tuple[Any, Any]:
    """Many steps at a time: those of a loop, and what is left over one by one."""
    rows: list[Tensor] = []
    of_xs = flatten(xs, Tensor, rows)
    whole = length // many * many if many < length else 0
    rest = length - whole

    def some(carry: Any, xs: Any, steps: int) -> tuple[Any, Any]:
        parts: list[Tensor] = []
        flatten(xs, Tensor, parts)
        found: list[list[Tensor]] = []
        form: Structure = None
        for k in range(steps)[:: -1 if reverse else 1]:
            result = f(carry, unflatten(of_xs, [x[k] for x in parts]))
            carry, y = _pair("scan", result)
            carry = as_tensors(carry)
            leaves: list[Tensor] = []
            form = flatten(as_tensors(y), Tensor, leaves)
            found.append(leaves)
        rows = zip(*(found[::-1] if reverse else found), strict=True)
        return carry, unflatten(form, [stack(row) for row in rows])

    def cut_rows(start: int, stop: int) -> Any:
        return unflatten(of_xs, [Tensor(cut(x._node, 0, start, stop)) for x in rows])

    if not whole:
        return some(carry, xs, length)
    blocks = [Tensor(cut(x._node, 0, rest * reverse, rest * reverse + whole)) for x in rows]
    blocks = [x.reshape(whole // many, many, *x.shape[1:]) for x in blocks]
    after = cut_rows(0, rest) if reverse else cut_rows(whole, length)

    def block(carry: Any, xs: Any) -> tuple[Any, Any]:
        return some(carry, xs, many)

    given = unflatten(of_xs, blocks)
    carry, ys = looped("scan", block, carry, given, whole // many, reverse)
    leaves: list[Tensor] = []
    form = flatten(ys, Tensor, leaves)
    found = [y.reshape(whole, *y.shape[2:]) for y in leaves]
    if rest:
        carry, ys = some(carry, after, rest)
        leaves = []
        flatten(ys, Tensor, leaves)
        pairs = zip(leaves, found, strict=True) if reverse else zip(found, leaves, strict=True)
        found = [concat(list(pair), axis=0) for pair in pairs]
    return carry, unflatten(form, found)


def _keys(key: Node, draws: int, length: int) -> Node:
    """Where the random numbers of each step begin: draws after those of the step before."""
    first, number = draw(key.device, draws * length)
    return drawn(first, iota((length, 1), 0, key.device) * draws + number)


def _form_of_ys(what: str, body: Body, form: Structure) -> Structure:
    """The form of y that a step returned, beside a carry of the form that it has to have."""
    shape = body.shape
    if shape is None or shape[0] is not tuple or len(shape) != 3:
        hint = "return (carry, y); y may be None"
        raise ArgumentError(explain(what, "a step gives two things", hint))
    if shape[1] != form:
        hint = "return it nested as it was given"
        facts = {"given": shown(form), "returned": shown(shape[1])}
        raise ArgumentError(explain(what, "the carry changes its form", hint, **facts))
    of_ys: Structure = shape[2]
    return of_ys


def _pair(what: str, result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        hint = "return (carry, y); y may be None"
        raise ArgumentError(explain(what, "a step gives two things", hint, got=type(result)))
    return result


def require_same(what: str, initial: Sequence[Node], results: Sequence[Node]) -> None:
    """Refuse a step after which a carry is of another type than before."""
    for k, (before, after) in enumerate(zip(initial, results, strict=False)):
        if not are_alike([before], [after]):
            error = unlike(before, after)
            hint = "cast or reshape it, or begin with another one"
            if error is DeviceError:
                hint = f"move it back at the end of a step: x.to({str(before.device)!r})"
            facts = {"given": said(before), "returned": said(after)}
            wrong = f"carry {k} is of another type after a step"
            raise error(explain(what, wrong, hint, **facts))


def unlike(one: Node, other: Node) -> type[TreadleError]:
    """What kind of mistake it is that two nodes are not of one type."""
    if one.shape != other.shape:
        return ShapeError
    return DtypeError if one.dtype is not other.dtype else DeviceError


def said(node: Node) -> str:
    """A type for people, with its device if that is another than usual."""
    return str(node.type) if node.device is CPU else f"{node.type} on {node.device}"


def shown(form: Structure) -> str:
    """A form for people: tensors as *."""
    if form is None:
        return "*"
    if form[0] == "static":
        return repr(form[-1])
    if form[0] is dict:
        pairs = zip(form[1], form[2:], strict=True)
        return "{" + ", ".join(f"{key!r}: {shown(part)}" for key, part in pairs) + "}"
    inner = ", ".join(shown(part) for part in form[1:])
    return f"[{inner}]" if form[0] is list else f"({inner})"


# ---- arguments


def _length(what: str, xs: Any, length: int | None) -> int:
    """The size of the first axis, which all of xs share."""
    rows: list[Tensor] = []
    odd = _stranger(flatten(xs, Tensor, rows))
    if odd is not None:
        hint = "wrap it with td.tensor(...), or let the function close over it"
        raise OperandError(explain(what, "not a tensor in xs", hint, got=odd))
    if any(not x.shape for x in rows):
        raise ShapeError(explain(what, "a 0-d tensor has no first axis to go along"))
    sizes = {x.shape[0] for x in rows}
    if length is not None:
        sizes.add(whole(what, "length", length))
    if len(sizes) > 1:
        facts = {"sizes": ", ".join(str(x.shape[0]) for x in rows), "length": length}
        raise ShapeError(explain(what, "first axes of different sizes", **facts))
    if not sizes:
        raise ArgumentError(explain(what, "how many steps?", "pass xs or length="))
    count = sizes.pop()
    if count < 0:
        raise ArgumentError(explain(what, "a negative number of steps", length=count))
    return count


def _stranger(form: Structure) -> str | None:
    """The type of something in a form that is neither a tensor nor None."""
    if form is None:
        return None
    if form[0] == "static":
        return None if form[-1] is None else form[1].__name__
    parts = form[2:] if form[0] is dict else form[1:]
    return next((name for part in parts if (name := _stranger(part)) is not None), None)


def whole(what: str, name: str, value: Any) -> int:
    """An option that has to be an int."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or isinstance(value, Tensor):
        hint = "a number that tensors hold decides a td.while_loop"
        raise ArgumentError(explain(what, f"{name} is an int", hint, got=type(value).__name__))
    return int(value)


def _slice_type(type_: Type) -> Type:
    return type_of(type_.shape[1:], type_.dtype, type_.device)
