"""How several ways to the same result compare: in turns, checked equal first."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import treadle as td
from benchmarks.measure import Window
from treadle.backends.registry import backend_of

Way = Callable[[], Any]  # computes the result once
View = Callable[[Any], Any]


def parse(description: str | None, devices: bool = False) -> argparse.Namespace:
    """The command line of an experiment."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="turns of every way")
    parser.add_argument("--seconds", type=float, default=0.05, help="of a turn")
    if devices:
        parser.add_argument("--device", default="cpu", help="cpu or cuda")
    return parser.parse_args()


def random(*shape: int, device: str = "cpu", seed: int = 0) -> td.Tensor:
    """Normal numbers in memory."""
    array = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return td.tensor(array).to(device).realize()


def compiled(function: Callable[..., td.Tensor], *arguments: td.Tensor) -> Way:
    """A way by one program."""
    return stepwise([td.compile(function)], arguments)


def copied_first(
    function: Callable[..., td.Tensor], views: Sequence[View], *arguments: td.Tensor
) -> Way:
    """A way by programs that write a view of each argument out in order, and one that reads them.

    Inside one program the compiler would read the view where it lies, whatever is asked for.
    """
    copies = [td.compile(lambda x, view=view: view(x)) for view in views]

    def copy(*given: td.Tensor) -> list[td.Tensor]:
        return [program(x) for program, x in zip(copies, given, strict=True)]

    return stepwise([copy, td.compile(function)], arguments)


def stepwise(steps: Sequence[Callable[..., Any]], arguments: Sequence[td.Tensor]) -> Way:
    """Programs one after the other, each given what the one before returns."""
    device = arguments[0].device
    wait = None if device.backend == "cpu" else backend_of(device).gpu.wait  # type: ignore[attr-defined]

    def run() -> Any:
        given: Any = arguments
        for step in steps:
            given = step(*given)
        if wait is not None:
            wait()
        return given

    return run


def _turn(way: Way, seconds: float) -> float:
    clock, end, least = time.perf_counter, time.perf_counter() + seconds, float("inf")
    while True:
        start = clock()
        way()
        now = clock()
        least = min(least, now - start)
        if now > end:
            return least


def check(ways: dict[str, Way]) -> None:
    """All ways lead to the same result, but for the order of sums."""
    results = {name: np.asarray(way().numpy(), np.float64) for name, way in ways.items()}
    first = next(iter(results.values()))
    for name, result in results.items():
        error = np.abs(result - first).max() / max(np.abs(first).max(), 1e-30)
        if not error < 1e-4:
            raise ValueError(f"{name} computes something else: {error:.1e}")


def compare(title: str, ways: dict[str, Way], options: argparse.Namespace) -> list[float]:
    """Print each way's time and its ratio to the first's, medians over turns; the ratios."""
    check(ways)
    times: dict[str, list[float]] = {name: [] for name in ways}
    with Window() as window:
        for _ in range(options.rounds):
            for name, way in ways.items():
                times[name].append(_turn(way, options.seconds))
    first = next(iter(ways))
    ratios = {
        name: statistics.median(t / u for t, u in zip(found, times[first], strict=True))
        for name, found in times.items()
    }
    noise = "" if window.is_clean else f"   ~ others took {window.foreign:.0%} of the processors"
    print(title + noise)
    for name, found in times.items():
        spent = statistics.median(found)
        print(f"    {name:44} {spent * 1e6:12.1f} µs {ratios[name]:8.2f}", flush=True)
    return list(ratios.values())


def table(rows: Sequence[tuple[str, Sequence[float]]], heading: Sequence[str]) -> None:
    """Ratios as Markdown."""
    print("\n| " + " | ".join(heading) + " |")
    print("| --- " + "| ---: " * (len(heading) - 1) + "|")
    for title, ratios in rows:
        print(f"| {title} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
