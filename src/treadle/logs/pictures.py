"""An image as a PNG file."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, ShapeError, explain

KINDS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels to PNG's colour types: grey, grey + alpha, RGB, RGBA


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Pixels, uint8 (height, width, channels), as a PNG file."""
    height, width, channels = pixels.shape
    rows = pixels.reshape(height, width * channels)
    plain = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)  # 0: no filter
    head = struct.pack(">IIBBBBB", width, height, 8, KINDS[channels], 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(plain.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def pixels_of(what: str, image: Any, layout: str) -> np.ndarray[Any, Any]:
    """An image of a layout, "CHW", "HWC" or "HW", as uint8 (height, width, channels).

    Floats go from 0 to 1.
    """
    array = np.asarray(image)
    layout = layout.upper()
    if layout not in ("CHW", "HWC", "HW"):
        raise ArgumentError(explain(what, "unknown layout", "CHW, HWC, HW", got=repr(layout)))
    if array.ndim != len(layout):
        facts = {"shape": array.shape, "dataformats": layout}
        raise ShapeError(explain(what, "the image has another number of axes", **facts))
    if layout == "CHW":
        array = array.transpose(1, 2, 0)
    array = array[:, :, None] if array.ndim == 2 else array
    if not array.size or array.shape[2] not in KINDS:
        facts = {"shape": np.shape(image), "dataformats": layout}
        raise ShapeError(explain(what, "an image has pixels of 1 to 4 channels", **facts))
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    clean = np.nan_to_num(array.astype(np.float64))
    return np.clip(np.rint(clean * 255), 0, 255).astype(np.uint8)
