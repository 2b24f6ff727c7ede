"""Sums of products by labels of axes: einsum, and the order in which it pairs operands.

Axes carry labels; two operands at a time become one matrix product, batched over shared labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

from treadle.base.errors import ArgumentError, OperandError, ShapeError, explain
from treadle.ops.composite import composite
from treadle.ops.contract import matrix_product
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast
from treadle.ops.reduce import sum_
from treadle.ops.rules import summed_in
from treadle.ops.shaping import diagonal

Labels = tuple[str, ...]
Labelled = tuple[Any, Labels]
MOST_EXACT = 6  # operands: with more, every order would take too long to look at


# ---- one and two labelled operands


def ordered(x: Any, labels: Labels, wanted: Iterable[str]) -> Any:
    """x with its axes in the order wanted."""
    axes = tuple([labels.index(label) for label in wanted])
    return x if axes == tuple(range(x.ndim)) else x.permute(axes)


def _summed(x: Any, labels: Labels, keep: Iterable[str]) -> Labelled:
    """x summed over the labels that nobody wants."""
    axes = tuple([k for k, label in enumerate(labels) if label not in keep])
    if not axes:
        return x, labels
    total = cast(sum_(x, axis=axes), summed_in([x.dtype]))
    return total, tuple([label for label in labels if label in keep])


def _diagonal(x: Any, labels: Labels) -> Labelled:
    """x with axes of equal labels joined: the elements whose indices there are equal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            x = diagonal(x, 0, i, j)
            labels = (*(other for k, other in enumerate(labels) if k not in (i, j)), label)
    return x, labels


def contracted(left: Labelled, right: Labelled, keep: frozenset[str], last: str) -> Labelled:
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
    a, b = ordered(a, la, (*batch, *rows, *inner)), ordered(b, lb, (*batch, *inner, *columns))
    if not inner:
        lead = a.shape[: len(batch)]
        wide = cast(a.reshape((*a.shape, *(1,) * len(columns))), summed_in([a.dtype, b.dtype]))
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
    left: list[tuple[Any, frozenset[str]]] = [(k, frozenset(term)) for k, term in enumerate(labels)]
    while len(left) > 1:
        i, j = min(
            combinations(range(len(left)), 2),
            key=lambda ij: prod(size[label] for label in left[ij[0]][1] | left[ij[1]][1]),
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
                    cost = prod(size[label] for label in kept(one) | kept(two))
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
        return contracted(a, b, wanted, output[-1] if output else "")

    return walk(path, frozenset(output))


def _labels_of(part: Any, operands: Sequence[Labelled]) -> frozenset[str]:
    if isinstance(part, int):
        return frozenset(operands[part][1])
    return _labels_of(part[0], operands) | _labels_of(part[1], operands)


# ---- the notation


def _wrong(subscripts: str, wrong: str, hint: str = "", /, **facts: object) -> ArgumentError:
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
    hidden = sorted({x for x in seen if x.startswith(".")}, key=lambda x: -int(x[1:]))
    if given is None:
        once = sorted(x for x in set(seen) if seen.count(x) == 1 and not x.startswith("."))
        return (*hidden, *once)
    parts = _labels(subscripts, given, None)
    labels = tuple([x for part in parts for x in (hidden if part == "..." else [part])])
    unknown = [label for label in labels if label not in seen]
    if unknown or len(set(labels)) < len(labels):
        hint = "the result names labels of the operands, each once"
        raise _wrong(subscripts, "bad result", hint)
    return labels


def _sizes(subscripts: str, operands: Sequence[Labelled]) -> dict[str, int]:
    """The size of every label; axes of size 1 are spread."""
    found: dict[str, int] = {}
    for x, labels in operands:
        own: dict[str, int] = {}
        for n, label in zip(x.shape, labels, strict=True):
            before = found.get(label, n)
            if own.setdefault(label, n) != n or (n != before and 1 not in (n, before)):
                shapes = " and ".join(str(y.shape) for y, _ in operands)
                wrong = f"label {label!r} has two sizes"
                facts = {"sizes": f"{before} and {n}", "shapes": shapes}
                text = explain("einsum", wrong, "", subscripts=repr(subscripts), **facts)
                raise ShapeError(text)
            found[label] = before if n == 1 else n
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
    kinds = [x.dtype for x in operands]
    if len(set(kinds)) > 1:  # what pairs of them add up in must not depend on the order
        operands = tuple([cast(x, summed_in(kinds)) for x in operands])
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
    return ordered(x, labels, output)
