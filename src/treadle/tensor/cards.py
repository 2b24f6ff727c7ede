"""Where the cards of a drawn graph stand: layers by longest path, order by neighbours, then x."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise

SWEEPS = 6  # up and down again; more changes little
GAP = 18.0  # between cards of a layer
LANE = 10.0  # width of a line that passes a layer


class Card:
    """A node of the drawing, or (no height yet) a place where a line passes a layer."""

    def __init__(self, width: float, height: float, layer: int = 0) -> None:
        self.width, self.height, self.layer = width, height, layer
        self.x = self.y = 0.0  # of the centre and of the top
        self.above: list[Card] = []
        self.below: list[Card] = []


Line = list[Card]
"""A card, the places it passes, and the card it ends at."""


def place_cards(
    cards: Sequence[Card], edges: Sequence[tuple[Card, Card]], step: float
) -> list[Line]:
    """Give every card its place; cards come in an order in which edges point onwards.

    step is the space between layers. Returns the line of each edge.
    """
    _choose_layers(cards, edges)
    layers: list[list[Card]] = [[] for _ in range(1 + max((b.layer for b in cards), default=0))]
    for card in cards:
        layers[card.layer].append(card)
    lanes: dict[tuple[Card, int], Card] = {}
    lines = [_routed(a, b, layers, lanes) for a, b in edges]
    layers = _ordered(layers)
    _place_across(layers)
    top = 0.0
    for layer in layers:
        tallest = max(card.height for card in layer)
        for card in layer:
            card.height = card.height or tallest
            card.y = top + (tallest - card.height) / 2
        top += tallest + step
    return lines


def _choose_layers(cards: Sequence[Card], edges: Sequence[tuple[Card, Card]]) -> None:
    """One below the lowest operand; then down to the first user where that makes lines shorter."""
    users: dict[Card, list[Card]] = {card: [] for card in cards}
    operands = dict.fromkeys(cards, 0)
    for a, b in edges:
        users[a].append(b)
        operands[b] += 1
    for card in cards:
        for user in users[card]:
            user.layer = max(user.layer, card.layer + 1)
    for card in reversed(cards):
        if users[card] and operands[card] <= 1:
            card.layer = min(user.layer for user in users[card]) - 1


def _routed(
    a: Card, b: Card, layers: list[list[Card]], lanes: dict[tuple[Card, int], Card]
) -> Line:
    """An edge with a place in every layer it passes; edges of one card share their places."""
    line = [a]
    for layer in range(a.layer + 1, b.layer):
        place = lanes.get((a, layer))
        if place is None:
            place = lanes[a, layer] = Card(LANE, 0.0, layer)
            layers[layer].append(place)
            _joined(line[-1], place)
        line.append(place)
    _joined(line[-1], b)
    return [*line, b]


def _joined(upper: Card, lower: Card) -> None:
    upper.below.append(lower)
    lower.above.append(upper)


def _ordered(layers: list[list[Card]]) -> list[list[Card]]:
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


def _sort_layer(layers: list[list[Card]], layer: list[Card], down: bool) -> None:
    number = layer[0].layer + (-1 if down else 1)
    if not 0 <= number < len(layers):
        return
    place = {card: k for k, card in enumerate(layers[number])}
    own = {card: k for k, card in enumerate(layer)}

    def middle(card: Card) -> float:
        near = [place[other] for other in (card.above if down else card.below)]
        return sum(near) / len(near) if near else own[card]

    layer.sort(key=middle)


def _crossings(layers: list[list[Card]]) -> int:
    total = 0
    for upper, lower in pairwise(layers):
        place = {card: k for k, card in enumerate(lower)}
        seen: list[int] = []
        for card in upper:
            ends = [place[other] for other in card.below]
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _place_across(layers: list[list[Card]]) -> None:
    """x of every card: near its neighbours, in order, apart."""
    for layer in layers:
        _apart(layer, [0.0] * len(layer))
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            wanted = []
            for card in layer:
                near = (card.above if down else card.below) or (card.below if down else card.above)
                wanted.append(sum(other.x for other in near) / len(near) if near else card.x)
            _apart(layer, wanted)
    left = min((card.x - card.width / 2 for layer in layers for card in layer), default=0.0)
    for layer in layers:
        for card in layer:
            card.x -= left


def _apart(layer: list[Card], wanted: Sequence[float]) -> None:
    """Centres nearest to those wanted that keep the order and the gaps.

    Runs of cards that push each other share one shift, the mean of what each would like.
    """
    offsets, at = [], 0.0
    for k, card in enumerate(layer):
        at += (layer[k - 1].width / 2 + GAP + card.width / 2) if k else 0.0
        offsets.append(at)
    runs: list[tuple[float, int]] = []  # (mean shift, cards)
    for want, offset in zip(wanted, offsets, strict=True):
        mean, count = want - offset, 1
        while runs and runs[-1][0] > mean:
            other, more = runs.pop()
            mean = (mean * count + other * more) / (count + more)
            count += more
        runs.append((mean, count))
    shifts = [mean for mean, count in runs for _ in range(count)]
    for card, offset, shift in zip(layer, offsets, shifts, strict=True):
        card.x = offset + shift
