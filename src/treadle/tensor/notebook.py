"""How a notebook shows a tensor: its facts, statistics, and a small picture of its values."""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import DType

INFINITY = float("inf")
CELLS = 24  # along an axis of the picture; of more elements some are shown
POINTS = 120  # of a curve
PIXELS = 8  # the side of a cell
WIDTH, HEIGHT = 240, 48  # of a curve
MISSING = "#d9a441"
LOW, MIDDLE, HIGH = (59, 91, 166), (244, 244, 240), (178, 64, 54)
STYLE = "font-family:monospace;font-size:12px;line-height:1.5;display:inline-block"


def html_of(array: Any, dtype: DType, device: Device) -> str:
    """A block of HTML without scripts or outside files."""
    shape = " × ".join(map(str, array.shape)) or "scalar"
    head = f"<b>tensor</b> {shape} &nbsp;{escape(dtype.name)} &nbsp;{escape(str(device))}"
    head += " &nbsp;sizes" if dtype.is_complex else ""
    values = (abs(array) if dtype.is_complex else array).astype("float64")
    facts = " &nbsp;".join(f"{name} <b>{text}</b>" for name, text in statistics(values).items())
    return f'<div style="{STYLE}">{head}<br>{facts}<br>{picture(values)}</div>'


def statistics(values: Any) -> dict[str, str]:
    """Least, greatest, mean and deviation of the finite numbers, and how many are not finite."""
    finite = _finite(values)
    numbers = values[finite]
    found: dict[str, str] = {}
    if numbers.size:
        scale = float(abs(numbers).max()) or 1.0  # sums of huge numbers must not overflow
        scaled = numbers / scale
        rows = {"min": numbers.min(), "max": numbers.max()}
        rows |= {"mean": scaled.mean() * scale, "std": scaled.std() * scale}
        found = {name: f"{float(value):.4g}" for name, value in rows.items()}
    missing = int((values != values).sum()) if values.size else 0
    found["NaN"] = str(missing)
    infinite = values.size - int(finite.sum()) - missing
    return found | ({"inf": str(infinite)} if infinite else {})


def picture(values: Any) -> str:
    """A curve of one axis, a map of two; of more axes the first matrix. SVG, or nothing."""
    if not values.size or not values.ndim:
        return ""
    while values.ndim > 2:
        values = values[0]
    return _curve(values) if values.ndim == 1 else _map(values)


def _finite(values: Any) -> Any:
    return (values == values) & (abs(values) != INFINITY)


def _some(size: int, most: int) -> list[int]:
    """Indices at equal distances, no more than most: averages would hide the extremes."""
    count = min(size, most)
    return [k * size // count for k in range(count)]


def _curve(values: Any) -> str:
    """One line through the values, broken where they are not finite."""
    points = values[_some(len(values), POINTS)]
    finite = _finite(points)
    numbers = points[finite]
    if not numbers.size:
        return ""
    low, high = float(numbers.min()), float(numbers.max())
    step = WIDTH / max(len(points) - 1, 1)
    pieces: list[list[str]] = [[]]
    for k, (value, shown) in enumerate(zip(points.tolist(), finite.tolist(), strict=True)):
        if shown:
            y = HEIGHT - 2 - (HEIGHT - 4) * _part(value, low, high)
            pieces[-1].append(f"{k * step:.1f},{y:.1f}")
        elif pieces[-1]:
            pieces.append([])
    lines = "".join(
        f'<polyline points="{" ".join(piece if len(piece) > 1 else piece * 2)}" fill="none" '
        'stroke="#3b5ba6" stroke-width="1.5" stroke-linecap="round"/>'
        for piece in pieces
        if piece
    )
    return _svg(WIDTH, HEIGHT, lines)


def _map(values: Any) -> str:
    """Cells from blue (least) to red (greatest); white is zero where there are both signs."""
    rows, columns = (_some(size, CELLS) for size in values.shape)
    cells = values[rows][:, columns]
    numbers = cells[_finite(cells)]
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)
    if low < 0.0 < high:
        high = max(high, -low)
        low = -high
    drawn = []
    for row, line in enumerate(cells.tolist()):
        for column, value in enumerate(line):
            fill = _colour(_part(value, low, high)) if isfinite(value) else MISSING
            at = f'x="{column * PIXELS}" y="{row * PIXELS}"'
            drawn.append(f'<rect {at} width="{PIXELS}" height="{PIXELS}" fill="{fill}"/>')
    return _svg(len(columns) * PIXELS, len(rows) * PIXELS, "".join(drawn))


def _part(value: float, low: float, high: float) -> float:
    """Where value lies between low and high, from 0 to 1."""
    half = high / 2 - low / 2  # the whole may overflow
    return (value / 2 - low / 2) / half if half > 0 else 0.5


def _colour(part: float) -> str:
    ends = (LOW, MIDDLE, 2 * part) if part < 0.5 else (MIDDLE, HIGH, 2 * part - 1)
    first, second, at = ends
    mixed = (round(a + (b - a) * at) for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _svg(width: int, height: int, inside: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    return f'{head} viewBox="0 0 {width} {height}">{inside}</svg>'
