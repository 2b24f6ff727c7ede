"""Complex numbers as pairs of real ones: programs that backends know how to write.

A complex value in memory is a real one with a last axis of 2, the same bytes under another type. In
between, a complex node is two nodes, its parts, and functions of it are those of `ops/pairs.py`.
Views of memory stay whole as far as they go, so that what only moves is moved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.errors import CompilerError, explain
from treadle.base.shapes import Shape
from treadle.base.sizes import most
from treadle.ir.graph import rebuild, toposort
from treadle.ir.node import (
    CONST,
    MOST_CALLS,
    Call,
    Node,
    Type,
    apply,
    const,
    definition,
    full,
    placeholder,
    type_of,
)
from treadle.ir.recording import RECORDING
from treadle.ops import contract as k
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.defs import PAIRED, Kind, Op
from treadle.ops.pairs import mul
from treadle.ops.reduce import sum_
from treadle.ops.scan import cumprod, cumsum
from treadle.ops.totals import prod_
from treadle.ops.windows import shear

Pair = tuple[Node, Node]
BY_PART = frozenset((
    e.add, e.sub, e.neg, e.round_, e.where, e.detach, e.after, sum_, cumsum, k.gather, k.scatter,
    k.scatter_add, k.put, m.reshape, m.permute, m.expand, m.slice_, m.flip, m.concat,
))  # fmt: skip
"""Ops that do to a complex number what they do to each part."""
FEW_ROWS = 8  # of a product: with fewer, four real ones are less work
_HIDING: dict[Call, bool] = {}


def in_pairs(
    roots: Sequence[Node], leaves: Sequence[Node]
) -> tuple[Sequence[Node], Sequence[Node]]:
    """Roots over leaves, in which nothing is complex; NumPy, the reference, knows such numbers."""
    if not Type.paired or not any(map(is_complex, toposort(roots))):
        return roots, leaves
    split, before = Split(), RECORDING.site
    try:
        places = [split.place(leaf) for leaf in leaves]
        return [split.root(root) for root in roots], places
    finally:
        RECORDING.site = before


def is_complex(node: Node) -> bool:
    """Is a node complex, or something that its definition hides?"""
    if node.device.backend == "reference":
        return False
    if node.dtype.is_complex or node.op.kind is not Kind.COMPOSITE:
        return node.dtype.is_complex
    found = _HIDING.get(node.call)
    if found is None:
        inside = [placeholder(x.type) for x in node.operands]
        alone = rebuild(node, tuple(inside))
        found = any(map(is_complex, toposort([definition(alone)])))
        if len(_HIDING) >= MOST_CALLS:
            _HIDING.clear()
        _HIDING[node.call] = found
    return found


class Split:
    """One run over one or more graphs: what each node has become."""

    def __init__(self) -> None:
        self.real: dict[Node, Node] = {}
        self.pairs: dict[Node, Pair] = {}
        self.wholes: dict[Node, Node] = {}  # with a last axis of 2

    def __contains__(self, node: Node) -> bool:
        return node in self.real or node in self.pairs or node in self.wholes

    def place(self, leaf: Node) -> Node:
        """A leaf as kernels know it."""
        if not leaf.dtype.is_complex or leaf.device.backend == "reference":
            self.real[leaf] = leaf
            return leaf
        type_ = type_of((*leaf.shape, 2), leaf.dtype.part, leaf.device)
        self.wholes[leaf] = placeholder(type_)
        return self.wholes[leaf]

    def root(self, node: Node) -> Node:
        """A root as it is written to memory."""
        if node.device.backend == "reference":
            return node
        self.visit(node)
        return self.whole(node) if node.dtype.is_complex else self.real[node]

    def whole(self, node: Node) -> Node:
        """A complex node as one real node with a last axis of 2."""
        if node not in self.wholes:
            wide = [part.reshape((*part.shape, 1)) for part in self.pairs[node]]
            self.wholes[node] = m.concat(wide, axis=node.ndim)
        return self.wholes[node]

    def pair(self, node: Node) -> Pair:
        """The parts of a complex node."""
        if node not in self.pairs:
            whole, rank = self.wholes[node], node.ndim
            real, imaginary = (m.cut(whole, rank, at, at + 1).reshape(node.shape) for at in (0, 1))
            self.pairs[node] = real, imaginary
        return self.pairs[node]

    def visit(self, root: Node) -> None:
        """Write a node and all that it is computed from in parts."""
        for node in toposort([root], self.__contains__):
            if node not in self:
                RECORDING.site = node.site or ""
                self._write(node)

    def _write(self, node: Node) -> None:
        if node.op.kind is Kind.COMPOSITE and self._concerns(node):
            inner = definition(node)
            self.visit(inner)
            if not node.dtype.is_complex:
                self.real[node] = self.real[inner]
            elif inner in self.wholes:
                self.wholes[node] = self.wholes[inner]
            else:
                self.pairs[node] = self.pairs[inner]
        elif not self._concerns(node):
            self.real[node] = rebuild(node, tuple([self.real[x] for x in node.operands]))
        elif node.op.kind is Kind.ROUTINE:
            operands = tuple([self.whole(x) for x in node.operands])
            self.wholes[node] = apply(node.op, operands, (*node.arg, PAIRED))
        else:
            whole = WHOLE[node.op](self, node) if node.op in WHOLE else None
            if whole is None:
                self._settle(node, self._parts(node))
            else:
                self.wholes[node] = whole

    def _concerns(self, node: Node) -> bool:
        return is_complex(node) or any([x.dtype.is_complex for x in node.operands])  # noqa: C419

    def _settle(self, node: Node, found: Any) -> None:
        """Keep what a node has become, in the type of the node."""
        if not node.dtype.is_complex:
            self.real[node] = _fitted(found, node)
            return
        real, imaginary = found
        self.pairs[node] = _fitted(real, node), _fitted(imaginary, node)

    def _parts(self, node: Node) -> Any:
        op = node.op
        if op in SPECIAL:
            return SPECIAL[op](self, node)
        if op.pairs is not None:
            return op.pairs(*[part for x in node.operands for part in self.pair(x)])
        if op not in BY_PART:
            raise CompilerError(explain(op.name, "is not written for complex numbers"))
        numbers = (0, 1) if node.dtype.is_complex else (0,)
        found = [apply(op, self._at(node, number), node.arg) for number in numbers]
        return found if node.dtype.is_complex else found[0]

    def _at(self, node: Node, number: int) -> tuple[Node, ...]:
        """The operands of one part of a node."""
        return tuple(
            [self.pair(x)[number] if x.dtype.is_complex else self.real[x] for x in node.operands]
        )


def _fitted(part: Node, node: Node) -> Node:
    """A part in the dtype and shape of the node."""
    if part.dtype is not node.dtype.part:
        part = e.cast(part, node.dtype.part)
    return part if part.shape == node.shape else part.expand(node.shape)


# ---- ops of which the parts are not simply the op's own


def _constant(_: Split, node: Node) -> list[Node]:
    return [const(x, node.dtype.part, node.device) for x in (node.arg.real, node.arg.imag)]


def _cast(split: Split, node: Node) -> Any:
    (x,) = node.operands
    if not x.dtype.is_complex:
        found = e.cast(split.real[x], node.dtype.part)
        return found, full(0, found.type)
    parts = split.pair(x)
    if node.dtype.is_complex:
        return [e.cast(part, node.dtype.part) for part in parts]
    return e.bitwise_or(*[e.ne(part, 0.0) for part in parts])  # bool


def _padded(split: Split, node: Node) -> list[Node]:
    """Views with a value of their own, which comes last in their arg."""
    *options, value = node.arg
    (x,) = node.operands
    return [
        apply(node.op, (part,), (*options, own))
        for part, own in zip(split.pair(x), (value.real, value.imag), strict=True)
    ]


def _product(split: Split, node: Node) -> Pair:
    (a, b), (c, d) = (split.pair(x) for x in node.operands)
    product = k.matrix_product
    return product(a, c) + product(-b, d), product(a, d) + product(b, c)


def _whole_product(split: Split, node: Node) -> Node | None:
    """One real product: rows hold real and imaginary parts in turn, those of the result too.

    Below each row of the second operand stands that row times i. With few rows that is too much.
    """
    a, b = node.operands
    if most(a.shape[-2]) < FEW_ROWS:
        return None
    *batch, depth, columns = b.shape
    c, d = split.pair(b)
    turned = [part.reshape((*batch, depth, 1, columns, 1)) for part in (-d, c)]
    rows = split.whole(b).reshape((*batch, depth, 1, columns, 2))
    right = m.concat([rows, m.concat(turned, axis=len(batch) + 3)], axis=len(batch) + 1)
    left = split.whole(a).reshape((*a.shape[:-1], 2 * depth))
    product = k.matrix_product(left, right.reshape((*batch, 2 * depth, 2 * columns)))
    return product.reshape((*node.shape, 2))


def _prod(split: Split, node: Node) -> list[Node]:
    """Halves multiplied by each other until one is left."""
    (x,) = node.operands
    parts: Any = split.pair(x)
    for axis in node.arg[0]:
        size = x.shape[axis]
        if not size:
            shape = tuple(1 if k == axis else n for k, n in enumerate(parts[0].shape))
            parts = tuple([full(v, type_of(shape, node.dtype.part, node.device)) for v in (1, 0)])
        while size > 1:
            half = size // 2
            first, second, rest = (
                [m.cut(part, axis, *edge) for part in parts]
                for edge in ((0, half), (half, 2 * half), (2 * half, size))
            )
            parts = mul(*first, *second)
            if size % 2:
                parts = tuple(m.concat(both, axis=axis) for both in zip(parts, rest, strict=True))
            size -= half
    return [part.reshape(node.shape) for part in parts]


def _cumprod(split: Split, node: Node) -> Pair:
    """Products of 1, 2, 4 ... elements: each with the one as far before it."""
    (axis,) = node.arg
    (x,) = node.operands
    parts, size, step = split.pair(x), x.shape[axis], 1
    while step < size:
        first, before, here = (
            [m.cut(part, axis, *edge) for part in parts]
            for edge in ((0, step), (0, size - step), (step, size))
        )
        both = zip(first, mul(*before, *here), strict=True)
        parts = tuple(m.concat(pair, axis=axis) for pair in both)
        step *= 2
    return parts


def _first(split: Split, node: Node) -> Any:
    x = node.operands[0]
    return split.pair(x) if x.dtype.is_complex else split.real[x]


SPECIAL: dict[Op, Callable[[Split, Node], Any]] = {
    CONST: _constant, e.cast: _cast, m.pad: _padded, shear: _padded, k.matrix_product: _product,
    prod_: _prod, cumprod: _cumprod,
    e.complex_: lambda split, node: [split.real[x] for x in node.operands],
    e.rerouted: _first,
}  # fmt: skip


# ---- views of what is whole


def _whole_put(split: Split, node: Node) -> Node | None:
    if node.operands[0] not in split.wholes:
        return None
    x, values = (split.whole(part) for part in node.operands)
    ranges, stays = node.arg
    return k.put(x, values, (*ranges, (0, 2, 1)), stays)


def _seen(view: Callable[[Node, Node, Shape], Node]) -> Callable[[Split, Node], Node | None]:
    def seen(split: Split, node: Node) -> Node | None:
        x = split.wholes.get(node.operands[0])
        return None if x is None else view(node, x, (*node.shape, 2))

    return seen


WHOLE: dict[Op, Callable[[Split, Node], Node | None]] = {
    m.reshape: _seen(lambda node, x, shape: x.reshape(shape)),
    m.expand: _seen(lambda node, x, shape: x.expand(shape)),
    m.permute: _seen(lambda node, x, shape: x.permute((*node.arg, node.ndim))),
    m.slice_: _seen(lambda node, x, shape: m.slice_(x, (*node.arg, (0, 2, 1)))),
    m.flip: _seen(lambda node, x, shape: m.flip(x, node.arg)),
    e.detach: _seen(lambda node, x, shape: x),
    k.put: _whole_put,
    k.matrix_product: _whole_product,
}
"""Real nodes with a last axis of 2, or None where an operand is not one."""
