"""PyTorch's counterpart of every row, and how it is called with the samples of ours."""

from __future__ import annotations

import pytest

import treadle.linalg  # noqa: F401 - its rows are in the table, too
from treadle.cli.signature import place_of
from treadle.ops.defs import TABLE
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


def indexed(name):
    """Theirs has the axis before the index."""
    return lambda x, index, values, axis=0, **options: getattr(torch, name)(
        x, axis, index, values, **options
    )


def scattered(name, *how):
    """Of more values than indices theirs has no gradient: the first are given."""

    def call(x, index, values, axis):
        return getattr(torch, name)(x, axis, index, values[tuple(map(slice, index.shape))], *how)

    return call


def reduced_at(how):
    return scattered("scatter_reduce", how)


def spread(x, index, axis):
    return [*x.shape[: axis % x.ndim], index.shape[axis], *x.shape[axis % x.ndim + 1 :]]


def written_box(x, values, ranges, stays=False):
    out = x.clone()
    out[tuple(slice(*each) for each in ranges)] = values
    return out


def normalized(x, axis=1, **options):
    if isinstance(axis, tuple):
        raise TypeError("ours goes along one axis")
    return F.normalize(x, dim=axis, **options)


def polygamma(x, n):
    if n == 1:
        raise TypeError("theirs is right to 10 digits only")
    return torch.polygamma(n, x)


def chunked(x, chunks, axis=0):
    if not x.shape[axis]:
        raise TypeError("ours has one part, theirs as many as are asked for")
    return torch.chunk(x, chunks, axis)


def repeated(x, repeats, axis=None):
    counts = torch.tensor(repeats) if isinstance(repeats, tuple) else repeats
    return torch.repeat_interleave(x, counts, axis)


def squeezed(x, axis=()):
    axes = axis if isinstance(axis, tuple) else (axis,)
    if any(x.shape[k] != 1 for k in axes):
        raise TypeError("ours drops an axis of size 1 or refuses, as the array API has it")
    return torch.squeeze(x, axes) if axes else torch.squeeze(x)


def running(name, first=None):
    def call(x, axis=None, include_initial=False):
        if axis is None and x.ndim > 1:
            raise TypeError("along which axis?")
        axis = axis or 0
        total = getattr(torch, name)(x, axis)
        total = total if isinstance(total, torch.Tensor) else total.values
        if not include_initial:
            return total
        shape = [1 if k == axis % x.ndim else n for k, n in enumerate(total.shape)]
        return torch.cat([torch.full(shape, first, dtype=total.dtype), total], axis)

    return call


def quantile(name):
    def call(x, q, axis=None, keepdims=False, interpolation="linear"):
        q = torch.tensor(q, dtype=x.dtype) if isinstance(q, tuple) else q
        return getattr(torch, name)(x, q, axis, keepdims, interpolation=interpolation)

    return call


def histogram(x, weight=None, bins=100, density=False, **ends):
    bins = torch.tensor(bins, dtype=x.dtype) if isinstance(bins, tuple) else bins
    given = {name: tuple(map(float, value)) for name, value in ends.items()}
    return torch.histogram(x, bins, weight=weight, density=density, **given)


def areas(name):
    def call(y, x=None, dx=1.0, axis=-1):
        return getattr(torch, name)(y, x, dim=axis) if x is not None else (
            getattr(torch, name)(y, dx=dx, dim=axis))  # fmt: skip

    return call


def batch_norm(x, *parts, **options):
    given = (*parts, None, None)[: max(2, len(parts))]
    return F.batch_norm(x, *given, **options, training=options.get("training", not parts))


