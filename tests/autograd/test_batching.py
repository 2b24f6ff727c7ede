"""Every row mapped over samples, against a loop: any of its operands batched, along any axis."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import float64, int64, uint32
from treadle.base.errors import ArgumentError
from treadle.ops.defs import Kind
from treadle.testing.samples import REFERENCE, cases, public_rows, takes

ROWS = public_rows()
READ = [
    "argwhere", "masked_select", "nonzero", "unique", "unique_all", "unique_counts",
    "unique_consecutive", "unique_inverse",
]  # fmt: skip
"""Rows whose result has a size that depends on values: no two samples need be alike."""
SAMPLES = 2
FIRST = 4  # calls of a row with any of its operands batched; the others with all of them
LARGEST = 2000  # elements of the operands: the rest is as good with few


def tensors(arrays):
    return [td.tensor(x, device=REFERENCE) for x in arrays]


def kind_of(op):
    return next(kind for kind in (float64, int64, uint32) if takes(op, kind))


def parallel(op, rng):
    """Calls of a row, each with as many draws of its operands as there are samples."""
    kind = kind_of(op)
    step = 1 if op.samples.cases else 2  # elementwise: every second shape will do
    groups = zip(*(cases(op, kind, rng) for _ in range(SAMPLES)), strict=True)
    for group in itertools.islice(groups, 0, None, step):
        if sum(x.size for x in group[0].operands) <= LARGEST:
            yield group


def subsets(count):
    """Which operands are batched: each alone, all, and some of several."""
    found = [c for n in range(1, count + 1) for c in itertools.combinations(range(count), n)]
    return found if len(found) <= 7 else [*found[:count], found[-1], found[count]]


def leaves(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def looped(group, chosen):
    """What every sample gives, and all of it together."""
    parts = []
    for case in group:
        own = zip(case.operands, group[0].operands, strict=True)
        operands = [mine if k in chosen else first for k, (mine, first) in enumerate(own)]
        parts.append([x.numpy() for x in leaves(case.record(tensors(operands)))])
    return [np.stack(each) for each in zip(*parts, strict=True)]


def batched(group, chosen, axes, f):
    """The operands of a batch, and their axes."""
    operands, taken = [], []
    for k, x in enumerate(group[0].operands):
        axis = axes(k, x.ndim + 1) if k in chosen else None
        taken.append(axis)
        operands.append(x if axis is None else np.stack([c.operands[k] for c in group], axis))
    return td.vmap(f, in_axes=tuple(taken))(*tensors(operands))


@pytest.mark.parametrize("name", [name for name in ROWS if name not in (*READ, "rerouted")])
def test_a_row_of_a_batch_is_the_row_of_every_sample(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    checked = 0
    for number, group in enumerate(parallel(ROWS[name], rng)):
        count = len(group[0].operands)
        for chosen in subsets(count) if number < FIRST else [tuple(range(count))]:
            place = number + sum(chosen)
            found = batched(
                group, chosen, lambda k, rank, place=place: (place + k) % rank,
                lambda *xs, group=group: group[0].record(xs),
            )  # fmt: skip
            for mine, wanted in zip(leaves(found), looped(group, chosen), strict=True):
                assert mine.numpy().dtype == wanted.dtype
                np.testing.assert_allclose(
                    mine.numpy(), wanted, rtol=1e-11, atol=1e-13, err_msg=f"{group[0]} {chosen}"
                )
            checked += 1
    assert checked


@pytest.mark.parametrize("name", READ)
def test_rows_that_read_values_say_so(name):
    case = next(c for c in cases(ROWS[name], kind_of(ROWS[name]), np.random.default_rng(0)))
    xs = [np.stack([x, x]) for x in case.operands]
    with pytest.raises(ArgumentError, match="sample to sample"):
        td.vmap(lambda *xs: case.record(xs))(*tensors(xs))


# ---- gradients


def has_gradient(op):
    passes = op.grad is not None or op.kind is not Kind.ROUTINE
    return passes and not isinstance(op.grad, str) and takes(op, float64)


SMOOTH = [name for name, op in ROWS.items() if has_gradient(op) and name not in (*READ, "rerouted")]


def total(case, xs):
    """A number to differentiate: every element of the results with a weight of its own."""
    parts = [x for x in leaves(case.record(xs)) if x.dtype.is_inexact]
    parts = [td.view_as_real(x) if x.dtype.is_complex else x for x in parts]
    flat = td.concat([x.reshape(-1) for x in parts])
    weights = td.arange(flat.shape[0], device=REFERENCE).cast(flat.dtype)
    return (flat * td.cos(weights)).sum()


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_a_batch_are_those_of_every_sample(name):
    """vmap(grad) and grad(vmap), by what is batched and by what is shared."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    groups = [g for g in parallel(ROWS[name], rng) if sum(x.size for x in g[0].operands) > 1]
    groups.sort(key=lambda g: sum(x.size for x in g[0].operands))
    for group in groups[1:3] or groups:
        count = len(group[0].operands)
        floats = [k for k, x in enumerate(group[0].operands) if x.dtype == np.float64]
        for chosen in {tuple(range(count)), (0,), (count - 1,)}:
            operands = [
                np.stack([c.operands[k] for c in group]) if k in chosen else group[0].operands[k]
                for k in range(count)
            ]
            axes = tuple(0 if k in chosen else None for k in range(count))
            slope = td.grad(lambda *xs, case=group[0]: total(case, xs), floats)
            wanted = [slope(*tensors(_sample(operands, chosen, n))) for n in range(SAMPLES)]
            wanted = [np.stack([x.numpy() for x in each]) for each in zip(*wanted, strict=True)]
            inside = td.vmap(slope, in_axes=axes)(*tensors(operands))

            def summed(*xs, case=group[0], axes=axes):
                return td.vmap(lambda *xs: total(case, xs), in_axes=axes)(*xs).sum()

            outside = td.grad(summed, floats)(*tensors(operands))
            for k, mine, other, each in zip(floats, inside, outside, wanted, strict=True):
                said = f"{group[0]} {chosen} {k}"
                np.testing.assert_allclose(mine.numpy(), each, 1e-9, 1e-11, err_msg=said)
                each = each if k in chosen else each.sum(0)
                np.testing.assert_allclose(other.numpy(), each, 1e-9, 1e-11, err_msg=said)


def _sample(operands, chosen, n):
    return [x[n] if k in chosen else x for k, x in enumerate(operands)]
