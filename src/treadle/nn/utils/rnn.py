"""Sequences of several lengths: padded to one, or packed without the padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import pad, stack, take, where
from treadle.tensor.creation import full, tensor
from treadle.tensor.tensor import Tensor

__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

Lengths = Tensor | Sequence[int]


class PackedSequence(NamedTuple):
    """Steps of several sequences, the longest first, one step of all of them after the other.

    - **data**: (all steps, ...)
    - **batch_sizes**: how many sequences there are at each step
    - **sorted_indices**, **unsorted_indices**: the order by length and back, if it was changed

    Lengths decide shapes, so they are known numbers: a compiled function takes them as a list.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *where: Any) -> PackedSequence:
        """The steps in another dtype or on another device."""
        return self._replace(data=self.data.to(*where))

    @property
    def is_cuda(self) -> bool:
        """Are the steps on a GPU?"""
        return str(self.data.device).startswith("cuda")


def lengths_of(what: str, lengths: Lengths, batch: int) -> list[int]:
    """The lengths as numbers, one for each sequence."""
    known = lengths.tolist() if isinstance(lengths, Tensor) else [int(n) for n in lengths]
    if len(known) != batch or any(n <= 0 for n in known):
        facts = {"lengths": known, "batch": batch}
        raise ArgumentError(explain(what, "a length above 0 for each sequence", **facts))
    return known


def sizes_of(packed: PackedSequence) -> list[int]:
    """How many sequences there are at each step, as numbers."""
    found: list[int] = packed.batch_sizes.tolist()
    return found


def lengths_in(sizes: Sequence[int]) -> list[int]:
    """The length of each sequence, the longest first."""
    return [sum(n > k for n in sizes) for k in range(sizes[0] if sizes else 0)]


def unpacked(packed: PackedSequence) -> Tensor:
    """(steps, batch, ...) in the order by length; after its end a sequence's last step stands."""
    sizes = sizes_of(packed)
    starts = [sum(sizes[:t]) for t in range(len(sizes))]
    lengths = lengths_in(sizes)
    rows = [
        [starts[min(t, lengths[b] - 1)] + b for b in range(sizes[0])] for t in range(len(sizes))
    ]
    return take(packed.data, tensor(rows, device=packed.data.device), axis=0)


def packed_steps(padded: Tensor, sizes: Sequence[int]) -> Tensor:
    """The steps of (steps, batch, ...) that sequences have, one after the other."""
    batch = padded.shape[1]
    rows = [t * batch + b for t, count in enumerate(sizes) for b in range(count)]
    flat = padded.flatten(0, 1)
    return take(flat, tensor(rows, device=padded.device), axis=0)


def pack_padded_sequence(
    input: Tensor, lengths: Lengths, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Sequences of (steps, batch, ...) without what stands after their ends."""
    what = "pack_padded_sequence"
    if input.ndim < 2:
        raise ShapeError(explain(what, "needs steps and a batch", shape=input.shape))
    steps = input.swapaxes(0, 1) if batch_first else input
    known = lengths_of(what, lengths, steps.shape[1])
    order = sorted(range(len(known)), key=lambda k: -known[k])
    if enforce_sorted and any(a < b for a, b in pairwise(known)):
        hint = "enforce_sorted=False sorts them"
        raise ArgumentError(explain(what, "the longest sequence comes first", hint, lengths=known))
    if known and max(known) > steps.shape[0]:
        facts = {"lengths": known, "steps": steps.shape[0]}
        raise ArgumentError(explain(what, "longer than the input", **facts))
    indices = None
    if not enforce_sorted:
        indices = tensor(order, dtype="int64", device=input.device)
        steps = take(steps, indices, axis=1)
        known = [known[k] for k in order]
    sizes = [sum(n > t for n in known) for t in range(max(known, default=0))]
    data = packed_steps(steps, sizes)
    back = None if enforce_sorted else _inverse(order, input)
    return PackedSequence(data, tensor(sizes, dtype="int64"), indices, back)


def _inverse(order: Sequence[int], like: Tensor) -> Tensor:
    back = sorted(range(len(order)), key=lambda k: order[k])
    return tensor(back, dtype="int64", device=like.device)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(steps, batch, ...) with padding after the ends of sequences, and their lengths."""
    sizes = sizes_of(sequence)
    lengths = lengths_in(sizes)
    padded = unpacked(sequence)
    device = padded.device
    ends = tensor(lengths, dtype="int64", device=device)
    mask = tensor(list(range(len(sizes))), device=device).reshape(-1, 1) < ends
    mask = mask.reshape(*mask.shape, *[1] * (padded.ndim - 2))
    padded = where(mask, padded, full((), padding_value, dtype=padded.dtype, device=device))
    if total_length is not None:
        if total_length < len(sizes):
            facts = {"total_length": total_length, "longest": len(sizes)}
            raise ArgumentError(explain("pad_packed_sequence", "sequences are longer", **facts))
        more = (0, total_length - len(sizes))
        padded = pad(padded, [more] + [(0, 0)] * (padded.ndim - 1), padding_value)
    counts = tensor(lengths, dtype="int64")
    if sequence.unsorted_indices is not None:
        padded = take(padded, sequence.unsorted_indices, axis=1)
        counts = take(counts, sequence.unsorted_indices.cpu(), axis=0)
    return (padded.swapaxes(0, 1) if batch_first else padded), counts


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:  # fmt: skip
    """Sequences (steps, ...) side by side, padded to the longest: (steps, batch, ...)."""
    if padding_side not in ("left", "right"):
        wrong = "padding_side is 'left' or 'right'"
        raise ArgumentError(explain("pad_sequence", wrong, got=repr(padding_side)))
    if not len(sequences):
        raise ArgumentError(explain("pad_sequence", "got no sequences"))
    longest = max(x.shape[0] for x in sequences)
    rows = []
    for x in sequences:
        room = longest - x.shape[0]
        edge = (0, room) if padding_side == "right" else (room, 0)
        rows.append(pad(x, [edge] + [(0, 0)] * (x.ndim - 1), padding_value) if room else x)
    return stack(rows, axis=0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Lengths, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of (steps, batch, ...), each with its own length."""
    rows = padded_sequences if batch_first else padded_sequences.swapaxes(0, 1)
    known = lengths_of("unpad_sequence", lengths, rows.shape[0])
    return [rows[k, :n] for k, n in enumerate(known)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (steps, ...) of several lengths packed."""
    lengths = [x.shape[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one, each with its own length."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), True)
