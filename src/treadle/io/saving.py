"""`td.save` and `td.load`: any tree of tensors, in the format that a file's name or bytes say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.base.files import PathLike
from treadle.io.archive import members_of
from treadle.io.files import TensorFile, Where
from treadle.io.gguf import GGUF, MAGIC
from treadle.io.npz import MAGIC as NUMPY
from treadle.io.npz import NPY, NPZ, save_npz
from treadle.io.pytorch import PyTorchFile
from treadle.io.pytorch_writer import save_pt
from treadle.io.safetensors import METADATA, TREE, SafeTensors, write
from treadle.io.shards import INDEX, Shards, save_safetensors
from treadle.io.source import Source
from treadle.io.tree import Taken
from treadle.tensor.tensor import Tensor


def save(tree: Any, path: PathLike) -> None:
    """Write a tree of tensors to a file, which is there whole or not at all.

    A tree is a tensor, a NumPy array, a number, a string, None, or a dict, list or tuple of trees.
    The file is in the safetensors format, whose tools can read it too; what is not a tensor stands
    in its metadata, with a checksum. The name may ask for another format:

    - `.safetensors`: a dict of tensors by name as every other tool writes it
    - `.npz`: a dict of tensors, for numpy.load
    - `.pt`, `.pth`: for PyTorch's own load, weights_only included

    A tensor that stands in several places is stored once. Whether it collects gradients is not.
    """
    target = Path(path)
    if target.suffix == ".gguf":
        hint = "td.save writes .safetensors, .npz, .pt and trees"
        raise ArgumentError(explain("save", "GGUF files are only read", hint, file=str(target)))
    if target.suffix == ".safetensors" and _is_flat(tree):
        save_safetensors(tree, target)
    else:
        WRITERS.get(target.suffix, save_tree)(tree, target)


def save_tree(tree: Any, path: PathLike, checked: bool = True) -> None:
    """Write any tree as a safetensors file whose metadata say what it was."""
    taken = Taken(tree)
    write(path, taken.leaves, {TREE: taken.text}, checked)


WRITERS: dict[str, Callable[[Any, PathLike], None]] = {
    ".npz": save_npz,
    ".pt": save_pt,
    ".pth": save_pt,
}


def _is_flat(tree: Any) -> bool:
    return isinstance(tree, dict) and all(
        isinstance(name, str) and name != METADATA and isinstance(value, Tensor)
        for name, value in tree.items()
    )


def load(path: PathLike, device: Where = None, mmap: bool = False) -> Any:
    """What a file holds, with its tensors on a device.

    The bytes decide what it is: a tree of td.save, safetensors (also an index of several files, or
    a folder with one), NPZ, NPY (a tensor), PyTorch's `.pt` in both its formats, GGUF
    (dequantised). Nothing in a file is ever run, and what is wrong with one is a FileError.

    mmap=True reads the file as tensors are computed with, not now: it must not be written to
    meanwhile (to replace it by another is no harm), and its checksums are not looked at.
    """
    with open_file(path, mmap) as file:
        return file.load(device)


def open_file(path: PathLike, mmap: bool = True) -> TensorFile:
    """A file of tensors, opened: names, shapes and metadata now, tensors when asked for.

    >>> with open_file("model.safetensors") as file:  # doctest: +SKIP
    ...     print(file.entries["weight"].shape, file["weight"].mean())
    """
    found = _file_in(Path(path))
    if found.name.endswith(INDEX):
        return Shards(found, mmap)
    return _kind_of(found)(found, mmap)


def _kind_of(path: Path) -> type[TensorFile]:
    """Which kind of file the first bytes say it is."""
    with closing(Source(path)) as source:
        begins = source.read(0, min(16, source.size))
        if begins[:4] in (b"PK\3\4", b"PK\5\6"):
            return PyTorchFile if _is_checkpoint(source) else NPZ
    if begins.startswith(NUMPY):
        return NPY
    if begins[:4] == MAGIC:
        return GGUF
    if begins[:1] == b"\x80" and begins[2:8] != b"\0" * 6:
        return PyTorchFile
    return SafeTensors


def _is_checkpoint(source: Source) -> bool:
    """Is a zip file one of PyTorch's?"""
    return any(x.filename.rpartition("/")[2] == "data.pkl" for x in members_of(source))


def _file_in(path: Path) -> Path:
    """The path itself, or the model's file in a folder."""
    if not path.is_dir():
        return path
    for name in ("model.safetensors" + INDEX, "model.safetensors"):
        if (path / name).is_file():
            return path / name
    hint = "name the file"
    raise ArgumentError(
        explain("load", "no model.safetensors in the folder", hint, folder=str(path))
    )
