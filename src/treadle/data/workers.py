"""What a worker process does: read batches until it is told to stop or its parent is gone."""

from __future__ import annotations

import gc
import os
import pickle
import queue
import random
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection, parent_process
from typing import Any, NamedTuple

import numpy as np

from treadle.data.fetching import Reading, read, read_on
from treadle.data.packing import Sender
from treadle.runtime.draws import GENERATOR

WATCH = 1.0  # seconds after which a worker looks again whether its parent is there


class WorkerInfo(NamedTuple):
    """Who a worker is: its id of num_workers, its seed in this epoch, its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


class Begin(NamedTuple):
    """An epoch begins; an iterable data set goes on after skip batches."""

    seed: int
    skip: int


class Read(NamedTuple):
    """A batch is wanted: at indices, or the next one of an iterable data set."""

    number: int
    indices: Any


class Failure(NamedTuple):
    """What went wrong in a worker: the exception where it can be sent, and how it was printed."""

    error: bytes
    text: str


class Ended(NamedTuple):
    """An iterable data set has no more."""


_info: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """In a worker process, who it is; None in the main process.

    An iterable data set asks this to read its own part only:
    `itertools.islice(lines, info.id, None, info.num_workers)`.
    """
    return _info[0] if _info else None


def work(
    here: connection.Connection[Any, Any], number: int, count: int, reading: Reading,
    initialise: Callable[[int], None] | None, inherited: Iterable[Any],
) -> None:  # fmt: skip
    """The whole life of worker `number`; `inherited` are ends of pipes that are not its own."""
    for end in inherited:
        end.close()
    gc.freeze()  # what was garbage in the parent is not ours to finalize
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = parent_process()
    sender = Sender(here, parent.pid if parent and parent.pid else os.getppid())
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(here, requests), daemon=True).start()
    worker = _Worker(reading, number, count)
    try:
        if initialise is not None:
            worker.introduce(0)
            initialise(number)
    except Exception as error:
        _answer(sender, None, failure_of(error))
        return
    while (request := requests.get()) is not None:
        wanted, returned = request
        sender.give_back(returned)
        if isinstance(wanted, Begin):
            worker.begin(wanted)
        elif wanted is not None:
            _answer(sender, wanted.number, worker.read(wanted))


class _Worker:
    def __init__(self, reading: Reading, number: int, count: int) -> None:
        self.reading, self.number, self.count = reading, number, count
        self.begun = Begin(0, 0)
        self.rest: Iterator[Any] | None = None

    def introduce(self, seed: int) -> None:
        """Say who this is to `get_worker_info`, and seed what has no generator of its own."""
        own = (seed + self.number) & ((1 << 63) - 1)
        _info[:] = [WorkerInfo(self.number, self.count, own, self.reading.dataset)]
        random.seed(own)
        np.random.seed(own & 0xFFFFFFFF)
        GENERATOR.seed(own)

    def begin(self, begin: Begin) -> None:
        self.introduce(begin.seed)
        self.begun, self.rest = begin, None

    def read(self, wanted: Read) -> Any:
        """A batch, or why there is none."""
        seed = self.begun.seed
        try:
            if wanted.indices is not None:
                return read(self.reading, wanted.indices, seed, wanted.number)
            if self.rest is None:
                self.rest = read_on(self.reading, seed, self.number, self.begun.skip)
            return next(self.rest, Ended())
        except Exception as error:
            return failure_of(error)


def _answer(sender: Sender, number: int | None, value: Any) -> None:
    try:
        sender.send((number, value))
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)  # nobody waits for it any more
    except Exception as error:  # it cannot be pickled, or there is no memory for it
        sender.send((number, failure_of(error)))


def failure_of(error: Exception) -> Failure:
    """An exception as it can be sent."""
    text = "".join(traceback.format_exception(error)).rstrip()
    try:
        sent = pickle.dumps(error)
        pickle.loads(sent)
    except Exception:  # whatever a class of the user's does
        sent = b""
    return Failure(sent, text)


def _listen(here: connection.Connection[Any, Any], requests: queue.SimpleQueue[Any]) -> None:
    """Take requests as they come, so that the parent never waits; end all when it is gone."""
    parent = parent_process()
    watched: list[Any] = [here, *([parent.sentinel] if parent else [])]
    above = os.getppid()
    while True:
        ready = connection.wait(watched, WATCH)
        if here in ready:
            try:
                request = here.recv()
            except (EOFError, OSError):
                os._exit(1)
            while request is None and not requests.empty():
                requests.get()  # what was asked for before is wanted no more
            requests.put(request)
            if request is None:
                return
        elif ready or os.getppid() != above:
            os._exit(1)
