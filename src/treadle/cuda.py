"""NVIDIA GPUs as a user sees them: which there are, what they hold, streams, waiting, clocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
        gpu.wait_for_all()


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

    enable_timing and blocking are taken for those used to them: every event has a time.

    >>> from treadle import cuda
    >>> if cuda.is_available():
    ...     start, end = cuda.Event(), cuda.Event()
    ...     start.record(); end.record()
    ...     start.elapsed_time(end) >= 0  # milliseconds
    """

    def __init__(
        self, where: str | int | Device = "cuda", *, enable_timing: bool = True,
        blocking: bool = False,
    ) -> None:  # fmt: skip
        self._gpu = _gpu(where)
        self._mark: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """When everything asked for so far is done; of a stream, if one is named."""
        self._mark = self._gpu.mark(None if stream is None else stream.handle)

    def wait(self, stream: Stream | None = None) -> None:
        """Let what is asked for from now on, of a stream if one is named, come after it."""
        self._gpu.follow(self._recorded(), None if stream is None else stream.handle)

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


class Stream:
    """Work of a device in the order in which it is asked for.

    All that td computes on a device is on one stream at a time, `current_stream()`: within
    `with td.cuda.stream(s)` that is s. Work before, within and after comes in this order, so values
    are always right; streams of other libraries run beside it. address wraps one of theirs.
    """

    def __init__(self, where: str | int | Device = "cuda", *, address: int | None = None) -> None:
        self._gpu = _gpu(where)
        self._owned = address is None
        self.handle: Any = self._gpu.new_stream() if address is None else address

    def __del__(self) -> None:
        if getattr(self, "_owned", False):
            self._gpu.end_stream(self.handle)

    @property
    def cuda_stream(self) -> int:
        """Its address, for other libraries."""
        return int(self.handle)

    def synchronize(self) -> None:
        """Wait until everything asked of it so far is done."""
        self._gpu.wait_for(self._gpu.mark(self.handle))

    def query(self) -> bool:
        """Is everything done?"""
        return bool(self._gpu.has_come(self._gpu.mark(self.handle)))

    def record_event(self, event: Event | None = None) -> Event:
        """An event that comes when everything asked of it so far is done."""
        found = Event(int(self._gpu.device)) if event is None else event
        found.record(self)
        return found

    def wait_event(self, event: Event) -> None:
        """Let what is asked of it from now on come after an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let what is asked of it from now on come after what is asked of another by now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __repr__(self) -> str:
        return f"Stream(cuda:{int(self._gpu.device)}, {self.cuda_stream:#x})"


def current_stream(where: str | int | Device = "cuda") -> Stream:
    """The stream that does the work of a device now."""
    gpu = _gpu(where)
    found = Stream(int(gpu.device), address=int(gpu.stream))
    found.handle = gpu.stream
    return found


@contextmanager
def stream(wanted: Stream | None) -> Iterator[None]:
    """Have a stream do what is asked for within; None changes nothing.

    What is not looked at within is computed later, elsewhere: call realize() there.
    """
    if wanted is None:
        yield
        return
    if not isinstance(wanted, Stream):
        hint = "td.cuda.Stream(), or Stream(address=...) for one of another library"
        raise DeviceError(explain("stream", "not a stream", hint, got=type(wanted).__name__))
    wanted._gpu.begin_on(wanted)
    try:
        yield
    finally:
        wanted._gpu.end_on(wanted)


def _gpu(where: str | int | Device) -> Any:
    found = device(f"cuda:{where}" if isinstance(where, int) else where)
    if found.backend != "cuda":
        raise DeviceError(explain("cuda", "not a GPU", 'name one: "cuda" or "cuda:1"', got=found))
    return backend_of(found).gpu  # type: ignore[attr-defined]


def _in_use() -> list[Any]:
    return [backend.gpu for backend in LOADED.values() if backend.name == "cuda"]  # type: ignore[attr-defined]
