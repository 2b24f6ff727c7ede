"""How long one call takes, from windows of time in which nobody else used our processors."""

from __future__ import annotations

import os
import resource
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.framework import Run

WINDOW_SECONDS = 0.4
FOREIGN_SHARE = (
    0.05  # of our processors, used by others or stolen: above it a window is not trusted
)
TICK = 1 / os.sysconf("SC_CLK_TCK")
STAT = Path("/proc/stat")


def pin_threads(count: int) -> None:
    """Keep this process on its first processors, so that every framework sees the same machine."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def _processors() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _own_seconds() -> float:
    mine, waited = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return mine.ru_utime + mine.ru_stime + waited.ru_utime + waited.ru_stime


def _busy_and_stolen(processors: set[int]) -> tuple[float, float]:
    """Seconds since the machine started in which the processors worked, or were taken from it."""
    busy = stolen = 0.0
    if not STAT.exists():
        return _own_seconds(), 0.0
    for line in STAT.read_text().splitlines():
        name, *fields = line.split()
        if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in processors:
            user, nice, system, _idle, _wait, hard, soft, steal = (int(f) for f in fields[:8])
            busy += user + nice + system + hard + soft
            stolen += steal
    return busy * TICK, stolen * TICK


class Window:
    """A stretch of wall time that knows how much of it went to others."""

    def __enter__(self) -> Self:
        self.processors = _processors()
        self.busy, self.stolen = _busy_and_stolen(self.processors)
        self.own, self.start = _own_seconds(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.perf_counter() - self.start
        busy, stolen = _busy_and_stolen(self.processors)
        own = _own_seconds() - self.own
        others = max(0.0, busy - self.busy - own) + stolen - self.stolen
        self.foreign = others / (len(self.processors) * self.wall)

    @property
    def is_clean(self) -> bool:
        """Quiet enough, given that the kernel counts in ticks?"""
        return self.foreign <= max(FOREIGN_SHARE, 2.1 * TICK / self.wall)


def wait_until_quiet(limit: float) -> None:
    """Give others, and the spinning threads of the last worker, time to finish."""
    end = time.perf_counter() + limit
    while time.perf_counter() < end:
        with Window() as window:
            time.sleep(0.1)
        if window.foreign < 2 * FOREIGN_SHARE:
            return
        time.sleep(0.2)


@dataclass(frozen=True)
class Round:
    """What one worker saw in one turn: seconds per call."""

    median: float
    least: float
    samples: int
    clean: bool
    foreign: float


def _sample(run: Run, calls: int, seconds: float, least: int) -> list[float]:
    clock = time.perf_counter
    samples: list[float] = []
    end = clock() + seconds
    while len(samples) < least or clock() < end:
        start = clock()
        for _ in range(calls):
            run()
        samples.append((clock() - start) / calls)
    return samples


def median_seconds(run: Run, seconds: float) -> float:
    """The median of calls over some seconds, after one to warm up."""
    run()
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def _calls_per_sample(run: Run) -> int:
    """Enough calls that reading the clock does not count."""
    guess = min(_sample(run, 1, 0, 2))
    return max(1, int(0.003 / max(guess, 1e-7))) if guess < 0.0015 else 1


def time_round(run: Run, seconds: float, patience: float) -> Round:
    """Time run until `seconds` were clean, or patience ends; then the quietest window counts."""
    end = time.perf_counter() + patience
    wait_until_quiet(patience / 4)
    calls = _calls_per_sample(run)
    clean: list[float] = []
    clean_seconds, quietest = 0.0, (float("inf"), [0.0])
    while clean_seconds < seconds:
        with Window() as window:
            samples = _sample(run, calls, min(WINDOW_SECONDS, seconds), least=3)
        quietest = min(quietest, (window.foreign, samples))
        if window.is_clean:
            clean += samples
            clean_seconds += window.wall
        elif time.perf_counter() > end:
            break
    counted = clean or quietest[1]
    median = statistics.median(counted)
    return Round(median, min(counted), len(counted), bool(clean), quietest[0])
