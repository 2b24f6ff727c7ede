"""What pictures of memory are made of: a frame with bytes up, text, legends."""

from __future__ import annotations

import html
from collections.abc import Sequence

from treadle.runtime.explain import quantity

WIDTH, HEIGHT = 920, 300
LEFT, TOP, BOTTOM, RIGHT = 78, 14, 34, 12
COLOURS = ("#4f83cc", "#3f9d6d", "#c9822f", "#8a6bbf", "#b8557a", "#4a9aa5", "#8d8d4b", "#c2604a")
FONT = "font-family='system-ui,sans-serif' font-size='11' fill='currentColor'"
TICKS = 4


def svg(title: str, parts: Sequence[str], more: float = 0.0) -> str:
    """A picture that has its frame's height and more."""
    box = f"0 0 {WIDTH} {HEIGHT + more:.0f}"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{box}' role='img'"
    return f"{head} width='100%'><title>{html.escape(title)}</title>{''.join(parts)}</svg>"


def scale(most: float) -> str:
    """Lines across with bytes at the left."""
    found = []
    for k in range(TICKS + 1):
        y = down(k / TICKS)
        found.append(
            f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y:.1f}' y2='{y:.1f}' "
            f"stroke='currentColor' stroke-opacity='.15'/>"
            + text(LEFT - 8, y + 4, quantity(most * k / TICKS, "B"), "end")
        )
    return "".join(found)


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Names with their colours, side by side at the top."""
    return "".join(
        f"<rect x='{LEFT + 10 + 170 * k}' y='{TOP + 4}' width='10' height='10' fill='{colour}'/>"
        + text(LEFT + 25 + 170 * k, TOP + 13, name)
        for k, (name, colour) in enumerate(entries)
    )


def label_within(label: str, left: float, right: float, top: float, bottom: float) -> str:
    """The name within a rectangle, where it has room."""
    if right - left < 7 * len(label) + 8 or bottom - top < 15:
        return ""
    return text((left + right) / 2, (top + bottom) / 2 + 4, label, "middle")


def ends(first: str, last: str) -> str:
    """What stands below the frame, at its left and right ends."""
    return text(LEFT, HEIGHT - 8, first) + text(WIDTH - RIGHT, HEIGHT - 8, last, "end")


def text(x: float, y: float, said: str, anchor: str = "start") -> str:
    """Letters at a place."""
    shown = html.escape(said)
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {FONT}>{shown}</text>"


def across(part: float) -> float:
    """The place of a part of the width of the frame."""
    return LEFT + part * (WIDTH - LEFT - RIGHT)


def down(part: float) -> float:
    """The place of a part of its height, from the bottom."""
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def duration(nanoseconds: float) -> str:
    """A time as people write it."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"
