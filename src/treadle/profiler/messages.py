"""Many protobuf messages at once: a column for each byte of a field, a row for each message."""

from __future__ import annotations

from typing import Any

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Whole = np.ndarray[Any, Any]  # of any integers

VARINT, FIXED64, BLOCK = 0, 1, 2  # how a field is written


class Messages:
    """Rows of bytes that grow field by field; a field can be absent in some rows."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.sizes = np.zeros(count, np.int64)
        self._columns: list[tuple[Bytes, Bools | None]] = []

    def whole(self, number: int, values: Whole | int, where: Bools | None = None) -> Messages:
        """A field with a number that is not negative."""
        self._tag(number, VARINT, where)
        self._varint(np.broadcast_to(np.asarray(values, np.uint64), self.count), where)
        return self

    def double(self, number: int, values: np.ndarray[Any, Any]) -> Messages:
        """A field with a float of 64 bits."""
        self._tag(number, FIXED64, None)
        for column in np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(-1, 8).T:
            self._byte(column, None)
        return self

    def block(self, number: int, inner: Messages, more: Whole | None = None) -> Messages:
        """A field with a message; more bytes of it will follow in each row's tail."""
        self._tag(number, BLOCK, None)
        sizes = inner.sizes if more is None else inner.sizes + more
        self._varint(sizes.astype(np.uint64), None)
        for column, present in inner._columns:
            self._byte(column, present)
        return self

    def framed(self, number: int, more: Whole | None = None) -> Messages:
        """Each row as a field of a message above."""
        return Messages(self.count).block(number, self, more)

    def joined(self, tails: Bytes | None = None, tail_sizes: Whole | None = None) -> bytes:
        """All rows one after the other, each with its own tail behind it."""
        data = np.stack([np.broadcast_to(column, self.count) for column, _ in self._columns], 1)
        all_rows = np.ones(self.count, bool)
        present = [all_rows if where is None else where for _, where in self._columns]
        fixed = data[np.stack(present, 1)]
        if tails is None or tail_sizes is None:
            return fixed.tobytes()
        found = np.empty(len(fixed) + len(tails), np.uint8)
        is_tail = np.zeros(self.count * 2, bool)
        is_tail[1::2] = True
        sizes = np.stack([self.sizes, tail_sizes], 1).ravel()
        of_tail = np.repeat(is_tail, sizes)
        found[of_tail] = tails
        found[~of_tail] = fixed
        return found.tobytes()

    def _tag(self, number: int, form: int, where: Bools | None) -> None:
        self._varint(np.full(self.count, number << 3 | form, np.uint64), where)

    def _varint(self, values: np.ndarray[Any, np.dtype[np.uint64]], where: Bools | None) -> None:
        """Seven bits a byte, the lowest first; the highest bit says that more follow."""
        most = int(values.max(initial=0))
        shift = 0
        while True:
            rest = values >> np.uint64(shift)
            more = rest > 0x7F
            column = ((rest & np.uint64(0x7F)) | (more * np.uint64(0x80))).astype(np.uint8)
            there = where if shift == 0 else rest > 0 if where is None else (rest > 0) & where
            self._byte(column, there)
            shift += 7
            if most >> shift == 0:
                return

    def _byte(self, column: Bytes, where: Bools | None) -> None:
        self._columns.append((column, where))
        self.sizes += 1 if where is None else where
