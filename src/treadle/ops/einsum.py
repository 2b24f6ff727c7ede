"""Rows of the products over chosen axes: einsum, tensordot and their special cases.

Axes carry labels; two operands at a time become one matrix product, batched over shared labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

from treadle.base.errors import ArgumentError, OperandError, ShapeError, explain
from treadle.base.shapes import axis_in, broadcast
from treadle.ops.composite import composite, matmul
from treadle.ops.contract import dot as matrix_product
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, mul
from treadle.ops.movement import slice_
from treadle.ops.reduce import sum_

Labels = tuple[str, ...]
Labelled = tuple[Any, Labels]
MOST_EXACT = 6  # operands: with more, every order would take too long to look at


# ---- one and two labelled operands


def _ordered(x: Any, labels: Labels, wanted: Iterable[str]) -> Any:
    """x with its axes in the order wanted."""
    axes = tuple([labels.index(label) for label in wanted])
    return x if axes == tuple(range(x.ndim)) else x.permute(axes)


def _summed(x: Any, labels: Labels, keep: Iterable[str]) -> Labelled:
    """x summed over the labels that nobody wants."""
    axes = tuple([k for k, label in enumerate(labels) if label not in keep])
    if not axes:
        return x, labels
    return cast(sum_(x, axis=axes), x.dtype), tuple([l for l in labels if l in keep])


def _diagonal(x: Any, labels: Labels) -> Labelled:
    """x with axes of equal labels joined: the elements whose indices there are equal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            rest = tuple([k for k in range(x.ndim) if k not in (i, j)])
            n = x.shape[i]
            lead = tuple([x.shape[k] for k in rest])
            flat = x.permute((*rest, i, j)).reshape((*lead, n * n))
            x = slice_(flat, [*((0, size, 1) for size in lead), (0, n * n, n + 1)])
            labels = (*(labels[k] for k in rest), label)
    return x, labels


def _pair(left: Labelled, right: Labelled, keep: frozenset[str], last: str) -> Labelled:
    """Two operands as one; last is the label that should end up last, if it can."""
    if last in left[1] and last not in right[1]:
        left, right = right, left
    a, la = _summed(*left, keep | set(right[1]))
    b, lb = _summed(*right, keep | set(left[1]))
    both = [label for label in la if label in lb]
    batch = [label for label in both if label in keep]
    inner = [label for label in both if label not in keep]
    rows = [label for label in la if label not in lb]
    columns = [label for label in lb if label not in la]
    result = (*batch, *rows, *columns)
    a, b = _ordered(a, la, (*batch, *rows, *inner)), _ordered(b, lb, (*batch, *inner, *columns))
    if not inner:
        lead = a.shape[: len(batch)]
        wide = a.reshape((*a.shape, *(1,) * len(columns)))
        return wide * b.reshape((*lead, *(1,) * len(rows), *b.shape[len(batch) :])), result
    cut, end = len(batch), len(batch) + len(inner)
    shape, depth = a.shape[: cut + len(rows)], prod(b.shape[cut:end])
    lead, items = shape[:cut], (prod(shape[:cut]),) if batch else ()
    a = a.reshape((*items, prod(shape[cut:]), depth))
    b_columns = b.shape[end:]
    y = matrix_product(a, b.reshape((*items, depth, prod(b_columns))))
    return y.reshape((*lead, *shape[cut:], *b_columns)), result


# ---- the order of several operands


@lru_cache(maxsize=256)
def _path(labels: tuple[Labels, ...], output: Labels, sizes: tuple[tuple[str, int], ...]) -> Any:
    """How to pair the operands with the fewest multiplications: nested pairs of their numbers."""
    size = dict(sizes)
    if len(labels) <= MOST_EXACT:
        return _best(labels, output, size)
    left: list[tuple[Any, frozenset[str]]] = [(k, frozenset(l)) for k, l in enumerate(labels)]
    while len(left) > 1:
        i, j = min(
            combinations(range(len(left)), 2),
            key=lambda ij: prod(size[l] for l in left[ij[0]][1] | left[ij[1]][1]),
        )
        (first, a), (second, b) = left[i], left[j]
        left = [pair for k, pair in enumerate(left) if k not in (i, j)]
        outside = frozenset(output).union(*(found for _, found in left))
        left.append(((first, second), (a | b) & outside))
    return left[0][0]


