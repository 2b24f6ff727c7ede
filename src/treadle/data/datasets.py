"""What can be read: samples by index, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from treadle.base.device import CPU
from treadle.base.errors import ArgumentError, IndexingError, ShapeError, explain, unwritten
from treadle.data.samplers import Order
from treadle.data.seeds import Epochs
from treadle.tensor.creation import from_numpy
from treadle.tensor.tensor import Tensor


class Dataset:
    """Samples by index: write `__getitem__` and `__len__`.

    A data set may also write `__getitems__(indices)`, the samples of a batch at once.
    """

    def __getitem__(self, index: int) -> Any:
        raise unwritten(self, "__getitem__")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Samples one after the other: write `__iter__`.

    Every worker of a loader runs its own; `get_worker_info` says which part is whose.
    """

    def __iter__(self) -> Iterator[Any]:
        raise unwritten(self, "__iter__")

    def __add__(self, other: Dataset) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Tensors or NumPy arrays with one first axis; sample i is a tuple of their i-th parts.

    A batch is one look-up for each of them. Tensors give tensors, arrays give arrays; tensors on
    another device stay there.
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors:
            raise ArgumentError(explain("TensorDataset", "nothing to read", "pass tensors"))
        self.tensors = tuple(x if isinstance(x, Tensor) else np.asarray(x) for x in tensors)
        shapes = [tuple(x.shape) for x in self.tensors]
        if not all(shapes) or len({shape[0] for shape in shapes}) > 1:
            hint = "all of them need a first axis of the same size"
            raise ShapeError(explain("TensorDataset", "sizes differ", hint, shapes=shapes))
        self._sources = [_readable(x) for x in self.tensors]

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        if isinstance(index, int | np.integer) and not -len(self) <= index < len(self):
            facts = {"index": index, "length": len(self)}
            raise IndexingError(explain("TensorDataset", "no such sample", **facts))
        parts = zip(self.tensors, self._sources, strict=True)
        return tuple(_part(given, source, index) for given, source in parts)

    def rows(self, indices: Order) -> list[Any]:
        """A batch: arrays of the parts at indices, or tensors where they lie on a device."""
        if isinstance(indices, range) and indices.step == 1:
            part = slice(indices.start, indices.stop)
            return [x[part].copy() if isinstance(x, np.ndarray) else x[part] for x in self._sources]
        at = np.asarray(indices, np.int64)
        return [
            x.take(at, 0) if isinstance(x, np.ndarray) else x[from_numpy(at).to(x.device)]
            for x in self._sources
        ]

    def __repr__(self) -> str:
        parts = ", ".join(f"{x.dtype}{list(x.shape)}" for x in self.tensors)
        return f"TensorDataset({parts})"


def _readable(given: Any) -> Any:
    """What batches are taken of: the memory of arrays and of tensors on the CPU."""
    return given.numpy() if isinstance(given, Tensor) and given.device is CPU else given


def _part(given: Any, source: Any, index: Any) -> Any:
    part = source[index]
    if isinstance(given, Tensor) and not isinstance(part, Tensor):
        return from_numpy(np.array(part))
    return part


class StackDataset(Dataset):
    """Samples of several data sets side by side: a tuple, or a dict if they are given by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            hint = "StackDataset(images, labels) or StackDataset(image=images, label=labels)"
            raise ArgumentError(explain("StackDataset", "data sets by position or by name", hint))
        self.datasets: Any = args or kwargs
        sizes = [len(x) for x in (args or kwargs.values())]
        if len(set(sizes)) > 1:
            raise ShapeError(explain("StackDataset", "lengths differ", lengths=sizes))
        self._length = sizes[0]

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset):
    """Data sets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError(explain("ConcatDataset", "nothing to read", "pass data sets"))
        if any(isinstance(x, IterableDataset) for x in self.datasets):
            wrong, hint = "an IterableDataset has no index", "join such by ChainDataset"
            raise ArgumentError(explain("ConcatDataset", wrong, hint))
        self.cumulative_sizes = list(itertools.accumulate(len(x) for x in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            facts = {"index": index, "length": len(self)}
            raise IndexingError(explain("ConcatDataset", "no such sample", **facts))
        index = index % len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """Iterable data sets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(x) for x in self.datasets)


class Subset(Dataset):
    """The samples of a data set at given indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices
        self._at = np.asarray(indices, np.int64).reshape(-1)

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self._at[index].tolist()]  # a number, or a list of them

    def __len__(self) -> int:
        return len(self._at)

    def below(self, indices: Order) -> Order:
        """The indices that those of a batch stand for."""
        return self._at[np.asarray(indices, np.int64)]


class TransformedDataset(Dataset):
    """A data set whose samples go through a function; of (input, target, ...), the first part does.

    target_transform is for the second part.
    """

    def __init__(
        self, dataset: Any, transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.dataset, self.transform, self.target_transform = dataset, transform, target_transform

    def __getitem__(self, index: int) -> Any:
        sample = self.dataset[index]
        if not isinstance(sample, tuple):
            return self.transform(sample) if self.transform else sample
        parts = list(sample)
        for place, change in enumerate((self.transform, self.target_transform)):
            if change is not None:
                parts[place] = change(parts[place])
        return tuple(parts)

    def __len__(self) -> int:
        return len(self.dataset)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Disjoint random subsets of given lengths, or of shares that sum to 1.

    Of shares, what is left by rounding down goes to the first subsets, one each. generator is a
    seed, a numpy.random.Generator, or None: then td.manual_seed decides.
    """
    total, sizes = len(dataset), [float(size) for size in lengths]
    if any(not math.isfinite(size) or size < 0 for size in sizes):
        raise ArgumentError(explain("random_split", "a length is not negative", lengths=sizes))
    if sizes and math.isclose(sum(sizes), 1.0) and sum(sizes) <= 1.0 + 1e-9:
        sizes = [math.floor(total * share) for share in sizes]
        for place in range(total - int(sum(sizes))):
            sizes[place % len(sizes)] += 1
    if sum(sizes) != total or any(size != int(size) for size in sizes):
        hint = f"lengths that sum to {total}, or shares that sum to 1"
        raise ArgumentError(explain("random_split", "parts are not the whole", hint, lengths=sizes))
    order = np.random.default_rng(Epochs("random_split", generator).start()).permutation(total)
    ends = itertools.accumulate(int(size) for size in sizes)
    parts = zip(sizes, ends, strict=True)
    return [Subset(dataset, order[end - int(size) : end].tolist()) for size, end in parts]


def rows_of(dataset: Any, indices: Order) -> list[Any] | None:
    """A batch of a data set that gives whole batches, a subset of such too; None of others."""
    while type(dataset) is Subset:
        dataset, indices = dataset.dataset, dataset.below(indices)
    plain = getattr(type(dataset), "__getitem__", None) is TensorDataset.__getitem__
    return dataset.rows(indices) if plain else None
