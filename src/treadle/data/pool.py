"""The worker processes of a loader, seen from their parent.

Processes are forked on Linux: data sets need no pickling and their memory is shared, and a fork
waits for every lock of ours (base/forks.py). Elsewhere they are spawned.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from multiprocessing import connection
from typing import Any

from treadle.base.errors import ArgumentError, TreadleError, explain
from treadle.data.fetching import Reading
from treadle.data.packing import Receiver
from treadle.data.workers import Failure, work

PATIENCE = 0.5  # seconds that a worker has to end by itself
LOOK = 0.25  # seconds after which the parent looks again whether a silent worker lives
_ENDS: weakref.WeakSet[Any] = weakref.WeakSet()  # of all pools: a forked child closes its copies
_STARTING = threading.RLock()  # a fork must not copy ends that others just make or close


class WorkerError(TreadleError, RuntimeError):
    """A worker process that died, does not answer, or failed with what cannot be sent."""


def context_of(given: Any) -> Any:
    """How processes are started: by a name, by a context of multiprocessing, or as is safe here."""
    if given is None:
        given = "fork" if sys.platform == "linux" else "spawn"
    if not isinstance(given, str):
        return given
    if given not in multiprocessing.get_all_start_methods():
        hint = ", ".join(multiprocessing.get_all_start_methods())
        wrong = "processes cannot be started this way"
        raise ArgumentError(explain("DataLoader", wrong, hint, multiprocessing_context=repr(given)))
    return multiprocessing.get_context(given)


class Pool:
    """Workers that answer requests; whoever started them ends them."""

    def __init__(
        self, count: int, reading: Reading, initialise: Callable[[int], None] | None,
        context: Any, timeout: float,
    ) -> None:  # fmt: skip
        self.timeout, self.owner, self.is_ending = timeout, os.getpid(), False
        self.processes: list[Any] = []
        self.receivers: list[Receiver] = []
        self.asked = [0] * count  # answers that each still owes
        self.reader: Any = None  # the loop that they work for now, weakly
        self._arrived: deque[tuple[int, Any]] = deque()
        try:
            for number in range(count):
                self._start(number, count, reading, initialise, context_of(context))
        except BaseException:
            self.close()
            raise

    def _start(
        self, number: int, count: int, reading: Reading,
        initialise: Callable[[int], None] | None, context: Any,
    ) -> None:  # fmt: skip
        with _STARTING, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forks.py makes threads no matter
            ours, theirs = context.Pipe(duplex=True)
            _ENDS.add(ours)
            is_fork = context.get_start_method() == "fork"
            inherited = list(_ENDS) if is_fork else []
            process = context.Process(
                target=work,
                args=(theirs, number, count, reading, initialise, inherited),
                name=f"treadle-data-{number}",
                daemon=True,
            )
            try:
                process.start()
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                wrong = (
                    f"workers started by {context.get_start_method()} cannot be sent this: {error}"
                )
                hint = "define the data set and its functions at the top of a module"
                raise ArgumentError(explain("DataLoader", wrong, hint)) from error
            finally:
                theirs.close()
        self.processes.append(process)
        self.receivers.append(Receiver(ours))

    def ask(self, number: int, request: Any, answers: int = 1) -> None:
        """Send a worker a request, and what memory it may use again."""
        receiver = self.receivers[number]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `answer` says why
            receiver.connection.send((request, receiver.take_unread()))
        self.asked[number] += answers

    def answer(self) -> tuple[int, Any]:
        """(number of a batch, what a worker made of it), of whichever is done first."""
        end = time.monotonic() + self.timeout if self.timeout else None
        while not self._arrived:
            if self.is_ending:
                raise WorkerError(explain("DataLoader", "the loop was left"))
            left = LOOK if end is None else min(LOOK, end - time.monotonic())
            if left <= 0:
                raise self._silence()
            owing = [k for k, count in enumerate(self.asked) if count]
            ends = {self.receivers[k].connection: k for k in owing}
            ready = connection.wait([*ends, *(self.processes[k].sentinel for k in owing)], left)
            for number in owing:
                if self.receivers[number].connection in ready:
                    self._collect(number)
                elif self._is_dead(number) and not self._collect(number):
                    raise self._death(number)
        return self._arrived.popleft()

    def _collect(self, number: int) -> bool:
        """Take one message of a worker, if it sent any."""
        receiver = self.receivers[number]
        try:
            if not receiver.connection.poll():
                return False
            batch, value = receiver.receive()
        except (EOFError, ConnectionResetError, BrokenPipeError):
            raise self._death(number) from None
        self.asked[number] -= 1
        self._arrived.append((batch, value))
        return True

    def drain(self) -> None:
        """Take and drop what is still owed."""
        self._arrived.clear()
        while any(self.asked):
            self.answer()

    # ---- ends

    def _is_dead(self, number: int) -> bool:
        return not self.processes[number].is_alive()

    def _death(self, number: int) -> WorkerError:
        process = self.processes[number]
        process.join(PATIENCE)
        code = process.exitcode
        facts = {"worker": number, "pid": process.pid}
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            hint = "the system was out of memory?" if -code == signal.SIGKILL else ""
            if name in ("SIGSEGV", "SIGBUS", "SIGILL"):
                hint = 'a native library failed; try multiprocessing_context="spawn"'
            return WorkerError(explain("DataLoader", f"{name} ended a worker", hint, **facts))
        wrong = f"a worker ended by itself, with exit code {code}"
        return WorkerError(explain("DataLoader", wrong, "does the data set exit?", **facts))

    def _silence(self) -> WorkerError:
        owing = [k for k, count in enumerate(self.asked) if count]
        wrong = f"no worker has answered in {self.timeout} s"
        return WorkerError(explain("DataLoader", wrong, "raise timeout", waiting_for=owing))

    def close(self) -> None:
        """End all workers: they are asked to, then made to."""
        if os.getpid() != self.owner:  # a forked child has copies of these objects
            return
        for receiver in self.receivers:
            with contextlib.suppress(OSError):
                receiver.connection.send(None)
            with _STARTING:
                receiver.connection.close()
        self.receivers.clear()
        end = time.monotonic() + PATIENCE
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
        for stop in ("terminate", "kill"):
            late = [process for process in self.processes if process.is_alive()]
            for process in late:
                getattr(process, stop)()
            for process in late:
                process.join(PATIENCE)
        self.processes.clear()


def raise_in_parent(failure: Failure, worker_text: str) -> None:
    """Raise what a worker raised, with the worker's own traceback as a note."""
    note = f"{worker_text}, where this was raised:\n{failure.text}"
    if not failure.error:
        raise WorkerError(explain("DataLoader", f"an exception came from {note}"))
    error: BaseException = pickle.loads(failure.error)
    error.add_note(f"It came from {note}")
    raise error
