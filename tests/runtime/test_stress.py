"""Threads that record, compile, look, trace, collect and forget, all at the same time.

TREADLE_STRESS_SECONDS=600 TREADLE_STRESS_THREADS=8 pytest --timeout=900 makes it a long look.
"""

from __future__ import annotations

import gc
import os
import random
import threading
import time

import numpy as np

import treadle as td
from treadle.runtime.once import MAKING

SECONDS = float(os.environ.get("TREADLE_STRESS_SECONDS", "4"))
THREADS = int(os.environ.get("TREADLE_STRESS_THREADS", "6"))
ARRAY = np.linspace(-1.0, 1.0, 24).reshape(4, 6)
SHARED = td.tensor(ARRAY)


@td.compile
def shared_function(x, scale):
    return td.softmax(x * scale).sum(0), (x - scale).max()


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# Each draws numbers, and compares what it finds with what NumPy gives.


def eagerly(rng, _):
    """One op after the other, each looked at."""
    k = rng.random()
    x = SHARED + k
    close(x.numpy(), ARRAY + k)
    close((x * x).numpy(), (ARRAY + k) ** 2)


def together(rng, _):
    """A graph of a structure that is new now and then, with a part that is held."""
    k, n = rng.choice([0.5, rng.random()]), rng.randrange(1, 6)
    x, value = td.tensor(ARRAY) * k, ARRAY * k
    for _ in range(n):
        x = td.sin(x) @ SHARED.T @ SHARED + x[:, :1]
        value = np.sin(value) @ ARRAY.T @ ARRAY + value[:, :1]
    held = x
    close((x * 2.0).sum(1).numpy(), (value * 2.0).sum(1))
    close(held.numpy(), value)


def common(rng, pending):
    """What all threads look at: whoever comes first computes it."""
    with pending["lock"]:
        if rng.random() < 0.3:
            k = rng.randrange(100)
            y = td.exp(SHARED * 0.1) + k
            pending["value"] = y, y.T[::-1], y.sum(1) * 2.0, np.exp(ARRAY * 0.1) + k
        y, view, z, value = pending["value"]
    if rng.random() < 0.5:
        close(z.numpy(), value.sum(1) * 2.0)
    close((view.realize() if rng.random() < 0.5 else view).numpy(), value.T[::-1])
    close(y.numpy(), value)


def compiled(rng, _):
    """A function that all threads call, traced for new numbers and shapes now and then."""
    rows, scale = rng.randrange(1, 5), rng.choice([1.0, 2.0, rng.randrange(40) / 8])
    first, most = shared_function(td.tensor(ARRAY[:rows]), scale)
    close(first.numpy(), softmax(ARRAY[:rows] * scale).sum(0))
    close(most.item(), ARRAY[:rows].max() - scale)


def stepping(rng, _):
    """State of its own that a compiled step overwrites, with a look at what it was before."""
    w = td.tensor(ARRAY * 0.0)
    step = td.compile(lambda x: w.assign(w * 0.5 + x).sum())
    value = ARRAY * 0.0
    for _ in range(3):
        k = rng.random()
        before, old = w + 1.0, value + 1.0
        value = value * 0.5 + ARRAY * k
        close(step(td.tensor(ARRAY * k)).item(), value.sum())
        close(before.numpy(), old)
    close(w.numpy(), value)


def differentiated(rng, _):
    """A gradient by backward."""
    k = rng.random()
    x = td.tensor(ARRAY).requires_grad_()
    (td.sin(x * k) * x).sum().backward()
    close(x.grad.numpy(), np.cos(ARRAY * k) * k * ARRAY + np.sin(ARRAY * k))


def endlessly(rng, _):
    """A chain that nobody looks at for a while."""
    x, n = td.tensor([0, 5]), rng.choice([10, 300, 3000])
    for _ in range(n):
        x = x + 1
    assert x.tolist() == [n, n + 5]


def elsewhere(rng, _):
    """Two devices at once."""
    k = rng.random()
    here, there = td.exp(SHARED * k), td.exp(td.tensor(ARRAY, device="reference") * k)
    td.realize(here, there)
    close(here.numpy(), np.exp(ARRAY * k))
    close(there.numpy(), here.numpy())


def inwards(rng, _):
    """Garbage, reports, explanations."""
    gc.collect(rng.randrange(2))
    assert td.memory_report().tensors >= 1
    rows = td.explain(lambda x: td.softmax(x) * 3.0, td.tensor(ARRAY)).rows
    assert len(rows) == 1
    assert "exp" in rows[0].ops


WORK = (
    eagerly, together, common, compiled, stepping, differentiated, endlessly, elsewhere, inwards
)  # fmt: skip


def test_threads_that_do_everything_at_once_find_right_values():
    until = time.monotonic() + SECONDS
    start = SHARED + 0.0, SHARED.T[::-1], SHARED.sum(1) * 2.0, ARRAY
    pending = {"lock": threading.Lock(), "value": start}
    errors, done = [], [0] * THREADS

    def body(number):
        rng = random.Random(number)
        while time.monotonic() < until and not errors:
            work = rng.choice(WORK)
            try:
                work(rng, pending)
            except BaseException as error:
                error.add_note(f"in {work.__name__}")
                errors.append(error)
            done[number] += 1

    threads = [threading.Thread(target=body, args=(k,), daemon=True) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS + 100)
        assert not thread.is_alive(), "a thread waits for ever"
    if errors:
        raise errors[0]
    assert min(done) > 0
    assert not MAKING
