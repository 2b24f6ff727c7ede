"""Who held memory and when: bytes over time by the line that made each piece, as a picture."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.profiler.drawing import (
    COLOURS,
    HEIGHT,
    LEFT,
    across,
    down,
    duration,
    ends,
    scale,
    svg,
    text,
)
from treadle.runtime.explain import quantity
from treadle.tensor.picture import Picture

SHOWN = 7  # lines with a colour of their own; what others hold is one area
POINTS = 800
ROW = 17.0  # height of a line of the legend
OTHERS = "other lines"


class Change(Protocol):
    """Memory that was taken (bytes above 0) or given back (below)."""

    # fmt: off
    @property
    def nanoseconds(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def line(self) -> str: ...
    @property
    def device(self) -> str: ...
    # fmt: on


def holders_picture(changes: Sequence[Change], device: str = "cpu") -> Picture:
    """Areas on top of each other, the line that held most at the peak first; the peak is marked."""
    mine = [change for change in changes if change.device == device]
    if not mine:
        known = ", ".join(dict.fromkeys(change.device for change in changes)) or "none"
        raise ArgumentError(
            explain("holders_picture", "nothing was taken there", got=device, devices=known)
        )
    when = np.array([change.nanoseconds for change in mine])
    total = np.cumsum([change.nbytes for change in mine])
    peak = int(total.argmax())
    step = -(-len(when) // POINTS)
    chosen = np.unique([*range(0, len(when), step), peak, len(when) - 1])
    at_peak = int(np.searchsorted(chosen, peak))
    lines, held = _held(mine, chosen, at_peak)
    lasts, most = float(when[-1] - when[0]) or 1.0, float(total[peak]) or 1.0
    xs = [across(x) for x in ((when[chosen] - when[0]) / lasts).tolist()]
    below = np.zeros(len(chosen))
    parts = [scale(most)]
    for line, own, colour in zip(lines, held, COLOURS, strict=False):
        above = below + own / most
        said = f"{line}: {quantity(float(own[at_peak]), 'B')} at the peak"
        parts.append(
            f"<path d='{_area(xs, below, above)}' fill='{colour}' fill-opacity='.8'>"
            f"<title>{html.escape(said)}</title></path>"
        )
        below = above
    x = xs[at_peak]
    parts.append(
        f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{down(1.0):.1f}' y2='{down(0.0):.1f}' "
        "stroke='currentColor' stroke-dasharray='3 3'/>"
    )
    parts += [ends("0", duration(lasts)), *_legend(lines, held[:, at_peak])]
    title = f"{device}: {quantity(most, 'B')} at the peak, by the lines that made it"
    return Picture(svg(title, parts, ROW * len(lines) + 6))


def _held(changes: Sequence[Change], chosen: Any, at_peak: int) -> tuple[list[str], Any]:
    """Lines, and what each holds after the chosen changes; lines that hold little are one."""
    names = list(dict.fromkeys(change.line for change in changes))
    number = {name: k for k, name in enumerate(names)}
    steps = np.zeros((len(names), len(chosen)))
    columns = np.searchsorted(chosen, np.arange(len(changes)))
    rows = np.array([number[change.line] for change in changes])
    np.add.at(steps, (rows, columns), [change.nbytes for change in changes])
    held = np.cumsum(steps, 1)
    order = np.argsort(-held[:, at_peak], kind="stable")
    first, others = order[:SHOWN], order[SHOWN:]
    lines = [names[k] for k in first]
    if not len(others):
        return lines, held[first]
    return [*lines, OTHERS], np.concatenate([held[first], held[others].sum(0, keepdims=True)])


def _area(xs: list[float], below: Any, above: Any) -> str:
    """Steps to the right along the top, and back along the bottom."""
    tops, bottoms = [down(y) for y in above.tolist()], [down(y) for y in below.tolist()]
    path = f"M{xs[0]:.1f} {tops[0]:.1f}"
    path += "".join(f"H{x:.1f}V{y:.1f}" for x, y in zip(xs[1:], tops[1:], strict=True))
    path += f"V{bottoms[-1]:.1f}"
    for k in range(len(xs) - 1, 0, -1):
        path += f"H{xs[k]:.1f}V{bottoms[k - 1]:.1f}"
    return f"{path}H{xs[0]:.1f}Z"


def _legend(lines: Sequence[str], nbytes: Any) -> list[str]:
    """Below the frame: a line each, with what it held at the peak."""
    found = []
    for k, (line, size, colour) in enumerate(zip(lines, nbytes.tolist(), COLOURS, strict=False)):
        y = HEIGHT + ROW * k
        found.append(f"<rect x='{LEFT}' y='{y:.1f}' width='10' height='10' fill='{colour}'/>")
        found.append(text(LEFT + 16, y + 9, f"{quantity(size, 'B'):>9}  {line}"))
    return found
