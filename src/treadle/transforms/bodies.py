"""A function called once on stand-ins, as a region: what it computes, and what it closes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from treadle.autograd.checkpoint import SEGMENTS, Segment
from treadle.autograd.custom import ROUTES, Route, marks_of
from treadle.base.device import CPU, Device
from treadle.base.dtypes import bool_, complex64, float32, int64, uint32
from treadle.base.errors import ArgumentError, explain
from treadle.base.trees import Structure, flatten, unflatten
from treadle.ir.graph import rebuild, toposort
from treadle.ir.node import (
    CONST,
    IOTA,
    Node,
    Type,
    full,
    iota,
    leaf,
    new_node,
    placeholder,
    type_of,
)
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.ir.region import (
    Branch,
    Loop,
    Region,
    Spec,
    apply_region,
    bodies_of,
    project,
    region_of,
)
from treadle.ops.elementwise import cast, detach, eq, where
from treadle.ops.parts import view_as_complex, view_as_real
from treadle.ops.transfer import transfer
from treadle.passes.pairs import in_pairs, is_complex
from treadle.runtime.draws import begin_draws, end_draws
from treadle.runtime.realize import TRACED
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE, Tracing
from treadle.transforms.settling import settled
from treadle.transforms.traced import _undo


class Body(NamedTuple):
    """A function as it was recorded on stand-ins for its arguments."""

    params: list[Node]
    shape: Structure  # of what it returned
    results: list[Node]
    key: Node | None  # stands for where its random numbers begin, if it draws any
    draws: int


def recorded_body(
    what: str, function: Callable[..., Any], shape: Structure, types: Sequence[Type]
) -> Body:
    """Call function on tensors whose values nobody knows; shape: of its arguments."""
    params = [leaf(type_, TRACED) for type_ in types]
    for node in params:
        node.needs_grad = node.dtype.is_inexact
    trace, made, sites = Tracing(), RECORDING.made, RECORDING.sites
    trace.made |= set(params)
    on, GRADIENTS.on = GRADIENTS.on, True
    draws = begin_draws()
    TRACE.push(trace)
    RECORDING.watch(sites, trace.made)
    try:
        outputs = function(*unflatten(shape, [Tensor(node) for node in params]))
        _refuse_state(what, trace)
    except BaseException:
        _undo(trace)
        raise
    finally:
        RECORDING.watch(sites, made)
        TRACE.pop()
        end_draws()
        GRADIENTS.on = on
    if made is not None:
        made |= trace.made
    if TRACE:
        _pass_on(trace, TRACE.top)
    found: list[Any] = []
    form = flatten(_with_tensors(outputs, types), Tensor, found)
    return Body(params, form, [x._node for x in found], draws.leaf, draws.count)


def _with_tensors(tree: Any, types: Sequence[Type]) -> Any:
    """What a body returned, with tensors for numbers."""
    return as_tensors(tree, types[0].device if types else None)


def as_tensors(tree: Any, device: Any = None) -> Any:
    """A tree with 0-d tensors for its numbers."""
    if isinstance(tree, bool | int | float | complex):
        return number(tree, device)
    if isinstance(tree, dict):
        return {key: as_tensors(part, device) for key, part in tree.items()}
    if isinstance(tree, list | tuple):
        parts = [as_tensors(part, device) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return tree


def number(value: bool | int | float | complex, device: Any = None) -> Tensor:
    """A Python number as a 0-d tensor."""
    kinds = (bool, bool_), (int, int64), (float, float32), (complex, complex64)
    kind = next(dtype for type_, dtype in kinds if isinstance(value, type_))
    return Tensor(full(value, type_of((), kind, device or CPU)))


def _refuse_state(what: str, trace: Tracing) -> None:
    """A body is recorded once and run many times: what it assigns would be assigned once."""
    states = [t for t, before in trace.assigned.items() if before not in trace.made]
    states += [t for t in trace.grads if t._node not in trace.made]
    if states:
        hint = "return it as a part of the carry or of the result"
        wrong = "the body assigns to a tensor that outlives it"
        raise ArgumentError(explain(what, wrong, hint, type=states[0]._node.type))


def _pass_on(inner: Tracing, outer: Tracing) -> None:
    """What a body has looked at, the function around it has looked at."""
    outer.made |= inner.made
    for name in ("read", "facts", "found"):
        known = getattr(outer, name)
        for thing, fact in getattr(inner, name).items():
            known.setdefault(thing, fact)


def enclosed(params: Sequence[Node], results: Sequence[Node]) -> tuple[Region, list[Node]]:
    """The graph between params and results as a region, and the nodes of outside that it reads.

    These come after the params. What does not depend on a param stays outside, so it is computed
    once; only numbers are part of the region.
    """
    done: dict[Node, Node] = {x: placeholder(x.type) for x in params}
    closed: dict[Node, Node] = {}
    inside: dict[Node, None] = dict.fromkeys(params)
    for node in toposort(results, lambda n: n.buffer is not None or n in done):
        if node not in inside and any(x in inside for x in node.operands):
            inside[node] = None

    def found(x: Node) -> Node:
        if x in done:
            return done[x]
        if x.op in (CONST, IOTA) and x.buffer is None and x.owner is None:
            return done.setdefault(x, new_node(x.call, ()))
        closed[x] = done[x] = placeholder(x.type)
        return done[x]

    for node in list(inside)[len(params) :]:
        copy = new_node(node.call, tuple([found(x) for x in node.operands]))
        copy.site = node.site
        stops = node.call.smooth and not node.needs_grad
        stops = stops and any(x.needs_grad for x in node.operands if x in inside)
        done[node] = detach(copy) if stops and node.dtype.is_inexact else copy
    ends = [found(x) for x in results]
    marks = [(node, SEGMENTS[node]) for node in inside if node in SEGMENTS]
    for node, segment in marks:
        SEGMENTS[done[node]] = Segment(*(tuple(map(found, part)) for part in segment))
    for node in inside:
        if node in ROUTES:
            ROUTES[done[node]] = _moved(ROUTES[node], done)
    places = [*(done[x] for x in params), *closed.values()]
    keys = [(done[node], *map(found, (*s.arguments, *s.others))) for node, s in marks]
    return region_of(places, ends, [*keys, *marks_of(done.values())]), list(closed)


def _moved(route: Route, done: dict[Node, Node]) -> Route:
    """The same gradient for copies: what it is made of is theirs, but for what it is given."""

    def theirs(parts: Sequence[Node | None], given: Sequence[Node | None]) -> list[Node | None]:
        made = done | {x: x for x in given if x is not None}
        for node in toposort([x for x in parts if x is not None], made.__contains__):
            if node not in made:
                made[node] = rebuild(node, tuple([made[x] for x in node.operands]))
        return [None if x is None else made[x] for x in parts]

    def pull(g: Node) -> list[Node | None]:
        return theirs(route.pull(g), [g])

    def push(tangents: Sequence[Node | None]) -> Node | None:
        return None if route.push is None else theirs([route.push(tangents)], tangents)[0]

    return Route(pull, None if route.push is None else push, route.told)


def drawn(first: Node, number: Any) -> Node:
    """The key of the draws that come so many after the first ones of a key; numbers may be many."""
    is_count = eq(iota((3,), 0, first.device), 2)
    return cast(cast(first, int64) + where(is_count, number, 0), uint32)


def results_of(spec: Spec, operands: Sequence[Node]) -> list[Tensor]:
    """The results of a loop or branch; complex numbers go through it as pairs of real ones."""
    spec, operands, back = settled(spec, operands)
    bodies = bodies_of(spec)
    kept = len(bodies[0].results) - (isinstance(spec, Loop) and spec.flagged)
    inside = [x for body in bodies for x in toposort(body.results)] if Type.paired else []
    whole = len({x.device for x in (*operands, *inside)}) > 1  # its pieces are split later
    if whole or not any(map(is_complex, (*operands, *inside))):
        node = apply_region(spec, tuple(operands))
        return [_back(Tensor(project(node, k)), back.get(k)) for k in range(kept)]
    split = [in_pairs(body.results, body.params) for body in bodies]
    regions = [region_of(places, ends) for ends, places in split]
    real = spec._replace(body=regions[0]) if isinstance(spec, Loop) else Branch(tuple(regions))
    given = [view_as_real(x) if x.dtype.is_complex else x for x in operands]
    node = apply_region(real, tuple(given))
    wanted = [Tensor(project(node, k)) for k in range(kept)]
    found = [
        view_as_complex(x) if end.dtype.is_complex else x
        for x, end in zip(wanted, bodies[0].results, strict=False)
    ]
    return [_back(x, back.get(k)) for k, x in enumerate(found)]


def _back(x: Tensor, device: Device | None) -> Tensor:
    """A result where the body had moved it."""
    moved: Tensor = x if device is None else transfer(x, device)
    return moved
