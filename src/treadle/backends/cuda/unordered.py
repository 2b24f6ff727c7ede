"""Values that join what is at looked-up indices in any order, all at once, by atomics.

Which of them comes first changes nothing for whole numbers, so these always do. It changes the last
digits of a sum of floats: these do if somebody has asked for it (`td.set_deterministic(False)`).
"""

from __future__ import annotations

from treadle.backends.cuda.forms import Form, power_of_two, size_of
from treadle.base.dtypes import DType, float32, float64, int32, int64
from treadle.base.knobs import DETERMINISTIC
from treadle.base.sizes import most
from treadle.kernel.index import Assumed, Axis, Index, Looked, Quotient
from treadle.kernel.loops import Loops

FLOATS, WHOLE = (float32, float64), (int32, int64)
ATOMIC = {
    "add": ("tl.atomic_add", FLOATS + WHOLE),
    "maximum": ("tl.atomic_max", WHOLE),
    "minimum": ("tl.atomic_min", WHOLE),
}
TILE = 1024  # elements of a program
LANES = 128  # neighbours in memory of one entry


def atomic(mode: str, dtype: DType) -> str:
    """The function that joins a value to what is in memory, if there is one."""
    name, dtypes = ATOMIC.get(mode, ("", ()))
    return name if dtype in dtypes else ""


def form_of(loops: Loops, wide: bool) -> Form | None:
    """The form of a scatter whose entries need no order; None: they do."""
    (step,) = loops.passes
    if len(step.stores) != 1 or step.reduces:
        return None
    (store,) = step.stores
    dtype = loops.arguments[store.buffer].dtype
    if not atomic(store.mode, dtype) or (dtype.is_float and DETERMINISTIC.value):
        return None
    axes = {axis for axis in (*loops.outer, *loops.inner) if axis.extent > 1}
    if not axes <= _moving(store.position):  # one address would stand for many entries
        return None
    rows, columns = size_of(loops.outer), size_of(loops.inner)
    r, c = min(power_of_two(most(rows)), LANES), min(power_of_two(most(columns)), TILE)
    if store.position.coefficient(loops.outer[-1]) == 1:  # lanes are neighbours in memory
        c = min(c, TILE // r)
    else:
        r = min(r, TILE // c)
    return Form("map", r, c, False, 4, rows % r == 0, columns % c == 0, wide=wide)


def _moving(index: Index) -> set[Axis]:
    """The axes that an index moves along, by itself or by what it looks up."""
    found: set[Axis] = set()
    for atom, _ in index.terms:
        if isinstance(atom, Axis):
            found.add(atom)
        elif isinstance(atom, Looked):
            found |= atom.value.axes
        elif isinstance(atom, Quotient | Assumed):
            found |= _moving(atom.of)
    return found
