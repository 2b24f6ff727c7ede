"""How far to go along a direction: a step that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from treadle.tensor.tensor import Tensor

ENOUGH, FLATTER = 1e-4, 0.9  # of the first slope: how much lower, and how much flatter
SHORTEST = 1e-9


class Point(NamedTuple):
    """A step length, and the loss, its gradient and its slope along the direction there."""

    t: float
    loss: float
    gradient: Tensor
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point], start: Point, t: float, length: float, most: int
) -> tuple[Point, int]:
    """A point that is low and flat enough, or the lowest found; and how many were looked at."""
    prev, new = start, evaluate(t)
    for k in range(most):
        if not _lower(start, new) or (k > 1 and new.loss >= prev.loss):
            return _zoom(evaluate, start, [prev, new], length, k, most)
        if abs(new.slope) <= -FLATTER * start.slope:
            return new, k + 1
        if new.slope >= 0:
            return _zoom(evaluate, start, [prev, new], length, k, most)
        t = cubic(prev, new, new.t + 0.01 * (new.t - prev.t), new.t * 10)
        prev, new = new, evaluate(t)
    return (start if start.loss <= new.loss else new), most + 1


def _lower(start: Point, point: Point) -> bool:
    return not point.loss > start.loss + ENOUGH * point.t * start.slope


def _zoom(
    evaluate: Callable[[float], Point], start: Point, ends: list[Point], length: float, k: int,
    most: int,
) -> tuple[Point, int]:  # fmt: skip
    """Narrow the bracket until a point between its ends will do."""
    low = 0 if ends[0].loss <= ends[1].loss else 1
    stalled = False
    while k < most and abs(ends[1].t - ends[0].t) * length >= SHORTEST:
        least, largest = sorted((ends[0].t, ends[1].t))
        t = cubic(ends[0], ends[1], least, largest)
        margin = 0.1 * (largest - least)
        near = min(largest - t, t - least) < margin
        if near and (stalled or t >= largest or t <= least):
            t = largest - margin if abs(t - largest) < abs(t - least) else least + margin
            near = False
        stalled = near
        new = evaluate(t)
        k += 1
        if not _lower(start, new) or new.loss >= ends[low].loss:
            ends[1 - low] = new
            low = 0 if ends[0].loss <= ends[1].loss else 1
            continue
        if abs(new.slope) <= -FLATTER * start.slope:
            return new, k + 1
        if new.slope * (ends[1 - low].t - ends[low].t) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = new
    return ends[low], k + 1


def cubic(a: Point, b: Point, least: float, most: float) -> float:
    """Where the cubic through two points with their slopes is lowest, within bounds."""
    one, other = (a, b) if a.t <= b.t else (b, a)
    if one.t == other.t:
        return (least + most) / 2.0
    first = one.slope + other.slope - 3.0 * (one.loss - other.loss) / (one.t - other.t)
    square = first * first - one.slope * other.slope
    if not square >= 0.0:
        return (least + most) / 2.0
    second = math.sqrt(square)
    below = other.slope - one.slope + 2.0 * second
    if below == 0.0:
        return most
    found = other.t - (other.t - one.t) * ((other.slope + second - first) / below)
    return min(max(found, least), most)
