"""More steps of random graphs: orders, scans, writes at indices, windows, bits, composites."""

from __future__ import annotations

import numpy as np

from treadle.base.dtypes import bool_, promote
from treadle.ops import activations as a
from treadle.ops import composite as c
from treadle.ops import contract as k
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import neural, ordering, predicates, scan, totals
from treadle.ops import numeric as f
from treadle.ops.windows import windows
from treadle.testing.arrays import Array, node_of, unit_roundoff
from treadle.testing.choice import Choice
from treadle.testing.strategies import (
    GROWTH,
    Graph,
    Step,
    Value,
    by_reference_of,
    exact,
    made,
    partner,
)  # fmt: skip

MODES = ("reflect", "replicate", "circular")
GENTLE = (
    e.atan, f.asinh, a.relu, a.celu, a.silu, a.gelu, a.softsign, a.logsigmoid,
    a.softplus, a.elu, a.mish, a.hardswish, a.leaky_relu, a.softshrink, a.relu6, f.positive,
)  # fmt: skip
STEEPEST = 1.6  # no slope of these is larger: hardswish has 1.5
ROUNDINGS = 24  # of a composite in its own dtype, as a multiple of one


def _axis(draw: Choice, x: Value) -> int | None:
    """Any axis of a value that has elements."""
    return draw.number(0, x.exact.ndim - 1) if x.exact.ndim and x.exact.size else None


def _gentle(draw: Choice, x: Value, _: Graph) -> Value | None:
    op = draw.one(GENTLE)
    if x.node.dtype is bool_ or not x.node.dtype.is_float:
        return None
    node = op(x.node)
    own = ROUNDINGS * unit_roundoff(node.dtype)
    return made(node, [x], x.error * STEEPEST + own * (1 + np.abs(x.exact)), ROUNDINGS)


def _ordered(draw: Choice, x: Value, _: Graph) -> Value | None:
    axis = _axis(draw, x)
    if axis is None or not x.is_sharp:
        return None
    op = draw.one((scan.argsort, ordering.sort))
    return made(op(x.node, axis=axis, descending=draw.coin()), [x], 0.0, 0)


def _extreme_place(draw: Choice, x: Value, _: Graph) -> Value | None:
    axis = _axis(draw, x)
    if axis is None or not x.is_sharp:
        return None
    op = draw.one((c.argmax, c.argmin))
    return made(op(x.node, axis=axis, keepdims=draw.coin()), [x], 0.0, 0)


def _scanned(draw: Choice, x: Value, _: Graph) -> Value | None:
    axis = _axis(draw, x)
    if axis is None:
        return None
    op = draw.one((scan.cumsum, scan.cumsum, scan.cummax, scan.cummin))
    node = op(x.node, axis=axis)
    if op is not scan.cumsum:
        return made(node, [x], np.maximum.accumulate(x.error, axis), 0)
    total = np.cumsum(np.abs(x.exact.astype(np.float64)), axis)
    lost = (x.node.shape[axis] + 2) * unit_roundoff(node.dtype) * total
    return made(node, [x], np.cumsum(x.error, axis) + lost, 2)


def _written(draw: Choice, x: Value, _: Graph) -> Value | None:
    """x with its own elements, in another order, written at random places along an axis."""
    axis = _axis(draw, x)
    if axis is None or not x.is_sharp:
        return None
    rng = np.random.default_rng(draw.number(0, 999))
    size = x.node.shape[axis]
    index = rng.integers(-size, size, x.node.shape)
    op = draw.one((k.scatter, k.scatter_add, k.scatter_max, k.scatter_min))
    if x.node.dtype is bool_ and op is k.scatter_add:
        return None
    values = m.flip(x.node, axis)
    node = op(x.node, node_of(index), values, axis=axis)
    flipped = Value(values, np.flip(x.exact, axis), np.zeros(x.exact.shape))
    operands = [x, exact(node.operands[1], index), flipped]
    if op is not k.scatter_add:
        return made(node, operands, 0.0, 0)
    most = np.abs(x.exact.astype(np.float64)).max() * (size + 1)
    lost = (size + 2) * unit_roundoff(node.dtype) * most
    return made(node, operands, np.full(node.shape, lost), 2)


def _continued(draw: Choice, x: Value, _: Graph) -> Value | None:
    """x with a border of its own elements."""
    if not x.exact.ndim or not x.exact.size:
        return None
    edges = [(draw.number(0, 4), draw.number(0, 4)) for _ in x.node.shape]
    node = m.pad(x.node, edges, 0, draw.one(MODES))
    return made(node, [x], _moved(x, node), 0)


def _in_windows(draw: Choice, x: Value, _: Graph) -> Value | None:
    axis = _axis(draw, x)
    if axis is None:
        return None
    sizes = [draw.number(1, min(3, n)) for n in x.node.shape]
    return made(node := windows(x.node, sizes, draw.number(1, 2)), [x], _moved(x, node), 0)


