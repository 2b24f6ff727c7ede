"""GGUF files of language models: metadata, tokenizer and tensors, dequantised when asked for."""

from __future__ import annotations

import struct
from math import prod
from typing import Any

import numpy as np

from treadle.base import dtypes as d
from treadle.base.dtypes import DType
from treadle.io.files import Entry, TensorFile, typed
from treadle.io.gguf_blocks import BLOCKS, dequantised
from treadle.io.source import shown

MAGIC = b"GGUF"
VERSIONS = (2, 3)
PLAIN: dict[str, DType] = {
    "F32": d.float32, "F16": d.float16, "BF16": d.bfloat16, "F64": d.float64,
    "I8": d.int8, "I16": d.int16, "I32": d.int32, "I64": d.int64,
}  # fmt: skip
# Number of a type: its name, elements in a block, bytes of a block.
TYPES = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34),
    10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2),
    26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
}  # fmt: skip
# Number of a metadata value's type: how NumPy and struct read it.
NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
TEXT, ARRAY = 8, 9
LARGEST_ALIGNMENT = 1 << 20
DEEPEST, MOST_AXES = 4, 8
WINDOW = 1 << 20


class GGUF(TensorFile):
    """A GGUF file, opened: quantised tensors are dequantised when they are asked for.

    Numbers of blocks become float32, others keep their dtype. `metadata` holds the model's numbers
    and texts by name, the tokenizer's lists among them. Shapes are as Treadle and PyTorch write
    them, the last axis contiguous: the reverse of those in the file.
    """

    kind = "GGUF"

    def _read(self) -> None:
        self._place, self._window, self._begin = 0, b"", 0
        if self.source.size < 24 or self._take(4) != MAGIC:
            raise self.source.wrong("not a GGUF file")
        version = self._number("I")
        if version not in VERSIONS:
            swapped = int.from_bytes(struct.pack(">I", version), "little") in VERSIONS
            wrong = "its bytes are in the other order" if swapped else "a version not known"
            raise self.source.wrong(f"{wrong}: GGUF 2 and 3, little-endian, are", version=version)
        tensors, pairs = self._count("Q", 24), self._count("Q", 12)
        self.metadata["GGUF.version"] = version
        for _ in range(pairs):
            name = self._text()
            if name in self.metadata:
                raise self.source.wrong("metadata name something twice", name=shown(name))
            self.metadata[name] = self._value(self._number("I"), 0)
        found = [self._described() for _ in range(tensors)]
        self._start = self._aligned()
        self._places: dict[str, int] = {}
        self._check_places(found)
        self._window = b""

    # ---- bytes

    def _take(self, count: int) -> bytes:
        """The next bytes, out of a window that is read at once."""
        first = self._place - self._begin
        if first + count > len(self._window):
            size = max(count, min(WINDOW, self.source.size - self._place))
            self._window, self._begin = self.source.read(self._place, size), self._place
            first = 0
        self._place += count
        return self._window[first : first + count]

    def _number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))[0]

    def _count(self, form: str, least: int) -> int:
        """A count of things of at least so many bytes: no more than the file can hold."""
        count = self._number(form)
        if count * least > self.source.size - self._place:
            left = self.source.size - self._place
            raise self.source.wrong("it ends before what it says it holds", count=count, left=left)
        return int(count)

    def _text(self) -> str:
        data = self._take(self._count("Q", 1))
        return data.decode("utf-8", "surrogateescape")

    def _value(self, kind: int, depth: int) -> Any:
        if kind in NUMBERS:
            return self._truth() if NUMBERS[kind] == "?" else self._number(NUMBERS[kind])
        if kind == TEXT:
            return self._text()
        if kind != ARRAY or depth > DEEPEST:
            raise self.source.wrong("no type of metadata, or nested too deep", type=kind)
        inner = self._number("I")
        if inner == TEXT or inner not in NUMBERS:
            least = 8 if inner == TEXT else 12
            return [self._value(inner, depth + 1) for _ in range(self._count("Q", least))]
        code = np.dtype(NUMBERS[inner]).newbyteorder("<")
        raw = np.frombuffer(self._take(self._count("Q", code.itemsize) * code.itemsize), code)
        return raw.tolist()

    def _truth(self) -> bool:
        return self._number("B") != 0

    # ---- tensors

    def _described(self) -> tuple[str, tuple[int, ...], str, int, int]:
        """Name, shape, type, bytes and place of a tensor."""
        name, axes = self._text(), self._number("I")
        if axes > MOST_AXES:
            raise self.source.wrong("a tensor has too many axes", name=shown(name), axes=axes)
        sizes = [self._number("Q") for _ in range(axes)]
        number, place = self._number("I"), self._number("Q")
        if number not in TYPES:
            raise self.source.wrong("an element type not known", name=shown(name), type=number)
        kind, elements, block = TYPES[number]
        shape = self.source.sizes(sizes)[::-1]
        if elements > 1 and (not shape or shape[-1] % elements):
            facts = {"name": shown(name), "type": kind, "shape": shape}
            raise self.source.wrong(f"rows are not made of blocks of {elements}", **facts)
        return name, shape, kind, prod(shape) // elements * block, place

    def _aligned(self) -> int:
        """Where the tensors begin."""
        step = self.metadata.get("general.alignment", 32)
        if type(step) is not int or not 0 < step <= LARGEST_ALIGNMENT or step % 8:
            raise self.source.wrong("no alignment", alignment=shown(step))
        self._step = step
        return -(-self._place // step) * step

    def _check_places(self, found: list[tuple[str, tuple[int, ...], str, int, int]]) -> None:
        """No two tensors in one place, none beyond the end."""
        last = 0
        for name, shape, kind, nbytes, place in found:
            if name in self.entries:
                raise self.source.wrong("a name stands twice", name=shown(name))
            self.entries[name], self._places[name] = Entry(kind, shape, nbytes), place
        for name, place in sorted(self._places.items(), key=lambda item: item[1]):
            end = place + self.entries[name].nbytes
            facts = {"name": shown(name), "at": place, "bytes": self.entries[name].nbytes}
            if place % self._step:
                raise self.source.wrong("a tensor is not aligned", **facts)
            if place < last:
                raise self.source.wrong("tensors overlap", **facts)
            if self._start + end > self.source.size:
                raise self.source.wrong("a tensor reaches beyond the end of the file", **facts)
            last = end

    def raw(self, name: str) -> Any:
        """The bytes of a tensor as they are in the file."""
        entry = self.entry(name)
        return self.source.array(self._start + self._places[name], entry.nbytes)

    def numpy(self, name: str) -> Any:
        """One tensor's elements, dequantised to float32 if they are in blocks."""
        entry, raw = self.entry(name), self.raw(name)
        if entry.dtype in PLAIN:
            return typed(self.source, raw, PLAIN[entry.dtype], entry.shape)
        if entry.dtype not in BLOCKS:
            known = ", ".join((*PLAIN, *BLOCKS))
            facts = {"name": shown(name), "type": entry.dtype}
            raise self.source.wrong("this quantisation is not read", f"read are {known}", **facts)
        return dequantised(entry.dtype, raw).reshape(entry.shape)