def fractional(pool):
    def call(x, samples, kernel_size, **options):
        samples = samples if x.ndim > samples.shape[-1] + 1 else samples[None]
        return pool(x, kernel_size, _random_samples=samples, **options)

    return call


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
    "scatter_add": scattered("scatter_add"),
    "floor_divide": lambda x, y: torch.floor_divide(x.detach(), y.detach()),
    "take": taken,
    "index_select": lambda x, index, axis=0: torch.index_select(x, axis, index),
    "take_along_axis": lambda x, index, axis=-1: torch.take_along_dim(x, index, axis),
    "matrix_product": torch.matmul,
    "norm": lambda x, axis=None, keepdims=False, **order: torch.linalg.vector_norm(
        x, dim=axis, keepdim=keepdims, **order
    ),
    "float_power": torch.float_power,
    "argsort": lambda x, axis=-1, descending=False, **_: torch.argsort(
        x, dim=axis, descending=descending, stable=True
    ),
    "sort": lambda x, axis=-1, descending=False, **_: (
        torch.sort(x, dim=axis, descending=descending, stable=True).values
    ),
    "diff": lambda x, before=None, after=None, axis=-1, n=1: torch.diff(
        x, n=n, dim=axis, prepend=before, append=after
    ),
    "meshgrid": lambda xs, indexing="xy": torch.meshgrid(*xs, indexing=indexing),
    "nonzero": lambda x: torch.nonzero(x, as_tuple=True),
    "allclose": lambda x, y, **o: torch.tensor(torch.allclose(x, y, **o)),
    "adaptive_max_pool1d": lambda x, output_size: F.adaptive_max_pool1d(x, output_size),
    "instance_norm": lambda x, w=None, b=None, eps=1e-5: F.instance_norm(
        x, weight=w, bias=b, eps=eps
    ),
    "shift_left": torch.bitwise_left_shift,
    "shift_right": torch.bitwise_right_shift,
    "bitcast": lambda x, to: x.view(getattr(torch, to.name)),
    "scatter": scattered("scatter"),
    "scatter_reduce": lambda x, index, values, axis, reduce, **o: torch.scatter_reduce(
        x, axis, index, values, reduce, **o
    ),
    "scatter_mul": reduced_at("prod"),
    "scatter_max": reduced_at("amax"),
    "scatter_min": reduced_at("amin"),
    "put_along_axis": lambda x, i, values, axis=-1: torch.scatter(
        x, axis, *(t.expand(spread(x, i, axis)) for t in (i, values))
    ),
    "index_add": indexed("index_add"),
    "index_copy": indexed("index_copy"),
    "index_fill": lambda x, index, value, axis=0: torch.index_fill(x, axis, index, value),
    "index_put": lambda x, index, values, **o: torch.index_put(x, (index,), values, **o),
    "put": written_box,
    "matrix_transpose": lambda x: x.mT,
    "broadcast_arrays": lambda xs: torch.broadcast_tensors(*xs),
    "unstack": lambda x, axis=0: torch.unbind(x, axis),
    "repeat": repeated,
    "contiguous": lambda x: x.contiguous(),
    "vecdot": lambda a, b, axis=-1: torch.linalg.vecdot(a, b, dim=axis),
    "expand_as": lambda x, y: x.expand_as(y),
    "view_as": lambda x, y: x.contiguous().view_as(y),
    "cumulative_sum": running("cumsum", 0),
    "cumulative_prod": running("cumprod", 1),
    **{name: running(name) for name in ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin")},
    "squeeze": squeezed,
    "unique_counts": lambda x: torch.unique(x, return_counts=True),
    "unique_inverse": lambda x: torch.unique(x, return_inverse=True),
    "transpose": lambda x, axis0, axis1: torch.transpose(x, axis0, axis1),
    "tile": lambda x, repetitions: torch.tile(
        x, repetitions if isinstance(repetitions, tuple) else (repetitions,)
    ),
    "roll": lambda x, shift, axis=None: torch.roll(x, shift, axis),
    "split": lambda x, size, axis=0: torch.split(
        x, size if isinstance(size, int) else list(size), axis
    ),
    "chunk": chunked,
    "chain_matmul": lambda xs: torch.linalg.multi_dot(xs) if len(xs) > 1 else xs[0],
    "block_diag": lambda xs: torch.block_diag(*xs),
    "cartesian_prod": lambda xs: torch.cartesian_prod(*xs),
    "atleast_1d": lambda xs: [torch.atleast_1d(x) for x in xs],
    "atleast_2d": lambda xs: [torch.atleast_2d(x) for x in xs],
    "atleast_3d": lambda xs: [torch.atleast_3d(x) for x in xs],
    "rms_norm": lambda x, w=None, eps=None: F.rms_norm(x, x.shape[-1:], w, eps),
    "group_norm": lambda x, *parts, num_groups, eps=1e-5: F.group_norm(
        x, num_groups, *parts, eps=eps
    ),
    "polygamma": polygamma,
    "cross": lambda a, b, axis=-1: torch.linalg.cross(a, b, dim=axis),
    "cov": lambda x, f=None, a=None, correction=1: torch.cov(
        x, correction=correction, fweights=f, aweights=a
    ),
    "tensor_split": lambda x, sections, axis=0: torch.tensor_split(x, sections, axis),
    "vsplit": lambda x, sections: torch.vsplit(x, sections),
    "hsplit": lambda x, sections: torch.hsplit(x, sections),
    "dsplit": lambda x, sections: torch.dsplit(x, sections),
    "tril": lambda x, k=0: torch.tril(x, k),
    "triu": lambda x, k=0: torch.triu(x, k),
    "diag": lambda x, k=0: torch.diag(x, k),
    "trace": lambda x, offset=0, axis1=0, axis2=1: torch.diagonal(x, offset, axis1, axis2).sum(-1),
    "rot90": lambda x, k=1, axes=(0, 1): torch.rot90(x, k, axes),
    "tensordot": lambda a, b, axes=2: torch.tensordot(a, b, axes),
    "dot": lambda a, b: torch.tensordot(a, b, ([-1], [-min(b.ndim, 2)])),
    "flatten": lambda x, start=0, end=-1: torch.flatten(x, start, end),
    "unsqueeze": lambda x, axis=0: torch.unsqueeze(x, axis),
    "quantile": quantile("quantile"),
    "nanquantile": quantile("nanquantile"),
    "histogram": histogram,
    "bucketize": torch.bucketize,
    "aminmax": lambda x, axis=None, keepdims=False: torch.aminmax(x, dim=axis, keepdim=keepdims),
    "nansum": lambda x, axis=None, keepdims=False: torch.nansum(x, axis, keepdims),
    "nanmean": lambda x, axis=None, keepdims=False: torch.nanmean(x, axis, keepdims),
    "var_mean": lambda x, axis=None, keepdims=False, correction=1: torch.var_mean(
        x, axis, keepdim=keepdims, correction=correction
    ),
    "std_mean": lambda x, axis=None, keepdims=False, correction=1: torch.std_mean(
        x, axis, keepdim=keepdims, correction=correction
    ),
    "mode": lambda x, axis=-1, keepdims=False: torch.mode(x, axis, keepdims).values,
    "kthvalue": lambda x, k, axis=-1, keepdims=False: torch.kthvalue(x, k, axis, keepdims).values,
    "unfold": lambda x, axis=-1, size=1, step=1: x.unfold(axis, size, step),
    "normalize": normalized,
    "unique_consecutive": lambda x, axis=None, **o: torch.unique_consecutive(x, dim=axis, **o),
    "trapezoid": areas("trapezoid"),
    "cumulative_trapezoid": areas("cumulative_trapezoid"),
    "count_nonzero": lambda x, axis=None, keepdims=False: (
        torch.count_nonzero(x, axis) if not keepdims else (x != 0).sum(axis, keepdim=True)
    ),
    "bincount": lambda x, weights=None, length=0: torch.bincount(x, weights, length),
    "batch_norm": batch_norm,
    "fractional_max_pool2d": fractional(F.fractional_max_pool2d),
    "fractional_max_pool3d": fractional(F.fractional_max_pool3d),
    "combinations": torch.combinations,
}
NOT_THE_SAME = {
    # ours: why the values of the PyTorch function of that name are others
    "pad": "theirs counts edges from the last axis",
    "median": "theirs is the lower of the two in the middle",
    "nanmedian": "the same",
    "fold": "of columns; nn.functional has it",
    "windows": "a folder of theirs",
    "dequantize": "of their quantised tensors",
    "lstsq": "theirs leaves out residuals and singular values, by its driver",
    "fft": "a folder of theirs: its transforms are td.fft",
}


def their_function(name):
    if name in NOT_THE_SAME:
        return None
    if place_of(TABLE[name])[0].startswith("treadle.ops.linalg."):
        return getattr(torch.linalg, name, None)
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
