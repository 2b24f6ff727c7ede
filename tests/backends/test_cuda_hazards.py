"""Which calls of a graph wait for which, against a comparison of every pair."""

from __future__ import annotations

from random import Random

import pytest

from treadle.backends.cuda.hazards import Span, waits


def meet(a, b):
    """Do two calls touch the same bytes, and does one write them?"""
    return any(
        x.base == y.base and max(x.start, y.start) < min(x.end, y.end) and (x.written or y.written)
        for x in a
        for y in b
    )


def drawn(seed):
    """Random calls over few bytes."""
    draw = Random(seed)

    def span():
        start = draw.randrange(12)
        return Span(draw.randrange(2), start, start + draw.randrange(6), draw.random() < 0.4)

    return [[span() for _ in range(draw.randrange(1, 4))] for _ in range(25)]


def all_before(found):
    """For each call, all that are done when it starts."""
    done = []
    for numbers in found:
        done.append(set(numbers).union(*(done[k] for k in numbers)))
    return done


@pytest.mark.parametrize("seed", range(20))
def test_calls_wait_for_those_they_meet_and_no_others(seed):
    calls = drawn(seed)
    needed = []
    for k, call in enumerate(calls):
        direct = {j for j in range(k) if meet(calls[j], call)}
        needed.append(direct.union(*(needed[j] for j in direct)))
    found = waits(calls)
    assert all_before(found) == needed
    for numbers, done in zip(found, needed, strict=True):
        assert all(j not in needed[i] for i in numbers for j in numbers)  # none is told twice
        assert len(numbers) <= len(done)


def test_what_nobody_knows_is_a_wall():
    calls = drawn(3)
    calls[10] = None
    done = all_before(waits(calls))
    assert done[10] == set(range(10))
    assert all(10 in before for before in done[11:])
