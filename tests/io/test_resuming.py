"""A training run that is killed in the middle of an epoch goes on as if it had not been."""

from __future__ import annotations

import itertools
import os
import random
import signal
import struct
import time

import numpy as np
import pytest

import treadle as td
from treadle.io import Checkpointer

STEPS = 40
REPORT = struct.Struct("<id")


class Run:
    """Model, update rule, schedule and loader of a small run; everything in it draws or counts."""

    def __init__(self, compiled):
        td.manual_seed(5)
        rng = np.random.default_rng(0)
        data = [td.tensor(rng.normal(size=(22, n)).astype("f4")) for n in (6, 2)]
        self.model = td.nn.Sequential(
            td.nn.Linear(6, 8), td.nn.ReLU(), td.nn.Dropout(0.25), td.nn.Linear(8, 2)
        )
        self.optimizer = td.optim.Adam(self.model.parameters(), lr=0.01)
        self.schedule = td.optim.lr_scheduler.StepLR(self.optimizer, 7, gamma=0.8)
        self.loader = td.data.DataLoader(td.data.TensorDataset(*data), 4, shuffle=True, generator=3)
        self.parts = {
            "model": self.model, "optimizer": self.optimizer, "schedule": self.schedule,
            "loader": self.loader,
        }  # fmt: skip
        self.update = td.compile(self.loss) if compiled else self.loss

    def loss(self, x, y):
        loss = ((self.model(x) - y) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def steps(self, step):
        """(number, loss) of one step after the other, from a step on."""
        while True:
            for x, y in self.loader:
                step += 1
                loss = self.update(x, y).item()
                self.schedule.step()
                yield step, loss


def wanted(compiled):
    return dict(itertools.islice(Run(compiled).steps(0), STEPS))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_run_goes_on_in_the_middle_of_an_epoch(compiled, tmp_path):
    losses = wanted(compiled)
    found, saved = {}, Checkpointer(tmp_path)
    for count in (3, 1, 11, 6, STEPS - 21):  # six batches are an epoch
        run = Run(compiled)
        restored = saved.restore(**run.parts)
        assert (restored.step if restored else 0) == len(found)
        found |= itertools.islice(run.steps(len(found)), count)
        saved.save(len(found), **run.parts)
    assert found == losses


def go_on(path, pipe):
    """Train from the newest checkpoint, and save after every step; tell each loss."""
    try:
        os.fsync = lambda _: None  # a kill is no power cut: what was written stays
        run, saved = Run(compiled=False), Checkpointer(path, keep_last=2)
        found = saved.restore(**run.parts)
        os.write(pipe, REPORT.pack(0, 0))  # it has begun
        for step, loss in run.steps(found.step if found else 0):
            os.write(pipe, REPORT.pack(step, loss))
            saved.save(step, **run.parts)
            if step == STEPS:
                os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_run_that_is_killed_gives_the_same_losses(tmp_path):
    losses, rng = wanted(compiled=False), random.Random(1)
    kills, last = 0, 0
    while last < STEPS:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            go_on(tmp_path, write)
        os.close(write)
        assert os.read(read, REPORT.size), "it did not begin"
        time.sleep(rng.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL)
        said = os.read(read, 1 << 16)
        os.close(read)
        for step, loss in REPORT.iter_unpack(said):
            assert step <= last + 1  # no more is lost than the step that was not saved
            assert loss == losses[step]
            last = max(last, step)
        kills += 1
        assert kills < 400, "it does not get on"
        if Checkpointer(tmp_path).steps()[-1:] == [STEPS]:
            break
    assert kills > 3
