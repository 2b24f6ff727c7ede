"""Which pace of a loop kernel was found best by timing, and which may be tried."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from treadle.backends import choices
from treadle.backends.choices import Space
from treadle.backends.questions import of_loops
from treadle.base.target import Target
from treadle.kernel import choose as model
from treadle.kernel.choose import Pace, Style, most_rows, paced, step_of
from treadle.kernel.loops import Loops

UNROLLS = (1, 2, 4, 8)


def choose(loops: Loops, target: Target, streams: Collection[int] = ()) -> tuple[Style, Loops]:
    """The style of a kernel, and its program cut into blocks of rows."""
    if loops.epilogue or not choices.is_open(target.machine):
        return model.choose(loops, target, streams)

    def settle(pace: Pace) -> Pace:
        return choices.take(target.machine, of_loops(loops), paces(loops, pace, target))

    return model.choose(loops, target, streams, settle)


def paces(loops: Loops, default: Pace, target: Target) -> Space[Pace]:
    """Twice and half of either; blocks of flat maps stay whole groups of vectors."""
    step = step_of(loops, target)

    def near(pace: Pace) -> Iterator[Pace]:
        for unroll in (2 * pace.unroll, pace.unroll // 2):
            if unroll in UNROLLS:
                yield paced(loops, unroll, target)
        for rows in (2 * pace.rows, pace.rows // 2, 8 * pace.rows, pace.rows // 8):
            yield Pace(pace.unroll, -(-rows // step) * step)

    def fits(pace: Pace) -> bool:
        if pace.unroll not in UNROLLS or pace.rows <= 0 or pace.rows % step:
            return False
        return pace.rows <= most_rows(loops, pace.unroll, target)

    return Space(default, lambda pace: filter(fits, near(pace)), fits)
