"""Loops and branches for a whole batch: their bodies are rewritten, and samples go on together.

A carry that differs from sample to sample after some step does so from the first one. Where samples
end a loop at different steps, it goes on while one of them does, and what the others carry stays.
Where they take different branches, all branches are computed, and each sample takes its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from treadle.autograd.batch_rules import repeated
from treadle.autograd.checkpoint import SEGMENTS
from treadle.autograd.custom import marks_of
from treadle.base.dtypes import bool_, int64
from treadle.base.errors import NotSupported, explain
from treadle.ir.node import Node, Type, placeholder, type_of
from treadle.ir.region import BRANCH, LOOP, Branch, Loop, Region, apply_region, project, region_of
from treadle.ops.elementwise import cast, ge, where
from treadle.ops.reduce import sum_

if TYPE_CHECKING:
    from treadle.autograd.batching import Batch

Result = Callable[[int], Node]
"""From the number of a result to that result for all samples."""


def results_of(batch: Batch, node: Node) -> Result:
    """The results of a loop or branch for all samples."""
    return REGIONS[node.op](batch, node)


def _rewritten(
    batch: Batch, body: Region, varying: Sequence[bool]
) -> tuple[list[Node], list[Node | None], Batch]:
    """Parameters of a body some of which differ by sample, and which results then do."""
    inner = type(batch)(batch.size, inside=True)
    places = []
    for x, differs in zip(body.params, varying, strict=True):
        place = x
        if differs:
            place = inner.whole[x] = placeholder(_of_all(x.type, batch.size))
        places.append(place)
    return places, inner.find(body.results), inner


def _of_all(type_: Type, size: int) -> Type:
    return type_of((size, *type_.shape), type_.dtype, type_.device)


def _region(inner: Batch, places: Sequence[Node], results: Sequence[Node]) -> Region:
    segments = [(x, SEGMENTS[x]) for x in inner.whole.values() if x in SEGMENTS]
    marks = [(x, *s.arguments, *s.others) for x, s in segments]
    return region_of(places, results, [*marks, *marks_of(inner.whole.values())])


def _turned(x: Node) -> Node:
    """Samples first as steps first, or back."""
    result: Node = x.permute((1, 0, *range(2, x.ndim)))
    return result


# ---- loops


def _loop(batch: Batch, node: Node) -> Result:
    spec: Loop = node.arg
    body, size, count = spec.body, batch.size, spec.carries
    given = [batch.whole.get(x) for x in node.operands]
    varying = [x is not None for x in given[: len(body.params)]]
    ends = spec.flagged and given[-1] is not None
    while True:
        varying[:count] = [own or ends for own in varying[:count]]
        places, found, inner = _rewritten(batch, body, varying)
        differs = [own or x is not None for own, x in zip(varying, found[:count], strict=False)]
        ended = ends or (spec.flagged and found[-1] is not None)
        if differs == varying[:count] and ended == ends:
            break
        varying[:count], ends = differs, ended
    pairs = enumerate(zip(body.results, found, strict=True))
    results = [
        repeated(y, size) if x is None and (k < count and varying[k]) else y if x is None else x
        for k, (y, x) in pairs
    ]
    operands = [
        x if own is None and not differs else repeated(x, size) if own is None else own
        for x, own, differs in zip(node.operands, given, [*varying, False], strict=False)
    ]
    along = range(count, count + spec.xs)
    operands = [_turned(x) if k in along and varying[k] else x for k, x in enumerate(operands)]
    if ends:
        return _ending(batch, node, places, results, operands, found[-1] is None)
    new = apply_region(spec._replace(body=_region(inner, places, results)), tuple(operands))

    def result(k: int) -> Node:
        y = project(new, k)
        if not (varying[k] if k < count else found[k] is not None):
            return repeated(y, size)
        return y if k < count else _turned(y)

    return result


def _ending(
    batch: Batch, node: Node, places: list[Node], results: list[Node], operands: list[Node],
    shared: bool,
) -> Result:  # fmt: skip
    """A loop that samples end at different steps: whether each goes on is one more carry."""
    spec: Loop = node.arg
    count, size = spec.carries, batch.size
    if spec.ys:
        raise NotSupported(explain("vmap", "a loop that ends by sample gives no stacks"))
    *after, flag = results
    going = placeholder(type_of((size,), bool_, node.device))
    flags = repeated(flag, size) if shared else flag
    kept = [_chosen(going, new, old) for new, old in zip(after, places, strict=False)]
    on = going & flags
    begin = operands[-1] if operands[-1].shape else repeated(operands[-1], size)
    body = region_of([*places[:count], going, *places[count:]], [*kept, on, _any(on)])
    everything = (*operands[:count], begin, *operands[count:-1], _any(begin))
    return partial(project, apply_region(spec._replace(body=body, carries=count + 1), everything))


def _chosen(going: Node, new: Node, old: Node) -> Node:
    wide = going.reshape((going.shape[0], *(1,) * (new.ndim - 1)))
    result: Node = where(wide, new, old)
    return result


def _any(flags: Node) -> Node:
    result: Node = sum_(cast(flags, int64)) > 0
    return result


# ---- branches


def _branch(batch: Batch, node: Node) -> Result:
    spec: Branch = node.arg
    index, *operands = node.operands
    given = [batch.whole.get(x) for x in operands]
    if index in batch.whole:
        return _all_branches(batch, spec, batch.whole[index], operands)
    varying = [x is not None for x in given]
    made = [_rewritten(batch, body, varying) for body in spec.bodies]
    numbers = range(len(spec.bodies[0].results))
    differs = [any(found[k] is not None for _, found, _ in made) for k in numbers]
    regions = []
    for body, (places, found, inner) in zip(spec.bodies, made, strict=True):
        pairs = zip(body.results, found, differs, strict=True)
        results = [
            y if not own else repeated(y, batch.size) if x is None else x for y, x, own in pairs
        ]
        regions.append(_region(inner, places, results))
    passed = [x if own is None else own for x, own in zip(operands, given, strict=True)]
    new = apply_region(Branch(tuple(regions)), (index, *passed))

    def result(k: int) -> Node:
        y = project(new, k)
        return y if differs[k] else repeated(y, batch.size)

    return result


def _all_branches(batch: Batch, spec: Branch, index: Node, operands: Sequence[Node]) -> Result:
    """Every branch for every sample, and of each the results of its own."""
    inner = type(batch)(batch.size, inside=True)
    wholes = [batch.expanded(x) for x in operands]
    for body in spec.bodies:
        inner.whole |= dict(zip(body.params, wholes, strict=True))

    def result(k: int) -> Node:
        first, *others = [inner.expanded(body.results[k]) for body in spec.bodies]
        for number, other in enumerate(others, 1):
            first = _chosen(ge(index, number), other, first)
        return first

    return result


REGIONS: dict[Any, Callable[[Any, Node], Result]] = {LOOP: _loop, BRANCH: _branch}
