"""A run: the loop of steps, its validation, checkpoints and logs, and going on bit for bit."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from treadle import data, io, logs, nn
from treadle.base.errors import TreadleError, explain
from treadle.base.files import write
from treadle.cli.training.config import Config
from treadle.cli.training.parts import model_of, optimizer_of, schedule_of
from treadle.cli.training.tasks import task_of
from treadle.random import manual_seed
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor
from treadle.transforms.compile import compile as compiled

LOG, CHECKPOINTS, EVENTS = "log.csv", "checkpoints", "tensorboard"


class Judged(NamedTuple):
    """What a validation found."""

    loss: float
    right: float | None
    """The share of samples that are right, where there is one."""


class Run:
    """A model being trained in a folder, which holds all of it."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder, train = config, folder, config.train
        manual_seed(train.seed)
        self.task = task_of(config.data, train.seed)
        vocabulary = None if self.task.tokenizer is None else self.task.tokenizer.vocab_size
        self.model = model_of(config.model, vocabulary).to(train.device)
        self.optimizer = optimizer_of(config.optimizer, self.model.parameters())
        self.schedule = schedule_of(config.schedule, self.optimizer, train.steps)
        self.size = min(train.batch, len(self.task.train))
        self.loader = data.DataLoader(
            self.task.train, self.size, shuffle=True, drop_last=True, generator=train.seed,
            num_workers=train.workers, device=train.device,
        )  # fmt: skip
        self.checkpoints = io.Checkpointer(folder / CHECKPOINTS, train.keep_last)
        self.done = 0
        self.saved: int | None = None  # the step of the checkpoint that was last written or read
        self._learn, self._judge = compiled(self._step), compiled(self._look)

    # ---- what is compiled

    def _step(self, x: Tensor, y: Tensor) -> Tensor:
        self.optimizer.zero_grad()
        loss = self.task.loss(self.model, x, y)
        loss.backward()
        if self.config.train.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.train.clip)
        self.optimizer.step()
        return loss

    def _look(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor | None]:
        with no_grad():
            right = self.task.right
            return self.task.loss(self.model, x, y), right and right(self.model, x, y)

    # ---- the loop

    def train(
        self, show: Callable[[int, float, float], object], stopping: Callable[[], bool]
    ) -> bool:
        """Steps until all are done or somebody asks to stop; True if all are done.

        show(step, loss, seconds) is called after each.
        """
        train, log = self.config.train, logs.CSVLogger(self.folder / LOG)
        with log, logs.SummaryWriter(self.folder / EVENTS) as events:
            batches = self._batches()
            while self.done < train.steps and not stopping():
                started = time.perf_counter()
                lr = self.optimizer.param_groups[0]["lr"]
                loss = float(self._learn(*next(batches)))
                if self.schedule is not None:
                    self.schedule.step()
                self.done += 1
                if not math.isfinite(loss):
                    hint = "a smaller lr, or [train] clip = 1.0"
                    facts = {"step": self.done, "checkpoints": self.checkpoints.steps()}
                    raise TreadleError(explain("train", "the loss is not a number", hint, **facts))
                line: dict[str, Any] = {"step": self.done, "loss": loss, "lr": float(lr)}
                show(self.done, loss, time.perf_counter() - started)
                if self.done % train.evaluate_every == 0 or self.done == train.steps:
                    line |= self._validation()
                for name in line.keys() - {"step"}:
                    events.add_scalar(name, line[name], self.done)
                log.log(**line)
                if self.done % train.checkpoint_every == 0:
                    self.save()
        self.save()
        return self.done >= train.steps

    def _batches(self) -> Iterator[Any]:
        """Batches of epoch after epoch, from where the loader stands."""
        while True:
            yield from self.loader

    def _validation(self) -> dict[str, float]:
        found = self.judge()
        line = {"valid_loss": found.loss}
        return line if found.right is None else line | {"valid_right": found.right}

    def judge(self) -> Judged:
        """The mean loss, and the share that is right, of what was kept apart."""
        train, valid = self.config.train, self.task.valid
        batches = data.DataLoader(valid, min(train.batch, len(valid)), device=train.device)
        total, right, count = 0.0, 0, 0
        self.model.eval()
        for k, (x, y) in enumerate(batches):
            if k == train.evaluate_batches:
                break
            loss, found = self._judge(x, y)
            total, count = total + float(loss) * len(x), count + len(x)
            right += 0 if found is None else int(found)
        self.model.train()
        return Judged(total / count, None if self.task.right is None else right / count)

    # ---- files

    def _parts(self) -> dict[str, Any]:
        parts = {"model": self.model, "optimizer": self.optimizer, "loader": self.loader}
        return parts if self.schedule is None else parts | {"schedule": self.schedule}

    def save(self) -> None:
        """A checkpoint of this step, unless there is one; a damaged one is none."""
        if self.done != self.saved:
            self.checkpoints.save(self.done, **self._parts())
            self.saved = self.done

    def begin(self) -> None:
        """Make the folder, with the settings in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config.keep(self.folder)

    def resume(self) -> None:
        """Go on after the newest checkpoint; what was logged after it is forgotten."""
        found = self.checkpoints.restore(**self._parts())
        self.saved = None if found is None else found.step
        self.done = self.saved or 0
        path = self.folder / LOG
        if path.is_file():
            cut(path, self.done)

    def history(self) -> list[dict[str, str]]:
        """The lines of the log."""
        with open(self.folder / LOG, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def cut(path: Path, step: int) -> None:
    """Drop the lines of a log that stand after a step, at once."""
    with open(path, encoding="utf-8", newline="") as file:
        first, *rows = list(csv.reader(file)) or [[]]
    place = first.index("step") if "step" in first else 0
    whole = (row for row in rows if len(row) == len(first))
    kept = StringIO()
    writer = csv.writer(kept, lineterminator="\n")
    writer.writerows([first, *(row for row in whole if int(row[place]) <= step)])
    write(path, kept.getvalue())
