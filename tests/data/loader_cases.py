"""Data sets that spawned processes can import."""

from __future__ import annotations

import itertools
import os
import signal
import time

import numpy as np

from treadle import data


class Squares(data.Dataset):
    """i, its square, and two random numbers that belong to the sample."""

    def __init__(self, count=23, width=3):
        self.count, self.width = count, width

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        drawn = data.generator().random(2)
        return {
            "index": index, "values": np.full(self.width, index**2, np.float32), "drawn": drawn,
        }  # fmt: skip


class Lines(data.IterableDataset):
    """Numbers, shared between workers, with a random number each."""

    def __init__(self, count=23):
        self.count = count

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for number in itertools.islice(range(self.count), first, None, step):
            yield number, data.generator().random()


class Failing(data.Dataset):
    """Fails at one index, in one way."""

    def __init__(self, how, at=9):
        self.how, self.at = how, at

    def __len__(self):
        return 20

    def __getitem__(self, index):
        if index == self.at:
            getattr(self, self.how)()
        return index

    def raises(self):
        raise KeyError("the ninth is not there")

    def raises_oddly(self):
        raise OddError("first", "second")

    def exits(self):
        os._exit(7)

    def exits_politely(self):
        raise SystemExit(3)

    def is_killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def sleeps(self):
        time.sleep(60)


class OddError(Exception):
    """Cannot be made again from what it prints."""

    def __init__(self, one, two):
        super().__init__(f"{one}{two}")


def fails(worker):
    raise ValueError(f"worker {worker} cannot begin")
