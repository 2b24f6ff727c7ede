"""The loop programs of a chain as Gluon text: Triton's, with vectors for rows and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treadle.backends.cuda.chain_parts import COMPARED, Part
from treadle.backends.cuda.narrow import stored
from treadle.kernel.abstract import Atom, Axis, Ex, Reduce, Store, Sum

ROW, COLUMN = "[:, None]", "[None, :]"
AS_GLUON = {
    r"tl\.full\(\(1, 1\), ([^,]+), tl\.\w+\)": r"\1",
    r" \+ tl\.zeros\(\(1, 1\), tl\.int32\)": "",
    r", keep_dims=True": "",
    r"tl\.arange\(0, (\d+)\)\[None, :\]": r"gl.arange(0, \1, gl.SliceLayout(0, GRID\1))",
}
"""What Triton's text becomes: numbers are numbers, and what has one axis is a vector."""

Axes = frozenset[Axis]


class GluonPart(Part):
    """A loop program of a chain in Gluon.

    A value for each row, or for each column, is a vector, which is spread where it meets a tile: as
    a tile of one column it would be held once for every column of a tile.

    - **then**: also, by name of a buffer, how a finished tile gets there
    - **asking**: axes of what is being made
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asking: list[Axes] = []
        self.axes: dict[Ex, Axes] = {}

    def run(self) -> list[str]:
        """Every pass; what comes from memory is asked for before anything is waited for."""
        for ex in self.kernel.order:
            local = ex.op == "load" and self.kernel.arguments[ex.data[0]].local
            if ex.op == "load" and not local and ex not in self.brought:
                self.value(ex)
        return super().run()

    def finished(self) -> list[str]:
        """The lines, in Gluon."""
        text = "\n".join(super().finished())
        for pattern, instead in AS_GLUON.items():
            text = re.sub(pattern, instead, text)
        return text.splitlines()

    # ---- values

    def value(self, ex: Ex) -> str:
        """The name of an expression, as what is being made has to have it."""
        return self._spread_over(super().value(ex), self._axes(ex))

    def _axes(self, ex: Ex) -> Axes:
        """The axes an expression has; what is reduced along a row has a value for each."""
        if ex not in self.axes:
            own = self.outer if ex.op == "reduced" else ex.axes
            self.axes[ex] = own.union(*map(self._axes, ex.args))
        return self.axes[ex]

    def _is_tile(self, axes: Axes) -> bool:
        return bool(axes & self.outer) and bool(axes & self.inner)

    def _spread_over(self, name: str, axes: Axes) -> str:
        """A vector as a row or a column, if a tile is made of it."""
        if not self.asking or not self._is_tile(self.asking[-1]) or self._is_tile(axes):
            return name
        return name + (ROW if axes & self.outer else COLUMN if axes & self.inner else "")

    @contextmanager
    def _asked(self, axes: Axes) -> Iterator[None]:
        self.asking.append(axes)
        yield
        self.asking.pop()

    def _make(self, ex: Ex) -> str:
        with self._asked(self._axes(ex)):
            indices = ex.op in COMPARED and all(arg.op == "index" for arg in ex.args)
            if not indices or self._known(ex) is not None:
                return super()._make(ex)
            one, two = (self._spread_over(self.index(x.data), x.axes) for x in ex.args)
            return f"{one} {COMPARED[ex.op]} {two}"

    def index(self, index: Sum) -> str:
        """The name of an index expression; of a tile, if it has both axes."""
        with self._asked(index.axes):
            return super().index(index)

    def _atom(self, atom: Atom) -> str:
        found = super()._atom(atom)
        return self._spread_over(found, frozenset([atom])) if isinstance(atom, Axis) else found

    # ---- reductions and stores

    def _masked(self, r: Reduce) -> str:
        with self._asked(self._axes(r.value)):
            return super()._masked(r)

    def _store(self, s: Store) -> None:
        local, name = self._is_local(s), self.names.get(s.buffer, f"b{s.buffer}")
        if not local and name not in self.then:
            super()._store(s)
            return
        for ex in self._below(s.value, local=False):
            self.value(ex)
        with self._asked(s.position.axes):
            value = self.value(s.value)
        if local:
            like = "zero" if self._is_tile(s.position.axes) else "lane"
            self.line(f"{name} = spread({value}, {like})")
        else:
            self.line(f"leaving = {stored(value, self.kernel.arguments[s.buffer].dtype)}")
        self.lines += self.then.pop(name, [])
