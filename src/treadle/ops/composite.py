"""Rows defined by other ops: gradient, kernels and every backend follow from the definition.

What stands before `/` in a signature are operands, the rest are options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from treadle.base.dtypes import float32, promote, to_float
from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import axes_in, axis_in
from treadle.base.sizes import as_number
from treadle.ops.bounds import require_inside
from treadle.ops.contract import gather, matrix_product
from treadle.ops.defs import AN_INDEX, Inline, Kind, Op, Samples
from treadle.ops.elementwise import (
    cast,
    conj,
    detach,
    eq,
    exp,
    log,
    ne,
    real,
    where,
)  # fmt: skip
from treadle.ops.options import options_of
from treadle.ops.reduce import CASES, max_, min_, sum_
from treadle.ops.rules import refuse_complex

Axes = int | Sequence[int] | None


def composite(
    reference: Callable[..., Any] | None = None,
    samples: Samples | None = None,
    grad: Callable[..., Any] | str | None = None,
    flops: float = 1.0,
    inline: bool = False,
    aliases: tuple[str, ...] = (),
    check: Callable[..., None] | None = None,
    trace: tuple[str, ...] | None = None,
    public: bool = True,
) -> Callable[[Callable[..., Any]], Op]:
    """A row from a definition; its docstring is the documentation.

    inline: no node of its own, the definition runs when called. It may take a list of tensors and
    give several results. check: is given the arguments of every call, and raises if it must.
    trace: the options that explanations and profiles show.
    """

    def row(define: Callable[..., Any]) -> Op:
        name = define.__name__.rstrip("_")
        make, arguments = (Inline, None) if inline else (Op, options_of(define))
        if check is not None and arguments is not None:
            arguments = _checked(arguments, check)
        return make(
            name, Kind.COMPOSITE, define.__doc__ or "", define=define, arguments=arguments,
            grad=grad, reference=reference, samples=samples, flops=flops, aliases=aliases,
            trace=trace, public=public,
        )  # fmt: skip

    return row


def _checked(arguments: Callable[..., Any], check: Callable[..., None]) -> Callable[..., Any]:
    def checked(*args: Any, **given: Any) -> Any:
        operands, arg = arguments(*args, **given)
        check(*operands, **dict(arg[1]))
        return operands, arg

    return checked


# ---- reductions


def as_float(x: Any) -> Any:
    """Integers as the default float: their differences may not fit their type."""
    return x if x.dtype.is_inexact else cast(x, float32)


def precisely(define: Callable[..., Any], *operands: Any, complexes: bool = False) -> Any:
    """A definition on operands in the float they compute in; the result in the float they are.

    complexes: may they be complex numbers?
    """
    kind = to_float(reduce(promote, [x.dtype for x in operands]))
    if not complexes:
        hint = "take x.real, x.imag or abs(x)"
        refuse_complex("definition", (kind,), "not of complex numbers", hint)
    wide = [x if x.dtype is kind.compute else cast(x, kind.compute) for x in operands]
    result = define(*wide)
    return result if kind is kind.compute else cast(result, kind)


def _count(x: Any, axis: Axes, name: str) -> int:
    return math.prod(x.shape[k] for k in axes_in(name, axis, x.ndim))


@composite(
    lambda np, x, axis=None, keepdims=False: np.mean(x, axis, keepdims=keepdims),
    Samples(cases=CASES),
)
def mean(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """Arithmetic mean along axes."""

    def define(x: Any) -> Any:
        total = sum_(x, axis=axis, keepdims=keepdims)
        count = _count(x, axis, "mean")
        return total / as_number(count)  # times 1 / count would be rounded twice

    return precisely(define, x, complexes=True)


@composite(
    lambda np, x, axis=None, keepdims=False, correction=0: np.var(
        x, axis, ddof=correction, keepdims=keepdims
    ),
    Samples(cases=(*CASES[:6], ((3, 5), {"axis": 1, "correction": 1}))),
)
def var(x: Any, /, axis: Axes = None, keepdims: bool = False, correction: float = 0) -> Any:
    """Variance along axes: squared deviations over (count - correction); a float."""

    def define(x: Any) -> Any:
        centred = x - mean(x, axis=axis, keepdims=True)
        left = max(_count(x, axis, "var") - correction, 0)
        square = real(centred * conj(centred)) if x.dtype.is_complex else centred * centred
        return sum_(square, axis=axis, keepdims=keepdims) / as_number(left)

    return define(x) if x.dtype.is_complex else precisely(define, x)


@composite(
    lambda np, x, axis=None, keepdims=False: np.log(np.sum(np.exp(x), axis, keepdims=keepdims)),
    Samples(cases=CASES),
)
def logsumexp(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) along axes, without overflow."""
    axes, x = axes_in("logsumexp", axis, x.ndim), as_float(x)
    sizes = detach(real(x) if x.dtype.is_complex else x)
    peak = (max_ if 0 not in x.shape else sum_)(sizes, axis=axes, keepdims=True)
    peak = where(eq(abs(peak), math.inf), 0.0, peak)  # inf - inf would be NaN
    total = log(sum_(exp(x - peak), axis=axes, keepdims=True)) + peak
    return total if keepdims else total.reshape(sum_(x, axis=axes).shape)


