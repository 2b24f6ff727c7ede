"""How the batches of an epoch come to the loop that wants them."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

from treadle.base.device import Device
from treadle.data.collate import tensors
from treadle.data.fetching import Reading, read, read_on
from treadle.data.pool import Pool, raise_in_parent
from treadle.data.samplers import Order
from treadle.data.workers import Begin, Ended, Failure, Read

AHEAD = 2  # batches that wait on a device
Numbered = Iterator[tuple[int, Order]]


def here(reading: Reading, batches: Numbered, seed: int) -> Iterator[Any]:
    """Batches read by this process when they are asked for."""
    for number, indices in batches:
        yield read(reading, indices, seed, number)


def by_workers(pool: Pool, batches: Numbered, seed: int, ahead: int) -> Iterator[Any]:
    """Batches read by workers, some ahead, in order: each goes to who has the least to do."""
    _begin(pool, [Begin(seed, 0)] * len(pool.asked))
    wanted = 0
    done: dict[int, Any] = {}
    asked: list[int] = []

    def ask() -> None:
        number, indices = next(batches, (-1, None))
        if number >= 0:
            idle = min(range(len(pool.asked)), key=pool.asked.__getitem__)
            pool.ask(idle, Read(number, indices))
            asked.append(number)

    for _ in range(ahead * len(pool.asked)):
        ask()
    while wanted < len(asked):
        number = asked[wanted]
        while number not in done:
            came, value = pool.answer()
            done[number if came is None else came] = value  # None: a worker that never began
        wanted += 1
        value = _good(done.pop(number))
        ask()
        yield value
        del value


def iterated_by_workers(
    pool: Pool, seed: int, given: list[int], turn: int, ahead: int
) -> Iterator[tuple[int, Any]]:
    """(worker, batch) of an iterable data set: workers take turns; given says what was read."""
    count = len(given)
    _begin(pool, [Begin(seed, skip) for skip in given])
    done: list[dict[int, Any]] = [{} for _ in given]
    numbers = [itertools.count() for _ in given]
    wanted, alive = [0] * count, set(range(count))
    for _ in range(ahead):
        for worker in range(count):
            pool.ask(worker, Read(next(numbers[worker]) * count + worker, None))
    while alive:
        if turn in alive:
            while wanted[turn] not in done[turn]:
                came, value = pool.answer()
                if came is None:
                    _good(value)
                done[came % count][came // count] = value
            value = _good(done[turn].pop(wanted[turn]))
            wanted[turn] += 1
            if isinstance(value, Ended):
                alive.discard(turn)
            else:
                pool.ask(turn, Read(next(numbers[turn]) * count + turn, None))
                yield turn, value
                del value
        turn = (turn + 1) % count


def iterated_here(reading: Reading, seed: int, given: list[int]) -> Iterator[tuple[int, Any]]:
    """(0, batch) of an iterable data set, read by this process."""
    return ((0, value) for value in read_on(reading, seed, 0, given[0]))


def _begin(pool: Pool, begins: list[Begin]) -> None:
    pool.drain()  # what an epoch that was left early has asked for
    for worker, begin in enumerate(begins):
        pool.ask(worker, begin, answers=0)


def _good(value: Any) -> Any:
    if isinstance(value, Failure):
        raise_in_parent(value, "a worker process")
    return value


class Ahead:
    """An iterator that a thread goes through, at most some steps before who reads it.

    The thread makes device copies while the program computes.
    """

    def __init__(self, source: Iterator[Any], change: Callable[[Any], Any]) -> None:
        self._made: queue.Queue[tuple[str, Any]] = queue.Queue(AHEAD)
        self._stop = threading.Event()
        arguments = (source, change, self._made, self._stop)
        self._thread = threading.Thread(target=_go_through, args=arguments, daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._stop.is_set():
            raise StopIteration
        kind, value = self._made.get()
        if kind == "value":
            return value
        self.close()
        if kind == "error":
            raise value
        raise StopIteration

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()


def _go_through(
    source: Iterator[Any], change: Callable[[Any], Any], made: queue.Queue[tuple[str, Any]],
    stop: threading.Event,
) -> None:  # fmt: skip
    def put(kind: str, value: Any) -> None:
        while not stop.is_set():
            try:
                made.put((kind, value), timeout=0.1)
            except queue.Full:
                continue
            return

    try:
        for value in source:
            put("value", change(value))
            if stop.is_set():
                return
        put("end", None)
    except BaseException as error:
        put("error", error)


def on_device(value: Any, collates: bool, device: Device | None, pinned: bool = False) -> Any:
    """A batch as the loop gets it: arrays as tensors unless a collate_fn chose to give arrays."""
    wanted = collates or device is not None or pinned
    return tensors(value, device, pinned) if wanted else value
