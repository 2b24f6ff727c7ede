"""In which order samples are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain, unwritten
from treadle.data.seeds import Epochs

Order = Any  # a range, or an array of int64


class Sampler:
    """The indices of an epoch, in order; write `__iter__`, and `__len__` where it is known."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise unwritten(self, "__iter__")

    def state_dict(self) -> dict[str, Any]:
        """What decides the order of the epoch that runs; nothing, if that is always the same."""
        return {}

    def load_state_dict(self, state: dict[str, Any], again: bool = True) -> None:
        """Have the next epoch be the one of the state, or, if not again, the one after it."""


class Ordered(Sampler):
    """A sampler that knows the whole order of an epoch when it begins."""

    order: Callable[[], Order]
    """The indices of a new epoch."""

    def __iter__(self) -> Iterator[int]:
        return iter(listed(self.order()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"  # type: ignore[arg-type]


class Seeded(Ordered):
    """An order that follows from the number of its epoch."""

    def __init__(self, data_source: Any, generator: Any) -> None:
        super().__init__(data_source)
        self.epochs = Epochs(type(self).__name__, generator)

    def _drawn(self) -> np.random.Generator:
        return np.random.default_rng(self.epochs.start())

    def state_dict(self) -> dict[str, Any]:
        """The number of the epoch."""
        return self.epochs.state_dict()

    def load_state_dict(self, state: dict[str, Any], again: bool = True) -> None:
        """Have the next epoch be the one of the state, or, if not again, the one after it."""
        self.epochs.load_state_dict(state, again)


class SequentialSampler(Ordered):
    """First to last."""

    def __init__(self, data_source: Sized) -> None:
        super().__init__(data_source)

    def order(self) -> Order:
        """0, 1, 2, ..."""
        return range(len(self.data_source))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Seeded):
    """Every sample once in random order, or num_samples drawn with replacement.

    generator is a seed, a numpy.random.Generator, or None: then td.manual_seed decides.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
        generator: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(data_source, generator)
        self.replacement = replacement
        self._count = None if num_samples is None else counted(self, "num_samples", num_samples)

    @property
    def num_samples(self) -> int:
        """How many an epoch has."""
        return len(self.data_source) if self._count is None else self._count

    def order(self) -> Order:
        """The indices of a new epoch; without replacement, all of them before one comes again."""
        drawn, size = self._drawn(), len(self.data_source)
        if size == 0 and self.num_samples:
            raise ArgumentError(explain("RandomSampler", "there are no samples to draw from"))
        if self.replacement:
            return drawn.integers(size, size=self.num_samples) if size else np.arange(0)
        rounds = -(-self.num_samples // max(size, 1))
        parts = [drawn.permutation(size) for _ in range(rounds)]
        return np.concatenate([np.arange(0), *parts])[: self.num_samples]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Seeded):
    """Given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        super().__init__(None, generator)
        self.indices = indices

    def order(self) -> Order:
        """The indices of a new epoch."""
        indices = np.asarray(self.indices, np.int64)
        return indices[self._drawn().permutation(len(indices))]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Seeded):
    """num_samples indices, i with a chance that is proportional to weights[i]."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True,
        generator: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(None, generator)
        self.weights = np.asarray(weights, np.float64)
        self.num_samples = counted(self, "num_samples", num_samples)
        self.replacement = replacement
        what, low = "WeightedRandomSampler", self.weights.min(initial=0.0)
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all() or low < 0:
            hint = "one finite number >= 0 for each sample"
            raise ArgumentError(explain(what, "not weights", hint, shape=self.weights.shape))
        possible = int(np.count_nonzero(self.weights))
        if possible < (1 if replacement else self.num_samples):
            facts = {"num_samples": num_samples, "above_zero": possible}
            raise ArgumentError(explain(what, "too few weights are above zero", **facts))

    def order(self) -> Order:
        """The indices of a new epoch."""
        drawn = self._drawn()
        if self.replacement:
            ends = np.cumsum(self.weights)
            # The last end may be rounded: what lies past it belongs to the last that can be drawn.
            at = np.searchsorted(ends, drawn.random(self.num_samples) * ends[-1], side="right")
            return np.minimum(at, np.flatnonzero(self.weights)[-1])
        with np.errstate(divide="ignore"):
            times = drawn.exponential(size=len(self.weights)) / self.weights
        return np.argsort(times, kind="stable")[: self.num_samples]

    def __len__(self) -> int:
        return self.num_samples


class DistributedSampler(Seeded):
    """The part of a data set that one of num_replicas processes reads; all parts have one length.

    Call set_epoch before each epoch: all processes shuffle by the same seed + epoch. Without
    drop_last the first samples come again until the parts are equal.
    """

    def __init__(
        self, dataset: Sized, num_replicas: int = 1, rank: int = 0, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(dataset, None)
        self.num_replicas, self.rank = counted(self, "num_replicas", num_replicas), rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        if not 0 <= rank < self.num_replicas:
            facts = {"rank": rank, "num_replicas": num_replicas}
            raise ArgumentError(explain("DistributedSampler", "no such rank", **facts))

    def set_epoch(self, epoch: int) -> None:
        """Shuffle by the number of an epoch."""
        self.epoch = epoch

    def order(self) -> Order:
        """The indices of this rank's epoch."""
        count = len(self.data_source)
        every = np.arange(count)
        if self.shuffle:
            every = np.random.default_rng([self.seed, self.epoch]).permutation(count)
        total = len(self) * self.num_replicas
        return np.resize(every, total)[self.rank :: self.num_replicas] if count else every

    def __len__(self) -> int:
        count = len(self.data_source)
        return count // self.num_replicas if self.drop_last else -(-count // self.num_replicas)

    def state_dict(self) -> dict[str, Any]:
        """The epoch that was set."""
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any], again: bool = True) -> None:
        """Set the epoch of a state."""
        self.epoch = int(state["epoch"])


