"""PTX without a GPU: the threads of a block in step, as NumPy arrays, over the host's own memory.

Blocks take turns: each runs up to a barrier or round a loop once, so that all of them are on their
way at the same time. Within a block groups of threads run in step, all of them or each warp by
itself, up to the barrier they wait at. Threads that branch apart wait for those that are behind
them in the text.
"""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache

import numpy as np

LINE = re.compile(r"(?:@(!?)(%p\d+) )?([a-z][\w.]*)(?: (.*))?;")
START = 4096  # below, nothing is mapped
EVERYTHING = (ctypes.c_uint8 * ((1 << 47) - START)).from_address(START)
SIZES = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
BARRIER = "bar.sync"
END = object()
PATIENCE = 10000  # turns of a block: none takes nearly as many
TWO = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "div": np.floor_divide, "rem": np.remainder,
    "min": np.minimum,
}  # fmt: skip
TEST = {
    "lt": np.less, "ge": np.greater_equal, "gt": np.greater, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip


@lru_cache(maxsize=64)
def program_of(text):
    """(instructions with their guards and operands, where labels stand)"""
    found, labels = [], {}
    for line in map(str.strip, text.partition("{")[2].splitlines()):
        if line.endswith(":"):
            labels[line[:-1]] = len(found)
        elif (parts := LINE.fullmatch(line)) is not None:
            inverted, guard, op, operands = parts.groups()
            found.append((op, op.split("."), guard, bool(inverted), (operands or "").split(", ")))
        else:
            assert not line or line.startswith((".reg", "}")), line
    return found, labels


class Block:
    """One block of threads."""

    def __init__(self, text, threads, shared, number, arguments, ranges):
        self.program, self.labels = program_of(text)
        self.arguments, self.ranges = arguments, ranges
        self.shared = np.zeros(-(-shared // 8), np.uint64)
        self.registers, self.at = {}, np.zeros(threads, np.int64)
        thread = np.arange(threads, dtype=np.uint32)
        one = np.uint32(1)
        self.special = {
            "%tid.x": thread, "%ctaid.x": np.full(threads, number, np.uint32),
            "%lanemask_lt": (one << (thread % 32)) - one, "memory": np.zeros(threads, np.uint32),
        }  # fmt: skip

    def run(self, groups):
        """To the end, every group to each barrier before all go on; yields for other blocks."""
        while True:
            for group in groups:
                yield from self._to_barrier(group)
            (here,) = set(self.at)  # all threads, at the same barrier
            if self.program[here][0] == "ret":
                return
            self.at += 1
            yield

    def _to_barrier(self, group):
        while True:
            here = self.at[group].min()
            active = group[self.at[group] == here]
            op, parts, guard, inverted, operands = self.program[here]
            if op in ("ret", BARRIER):
                assert len(active) == len(group), "threads wait at different places"
                return
            self.at[active] += 1
            if guard is not None:
                active = active[self._register(guard)[active] != inverted]
            if op == "bra":
                self.at[active] = self.labels[operands[0]]
                if self.labels[operands[0]] <= here:
                    yield
            elif len(active):
                self._do(parts, operands, active)

    def _value(self, name, active, bits=32):
        """What an operand is for the threads that are there."""
        if name in self.special:
            return self.special[name][active]
        if name.startswith("%"):
            return self._register(name)[active]
        return np.full(len(active), int(name, 0) & ((1 << bits) - 1), SIZES[bits])

    def _register(self, name):
        """Of all threads; what nobody has set holds anything."""
        if name not in self.registers:
            kind = {"p": np.bool_, "r": np.uint32, "d": np.uint64}[name[1]]
            self.registers[name] = np.full(len(self.at), 0xDEADBEEF).astype(kind)
        return self.registers[name]

    def _set(self, name, active, value):
        self._register(name)[active] = value

    def _do(self, parts, operands, active):
        head, kind = parts[0], parts[-1]
        bits = int(kind[1:]) if kind[1:].isdigit() else 1
        if head in ("ld", "st", "red", "atom"):
            self._touch(parts, operands, active, bits)
        elif head == "bar":
            assert len(active) % 32 == 0
        elif head == "setp":
            given = [self._value(x, active, bits) for x in operands[1:]]
            self._set(operands[0], active, TEST[parts[1]](*given))
        else:
            given = [self._value(x, active, bits) for x in operands[1:]]
            self._set(operands[0], active, self._result(head, bits, given, active))

    def _result(self, head, bits, given, active):
        first = given[0]
        if head in TWO:
            return TWO[head](*given[:2])
        if head in ("shl", "shr"):
            by = given[1].astype(np.uint64)
            wide = first.astype(np.uint64)
            found = wide << (by % 64) if head == "shl" else wide >> (by % 64)
            return np.where(by < bits, found, 0).astype(SIZES[bits])
        if head in ("mov", "cvt"):
            return first.astype(SIZES[bits] if head == "mov" else np.uint64)
        if head == "selp":
            return np.where(given[2], first, given[1])
        if head == "popc":
            return np.bitwise_count(first).astype(np.uint32)
        if head == "vote":
            lanes = first.reshape(-1, 32).astype(np.uint64) << np.arange(32, dtype=np.uint64)
            return self._whole(np.repeat(lanes.sum(1), 32), active)
        assert head == "shfl", head
        rows, by = first.reshape(-1, 32), int(given[1][0])
        return self._whole(np.hstack([rows[:, :by], rows[:, :-by]]).ravel(), active)

    def _whole(self, found, active):
        """What warps do together is done by all their lanes."""
        assert (active.reshape(-1, 32)[:, 0] % 32 == 0).all()
        assert (np.diff(active.reshape(-1, 32), axis=1) == 1).all()
        return found

    # ---- memory

    def _touch(self, parts, operands, active, bits):
        head, (place,) = parts[0], [x for x in operands if x.startswith("[")]
        if "param" in parts:
            self._set(operands[0], active, self.arguments[place[1:-1]])
            return
        memory, where = self._places(parts, place, active, bits)
        if head == "ld":
            self._set(operands[0], active, memory[where])
            return
        value = self._value(operands[-1], active, bits).astype(SIZES[bits])
        if head == "atom":
            assert len(active) == 1
            self._set(operands[0], active, memory[where])
        if head == "st":
            memory[where] = value
        else:
            assert "add" in parts
            places, which = np.unique(where, return_inverse=True)
            total = np.zeros(len(places), memory.dtype)
            np.add.at(total, which, value)
            memory[places] += total

    def _places(self, parts, place, active, bits):
        """Memory as numbers of so many bits, and which of them."""
        name, _, offset = place[1:-1].partition("+")
        address = self._value(name, active).astype(np.int64) + int(offset or 0)
        size = bits // 8
        assert not (address % size).any(), "an address is not aligned"
        if "shared" in parts:
            assert (address + size <= 8 * len(self.shared)).all(), "outside of shared memory"
            return self.shared.view(SIZES[bits]), address // size
        inside = np.zeros(len(address), bool)
        for start, end in self.ranges:
            inside |= (start <= address) & (address + size <= end)
        assert inside.all(), "outside of what the kernel was given"
        return np.frombuffer(EVERYTHING, SIZES[bits]), (address - START) // size


def run_blocks(text, warps, shared, grid, arguments, ranges, turns=None, backwards=True):
    """A kernel on addresses and numbers, by name; ranges: (start, end) of memory it may touch.

    turns: the numbers of warps in the order in which each runs by itself; without, all in step.
    backwards: blocks begin in their order, but from then on the last is always the first to move.
    """
    threads = np.arange(32 * warps)
    groups = [threads] if turns is None else [threads[32 * k : 32 * k + 32] for k in turns]
    with np.errstate(over="ignore"):
        blocks = [Block(text, 32 * warps, shared, k, arguments, ranges) for k in range(grid)]
        running = [block.run(groups) for block in blocks]
        for turn in range(PATIENCE):
            running = [block for block in running if next(block, END) is not END]
            if not running:
                return
            if backwards and not turn:
                running.reverse()
    raise AssertionError("blocks wait for each other")
