"""Rows of how far vectors are apart, how long they are, and how they vary together."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.base.sizes import as_number
from treadle.ops.activations import clip
from treadle.ops.composite import composite, matmul, mean, precisely
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, complex_, gt, imag, maximum, real, sqrt, where
from treadle.ops.reduce import sum_
from treadle.ops.shaping import diagonal
from treadle.ops.totals import norm

POWERS = (1.0, 3.0, math.inf)
TINY = 1e-7  # beside a length, so that a slice of exactly that length becomes no longer


def _require_power(name: str, p: float) -> None:
    if not p >= 0:
        raise ArgumentError(explain(name, "p is not negative", p=p))


def _length(np: Any, x: Any, p: float, axis: Any = None, keepdims: bool = False) -> Any:
    size = np.abs(x)
    if math.isinf(p):
        return size.max(axis, keepdims=keepdims, initial=0)
    if p == 0:
        return (size != 0).sum(axis, keepdims=keepdims) * 1.0
    return (size**p).sum(axis, keepdims=keepdims) ** (1 / p)


def _wide(np: Any, x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


@composite(
    lambda np, a, b, p=2.0: _length(np, _wide(np, a) - b, p),
    Samples(cases=(((3, 4), (3, 4), {}), *(((5,), (2, 5), {"p": p}) for p in POWERS))),
)
def dist(a: Any, b: Any, /, p: float = 2.0) -> Any:
    """The p-norm of a - b: all elements together."""
    _require_power("dist", p)
    return precisely(lambda a, b: norm(a - b, ord=p), a, b, complexes=True)


@composite(
    lambda np, a, b, p=2.0: _length(
        np, _wide(np, a)[..., :, None, :] - _wide(np, b)[..., None, :, :], p, -1
    ),
    Samples(cases=(
        ((4, 3), (5, 3), {}), ((2, 4, 3), (2, 1, 3), {}), ((3, 0), (2, 0), {}),
        *(((4, 3), (2, 3), {"p": p}) for p in POWERS), ((2, 1, 3, 2), (4, 2, 2), {"p": 0.5}),
    )),
)  # fmt: skip
def cdist(a: Any, b: Any, /, p: float = 2.0) -> Any:
    """The p-norms of the differences of every row of a and every row of b; a batch broadcasts.

    Differences are taken one by one, so near rows are told apart. Equal rows have a gradient of 0.
    """
    _require_power("cdist", p)
    if min(a.ndim, b.ndim) < 2 or a.shape[-1] != b.shape[-1]:
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("cdist", "needs rows of one length", **facts))
    rows = a.reshape((*a.shape[:-1], 1, a.shape[-1]))
    columns = b.reshape((*b.shape[:-2], 1, *b.shape[-2:]))
    if not a.shape[-1]:
        return precisely(lambda x, y: sum_(x - y, axis=-1), rows, columns)
    return precisely(lambda x, y: norm(x - y, ord=p, axis=-1), rows, columns)


def _renormed(np: Any, x: Any, p: float, axis: int, maxnorm: float) -> Any:
    others = tuple(k for k in range(x.ndim) if k != axis % x.ndim)
    length = _length(np, x, p, others, True)
    return np.where(length > maxnorm, x * (maxnorm / (length + TINY)), x)


@composite(
    _renormed, Samples(cases=(
        ((3, 5), {"p": 2.0, "axis": 0, "maxnorm": 3.0}),
        ((4, 3), {"p": 1, "axis": 1, "maxnorm": 5}),
        ((2, 3, 2), {"p": 3.0, "axis": -1, "maxnorm": 100.0}),
    )),
)  # fmt: skip
def renorm(x: Any, /, p: float, axis: int, maxnorm: float) -> Any:
    """x with the slices along an axis that are longer than maxnorm made as short; p-norms."""
    at = axis_in("renorm", axis, x.ndim)
    if x.ndim < 2 or not p > 0 or not maxnorm >= 0:
        facts = {"shape": x.shape, "p": p, "maxnorm": maxnorm}
        raise ArgumentError(explain("renorm", "needs slices, p > 0 and maxnorm >= 0", **facts))
    others = tuple(k for k in range(x.ndim) if k != at)

    def define(x: Any) -> Any:
        length = norm(x, ord=p, axis=others, keepdims=True)
        return where(gt(length, maxnorm), x * (maxnorm / (length + TINY)), x)

    return precisely(define, x, complexes=True)


# ---- covariance


def _cov(np: Any, x: Any, *weights: Any, correction: int = 1) -> Any:
    kinds = dict(zip(("fweights", "aweights"), weights, strict=False))
    kinds = {name: w.astype(np.int64) if name == "fweights" else w for name, w in kinds.items()}
    return np.cov(x, ddof=correction, **kinds)


def _weighed(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Variables, how often each sample counts, and how much."""
    drawn = [rng.uniform(-2, 2, shapes[0]).astype(kind)]
    if len(shapes) > 1:
        drawn.append(rng.integers(1, 4, shapes[1]))
    if len(shapes) > 2:
        relative = rng.uniform(0.5, 1.5, shapes[2])
        drawn.append(relative.astype(kind) if drawn[0].dtype.kind in "fV" else relative)
    return drawn


