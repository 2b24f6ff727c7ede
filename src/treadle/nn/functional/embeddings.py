"""Rows of a table looked up by number, alone or added up in bags."""

from __future__ import annotations

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.tensor.creation import arange, full, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A last axis of 0 with a 1 at each index; -1 classes: as many as the largest needs."""
    return f.one_hot(tensor, num_classes)


def _shorten(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Assign weight anew, with the rows that are looked up no longer than max_norm."""
    with no_grad():
        seen = _frequency(index, weight.shape[0], "float32") > 0
        length = f.norm(weight, norm_type, axis=-1)
        scale = f.where(seen & (length > max_norm), max_norm / (length + 1e-7), 1.0)
        weight.assign((weight * scale.unsqueeze(-1)).astype(weight.dtype))


def _frequency(index: Tensor, rows: int, dtype: object) -> Tensor:
    """How often each row is looked up."""
    flat = index.reshape(-1)
    none = zeros(rows, dtype=dtype, device=index.device)
    return f.scatter_add(none, flat, flat.full_like(1, dtype=dtype), 0)


def _looked_up(
    what: str, index: Tensor, weight: Tensor, max_norm: float | None, norm_type: float,
    by_frequency: bool,
) -> Tensor:  # fmt: skip
    """Rows at indices; by_frequency: gradients are over how often a row occurs."""
    if weight.ndim != 2:
        raise ShapeError(explain(what, "weight is (rows, width)", weight=weight.shape))
    if max_norm is not None:
        _shorten(weight, index, max_norm, norm_type)
    rows = f.take(weight, index, 0)
    if not by_frequency:
        return rows
    count = f.take(_frequency(index, weight.shape[0], weight.dtype), index, 0).unsqueeze(-1)
    fixed = rows.detach()
    return fixed + (rows - fixed) / count


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of weight at the indices input; no gradient flows to row padding_idx.

    - **max_norm**: rows that are looked up and longer are shortened to it first, in weight itself
    - **scale_grad_by_freq**: a row's gradient is divided by how often it occurs in input
    - **sparse**: means nothing, gradients are whole tensors
    """
    rows = _looked_up("embedding", input, weight, max_norm, norm_type, scale_grad_by_freq)
    if padding_idx is None:
        return rows
    padding = (input == axis_in("embedding", padding_idx, weight.shape[0])).unsqueeze(-1)
    return f.where(padding, rows.detach(), rows)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The "sum", "mean" or "max" of the rows of each bag; a bag of none gives 0.

    Each row of a 2-d input is a bag; in a 1-d one they start at offsets, of which the last is the
    end of the last bag with include_last_offset. Entries of padding_idx do not count.
    per_sample_weights scale the rows of a sum. The others are those of `embedding`.
    """
    _require_bags(input, offsets, mode, per_sample_weights)
    rows = _looked_up("embedding_bag", input, weight, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    counted = None
    if padding_idx is not None:
        counted = input != axis_in("embedding_bag", padding_idx, weight.shape[0])
        rows = f.where(counted.unsqueeze(-1), rows, -float("inf") if mode == "max" else 0.0)
    ones = input.full_like(1, dtype=weight.dtype)
    ones = ones if counted is None else f.where(counted, ones, 0.0)
    if offsets is None:
        count = ones.sum(1)
        empty = not input.shape[1]
        total = rows.sum(1) if mode != "max" or empty else f.max(rows, 1)
    else:
        bags = offsets.shape[0] - include_last_offset
        places = arange(input.shape[0], device=input.device)
        bag = f.searchsorted(offsets, places.astype(offsets.dtype), side="right") - 1
        count = f.scatter_add(zeros(bags, dtype=weight.dtype, device=input.device), bag, ones, 0)
        total = _of_bags(rows, bag, bags, mode)
    count = count.unsqueeze(-1)
    if mode == "mean":
        return total / f.maximum(count, 1.0)
    return total if mode == "sum" else f.where(count == 0, 0.0, total)


def _of_bags(rows: Tensor, bag: Tensor, bags: int, mode: str) -> Tensor:
    """Rows that share a bag as their sum or their maximum."""
    shape = (bags, rows.shape[-1])
    wide = bag.unsqueeze(-1).expand(rows.shape)
    if mode != "max":
        return f.scatter_add(zeros(shape, dtype=rows.dtype, device=rows.device), wide, rows, 0)
    least = full(shape, -float("inf"), dtype=rows.dtype, device=rows.device)
    return f.scatter_max(least, wide, rows, 0)


def _require_bags(input: Tensor, offsets: Tensor | None, mode: str, weights: Tensor | None) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ArgumentError(explain("embedding_bag", "mode is sum, mean or max", got=repr(mode)))
    if input.ndim not in (1, 2) or (input.ndim == 1) != (offsets is not None):
        hint = "a 1-d input with offsets, or a 2-d one without"
        raise ShapeError(explain("embedding_bag", "which bags?", hint, shape=input.shape))
    if offsets is not None and offsets.ndim != 1:
        raise ShapeError(explain("embedding_bag", "offsets have one axis", got=offsets.shape))
    if weights is None:
        return
    if mode != "sum":
        raise ArgumentError(explain("embedding_bag", "per_sample_weights are for sums", mode=mode))
    if weights.shape != input.shape:
        facts = {"input": input.shape, "per_sample_weights": weights.shape}
        raise ShapeError(explain("embedding_bag", "one weight for each index", **facts))