def _moved(x: Value, node: object) -> Array:
    """The errors of x where its elements went."""
    if not x.node.dtype.is_float:
        return 0.0
    return np.abs(by_reference_of(node, {x.node: x.error})[0])  # type: ignore[arg-type]


def _bits(draw: Choice, x: Value, graph: Graph) -> Value | None:
    y = partner(draw, x, graph)
    if y is None or x.node.dtype.is_float or y.node.dtype.is_float:
        return None
    op = draw.one((e.bitwise_and, e.bitwise_or, e.bitwise_xor))
    if not promote(x.node.dtype, y.node.dtype).is_float:  # uint64 and a signed one
        return made(op(x.node, y.node), [x, y], 0.0, 0)
    return None


def _whole(draw: Choice, x: Value, _: Graph) -> Value | None:
    """Quotients and shifts of integers by a number."""
    if not x.node.dtype.is_integer:
        return None
    op = draw.one((e.floor_divide, e.remainder, e.shift_left, e.shift_right, f.fmod))
    return made(op(x.node, draw.one((1, 2, 3, 5))), [x], 0.0, 0)


def _test(draw: Choice, x: Value, _: Graph) -> Value | None:
    if not x.is_sharp:
        return None
    op = draw.one((predicates.isfinite, predicates.isnan, predicates.logical_not, totals.any_,
                   totals.all_, totals.count_nonzero))  # fmt: skip
    return made(op(x.node), [x], 0.0, 0)


def _limited(draw: Choice, x: Value, _: Graph) -> Value | None:
    if x.node.dtype is bool_ or x.node.dtype.kind == "uint":
        return None
    return made(a.clip(x.node, draw.one((-2, -1)), draw.one((1, 2))), [x], x.error, 1)


def _shares(draw: Choice, x: Value, _: Graph) -> Value | None:
    """A softmax: what is lost is a part of each share, growing with the range of x."""
    axis = _axis(draw, x)
    if axis is None or not x.node.dtype.is_float or x.error.max() > 1.0:
        return None
    node = neural.softmax(x.node, axis=axis)
    (shares,) = by_reference_of(node, {x.node: x.exact})
    reach = 4 * float(np.abs(x.exact).max()) + x.node.shape[axis] + ROUNDINGS
    step = unit_roundoff(node.dtype)
    lost = np.expm1(2 * x.error.max()) + np.expm1(min(reach * step, 50.0))
    return made(node, [x], shares * lost + step * ROUNDINGS * 2.0**-14, ROUNDINGS)


def _multiplied(draw: Choice, x: Value, _: Graph) -> Value | None:
    """A product of integers, which wraps as NumPy's does."""
    axis = _axis(draw, x)
    if axis is None or x.node.dtype.is_float:
        return None
    op = draw.one((totals.prod_, scan.cumprod))
    return made(op(x.node, axis=axis), [x], 0.0, 0)


def _product(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """x times the transpose of a value with as many columns."""
    fitting = [v for v in graph.values if v.exact.ndim >= 2 and x.exact.ndim >= 2
               and v.node.shape[-1] == x.node.shape[-1]]  # fmt: skip
    if not fitting or x.node.dtype is bool_:
        return None
    y = draw.one(fitting)
    try:
        node = k.matrix_product(x.node, y.node.mT)
    except (ValueError, TypeError):
        return None
    turned = np.swapaxes(y.exact, -1, -2).astype(np.float64)
    turned_error = np.swapaxes(y.error, -1, -2)
    a, b = np.abs(x.exact.astype(np.float64)), np.abs(turned)
    carried = a @ turned_error + x.error @ b + x.error @ turned_error
    lost = (x.node.shape[-1] + 2) * unit_roundoff(node.dtype) * (a @ b)
    return made(node, [x, y], carried + lost, 2)


def _looked_up(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Elements of x at random places along an axis, some counted from the end."""
    if not x.exact.ndim or 0 in x.node.shape:
        return None
    axis = draw.number(0, x.exact.ndim - 1)
    size = x.node.shape[axis]
    count = draw.one((1, 2, 9))
    rng = np.random.default_rng(draw.number(0, 999))
    shape = (*x.node.shape[:axis], count, *x.node.shape[axis + 1 :])
    index = rng.integers(-size, size, shape)
    node = k.gather(x.node, node_of(index), axis=axis)
    error = np.take_along_axis(x.error, index % size, axis)
    return made(node, [x, exact(node.operands[1], index)], error, 0)


MORE: tuple[Step, ...] = (
    _product, _looked_up, _gentle, _gentle, _gentle, _ordered, _extreme_place, _scanned, _scanned,
    _written, _written, _continued, _in_windows, _bits, _bits, _whole, _whole, _test, _limited,
    _shares, _multiplied,
)  # fmt: skip
EVERY: tuple[Step, ...] = GROWTH + MORE
"""All steps there are."""
