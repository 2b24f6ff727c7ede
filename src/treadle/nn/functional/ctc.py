"""The loss of sequences without an alignment: connectionist temporal classification."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.nn.functional.reduction import reduced, require_reduction
from treadle.tensor.creation import arange, full, tensor
from treadle.tensor.tensor import Tensor

NEVER = -1e30  # the logarithm of no chance, as a number: differences of it are no NaN
Lengths = Tensor | Sequence[int]


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths,
    blank: int = 0, reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Less the logarithm of the chance that log_probs spell the targets, blanks left out.

    log_probs is (T, N, C) or (T, C), of log_softmax; targets (N, S), or all one after the other.
    A mean is over the batch, of losses over the lengths of their targets.

    - **zero_infinity**: losses of targets that are too long become 0 instead of infinite

    The gradient is that of log_probs themselves; PyTorch's is that of what log_softmax was given.
    Below log_softmax they are the same. Inside `td.compile`, lengths of targets that stand one
    after the other are given as ints.
    """
    require_reduction("ctc_loss", reduction)
    single = log_probs.ndim == 2
    if single:
        log_probs, targets = log_probs.unsqueeze(1), targets.reshape((1, -1))
    if log_probs.ndim != 3 or not log_probs.shape[0] or not 0 <= blank < log_probs.shape[2]:
        hint = "log_probs is (T, N, C) or (T, C), and blank one of the C classes"
        facts = {"log_probs": log_probs.shape, "blank": blank}
        raise ShapeError(explain("ctc_loss", "cannot", hint, **facts))
    narrow, log_probs = log_probs.dtype, log_probs.astype(log_probs.dtype.compute)
    steps = _lengths("input_lengths", input_lengths, log_probs, log_probs.shape[0])
    counts = _lengths("target_lengths", target_lengths, log_probs, None)
    labels = _padded(targets, target_lengths, counts, log_probs.shape[1])
    losses = _losses(
        log_probs, f.where(_before(labels, counts), labels, blank), steps, counts, blank
    )
    if zero_infinity:
        losses = f.where(losses == math.inf, 0.0, losses)
    if reduction == "mean":
        losses = losses / f.maximum(counts, 1).astype(losses.dtype)
    found = reduced("ctc_loss", losses, reduction).astype(narrow)
    return found.squeeze(0) if single and reduction == "none" else found


def _lengths(name: str, lengths: Lengths | int, like: Tensor, most: int | None) -> Tensor:
    """A length for each sequence of the batch, as int64."""
    batch = like.shape[1]
    if not isinstance(lengths, Tensor):
        given = [lengths] if isinstance(lengths, int) else list(lengths)
        if any(n < 0 or (most is not None and n > most) for n in given):
            hint = "not negative" if most is None else f"from 0 to {most}, the time there is"
            raise ArgumentError(explain("ctc_loss", f"{name} are {hint}", got=given))
        lengths = tensor(given, dtype="int64", device=like.device)
    if lengths.size != batch:
        facts = {name: lengths.shape, "batch": batch}
        raise ShapeError(explain("ctc_loss", "one length for each sequence", **facts))
    return lengths.reshape(-1).astype("int64")


def _padded(targets: Tensor, lengths: Lengths, counts: Tensor, batch: int) -> Tensor:
    """Targets as (N, S)."""
    if targets.ndim == 2 and targets.shape[0] == batch:
        return targets.astype("int64")
    if targets.ndim != 1:
        hint = f"targets are ({batch}, S), or one after the other"
        raise ShapeError(explain("ctc_loss", "targets do not fit", hint, shape=targets.shape))
    longest = max([int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)])
    start = f.cumsum(counts, 0) - counts
    place = start.unsqueeze(-1) + arange(longest, device=targets.device)
    if not targets.shape[0]:
        return place
    return f.take(targets.astype("int64"), f.clip(place, max=targets.shape[0] - 1), 0)


def _before(labels: Tensor, counts: Tensor) -> Tensor:
    """Which labels count."""
    return labels.iota_like(1) < counts.unsqueeze(-1)


def _losses(log_probs: Tensor, labels: Tensor, steps: Tensor, counts: Tensor, blank: int) -> Tensor:
    """A loss for each sequence: chances of every prefix, time step by time step.

    States are the labels with blanks around them: 2 S + 1 of them.
    """
    time, batch, _ = log_probs.shape
    blanks = labels.full_like(blank)
    spread = f.stack([blanks, labels], -1).reshape((batch, 2 * labels.shape[1]))
    edge = full((batch, 1), blank, dtype="int64", device=labels.device)
    states = f.concat([spread, edge], 1)
    size = states.shape[1]
    wide = states.unsqueeze(0).expand((time, batch, size))
    emitted = f.maximum(f.gather(log_probs, wide, 2), NEVER)
    number = states.iota_like(1)
    first = (number == 0) | ((number == 1) & (counts.unsqueeze(-1) > 0))
    earlier = _shifted(states, 2, -1)
    skips = (number % 2 == 1) & (earlier != -1) & (states != earlier)
    chances = f.where(first, emitted[0], NEVER)
    for t in range(1, time):
        jumped = f.where(skips, _shifted(chances, 2, NEVER), NEVER)
        new = _joined(chances, _shifted(chances, 1, NEVER), jumped) + emitted[t]
        chances = f.where((steps > t).unsqueeze(-1), new, chances)
    last = f.gather(chances, (2 * counts).unsqueeze(-1), 1)
    other = f.gather(chances, f.maximum(2 * counts - 1, 0).unsqueeze(-1), 1)
    other = f.where(counts.unsqueeze(-1) > 0, other, NEVER)
    losses = -_joined(last, other).squeeze(1)
    losses = f.where(losses > -NEVER / 10, math.inf, losses)
    return f.where(steps == 0, f.where(counts == 0, 0.0, math.inf), losses)


def _shifted(x: Tensor, by: int, value: float) -> Tensor:
    """Rows moved on by some places; value comes in."""
    size = x.shape[1]
    return f.pad(x, [(0, 0), (by, 0)], value)[:, :size]


def _joined(*chances: Tensor) -> Tensor:
    """The logarithm of a sum of chances, from their logarithms."""
    top = chances[0].detach()
    for x in chances[1:]:
        top = f.maximum(top, x.detach())
    total = f.exp(chances[0] - top)
    for x in chances[1:]:
        total = total + f.exp(x - top)
    return f.log(total) + top
