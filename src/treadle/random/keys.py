"""Where random bits come from: keys, and counters under them.

A key is two 32-bit words in a tensor. The bits of element i in stream k under a key are
Threefry(key, i, k): any element can be made alone, in any order, on any device.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.backends.registry import present
from treadle.base.device import CPU, Device
from treadle.base.dtypes import DType, bfloat16, float16, float64, uint32, uint64
from treadle.base.errors import ArgumentError, DtypeError, ShapeError, explain
from treadle.base.shapes import Shape, sizes_in
from treadle.ir.node import Node, const, iota
from treadle.ops.elementwise import cast, threefry
from treadle.ops.movement import concat, cut
from treadle.runtime.draws import GENERATOR, draw
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import SAMPLES

DIGITS = {float16: 11, bfloat16: 8, float64: 53}
"""Bits of a random fraction, 24 for the others: one more would round up to 1."""


def manual_seed(seed: int) -> None:
    """Start the global generator again: the same seed gives the same numbers everywhere."""
    GENERATOR.seed(_whole("manual_seed", "seed", seed))


def get_rng_state() -> Tensor:
    """Where the global generator stands: its key's two words, and how many draws were made."""
    return tensor(GENERATOR.state(), dtype=uint64)


def set_rng_state(new_state: Tensor) -> None:
    """Let the global generator go on from where get_rng_state() was called."""
    if not isinstance(new_state, Tensor) or (new_state.shape, new_state.dtype) != ((3,), uint64):
        raise ArgumentError(explain("set_rng_state", "no state", "td.random.get_rng_state() is"))
    GENERATOR.go_on(*new_state.tolist())


def key(seed: int, device: str | Device = CPU) -> Tensor:
    """A key made of a seed, for functions that should not read the global generator.

    >>> key(7).tolist()
    [7, 0]
    """
    seed = _whole("key", "seed", seed)
    words = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    return tensor(words, dtype=uint32, device=device)


def split(key: Tensor, count: int = 2) -> Tensor:
    """count new keys from one, as the rows of a (count, 2) tensor; do not use the old one again."""
    k0, k1 = _words("split", key)
    numbers = cast(iota((_whole("split", "count", count), 1), 0, key.device), uint32)
    return Tensor(concat([threefry(k0, k1, numbers, word) for word in (0, 1)], axis=1))


def fold_in(key: Tensor, number: int) -> Tensor:
    """The key of a numbered part, such as a step or a layer."""
    k0, k1 = _words("fold_in", key)
    low = const(_whole("fold_in", "number", number) & 0xFFFFFFFF, uint32, key.device)
    parts = [threefry(k0, k1, low, word).reshape((1,)) for word in (2, 3)]
    return Tensor(concat(parts))


def _words(what: str, key: Tensor) -> tuple[Node, Node]:
    """The two words of a key."""
    if not isinstance(key, Tensor) or key.shape != (2,) or key.dtype is not uint32:
        got = f"{key.dtype}{key.shape}" if isinstance(key, Tensor) else type(key).__name__
        hint = "make one with td.random.key(seed) or a row of td.random.split(key)"
        raise ArgumentError(explain(what, "not a key", hint, got=got))
    low, high = (cut(key._node, 0, k, k + 1).reshape(()) for k in (0, 1))
    return low, high


class Bits:
    """The streams of random bits of one draw, for elements of a shape."""

    def __init__(self, shape: Shape, where: Device, key: Tensor | None = None) -> None:
        if key is not None:
            self.key, where = _words("random", key), key.device
        else:
            words, number = draw(where)
            k0, k1, first = (cut(words, 0, k, k + 1).reshape(()) for k in range(3))
            turn = first + number if number else first
            self.key = (threefry(k0, k1, turn, 0), threefry(k0, k1, turn, 1))
        count = math.prod(shape)
        samples = [] if key is not None else SAMPLES.items
        if count * math.prod(size for _, size in samples) > 1 << 32:
            raise ShapeError(explain("random", "more than 2**32 elements in one draw", shape=shape))
        place = iota((count,), 0, where)
        for sample, size in reversed(samples):  # as if all were drawn as one tensor
            place, count = place + sample * count, count * size
        self.index = cast(place, uint32).reshape(shape)
        self.streams = 0

    def words(self) -> Node:
        """32 fresh random bits for every element."""
        self.streams += 1
        return threefry(*self.key, self.index, self.streams - 1)

    def wide(self) -> Node:
        """64 fresh random bits for every element."""
        return (cast(self.words(), uint64) << 32) | cast(self.words(), uint64)

    def fraction(self, dtype: DType) -> Node:
        """Floats in [0, 1), all multiples of one step equally likely."""
        digits = DIGITS.get(dtype, 24)
        if digits > 32:
            return cast(self.wide() >> (64 - digits), dtype) * 2.0**-digits
        return cast(self.words() >> (32 - digits), dtype) * 2.0**-digits


# ---- arguments


def shape_in(what: str, shape: Any) -> Shape:
    """A shape given as sizes or as one number."""
    sizes = tuple(sizes_in(what, shape if isinstance(shape, tuple | list) else (shape,)))
    if any(size < 0 for size in sizes):
        raise ShapeError(explain(what, "sizes are not negative", shape=sizes))
    return sizes


def float_in(what: str, kind: DType) -> DType:
    """A dtype that must be a float."""
    if not kind.is_float:
        raise DtypeError(explain(what, "samples are floats", "float32 is usual", dtype=kind.name))
    return kind


def device_in(where: str | Device, key: Tensor | None) -> Device:
    """Where the samples are made: beside the key if there is one."""
    return key.device if isinstance(key, Tensor) else present(where)


def _whole(what: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(explain(what, f"{name} is an integer", got=repr(value)))
    return int(value.__index__())
