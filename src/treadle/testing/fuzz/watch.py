"""What programs do while they run: memory they take, blocks in another order, each kernel's work.

Everything here stands between `Program.run` and the native loop, for the time of a with block.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cpu.program import DONE, Program
from treadle.backends.cpu.threads import Pool, runner
from treadle.backends.cpu.workers import REGION, SERIAL
from treadle.backends.reference.eval import evaluate
from treadle.ir.graph import substitute, toposort
from treadle.ir.node import Node, leaf
from treadle.testing.choice import Choice
from treadle.testing.fuzz.bounds import largest

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
LOOSE = {8: 1e-9, 4: 2e-3, 2: 0.1, 1: 0.6}  # by the size of a float: of the largest, what is fine
Results = list[Any] | None
Run = Callable[[Program, Sequence[Any], Results], list[Any]]


@contextmanager
def instead(make: Callable[[Run], Run]) -> Iterator[None]:
    """Have programs run by another function, which is given the usual one."""
    usual = Program.run
    Program.run = make(usual)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Program.run = usual  # type: ignore[method-assign]


class Taken:
    """Bytes that programs took: for what they made, and at most at once to work with."""

    def __init__(self) -> None:
        self.made = self.working = 0

    @property
    def total(self) -> int:
        """Both."""
        return self.made + self.working


@contextmanager
def counted() -> Iterator[Taken]:
    """Count the memory of programs."""
    taken = Taken()

    def make(usual: Run) -> Run:
        def run(program: Program, inputs: Sequence[Any], results: Results = None) -> list[Any]:
            taken.made += sum(program.new)
            taken.working = max(taken.working, program.layout.nbytes)
            return usual(program, inputs, results)

        return run

    with instead(make):
        yield taken


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Run on so many threads."""

    def make(usual: Run) -> Run:
        def run(program: Program, inputs: Sequence[Any], results: Results = None) -> list[Any]:
            usually = program.pool, program.free  # those words name the usual threads
            program.pool, program.free = Pool.get(count), []
            try:
                return usual(program, inputs, results)
            finally:
                program.pool, program.free = usually

        return run

    with instead(make):
        yield


@contextmanager
def _launched(launch: Callable[[Program, Sequence[Any], int], None]) -> Iterator[None]:
    """Have the table of a program walked by another function: it gets the address of the words."""

    def make(usual: Run) -> Run:
        def run(program: Program, inputs: Sequence[Any], results: Results = None) -> list[Any]:
            native = program.launch

            def walk(address: int) -> None:
                launch(program, inputs, address)
                ctypes.c_int64.from_address(address + 8 * DONE).value = 1

            program.launch = walk
            try:
                return usual(program, inputs, results)
            finally:
                program.launch = native

        return run

    with instead(make):
        yield


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))


@contextmanager
def in_any_order(seed: int) -> Iterator[None]:
    """Blocks that threads would share run one by one, in a random order."""
    draw = Choice(seed)

    def launch(program: Program, inputs: Sequence[Any], address: int) -> None:
        _, table, count, bases = _words(address, 4)
        for k in range(count):
            _entry(table + 32 * k, bases, draw)

    with _launched(launch):
        yield


def _entry(address: int, bases: int, draw: Choice | None) -> None:
    """Run one line of a program's table."""
    code, params, blocks, flags = _words(address, 4)
    if flags & REGION:  # the tables of its bodies are walked natively
        runner()(Pool.get().address, address, 1, bases)
        return
    order = list(range(blocks))
    if draw is not None and not flags & SERIAL:
        draw.shuffle(order)
    kernel = KERNEL(code)
    for block in order:
        kernel(bases, params, block, 0)


# ---- kernel by kernel


class Differs(Exception):
    """A kernel does not compute what the reference does."""


@contextmanager
def shadowed() -> Iterator[None]:
    """Hold what every kernel writes against the reference, given what the kernel read."""
    with _launched(_shadow):
        yield


def _shadow(program: Program, inputs: Sequence[Any], address: int) -> None:
    _, table, _, bases = _words(address, 4)
    starts = _words(bases, program.places.bases)
    rows: dict[int, list[int]] = {}
    for row, entry in enumerate(program.entries):
        rows.setdefault(entry.step, []).append(row)
    known = program.general is None  # else its nodes have no numbers: only results are compared
    for number, step in enumerate(program.steps if known else ()):
        before = {node: _copy(program, node, starts) for node in step.reads()}
        for row in rows.pop(number, ()):
            _entry(table + 32 * row, bases, None)
        for node in step.writes:
            wrong = _difference(node, before, _copy(program, node, starts))
            if wrong:
                ops = " ".join(str(n.op) for n in step.cluster.members)
                raise Differs(
                    f"kernel {number} of {len(program.steps)} ({ops}) writes {node.op}: {wrong}"
                )
    for row in sorted(chain.from_iterable(rows.values())):  # copies, where there are no steps
        _entry(table + 32 * row, bases, None)


def _copy(program: Program, node: Node, starts: Sequence[int]) -> Any:
    """The elements of a node, as they lie in memory just now."""
    base, offset = program.places.found[node]
    kind = numpy_dtype(node.dtype)
    raw = ctypes.string_at(starts[base] + offset, node.type.nbytes)
    return np.frombuffer(raw, kind, node.type.size).reshape(node.shape)


def _difference(node: Node, before: dict[Node, Any], found: Any) -> str:
    known = {x: leaf(x.type, array) for x, array in before.items()}
    root = substitute([node], known)[0] if node not in known else known[node]
    order = toposort([root], lambda n: n.buffer is not None)
    if any(not n.type.size for n in order):
        return ""
    made = evaluate(order, lambda n: n.buffer)
    expected = made[-1]
    if not node.dtype.is_float:
        wrong = found != expected
    else:
        peak = max((largest(x) for x in made if x.dtype.kind not in "iub"), default=1.0)
        with np.errstate(invalid="ignore"):
            gap = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        coarsest = min(n.dtype.size for n in order if n.dtype.is_float)
        nothing = np.isnan(found) & np.isnan(expected)  # as the mean of no elements is
        same = (found == expected) | nothing  # two infinities are no number apart
        wrong = ~(gap <= LOOSE[coarsest] * max(1.0, peak)) & ~same
    if not np.any(wrong):
        return ""
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    return (f"{int(np.sum(wrong))} of {found.size} elements, first at {list(place)}: "
            f"{found[place]} instead of {expected[place]}")  # fmt: skip
