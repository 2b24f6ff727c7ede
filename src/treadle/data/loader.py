"""A data set as batches: in an order, by processes, from where it was left."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from treadle.backends.registry import present
from treadle.base.device import CPU, Device
from treadle.base.errors import ArgumentError, explain
from treadle.base.watch import Kind, during
from treadle.data import epoch
from treadle.data.datasets import IterableDataset, TensorDataset
from treadle.data.fetching import Reading
from treadle.data.pool import Pool, context_of
from treadle.data.samplers import BatchSampler, RandomSampler, SequentialSampler
from treadle.data.seeds import Epochs
from treadle.tensor.placing import can_pin
from treadle.tensor.tensor import Tensor


class DataLoader:
    """Batches of a data set, as PyTorch's: arguments have its names, order and defaults.

    generator is a seed, a numpy.random.Generator, or None (td.manual_seed decides): it orders
    shuffles and decides the random numbers of each sample, which do not depend on num_workers.
    multiprocessing_context is "fork" (Linux: data sets need no pickling), "spawn" (elsewhere) or
    "forkserver". device copies batches there from a thread, while the program computes.
    pin_memory has that thread put them into pinned memory first, from which to("cuda",
    non_blocking=True) copies beside what is computed; without a GPU it changes nothing.

    `state_dict` says where an epoch stands; after `load_state_dict` the next loop goes on with the
    batch that would have come next.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, device: str | Device | None = None,
    ) -> None:  # fmt: skip
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.pin_memory, self.drop_last, self.collate_fn = pin_memory, drop_last, collate_fn
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers
        self.multiprocessing_context = multiprocessing_context
        self.device = None if device is None else present(device)
        self._is_iterable = isinstance(dataset, IterableDataset)
        _check_processes(self)
        _check_order(self, batch_size, shuffle, sampler, batch_sampler)
        self._epochs = Epochs("DataLoader", generator)
        if batch_sampler is None and not self._is_iterable:
            if sampler is None and shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            sampler = SequentialSampler(dataset) if sampler is None else sampler
            if batch_size is not None:
                batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        elif batch_sampler is not None:
            batch_size = None  # it differs from batch to batch
        self.batch_size, self.sampler, self.batch_sampler = batch_size, sampler, batch_sampler
        is_batched = batch_size is not None or batch_sampler is not None
        self._reading = Reading(dataset, collate_fn, batch_size, drop_last, is_batched)
        self._pool: Pool | None = None
        self._pins = False
        self._progress = _Progress(self.workers)

    def __len__(self) -> int:
        """The number of batches of an epoch."""
        if not self._is_iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count, size = len(self.dataset), self.batch_size or 1
        return count // size if self.drop_last else -(-count // size)

    def __iter__(self) -> Iterator[Any]:
        """A new epoch, or the rest of the one that was loaded."""
        progress = self._progress = self._progress.entered()
        seed = self._epochs.start()
        source = self._iterated(seed) if self._is_iterable else self._mapped(seed)
        pool = self._workers()
        self._pins = bool(self.pin_memory) and can_pin()
        is_copied = self._pins or (self.device is not None and self.device is not CPU)
        return Epoch(source(pool), progress, self._finish, pool, self.persistent_workers, is_copied)

    # ---- an epoch's source: (worker, batch), once its workers are there

    def _mapped(self, seed: int) -> Callable[[Pool | None], Iterator[tuple[int, Any]]]:
        skip = self._progress.batches
        batches = enumerate(self._batches(skip), skip)

        def source(pool: Pool | None) -> Iterator[tuple[int, Any]]:
            if pool is None:
                values = epoch.here(self._reading, batches, seed)
            else:
                values = epoch.by_workers(pool, batches, seed, self.prefetch_factor or 2)
            return ((0, value) for value in values)

        return source

    def _batches(self, skip: int) -> Iterator[Any]:
        """The indices of the batches of a new epoch, after the first ones."""
        if isinstance(self.batch_sampler, BatchSampler):
            return self.batch_sampler.batches(skip)
        source = self.sampler if self.batch_sampler is None else self.batch_sampler
        return itertools.islice(iter(source), skip, None)

    def _iterated(self, seed: int) -> Callable[[Pool | None], Iterator[tuple[int, Any]]]:
        given, turn = list(self._progress.given), self._progress.turn

        def source(pool: Pool | None) -> Iterator[tuple[int, Any]]:
            if pool is None:
                return epoch.iterated_here(self._reading, seed, given)
            return epoch.iterated_by_workers(pool, seed, given, turn, self.prefetch_factor or 2)

        return source

    def _finish(self, pair: tuple[int, Any]) -> tuple[int, Any]:
        worker, value = pair
        plain = self.collate_fn is None
        return worker, epoch.on_device(value, plain, self.device, self._pins)

    def _workers(self) -> Pool | None:
        if not self.num_workers:
            return None
        if self._pool is not None and self._pool.owner == os.getpid() and self._pool.processes:
            return self._pool
        facts = (self.worker_init_fn, self.multiprocessing_context, self.timeout)
        pool = Pool(self.num_workers, self._reading, *facts)
        if self.persistent_workers:
            self._pool = pool
            weakref.finalize(self, pool.close)
        return pool

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Where the epoch stands that the newest loop is in: numbers, lists and dicts only."""
        own = self.sampler if self.batch_sampler is None else self.batch_sampler
        kept = getattr(own, "state_dict", None)
        state = self._epochs.state_dict() | self._progress.state_dict()
        return state | {"sampler": kept() if kept else {}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Have the next loop go on after the last batch that was given before state_dict.

        An iterable data set is read again up to there, by as many workers as before.
        """
        missing = {"epoch", "seed", "batches", "given", "turn", "running", "sampler"} - set(state)
        if missing:
            hint = "pass what state_dict of a loader gave"
            what, keys = "DataLoader.load_state_dict", sorted(missing)
            raise ArgumentError(explain(what, "not a loader's state", hint, missing=keys))
        if self._is_iterable and state["running"] and len(state["given"]) != self.workers:
            wrong = "an iterable data set goes on with as many workers as before"
            facts = {"before": len(state["given"]), "now": self.workers}
            raise ArgumentError(explain("DataLoader.load_state_dict", wrong, **facts))
        again = bool(state["running"])
        self._epochs.load_state_dict(state, again)
        self._progress = _Progress(self.workers, state)
        own = self.sampler if self.batch_sampler is None else self.batch_sampler
        if hasattr(own, "load_state_dict"):
            own.load_state_dict(state["sampler"], again)

    @property
    def workers(self) -> int:
        """How many processes read."""
        return max(1, self.num_workers)

    def __repr__(self) -> str:
        parts = [f"{type(self.dataset).__name__}", f"batch_size={self.batch_size}"]
        parts += [f"shuffle={isinstance(self.sampler, RandomSampler)}"] * (not self._is_iterable)
        parts += [f"num_workers={self.num_workers}"] * bool(self.num_workers)
        return f"DataLoader({', '.join(parts)})"


