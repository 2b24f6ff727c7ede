"""What is done to a sample before it is part of a batch: NumPy in, NumPy out."""

from treadle.data.transforms.colour import ColorJitter, Grayscale
from treadle.data.transforms.general import (
    Compose,
    Lambda,
    Normalize,
    OneHot,
    RandomApply,
    ToDtype,
    ToImage,
    ToTensor,
    Transform,
)
from treadle.data.transforms.geometry import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
)

__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "Grayscale", "Lambda", "Normalize", "OneHot", "Pad",
    "RandomApply", "RandomCrop", "RandomHorizontalFlip", "RandomResizedCrop", "RandomRotation",
    "RandomVerticalFlip", "Resize", "ToDtype", "ToImage", "ToTensor", "Transform",
]  # fmt: skip
