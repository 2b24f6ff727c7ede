"""What a device's copy engine is told about a tensor that it reads by blocks: a tensor map."""

from __future__ import annotations

import ctypes

from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.native import encoder
from treadle.backends.cuda.sized import Exact, Sizes
from treadle.base.errors import DeviceError, explain
from treadle.base.sizes import Size

KINDS = {
    "u8": (0, 1),
    "fp16": (6, 2),
    "fp32": (7, 4),
    "bf16": (9, 2),
}  # the driver's number of a type, and its bytes
BYTES, ALIGNED = 128, 64  # of a map
LINES_OF_128 = 2  # how much the second cache fetches at once
MOST = 16  # addresses of which a map is kept: results come to lie where earlier ones did


class TensorMap:
    """The map of one tensor, which a kernel is given by value."""

    def __init__(
        self, tensor: Tensor, sizes: Sizes, kind: str, swizzle: int, block: list[int]
    ) -> None:
        self.swizzle = swizzle
        self.kind, self.size = KINDS[kind.removeprefix("tensordesc<").partition("[")[0]]
        rank = len(tensor.extents)
        numbers = tensor.offset, *reversed(tensor.extents), *reversed(tensor.strides[:-1])
        self.sized = [sizes.number(n) for n in numbers] if Size in map(type, numbers) else []
        self.extents, self.strides = (ctypes.c_uint64 * rank)(), (ctypes.c_uint64 * rank)()
        self.block = (ctypes.c_uint32 * rank)(*reversed(block))
        self.every = (ctypes.c_uint32 * rank)(*[1] * rank)
        self.room = (ctypes.c_uint8 * (BYTES + ALIGNED))()
        self.place = -(-ctypes.addressof(self.room) // ALIGNED) * ALIGNED
        if not self.sized:
            self._measure(*numbers)

    def _measure(self, offset: int, *sides: int) -> None:
        """How large the tensor is, and how its elements lie."""
        rank = len(self.extents)
        self.offset = self.size * offset
        self.extents[:] = list(sides[:rank])
        self.strides[: rank - 1] = [self.size * step for step in sides[rank:]]
        self.aimed = -1
        self.known: dict[int, bytes] = {}

    def fit(self, exact: Exact) -> None:
        """Fill in sizes that were not known."""
        if self.sized:
            self._measure(*(number(exact) for number in self.sized))

    def aim(self, address: int) -> None:
        """The buffer is at an address."""
        if address == self.aimed:
            return
        if address in self.known:
            ctypes.memmove(self.place, self.known[address], BYTES)
        else:
            self._encode(address)
            if len(self.known) >= MOST:
                self.known.clear()
            self.known[address] = ctypes.string_at(self.place, BYTES)
        self.aimed = address

    def _encode(self, address: int) -> None:
        code = encoder()(
            ctypes.c_void_p(self.place), self.kind, len(self.extents),
            ctypes.c_void_p(address + self.offset), self.extents, self.strides,
            self.block, self.every, 0, self.swizzle, LINES_OF_128, 0,
        )  # fmt: skip
        if code:
            raise DeviceError(explain("cuda", "the driver refused a tensor map", code=code))
