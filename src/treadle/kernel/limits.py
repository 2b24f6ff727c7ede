"""Which tiles of a chain matter: where masks computed from indices alone leave something to add."""

from __future__ import annotations

from treadle.base.sizes import UnknownSizeError
from treadle.kernel.chain import Frame
from treadle.kernel.index import Index
from treadle.kernel.loops import Ex
from treadle.kernel.lower import as_index

Limit = tuple[int, int, int]
"""(a, b, c): where lane * a + stream * b + c >= 0."""
COMPARED = {"ge": (1, 0), "gt": (1, -1), "le": (-1, 0), "lt": (-1, -1)}
OPPOSITE = {"ge": "lt", "gt": "le", "le": "gt", "lt": "ge"}
ENDLESS = float("-inf")


def limits_of(value: Ex, nothing: float, frame: Frame) -> list[Limit]:
    """Conditions outside of any of which a value is nothing: 0 of a sum, -inf of a maximum."""
    op, args = value.op, value.args
    if op == "where":
        for k in (1, 2):
            if args[k].op == "const" and args[k].data == nothing:
                found = conditions_of(args[0], k == 2, frame)
                return found + limits_of(args[3 - k], nothing, frame)
        one, two = (limits_of(x, nothing, frame) for x in args[1:])
        return [x for x in one if x in two]
    if op in ("mul", "add") and (op == "mul") is (nothing == 0):
        return [x for arg in args for x in limits_of(arg, nothing, frame)]
    if op in ("add", "sub") and nothing == 0:
        one, two = (limits_of(x, nothing, frame) for x in args)
        return [x for x in one if x in two]
    if op == "exp" and nothing == 0:
        return limits_of(args[0], ENDLESS, frame)
    if op == "sub":  # of a maximum, say, which is as little itself where a row is empty
        found = limits_of(args[0], nothing, frame)
        return found if _is_finite(args[1]) or _leave_some(found, args[1], frame) else []
    if op == "cast" or (op in ("neg", "div") and nothing == 0):
        return limits_of(args[0], nothing, frame)
    return []


def _is_finite(value: Ex) -> bool:
    """Is it something else wherever it would be -inf?"""
    if value.op != "where":
        return value.op == "const" and value.data != ENDLESS
    test, instead, _ = value.args
    return test.op == "eq" and test.args[1].data == ENDLESS and instead.op == "const"


def _leave_some(limits: list[Limit], of: Ex, frame: Frame) -> bool:
    """Is there something within the limits for every row of which `of` is a number?

    The range that a row sees is the narrowest where rows begin or end: its ends are straight lines,
    bent towards each other.
    """
    by_lane = frame.lane in of.axes
    rows, columns = (frame.lane, frame.stream) if by_lane else (frame.stream, frame.lane)
    try:
        for row in (0, rows.extent - 1):
            first, last = 0, columns.extent - 1
            for lane, stream, constant in limits:
                own, other = (lane, stream) if by_lane else (stream, lane)
                edge = own * row + constant
                if other not in (1, -1):
                    return False
                first, last = (max(first, -edge), last) if other > 0 else (first, min(last, edge))
            if first > last:
                return False
    except UnknownSizeError:
        return False
    return True


def conditions_of(test: Ex, holds: bool, frame: Frame) -> list[Limit]:
    """Limits within which a comparison of indices holds, or does not."""
    if (test.op == "bitwise_and" and holds) or (test.op == "bitwise_or" and not holds):
        return [x for arg in test.args for x in conditions_of(arg, holds, frame)]
    if test.op not in COMPARED:
        return []
    sign, less = COMPARED[test.op if holds else OPPOSITE[test.op]]
    one, two = (as_index(x) for x in test.args)
    if one is None or two is None:
        return []
    return _limit((one + two * -1) * sign + less, frame)


def _limit(index: Index, frame: Frame) -> list[Limit]:
    lane, stream = index.coefficient(frame.lane), index.coefficient(frame.stream)
    plain = index.is_affine() and index.axes() <= {frame.lane, frame.stream}
    return [(lane, stream, index.constant)] if plain and stream in (1, -1) else []
