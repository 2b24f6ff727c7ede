"""Arrays in files: IDX as MNIST's, NumPy's NPY and NPZ."""

from __future__ import annotations

import gzip
import io
import math
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from treadle.base.errors import FileError, explain
from treadle.base.files import require_regular
from treadle.data.datasets import TensorDataset, TransformedDataset

Array = np.ndarray[Any, Any]
IDX_KINDS = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
DEFLATE = 1040  # no byte of a deflate stream becomes more than so many
MAX_BYTES = 1 << 32


def read_idx(path: str | os.PathLike[str]) -> Array:
    """The array of an IDX file, MNIST's format, plain or by gzip."""
    require_regular("read_idx", path)
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if not packed:
            return _idx(path, file, size)
        try:
            with gzip.GzipFile(fileobj=file) as unpacked:
                return _idx(path, unpacked, size * DEFLATE)
        except (EOFError, OSError, zlib.error) as error:
            raise FileError(explain("read_idx", f"damaged gzip: {error}", path=path)) from error


def _idx(path: Any, file: Any, most: int) -> Array:
    head = file.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_KINDS:
        raise FileError(explain("read_idx", "not an IDX file", path=path, begins=head.hex(" ")))
    kind, sizes = np.dtype(IDX_KINDS[head[2]]), file.read(4 * head[3])
    if len(sizes) < 4 * head[3]:
        raise FileError(explain("read_idx", "cut off in its header", path=path))
    shape = tuple(int(n) for n in np.frombuffer(sizes, ">u4"))
    wanted = math.prod(shape) * kind.itemsize
    if wanted > most or head[3] > 32:
        raise FileError(
            explain("read_idx", "cannot be as large as it says", path=path, shape=shape)
        )
    found = file.read(wanted + 1)
    if len(found) != wanted:
        facts = {"path": path, "shape": shape, "wanted": wanted, "found": len(found)}
        wrong = "more bytes than its shape has" if len(found) > wanted else "cut off"
        raise FileError(explain("read_idx", wrong, **facts))
    return np.frombuffer(found, kind).astype(kind.newbyteorder("=")).reshape(shape)


def MNIST(  # noqa: N802 - torchvision's name
    root: str | os.PathLike[str], train: bool = True,
    transform: Callable[[Any], Any] | None = None,
    target_transform: Callable[[Any], Any] | None = None,
) -> TensorDataset | TransformedDataset:  # fmt: skip
    """MNIST and sets like it, from their four files in a folder: uint8 (1, 28, 28) and a label."""
    kind = "train" if train else "t10k"
    images = read_idx(_found(Path(root), f"{kind}-images-idx3-ubyte"))
    labels = read_idx(_found(Path(root), f"{kind}-labels-idx1-ubyte"))
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        facts = {"images": images.shape, "labels": labels.shape}
        raise FileError(explain("MNIST", "images and labels do not fit", **facts))
    whole = TensorDataset(images[:, None], labels.astype(np.int64))
    if transform is None and target_transform is None:
        return whole
    return TransformedDataset(whole, transform, target_transform)


def _found(root: Path, name: str) -> Path:
    folders = (root, root / "MNIST" / "raw", root / "raw")
    for path in (folder / (name + end) for folder in folders for end in ("", ".gz")):
        if path.is_file():
            return path
    hint = "nothing is downloaded: put the files there"
    raise FileError(explain("MNIST", f"no {name} or {name}.gz", hint, root=root))


def read_npy(path: str | os.PathLike[str], mmap: bool = False) -> Array:
    """The array of a NPY file; mmap leaves it on disk, read as it is used. Nothing is unpickled."""
    require_regular("read_npy", path)
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        read = _npy("read_npy", path, file, size)
        if not mmap:
            return read()
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _npy(what: str, path: Any, file: IO[bytes], size: int) -> Callable[[], Array]:
    """Check the header of a NPY file of a size; a function that reads the rest."""
    try:
        version = np.lib.format.read_magic(file)
        heads = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, by_columns, kind = heads[version](file)  # 3.0 is for records
    except Exception as error:  # NumPy's own parser raises many kinds
        raise FileError(explain(what, f"not a NPY file: {error}", path=path)) from error
    if kind.hasobject or kind.names:
        wrong = "it holds Python objects or records"
        raise FileError(explain(what, wrong, "save numbers", path=path, dtype=kind))
    wanted = math.prod(shape) * kind.itemsize
    if any(n < 0 for n in shape) or wanted != size - file.tell():
        facts = {"path": path, "shape": shape, "dtype": kind, "bytes": size - file.tell()}
        raise FileError(explain(what, "its bytes are not those of its shape", **facts))

    def read() -> Array:
        found = file.read(wanted)
        if len(found) != wanted:
            raise FileError(explain(what, "cut off", path=path))
        order: Any = "F" if by_columns else "C"
        return np.frombuffer(bytearray(found), kind).reshape(shape, order=order)

    return read


def read_npz(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> dict[str, Array]:
    """The arrays of a NPZ file by name; one that unpacks to more than max_bytes is refused."""
    require_regular("read_npz", path)
    arrays: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(info.file_size for info in archive.infolist())
            if total > max_bytes:
                hint = "raise max_bytes if you trust it"
                facts = {"path": path, "bytes": total, "max_bytes": max_bytes}
                raise FileError(explain("read_npz", "it unpacks to too much", hint, **facts))
            for info in archive.infolist():
                if not info.filename.endswith(".npy") or info.filename[:-4] in arrays:
                    facts = {"path": path, "member": info.filename}
                    raise FileError(explain("read_npz", "a member is no array, or twice", **facts))
                where = f"{path}:{info.filename}"
                with archive.open(info) as member:
                    content = member.read(
                        info.file_size + 1
                    )  # to its end: the checksum is looked at
                file = io.BytesIO(content)
                arrays[info.filename[:-4]] = _npy("read_npz", where, file, len(content))()
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        OSError,
        NotImplementedError,
    ) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise FileError(explain("read_npz", f"damaged: {error}", path=path)) from error
    return arrays
