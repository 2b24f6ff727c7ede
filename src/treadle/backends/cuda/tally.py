"""How often each digit occurs in a line, for all passes of a radix sort: a kernel in PTX."""

from __future__ import annotations

from functools import lru_cache

from treadle.backends.cuda.digits import (
    DIGIT,
    DIGITS,
    TABLE,
    WARP,
    Kind,
    Line,
    Made,
    at,
    levelled,
    twisted,
)
from treadle.backends.cuda.ptx import Value, Writer

THREADS = DIGITS
AT_ONCE = 8  # elements of a thread in one turn
TURN = THREADS * AT_ONCE


@lru_cache(maxsize=256)
def counting(kind: Kind, names: tuple[str, ...]) -> Made:
    """The kernel that counts all digits of a part of a line; names: of its arguments."""
    w = Writer(names)
    thread, program = w.number("%tid.x"), w.number("%ctaid.x")
    parts, turns = (w.parameter(name).as_bits(32) for name in ("parts", "turns"))
    line = Line(w, kind, (program // parts).as_bits(64))
    first, step = line.outside("x", kind.d.size)
    tables = w.shared() + thread * 4
    for number in range(kind.passes):
        w.store("shared", 4, tables, 0, TABLE * number)
    w.barrier()
    k = (program % parts * turns).as_bits(64) * TURN + thread.as_bits(64)
    with w.repeat() as end:
        w.do(f"bra {end}", where=turns.equals(0))
        w.do(f"bra {end}", where=k >= line.n)
        count_some(w, kind, k, line.n, first, step)
        w.assign(k, k + TURN)
        w.assign(turns, turns - 1)
    w.barrier()
    to = w.parameter("counts") + w.parameter("tickets") * kind.word
    row = line.line * (DIGITS * kind.word) + thread.as_bits(64) * kind.word
    to, apart = to + row, w.parameter("lines") * (DIGITS * kind.word)
    for number in range(kind.passes):
        found = w.load("shared", 4, tables, TABLE * number).as_bits(8 * kind.word)
        w.add_to("global", kind.word, to, found, where=found.differs(0))
        to = to + apart
    return w.text(THREADS), TABLE * kind.passes, THREADS // WARP


def count_some(w: Writer, kind: Kind, k: Value, n: Value, first: Value, step: Value | int) -> None:
    """Digits of elements of one turn, each thread's a block apart."""
    places = [k + THREADS * j for j in range(AT_ONCE)]
    there = [place < n for place in places]
    loaded = [
        w.load("global", kind.d.size, at(place, first, step), where=where)
        for place, where in zip(places, there, strict=True)
    ]
    tables = w.shared()
    for bits, where in zip(loaded, there, strict=True):
        key = levelled(w, twisted(w, bits, kind), kind)
        for number in range(kind.passes):
            word = tables + ((key >> DIGIT * number).as_bits(32) & DIGITS - 1) * 4
            w.add_to("shared", 4, word, 1, TABLE * number, where)
