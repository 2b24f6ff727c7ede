"""PyTorch's counterpart of every row, and how it is called with the samples of ours."""

from __future__ import annotations

import pytest

from treadle.testing.samples import public_rows

torch = pytest.importorskip("torch")
F = torch.nn.functional

RENAMED = {"axis": "dim", "keepdims": "keepdim", "axis1": "dim1", "axis2": "dim2"}


def flipped(x, axis=None):
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return torch.flip(x, tuple(axes))


def over_axes(name, **fixed):
    """A reduction that PyTorch takes over one axis at a time, or not over none."""

    def call(x, axis=None, keepdims=False):
        axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
        axes = sorted((a % max(x.ndim, 1) for a in axes), reverse=True)
        for a in axes:
            x = getattr(torch, name)(x, dim=a, keepdim=keepdims, **fixed)
            x = x if isinstance(x, torch.Tensor) else x[0]
        return x if axes else getattr(torch, name)(x)

    return call


def variance(name):
    def call(x, axis=None, keepdims=False, correction=0):
        dim = tuple(range(x.ndim)) if axis is None else axis
        return getattr(torch, name)(x, dim=dim, keepdim=keepdims, correction=correction)

    return call


def extreme_index(name):
    def call(x, axis=None, keepdims=False):
        return getattr(torch, name)(x, dim=axis, keepdim=keepdims)

    return call


def attention(q, k, v, mask=None, is_causal=False, scale=None):
    grouped = q.ndim > 3 and q.shape[-3] != k.shape[-3]
    return F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=is_causal, scale=scale, enable_gqa=grouped
    )


def taken(x, index, axis=None):
    if axis is None:
        return torch.take(x, index)
    rows = torch.index_select(x, axis, index.reshape(-1))
    return rows.reshape((*x.shape[: axis % x.ndim], *index.shape, *x.shape[axis % x.ndim + 1 :]))


THEIRS = {
    # ours: theirs, where the name or the way to call it differs
    "cast": lambda x, to: x.to(getattr(torch, to.name)),
    "detach": lambda x: x.detach(),
    "concat": lambda xs, axis=0: torch.cat(xs, axis),
    "flip": flipped,
    "slice": lambda x, ranges: x[tuple(slice(*r) for r in ranges)],
    "reshape": lambda x, *shape: x.reshape(*shape),
    "permute": lambda x, *axes: x.permute(*axes),
    "expand": lambda x, *shape: x.expand(*shape),
    "sum": lambda x, axis=None, keepdims=False: x.sum(dim=axis, keepdim=keepdims),
    "prod": over_axes("prod"),
    "max": lambda x, axis=None, keepdims=False: torch.amax(
        x, dim=tuple(range(x.ndim)) if axis is None else axis, keepdim=keepdims
    ),
    "min": lambda x, axis=None, keepdims=False: torch.amin(
        x, dim=tuple(range(x.ndim)) if axis is None else axis, keepdim=keepdims
    ),
    "mean": lambda x, axis=None, keepdims=False: torch.mean(
        x, dim=tuple(range(x.ndim)) if axis is None else axis, keepdim=keepdims
    ),
    "any": over_axes("any"),
    "all": over_axes("all"),
    "var": variance("var"),
    "std": variance("std"),
    "argmax": extreme_index("argmax"),
    "argmin": extreme_index("argmin"),
    "logsumexp": lambda x, axis=None, keepdims=False: torch.logsumexp(
        x, dim=tuple(range(x.ndim)) if axis is None else axis, keepdim=keepdims
    ),
    "softmax": lambda x, axis=-1: torch.softmax(x, axis),
    "log_softmax": lambda x, axis=-1: torch.log_softmax(x, axis),
    "layer_norm": lambda x, w=None, b=None, eps=1e-5: F.layer_norm(x, x.shape[-1:], w, b, eps),
    "cross_entropy": lambda x, y: F.cross_entropy(x.reshape(-1, x.shape[-1]), y.reshape(-1)),
    "scaled_dot_product_attention": attention,
    "gather": lambda x, index, axis: torch.gather(x, axis, index),
    "scatter_add": lambda x, index, values, axis: torch.scatter_add(x, axis, index, values),
    "take": taken,
    "index_select": lambda x, index, axis=0: torch.index_select(x, axis, index),
    "take_along_axis": lambda x, index, axis=-1: torch.take_along_dim(x, index, axis),
    "matrix_product": torch.matmul,
    "norm": lambda x, axis=None, keepdims=False, **order: torch.linalg.vector_norm(
        x, dim=axis, keepdim=keepdims, **order
    ),
    "float_power": torch.pow,
    "argsort": lambda x, axis=-1, descending=False, **_: torch.argsort(
        x, dim=axis, descending=descending, stable=True
    ),
    "sort": lambda x, axis=-1, descending=False, **_: (
        torch.sort(x, dim=axis, descending=descending, stable=True).values
    ),
    "diff": lambda x, before=None, after=None, axis=-1, n=1: torch.diff(
        x, n=n, dim=axis, prepend=before, append=after
    ),
    "cummax": lambda x, axis=-1: torch.cummax(x, axis).values,
    "cummin": lambda x, axis=-1: torch.cummin(x, axis).values,
    "meshgrid": lambda xs, indexing="xy": torch.meshgrid(*xs, indexing=indexing),
    "nonzero": lambda x: torch.nonzero(x, as_tuple=True),
    "allclose": lambda x, y, **o: torch.tensor(torch.allclose(x, y, **o)),
    "adaptive_max_pool1d": lambda x, output_size: F.adaptive_max_pool1d(x, output_size),
    "instance_norm": lambda x, w=None, b=None, eps=1e-5: F.instance_norm(
        x, weight=w, bias=b, eps=eps
    ),
    "shift_left": torch.bitwise_left_shift,
    "shift_right": torch.bitwise_right_shift,
}
NOT_THE_SAME = {
    # ours: why the values of the PyTorch function of that name are others
    "pad": "theirs counts edges from the last axis",
    "median": "theirs is the lower of the two in the middle",
    "repeat": "ours repeats elements, as in the array API",
}


def their_function(name):
    if name in NOT_THE_SAME:
        return None
    if name in THEIRS:
        return THEIRS[name]
    for place in (F, torch, torch.special):
        if hasattr(place, name):
            return getattr(place, name)
    return None


ROWS = {name: op for name, op in public_rows().items() if their_function(name) is not None}


def options_for(name, options):
    """Options under the names PyTorch has for them."""
    if name in THEIRS:
        return dict(options)
    return {RENAMED.get(key, key): value for key, value in options.items()}


def theirs_of(case, tensors):
    op, options = case.op, options_for(case.op.name, case.options)
    first = (options.pop(op.samples.lead),) if op.samples.lead else ()
    passed = (list(tensors),) if op.samples.listed else tensors
    found = their_function(op.name)(*first, *passed, *case.arguments, **options)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def listed(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]
