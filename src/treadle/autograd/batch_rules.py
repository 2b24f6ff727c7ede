"""What becomes of an op when its operands have a batch's axis in front: a rule for each kind.

A rule is given the size of the batch, the node of one sample, its operands, and which of them are
those of all samples. It gives the node of all samples, or None where the op's definition is to be
rewritten instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from treadle.autograd.pointwise import steps_of
from treadle.base.errors import TreadleError
from treadle.ir.node import Node, apply
from treadle.ops import convolution, neural, windows
from treadle.ops import movement as m
from treadle.ops.contract import matrix_product, put
from treadle.ops.defs import Kind, Op
from treadle.ops.linalg.factors import triangular_solve
from treadle.ops.options import Chosen

Rule = Callable[[int, Node, Sequence[Node], Sequence[bool]], Node | None]


def repeated(x: Node, size: int) -> Node:
    """A node once for each sample."""
    result: Node = x.reshape((1, *x.shape)).expand((size, *x.shape))
    return result


def aligned(x: Node, rank: int) -> Node:
    """The samples of x with axes of size 1 put in front, so that each has so many."""
    lead = rank - (x.ndim - 1)
    result: Node = x.reshape((x.shape[0], *(1,) * lead, *x.shape[1:])) if lead > 0 else x
    return result


def _aligned(rank: int, xs: Sequence[Node], batched: Sequence[bool]) -> tuple[Node, ...]:
    """Operands that broadcast as those of one sample do."""
    return tuple([aligned(x, rank) if own else x for x, own in zip(xs, batched, strict=True)])


def _every(size: int, xs: Sequence[Node], batched: Sequence[bool]) -> tuple[Node, ...]:
    """Operands that all have the batch's axis."""
    return tuple([x if own else repeated(x, size) for x, own in zip(xs, batched, strict=True)])


def _broadcasting(
    size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]
) -> Node | None:
    """Elementwise: ranks are made equal; what is shared broadcasts."""
    fitted = tuple(
        [aligned(x, node.ndim) if own else x for x, own in zip(xs, batched, strict=True)]
    )
    if node.op.kind is Kind.ELEMENTWISE:
        return apply(node.op, fitted, node.arg)
    steps = steps_of(node)
    if not steps:
        return None
    try:
        made = apply(node.op, fitted, node.arg)
    except TreadleError:  # it looks at ranks
        return None
    return made if steps_of(made) == steps else None


# ---- ops of one operand that have axes in their arg


