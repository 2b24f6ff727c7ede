"""Where a node was written, as text: line, module, phase, open spans, and the composite.

    train.py:12 <US> blocks.3.attn <US> backward <RS> epoch/model <TAB> softmax(axis=-1)

What a compiler works on has numbers instead of lines, `@7`: the place of a node in the structure
of its graph. Programs are shared by all graphs of a structure, so lines are found per caller, whose
sites stand in the same order (`placed`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from treadle.ir.graph import toposort
from treadle.ir.node import Node
from treadle.ir.recording import FIELD, SPAN, WITHIN

PLACE = "@"
NO_PLACE = -1


class Site(NamedTuple):
    """The parts of a site; empty where nothing is known."""

    line: str = ""
    module: str = ""
    phase: str = ""
    scope: str = ""  # names of the spans that were open: "epoch/model"
    call: str = ""  # the composite that a node is a part of: "softmax(axis=-1)"


@lru_cache(maxsize=1 << 16)
def parsed(site: str) -> Site:
    """A site's parts."""
    head, _, call = site.partition(WITHIN)
    place, _, scope = head.partition(SPAN)
    line, module, phase = (*place.split(FIELD), "", "")[:3]
    return Site(line, module, phase, scope, call)


def placed(roots: Iterable[Node], leaves: Container[Node]) -> list[Node]:
    """The nodes of a graph in an order that is the same for all graphs of one structure.

    Numbers have no place: a program may be given them, or know them.
    """
    ends = set(roots)
    return [
        node for node in toposort(roots, leaves.__contains__)
        if node not in leaves and (node.call.slot is None or node in ends)
    ]  # fmt: skip


def sites_of(roots: Sequence[Node], leaves: Container[Node]) -> tuple[str | None, ...]:
    """The caller's side: a site for each place."""
    return tuple([node.site for node in placed(roots, leaves)])


def put_places(roots: Sequence[Node], leaves: Container[Node]) -> tuple[str | None, ...]:
    """Number the nodes of a graph that a compiler owns; the sites they had."""
    nodes = placed(roots, leaves)
    found = tuple([node.site for node in nodes])
    for k, node in enumerate(nodes):
        known = parsed(node.site or "")
        whole = f"{WITHIN}{known.call}" if known.call else ""
        node.site = f"{PLACE}{k}{FIELD}{FIELD}{known.phase}{whole}"
    return found


def place_of(site: str | None) -> int:
    """The number that a node of a program has instead of a line."""
    line = parsed(site or "").line
    return int(line[len(PLACE) :]) if line.startswith(PLACE) else NO_PLACE


def resolved(site: str | None, caller: Sequence[str | None]) -> Site:
    """What a site means to a caller; of composites within each other, the user's."""
    if not site:
        return Site()
    own = parsed(site)
    if not own.line.startswith(PLACE):
        return own
    place = int(own.line[len(PLACE) :])
    theirs = caller[place] if place < len(caller) else None
    if theirs is None:
        return own._replace(line="")
    known = parsed(theirs)
    return known if known.call else known._replace(call=own.call)
