"""Device names such as `cuda:0`, parsed and printed."""

from __future__ import annotations

import re

from treadle.base.errors import DeviceError, explain

BACKENDS = ("cpu", "cuda", "reference")


class Device:
    """Where a tensor lives. One object per name, so compare with `is`."""

    __slots__ = ("backend", "index")

    def __init__(self, backend: str, index: int) -> None:
        self.backend, self.index = backend, index

    def __repr__(self) -> str:
        return self.backend if self.backend != "cuda" else f"cuda:{self.index}"

    def __reduce__(self) -> tuple[object, ...]:
        return (device, (repr(self),))


_DEVICES: dict[tuple[str, int], Device] = {}
_NAME = re.compile(r"([a-z]+)(?::(\d+))?$")


def device(spec: str | Device) -> Device:
    """The device of that name.

    >>> device("cpu")
    cpu
    """
    if isinstance(spec, Device):
        return spec
    match = _NAME.match(spec) if isinstance(spec, str) else None
    if match is None or match[1] not in BACKENDS:
        hint = "cpu, cuda, cuda:1, or reference (NumPy, for checking)"
        raise DeviceError(explain("device", "unknown device", hint, got=repr(spec)))
    key = (match[1], int(match[2] or 0))
    if key[1] and key[0] != "cuda":
        raise DeviceError(explain("device", "there is only one", f"{key[0]!r}", got=repr(spec)))
    return _DEVICES.setdefault(key, Device(*key))


CPU = device("cpu")
