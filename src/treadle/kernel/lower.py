"""Tensor nodes into loop programs: views become index functions, the rest scalar expressions."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod
from operator import is_

from treadle.base.dtypes import DType, bool_, int64
from treadle.base.errors import CompilerError, explain
from treadle.base.knobs import ROUND
from treadle.base.shapes import Shape
from treadle.base.sizes import UnknownSizeError
from treadle.ir.node import CONST, IOTA, Node
from treadle.kernel.index import (
    ZERO,
    Axis,
    Index,
    Looked,
    assumed,
    coarser,
    larger,
    ravel,
    resolved,
    smaller,
    unravel,
)
from treadle.kernel.loops import Ex, Guard, Reduce, indices_of, looked_up
from treadle.ops import movement as m
from treadle.ops.contract import gather
from treadle.ops.defs import Kind
from treadle.ops.elementwise import where
from treadle.ops.windows import shear

Position = tuple[Index, ...]
Guards = tuple[Guard, ...]
JOINED = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
ROUNDED = ("cast", "load", where.name)  # what gives numbers of its dtype and no others


class Lowering:
    """Expressions of one kernel. `slot` gives the buffer number of a node kept in memory."""

    def __init__(
        self,
        slot: Callable[[Node], int | None],
        rows: Index,
        whole: Index,
        tile: Node | None = None,
        apart: tuple[Axis, ...] = (),
    ) -> None:
        self.slot, self.rows, self.whole, self.tile = slot, rows, whole, tile
        self.apart = apart  # axes of reductions whose terms stand side by side
        self.memo: dict[tuple[Node, Position, Guards], Ex] = {}
        self.interned: dict[tuple[object, ...], Ex] = {}
        self.reduces: dict[Node, Reduce] = {}

    def make(self, op: str, args: tuple[Ex, ...], dtype: DType, data: object = None) -> Ex:
        """The one expression with these fields."""
        key = (op, args, dtype, repr(data) if op == "const" else data)
        found = self.interned.get(key)
        if found is None:
            found = self.interned[key] = Ex(op, args, dtype, data)
            self._place(found)
        rounds = ROUND.value and dtype.is_storage and op not in ROUNDED
        return self.make("cast", (found,), dtype) if rounds else found

    def converted(self, ex: Ex, dtype: DType) -> Ex:
        """The expression in another dtype."""
        return ex if ex.dtype is dtype else self.make("cast", (ex,), dtype)

    def _place(self, ex: Ex) -> None:
        """Which axes it depends on, and how many passes must come first."""
        axes: set[Axis] = set()
        stage = 0
        if ex.op == "reduced":
            stage = ex.data.value.stage + 1
            axes |= ex.data.value.axes & self.rows.axes()
        elif ex.op == "tile":
            axes |= self.whole.axes()
        for index in indices_of(ex):
            axes |= index.axes()
            for looked in looked_up(index):
                axes |= looked.axes
                stage = max(stage, looked.stage)
        for arg in ex.args:
            axes |= arg.axes
            stage = max(stage, arg.stage)
        ex.axes, ex.stage = frozenset(axes), stage

    # ---- nodes

    def at(self, node: Node, index: Position, guards: Guards = ()) -> Ex:
        """The element of node at index."""
        key = (node, index, guards)
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self._element(node, index, guards)
        return found

    def _element(self, node: Node, index: Position, guards: Guards) -> Ex:
        if node is self.tile:
            return self.make("tile", (), node.dtype)
        number = self.slot(node)
        if number is not None:
            position = resolved(ravel(index, node.shape))
            if guards and not checks_of(position, node.type.size):
                guards = ()  # nobody looks at it where they fail, and it can be read there
            return self.make("load", (), node.dtype, (number, position, guards))
        if node.op is CONST:
            return self.make("const", (), node.dtype, node.arg)
        if node.op is IOTA:
            return self.make("index", (), int64, resolved(index[node.arg]))
        kind = node.op.kind
        if kind is Kind.ELEMENTWISE:
            args = tuple(self.at(x, narrowed(index, x.shape), guards) for x in node.operands)
            made = self.make(node.op.name, args, node.dtype)
            known = as_index(made) if self.apart else None
            if known is None or known.terms:
                return made
            return self.make("const", (), node.dtype, known.constant)
        if kind is Kind.MOVEMENT:
            return self._moved(node, index, guards)
        if kind is Kind.REDUCE:
            return self._reduced(node, index)
        if node.op is gather:
            return self._gathered(node, index, guards)
        raise CompilerError(explain("lower", f"{node.op} cannot be part of a loop kernel"))

    def _moved(self, node: Node, index: Position, guards: Guards) -> Ex:
        x = node.operands[0]
        if node.op is m.reshape:
            return self.at(x, unravel(ravel(index, node.shape), x.shape), guards)
        if node.op is m.permute:
            back: list[Index] = [ZERO] * len(index)
            for i, axis in zip(index, node.arg, strict=True):
                back[axis] = i
            return self.at(x, tuple(back), guards)
        if node.op is m.expand:
            return self.at(x, narrowed(index, x.shape), guards)
        if node.op is m.slice_:
            inside = tuple(i * r[2] + r[0] for i, r in zip(index, node.arg, strict=True))
            return self.at(x, inside, guards)
        if node.op is m.flip:
            turned = tuple(
                i * -1 + (n - 1) if axis in node.arg else i
                for axis, (i, n) in enumerate(zip(index, x.shape, strict=True))
            )
            return self.at(x, turned, guards)
        if node.op is m.pad:
            return self._padded(node, index, guards)
        if node.op is shear:
            return self._sheared(node, index, guards)
        return self._joined(node, index, guards)

    def _padded(self, node: Node, index: Position, guards: Guards) -> Ex:
        x = node.operands[0]
        edges, value = node.arg
        fill = self.make("const", (), node.dtype, value)
        if not prod(x.shape):
            return fill
        checks: list[Guard] = []
        moved = []
        for i, (before, _), size in zip(index, edges, x.shape, strict=True):
            i = i + -before  # noqa: PLW2901
            checks += checks_of(i, size)
            moved.append(assumed(i, size))
        return self._choose(tuple(checks), x, tuple(moved), guards, fill)

    def _sheared(self, node: Node, index: Position, guards: Guards) -> Ex:
        x = node.operands[0]
        axis, by, factor, _, start, value = node.arg
        size = x.shape[axis]
        fill = self.make("const", (), node.dtype, value)
        if not size:
            return fill
        moved = list(index)
        slanted = index[axis] + index[by] * factor + start
        moved[axis] = assumed(slanted, size)
        return self._choose(checks_of(slanted, size), x, tuple(moved), guards, fill)

    def _joined(self, node: Node, index: Position, guards: Guards) -> Ex:
        """A concat: the first part whose range holds the index."""
        end = node.shape[node.arg]
        result = self.make("const", (), node.dtype, 0)
        for part in reversed(node.operands):
            size = part.shape[node.arg]
            start = end - size
            moved = list(index)
            place = index[node.arg] + -start
            moved[node.arg] = assumed(place, size) if size else place
            if size:
                result = self._choose(checks_of(place, size), part, tuple(moved), guards, result)
            end = start
        return result

    def _choose(self, checks: Guards, x: Node, index: Position, guards: Guards, other: Ex) -> Ex:
        """x where all checks hold, else other; x is read only there."""
        if self.apart and any(_fails(*check) for check in checks):
            return other
        if not checks:
            return self.at(x, index, guards)
        checks = tuple([coarser(resolved(i), bound) for i, bound in checks])
        value = self.at(x, index, guards + checks)
        if value.op == "load" and set(checks) <= set(value.data[2]) and is_zero(other):
            return value  # so it is, where it is not read
        inside = self.make("inside", (), bool_, checks)
        return self.make(where.name, (inside, value, other), value.dtype)

    def _gathered(self, node: Node, index: Position, guards: Guards) -> Ex:
        x, where_to = node.operands
        picked = list(index)
        picked[node.arg], _ = self.place(self.at(where_to, index, guards), x.shape[node.arg])
        return self.at(x, tuple(picked), guards)

    def place(self, value: Ex, size: int) -> tuple[Index, Ex | None]:
        """A computed index along an axis, and where it is in range: None if everywhere."""
        try:
            known = as_index(value)
            if known is not None and known.bounds[1] < 0:
                known = known + size
            if known is not None and known.bounds[0] >= 0 and known.bounds[1] < size:
                return known, None
        except UnknownSizeError:  # then it is looked up
            pass
        low, high = (self.make("const", (), int64, bound) for bound in (-size, size))
        checks = (
            self.make("ge", (value, low), bool_),
            self.make("lt", (value, high), bool_),
        )
        inside = self.make("bitwise_and", checks, bool_)
        return Index([(Looked(value, size), 1)]) if size > 1 else ZERO, inside

    def _reduced(self, node: Node, index: Position) -> Ex:
        if ravel(index, node.shape) != self.rows:
            raise CompilerError(explain("lower", "a reduction is read across rows", node=node))
        found = self.reduces.get(node)
        if found is None:
            x = node.operands[0]
            terms = []
            for whole in self._terms():
                inside = unravel(whole, x.shape)
                kept = [k for k in range(len(inside)) if k not in node.arg[0]]
                outside = tuple(x.shape[k] for k in kept)
                if ravel([inside[k] for k in kept], outside) != self.rows:
                    raise CompilerError(explain("lower", "other rows are reduced", node=node))
                terms.append(self.at(x, inside))
            join = JOINED[node.op.name]
            value = reduce(lambda a, b: self.make(join, (a, b), x.dtype), terms)
            found = Reduce(f"t{len(self.reduces)}", node.op.name, value, node.dtype)
            self.reduces[node] = found
        return self.make("reduced", (), node.dtype, found)

    def _terms(self) -> list[Index]:
        """The places in the whole that one turn of the loops reduces."""
        places = [self.whole]
        for axis in self.apart:
            step = self.whole.coefficient(axis)
            rest = [Index([t for t in p.terms if t[0] is not axis], p.constant) for p in places]
            places = [p + step * number for p in rest for number in range(axis.extent)]
        return places


def checks_of(index: Index, size: int) -> Guards:
    """What must hold for an index to lie in [0, size), as far as it is not plain."""
    checks: list[Guard] = []
    for bound in (None, size):
        try:
            low, high = index.bounds
            plain = low >= 0 if bound is None else high < bound
        except UnknownSizeError:
            plain = False
        if not plain:
            checks.append((index, bound))
    return tuple(checks)


def _fails(index: Index, bound: int | None) -> bool:
    """Is the index outside wherever it is used?"""
    low, high = index.bounds
    return high < 0 if bound is None else low >= bound


def is_zero(ex: Ex) -> bool:
    """Is it the number 0, and no -0.0?"""
    return ex.op == "const" and str(ex.data) in ("0", "0.0", "False")


def _scaled(a: Index, b: Index) -> Index | None:
    return a * b.constant if not b.terms else b * a.constant if not a.terms else None


def _by(b: Index) -> int:
    """The number to divide by; 0 if it is none, or not positive."""
    return 0 if b.terms else max(0, b.constant)


WHOLE: dict[str, Callable[..., Index | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a + b * -1,
    "neg": lambda a: a * -1,
    "mul": _scaled,
    "floor_divide": lambda a, b: a // _by(b) if _by(b) else None,
    "remainder": lambda a, b: a % _by(b) if _by(b) else None,
    "bitwise_and": lambda a, b: None if b.terms else a & b.constant,
    "minimum": smaller,
    "maximum": larger,
    "cast": lambda a: a,
}


def as_index(ex: Ex) -> Index | None:
    """Whole numbers computed from loop variables alone, as the index they are; else None.

    What is gathered at such an index is a view: x[arange(n) // 2] looks nothing up.
    """
    found: Index | None = None
    if ex.op == "index":
        found = ex.data
    elif ex.op == "const" and ex.dtype.is_integer:
        found = Index((), ex.data)
    elif ex.op in WHOLE and ex.dtype.is_integer:
        parts = [as_index(x) for x in ex.args]
        found = None if None in parts else WHOLE[ex.op](*parts)
    wraps = found is not None and not (
        ex.dtype.least <= found.bounds[0] and found.bounds[1] <= ex.dtype.greatest
    )
    return None if wraps else found


def narrowed(index: Position, shape: Shape) -> Position:
    """The index of an operand that broadcasts to the index's shape."""
    tail = index[len(index) - len(shape) :]
    result = tuple(ZERO if size == 1 else i for i, size in zip(tail, shape, strict=True))
    unchanged = len(result) == len(index) and all(map(is_, result, index))
    return index if unchanged else result
