"""How calls of torch.nn.functional are written down, for both to compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Draw:
    """An operand: its kind says which numbers."""

    kind: str
    shape: tuple[int, ...]
    high: int = 0
    low: int = 0
    still: bool = False  # has theirs no gradient for it, or another one?

    def __str__(self):
        return f"{self.kind}{list(self.shape)}"

    def made(self, rng, dtype):
        if self.kind == "normal":
            return rng.standard_normal(self.shape).astype(dtype)
        if self.kind == "positive":
            return rng.uniform(0.5, 2.0, self.shape).astype(dtype)
        if self.kind == "chance":
            return rng.uniform(0.05, 0.95, self.shape).astype(dtype)
        if self.kind == "sign":
            return rng.choice([-1.0, 1.0], self.shape).astype(dtype)
        if self.kind == "apart":  # no two elements are near: the largest of a window is clear
            count = int(np.prod(self.shape))
            return (
                (rng.permutation(count) / max(1, count) * 4 - 2).reshape(self.shape).astype(dtype)
            )
        if self.kind == "logs":
            x = rng.standard_normal(self.shape)
            return (x - np.log(np.exp(x).sum(-1, keepdims=True))).astype(dtype)
        if self.kind == "mask":
            return rng.random(self.shape) < 0.6
        return rng.integers(self.low, self.high, self.shape)


def x(*shape):
    return Draw("normal", shape)


def pos(*shape):
    return Draw("positive", shape)


def chance(*shape):
    return Draw("chance", shape)


def sign(*shape):
    return Draw("sign", shape, still=True)


def apart(*shape):
    return Draw("apart", shape)


def logs(*shape):
    return Draw("logs", shape)


def mask(*shape):
    return Draw("mask", shape)


def ints(high, *shape, low=0):
    return Draw("ints", shape, high, low)


def still(draw):
    return replace(draw, still=True)


def fixed(*values):
    return np.array(values)


@dataclass(frozen=True)
class Case:
    """One call: operands are drawn, everything else is passed as it is."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def __str__(self):
        shown = [*map(str, self.args), *(f"{k}={v}" for k, v in self.options.items())]
        return f"{self.name}({', '.join(shown)})"


CASES: list[Case] = []


def case(name, *args, **options):
    CASES.append(Case(name, args, options))


def grid(**choices):
    """Every combination, as dicts."""
    return [dict(zip(choices, each, strict=True)) for each in product(*choices.values())]
