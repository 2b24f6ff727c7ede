"""PyTorch's checkpoints, the zip format and the one before it, read without running them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from treadle.base import dtypes as d
from treadle.base.dtypes import DType
from treadle.io.archive import Archive
from treadle.io.files import Entry, TensorFile, Where, tensor_of, typed
from treadle.io.pickled import Built, Call, Machine, Name
from treadle.io.pickled_data import PlainData, not_called
from treadle.io.source import Source, shown

PACKAGE = "torch"
STORAGES = {
    "BoolStorage": d.bool_, "ByteStorage": d.uint8, "CharStorage": d.int8,
    "ShortStorage": d.int16, "IntStorage": d.int32, "LongStorage": d.int64,
    "HalfStorage": d.float16, "BFloat16Storage": d.bfloat16, "FloatStorage": d.float32,
    "DoubleStorage": d.float64, "ComplexFloatStorage": d.complex64,
    "ComplexDoubleStorage": d.complex128,
}  # fmt: skip
UNTYPED = Name(f"{PACKAGE}.storage", "UntypedStorage")
REFUSED = dict.fromkeys(
    ("QInt8Storage", "QUInt8Storage", "QInt32Storage"), "its quantised tensors are not taken"
)
DTYPES = {Name(PACKAGE, kind.name): kind for kind in (*d.ALL, *d.COMPLEX)}
FOREIGN_DTYPES = tuple(Name(PACKAGE, name) for name in ("complex32", "qint8", "quint8", "qint32"))
MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001
DEEPEST, LONGEST_NAME = 100, 1000
COPIES, LEAST_COPIES = 8, 1 << 28
"""Views that are not in order are copied: to so many times the file's bytes, or so many bytes."""


class Stored:
    """A piece of memory that tensors of a checkpoint lie in; of no kind, it counts bytes."""

    __slots__ = ("count", "key", "kind", "start")

    def __init__(self, key: str, kind: DType | None, count: int, start: int = 0) -> None:
        self.key, self.kind, self.count, self.start = key, kind, count, start

    @property
    def nbytes(self) -> int:
        return self.count * (self.kind.size if self.kind else 1)


