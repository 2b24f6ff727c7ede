"""Trains a small byte-level GPT on the source text of Python's standard library, then writes some.

python examples/train_gpt.py            about a minute on two cores
python examples/train_gpt.py --tiny     a few seconds
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import treadle as td

F = td.nn.functional
BYTES = 256


class Block(td.nn.Module):
    """Attention over the past, then a perceptron; both add to what they read."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.norm1, self.norm2 = td.nn.LayerNorm(width), td.nn.LayerNorm(width)
        self.qkv = td.nn.Linear(width, 3 * width)
        self.out = td.nn.Linear(width, width)
        self.up, self.down = td.nn.Linear(width, 4 * width), td.nn.Linear(4 * width, width)

    def forward(self, x: td.Tensor) -> td.Tensor:
        """(batch, time, width) to the same."""
        batch, time_, width = x.shape
        parts = self.qkv(self.norm1(x)).reshape(batch, time_, 3, self.heads, -1)
        q, k, v = (parts[:, :, i].permute(0, 2, 1, 3) for i in range(3))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.permute(0, 2, 1, 3).reshape(batch, time_, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(td.nn.Module):
    """Bytes in, scores of the next byte out, at every position."""

    def __init__(self, layers: int, width: int, heads: int, context: int) -> None:
        self.tokens = td.nn.Embedding(BYTES, width)
        self.positions = td.nn.Embedding(context, width)
        self.blocks = [Block(width, heads) for _ in range(layers)]
        self.norm = td.nn.LayerNorm(width)
        self.head = td.nn.Linear(width, BYTES, bias=False)
        for name, tensor in self.named_parameters():  # small weights: the first guess is uniform
            if name.endswith("weight") and len(tensor.shape) == 2:
                tensor.assign(td.random.normal(tensor.shape, deviation=0.02))

    def forward(self, x: td.Tensor) -> td.Tensor:
        """(batch, time) to (batch, time, 256)."""
        h = self.tokens(x) + self.positions(td.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


def read_library(limit: int) -> np.ndarray:
    """The standard library's own source as bytes."""
    folder = Path(os.__file__).parent
    files = sorted(folder.glob("*.py")) + sorted(folder.glob("[a-k]*/*.py"))
    files = [f for f in files if not {"site-packages", "dist-packages"} & set(f.parts)]
    text = bytearray()
    for file in files:
        text += file.read_bytes()
        if len(text) >= limit:
            break
    return np.frombuffer(bytes(text[:limit]), np.uint8).astype(np.int64)


def sample(
    logits: Callable[[td.Tensor], td.Tensor], context: int, count: int, rng: np.random.Generator
) -> str:
    """Bytes drawn one by one, each from the scores that follow the ones before."""
    written = list(b"def ")
    for _ in range(count):
        window = written[-context:]
        padded = np.array([window + [0] * (context - len(window))], np.int64)
        scores = logits(td.tensor(padded)).numpy()[0, len(window) - 1] / 0.8
        chances = np.exp(scores - scores.max())
        written.append(int(rng.choice(BYTES, p=chances / chances.sum())))
    text = bytes(written).decode("utf-8", "replace")
    return "".join(c if c.isprintable() or c == "\n" else "·" for c in text)


@contextmanager
def progress(steps: int) -> Iterator[Callable[[int, float], object]]:
    """show(step, loss): a bar where rich is installed, a line now and then where it is not."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        every = max(1, steps // 10)
        yield lambda k, loss: k % every or print(f"step {k:5d} of {steps}  loss {loss:.3f}")
        return
    columns = ("[bold]loss {task.fields[loss]:.3f}", BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("", total=steps, loss=math.nan)
        yield lambda k, loss: bar.update(task, completed=k, loss=loss)


def main() -> None:
    """Train, compare the loss before and after, write a sample."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--steps", type=int, default=0, help="training steps")
    options.add_argument("--tiny", action="store_true", help="one small layer, a few steps")
    given = options.parse_args()
    layers, width, heads, context, batch = (1, 32, 2, 16, 4) if given.tiny else (4, 128, 4, 64, 16)
    steps = given.steps or (200 if given.tiny else 1200)

    td.manual_seed(1)
    rng = np.random.default_rng(1)
    text = read_library(100_000 if given.tiny else 4_000_000)
    model = GPT(layers, width, heads, context)
    optimizer = td.optim.AdamW(model.parameters(), lr=2e-3)

    def examples() -> tuple[td.Tensor, td.Tensor]:
        starts = rng.integers(0, len(text) - context - 1, batch)
        rows = np.stack([text[s : s + context + 1] for s in starts])
        return td.tensor(rows[:, :-1]), td.tensor(rows[:, 1:])

    @td.compile
    def step(x: td.Tensor, y: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    logits = td.compile(model.forward)
    started = time.perf_counter()
    first = float(step(*examples()))
    count = sum(p.size for p in model.parameters())
    print(f"{count:,} parameters, {len(text):,} bytes of text")
    print(f"compiled in {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    recent = [first]
    with progress(steps) as show:
        for k in range(1, steps):
            optimizer.lr = 2e-3 * min(1.0, k / 50) * (0.1 + 0.9 * (1 - k / steps))
            recent = [*recent[-19:], float(step(*examples()))]
            show(k + 1, sum(recent) / len(recent))
    took = time.perf_counter() - started
    rate = steps * batch * context / took
    print(f"loss {first:.2f} -> {sum(recent) / len(recent):.2f} (nats per byte)")
    print(f"{steps} steps in {took:.1f} s, {rate:,.0f} bytes a second\n")
    print(sample(logits, context, 200, rng))


if __name__ == "__main__":
    main()