class _Progress:
    """How far an epoch has come."""

    def __init__(self, workers: int, state: dict[str, Any] | None = None) -> None:
        self.running = bool(state and state["running"])  # is there an epoch to go on with?
        self.loaded = self.running
        self.batches = int(state["batches"]) if state and self.running else 0
        self.given = [int(x) for x in state["given"]] if state and self.running else [0] * workers
        self.turn = int(state["turn"]) if state and self.running else 0

    def entered(self) -> _Progress:
        """Of the loop that begins now: this, if it was loaded, else a new one."""
        made = self if self.loaded else _Progress(len(self.given))
        made.loaded, made.running = False, True
        return made

    def gave(self, worker: int) -> None:
        """One more batch is out."""
        self.batches += 1
        self.given[worker] += 1
        self.turn = (worker + 1) % len(self.given)

    def state_dict(self) -> dict[str, Any]:
        """Numbers to go on from."""
        return {
            "batches": self.batches, "given": list(self.given), "turn": self.turn,
            "running": self.running,
        }  # fmt: skip


class Epoch:
    """The batches of one epoch; what reads them ends with it, or when it is dropped."""

    def __init__(
        self, pairs: Iterator[tuple[int, Any]], progress: _Progress,
        finish: Callable[[tuple[int, Any]], tuple[int, Any]], pool: Pool | None, keeps: bool,
        is_copied: bool,
    ) -> None:  # fmt: skip
        self._progress, self._pool = progress, pool
        self._awaited = f"next batch, {len(pool.processes)} workers" if pool else "next batch"
        if pool is not None:
            older, pool.reader = pool.reader and pool.reader(), weakref.ref(self)
            if older is not None:
                older.leave()
        thread = epoch.Ahead(pairs, finish) if is_copied else None
        self._pairs: Iterator[tuple[int, Any]] = thread or map(finish, pairs)
        self._close = weakref.finalize(self, _end, thread, None if keeps else pool)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            with during(Kind.DATA, self._awaited):
                worker, value = next(self._pairs)
        except BaseException as error:
            if isinstance(error, StopIteration):
                self._progress.running = False
            self._pairs = iter(())
            self._close()
            if self._pool is not None and not isinstance(error, StopIteration):
                self._pool.close()  # in the middle of a message, perhaps
            raise
        self._progress.gave(worker)
        return value

    def leave(self) -> None:
        """Let a newer loop have the workers: this one cannot go on."""
        if self._close.alive:
            self._close()
            self._pairs, self._pool = _overtaken(), None