class BatchSampler(Sampler):
    """Lists of batch_size indices; the last is shorter, or left out by drop_last."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        super().__init__()
        self.sampler, self.drop_last = sampler, drop_last
        self.batch_size = counted(self, "batch_size", batch_size)

    def batches(self, skip: int = 0) -> Iterator[Order]:
        """The batches of a new epoch, some skipped: slices of its order, where it has one."""
        size = self.batch_size
        if not isinstance(self.sampler, Ordered):
            return _cut(iter(self.sampler), size, self.drop_last, skip)
        order = self.sampler.order()
        end = len(order) - len(order) % size if self.drop_last else len(order)
        return (order[first : min(first + size, end)] for first in range(skip * size, end, size))

    def __iter__(self) -> Iterator[list[int]]:
        return (listed(batch) for batch in self.batches())

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def __repr__(self) -> str:
        return f"BatchSampler({self.sampler!r}, {self.batch_size}, drop_last={self.drop_last})"

    def state_dict(self) -> dict[str, Any]:
        """The state of the sampler below."""
        below = getattr(self.sampler, "state_dict", None)
        return below() if below else {}

    def load_state_dict(self, state: dict[str, Any], again: bool = True) -> None:
        """Have the sampler below go on from a state."""
        if hasattr(self.sampler, "load_state_dict"):
            self.sampler.load_state_dict(state, again)


def listed(order: Order) -> list[int]:
    """Indices as Python ints."""
    return order.tolist() if isinstance(order, np.ndarray) else list(order)


def counted(owner: object, name: str, value: Any) -> int:
    """A whole number above zero."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        what = type(owner).__name__
        raise ArgumentError(explain(what, f"{name} is a whole number above zero", got=repr(value)))
    return int(value)


def _cut(indices: Iterator[int], size: int, drop_last: bool, skip: int) -> Iterator[list[int]]:
    """Lists of a size of what an iterator gives."""
    batch: list[int] = []
    for index in indices:
        batch.append(index)
        if len(batch) == size:
            if skip:
                skip -= 1
            else:
                yield batch
            batch = []
    if batch and not drop_last and not skip:
        yield batch
