"""Any graph evaluated node by node in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.base.dtypes import STORAGE
from treadle.base.errors import needed
from treadle.ir.graph import toposort
from treadle.ir.node import CONST, IOTA, LEAF, Node, Type, definition
from treadle.ir.region import PROJECT, Branch, Region
from treadle.ops import contract as k
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.defs import Kind, Op
from treadle.ops.windows import shear

Array = Any
NARROW = frozenset(numpy_dtype(d) for d in STORAGE)


def _wrapped(index: Array, size: int) -> Array:
    """Negative indices count from the end, others are clamped."""
    return np.clip(np.where(index < 0, index + size, index), 0, max(0, size - 1))


SPECIAL: dict[Op, Callable[..., Array]] = {
    m.reshape: lambda n, x: np.reshape(x, n.shape),
    m.permute: lambda n, x: np.transpose(x, n.arg),
    m.expand: lambda n, x: np.broadcast_to(x, n.shape),
    m.slice_: lambda n, x: x[tuple(slice(*r) for r in n.arg)],
    m.pad: lambda n, x: np.pad(x, n.arg[0], constant_values=n.arg[1]) if n.arg[0] else x,
    m.flip: lambda n, x: np.flip(x, n.arg),
    m.concat: lambda n, *xs: np.concatenate(xs, n.arg),
    shear: lambda n, x: shear.reference(np, x, *n.arg),  # type: ignore[misc]
    k.gather: lambda n, x, i: np.take_along_axis(x, _wrapped(i, x.shape[n.arg]), n.arg),
    k.put: lambda n, x, values: k.put.reference(np, x, values, *n.arg),  # type: ignore[misc]
    e.cast: lambda n, x: x,
    e.rerouted: lambda n, y, *xs: y,
    e.bitcast: lambda n, x: x.astype(numpy_dtype(n.operands[0].dtype)).view(numpy_dtype(n.dtype)),
    IOTA: lambda n: np.arange(n.shape[n.arg]).reshape(n.shape),
    CONST: lambda n: np.asarray(n.arg),
}


def _scattered(node: Node, base: Array, index: Array, values: Array) -> Array:
    """Indices out of range go to one place more, which is cut off."""
    axis, size = node.arg, base.shape[node.arg]
    inside = (index >= -size) & (index < size)
    place = np.where(inside, np.where(index < 0, index + size, index), size)
    room = np.insert(_computable(base), size, 1, axis)
    reference = needed("reference", node.op.reference, node)
    return np.delete(reference(np, room, place, _computable(values), axis), size, axis)


SPECIAL |= dict.fromkeys(k.SCATTERS, _scattered)


def evaluate(
    roots: Sequence[Node], values: Callable[[Node], Array], precise: bool = False
) -> list[Array]:
    """The roots' values; `values` gives those of leaves. precise: all floats as float64."""
    found: dict[Node, Array] = {}
    with np.errstate(all="ignore"):
        for node in toposort(roots, lambda n: n.buffer is not None):
            if node.op is LEAF or node.buffer is not None:
                result = values(node)
            else:
                result = _node(node, [found[x] for x in node.operands], precise)
            if node.op.kind is Kind.REGION:
                found[node] = result
                continue
            found[node] = np.asarray(converted(result, _kind(node, precise)))
    return [found[root] for root in roots]


def _kind(node: Node, precise: bool) -> Any:
    """The NumPy dtype of a node."""
    wide = {"float": np.float64, "complex": np.complex128} if precise else {}
    return wide.get(node.dtype.kind) or numpy_dtype(node.dtype)


def converted(x: Array, kind: Any) -> Array:
    """A cast as the kernels do it: floats to integers saturate, NaN becomes 0."""
    x = np.asarray(x)
    if kind.__class__ is type:
        kind = np.dtype(kind)
    if kind.kind in "iu" and x.dtype.kind not in "iub":
        limits = np.iinfo(kind)
        x = np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        low, high = x <= limits.min, x >= limits.max
        safe = np.where(low | high, 0, x).astype(kind)
        return np.where(low, limits.min, np.where(high, limits.max, safe)).astype(kind)
    return x.astype(kind)


def _node(node: Node, operands: list[Array], precise: bool) -> Array:
    op = node.op
    if op is PROJECT:
        return operands[0][node.arg]
    if op.kind is Kind.REGION:
        return _results(node, operands, precise)
    if op in SPECIAL:
        return SPECIAL[op](node, *operands)
    if op.kind is Kind.COMPOSITE and not (op.pairs and operands[0].dtype.kind == "c"):
        inner = dict(zip(node.operands, operands, strict=True))
        return _definition(node, inner, precise)
    reference = needed("reference", op.reference, op)
    wide = [_computable(x) for x in operands]
    if op.kind in (Kind.SCAN, Kind.ROUTINE):
        return reference(np, *wide, *node.arg)
    if op.kind is Kind.REDUCE:
        return reference(np, *wide, axis=node.arg[0], keepdims=node.arg[1])
    return reference(np, *wide)


def _computable(x: Array) -> Array:
    """Floats of 8 and 16 bits compute in float32."""
    return x.astype(np.float32) if x.dtype in NARROW else x


def _definition(node: Node, values: dict[Node, Array], precise: bool) -> Array:
    root = definition(node)
    found = dict(values)
    for part in toposort([root], values.__contains__):
        if part not in found:
            result = _node(part, [found[x] for x in part.operands], precise)
            found[part] = np.asarray(converted(result, _kind(part, precise)))
    return found[root]


def _results(node: Node, operands: list[Array], precise: bool) -> Array:
    """All results of a loop or branch."""

    def run(body: Region, given: Sequence[Array]) -> list[Array]:
        values = dict(zip(body.params, given, strict=True))
        return evaluate(body.results, values.__getitem__, precise)

    spec = node.arg
    if isinstance(spec, Branch):
        return run(spec.bodies[int(np.clip(operands[0], 0, len(spec.bodies) - 1))], operands[1:])
    carries, xs = operands[: spec.carries], operands[spec.carries :][: spec.xs]
    closed = operands[spec.carries + spec.xs :][: spec.closed]
    stacks: list[list[Array]] = [[] for _ in range(spec.ys)]
    step, going = 0, not spec.flagged or bool(operands[-1])
    while going and step < spec.length:
        at = spec.length - 1 - step if spec.reverse else step
        results = run(spec.body, [*carries, *(x[at] for x in xs), *closed])
        carries = results[: spec.carries]
        for stack, y in zip(stacks, results[spec.carries :], strict=False):
            stack.append(y)
        step, going = step + 1, not spec.flagged or bool(results[-1])
    types = [spec.result(spec.carries + k) for k in range(spec.ys)]
    return [*carries, *(_stacked(*pair, spec.reverse) for pair in zip(stacks, types, strict=True))]


def _stacked(parts: list[Array], type_: Type, reverse: bool) -> Array:
    if not parts:
        return np.zeros(type_.shape, numpy_dtype(type_.dtype))
    return np.stack(parts[::-1] if reverse else parts)
