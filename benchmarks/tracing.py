"""What profiling costs: a training step with it and without, a span and a lazy op off and on.

    python -m benchmarks.tracing

Runs with and without alternate, and the quickest of each counts: a machine that others use as well
would make anything of the means.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import treadle as td
from benchmarks.models import GPT, gpt_parameters
from benchmarks.treadle_models import Gpt

ROUNDS, STEPS = 12, 3
CALLS, REPEATS = 100_000, 9
RECORDED = 3000  # ops: fewer than are looked through for those that wait
BUDGET = {
    "step": 1.02,  # with a profile, of the time without
    "op": 12.0,  # the same of a lazy op, which is a slice with a line then
    "covered": 0.98,  # of calls, by kernels
    "idle": 20.0,  # nanoseconds of a decorated function that nobody looks at, above a bare one
    "decorator": 400.0,  # while somebody does
    "block": 400.0,  # the same for a with block
}


def training_step() -> Callable[[], float]:
    """A step of the GPT of the table's row E, compiled."""
    rng = np.random.default_rng(0)
    model = Gpt(GPT)
    model.load_state_dict({k: td.tensor(v) for k, v in gpt_parameters(rng).items()})
    optimizer = td.optim.Adam(model.parameters(), lr=1e-3)
    tokens = rng.integers(0, GPT.vocabulary, (GPT.batch, GPT.length + 1))
    x, labels = td.tensor(tokens[:, :-1]), td.tensor(tokens[:, 1:].reshape(-1))

    @td.compile
    def step(x: Any, labels: Any) -> Any:
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss

    return lambda: float(step(x, labels))


def of_a_step() -> dict[str, float]:
    """The time of a profiled step over that of another, and what kernels cover of its calls."""
    step = training_step()
    step()
    plain, watched, covered = [], [], []
    for _ in range(ROUNDS):
        plain += [_seconds(step) for _ in range(STEPS)]
        with td.profile() as prof:
            watched += [_seconds(step) for _ in range(STEPS)]
        events = prof.events()
        covered.append(events.filter(kind="kernel").total / events.filter(kind="call").total)
    return {"step": min(watched) / min(plain), "covered": float(np.median(covered))}


def _seconds(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def bare(x: int) -> int:
    """A function that does nothing."""
    return x


@td.span("named")
def named(x: int) -> int:
    """The same, with a name for profiles."""
    return x


def of_a_span() -> dict[str, float]:
    """Nanoseconds above a bare call, and above an empty with block of a span that is off."""
    block, space = td.span("block"), globals()
    idle = _each("named(1)", space) - _each("bare(1)", space)
    off = _each("with block: pass", {"block": block})
    with td.profile():
        decorator = _each("named(1)", space) - _each("bare(1)", space)
        on = _each("with block: pass", {"block": block})
    return {"idle": idle, "decorator": decorator, "block": on - off, "block off": off}


def of_an_op() -> dict[str, float]:
    """The time to record an op in a profile, over that of recording it otherwise."""
    space = {"x": td.ones(4).realize(), "y": td.ones(4).realize()}
    off = _each("x + y", space, RECORDED)
    with td.profile():
        on = _each("x + y", space, RECORDED)
    return {"op": on / off}


def _each(statement: str, space: dict[str, Any], calls: int = CALLS) -> float:
    found = timeit.repeat(statement, globals=space, number=calls, repeat=REPEATS)
    return min(found) / calls * 1e9


def main() -> None:
    """Print the costs beside what they may be."""
    for name, value in {**of_a_step(), **of_a_span(), **of_an_op()}.items():
        allowed = f"  of {BUDGET[name]:g}" if name in BUDGET else ""
        print(f"{name:<10} {value:8.3f}{allowed}")


if __name__ == "__main__":
    main()
