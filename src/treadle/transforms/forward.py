"""How a function changes along tangents: `jvp`, and `linearize` for many tangents at one point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.autograd.custom import ROUTES
from treadle.autograd.forward import Changes, push
from treadle.base.errors import ArgumentError, ShapeError, explain, require_function
from treadle.base.trees import Structure, flatten, unflatten
from treadle.ir.graph import toposort
from treadle.ir.node import Node, full, placeholder, record
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.tensor.gradients import needs_none
from treadle.tensor.tensor import Tensor
from treadle.transforms.grad import (
    form_of,
    let_go,
    marked,
    recorded,
    two_parts,
    unfollowed,
    unmarked,
)


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """f(*primals), and how it changes along tangents, which are nested like the primals.

    One pass in forward mode: its cost is a small multiple of f's, however many results there are.
    With has_aux, f returns (result, anything else), and what else comes third.

    >>> import treadle as td
    >>> y, change = jvp(lambda x: x * x, [td.tensor([1.0, 2.0])], [td.tensor([1.0, 0.5])])
    >>> change.tolist()
    [2.0, 2.0]
    """
    require_function("jvp", f)
    moving = _Moving("jvp", f, tuple(primals), has_aux)
    changes = moving.changes(moving.given(tuple(tangents)))
    found = unflatten(moving.shape, [Tensor(x) for x in changes])
    return (moving.result, found, moving.aux) if has_aux else (moving.result, found)


def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """f(*primals), and a function from tangents of the primals to the change of the result.

    What both need of the primals is recorded, and computed, once.

    >>> import treadle as td
    >>> y, push = linearize(lambda x: x * x, td.tensor([1.0, 2.0]))
    >>> push(td.tensor([1.0, 0.5])).tolist(), push(td.tensor([0.0, 1.0])).tolist()
    ([2.0, 2.0], [0.0, 4.0])
    """
    require_function("linearize", f)
    moving = _Moving("linearize", f, primals, has_aux)
    places = [placeholder(x._node.type) for x in moving.primals]
    changes = moving.changes(places)

    def pushed(*tangents: Any) -> Any:
        given = moving.given(tangents)
        found = _replayed(changes, dict(zip(places, given, strict=True)))
        return unflatten(moving.shape, [Tensor(x) for x in found])

    return (moving.result, pushed, moving.aux) if has_aux else (moving.result, pushed)


class _Moving:
    """One recording of a function, and which of its nodes change with the primals."""

    def __init__(
        self, what: str, f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
    ) -> None:
        self.what = what
        numbers = range(len(primals))
        self.form: Structure = form_of(primals, numbers, [])
        self.marks: list[Tensor] = []
        args, self.primals = marked(what, primals, numbers, self.marks)
        result = recorded(f, args, {})
        self.result: Any = result
        self.aux: Any = None
        if has_aux:
            self.result, self.aux = two_parts(what, result)
        outputs: list[Tensor] = []
        self.shape = flatten(self.result, Tensor, outputs)
        self.outputs = [y._node for y in outputs]

    def given(self, tangents: tuple[Any, ...]) -> list[Node]:
        """The tangents' nodes, once each fits its primal."""
        found: list[Tensor] = []
        if flatten(tangents, Tensor, found) != self.form:
            hint = "pass tangents nested like the primals"
            raise ArgumentError(explain(self.what, "another form than the primals'", hint))
        for x, t in zip(self.primals, found, strict=True):
            if x.shape != t.shape:
                facts = {"primal": x.shape, "tangent": t.shape}
                wrong = "a tangent has the shape of its primal"
                raise ShapeError(explain(self.what, wrong, **facts))
        pairs = zip(self.primals, found, strict=True)
        return [(t if t.dtype is x.dtype else t.cast(x.dtype))._node for x, t in pairs]

    def changes(self, tangents: Sequence[Node]) -> list[Node]:
        """How each result changes; what was followed for that is not followed any more."""
        starts = [x._node for x in self.primals]
        walked = toposort(self.outputs, needs_none)
        order = [node for node in walked if node.needs_grad]
        ended = unfollowed(unmarked(self.marks), walked)
        changes: Changes = dict(zip(starts, tangents, strict=True))
        push(order, changes)
        let_go(ended)
        return [changes.get(y) or full(0, y.type) for y in self.outputs]


def _replayed(roots: Sequence[Node], given: dict[Node, Node]) -> list[Node]:
    """Roots recorded again with other nodes of the same types for some sources."""
    made, on = dict(given), GRADIENTS.on
    for node in toposort(roots, lambda n: n in made or n.buffer is not None):
        if node not in made and any([x in made for x in node.operands]):  # noqa: C419 - faster
            operands = tuple([made.get(x, x) for x in node.operands])
            follows = on and node.call.smooth and any([x.needs_grad for x in operands])  # noqa: C419
            copy = made[node] = record(node.call, operands, follows)
            if RECORDING.watched:
                RECORDING.note(copy)
            if node in ROUTES:
                ROUTES[copy] = ROUTES[node]
    return [made.get(root, root) for root in roots]
