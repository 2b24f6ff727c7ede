"""Statements about memory that may be used again: what lies there is read, and written over."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base.dtypes import float32, float64
from treadle.testing.fuzz.generate import Draw, Generation
from treadle.testing.fuzz.program import Statement
from treadle.testing.fuzz.state import call

LAID = (("scan", "scan", "{0}.cumsum(1)"), ("sort", "pick", "{0}.sort(1)"))
TURNED = (
    "{0}.flip(1)", "{0}.flip(0)", "{0}.roll(1, 1)", "{0}.roll(1, 0)", "{0}[:, :1]", "{0}[:1]",
    "{0}[::-1, ::-1]", "{0}",
)  # fmt: skip


def _laid(g: Generation, x: str | None) -> str | None:
    """Lines in memory of their own: no kernel makes them while it reads others."""
    name, rule, text = g.draw.one(LAID)
    return g.value(name, rule, text, x)


def between(g: Generation) -> None:
    """Lines in memory, a map that reads them at other places, and lines in memory again.

    Whether the map may be written over what it reads depends on where it reads, and on who
    reads afterwards.
    """
    x = g.leaf((g.size(), g.size()), g.draw.one((float32, float64)))
    first = _laid(g, x)
    if first is None:
        return
    made: str | None = first
    for _ in range(g.draw.number(1, 2)):
        turned = g.value("rearrange", "move", g.draw.one(TURNED), g.draw.one((made, first)))
        made = g.value("binary", "add", "{0} + {1}", made, turned)
        if g.draw.coin():
            made = g.value("rearrange", "move", g.draw.one(TURNED[:4]), made)
            made = g.value("scaled", "multiply", "{0} * 0.5", made)
    last = _laid(g, made)
    if g.draw.coin():
        g.value("binary", "add", "{0} - {1}", last, first)


def _called(g: Generation, x: str, body: Sequence[Statement], *arguments: str) -> None:
    """A compiled function that changes a tensor and returns half of it, and a call of it."""
    name, made = g.new_name("f"), g.new_name()
    params = tuple(n for s in body for n in s.operands if n.startswith("p"))
    half = Statement("scaled", "value", "multiply", (made,), (x,), "{0} * 0.5")
    end = Statement("return", "return", "move", (), (made,), "{0}")
    g.add(Statement("define", "define", "move", (name,), (), "", params, (*body, half, end)))
    call(g, name, arguments)


def assign_part(g: Generation) -> None:
    """Some rows of a state become others of them: what is read lies where something is written."""
    rows = g.draw.number(9, 40)
    x = g.leaf((rows, g.draw.number(1, 20)), g.draw.one((float32, float64)))
    count = g.draw.number(1, rows // 4)
    at = g.draw.number(0, rows - count)
    start = min(max(at + g.draw.number(-2, 2), 0), rows - count)
    part, turned = g.new_name(), g.draw.one(("", "", ".flip(0)", ".flip(1)", " * 2"))
    read = f"{{0}}[{start}:{start + count}]{turned}"
    write = f"{{0}}[{at}:{at + count}] = {{1}}"
    moved = Statement("rearrange", "value", "multiply", (part,), (x,), read)
    _called(g, x, (moved, Statement("assign item", "item", "move", (), (x, part), write)))


def hand_over(g: Generation) -> None:
    """A state takes the value of an argument, and is then written over: the argument is not."""
    shape, kind = g.shape(g.draw.number(1, 2)), g.draw.one((float32, float64))
    x, given = g.leaf(shape, kind), g.leaf(shape, kind)
    taken = Statement("assign", "assign", "move", (), (x, g.new_name("p")), "{1}")
    _called(g, x, (taken,), given)
    for _ in range(g.draw.number(1, 2)):
        text = g.draw.one(("{0} * 2", "{0} + 1", "{0} - {0}[:1]"))
        made = g.new_name()
        other = Statement("successor", "value", "add", (made,), (x,), text)
        _called(g, x, (other, Statement("assign", "assign", "move", (), (x, made), "{1}")))
    g.value("scaled", "add", "{0} + 1", given)


def totals(g: Generation) -> None:
    """A product, in batches at times, and totals of its columns or rows that maps read."""
    kind, batch = g.draw.one((float32, float64)), g.draw.one(((), (2,), (3,)))
    rows, depth, columns = g.draw.number(1, 70), g.draw.number(1, 9), g.size()
    sides = g.leaf((*batch, rows, depth), kind), g.leaf((*batch, depth, columns), kind)
    made = g.value("product", "product", "{0} @ {1}", *sides)
    axis = g.draw.one((-1, -2, "(0, 1)", 0)) if batch else g.draw.one((-1, -2))
    total = g.value("sum", "sum", f"{{0}}.sum({axis}, keepdims=True)", made)
    if g.draw.rarely(3):
        total = g.value("extreme", "pick", f"{{0}}.max({axis}, keepdims=True)", made)
    if g.draw.coin():
        made = g.value("binary", "add", "{0} - {1}", made, total)
        g.value("sum", "sum", f"{{0}}.sum({g.draw.one((-1, -2))})", made)


def both_ways(g: Generation) -> None:
    """Totals of the rows and of the columns of a square, of which there are as many."""
    size, kind = g.draw.one((5, 34, 63, 64, 100)), g.draw.one((float32, float64))
    x, along = g.leaf((size, size), kind), g.leaf(g.draw.one(((size, 1), (size,))), kind)
    sums = []
    for axis in g.draw.one(((0, 1), (1, 0))):
        form = g.draw.one(("{0} * 2", "{0} + {1}", "{0} - {1}"))
        made = g.value("scaled", "add", form, x, *([along] if "{1}" in form else []))
        sums.append(g.value("sum", "sum", f"{{0}}.sum({axis}, keepdims=True)", made))
    turned = g.draw.one(("{0} + {1}", "{0}.reshape(-1, 1) + {1}.reshape(-1, 1)"))
    g.value("binary", "add", turned, *sums)


KEEPERS: tuple[Draw, ...] = (between, between, assign_part, hand_over, totals, both_ways)
