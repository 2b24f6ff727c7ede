"""Transforms of any array, and how transforms are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import (
    ArgumentError,
    DtypeError,
    ShapeError,
    explain,
    require_function,
    unwritten,
)
from treadle.data.seeds import generator

Array = np.ndarray[Any, Any]


class Transform:
    """A function of a sample. Random ones draw from `data.generator()`, so each sample has its own.

    Images are arrays (..., C, H, W), uint8 from 0 to 255 or floats from 0 to 1.
    """

    def __call__(self, sample: Any) -> Any:
        raise unwritten(self, "__call__")

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({facts})"


class Compose(Transform):
    """Transforms one after the other."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)
        for transform in self.transforms:
            require_function(type(self).__name__, transform)

    def __call__(self, sample: Any) -> Any:
        for transform in self.transforms:
            sample = transform(sample)
        return sample

    def __repr__(self) -> str:
        return "Compose([" + ", ".join(map(repr, self.transforms)) + "])"


class Lambda(Transform):
    """Any function as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        require_function("Lambda", lambd)
        self.lambd = lambd

    def __call__(self, sample: Any) -> Any:
        return self.lambd(sample)


class RandomApply(Compose):
    """Transforms one after the other, all of them with chance p, else none."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: float = 0.5) -> None:
        super().__init__(transforms)
        self.p = chance("RandomApply", p)

    def __call__(self, sample: Any) -> Any:
        return super().__call__(sample) if generator().random() < self.p else sample

    __repr__ = Transform.__repr__


class ToImage(Transform):
    """Pillow's picture, or an array (H, W, C) or (H, W), as an array (C, H, W)."""

    def __call__(self, sample: Any) -> Array:
        array = np.asarray(sample)
        if array.ndim == 2:
            array = array[:, :, None]
        if array.ndim != 3:
            hint = "(height, width) or (height, width, channels)"
            raise ShapeError(explain("ToImage", "not a picture", hint, shape=array.shape))
        return np.ascontiguousarray(array.transpose(2, 0, 1))


class ToTensor(Transform):
    """A picture as floats (C, H, W), uint8 from 0 to 1.

    An array with 1, 3 or 4 channels first is an image already, whatever comes last; else the
    channels are last, as in Pillow's pictures and PyTorch's ToTensor.
    """

    def __call__(self, sample: Any) -> Array:
        array, few = np.asarray(sample), (1, 3, 4)
        is_image = isinstance(sample, np.ndarray) and array.ndim == 3 and array.shape[0] in few
        if not is_image:
            if array.ndim == 3 and array.shape[-1] not in few:
                hint = "1, 3 or 4 channels, first or last"
                raise ShapeError(explain("ToTensor", "no channels", hint, shape=array.shape))
            array = ToImage()(array)
        if array.dtype == np.uint8:
            return array.astype(np.float32) / np.float32(255)
        return array.astype(np.float32) if array.dtype == bool else array


class ToDtype(Transform):
    """Another dtype; scale maps the range of integers to 0 ... 1 and back."""

    def __init__(self, dtype: Any = np.float32, scale: bool = False) -> None:
        self.dtype = np.dtype(getattr(dtype, "name", dtype))
        self.scale = scale

    def __call__(self, sample: Any) -> Array:
        array = np.asarray(sample)
        was_whole, is_whole = array.dtype.kind in "iu", self.dtype.kind in "iu"
        if not self.scale or was_whole == is_whole:
            return array.astype(self.dtype)
        if was_whole:
            return (array / np.iinfo(array.dtype).max).astype(self.dtype)
        top = np.iinfo(self.dtype).max
        return np.clip(np.rint(array.astype(np.float64) * top), 0, top).astype(self.dtype)


class Normalize(Transform):
    """(image - mean) / std, each a number for every channel."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = np.atleast_1d(mean), np.atleast_1d(std), inplace
        if self.mean.ndim != 1 or self.std.ndim != 1 or not np.all(self.std > 0):
            wrong = "mean and std are numbers for each channel, std above zero"
            raise ArgumentError(explain("Normalize", wrong, mean=mean, std=std))

    def __call__(self, sample: Any) -> Array:
        array = image_in("Normalize", sample)
        if not dtype_of(array.dtype.name).is_float:
            hint = "ToTensor() or ToDtype(td.float32, scale=True) before it"
            raise DtypeError(explain("Normalize", "not floats", hint, dtype=array.dtype))
        for name, values in (("mean", self.mean), ("std", self.std)):
            if len(values) not in (1, array.shape[-3]):
                facts = {"channels": array.shape[-3], name: values.tolist()}
                raise ShapeError(explain("Normalize", "a number for each channel", **facts))
        mean, std = (x.astype(array.dtype)[:, None, None] for x in (self.mean, self.std))
        if not self.inplace:
            return (array - mean) / std
        array -= mean
        array /= std
        return array


class OneHot(Transform):
    """Whole numbers as rows with a 1 at their place."""

    def __init__(self, num_classes: int, dtype: Any = np.float32) -> None:
        self.num_classes, self.dtype = num_classes, np.dtype(getattr(dtype, "name", dtype))
        if num_classes < 1:
            raise ArgumentError(explain("OneHot", "num_classes is 1 or more", got=num_classes))

    def __call__(self, sample: Any) -> Array:
        labels = np.asarray(sample)
        if labels.dtype.kind not in "iu":
            raise DtypeError(explain("OneHot", "labels are whole numbers", dtype=labels.dtype))
        if labels.size and not (labels.min() >= 0 and labels.max() < self.num_classes):
            facts = {"from": labels.min(), "to": labels.max(), "num_classes": self.num_classes}
            raise ArgumentError(explain("OneHot", "a label is out of range", **facts))
        return (labels[..., None] == np.arange(self.num_classes)).astype(self.dtype)


def image_in(what: str, sample: Any) -> Array:
    """An image (..., C, H, W)."""
    array = np.asarray(sample)
    if array.ndim < 3:
        hint = "(channels, height, width): ToTensor() makes it of a picture"
        raise ShapeError(explain(what, "not an image", hint, shape=array.shape))
    return array


def pixels_in(what: str, sample: Any) -> Array:
    """An image (..., C, H, W) with a pixel or more, that others can be made of."""
    array = image_in(what, sample)
    if 0 in array.shape[-2:]:
        raise ShapeError(explain(what, "an image without pixels", shape=array.shape))
    return array


def chance(what: str, p: float) -> float:
    """A probability."""
    if not 0 <= p <= 1:
        raise ArgumentError(explain(what, "p is from 0 to 1", p=p))
    return p