def _best(labels: tuple[Labels, ...], output: Labels, size: dict[str, int]) -> Any:
    """The cheapest pairing of every subset of operands, small ones first."""
    everyone = frozenset(range(len(labels)))
    found: dict[frozenset[int], tuple[int, Any]] = {
        frozenset([k]): (0, k) for k in range(len(labels))
    }

    def kept(group: frozenset[int]) -> frozenset[str]:
        inside = frozenset().union(*(labels[k] for k in group))
        return inside & frozenset(output).union(*(labels[k] for k in everyone - group))

    for count in range(2, len(labels) + 1):
        for members in combinations(range(len(labels)), count):
            group = frozenset(members)
            options = []
            for part in range(1, count // 2 + 1):
                for chosen in combinations(members, part):
                    one, two = frozenset(chosen), group - frozenset(chosen)
                    cost = prod(size[l] for l in kept(one) | kept(two))
                    (a, first), (b, second) = found[one], found[two]
                    options.append((a + b + cost, (first, second)))
            found[group] = min(options, key=lambda option: option[0])
    return found[everyone][1]


def _joined(path: Any, operands: Sequence[Labelled], output: Labels) -> Labelled:
    """The operands contracted in the order of a path."""

    def walk(part: Any, wanted: frozenset[str]) -> Labelled:
        if isinstance(part, int):
            return operands[part]
        first, second = part
        inside = [_labels_of(p, operands) for p in part]
        a = walk(first, wanted | inside[1])
        b = walk(second, wanted | inside[0])
        return _pair(a, b, wanted, output[-1] if output else "")

    return walk(path, frozenset(output))


def _labels_of(part: Any, operands: Sequence[Labelled]) -> frozenset[str]:
    if isinstance(part, int):
        return frozenset(operands[part][1])
    return _labels_of(part[0], operands) | _labels_of(part[1], operands)


# ---- the notation


def _wrong(subscripts: str, wrong: str, hint: str = "", **facts: object) -> ArgumentError:
    return ArgumentError(explain("einsum", wrong, hint, subscripts=repr(subscripts), **facts))


def _labels(subscripts: str, term: str, rank: int | None) -> Labels:
    """A term as labels; an ellipsis stands for axes counted from the last: ".1", ".0"."""
    before, dots, after = term.partition("...")
    if not all(c.isalpha() for c in before + after):
        hint = "letters, at most one ..., commas and one ->"
        raise _wrong(subscripts, f"cannot read {term!r}", hint)
    if rank is None:
        return (*before, *((dots,) if dots else ()), *after)
    hidden = rank - len(before) - len(after)
    if hidden < 0 or (hidden and not dots):
        hint = "one letter for each axis, or ... for the others"
        raise _wrong(subscripts, f"{term!r} is for another number of axes", hint, axes=rank)
    return (*before, *(f".{hidden - 1 - k}" for k in range(hidden)), *after)


def _output(subscripts: str, given: str | None, terms: Sequence[Labels]) -> Labels:
    seen = [label for term in terms for label in term]
    hidden = sorted({l for l in seen if l.startswith(".")}, key=lambda l: -int(l[1:]))
    if given is None:
        once = sorted(l for l in set(seen) if seen.count(l) == 1 and not l.startswith("."))
        return (*hidden, *once)
    parts = _labels(subscripts, given, None)
    labels = tuple([l for part in parts for l in (hidden if part == "..." else [part])])
    unknown = [label for label in labels if label not in seen]
    if unknown or len(set(labels)) < len(labels):
        hint = "the result names labels of the operands, each once"
        raise _wrong(subscripts, "bad result", hint)
    return labels


def _sizes(subscripts: str, operands: Sequence[Labelled]) -> dict[str, int]:
    """The size of every label; axes of size 1 are spread."""
    found: dict[str, int] = {}
    for x, labels in operands:
        for n, label in zip(x.shape, labels, strict=True):
            if n != 1 and found.get(label, 1) not in (1, n):
                shapes = " and ".join(str(y.shape) for y, _ in operands)
                wrong = f"label {label!r} has two sizes"
                facts = {"sizes": f"{found[label]} and {n}", "shapes": shapes}
                text = explain("einsum", wrong, "", subscripts=repr(subscripts), **facts)
                raise ShapeError(text)
            found[label] = n if n != 1 else found.get(label, 1)
    return found


def _fitted(x: Any, labels: Labels, sizes: dict[str, int]) -> Labelled:
    """x without the axes of size 1 that others spread, its diagonals taken."""
    spread = [n == 1 and sizes[label] != 1 for n, label in zip(x.shape, labels, strict=True)]
    if any(spread):
        x = x.reshape(tuple([n for n, gone in zip(x.shape, spread, strict=True) if not gone]))
        labels = tuple([label for label, gone in zip(labels, spread, strict=True) if not gone])
    return _diagonal(x, labels)


@composite(
    lambda np, subscripts, *operands: np.einsum(subscripts, *operands),
    Samples(cases=(
        ((3, 4), (4, 5), {"subscripts": "ij,jk->ik"}), ((3, 4), {"subscripts": "ij->j"}),
        ((4, 4), {"subscripts": "ii"}), ((3, 3, 2), {"subscripts": "iij->ji"}),
        ((2, 3, 4), (2, 5, 4), {"subscripts": "bik,bjk->bij"}),
        ((2, 1, 3, 4), (5, 4, 2), {"subscripts": "...ij,...jk->...ik"}),
        ((3,), (4,), {"subscripts": "i,j"}), ((3, 4), (3, 4), {"subscripts": "ij, ij ->"}),
        ((2, 3), (3, 4), (4, 5), {"subscripts": "ab,bc,cd->ad"}),
        ((2, 3, 4), (3, 5), (4, 5), (2,), {"subscripts": "abc,bd,cd,a->ad"}),
        ((3, 4), (4, 2), {"subscripts": "ij,jk->ki"}), ((2, 3), (0, 3), {"subscripts": "ij,kj"}),
    ), lead="subscripts", low=-2.0, high=2.0),
    inline=True,
)  # fmt: skip
def einsum(subscripts: str, *operands: Any) -> Any:
    """Sums of products by Einstein's notation: einsum("ij,jk->ik", a, b) is a @ b.

    Labels of axes that the result does not name are summed over; without "->" the result names
    those that occur once, in alphabetical order. A label twice in one operand takes a diagonal,
    "..." stands for axes that broadcast. Several operands are paired in the cheapest order.
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not isinstance(subscripts, str):
        raise ArgumentError(explain("einsum", "subscripts are text", got=type(subscripts).__name__))
    for x in operands:
        if not hasattr(x, "_apply"):
            hint = "wrap it with td.tensor(...)"
            raise OperandError(explain("einsum", "not a tensor", hint, got=type(x).__name__))
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands) or not operands:
        facts = {"terms": len(terms), "operands": len(operands)}
        raise _wrong(subscripts, "one term for each operand", **facts)
    labelled = [
        (x, _labels(subscripts, term, x.ndim)) for x, term in zip(operands, terms, strict=True)
    ]
    output = _output(subscripts, right if arrow else None, [labels for _, labels in labelled])
    sizes = _sizes(subscripts, labelled)
    fitted = [_fitted(x, labels, sizes) for x, labels in labelled]
    for k, (x, labels) in enumerate(fitted):
        others = [label for j, (_, found) in enumerate(fitted) if j != k for label in found]
        fitted[k] = _summed(x, labels, {*others, *output})
    names = tuple([labels for _, labels in fitted])
    x, labels = _joined(_path(names, output, tuple(sizes.items())), fitted, output)
    return _ordered(x, labels, output)


# ---- special cases


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
    y, labels = _pair((a, tuple(left)), (b, tuple(right)), keep, columns[-1] if columns else "")
    return _ordered(y, labels, (*rows, *columns))


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
        return mul(a, b)
    return tensordot(a, b, axes=((-1,), (-min(b.ndim, 2),)))


@composite(
    lambda np, a, b: np.inner(a, b),
    Samples(cases=(((5,), (5,), {}), ((2, 4), (3, 4), {}), ((), (3,), {})), low=-2.0, high=2.0),
)
def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes of both; a 0-d operand scales."""
    if a.ndim == 0 or b.ndim == 0:
        return mul(a, b)
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
    lambda np, a, b, axis=-1: np.sum(np.moveaxis(a, axis, -1) * np.moveaxis(b, axis, -1), -1),
    Samples(cases=(
        ((5,), (5,), {}), ((3, 4), (4,), {}), ((3, 4), (3, 4), {"axis": -2}),
        ((2, 1, 4), (3, 4), {}),
    ), low=-2.0, high=2.0),
)  # fmt: skip
def vecdot(a: Any, b: Any, /, axis: int = -1) -> Any:
    """Sum of products along one axis of both; the others broadcast."""
    first, second = (axis_in("vecdot", axis, x.ndim) for x in (a, b))
    if a.shape[first] != b.shape[second]:
        facts = {"shapes": f"{a.shape} and {b.shape}", "axis": axis}
        raise ShapeError(explain("vecdot", "the axis has two sizes", **facts))
    a = a.permute((*(k for k in range(a.ndim) if k != first), first))
    b = b.permute((*(k for k in range(b.ndim) if k != second), second))
    broadcast("vecdot", a.shape, b.shape)
    terms = a * b
    return cast(sum_(terms, axis=-1), terms.dtype)


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
