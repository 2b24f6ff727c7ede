"""Which tiles of a chain matter: where masks computed from indices alone leave something to add."""

from __future__ import annotations

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
    if op in ("cast", "neg", "div", "sub") and (op == "cast" or nothing == 0 or op == "sub"):
        return limits_of(args[0], nothing, frame)
    return []


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
