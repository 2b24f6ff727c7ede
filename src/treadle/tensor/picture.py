"""A picture of a tensor's graph as SVG: ops, shapes, dtypes, and a few elements where known."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from treadle.base.errors import OperandError, explain
from treadle.ir.graph import toposort
from treadle.ir.node import CONST, LEAF, Node
from treadle.ir.pattern import constant_value
from treadle.ir.printer import graph_text, literal, short_site, type_text
from treadle.ops.defs import Kind
from treadle.runtime.realize import in_memory
from treadle.tensor.cards import Card, Line, place_cards
from treadle.tensor.tensor import Tensor

LETTER = 6.9  # width of a letter
LINE = 15.0  # height of a line of text
PADDING = 9.0
MARGIN = 24.0
STEP = 34.0  # between layers
ELEMENTS = 4  # shown of a value in memory
MOST_BYTES = 1 << 20  # larger values stay where they are
WIDEST = 34  # letters of an arg

# kind of card: (fill, edge, what the legend says)
COLOURS = {
    "memory": ("#dbeafe", "#3b82f6", "in memory"),
    Kind.SOURCE: ("#f1f5f9", "#94a3b8", "source"),
    Kind.ELEMENTWISE: ("#dcfce7", "#22c55e", "elementwise"),
    Kind.MOVEMENT: ("#f8fafc", "#94a3b8", "view"),
    Kind.REDUCE: ("#ffedd5", "#f97316", "reduction"),
    Kind.CONTRACT: ("#ede9fe", "#8b5cf6", "product"),
    Kind.GATHER: ("#ccfbf1", "#14b8a6", "gather"),
    Kind.SCATTER: ("#ccfbf1", "#0f766e", "scatter"),
    Kind.COMPOSITE: ("#fef9c3", "#ca8a04", "composite"),
}
FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0.8 L7.5 4 L0 7.2 z" fill="#64748b"/></marker></defs>'
)
ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
OTHER = ("#fce7f3", "#db2777", "other")


class Picture:
    """SVG text that notebooks show and `save` writes."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg)} bytes; save(path) writes it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto">{self.svg}</div>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture; a page if the name ends in .html. Readers see all of it or none."""
        from treadle.base.files import write

        page = f'<!doctype html><meta charset="utf-8">{self._repr_html_()}\n'
        write(path, page if os.fspath(path).endswith(".html") else self.svg)


def graph(tensors: Tensor | Sequence[Tensor], sites: bool = False) -> str:
    """The graph of one or more tensors as text, one op a line; sites adds the lines that made them.

    >>> import treadle as td
    >>> print(graph(td.exp(td.tensor([1.0, 2.0]) * 3)))
    %0 = leaf : f32[2]
    %1 = const 3.0 : f32[]
    %2 = mul %0, %1 : f32[2]
    %3 = exp %2 : f32[2]
    roots %3
    """
    return graph_text(_roots("graph", tensors), sites)


def draw(tensors: Tensor | Sequence[Tensor], path: str | os.PathLike[str] | None = None) -> Picture:
    """A picture of the graph of one or more tensors; with a path, saved there too.

    Nothing is computed: what is in memory shows a few elements, the rest its shape and dtype.
    """
    picture = Picture(_svg(_roots("draw", tensors)))
    if path is not None:
        picture.save(path)
    return picture


def _roots(name: str, tensors: Tensor | Sequence[Tensor]) -> list[Node]:
    several = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    for t in several:
        if not isinstance(t, Tensor):
            hint = f"td.{name}(x) or td.{name}([x, y])"
            raise OperandError(explain(name, "not a tensor", hint, got=type(t).__name__))
    return [t._node for t in several]


def _svg(roots: Sequence[Node]) -> str:
    order = toposort(roots, lambda n: in_memory(n) or constant_value(n) is not None)
    shown = [n for n in order if constant_value(n) is None or n in roots]
    texts = {node: _lines_of(node) for node in shown}
    cards = {
        node: Card(max(map(len, lines)) * LETTER + 2 * PADDING, len(lines) * LINE + PADDING)
        for node, lines in texts.items()
    }
    edges = [(x, node) for node in shown if not in_memory(node)
             for x in dict.fromkeys(node.operands) if x in cards]  # fmt: skip
    routes = place_cards(list(cards.values()), [(cards[a], cards[b]) for a, b in edges], STEP)
    right = max((card.x + card.width / 2 for card in cards.values()), default=0.0)
    for line in routes:
        right = max(right, *(card.x for card in line))
    bottom = max((card.y + card.height for card in cards.values()), default=0.0)
    kinds = list(dict.fromkeys(_colours(node) for node in shown))
    legend, legend_width = _legend(kinds, bottom + STEP)
    width, height = max(right, legend_width) + 2 * MARGIN, bottom + STEP + LINE + 2 * MARGIN
    body = _arrows(routes)
    body += [_drawn(node, card, texts[node], node in roots) for node, card in cards.items()]
    frame = f'x="{-MARGIN:.0f}" y="{-MARGIN:.0f}" width="{width:.0f}" height="{height:.0f}"'
    view = f"{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{view}" font-family="{FONT}" font-size="11.5">'
    )
    return "\n".join([opening, f'<rect {frame} fill="#ffffff"/>', TIP, *body, *legend, "</svg>"])


def _lines_of(node: Node) -> list[str]:
    """What a card says: op, arg, numbers among the operands, type, elements."""
    if in_memory(node):
        return ["value" if node.op is LEAF else node.op.name, type_text(node.type), _elements(node)]
    if constant_value(node) is not None:
        return [_short(f"{constant_value(node)}"), type_text(node.type)]
    lines = [node.op.name]
    numbers = [constant_value(x) for x in node.operands]
    if any(value is not None for value in numbers):
        lines[0] += f" ({', '.join('·' if v is None else _number(v) for v in numbers)})"
    said = _argument(node)
    return [*lines, said, type_text(node.type)] if said else [*lines, type_text(node.type)]


def _argument(node: Node) -> str:
    """The arg in a few letters; a reshape says no more than its type."""
    if node.arg is None or node.op.name in ("reshape", "expand", "cast"):
        return ""
    if node.op.kind is Kind.COMPOSITE:
        given = [(name, value) for name, value in node.arg[1] if value is not None]
        return _short(", ".join(f"{name}={literal(value)}" for name, value in given))
    if node.op.kind is Kind.REDUCE and isinstance(node.arg, tuple) and len(node.arg) == 2:
        axes = node.arg[0]
        return _short(f"axis={axes[0] if isinstance(axes, tuple) and len(axes) == 1 else axes}")
    return _short(literal(node.arg))


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _elements(node: Node) -> str:
    if node.type.nbytes > MOST_BYTES:
        return f"{node.type.nbytes / (1 << 20):.0f} MiB"
    array = Tensor(node).numpy().reshape(-1)
    said = " ".join(_number(x) for x in array[:ELEMENTS].tolist())
    return f"[{said} …]" if array.size > ELEMENTS else f"[{said}]"


def _colours(node: Node) -> tuple[str, str, str]:
    return COLOURS["memory"] if in_memory(node) else COLOURS.get(node.op.kind, OTHER)


def _drawn(node: Node, card: Card, lines: Sequence[str], root: bool) -> str:
    fill, edge, _ = _colours(node)
    left, width = card.x - card.width / 2, 2.4 if root else 1.1
    facts = [str(node.op), type_text(node.type)]
    facts += [literal(node.arg)] if node.arg is not None and node.op is not CONST else []
    facts += [short_site(node.site)] if node.site else []
    parts = [(
        f"<g><title>{' | '.join(facts).translate(ESCAPED)}</title>"
        f'<rect x="{left:.1f}" y="{card.y:.1f}" width="{card.width:.1f}" '
        f'height="{card.height:.1f}" '
        f'rx="6" fill="{fill}" stroke="{edge}" stroke-width="{width}"/>'
    )]  # fmt: skip
    for k, line in enumerate(lines):
        style = 'font-weight="600" fill="#0f172a"' if k == 0 else 'fill="#475569"'
        y = card.y + PADDING / 2 + (k + 0.76) * LINE
        place = f'x="{card.x:.1f}" y="{y:.1f}" text-anchor="middle"'
        parts.append(f"<text {place} {style}>{line.translate(ESCAPED)}</text>")
    return "".join([*parts, "</g>"])


Ports = dict[tuple[Card, Card, bool], float]


def _ports(lines: Sequence[Line]) -> Ports:
    """x at which lines between two cards leave and enter them, spread so that no two share one."""
    ports: Ports = {}
    for enters in (False, True):
        ends: dict[Card, list[Card]] = {}
        for line in lines:
            card, other = (line[-1], line[-2]) if enters else (line[0], line[1])
            if other not in ends.setdefault(card, []):
                ends[card].append(other)
        for card, others in ends.items():
            others.sort(key=lambda other: other.x)
            room = min(card.width - 2 * PADDING, 22.0 * (len(others) - 1))
            for k, other in enumerate(others):
                share = k / (len(others) - 1) - 0.5 if len(others) > 1 else 0.0
                ports[card, other, enters] = card.x + share * room
    return ports


def _arrows(lines: Sequence[Line]) -> list[str]:
    """Curves that are vertical wherever they meet a layer; what lines share is drawn once."""
    ports = _ports(lines)
    arrows: list[str] = []
    passed: set[Card] = set()
    for line in lines:
        start, end = line[0], line[-1]
        points = [(ports[start, line[1], False], start.y + start.height)]
        for card in line[1:-1]:
            if card in passed:
                points = []
            passed.add(card)
            points += [(card.x, card.y), (card.x, card.y + card.height)]
        points.append((ports[end, line[-2], True], end.y - 1.5))
        arrows.append(_curve(points))
    return arrows


def _curve(points: Sequence[tuple[float, float]]) -> str:
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (y + to_y) / 2
        straight = f"V{to_y:.1f}"
        curved = f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
        path.append(straight if x == to_x else curved)
    return (
        f'<path d="{" ".join(path)}" fill="none" stroke="#64748b" stroke-width="1.1" '
        'marker-end="url(#tip)"/>'
    )


def _legend(kinds: Sequence[tuple[str, str, str]], y: float) -> tuple[list[str], float]:
    """What the colours mean, in one row, and how wide that is."""
    parts, x = [], 0.0
    for fill, edge, name in kinds:
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" rx="3" fill="{fill}" '
            f'stroke="{edge}"/><text x="{x + 18:.1f}" y="{y + 10:.1f}" fill="#475569">{name}</text>'
        )
        x += 18 + len(name) * LETTER + 16
    return parts, x
