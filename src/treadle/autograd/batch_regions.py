"""Loops and branches of one sample as those of a whole batch: bodies are rewritten like any graph.

What differs from sample to sample once does so at every later step, so carries are looked at until
nothing new differs. Where samples end at different steps, or take different branches, all go on,
and each keeps what is its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.autograd.batch_rules import RULES, repeated
from treadle.autograd.batching import Batch
from treadle.autograd.custom import marks_of
from treadle.base.dtypes import int64
from treadle.ir.node import Node, apply, const, placeholder, type_of
from treadle.ir.region import (
    BRANCH,
    LOOP,
    PROJECT,
    Branch,
    Loop,
    Region,
    apply_region,
    project,
    region_of,
)
from treadle.ops import movement as m
from treadle.ops.elementwise import eq, where
from treadle.ops.reduce import max_


def _whole(node: Node, size: int) -> Node:
    """A parameter for all samples."""
    return placeholder(type_of((size, *node.shape), node.dtype, node.device))


def _spread(chosen: Node, rank: int) -> Node:
    """One truth for each sample, as many axes behind as a value has."""
    result: Node = chosen.reshape((*chosen.shape, *(1,) * (rank - 1)))
    return result


def _turned(x: Node) -> Node:
    """The first two axes of x, one for the other."""
    return apply(m.permute, (x,), (1, 0, *range(2, x.ndim)))


class _Body:
    """A body for all samples, of whose parameters some differ from sample to sample."""

    def __init__(
        self, region: Region, size: int, differs: Sequence[bool], places: Sequence[Node] = ()
    ) -> None:
        self.region, self.batch = region, Batch(size, inside=True)
        pairs = zip(region.params, differs, strict=True)
        whole = {x: _whole(x, size) for x, own in pairs if own and not places}
        self.batch.whole |= whole or dict(zip(region.params, places, strict=False))
        self.results = self.batch.find(region.results)

    def params(self) -> list[Node]:
        """Its parameters, with the batch's axis where they have one."""
        return [self.batch.whole.get(x, x) for x in self.region.params]

    def marks(self) -> list[tuple[object, ...]]:
        """What tells it apart from bodies of the same ops."""
        return marks_of(self.batch.whole.values())

    def result(self, k: int) -> Node:
        """A result, with the batch's axis if it has one."""
        return self.results[k] or self.region.results[k]

    def whole(self, k: int) -> Node:
        """A result for all samples."""
        return self.batch.expanded(self.region.results[k])


def batched_loop(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    """The loop whose carries, stacks and whatever it closes over are those of all samples."""
    spec: Loop = node.arg
    own, first = list(batched[: len(spec.body.params)]), spec.carries + spec.xs
    while True:
        body = _Body(spec.body, size, own)
        ends = spec.flagged and (batched[-1] or body.results[-1] is not None)  # not all at once
        more = [k for k in range(spec.carries) if not own[k] and (ends or body.results[k])]
        if not more:
            break
        for k in more:
            own[k] = True
    given = [
        x if have or not mine else repeated(x, size)
        for x, have, mine in zip(xs, batched, own, strict=False)
    ]
    for k in range(spec.carries, first):
        given[k] = _turned(given[k]) if own[k] else given[k]
    results = [body.whole(k) if own[k] else body.result(k) for k in range(spec.carries)]
    results += [body.result(k) for k in range(spec.carries, spec.carries + spec.ys)]
    params, last = body.params(), len(spec.body.results) - 1
    begins = xs[len(spec.body.params) :]
    if ends:
        start = begins[0] if batched[-1] else repeated(begins[0], size)
        return _until_all_end(spec, params, [*results, body.whole(last)], [*given, start])
    ending = [body.result(last)] * spec.flagged
    region = region_of(params, [*results, *ending], body.marks())
    return apply_region(spec._replace(body=region), (*given, *begins))


def _until_all_end(
    spec: Loop, params: list[Node], results: list[Node], given: list[Node]
) -> Node:  # fmt: skip
    """A loop that goes on for as long as any sample does; those that have ended stay as they are.

    Of results the last says who goes on, and of what is given the last who begins.
    """
    (*results, flag), (*given, begins) = results, given
    going, count = placeholder(flag.type), spec.carries
    kept = [
        where(_spread(going, new.ndim), new, old)
        for new, old in zip(results, params[:count], strict=True)
    ]
    still = going & flag
    region = region_of([*params[:count], going, *params[count:]], [*kept, still, max_(still)])
    operands = (*given[:count], begins, *given[count:], max_(begins))
    return apply_region(spec._replace(body=region, carries=count + 1), operands)


def batched_branch(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    """The branch whose operands are those of all samples; all of them where samples choose."""
    spec: Branch = node.arg
    index, *given = xs
    if not batched[0]:
        bodies = [_Body(body, size, batched[1:]) for body in spec.bodies]
        count = range(len(spec.bodies[0].results))
        differs = [any(body.results[k] is not None for body in bodies) for k in count]
        wanted = [[x.whole(k) if differs[k] else x.result(k) for k in count] for x in bodies]
        pairs = zip(bodies, wanted, strict=True)
        regions = [region_of(body.params(), results, body.marks()) for body, results in pairs]
        return apply_region(Branch(tuple(regions)), (index, *given))
    own = zip(given, batched[1:], strict=True)
    given = [x if has else repeated(x, size) for x, has in own]
    params = [placeholder(x.type) for x in (index, *given)]
    bodies = [_Body(body, size, [True] * len(given), params[1:]) for body in spec.bodies]
    found: list[Node] = []
    for k, body in enumerate(bodies):
        ends = [body.whole(n) for n in range(len(body.region.results))]
        here = eq(params[0], k) if k < len(bodies) - 1 else params[0] >= k
        here = params[0] <= 0 if not k else here
        found = [
            where(_spread(here, new.ndim), new, old) if found else new
            for new, old in zip(ends, found or ends, strict=True)
        ]
    one = const(0, int64, index.device)
    marks = [mark for body in bodies for mark in body.marks()]
    return apply_region(Branch((region_of(params, found, marks),)), (one, index, *given))


def batched_result(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    """A result of all samples: stacks have the batch's axis behind that of steps."""
    found = project(xs[0], node.arg)
    if found.ndim == node.ndim:
        return repeated(found, size)
    stacked = isinstance(node.operands[0].arg, Loop) and node.arg >= node.operands[0].arg.carries
    return _turned(found) if stacked else found


def batch_regions() -> None:
    """Give loops and branches their rules for batches."""
    RULES.update({LOOP: batched_loop, BRANCH: batched_branch, PROJECT: batched_result})