def _along(shifted: Callable[[int, Any], Any]) -> Rule:
    """A rule for ops of one operand, by what becomes of the arg."""

    def rule(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
        return apply(node.op, tuple(xs), shifted(size, node.arg))

    return rule


def _expand(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    return apply(node.op, (aligned(xs[0], node.ndim),), (size, *node.arg))


def _later(axes: Sequence[int]) -> tuple[int, ...]:
    return tuple([axis + 1 for axis in axes])


# ---- products


def _product(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    """A product more for each sample, or one large one where a matrix is the same for all."""
    a, b = xs
    call = partial(apply, node.op, arg=node.arg)
    if batched[0] and not batched[1] and b.ndim == 2:
        rows: Node = call((a.reshape((prod(a.shape[:-1]), a.shape[-1])), b))
        return rows.reshape((*a.shape[:-1], b.shape[-1]))
    if batched[1] and not batched[0] and a.ndim == 2:
        turned = b.mT
        rows = call((turned.reshape((prod(turned.shape[:-1]), turned.shape[-1])), a.mT))
        result: Node = rows.reshape((*turned.shape[:-1], a.shape[-2])).mT
        return result
    return call(_aligned(node.ndim, xs, batched))


# ---- computed indices


def _gather(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    """Where what is read is the same for all, the samples' indices stand one after the other."""
    x, index = xs
    if batched[0]:
        return apply(node.op, _every(size, xs, batched), node.arg + 1)
    axis, shape = node.arg, index.shape[1:]
    before, after = _later(range(axis)), _later(range(axis, len(shape)))
    long = index.permute((*before, 0, *after))
    long = long.reshape((*shape[:axis], size * shape[axis], *shape[axis + 1 :]))
    found: Node = apply(node.op, (x, long), axis)
    found = found.reshape((*shape[:axis], size, *shape[axis:]))
    return found.permute((axis, *range(axis), *range(axis + 1, found.ndim)))


def _last_axes_of_all(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    return apply(node.op, _every(size, xs, batched), node.arg)


def _scatter(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    return apply(node.op, _every(size, xs, batched), node.arg + 1)


def _put(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    ranges, *rest = node.arg
    arg = (((0, size, 1), *ranges), *rest)
    return apply(node.op, _every(size, xs, batched), arg)


def _concat(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    return apply(node.op, _every(size, xs, batched), node.arg + 1)


def _solve(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node:
    """Right sides of one matrix stand beside each other: it is read once."""
    a, b = xs
    if batched[0] or a.ndim != 2:
        return _last_axes_of_all(size, node, xs, batched)
    rows, columns = b.shape[1:]
    beside = b.permute((1, 0, 2)).reshape((rows, size * columns))
    found: Node = apply(node.op, (a, beside), node.arg)
    return found.reshape((rows, size, columns)).permute((1, 0, 2))


# ---- composites that stay what they are


def _last_axes(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """An op that works on the last axes of its first operand, whatever stands before them."""
    if not batched[0] or any(batched[1:]):
        return None
    return apply(node.op, tuple(xs), node.arg)


def _named_axis(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """An op along the axis that its option names."""
    present, options = node.arg
    axis = dict(options)["axis"]
    if not isinstance(axis, int) or not node.operands[0].ndim:
        return None
    moved = [(name, axis + 1 if name == "axis" and axis >= 0 else x) for name, x in options]
    return apply(node.op, tuple(xs), Chosen((present, tuple(moved))))


def _images(size: int, node: Node, xs: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """A convolution with kernels that are the same for all: the samples are images of one batch."""
    x, *kernels = xs
    if not batched[0] or any(batched[1:]):
        return None
    if x.ndim == kernels[0].ndim:  # one image a sample
        return apply(node.op, tuple(xs), node.arg)
    images = x.reshape((x.shape[0] * x.shape[1], *x.shape[2:]))
    found: Node = apply(node.op, (images, *kernels), node.arg)
    return found.reshape((*x.shape[:2], *found.shape[1:]))


RULES: dict[Op | Kind, Rule] = {
    Kind.ELEMENTWISE: _broadcasting,
    Kind.COMPOSITE: _broadcasting,
    Kind.REDUCE: _along(lambda _, arg: (_later(arg[0]), *arg[1:])),
    Kind.SCAN: _along(lambda _, arg: (arg[0] + 1, *arg[1:])),
    Kind.GATHER: _gather,
    Kind.SCATTER: _scatter,
    Kind.ROUTINE: _last_axes_of_all,
    Kind.TRANSFER: _along(lambda _, where: where),
    matrix_product: _product,
    triangular_solve: _solve,
    put: _put,
    m.reshape: _along(lambda size, arg: (size, *arg)),
    m.permute: _along(lambda _, arg: (0, *_later(arg))),
    m.expand: _expand,
    m.slice_: _along(lambda size, arg: ((0, size, 1), *arg)),
    m.pad: _along(lambda _, arg: (((0, 0), *arg[0]), *arg[1:])),
    m.flip: _along(lambda _, arg: _later(arg)),
    m.concat: _concat,
    windows.shear: _along(lambda _, arg: (arg[0] + 1, arg[1] + 1, *arg[2:])),
    neural.softmax: _named_axis,
    neural.log_softmax: _named_axis,
    neural.layer_norm: _last_axes,
    windows.windows: _last_axes,
    windows.fold: _last_axes,
    **dict.fromkeys(convolution.CONVOLUTIONS, _images),
    **dict.fromkeys(
        (
            convolution.conv_transpose1d,
            convolution.conv_transpose2d,
            convolution.conv_transpose3d,
        ),
        _images,
    ),
}
"""By op, or else by kind; where there is none, an op's definition is rewritten."""