COV = Samples(cases=(
    ((3, 6), {}), ((5,), {}), ((2, 4), {"correction": 0}), ((2, 5), (5,), {}),
    ((3, 5), (5,), (5,), {"correction": 0}), ((1, 6), {}), ((1, 5), (5,), {}),
), draw=_weighed)  # fmt: skip


@composite(_cov, COV)
def cov(x: Any, fweights: Any = None, aweights: Any = None, /, correction: int = 1) -> Any:
    """How variables, a row each, vary together: sums of products of deviations over the count.

    correction is taken off the count, fweights says how often each sample (column) is there, and
    aweights how much it counts. A vector is one variable; of one variable there is one number.
    """
    if x.ndim > 2:
        raise ShapeError(explain("cov", "needs a row for each variable", shape=x.shape))
    for weights in (fweights, aweights):
        if weights is not None and weights.shape != x.shape[-1:]:
            facts = {"shape": x.shape, "weights": weights.shape}
            raise ShapeError(explain("cov", "one weight for each sample", **facts))

    def define(x: Any, *weights: Any) -> Any:
        rows = x.reshape((1, -1)) if x.ndim < 2 else x
        made = _covariance(rows, list(weights), aweights is not None, correction)
        return made.reshape(()) if rows.shape[0] == 1 else made

    given = [w for w in (fweights, aweights) if w is not None]
    if x.dtype.is_inexact:
        given = [cast(w, x.dtype.part) for w in given]
    return define(x, *given) if x.dtype.is_complex else precisely(define, x, *given)


def _covariance(rows: Any, weights: list[Any], relative: bool, correction: int) -> Any:
    if not weights:
        centred = rows - mean(rows, axis=1, keepdims=True)
        count = as_number(max(rows.shape[1] - correction, 0))
        if not rows.shape[1]:
            return matmul(centred, centred.mH) / count  # NaN
        return matmul(centred / count, centred.mH)  # sums of squares may be out of range
    each = weights[0] if len(weights) == 1 else weights[0] * weights[1]
    total = sum_(each)
    centred = rows - sum_(rows * each, axis=1, keepdims=True) / total
    taken = sum_(each * weights[-1]) / total if relative else 1.0
    return matmul(centred * each, centred.mH) / maximum(total - taken * correction, 0.0)


@composite(
    lambda np, x: np.corrcoef(x),
    Samples(cases=(((3, 6), {}), ((2, 4), {}), ((5,), {}), ((1, 4), {})), low=-2.0, high=2.0),
)
def corrcoef(x: Any, /) -> Any:
    """The covariance of variables, a row each, over their deviations: from -1 to 1."""
    both = cov(x)
    if not both.shape:
        return both / both
    size = both.shape[0]
    own = sqrt(real(diagonal(both)))
    found = both / own.reshape((size, 1)) / own.reshape((1, size))
    if found.dtype.is_complex:
        return complex_(*[clip(part(found), -1.0, 1.0) for part in (real, imag)])
    return clip(found, -1.0, 1.0)
