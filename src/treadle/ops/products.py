"""Rows of the products of two tensors: tensordot and its special cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in, broadcast
from treadle.ops.composite import composite, matmul
from treadle.ops.contract import matrix_product
from treadle.ops.defs import Samples
from treadle.ops.einsum import contracted, ordered
from treadle.ops.elementwise import cast, conj, mul
from treadle.ops.reduce import sum_
from treadle.ops.rules import summed_in


def _vectors(op: str, *operands: Any, rank: int = 1) -> None:
    if any(x.ndim != rank for x in operands):
        shapes = " and ".join(str(x.shape) for x in operands)
        hint = "matmul and einsum take other ranks"
        raise ShapeError(explain(op, f"needs operands of {rank} axes", hint, shapes=shapes))


def _axis_pairs(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            hint = "at most as many as either operand has"
            raise ArgumentError(explain("tensordot", "bad number of axes", hint, axes=axes))
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    try:
        first, second = axes
    except (TypeError, ValueError):
        hint = "a number, or the axes of a and the axes of b"
        raise ArgumentError(explain("tensordot", "bad axes", hint, axes=axes)) from None
    first = [axis_in("tensordot", k, a.ndim) for k in _listed(first)]
    second = [axis_in("tensordot", k, b.ndim) for k in _listed(second)]
    sizes = [a.shape[k] for k in first], [b.shape[k] for k in second]
    if sizes[0] != sizes[1] or len(set(first)) < len(first) or len(set(second)) < len(second):
        hint = "axes are paired in order and of equal size, none twice"
        facts = {"axes": axes, "shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("tensordot", "axes do not fit", hint, **facts))
    return first, second


def _listed(axes: Any) -> Sequence[int]:
    return axes if isinstance(axes, tuple | list) else (axes,)


@composite(
    lambda np, a, b, axes=2: np.tensordot(a, b, axes),
    Samples(cases=(
        ((2, 3, 4), (3, 4, 5), {}), ((2, 3), (4, 5), {"axes": 0}),
        ((2, 3, 4), (4, 5, 2), {"axes": ((0, 2), (2, 0))}), ((3, 4), (4,), {"axes": 1}),
    ), low=-2.0, high=2.0),
)  # fmt: skip
def tensordot(a: Any, b: Any, /, axes: int | Sequence[Any] = 2) -> Any:
    """Products summed over pairs of axes: the last of a with the first of b, or those named."""
    first, second = _axis_pairs(a, b, axes)
    if [a.shape[k] for k in first] != [b.shape[k] for k in second]:
        facts = {"axes": axes, "shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("tensordot", "axes differ in size", **facts))
    left = [f"a{k}" for k in range(a.ndim)]
    right = [f"b{k}" for k in range(b.ndim)]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    rows = [label for k, label in enumerate(left) if k not in first]
    columns = [label for k, label in enumerate(right) if k not in second]
    keep = frozenset((*rows, *columns))
    y, labels = contracted(
        (a, tuple(left)), (b, tuple(right)), keep, columns[-1] if columns else ""
    )
    return ordered(y, labels, (*rows, *columns))


@composite(
    lambda np, a, b: np.dot(a, b),
    Samples(cases=(
        ((5,), (5,), {}), ((3, 4), (4, 2), {}), ((2, 3), (3,), {}), ((2, 3), (4, 3, 5), {}),
        ((), (3,), {}),
    ), low=-2.0, high=2.0),
)  # fmt: skip
def dot(a: Any, b: Any, /) -> Any:
    """Sum of products of two vectors; of more axes, over the last of a and the last but one of b.

    Unlike matmul it pairs every row of a with every column of b; a 0-d operand scales.
    """
    if a.ndim == 0 or b.ndim == 0:
        return mul(cast(a, summed_in([a.dtype, b.dtype])), b)
    return tensordot(a, b, axes=((-1,), (-min(b.ndim, 2),)))


@composite(
    lambda np, a, b: np.inner(a, b),
    Samples(cases=(((5,), (5,), {}), ((2, 4), (3, 4), {}), ((), (3,), {})), low=-2.0, high=2.0),
)
def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes of both; a 0-d operand scales."""
    if a.ndim == 0 or b.ndim == 0:
        return mul(cast(a, summed_in([a.dtype, b.dtype])), b)
    return tensordot(a, b, axes=((-1,), (-1,)))