class Placed:
    """A tensor: which elements of which memory it has."""

    __slots__ = ("kind", "offset", "shape", "storage", "stride")

    def __init__(
        self, storage: Stored, kind: DType, offset: int, shape: tuple[int, ...], stride: Any
    ) -> None:
        self.storage, self.kind, self.offset = storage, kind, offset
        self.shape, self.stride = shape, stride

    @property
    def in_order(self) -> bool:
        """Do the elements follow each other?"""
        if 0 in self.shape:
            return True
        expected = 1
        for size, stride in zip(self.shape[::-1], self.stride[::-1], strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True


class Rebuilder:
    """What the names in a checkpoint stand for: descriptions of tensors, and plain data."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.storages: dict[str, Stored] = {}

    def calls(self) -> dict[Name, Call]:
        """Every name that a checkpoint may have, and what calling it gives."""
        inside = f"{PACKAGE}._utils"
        inert = [Name(PACKAGE, name) for name in (*STORAGES, *REFUSED)]
        return {
            **PlainData(self.source).calls(),
            **dict.fromkeys((*inert, UNTYPED, *DTYPES, *FOREIGN_DTYPES), not_called),
            Name(PACKAGE, "UntypedStorage"): not_called,
            Name(inside, "_rebuild_tensor"): self.tensor,
            Name(inside, "_rebuild_tensor_v2"): self.tensor,
            Name(inside, "_rebuild_tensor_v3"): self.tensor_of_dtype,
            Name(inside, "_rebuild_parameter"): self.parameter,
            Name(inside, "_rebuild_parameter_with_state"): self.parameter,
            Name(PACKAGE, "Size"): _sizes,
            Name(PACKAGE, "device"): _device,
        }

    def stored(self, said: Any) -> Stored:
        """Memory, as a checkpoint refers to it."""
        if not isinstance(said, tuple) or len(said) not in (5, 6) or said[0] != "storage":
            raise self.source.wrong("it refers to something that is no storage")
        _, name, key, _, count, *view = said
        if not isinstance(name, Name) or not isinstance(key, str) or not _is_size(count):
            raise self.source.wrong("a storage is not described as one")
        if name.name in REFUSED:
            raise self.source.wrong(REFUSED[name.name], storage=name.name)
        kind = STORAGES.get(name.name)
        if kind is None and name.name != UNTYPED.name:
            raise self.source.wrong("no kind of storage", got=shown(str(name)))
        found = self.storages.setdefault(key, Stored(key, kind, count))
        if (found.kind, found.count) != (kind, count):
            raise self.source.wrong("a storage is described in two ways", key=shown(key))
        if not view or view[0] is None:
            return found
        _, start, part = view[0]  # in files of before 2018
        if not _is_size(start) or not _is_size(part) or start + part > count:
            raise self.source.wrong("a view of a storage reaches beyond it")
        return Stored(key, kind, count, start)

    def tensor(
        self, storage: Any, offset: Any, size: Any, stride: Any, *rest: Any
    ) -> Placed:  # rest: gradients, hooks
        """A tensor of its storage's kind."""
        if not isinstance(storage, Stored) or storage.kind is None:
            raise ValueError
        return self._placed(storage, storage.kind, offset, size, stride)

    def tensor_of_dtype(
        self, storage: Any, offset: Any, size: Any, stride: Any, _: Any, __: Any, dtype: Any,
        *rest: Any,
    ) -> Placed:  # fmt: skip
        """A tensor that says itself what its elements are."""
        kind = DTYPES.get(dtype) if type(dtype) is Name else None
        if kind is None:
            raise self.source.wrong("its element type is not taken", got=shown(str(dtype)))
        return self._placed(storage, kind, offset, size, stride)

    def parameter(self, data: Any, *rest: Any) -> Any:
        """The tensor in a parameter."""
        if not isinstance(data, Placed):
            raise TypeError
        return data

    def _placed(self, storage: Stored, kind: DType, offset: Any, size: Any, stride: Any) -> Placed:
        """A tensor whose elements all lie in its storage."""
        shape = self.source.sizes(size)
        fits = isinstance(stride, tuple | list) and len(stride) == len(shape)
        if not fits or not all(map(_is_size, stride)) or not _is_size(offset):
            facts = {"offset": shown(offset), "stride": shown(stride)}
            raise self.source.wrong("a tensor has no such offset and strides", **facts)
        held = storage.nbytes // kind.size
        steps = [(n - 1) * step for n, step in zip(shape, stride, strict=True)]
        if prod(shape) and storage.start + offset + sum(steps) >= held:
            facts = {"shape": shown(shape), "stride": shown(stride)}
            raise self.source.wrong("a tensor reaches beyond its storage", **facts, storage=held)
        return Placed(storage, kind, storage.start + offset, shape, tuple(stride))


class PyTorchFile(TensorFile):
    """A `.pt` or `.pth` file, opened: any tree of tensors and plain data, such as a state dict.

    Its pickle is read by a machine that knows the few names which state dicts need (see
    `io/pickled.py`) and refuses all others. Values that are no tensors stand in `metadata`; names
    of what is nested are joined by dots.
    """

    kind = "PyTorch"

    def _read(self) -> None:
        self._rebuild = Rebuilder(self.source)
        self._copied = 0
        is_zip = self.source.size >= 4 and self.source.read(0, 4) == b"PK\3\4"
        self._places: dict[str, int] = {}
        self.archive = Archive(self.source) if is_zip else None
        self._tree = self._zipped(self.archive) if self.archive else self._legacy()
        self._tensors: dict[str, Placed] = {}
        for name, value in _leaves(self.source, self._tree):
            if isinstance(value, Placed):
                nbytes = prod(value.shape) * value.kind.size
                self._tensors[name] = value
                self.entries[name] = Entry(value.kind.name, value.shape, nbytes)
            elif isinstance(value, Built):
                self.metadata[name] = value.value()
            else:
                self.metadata[name] = DTYPES.get(value, value) if type(value) is Name else value

    # ---- the two formats

    def _zipped(self, archive: Archive) -> Any:
        found = [name for name in archive.members if name.rpartition("/")[2] == "data.pkl"]
        if len(found) != 1 or not all(map(archive.is_stored, archive.members)):
            raise self.source.wrong("a zip file that is no checkpoint of PyTorch")
        root = self._root = found[0].removesuffix("data.pkl")
        order = archive.read(f"{root}byteorder") if f"{root}byteorder" in archive.members else b""
        if order not in (b"", b"little", b"big"):
            raise self.source.wrong("no byte order", got=shown(order))
        self._swapped = order == b"big"
        if not self.source.mapped:
            archive.read(found[0])  # looks at its checksum
        start = archive.start(found[0])
        tree, _ = self._pickle(start, start + archive.members[found[0]].file_size)
        for key, storage in self._rebuild.storages.items():
            member = archive.members.get(f"{root}data/{key}")
            if member is None or member.file_size != storage.nbytes:
                facts = {"key": shown(key), "needed": storage.nbytes}
                raise self.source.wrong("a storage is missing or of another size", **facts)
        return tree

    def _legacy(self) -> Any:
        size = self.source.size
        magic, end = self._pickle(0, size)
        version, end = self._pickle(end, size) if magic == MAGIC else (None, end)
        if (magic, version) != (MAGIC, VERSION):
            raise self.source.wrong("a pickle that is no checkpoint of PyTorch")
        system, end = self._pickle(end, size)
        self._swapped = isinstance(system, dict) and system.get("little_endian") is False
        tree, end = self._pickle(end, size)
        keys, end = self._pickle(end, size)
        known = self._rebuild.storages
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise self.source.wrong("the list of storages is none")
        if len(set(keys)) != len(keys) or set(keys) != set(known):
            raise self.source.wrong("the storages are not those that the tensors need")
        for key in keys:
            count = int.from_bytes(self.source.read(end, 8), "big" if self._swapped else "little")
            if count != known[key].count or end + 8 + known[key].nbytes > size:
                facts = {"key": shown(key), "elements": count, "needed": known[key].count}
                raise self.source.wrong("a storage is cut off or of another size", **facts)
            self._places[key] = end + 8
            end += 8 + known[key].nbytes
        return tree

    def _pickle(self, start: int, limit: int) -> tuple[Any, int]:
        rebuild = self._rebuild
        machine = Machine(self.source, start, rebuild.calls(), rebuild.stored, limit)
        return machine.run(), machine.end

    # ---- tensors

    def numpy(self, name: str) -> Any:
        """One tensor's elements as an array that must not be written to."""
        self.entry(name)
        return self._array(self._tensors[name], {})

    def load(self, device: Where = None) -> Any:
        """The tree: dicts, lists and tuples of tensors and plain data."""
        held: dict[str, Any] = {}
        self._copied = 0
        return _rebuilt(
            self.source, self._tree, lambda placed: tensor_of(self._array(placed, held), device)
        )

    def _array(self, placed: Placed, held: dict[str, Any]) -> Any:
        key, size = placed.storage.key, placed.kind.size
        if key not in held:
            held[key] = self._bytes(placed.storage)
        raw = held[key]
        if self._swapped and size > 1:
            raw = raw.view(f"u{placed.kind.part.size}").byteswap().view(np.uint8)
        count = prod(placed.shape)
        if placed.in_order:
            raw = raw[placed.offset * size : (placed.offset + count) * size]
            return typed(self.source, raw, placed.kind, placed.shape)
        self._copied += count * size
        if self._copied > max(LEAST_COPIES, COPIES * self.source.size):
            hint = "make the tensors contiguous before they are saved"
            raise self.source.wrong("its views are many times larger than the file", hint)
        flat = raw[placed.offset * size : raw.size // size * size].view(f"V{size}")
        steps = tuple(step * size for step in placed.stride)
        view = np.lib.stride_tricks.as_strided(flat, placed.shape, steps)
        ordered = np.ascontiguousarray(view).reshape(-1).view(np.uint8)
        return typed(self.source, ordered, placed.kind, placed.shape)

    def _bytes(self, storage: Stored) -> Any:
        if self.archive is not None:
            return self.archive.array(f"{self._root}data/{storage.key}")
        return self.source.array(self._places[storage.key], storage.nbytes)


# ---- the tree


def _leaves(source: Source, tree: Any) -> Iterator[tuple[str, Any]]:
    """What is no container, with its dotted name. A container that stands in two places is one."""
    seen: set[int] = set()
    waiting: list[tuple[tuple[str, ...], Any]] = [((), tree)]
    while waiting:
        path, value = waiting.pop()
        if not isinstance(value, dict | list) and type(value) is not tuple:
            yield ".".join(path) or "value", value
        elif len(path) > DEEPEST:
            raise source.wrong(f"nested deeper than {DEEPEST}")
        elif id(value) not in seen:
            seen.add(id(value))
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, _short(source, key)), part) for key, part in parts][::-1]


