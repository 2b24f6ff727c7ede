"""Pictures in folders, a folder for each class."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from treadle.base.errors import FileError, explain
from treadle.base.files import require_regular
from treadle.data.datasets import Dataset
from treadle.data.extras import extra

ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
Array = np.ndarray[Any, Any]


def read_image(path: str | os.PathLike[str], mode: str = "RGB") -> Array:
    """A picture as uint8 (channels, height, width), by Pillow; mode "L" gives one channel."""
    pillow = extra("read_image", "PIL.Image", "pillow")
    require_regular("read_image", path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(path) as picture:
                array = np.asarray(picture.convert(mode))
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # each format of Pillow's has its own
        raise FileError(explain("read_image", f"not a picture: {error}", path=path)) from error
    return np.ascontiguousarray(array.transpose(2, 0, 1) if array.ndim == 3 else array[None])


class ImageFolder(Dataset):
    """root/class/picture.png as (uint8 (3, height, width), number of the class).

    classes are the names of the folders, sorted; samples are (path, class). Pictures are read by
    Pillow when they are asked for.
    """

    def __init__(
        self, root: str | os.PathLike[str], transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        loader: Callable[[str], Any] = read_image,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:  # fmt: skip
        self.root, self.transform, self.target_transform = root, transform, target_transform
        self.loader = loader
        if not Path(root).is_dir():
            raise FileError(explain("ImageFolder", "no such folder", root=root))
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        taken = is_valid_file or (lambda path: path.lower().endswith(ENDINGS))
        self.samples: list[tuple[str, int]] = []
        for name, number in self.class_to_idx.items():
            inside = sorted(str(p) for p in Path(root, name).rglob("*") if p.is_file())
            paths = [path for path in inside if taken(path)]
            if not paths:
                hint = "endings are " + " ".join(ENDINGS)
                raise FileError(explain("ImageFolder", f"no picture in {name}", hint, root=root))
            self.samples += [(path, number) for path in paths]
        if not self.samples:
            hint = "a folder for each class: root/cat/1.png"
            raise FileError(explain("ImageFolder", "no folders of classes", hint, root=root))
        self.targets = [number for _, number in self.samples]

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        picture = self.loader(path)
        if self.transform is not None:
            picture = self.transform(picture)
        return picture, target if self.target_transform is None else self.target_transform(target)

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"ImageFolder({len(self)} pictures, {len(self.classes)} classes)"