@composite(
    lambda np, a, b: np.outer(a, b), Samples(cases=(((3,), (4,), {}), ((0,), (2,), {}))),
    aliases=("ger",),
)  # fmt: skip
def outer(a: Any, b: Any, /) -> Any:
    """Every element of a vector times every element of another."""
    _vectors("outer", a, b)
    return a.reshape((-1, 1) if a.shape[0] else (0, 1)) * b.reshape((1, b.shape[0]))


@composite(
    lambda np, a, b, axis=-1: np.sum(
        np.conj(np.moveaxis(a, axis, -1)) * np.moveaxis(b, axis, -1), -1
    ),
    Samples(cases=(
        ((5,), (5,), {}), ((3, 4), (4,), {}), ((3, 4), (3, 4), {"axis": -2}),
        ((2, 1, 4), (3, 4), {}),
    ), low=-2.0, high=2.0),
)  # fmt: skip
def vecdot(a: Any, b: Any, /, axis: int = -1) -> Any:
    """Sum of products along one axis of both; the others broadcast. Complex a is conjugated."""
    first, second = (axis_in("vecdot", axis, x.ndim) for x in (a, b))
    if a.shape[first] != b.shape[second]:
        facts = {"shapes": f"{a.shape} and {b.shape}", "axis": axis}
        raise ShapeError(explain("vecdot", "the axis has two sizes", **facts))
    a = a.permute((*(k for k in range(a.ndim) if k != first), first))
    b = b.permute((*(k for k in range(b.ndim) if k != second), second))
    broadcast("vecdot", a.shape, b.shape)
    terms = cast(conj(a), summed_in([a.dtype, b.dtype])) * b
    return cast(sum_(terms, axis=-1), terms.dtype)


@composite(lambda np, a, b: np.vdot(a, b), Samples(cases=(((5,), (5,), {}), ((0,), (0,), {}))))
def vdot(a: Any, b: Any, /) -> Any:
    """Sum of products of two vectors, of which a complex first one is conjugated."""
    _vectors("vdot", a, b)
    return vecdot(a, b)


@composite(
    lambda np, a, b: np.matmul(a, b),
    Samples(cases=(((2, 3, 4), (2, 4, 5), {}), ((1, 1, 3), (1, 3, 1), {}))),
)
def bmm(a: Any, b: Any, /) -> Any:
    """Matrix products of a batch: (batch, n, k) times (batch, k, m)."""
    _vectors("bmm", a, b, rank=3)
    if a.shape[0] != b.shape[0]:
        hint = "matmul broadcasts"
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("bmm", "batches differ", hint, **facts))
    return matrix_product(a, b)


@composite(
    lambda np, a, b: np.matmul(a, b), Samples(cases=(((3, 4), (4,), {}), ((1, 5), (5,), {})))
)
def mv(a: Any, b: Any, /) -> Any:
    """A matrix times a vector."""
    _vectors("mv", a, rank=2)
    _vectors("mv", b)
    return matmul(a, b)


@composite(
    lambda np, a, b: np.kron(a, b),
    Samples(cases=(((2, 3), (3, 2), {}), ((4,), (2, 3), {}), ((2,), (3,), {}))),
)
def kron(a: Any, b: Any, /) -> Any:
    """Every element of a times all of b, laid side by side (the Kronecker product)."""
    rank = max(a.ndim, b.ndim)
    first = (1,) * (rank - a.ndim) + a.shape
    second = (1,) * (rank - b.ndim) + b.shape
    wide = a.reshape([n for size in first for n in (size, 1)])
    terms = wide * b.reshape([n for size in second for n in (1, size)])
    return terms.reshape(tuple([n * m for n, m in zip(first, second, strict=True)]))
