"""Arena offsets: what is alive at the same time never overlaps, and little is wasted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from treadle.schedule.layout import ALIGN, Interval, lay_out


@st.composite
def lives(draw):
    """Buffers of up to a few pages over up to twenty steps."""
    intervals = []
    for name in range(draw(st.integers(0, 25))):
        first = draw(st.integers(0, 20))
        last = draw(st.integers(first, 20))
        intervals.append(Interval(name, draw(st.integers(0, 9000)), first, last))
    return intervals


def rounded(nbytes):
    return -(-max(nbytes, 1) // ALIGN) * ALIGN


def meet(a, b):
    return a.first <= b.last and b.first <= a.last


@given(lives())
def test_buffers_alive_together_do_not_overlap(intervals):
    offsets = lay_out(intervals).offsets
    for a in intervals:
        for b in intervals:
            if a.name < b.name and meet(a, b):
                low, high = sorted((a, b), key=lambda i: offsets[i.name])
                assert offsets[low.name] + low.nbytes <= offsets[high.name] or not low.nbytes


def by_looking_at_all(intervals):
    """Offsets of the same rule, the largest first at the lowest gap, without any shortcut."""
    offsets = {}
    for i in sorted(intervals, key=lambda i: (-i.nbytes, i.first)):
        others = [k for k in intervals if k.name in offsets and meet(i, k)]
        taken = [(offsets[k.name], offsets[k.name] + rounded(k.nbytes)) for k in others]
        starts = [0, *sorted(end for _, end in taken)]
        free = (
            at for at in starts
            if all(at >= end or at + rounded(i.nbytes) <= start for start, end in taken)
        )  # fmt: skip
        offsets[i.name] = next(free)
    return offsets


@given(lives())
def test_offsets_are_those_of_the_plain_rule(intervals):
    assert lay_out(intervals).offsets == by_looking_at_all(intervals)


@given(lives())
def test_every_buffer_lies_aligned_inside_the_arena(intervals):
    layout = lay_out(intervals)
    assert layout.offsets.keys() == {i.name for i in intervals}
    for i in intervals:
        at = layout.offsets[i.name]
        assert at >= 0
        assert at % ALIGN == 0
        assert at + i.nbytes <= layout.nbytes


@given(lives())
def test_arena_lies_between_the_most_alive_at_once_and_the_sum(intervals):
    layout = lay_out(intervals)
    alive = [sum(rounded(i.nbytes) for i in intervals if i.first <= t <= i.last) for t in range(21)]
    assert layout.lower_bound == max(alive, default=0)
    assert layout.lower_bound <= layout.nbytes <= layout.without_reuse
    assert layout.without_reuse == sum(rounded(i.nbytes) for i in intervals)


@given(st.lists(st.integers(1, 9000), min_size=1, max_size=30))
def test_buffers_that_follow_each_other_share_their_place(sizes):
    chain = [Interval(k, n, k, k) for k, n in enumerate(sizes)]
    assert lay_out(chain).nbytes == max(map(rounded, sizes))


def test_layout_does_not_depend_on_the_order_given():
    intervals = [Interval(k, 64 * (k % 5 + 1), k, k + 3) for k in range(12)]
    assert lay_out(intervals).nbytes == lay_out(intervals[::-1]).nbytes


def test_nothing_needs_no_arena():
    layout = lay_out([])
    assert (layout.nbytes, layout.lower_bound, layout.offsets) == (0, 0, {})
