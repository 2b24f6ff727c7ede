"""Which axes a kernel loops over: cut where its shapes are cut, merged where its indices allow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from treadle.base.shapes import Shape, strides_of
from treadle.base.sizes import UnknownSizeError
from treadle.kernel.index import Axis, Index, Quotient
from treadle.kernel.loops import Loops, indices_of


def refined(shapes: Sequence[Shape], total: int) -> list[int]:
    """Extents along which all shapes of `total` elements are cut; [total] if they do not nest."""
    cuts = {1, total}
    for shape in shapes:
        step = 1
        for size in reversed(shape):
            step *= size
            cuts.add(step)
    try:
        pairs = list(pairwise(sorted(cuts)))
    except UnknownSizeError:
        return [total]
    if any(high % low for low, high in pairs):
        return [total]
    return [high // low for low, high in pairs][::-1]


def linear(axes: Sequence[Axis]) -> Index:
    """Row-major position over axes."""
    steps = strides_of(tuple([axis.extent for axis in axes]))
    return Index([pair for pair in zip(axes, steps, strict=True) if pair[0].extent > 1])


def merge_axes(loops: Loops) -> None:
    """Join neighbouring axes that every index treats as one, so that loops are long and few.

    The outer of a joined pair leaves the kernel: indices that still name it count it as 0.
    """
    indices = [index for ex in loops.order() for index in indices_of(ex)]
    indices += [store.position for store in loops.stores()]
    fixed: set[Axis] = set()
    for index in indices:
        for atom, _ in index.terms:
            if isinstance(atom, Quotient):
                fixed |= atom.of.axes()
    for axes in (loops.outer, loops.inner):
        axes[:] = [axis for axis in axes if axis.extent != 1]
        k = len(axes) - 1
        while k > 0:
            a, b = axes[k - 1], axes[k]
            together = all(i.coefficient(a) == i.coefficient(b) * b.extent for i in indices)
            if together and a not in fixed and b not in fixed:
                b.extent *= a.extent
                del axes[k - 1]
            k -= 1
