"""NVIDIA GPUs as a user sees them: which there are, what they hold, waiting, and their clock."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from treadle.backends.registry import LOADED, backend_of
from treadle.base.device import Device, device
from treadle.base.errors import DeviceError, explain


def is_available() -> bool:
    """Can a tensor be moved to a GPU here?"""
    return device_count() > 0


def device_count() -> int:
    """How many GPUs the driver shows; 0 where there is no driver, or nothing to talk to it."""
    try:
        return int(import_module("treadle.backends.cuda.driver").count())
    except ImportError:
        return 0


def current_device() -> int:
    """The number of the GPU that "cuda" means: always the first."""
    return device("cuda").index


def get_device_name(where: str | int | Device = "cuda") -> str:
    """What the maker calls a device."""
    return str(_gpu(where).name)


def get_device_capability(where: str | int | Device = "cuda") -> tuple[int, int]:
    """Its architecture, as (9, 0)."""
    architecture: int = _gpu(where).architecture
    return divmod(architecture, 10)


def synchronize(where: str | int | Device | None = None) -> None:
    """Wait until everything asked for so far is done: on a device, or on all in use."""
    for gpu in [_gpu(where)] if where is not None else _in_use():
        gpu.wait()


def memory_stats(where: str | int | Device = "cuda") -> dict[str, int]:
    """Bytes: what we have from the driver, what of that is kept free, what programs work in."""
    gpu = _gpu(where)
    free, total = gpu.room()
    working = gpu.working.room if gpu.working is not None else 0
    return {
        "mapped": gpu.mapped,
        "kept": gpu.kept,
        "working": working,
        "free": free,
        "total": total,
    }


def empty_cache() -> None:
    """Give freed memory that is kept for the next request back to the driver."""
    for gpu in _in_use():
        gpu.release()


class Event:
    """A moment in a device's work; the time between two of them is measured by the device.

    >>> from treadle import cuda
    >>> if cuda.is_available():
    ...     start, end = cuda.Event(), cuda.Event()
    ...     start.record(); end.record()
    ...     start.elapsed_time(end) >= 0  # milliseconds
    """

    def __init__(self, where: str | int | Device = "cuda") -> None:
        self._gpu = _gpu(where)
        self._mark: Any = None

    def record(self) -> None:
        """When everything asked for so far is done."""
        self._mark = self._gpu.mark()

    def synchronize(self) -> None:
        """Wait for that moment."""
        self._gpu.wait_for(self._recorded())

    def query(self) -> bool:
        """Has it come?"""
        return bool(self._gpu.has_come(self._recorded()))

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this moment to another, once both have come."""
        end.synchronize()
        return float(self._gpu.between(self._recorded(), end._recorded()))

    def _recorded(self) -> Any:
        if self._mark is None:
            raise DeviceError(explain("Event", "nothing is recorded", "call record() first"))
        return self._mark


def _gpu(where: str | int | Device) -> Any:
    found = device(f"cuda:{where}" if isinstance(where, int) else where)
    if found.backend != "cuda":
        raise DeviceError(explain("cuda", "not a GPU", 'name one: "cuda" or "cuda:1"', got=found))
    return backend_of(found).gpu  # type: ignore[attr-defined]


def _in_use() -> list[Any]:
    return [backend.gpu for backend in LOADED.values() if backend.name == "cuda"]  # type: ignore[attr-defined]
