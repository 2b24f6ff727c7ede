"""Every environment switch, typed, documented, scoped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar, cast

from treadle.base.errors import ArgumentError, explain

T = TypeVar("T", int, str)
REGISTRY: dict[str, Knob[int] | Knob[str]] = {}


class Knob(Generic[T]):
    """A switch read once from TREADLE_<NAME>; change it for a while with `override`."""

    __slots__ = ("doc", "name", "value")

    def __init__(self, name: str, default: T, doc: str) -> None:
        self.name, self.doc = name, doc
        text = os.environ.get(f"TREADLE_{name.upper()}")
        self.value: T = default
        if text is not None:
            self.value = _parse(name, text, default)
        REGISTRY[name] = cast("Knob[int] | Knob[str]", self)


def _parse(name: str, text: str, default: T) -> T:
    kind = type(default)
    try:
        return kind(text)
    except ValueError:
        hint = f"TREADLE_{name.upper()} takes a value like {default!r}"
        raise ArgumentError(explain("knobs", "cannot read the variable", hint, got=text)) from None


@contextmanager
def override(**values: int | str) -> Iterator[None]:
    """Set knobs for the time of a with block.

    >>> with override(debug=0):
    ...     DEBUG.value
    0
    """
    unknown = sorted(set(values) - set(REGISTRY))
    if unknown:
        hint = f"one of {', '.join(sorted(REGISTRY))}"
        raise ArgumentError(explain("override", "unknown knob", hint, got=", ".join(unknown)))
    before = {name: REGISTRY[name].value for name in values}
    for name, value in values.items():
        REGISTRY[name].value = type(before[name])(value)
    MEANING.follow()
    try:
        yield
    finally:
        for name, old in before.items():
            REGISTRY[name].value = old
        MEANING.follow()


class Meaning:
    """What knobs make of a graph, and whether somebody looks on.

    - **value**: programs are known by it; 0 if all knobs are as usual
    - **plain**: it is, and nobody profiles: the short ways may be taken
    - **shown**: are runs of programs looked at, by TREADLE_DEBUG or a profile?
    - **accounts**: of memory that are kept just now
    - **watched**: is something done around each run of a program, which therefore is another one?
    - **hear**: called where something has changed
    """

    NAMES = (
        "fast_math", "round", "winograd", "tf32", "deterministic", "check", "anomaly", "accounts"
    )  # fmt: skip
    __slots__ = ("accounts", "hear", "plain", "profiled", "shown", "value", "watched")

    def __init__(self) -> None:
        self.accounts, self.profiled = 0, False
        self.hear: list[Callable[[], None]] = []
        self.follow()

    def follow(self) -> None:
        """Look at the knobs again."""
        watched = (CHECK.value, ANOMALY.value, self.accounts)
        digits = (FAST_MATH.value, ROUND.value, not WINOGRAD.value, TF32.value)
        chosen = (*digits, not DETERMINISTIC.value, *watched)
        self.value = sum(bool(knob) << k for k, knob in enumerate(chosen))  # as NAMES are
        self.plain = not self.value and not self.profiled
        self.shown = bool(DEBUG.value) or self.profiled
        self.watched = any(watched)
        for hear in self.hear:
            hear()

    def names(self, bits: int) -> list[str]:
        """Which knobs a value stands for."""
        return [name for k, name in enumerate(self.NAMES) if bits >> k & 1]


DEBUG = Knob("debug", 0, "1 kernels run, 2 timings, 3 fusion, 4 source, 5 rewrites, 6 assembly")
THREADS = Knob("threads", 0, "threads of the CPU backend; 0: the cores this process may use")
CACHE_DIR = Knob("cache_dir", "", "folder of the disk cache; 'off': none; '': the user's cache")
CACHE_SECRET = Knob("cache_secret", "", "file of the key that signs it; '': in the user's data")
CACHE_BYTES = Knob("cache_bytes", 1 << 30, "bound of the disk cache, in bytes")
POOL_BYTES = Knob("pool_bytes", 4 << 30, "bound of freed memory kept for reuse, in bytes")
VERIFY = Knob("verify", 0, "1: check the graph after every pass")
CHECK = Knob("check", 0, "1: every kernel is held against NumPy; the first that differs raises")
ANOMALY = Knob("anomaly", 0, "1: the first kernel that makes a NaN or an infinity raises")
EXPLAIN = Knob("explain", 0, "1: every node remembers the line that made it")
FAST_MATH = Knob("fast_math", 0, "1: allow rewrites that change rounding, NaN or signed zeros")
WINOGRAD = Knob("winograd", 1, "0: convolutions add up plain products: an inf gives inf, not NaN")
TRACE = Knob("trace", "", "file for a profile of the whole run, as out.pftrace; '': none")
PERF_MAP = Knob("perf_map", 0, "1: name compiled kernels for Linux perf, in /tmp/perf-<pid>.map")
TUNE = Knob("tune", 0, "1: programs look for faster kernels by timing when they first run")
TUNE_SECONDS = Knob("tune_seconds", 20, "for so long at most, each program")
TF32 = Knob("tf32", 0, "1: GPUs round operands of float32 products to 10 bits, which is quick")
DETERMINISTIC = Knob("deterministic", 1, "0: GPUs add floats up at indices in any order: quicker")
ROUND = Knob("round", 0, "1: floats of 8 and 16 bits are rounded after every op, not kernel")
MEANING = Meaning()
