"""Memory as pictures: live bytes over time, and the arena of a program as time × offset."""

from __future__ import annotations

import html

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.profiler import drawing
from treadle.profiler.drawing import COLOURS, across, down, scale, svg
from treadle.profiler.memory import arena_bytes
from treadle.profiler.recording import Counter, ProgramPage, Recording
from treadle.runtime.explain import quantity
from treadle.tensor.picture import Picture

POINTS = 1500  # of a line that are drawn


def memory_picture(recording: Recording) -> Picture:
    """Bytes over time: a line for each counter of bytes, its peak marked."""
    counters = [c for c in recording.counters if c.unit in {"B", "bytes"} and len(c.times)]
    if not counters:
        names = ", ".join(c.name for c in recording.counters) or "none"
        raise ArgumentError(explain("memory_picture", "no counter of bytes", counters=names))
    most = max(float(c.values.max()) for c in counters) or 1.0
    began = min(int(c.times[0]) for c in counters)
    lasts = max(int(c.times[-1]) for c in counters) - began or 1
    parts = [scale(most)]
    for counter, colour in zip(counters, COLOURS * len(counters), strict=False):
        parts.append(_line(counter, colour, began, lasts, most))
    parts.append(drawing.ends("0", drawing.duration(lasts)))
    parts.append(
        drawing.legend([(c.name, colour) for c, colour in zip(counters, COLOURS, strict=False)])
    )
    return Picture(svg("live bytes over time", parts))


def _line(counter: Counter, colour: str, began: int, lasts: int, most: float) -> str:
    """Steps, as a value holds until the next one; the highest is always drawn."""
    peak = int(counter.values.argmax())
    step = -(-len(counter.times) // POINTS)
    chosen = np.unique([*range(0, len(counter.times), step), peak, len(counter.times) - 1])
    xs = [across(x) for x in ((counter.times[chosen] - began) / lasts).tolist()]
    ys = [down(y) for y in (counter.values[chosen] / most).tolist()]
    path = f"M{xs[0]:.1f} {down(0.0):.1f}V{ys[0]:.1f}"
    path += "".join(f"H{x:.1f}V{y:.1f}" for x, y in zip(xs[1:], ys[1:], strict=True))
    x, y = across((int(counter.times[peak]) - began) / lasts), down(counter.values[peak] / most)
    said = f"{counter.name}: {quantity(float(counter.values[peak]), 'B')} at most"
    return (
        f"<path d='{path}V{down(0.0):.1f}Z' fill='{colour}' fill-opacity='.16'/>"
        f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='1.5'/>"
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'>"
        f"<title>{html.escape(said)}</title></circle>"
    )


def arena_picture(recording: Recording, program: int | None = None) -> Picture:
    """Where each buffer of a program lies (up) and when it is alive (across, in steps).

    Without a program it is the one with the largest arena.
    """
    laid_out = {n: page for n, page in recording.programs.items() if page.layout}
    if program is None:
        program = max(laid_out, key=lambda n: arena_bytes(laid_out[n]), default=-1)
    if program not in laid_out:
        known = ", ".join(map(str, laid_out)) or "none"
        raise ArgumentError(
            explain("arena_picture", "no such program with an arena", got=program, programs=known)
        )
    page = laid_out[program]
    extent, steps = arena_bytes(page) or 1, max(last for _, _, _, last, _ in page.layout) + 1
    parts = [scale(extent)]
    for number, (offset, nbytes, first, last, label) in enumerate(page.layout):
        left, right = across(first / steps), across((last + 1) / steps)
        top, bottom = down((offset + nbytes) / extent), down(offset / extent)
        said = f"{label}: {quantity(nbytes, 'B')} at {offset:,}, steps {first} to {last}"
        colour = COLOURS[number % len(COLOURS)]
        parts.append(
            f"<rect x='{left:.1f}' y='{top:.1f}' width='{max(right - left - 0.5, 0.5):.1f}' "
            f"height='{max(bottom - top - 0.5, 0.5):.1f}' fill='{colour}' fill-opacity='.75'>"
            f"<title>{html.escape(said)}</title></rect>"
        )
        parts.append(drawing.label_within(label, left, right, top, bottom))
    parts.append(_bound(page, extent))
    parts.append(drawing.ends("step 0", f"{steps} steps"))
    return Picture(svg(arena_line(page), parts))


def arena_line(page: ProgramPage) -> str:
    """What the arena takes, what any must, and what reuse saves."""
    extent = arena_bytes(page)
    saved = 1 - extent / page.without_reuse if page.without_reuse else 0.0
    return (
        f"arena {quantity(extent, 'B')}, lower bound {quantity(page.lower_bound, 'B')}, "
        f"without reuse {quantity(page.without_reuse, 'B')}: {saved:.0%} saved"
    )


def _bound(page: ProgramPage, extent: int) -> str:
    """The least any layout needs, as a dashed line."""
    y = down(min(1.0, page.lower_bound / extent))
    dashes = "stroke='currentColor' stroke-dasharray='5 4' stroke-opacity='.7'"
    return (
        f"<line x1='{across(0.0):.1f}' x2='{across(1.0):.1f}' y1='{y:.1f}' y2='{y:.1f}' {dashes}/>"
    )
