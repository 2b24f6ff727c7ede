"""Groups as a table for the terminal: your lines first, with a bar each."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from os.path import basename

from treadle.profiler.groups import KINDS, Group

BAR = 12  # cells
EIGHTHS = " ▏▎▍▌▋▊▉█"
WIDTH = 44  # of what names a row


class Table:
    """Rows of a profile; print it to read it.

    Shares are those of own times, which add up: what lies in each other counts once.
    """

    def __init__(self, key: str, groups: Sequence[Group], head: str, most: int) -> None:
        self.key, self.head, self.most = key, head, most
        self.rows = list(groups)
        self.total = sum(group.own for group in groups)
        self.nests = key in KINDS or key == "thread"  # no kernels, but time of their own

    def __str__(self) -> str:
        own = f" {'own':>9}" if self.nests else ""
        titles = f"{self.key:<{WIDTH}} {'time':>9}{own} {'share':>6} {'':<{BAR}} {'runs':>6}"
        if not self.nests:
            titles += f" {'kernels':>7} {'bytes':>9} {'GB/s':>7} {'GFLOP/s':>8} {'limit':>6}"
        lines = [self.head, "", titles]
        lines += [self._line(row) for row in self.rows[: self.most]]
        left = self.rows[self.most :]
        if left:
            spent = sum(row.own for row in left)
            lines.append(f"{f'{len(left)} more':<{WIDTH}} {time_text(spent):>9}")
        return "\n".join(lines)

    __repr__ = __str__

    def _line(self, row: Group) -> str:
        share = row.own / self.total if self.total else 0.0
        pace = f"{row.nbytes / row.time:7.1f} {row.flops / row.time:8.1f}" if row.time else ""
        limit = f"{row.roofline:6.0%}" if row.ideal else "      "
        name, spent = shown(self.key, row.name), time_text(row.time)
        if self.nests:
            own = time_text(row.own)
            return f"{name:<{WIDTH}} {spent:>9} {own:>9} {share:6.1%} {_bar(share)} {row.runs:6}"
        return (
            f"{name:<{WIDTH}} {spent:>9} {share:6.1%} {_bar(share)} "
            f"{row.runs:6} {row.distinct:7} {_bytes(row.nbytes):>9} {pace} {limit}"
        )


def shown(key: str, name: str) -> str:
    """A line with its text; other names as they are."""
    text = name
    if key == "line":
        file, _, number = name.rpartition(":")
        source = linecache.getline(file, int(number)).strip() if number.isdigit() else ""
        text = f"{basename(name)}  {source}"
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _bar(share: float) -> str:
    cells = round(min(1.0, max(0.0, share)) * BAR * 8)
    full, rest = divmod(cells, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)


def time_text(nanoseconds: float) -> str:
    """A time with its unit."""
    if nanoseconds < 1e5:
        return f"{nanoseconds / 1e3:.1f} us"
    return f"{nanoseconds / 1e6:.2f} ms" if nanoseconds < 1e9 else f"{nanoseconds / 1e9:.2f} s"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
