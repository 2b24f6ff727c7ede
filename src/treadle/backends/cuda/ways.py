"""Which tiles, warps and stages timing has found best for a kernel, and which may be tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from treadle.backends import choices
from treadle.backends.choices import Machine, Space
from treadle.backends.cuda.forms import Form, size_of
from treadle.backends.questions import of_loops
from treadle.kernel.loops import Loops

WARPS = (1, 2, 4, 8, 16)
STAGES = (1, 2, 3, 4, 5, 6)
MOST = 1 << 14  # elements of a tile


class Staged(Protocol):
    """A tile that warps work on while the next ones are on their way."""

    # fmt: off
    @property
    def warps(self) -> int: ...
    @property
    def stages(self) -> int: ...
    # fmt: on


T = TypeVar("T", bound=Staged)


def settled(
    machine: Machine, kernel: Callable[[], str], default: T, others: Sequence[T], *sizes: str
) -> T:
    """The tile of a kernel: one of some, with its warps and stages or others.

    sizes: names of the fields that only a listed tile may have.
    """
    if not choices.is_open(machine):
        return default
    listed = {tuple(getattr(tile, name) for name in sizes) for tile in (default, *others)}

    def fits(tile: T) -> bool:
        known = tuple(getattr(tile, name) for name in sizes) in listed
        return known and tile.warps in WARPS and tile.stages in STAGES

    def near(tile: T) -> Iterable[T]:
        return filter(fits, (*others, *_paced(tile)))

    return choices.take(machine, kernel(), Space(default, near, fits))


def _paced(tile: Any) -> Iterator[Any]:
    for warps in (2 * tile.warps, tile.warps // 2):
        yield replace(tile, warps=warps)
    for stages in (tile.stages + 1, tile.stages - 1):
        yield replace(tile, stages=stages)


def settled_form(machine: Machine, loops: Loops, default: Form) -> Form:
    """The form of a loop kernel: other warps, and for maps other tiles."""
    if not choices.is_open(machine):
        return default
    rows, columns = size_of(loops.outer[default.split :]), size_of(loops.inner)

    def with_tile(form: Form, r: int, c: int) -> Form:
        return replace(
            form, rows=r, columns=c, exact_rows=rows % r == 0, exact_columns=columns % c == 0
        )

    def fits(form: Form) -> bool:
        if form.warps not in WARPS:
            return False
        if default.kind != "map":
            return replace(form, warps=default.warps) == default
        r, c = form.rows, form.columns
        if min(r, c) < 1 or r & (r - 1) or c & (c - 1) or r * c > MOST:
            return False
        return form == with_tile(replace(default, warps=form.warps), r, c)

    def near(form: Form) -> Iterator[Form]:
        for warps in (2 * form.warps, form.warps // 2):
            yield replace(form, warps=warps)
        if form.kind == "map":
            for r, c in ((1, 2), (2, 1), (2, 2)):
                yield with_tile(form, form.rows * r, form.columns * c)
                yield with_tile(form, max(1, form.rows // r), max(1, form.columns // c))

    kernel = f"{default.kind} {default.split} {of_loops(loops)}"
    return choices.take(machine, kernel, Space(default, lambda x: filter(fits, near(x)), fits))
