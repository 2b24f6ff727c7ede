"""What a run shows: a bar or lines while it goes, a picture of the loss after it."""

from __future__ import annotations

import importlib
import importlib.util
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from treadle.cli.output import say

Show = Callable[[int, float, float], object]
SMOOTH = 0.95  # of the loss that is shown
SECONDS = 10.0  # between two lines where there is no bar


class Means:
    """Running means, from the first value on."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, *values: float) -> list[float]:
        """The means with one more of each."""
        old = self.values or values
        pairs = zip(old, values, strict=True)
        self.values = [SMOOTH * before + (1 - SMOOTH) * now for before, now in pairs]
        return self.values


@contextmanager
def progress(done: int, steps: int, size: int, unit: str) -> Iterator[Show]:
    """show(step, loss, seconds): a bar where rich is installed and somebody looks, else lines.

    A step is `size` of a unit; the first one, which compiles, says nothing about the rate.
    """
    losses, times = Means(), Means()

    def smoothed(step: int, loss: float, seconds: float) -> tuple[float, float]:
        mean = times.add(seconds)[0] if step > done + 1 else seconds
        return losses.add(loss)[0], size / mean

    if importlib.util.find_spec("rich") is None or not sys.stdout.isatty():
        yield _lines(done, steps, unit, smoothed)
        return
    rich = importlib.import_module("rich.progress")
    columns = (
        "[bold]loss {task.fields[loss]:.3f}", rich.BarColumn(), rich.MofNCompleteColumn(),
        "{task.fields[rate]:,.0f} {task.fields[unit]}/s", rich.TimeRemainingColumn(),
    )  # fmt: skip
    with rich.Progress(*columns) as bar:
        task = bar.add_task("", total=steps, completed=done, loss=0.0, rate=0.0, unit=unit)

        def show(step: int, loss: float, seconds: float) -> None:
            loss, rate = smoothed(step, loss, seconds)
            bar.update(task, completed=step, loss=loss, rate=rate)

        yield show


def _lines(done: int, steps: int, unit: str, smoothed: Callable[..., tuple[float, float]]) -> Show:
    began, shown = time.perf_counter(), -SECONDS

    def show(step: int, loss: float, seconds: float) -> None:
        nonlocal shown
        loss, rate = smoothed(step, loss, seconds)
        past = time.perf_counter() - began
        if past - shown >= SECONDS or step == steps:
            left, shown = past / (step - done) * (steps - step), past
            numbers = f"loss {loss:.3f}  {rate:,.0f} {unit}/s  {left:.0f} s left"
            say(f"step {step:5d} of {steps}  {numbers}")

    return show


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Was Ctrl-C pressed? It is obeyed between steps; pressed again, at once."""
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def draw_curve(history: list[dict[str, str]], path: Path) -> bool:
    """Write the losses as a PNG; False where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    figure_of: Any = importlib.import_module("matplotlib.figure").Figure
    figure = figure_of(figsize=(7, 4), layout="constrained")
    axes, means = figure.subplots(), Means()
    steps = [int(row["step"]) for row in history]
    losses = [float(row["loss"]) for row in history]
    axes.plot(steps, losses, color="0.8", linewidth=0.6)
    axes.plot(steps, [means.add(loss)[0] for loss in losses], label="training, smoothed")
    judged = [row for row in history if row.get("valid_loss")]
    axes.plot(
        [int(row["step"]) for row in judged], [float(row["valid_loss"]) for row in judged],
        "o-", label="validation",
    )  # fmt: skip
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.legend()
    part = path.with_name(f".{path.name}")
    figure.savefig(part, format="png", dpi=120)
    part.replace(path)
    return True
