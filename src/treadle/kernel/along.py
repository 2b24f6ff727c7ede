"""Which axis the vectors of a reduction run along, where the long ones lead far through memory."""

from __future__ import annotations

from treadle.base.sizes import most
from treadle.kernel.index import Axis, Index
from treadle.kernel.loops import Loops

SHORT = 8  # elements along an axis: fewer leave most lanes of a vector empty


def near_axis(loops: Loops, long: Axis) -> Axis:
    """A long axis, or one that half fills vectors if elements along the long one lie far apart."""
    places = [ex.data[1] for ex in loops.order() if ex.op == "load" and long in ex.axes]
    if not places or min(_step(place, long) for place in places) <= SHORT:
        return long
    for axis in reversed(loops.inner):
        if 2 * most(axis.extent) > SHORT and all(_step(place, axis) <= 2 for place in places):
            return axis
    return long


def _step(place: Index, axis: Axis) -> int:
    return abs(most(place.coefficient(axis)))