def _short(source: Source, key: Any) -> str:
    text = str(key)
    if len(text) > LONGEST_NAME:
        raise source.wrong("a name is too long", characters=len(text))
    return text


def _rebuilt(source: Source, tree: Any, make: Call) -> Any:
    """The tree with tensors in the place of their descriptions; one that holds itself is none."""
    made: dict[int, Any] = {}

    def build(part: Any, depth: int) -> Any:
        if type(part) is Name:
            if part not in DTYPES:
                raise source.wrong("it holds a class, which is no data", got=shown(str(part)))
            return DTYPES[part]
        if isinstance(part, Built):
            return part.value()
        if isinstance(part, Stored):
            raise source.wrong("it holds a storage without a tensor")
        if not isinstance(part, dict | list | Placed) and type(part) is not tuple:
            return part
        if id(part) in made:
            if made[id(part)] is source:
                raise source.wrong("it holds a container that holds itself")
            return made[id(part)]
        if depth > DEEPEST:
            raise source.wrong(f"nested deeper than {DEEPEST}")
        made[id(part)] = source  # not made yet
        if isinstance(part, Placed):
            found = make(part)
        elif isinstance(part, dict):
            found = {key: build(value, depth + 1) for key, value in part.items()}
        else:
            found = type(part)([build(value, depth + 1) for value in part])
        made[id(part)] = found
        return found

    return build(tree, 0)


# ---- plain data that have names


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _sizes(sizes: Any) -> tuple[int, ...]:
    if not all(map(_is_size, sizes)):
        raise ValueError
    return tuple(sizes)


def _device(kind: Any, number: Any = None) -> str:
    if not isinstance(kind, str) or not (number is None or _is_size(number)):
        raise TypeError
    return kind if number is None else f"{kind}:{number}"
