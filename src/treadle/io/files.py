"""What every kind of file offers: names, shapes and dtypes at once, tensors when asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import DType, bool_
from treadle.base.files import PathLike
from treadle.io.source import Source, shown
from treadle.tensor.creation import from_numpy, tensor
from treadle.tensor.tensor import Tensor

Where = str | Device | None


class Entry(NamedTuple):
    """A tensor in a file, as the file describes it."""

    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    """Bytes in the file."""


class TensorFile(Mapping[str, Tensor]):
    """A file of tensors, opened: `file["name"]` makes one, `file.entries` describes them all.

    A mapped file is read as its tensors are computed with. It must not be written to meanwhile;
    replacing it by another file of its name, as td.save does, is no harm.
    """

    kind: ClassVar[str]

    def __init__(self, path: PathLike, mmap: bool = True) -> None:
        self.source = Source(path, mmap)
        self.path = self.source.path
        self.entries: dict[str, Entry] = {}
        self.metadata: dict[str, Any] = {}
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _read(self) -> None:
        """Fill in entries and metadata; what is wrong with the file is said here if it can be."""

    @abstractmethod
    def numpy(self, name: str) -> Any:
        """One tensor's elements as an array that must not be written to."""

    def tensor(self, name: str, device: Where = None) -> Tensor:
        """One tensor, on a device."""
        return tensor_of(self.numpy(name), device)

    def load(self, device: Where = None) -> Any:
        """All that is in the file, as td.load gives it: here a dict of tensors."""
        return {name: self.tensor(name, device) for name in self.entries}

    def entry(self, name: str) -> Entry:
        """What the file says about a name."""
        found = self.entries.get(name)
        if found is None:
            raise KeyError(f"{self.path.name} holds no tensor named {shown(name)}")
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors together."""
        return sum(entry.nbytes for entry in self.entries.values())

    def close(self) -> None:
        """Close the file. Tensors made of it stay."""
        self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> Tensor:
        return self.tensor(name)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        count = f"{len(self)} tensor{'s' * (len(self) != 1)}"
        return f"{type(self).__name__}({str(self.path)!r}: {count}, {self.nbytes:,} bytes)"


def typed(source: Source, raw: Any, kind: DType, shape: tuple[int, ...]) -> Any:
    """Bytes, which are as many as the shape needs, as elements."""
    if raw.size != prod(shape) * kind.size:
        facts = {"bytes": raw.size, "shape": shape, "dtype": kind.name}
        raise source.wrong("a tensor's bytes are not what its shape needs", **facts)
    if kind is bool_ and raw.size and raw.max() > 1:
        raise source.wrong("a bool is neither 0 nor 1", byte=int(raw.max()))
    return raw.view(numpy_dtype(kind)).reshape(shape)


def tensor_of(array: Any, where: Where) -> Tensor:
    """A tensor over an array that is given away, or with a copy of it on another device."""
    array = np.asarray(array)
    target = CPU if where is None else device(where)
    return from_numpy(array) if target is CPU else tensor(array, device=target)
