"""How one process reads the samples of a batch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from treadle.data import seeds
from treadle.data.collate import collated
from treadle.data.datasets import rows_of
from treadle.data.samplers import Order, listed

Collate = Callable[[Any], Any] | None  # None: the default


class Reading(NamedTuple):
    """What is read and how it becomes batches."""

    dataset: Any
    collate: Collate
    batch_size: int | None
    """Of an iterable data set; None gives samples as they are."""
    drop_last: bool
    is_batched: bool

    def batch(self, samples: list[Any]) -> Any:
        """Samples as a batch."""
        return (collated if self.collate is None else self.collate)(samples)

    def single(self, sample: Any) -> Any:
        """A sample that is no batch."""
        return sample if self.collate is None else self.collate(sample)


def read(reading: Reading, indices: Order, seed: int, number: int) -> Any:
    """Batch `number` of an epoch; without batches, indices is one index."""
    dataset = reading.dataset
    try:
        if not reading.is_batched:
            seeds.enter((seed, number, 0))
            return reading.single(dataset[indices])
        if reading.collate is None:
            rows = rows_of(dataset, indices)
            if rows is not None:
                return rows
        if hasattr(dataset, "__getitems__"):
            seeds.enter((seed, number, 0))
            return reading.batch(dataset.__getitems__(listed(indices)))
        samples = []
        for place, index in enumerate(listed(indices)):
            seeds.enter((seed, number, place))
            samples.append(dataset[index])
        return reading.batch(samples)
    finally:
        seeds.enter(None)


def read_on(reading: Reading, seed: int, worker: int, skip: int) -> Iterator[Any]:
    """The batches of an iterable data set after the first ones, as one worker sees them."""
    rest = _seeded(iter(reading.dataset), seed, worker, reading.batch_size or 1)
    for _ in itertools.islice(rest, skip * (reading.batch_size or 1)):
        pass
    if not reading.is_batched:
        yield from map(reading.single, rest)
        return
    while samples := list(itertools.islice(rest, reading.batch_size)):
        if len(samples) < (reading.batch_size or 1) and reading.drop_last:
            return
        yield reading.batch(samples)


def _seeded(samples: Iterator[Any], seed: int, worker: int, batch_size: int) -> Iterator[Any]:
    """Samples, each read with random numbers of its own."""
    for place in itertools.count():
        seeds.enter((seed, worker, *divmod(place, batch_size)))
        try:
            sample = next(samples, _END)
        finally:
            seeds.enter(None)
        if sample is _END:
            return
        yield sample


_END = object()
