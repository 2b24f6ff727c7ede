"""Rows that add a product to a tensor, each part scaled, and products of more than two matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import axis_in, broadcast
from treadle.ops.composite import composite, matmul
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import div
from treadle.ops.movement import concat, cut
from treadle.ops.options import Scalar
from treadle.ops.products import bmm, mv, outer
from treadle.ops.reduce import sum_
from treadle.ops.shaping import tensors_in

# ---- a tensor and a product


@composite(
    lambda np, a, b: np.matmul(a, b), Samples(cases=(((3, 4), (4, 2), {}), ((1, 5), (5, 1), {})))
)
def mm(a: Any, b: Any, /) -> Any:
    """A matrix times a matrix."""
    if a.ndim != 2 or b.ndim != 2:
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("mm", "needs two matrices", "matmul takes others", **facts))
    return matmul(a, b)


def _scaled(x: Any, factor: Scalar) -> Any:
    return x if factor == 1 else x * factor


def _sum(name: str, x: Any, product: Any, beta: Scalar, alpha: Scalar) -> Any:
    """beta * x + alpha * product, in the product's shape; x is not looked at if beta is 0."""
    if broadcast(name, x.shape, product.shape) != product.shape:
        facts = {"shape": x.shape, "product": product.shape}
        raise ShapeError(explain(name, "does not broadcast to the product", **facts))
    return _scaled(product, alpha) if beta == 0 else _scaled(x, beta) + _scaled(product, alpha)


def _added_row(name: str, what: str, product: Callable[..., Any], *cases: Any) -> Op:
    def added(x: Any, a: Any, b: Any, /, beta: Scalar = 1, alpha: Scalar = 1) -> Any:
        return _sum(name, x, product(a, b), beta, alpha)

    def reference(np: Any, x: Any, a: Any, b: Any, beta: Scalar = 1, alpha: Scalar = 1) -> Any:
        made = np.multiply.outer(a, b) if name == "addr" else np.matmul(a, b)
        made = made.sum(0) if name == "addbmm" else made
        return alpha * made + (0 if beta == 0 else beta * x)

    added.__name__, added.__doc__ = (
        name,
        f"""beta * x + alpha * ({what}); x broadcasts to it.

    With a beta of 0 x is not looked at, whatever is in it.
    """,
    )
    first, second = cases
    samples = Samples(cases=(
        (*first, {}), (*second, {"beta": 2}), (*first, {"beta": 0, "alpha": 3}),
    ), low=-2.0, high=2.0)  # fmt: skip
    return composite(reference, samples)(added)


def _added_batch(a: Any, b: Any) -> Any:
    return sum_(bmm(a, b), axis=0)


# fmt: off
addmm = _added_row("addmm", "a matrix times a matrix", mm,
                   ((3, 2), (3, 4), (4, 2)), ((2,), (3, 4), (4, 2)))
addmv = _added_row("addmv", "a matrix times a vector", mv, ((3,), (3, 4), (4,)), ((), (3, 4), (4,)))
addr = _added_row("addr", "every element of a vector times every one of another", outer,
                  ((3, 4), (3,), (4,)), ((3, 1), (3,), (4,)))
baddbmm = _added_row("baddbmm", "a batch of matrices times another", bmm,
                     ((2, 3, 5), (2, 3, 4), (2, 4, 5)), ((3, 1), (2, 3, 4), (2, 4, 5)))
addbmm = _added_row("addbmm", "the sum of a batch of products of matrices", _added_batch,
                    ((3, 5), (2, 3, 4), (2, 4, 5)), ((5,), (2, 3, 4), (2, 4, 5)))
# fmt: on

THREE: tuple[tuple[Any, ...], ...] = (
    ((5,), (5,), (5,), {}), ((3, 1), (1, 4), (3, 4), {"value": 2}), ((4,), (), (4,), {"value": 3}),
)  # fmt: skip


@composite(lambda np, x, a, b, value=1: x + value * a * b, Samples(cases=THREE))
def addcmul(x: Any, a: Any, b: Any, /, value: Scalar = 1) -> Any:
    """x + value * a * b."""
    return x + _scaled(a, value) * b


@composite(lambda np, x, a, b, value=1: x + value * (a / b), Samples(0.5, 4.0, cases=THREE))
def addcdiv(x: Any, a: Any, b: Any, /, value: Scalar = 1) -> Any:
    """x + value * a / b, a float."""
    return x + _scaled(div(a, b), value)


# ---- several matrices


def _best_order(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut every run of matrices so that multiplications are fewest: by lengths of runs."""
    count = len(sizes) - 1
    cost: dict[tuple[int, int], int] = {(k, k): 0 for k in range(count)}
    cuts = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            ends = sizes[first] * sizes[last + 1]
            cost[first, last], cuts[first, last] = min(
                (cost[first, k] + cost[k + 1, last] + ends * sizes[k + 1], k)
                for k in range(first, last)
            )
    return cuts


def product_of(matrices: Sequence[Any]) -> Any:
    """The product of matrices in the cheapest order."""
    cuts = _best_order([matrices[0].shape[0], *(x.shape[1] for x in matrices)])

    def run(first: int, last: int) -> Any:
        if first == last:
            return matrices[first]
        at = cuts[first, last]
        return matmul(run(first, at), run(at + 1, last))

    return run(0, len(matrices) - 1)


def _chained(np: Any, xs: Any) -> Any:
    product = xs[0]
    for x in xs[1:]:
        product = product @ x
    return product


@composite(
    _chained, Samples(cases=(
        ((2, 3), (3, 4), {}), ((2, 3), (3, 5), (5, 1), (1, 4), {}), ((2, 2), {}),
    ), low=-2.0, high=2.0, listed=True), inline=True,
)  # fmt: skip
def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices, multiplied in the order that takes fewest operations."""
    found = tensors_in("chain_matmul", matrices)
    if not found or any(x.ndim != 2 for x in found):
        shapes = [x.shape for x in found]
        raise ShapeError(explain("chain_matmul", "needs matrices", shapes=shapes))
    return product_of(found)


# ---- vectors of three


@composite(
    lambda np, a, b, axis=-1: np.cross(a, b, axis=axis),
    Samples(cases=(
        ((3,), (3,), {}), ((4, 3), (3,), {}), ((3, 4), (3, 4), {"axis": 0}),
        ((2, 1, 3), (5, 3), {}),
    ), low=-2.0, high=2.0), inline=True,
)  # fmt: skip
def cross(a: Any, b: Any, /, axis: int = -1) -> Any:
    """The vector at right angles to two of three elements along an axis; the others broadcast."""
    at = axis_in("cross", axis, max(a.ndim, b.ndim)) - max(a.ndim, b.ndim)
    for x in (a, b):
        if x.ndim < -at or x.shape[at] != 3:
            facts = {"shapes": f"{a.shape} and {b.shape}", "axis": axis}
            raise ShapeError(explain("cross", "needs three elements along the axis", **facts))
    first, second = (_turned(x, at + x.ndim) for x in (a, b))
    return first[0] * second[1] - first[1] * second[0]


def _turned(x: Any, axis: int) -> tuple[Any, Any]:
    """The elements after each one, and those after them, in a circle."""
    parts = [cut(x, axis, k, k + 1) for k in range(3)]
    return concat([*parts[1:], parts[0]], axis=axis), concat([parts[2], *parts[:2]], axis=axis)