def _overtaken() -> Iterator[Any]:
    wrong = "a newer loop over this loader has its persistent workers"
    hint = "one loop at a time, or persistent_workers=False"
    raise ArgumentError(explain("DataLoader", wrong, hint))
    yield


def _end(thread: epoch.Ahead | None, pool: Pool | None) -> None:
    """End what reads ahead, then the processes it reads from."""
    if pool is not None:
        pool.is_ending = True
    if thread is not None:
        thread.close()
    if pool is not None:
        pool.close()


def _check_processes(loader: DataLoader) -> None:
    what, count = "DataLoader", loader.num_workers
    if isinstance(count, bool) or not hasattr(count, "__index__") or count < 0:
        wrong = "num_workers is a whole number >= 0"
        raise ArgumentError(explain(what, wrong, num_workers=repr(count)))
    if loader.timeout < 0:
        raise ArgumentError(explain(what, "timeout is not negative", timeout=loader.timeout))
    if count == 0:
        for name in ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
            if getattr(loader, name):
                hint = "pass num_workers=1 or more, or leave it out"
                raise ArgumentError(explain(what, f"{name} is for worker processes", hint))
        return
    if loader.prefetch_factor is not None and loader.prefetch_factor < 1:
        facts = {"prefetch_factor": loader.prefetch_factor}
        raise ArgumentError(explain(what, "prefetch_factor is 1 or more", **facts))
    context_of(loader.multiprocessing_context)
    held = loader.dataset.tensors if isinstance(loader.dataset, TensorDataset) else ()
    away = [x.device for x in held if isinstance(x, Tensor) and x.device is not CPU]
    if away:
        wrong, hint = "workers cannot read tensors of a device", "leave num_workers out"
        raise ArgumentError(explain(what, wrong, hint, device=away[0]))


def _check_order(
    loader: DataLoader, batch_size: int | None, shuffle: bool | None, sampler: Any,
    batch_sampler: Any,
) -> None:  # fmt: skip
    what = "DataLoader"
    if loader._is_iterable and (shuffle or sampler is not None or batch_sampler is not None):
        wrong, hint = "an iterable data set has its own order", "leave shuffle and samplers out"
        raise ArgumentError(explain(what, wrong, hint))
    if sampler is not None and shuffle:
        wrong = "a sampler and shuffle both decide the order"
        raise ArgumentError(explain(what, wrong, "leave shuffle out"))
    if batch_sampler is not None and (
        batch_size != 1 or shuffle or sampler is not None or loader.drop_last
    ):
        hint = "leave batch_size, shuffle, sampler and drop_last out"
        raise ArgumentError(explain(what, "a batch_sampler decides them all", hint))
    if batch_size is None and loader.drop_last:
        raise ArgumentError(explain(what, "drop_last without batches", "pass a batch_size"))
    whole = not isinstance(batch_size, bool) and hasattr(batch_size, "__index__")
    if batch_size is not None and (not whole or int(batch_size) < 1):
        wrong = "batch_size is a whole number above zero, or None"
        raise ArgumentError(explain(what, wrong, batch_size=repr(batch_size)))
    if not loader._is_iterable and not hasattr(loader.dataset, "__getitem__"):
        hint = "a Dataset with __getitem__ and __len__, or an IterableDataset"
        got = type(loader.dataset).__name__
        raise ArgumentError(explain(what, "samples have no index", hint, got=got))
