"""Numbers, histograms, texts and images of a run, in the event files that TensorBoard shows."""

from __future__ import annotations

import itertools
import os
import socket
import time
from pathlib import Path
from typing import Any, Self

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.logs.pictures import pixels_of, png
from treadle.logs.records import block, double, doubles, record, single, whole

STRING = 7  # the number of this type in TensorBoard's messages
_COUNT = itertools.count()


class SummaryWriter:
    """Writes an event file into a folder, for `tensorboard --logdir`; methods are PyTorch's.

    Every event is on its way to the disk when its method returns. Without log_dir the folder is
    runs/ and the time. Use it in a with statement, or close it.
    """

    def __init__(
        self, log_dir: str | os.PathLike[str] | None = None, filename_suffix: str = ""
    ) -> None:
        now = time.time()
        began = time.strftime("%b%d_%H-%M-%S", time.localtime(now))
        self.log_dir = Path("runs", began) if log_dir is None else Path(log_dir)
        self.log_dir.mkdir(parents=True, exist_ok=True)
        names = f"{int(now)}.{socket.gethostname()}.{os.getpid()}.{next(_COUNT)}"
        self.path = self.log_dir / f"events.out.tfevents.{names}{filename_suffix}"
        self._file = open(self.path, "ab")  # noqa: SIM115 - open as long as this is
        self._write(double(1, now) + block(3, "brain.Event:2"))

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A number at a step."""
        value = _array("add_scalar", scalar_value)
        if value.size != 1:
            raise ArgumentError(explain("add_scalar", "not one number", shape=value.shape))
        self._add(tag, single(2, _narrow(float(value.reshape(())))), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Several numbers at a step, as main_tag/name each."""
        for name, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{name}", value, global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow",
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """How values are spread; bins are TensorFlow's (each 1.1 times the last) or NumPy's."""
        array = _array("add_histogram", values).astype(np.float64).ravel()
        if not array.size or not np.isfinite(array).all():
            wrong = "values are some finite numbers"
            raise ArgumentError(explain("add_histogram", wrong, tag=tag, count=array.size))
        edges = _edges(array) if isinstance(bins, str) and bins == "tensorflow" else bins
        try:
            counts, limits = np.histogram(array, edges)
        except (ValueError, TypeError) as error:  # NumPy's, of bins that are none
            raise ArgumentError(explain("add_histogram", f"bins: {error}", bins=bins)) from error
        used = np.flatnonzero(counts)
        first = max(0, int(used[0]) - 1)  # an empty one before, so that the first has a left end
        last = int(used[-1]) + 1
        with np.errstate(over="ignore"):  # a sum that is beyond all numbers is infinite
            facts = (array.min(), array.max(), array.size, array.sum(), (array * array).sum())
        message = b"".join(double(k, float(fact)) for k, fact in enumerate(facts, 1))
        message += doubles(6, limits[first + 1 : last + 1]) + doubles(7, counts[first:last])
        self._add(tag, block(5, message), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A text, shown as Markdown."""
        if not isinstance(text_string, str):
            got = type(text_string).__name__
            raise ArgumentError(explain("add_text", "not a text", got=got))
        shape = block(2, whole(1, 1))
        tensor = whole(1, STRING) + block(2, shape) + block(8, text_string)
        plugin = block(1, block(1, "text"))
        self._add(f"{tag}/text_summary", block(9, plugin) + block(8, tensor), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None,
        walltime: float | None = None, dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """An image: uint8, or floats from 0 to 1."""
        pixels = pixels_of("add_image", _array("add_image", img_tensor), dataformats)
        height, width, channels = pixels.shape
        facts = whole(1, height) + whole(2, width) + whole(3, channels)
        self._add(tag, block(4, facts + block(4, png(pixels))), global_step, walltime)

    def _add(self, tag: str, value: bytes, step: int | None, walltime: float | None) -> None:
        if not isinstance(tag, str) or not (step is None or hasattr(step, "__int__")):
            wrong = "a tag is text, a step a whole number or None"
            raise ArgumentError(explain("SummaryWriter", wrong, tag=repr(tag), step=repr(step)))
        event = double(1, time.time() if walltime is None else walltime)
        if step is not None:
            event += whole(2, int(step))
        self._write(event + block(5, block(1, block(1, tag) + value)))

    def _write(self, event: bytes) -> None:
        if self._file.closed:
            raise ArgumentError(explain("SummaryWriter", "it is closed", path=self.path))
        self._file.write(record(event))
        self._file.flush()

    def flush(self) -> None:
        """Wait until all of it is on the disk."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SummaryWriter({str(self.path)!r})"


def _array(what: str, given: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(given)
    if array.dtype.kind not in "biuf" and array.dtype.kind != "V":
        raise ArgumentError(explain(what, "not numbers", got=type(given).__name__))
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _narrow(value: float) -> float:
    """In the range of 32 bits: what is beyond is infinite there."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _edges(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Limits that grow by a tenth, on both sides of zero, to beyond the largest value."""
    most = np.log(max(1e20, float(np.abs(array).max()))) + np.log(1.2)
    with np.errstate(over="ignore"):
        growing = 1e-12 * 1.1 ** np.arange(np.ceil((most - np.log(1e-12)) / np.log(1.1)) + 1)
    growing = np.minimum(growing, np.finfo(np.float64).max)
    return np.concatenate([-growing[::-1], [0.0], growing])
