"""Which pairs to merge: always the one that occurs most, counted as merges change the words."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise

from treadle.backends.progress import Bar

Pair = tuple[int, int]
Merges = list[tuple[bytes, bytes]]


def merges_of(
    counts: Mapping[bytes, int], most: int, min_frequency: int
) -> tuple[list[bytes], Merges]:
    """At most so many tokens, the bytes first, and the pairs that make them, in order.

    Of pairs that occur equally often, the one with the smaller numbers goes first. Two pairs may
    make the same token.
    """
    corpus = Corpus(counts)
    tokens = [bytes([byte]) for byte in range(256)]
    numbers = {token: number for number, token in enumerate(tokens)}
    merges: Merges = []
    with Bar("pairs") as bar:
        while len(tokens) < most:
            pair = corpus.best(min_frequency)
            if pair is None:
                break
            left, right = (tokens[number] for number in pair)
            merges.append((left, right))
            if left + right not in numbers:
                numbers[left + right] = len(tokens)
                tokens.append(left + right)
            corpus.merge(pair, numbers[left + right])
            if len(merges) % 64 == 0:
                bar.show(len(tokens) / most, f"{len(tokens):,} of {most:,} tokens")
    return tokens, merges


class Corpus:
    """Words as tokens, with the counts of all pairs and the words in which each occurs."""

    def __init__(self, counts: Mapping[bytes, int]) -> None:
        self.words = [list(word) for word in counts]
        self.times = list(counts.values())
        self.counts: Counter[Pair] = Counter()
        self.where: defaultdict[Pair, set[int]] = defaultdict(set)
        for number, word in enumerate(self.words):
            for pair in pairwise(word):
                self.counts[pair] += self.times[number]
                self.where[pair].add(number)
        self._heap = [(-count, pair) for pair, count in self.counts.items()]
        heapq.heapify(self._heap)

    def best(self, least: int) -> Pair | None:
        """The pair that occurs most, if that is often enough. Old counts in the heap are passed."""
        while self._heap:
            count, pair = self._heap[0]
            now = self.counts.get(pair, 0)
            if now == -count:
                return pair if now >= least else None
            heapq.heappop(self._heap)
            if now:  # it has fallen: counts that rose were put in when they did
                heapq.heappush(self._heap, (-now, pair))
        return None

    def merge(self, pair: Pair, token: int) -> None:
        """Make one token of a pair, wherever it occurs."""
        changed: Counter[Pair] = Counter()
        for number in self.where.pop(pair, ()):
            word, times = self.words[number], self.times[number]
            merged = _merged(word, pair, token)
            for old in pairwise(word):
                changed[old] -= times
            for new in pairwise(merged):
                changed[new] += times
                if token in new:
                    self.where[new].add(number)
            self.words[number] = merged
        changed[pair] = 0
        self.counts.pop(pair, None)
        for other, change in changed.items():
            if change:
                self.counts[other] += change
                if change > 0:
                    heapq.heappush(self._heap, (-self.counts[other], other))
                elif self.counts[other] == 0:
                    del self.counts[other]


def _merged(word: list[int], pair: Pair, token: int) -> list[int]:
    """A word with every occurrence of a pair, from the left, as one token."""
    first, second = pair
    merged: list[int] = []
    place, last = 0, len(word) - 1
    while place <= last:
        if place < last and word[place] == first and word[place + 1] == second:
            merged.append(token)
            place += 2
        else:
            merged.append(word[place])
            place += 1
    return merged
