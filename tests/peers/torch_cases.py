"""Calls for Treadle and PyTorch to compute: samples of the rows, and grids of shapes and axes.

A call that PyTorch has no form for (a dtype, an empty reduction, several axes) is left out here, by
asking it: what is in CASES is compared.
"""

from __future__ import annotations

import inspect
import warnings
import zlib
from itertools import combinations, islice

import numpy as np
from torch_rows import ROWS, theirs_of, torch

from treadle.base.dtypes import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)  # fmt: skip
from treadle.base.errors import ShapeError
from treadle.testing.samples import case_of, cases, takes

KINDS = (
    float64, float32, int64, bool_, float16, bfloat16, int32, uint8, int8, int16, complex128,
    complex64,
)  # fmt: skip
MOST = {
    float64: 26,
    float32: 7,
    int64: 5,
    bool_: 2,
    complex128: 4,
}  # calls of a row by dtype, else FEW
FEW = 1
REFUSED = (RuntimeError, TypeError, IndexError, NotImplementedError, ValueError)
SHAPES = ((7,), (1,), (3, 4), (1, 5), (2, 3, 4), (3, 1, 2), (2, 2, 3, 2), (), (0, 3), (4, 0))


def options_of(op):
    """Names of the arguments of a row."""
    source = op.define or op.arguments
    return list(inspect.signature(source).parameters) if source else []


def axes_of(rank):
    """No axis named, each of them from either end, each two."""
    yield from ({}, *({"axis": k} for k in range(-rank, rank)))
    yield from ({"axis": pair} for pair in combinations(range(rank), 2))


NEEDED = {
    "quantile": {"q": 0.3}, "nanquantile": {"q": (0.2, 0.9)}, "kthvalue": {"k": 1},
    "topk": {"k": 1}, "roll": {"shift": 2}, "repeat": {"repeats": 2}, "chunk": {"chunks": 2},
    "split": {"size": 2}, "tensor_split": {"sections": 3}, "narrow": {"start": 0, "length": 1},
    "select": {"index": 0}, "renorm": {"p": 2.0, "maxnorm": 1.0},
}  # fmt: skip
"""Options without which a row that goes along an axis cannot be called."""


def grid(op):
    """Samples of a row of one operand along axes: shapes, axes, with and without keepdims."""
    names = options_of(op)
    plain = not op.samples.listed and not op.samples.roles and not op.samples.lead
    if "axis" not in names or len(op.operands) > 1 or not plain:
        return
    needed = NEEDED.get(op.name, {})
    known = {*needed, "axis", "keepdims"}
    required = [
        p.name for p in inspect.signature(op.define or op.arguments).parameters.values()
        if p.default is p.empty and p.name not in known
    ]  # fmt: skip
    if len(required) > 1:  # more than the operand
        return
    for shape in SHAPES:
        if not shape and op.name in ("argsort", "sort", "topk", "unfold"):
            continue  # ours refuses an axis of a tensor that has none
        for axis in axes_of(len(shape)):
            for kept in ({}, {"keepdims": True}) if "keepdims" in names else ({},):
                yield (shape, needed | axis | kept)


def drawn(op, kind, rng):
    """Calls of a row in a dtype: its own samples, then the grid in an order that mixes it."""
    yield from cases(op, kind, rng)
    samples = list(grid(op))
    for k in np.random.default_rng(0).permutation(len(samples)):
        try:
            yield case_of(op, kind, rng, samples[k])
        except (ValueError, IndexError):  # the row's own draw has no such shape
            continue


def tensors_of(case):
    return [as_theirs(x) for x in case.operands]


def as_theirs(x):
    if x.dtype.name == "bfloat16":
        return torch.tensor(x.astype(np.float32)).to(torch.bfloat16)
    return torch.tensor(x)


def answered(case):
    """Has PyTorch such a form, with a result to compare?"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = theirs_of(case, tensors_of(case))
    except REFUSED:
        return False
    return bool(found) and all(isinstance(x, torch.Tensor) for x in found)


def taken(op, kind):
    """May operands of the samples have a dtype? Real samples need not fit complex numbers."""
    try:
        return takes(op, kind)
    except ShapeError:
        return False


def _all():
    for name, op in ROWS.items():
        for kind in KINDS:
            if taken(op, kind):
                rng = np.random.default_rng(zlib.crc32(f"{name}{kind.name}".encode()))
                chosen = filter(answered, drawn(op, kind, rng))
                for k, case in enumerate(islice(chosen, MOST.get(kind, FEW))):
                    yield f"{name}-{kind.name}-{k}", kind, case


CASES = list(_all())
