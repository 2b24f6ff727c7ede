"""Which random numbers a sample gets: they follow from the epoch and its place, not from who reads.

An epoch has a number of 63 bits. A sample's generator is made of that and of the sample's place in
the epoch, so one worker or eight, a fresh start or a resumed one give the same numbers.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.runtime.draws import GENERATOR

Key = tuple[int, ...]


class _Scope(threading.local):
    """What the thread reads just now: the key of a sample, and its generator once asked for."""

    key: Key | None = None
    made: np.random.Generator | None = None


_SCOPE = _Scope()


def enter(key: Key | None) -> None:
    """From here on this thread reads the sample with that key, or none."""
    _SCOPE.key, _SCOPE.made = key, None


def generator() -> np.random.Generator:
    """NumPy's generator of the sample that is being read, for datasets and transforms.

    Its numbers follow from the loader's seed, the epoch and the sample's place in it, whatever the
    number of workers. Outside of a loader each call gives a new one, decided by td.manual_seed.
    """
    if _SCOPE.key is None:
        return np.random.default_rng(GENERATOR.number())
    if _SCOPE.made is None:
        _SCOPE.made = np.random.default_rng(_SCOPE.key)
    return _SCOPE.made


class Epochs:
    """A number for each epoch, from a seed, a NumPy generator, or the global generator (None)."""

    def __init__(self, what: str, generator: Any) -> None:
        is_seed = hasattr(generator, "__index__") and not isinstance(generator, bool)
        if not (generator is None or is_seed or isinstance(generator, np.random.Generator)):
            hint = "a seed such as 7, numpy.random.default_rng(7), or None: td.manual_seed decides"
            got = type(generator).__name__
            raise ArgumentError(explain(what, "generator makes no numbers", hint, got=got))
        if is_seed and int(generator) < 0:
            raise ArgumentError(explain(what, "a seed is not negative", generator=generator))
        self.generator = int(generator) if is_seed else generator
        self.count = 0  # of epochs begun
        self.seed = 0  # of the latest
        self._again = False

    def start(self) -> int:
        """The number of a new epoch; after `load_state_dict`, that of the epoch it was taken in."""
        if self._again:
            self._again = False
            return self.seed
        if self.generator is None:
            self.seed = GENERATOR.number()
        elif isinstance(self.generator, int):
            words = np.random.SeedSequence([self.generator, self.count]).generate_state(1, "u8")
            self.seed = int(words[0]) >> 1
        else:
            self.seed = int(self.generator.integers(1 << 63))
        self.count += 1
        return self.seed

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs to begin the latest epoch again, and go on from there."""
        state: dict[str, Any] = {"epoch": self.count, "seed": self.seed}
        if isinstance(self.generator, np.random.Generator):
            state["generator"] = self.generator.bit_generator.state
        return state

    def load_state_dict(self, state: dict[str, Any], again: bool = True) -> None:
        """Have the next start give the epoch of the state, or, if not again, the one after it."""
        self.count, self.seed = int(state["epoch"]), int(state["seed"])
        self._again = again and self.count > 0
        if isinstance(self.generator, np.random.Generator) and "generator" in state:
            self.generator.bit_generator.state = state["generator"]
