"""Device memory in somebody's hands, which comes back when they let go of it."""

from __future__ import annotations

from typing import Any, Protocol

GRAIN = 512  # bytes: sizes are multiples, and addresses are aligned to it
COARSE = 1 << 20  # larger blocks come in fewer sizes, so that freed ones fit again


class Lender(Protocol):
    """A device."""

    def take_back(self, address: int, room: int) -> None:
        """A block that nobody holds any more."""


class Buffer:
    """Device memory, given back when the last reference to the object goes."""

    __slots__ = ("__weakref__", "address", "device", "room", "size")

    def __init__(self, address: int, size: int, room: int, device: Lender) -> None:
        self.address, self.size, self.room, self.device = address, size, room, device

    def __del__(self) -> None:
        self.device.take_back(self.address, self.room)

    def __repr__(self) -> str:
        return f"<device buffer of {self.size} bytes at {self.address:#x}>"


class Loan:
    """Device memory that belongs to somebody else, who is told when nobody holds it any more."""

    __slots__ = ("__weakref__", "address", "home", "size")

    def __init__(self, buffer: Buffer, home: Any) -> None:
        self.address, self.size, self.home = buffer.address, buffer.size, home

    def __del__(self) -> None:
        self.home.append(self.address)


def room_of(nbytes: int) -> int:
    """The block handed out for a request."""
    if nbytes <= COARSE:
        return -(-max(nbytes, 1) // GRAIN) * GRAIN
    step = 1 << (nbytes.bit_length() - 4)  # eight sizes per doubling
    return -(-nbytes // step) * step