def _first_index(x: Any, best: Any, axis: int | None, keepdims: bool, name: str) -> Any:
    """Index of the first element that equals best, or is NaN."""
    axis_ = axis_in(name, axis, x.ndim) if axis is not None else 0
    hit = eq(x, best) | ne(x, x) if x.dtype.is_float else eq(x, best)
    position = where(hit, x.iota_like(axis_), x.shape[axis_])
    return min_(position, axis=axis_, keepdims=keepdims)


def _arg_extreme(x: Any, axis: int | None, keepdims: bool, name: str, extreme: Any) -> Any:
    if axis is None or not x.ndim:
        flat = _arg_extreme(x.reshape(-1), axis or 0, False, name, extreme)
        return flat.reshape((1,) * x.ndim) if keepdims else flat
    return _first_index(x, extreme(x, axis=axis, keepdims=True), axis, keepdims, name)


INDEX_CASES = Samples(cases=(((3, 5), {}), ((3, 5), {"axis": 1}), ((70, 33), {"axis": 0})))


@composite(
    lambda np, x, axis=None, keepdims=False: np.argmax(x, axis, keepdims=keepdims),
    INDEX_CASES, grad=AN_INDEX,
)  # fmt: skip
def argmax(x: Any, /, axis: int | None = None, keepdims: bool = False) -> Any:
    """Index of the first largest element (of the flattened tensor if axis is None)."""
    return _arg_extreme(x, axis, keepdims, "argmax", max_)


@composite(
    lambda np, x, axis=None, keepdims=False: np.argmin(x, axis, keepdims=keepdims),
    INDEX_CASES, grad=AN_INDEX,
)  # fmt: skip
def argmin(x: Any, /, axis: int | None = None, keepdims: bool = False) -> Any:
    """Index of the first smallest element (of the flattened tensor if axis is None)."""
    return _arg_extreme(x, axis, keepdims, "argmin", min_)


# ---- indexing and products


def _take_check(x: Any, indices: Any, axis: int | None) -> None:
    size = math.prod(x.shape) if axis is None else x.shape[axis_in("take", axis, x.ndim)]
    require_inside("take", indices, size)


@composite(
    lambda np, x, index, axis=None: np.take(x, index, axis),
    Samples(
        cases=(((5, 3), (4,), {}), ((7, 40), (2, 3), {"axis": 0}), ((3, 6), (4,), {"axis": 1})),
        roles=("", "index"),
    ),
    check=_take_check,
)
def take(x: Any, indices: Any, /, axis: int | None = None) -> Any:
    """Slices of x at indices along an axis; elements of flattened x if none is named."""
    x = x.reshape((-1,)) if axis is None and x.ndim != 1 else x
    axis = axis_in("take", axis or 0, x.ndim)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    shape = (math.prod(before), x.shape[axis], math.prod(after))
    count = math.prod(indices.shape)
    wide = indices.reshape((1, count, 1)).expand((shape[0], count, shape[2]))
    return gather(x.reshape(shape), wide, axis=1).reshape((*before, *indices.shape, *after))


@composite(
    lambda np, a, b: np.matmul(a, b),
    Samples(
        cases=(((3, 4), (4, 5), {}), ((4,), (4,), {}), ((4,), (2, 4, 3), {}), ((2, 3), (3,), {}))
    ),
)
def matmul(a: Any, b: Any, /) -> Any:
    """Matrix product; vectors are rows on the left and columns on the right.

    Products of 8-bit integers are int32, those of 16-bit ones int64; wider ones wrap around.

    >>> import treadle as td
    >>> x = td.ones(300, dtype="int8")
    >>> (x @ x).item()
    300
    """
    if a.ndim == 0 or b.ndim == 0:
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("matmul", "needs at least one axis", "use * to scale", **facts))
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        hint = "the last axis of the first must equal the last but one of the second"
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("matmul", "shapes do not fit", hint, **facts))
    if b.ndim == 1:
        y = matmul(a, b.reshape((-1, 1)))
        return y.reshape(y.shape[:-1])
    if a.ndim == 1:
        y = matmul(a.reshape((1, -1)), b)
        return y.reshape((*y.shape[:-2], y.shape[-1]))
    if a.ndim > 2 and b.ndim == 2:  # one large product instead of many small ones
        rows = math.prod(a.shape[:-1])
        return matrix_product(a.reshape((rows, a.shape[-1])), b).reshape(
            (*a.shape[:-1], b.shape[-1])
        )
    return matrix_product(a, b)


@composite(
    lambda np, x, w, b=None: np.matmul(x, w.T) + (0 if b is None else b),
    Samples(cases=(((3, 4), (5, 4), {}), ((2, 3, 4), (5, 4), (5,), {}))),
)
def linear(x: Any, weight: Any, bias: Any = None, /) -> Any:
    """x times weight transposed, plus bias; weight is (out, in) as in PyTorch."""
    y = matmul(x, weight.mT)
    return y if bias is None else y + bias
