"""Where the boxes of a drawn graph stand: layers by longest path, order by neighbours, then x."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise

SWEEPS = 6  # up and down again; more changes little
GAP = 18.0  # between boxes of a layer
LANE = 10.0  # width of a line that passes a layer


class Box:
    """A node of the drawing, or (no height yet) a place where a line passes a layer."""

    def __init__(self, width: float, height: float, layer: int = 0) -> None:
        self.width, self.height, self.layer = width, height, layer
        self.x = self.y = 0.0  # of the centre and of the top
        self.above: list[Box] = []
        self.below: list[Box] = []


Line = list[Box]
"""A box, the places it passes, and the box it ends at."""


def lay_out(boxes: Sequence[Box], edges: Sequence[tuple[Box, Box]], step: float) -> list[Line]:
    """Give every box its place; boxes come in an order in which edges point onwards.

    step is the space between layers. Returns the line of each edge.
    """
    _choose_layers(boxes, edges)
    layers: list[list[Box]] = [[] for _ in range(1 + max((b.layer for b in boxes), default=0))]
    for box in boxes:
        layers[box.layer].append(box)
    lanes: dict[tuple[Box, int], Box] = {}
    lines = [_routed(a, b, layers, lanes) for a, b in edges]
    layers = _ordered(layers)
    _place_across(layers)
    top = 0.0
    for layer in layers:
        tallest = max(box.height for box in layer)
        for box in layer:
            box.height = box.height or tallest
            box.y = top + (tallest - box.height) / 2
        top += tallest + step
    return lines


def _choose_layers(boxes: Sequence[Box], edges: Sequence[tuple[Box, Box]]) -> None:
    """One below the lowest operand; then down to the first user where that makes lines shorter."""
    users: dict[Box, list[Box]] = {box: [] for box in boxes}
    operands = dict.fromkeys(boxes, 0)
    for a, b in edges:
        users[a].append(b)
        operands[b] += 1
    for box in boxes:
        for user in users[box]:
            user.layer = max(user.layer, box.layer + 1)
    for box in reversed(boxes):
        if users[box] and operands[box] <= 1:
            box.layer = min(user.layer for user in users[box]) - 1


def _routed(a: Box, b: Box, layers: list[list[Box]], lanes: dict[tuple[Box, int], Box]) -> Line:
    """An edge with a place in every layer it passes; edges of one box share their places."""
    line = [a]
    for layer in range(a.layer + 1, b.layer):
        place = lanes.get((a, layer))
        if place is None:
            place = lanes[a, layer] = Box(LANE, 0.0, layer)
            layers[layer].append(place)
            _joined(line[-1], place)
        line.append(place)
    _joined(line[-1], b)
    return [*line, b]


def _joined(upper: Box, lower: Box) -> None:
    upper.below.append(lower)
    lower.above.append(upper)


def _ordered(layers: list[list[Box]]) -> list[list[Box]]:
    """Each layer sorted by the middle of its neighbours, down and up; the best order is kept."""
    best, fewest = layers, _crossings(layers)
    current = [list(layer) for layer in layers]
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for layer in current if down else current[::-1]:
            _sort_layer(current, layer, down)
        crossings = _crossings(current)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in current], crossings
        if not fewest:
            break
    return best


def _sort_layer(layers: list[list[Box]], layer: list[Box], down: bool) -> None:
    number = layer[0].layer + (-1 if down else 1)
    if not 0 <= number < len(layers):
        return
    place = {box: k for k, box in enumerate(layers[number])}
    own = {box: k for k, box in enumerate(layer)}

    def middle(box: Box) -> float:
        near = [place[other] for other in (box.above if down else box.below)]
        return sum(near) / len(near) if near else own[box]

    layer.sort(key=middle)


def _crossings(layers: list[list[Box]]) -> int:
    total = 0
    for upper, lower in pairwise(layers):
        place = {box: k for k, box in enumerate(lower)}
        seen: list[int] = []
        for box in upper:
            ends = [place[other] for other in box.below]
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _place_across(layers: list[list[Box]]) -> None:
    """x of every box: near its neighbours, in order, apart."""
    for layer in layers:
        _apart(layer, [0.0] * len(layer))
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            wanted = []
            for box in layer:
                near = (box.above if down else box.below) or (box.below if down else box.above)
                wanted.append(sum(other.x for other in near) / len(near) if near else box.x)
            _apart(layer, wanted)
    left = min((box.x - box.width / 2 for layer in layers for box in layer), default=0.0)
    for layer in layers:
        for box in layer:
            box.x -= left


def _apart(layer: list[Box], wanted: Sequence[float]) -> None:
    """Centres nearest to those wanted that keep the order and the gaps.

    Runs of boxes that push each other share one shift, the mean of what each would like.
    """
    offsets, at = [], 0.0
    for k, box in enumerate(layer):
        at += (layer[k - 1].width / 2 + GAP + box.width / 2) if k else 0.0
        offsets.append(at)
    runs: list[tuple[float, int]] = []  # (mean shift, boxes)
    for want, offset in zip(wanted, offsets, strict=True):
        mean, count = want - offset, 1
        while runs and runs[-1][0] > mean:
            other, more = runs.pop()
            mean = (mean * count + other * more) / (count + more)
            count += more
        runs.append((mean, count))
    shifts = [mean for mean, count in runs for _ in range(count)]
    for box, offset, shift in zip(layer, offsets, shifts, strict=True):
        box.x = offset + shift
