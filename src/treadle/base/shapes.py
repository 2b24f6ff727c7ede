"""Broadcasting, axis normalisation, strides."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from treadle.base.errors import AxisError, ShapeError, explain
from treadle.base.sizes import Size, unknown

Shape = tuple[int, ...]
WHOLE = (int, Size)


class Dim(int):
    """A size with a name: it reads as its name in messages and counts as a number elsewhere.

    With a max, a compiled function is traced and planned once for all sizes from min to max of the
    axes that have this Dim, and of the Dims among its arguments; smaller ones are traced each.

    >>> rows = Dim("rows", 3)
    >>> (rows, 4), rows * 4
    ((rows=3, 4), 12)
    >>> t = Dim("t", max=2048)
    >>> t(5)
    t=5
    """

    name: str
    unknown: Size | None  # what stands for it while a function is traced
    range: tuple[int, int] | None

    def __new__(
        cls, name: str, size: int | None = None, *,
        max: int | None = None, min: int = 2,  # noqa: A002
    ) -> Dim:  # fmt: skip
        """A size of `size`, or at first of `max`, called `name`."""
        size = max if size is None else size
        if size is None or size < 0:
            raise ShapeError(explain("Dim", "a size is not negative", name=name, size=size))
        if max is not None and (not name.isidentifier() or min < 2 or not size <= max >= min):
            hint = "a word for a name, 2 <= min <= max, and no size above max"
            raise ShapeError(explain("Dim", "bad range", hint, name=name, size=size, max=max))
        dim = super().__new__(cls, size)
        dim.name = name
        dim.range = None if max is None else (min, max)
        dim.unknown = None if max is None or size < min else unknown(name, min, max)
        return dim

    def __call__(self, size: int) -> Dim:
        """The same Dim of another size."""
        least, most = self.range or (2, None)
        return Dim(self.name, size, max=most, min=least)

    def of(self, x: Any, axis: int = 0) -> Any:
        """A tensor with this Dim along an axis, over the same memory."""
        shape = list(x.shape)
        shape[axis] = self(shape[axis])
        return x._resized(tuple(shape))

    @property
    def label(self) -> str:
        """What tells it from other sizes of the same value."""
        return f"{self.name} {self.range}" if self.range else self.name

    def __repr__(self) -> str:
        return f"{self.name}={int(self)}"

    def __str__(self) -> str:
        return str(int(self))

    def __reduce__(self) -> tuple[object, ...]:
        return (_dim, (self.name, int(self), self.range))


def _dim(name: str, size: int, limits: tuple[int, int] | None) -> Dim:
    return Dim(name, size, min=limits[0], max=limits[1]) if limits else Dim(name, size)


class Wanted(tuple[int, ...]):
    """The shape an op was asked for: equal to another only if the names are equal too."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, tuple) and tuple.__eq__(self, other) is True
        return same and names_of(self) == names_of(other)  # type: ignore[arg-type]


def sizes_in(what: str, sizes: Sequence[Any]) -> Shape:
    """Sizes as integers; a Dim stays one."""
    try:
        found: Any = tuple([n if isinstance(n, WHOLE) else index(n) for n in sizes])
        return Wanted(found) if Dim in map(type, found) else found
    except TypeError:
        raise ShapeError(explain(what, "a size is an integer", got=repr(sizes))) from None


def names_of(shape: Shape) -> tuple[str, ...]:
    """The names of the axes, "" for those without: two shapes of equal sizes may differ in them."""
    return tuple([size.label if isinstance(size, Dim) else "" for size in shape])


def broadcast(what: str, *shapes: Shape) -> Shape:
    """The shape all broadcast to, by the NumPy rule.

    >>> broadcast("add", (3, 1), (4,))
    (3, 4)
    """
    rank = max(map(len, shapes))
    result = []
    for axis in range(-rank, 0):
        here = [shape[axis] for shape in shapes if len(shape) >= -axis]
        sizes = {size: None for size in here if size != 1}
        if len(sizes) > 1:
            hint = "sizes must be equal or 1, counted from the last axis"
            shown = " and ".join(map(str, shapes))
            raise ShapeError(explain(what, f"cannot broadcast axis {axis}", hint, shapes=shown))
        named = (size for size in here if isinstance(size, Dim) and size in sizes)
        result.append(next(named, next(iter(sizes), 1)))
    return tuple(result)


def axis_in(what: str, axis: int, rank: int) -> int:
    """axis as a number in [0, rank)."""
    try:
        axis = index(axis)
    except TypeError:
        raise ShapeError(explain(what, "an axis is an integer", got=repr(axis))) from None
    if not -rank <= axis < rank:
        hint = f"axes run from {-rank} to {rank - 1}" if rank else "a 0-d tensor has no axes"
        raise AxisError(explain(what, "axis out of range", hint, axis=axis, rank=rank))
    return axis % rank


def axes_in(what: str, axes: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """axes (None: all) as sorted numbers in [0, rank), each once.

    A 0-d tensor counts as a line of one element: it may be named by its axis 0 or -1.
    """
    if axes is None:
        return tuple(range(rank))
    chosen = list(axes) if isinstance(axes, Sequence) else [axes]
    found = sorted(axis_in(what, axis, rank or 1) for axis in chosen)
    if len(set(found)) < len(found):
        raise ShapeError(explain(what, "an axis is named twice", axes=tuple(chosen)))
    return tuple(found) if rank else ()


def drop_axes(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """The shape left when axes are reduced."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def fill_reshape(what: str, shape: Shape, wanted: Sequence[int]) -> Shape:
    """The reshape target with -1 worked out."""
    total = prod(shape)
    target = sizes_in(what, wanted)
    facts = {"shape": shape, "target": target}
    if target.count(-1) > 1 or any(size < -1 for size in target):
        raise ShapeError(explain(what, "at most one size may be -1, none below", **facts))
    if -1 in target:
        known = prod(size for size in target if size != -1)
        if known == 0 or total % known:
            raise ShapeError(explain(what, "-1 cannot be worked out", **facts))
        target = tuple(total // known if size == -1 else size for size in target)
    if prod(target) != total:
        hint = f"{total} elements before, {prod(target)} after"
        raise ShapeError(explain(what, "the number of elements changes", hint, **facts))
    return target


def strides_of(shape: Shape) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
