"""The loop programs of a chain as Triton text: on tiles in registers, and on names for scratch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf, isfinite

from treadle.backends.cuda.emit import Emitter
from treadle.backends.cuda.forms import Form
from treadle.kernel.abstract import Axis, Ex, Kernel, Pass, Reduce, Slot, Store

COMPARED = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
LOG2_E = "1.4426950408889634"
OWN = re.compile(r"\b([bp])(\d+)\b")  # buffers and slots of a loop program, by number


class Part(Emitter):
    """A loop program of a chain; scratch is what variables hold.

    - **then**: lines that use a value, put where it is there
    - **brought**: loads of what a copy engine has brought, and how they are written
    - **holds**: comparisons of indices whose outcome is the same all over these tiles
    """

    def __init__(
        self, kernel: Kernel, number: int, shape: str, names: dict[int, str], wide: bool
    ) -> None:
        super().__init__(kernel, Form("rows", 0, 0, True, 0, wide=wide))
        self.axis, self.shape = 1, shape
        self.outer = frozenset(kernel.outer[-1:])  # lanes: a program has one item
        self.number, self.names = number, names
        self.narrow = False
        self.values: list[float] = []  # of the slots
        self.then: dict[str, list[str]] = {}
        self.brought: Mapping[Ex, str] = {}
        self.holds: Mapping[Ex, bool] = {}
        self.scaled: dict[Ex, tuple[str, str]] = {}
        self.factors: dict[Reduce, str] = {}

    def name(self, text: str, stem: str = "v") -> str:
        """A fresh name for an expression, among those of all parts."""
        return super().name(text, f"{stem}{self.number}_")

    def run(self) -> list[str]:
        """Every pass, and what is stored."""
        self._passes("", "")
        return self.finished()

    def finished(self) -> list[str]:
        """The lines, with names that no other part has."""
        return [OWN.sub(rf"\g<1>{self.number}_\2", line) for line in self.lines]

    def _without_picked(self, step: Pass) -> Pass:
        return step  # all terms are there

    def load(self) -> None:
        """Read what is the same for all that streams by."""
        for ex in self.kernel.order:
            local = ex.op == "load" and self.kernel.arguments[ex.data[0]].local
            if ex.op == "load" and not (local or ex.operands or ex.axes & self.inner):
                self.value(ex)

    # ---- values

    def _make(self, ex: Ex) -> str:
        if ex.op == "load" and self.kernel.arguments[ex.data[0]].local:
            return self.names[ex.data[0]]
        if ex in self.brought:
            return self.brought[ex]
        if ex.op == "exp" and self.narrow:  # as exact as its operands, and few steps
            return self._power(ex.args[0])
        if (outcome := self._known(ex)) is not None:
            return f"tl.full((1, 1), {outcome}, tl.int1)"
        known = [self._known(arg) for arg in ex.args]
        if ex.op == "where" and known[0] is not None:
            return self.value(ex.args[1] if known[0] else ex.args[2])
        if ex.op in ("bitwise_and", "bitwise_or") and any(k is not None for k in known):
            return self.value(ex.args[0 if known[1] is not None else 1])
        if ex.op in COMPARED and all(arg.op == "index" for arg in ex.args) and not self.form.wide:
            one, two = (self.index(arg.data) for arg in ex.args)
            return f"({one}) {COMPARED[ex.op]} ({two}) + tl.zeros((1, 1), tl.int32)"
        return super()._make(ex)

    def _known(self, ex: Ex) -> bool | None:
        """The outcome of a condition that is the same all over these tiles."""
        if not self.holds or ex.op not in ("bitwise_and", "bitwise_or"):
            return self.holds.get(ex)
        parts = [self._known(arg) for arg in ex.args]
        settles = ex.op == "bitwise_or"
        return settles if settles in parts else None if None in parts else not settles

    def _power(self, ex: Ex) -> str:
        """e to a power: one multiply-add, where what is taken off is a row or a column."""
        if ex.op != "sub" or ex.args[1].axes >= self.inner | self.outer:
            return f"tl.exp2({self.value(ex)} * {LOG2_E})"
        base = self.name(f"{self.value(ex.args[1])} * {LOG2_E}")
        value, factor = self._scale(ex.args[0])
        factor = f"({factor} * {LOG2_E})" if factor else LOG2_E
        return f"tl.exp2({value} * {factor} - {base})"

    def _scale(self, ex: Ex) -> tuple[str, str]:
        """An expression as a value and a number above 0 that it is still to be multiplied by."""
        if ex not in self.scaled:
            self.scaled[ex] = self._scale_of(ex)
        return self.scaled[ex]

    def _scale_of(self, ex: Ex) -> tuple[str, str]:
        if ex.op == "mul":
            for one, two in (ex.args, ex.args[::-1]):
                if self._is_positive(two):
                    number = two.data
                    text = f"p{number.number}" if isinstance(number, Slot) else repr(number)
                    return self.value(one), text
        if ex.op == "where":
            known = self._known(ex.args[0])
            if known is not None:
                return self._scale(ex.args[1 if known else 2])
            lost = next((k for k in (1, 2) if _is_endless(ex.args[k])), 0)
            value, factor = self._scale(ex.args[3 - lost]) if lost else ("", "")
            if factor:
                sides = f'float("-inf"), {value}' if lost == 1 else f'{value}, float("-inf")'
                return self.name(f"tl.where({self.value(ex.args[0])}, {sides})"), factor
        return self.value(ex), ""

    def _is_positive(self, ex: Ex) -> bool:
        if ex.op != "const" or not ex.dtype.is_float:
            return False
        number = self.values[ex.data.number] if isinstance(ex.data, Slot) else ex.data
        return isfinite(number) and number > 0

    # ---- reductions

    def _masked(self, r: Reduce) -> str:
        """Largest values can be found before they are scaled, and what is known fills a tile."""
        value = factor = ""
        if self.narrow and r.kind == "max" and r.value.axes & self.inner:
            value, factor = self._scale(r.value)
        if factor:
            self.factors[r] = factor
            if self.column_mask:
                value = self.name(f'tl.where({self.column_mask}, {value}, float("-inf"))')
        else:
            value = super()._masked(r)
        return f"tl.broadcast_to({value}, {self.shape})" if self.holds else value

    def _finished(self, r: Reduce, total: str) -> str:
        factor = self.factors.get(r)
        return super()._finished(r, f"{total} * {factor}" if factor else total)

    # ---- stores

    def _stores(self, stores: list[Store]) -> None:
        """Tiles that need least first: they are used while others are computed."""
        tiles = [s for s in stores if s.position.axes & self.inner and self._is_local(s)]
        if len(tiles) == len(stores):
            for s in sorted(stores, key=lambda s: len(self._below(s.value, local=True))):
                self._store(s)
        else:
            super()._stores(stores)

    def _below(self, ex: Ex, *, local: bool) -> list[Ex]:
        """The loads that a value is made of, of scratch or of memory."""
        found, stack, seen = [], [ex], set()
        while stack:
            ex = stack.pop()
            if ex in seen:
                continue
            seen.add(ex)
            stack += ex.operands
            if ex.op == "reduced":
                stack.append(ex.data.value)
            elif ex.op == "load" and self.kernel.arguments[ex.data[0]].local is local:
                found.append(ex)
        return found

    def _is_local(self, s: Store) -> bool:
        return self.kernel.arguments[s.buffer].local

    def _spread(self, axes: frozenset[Axis]) -> str:
        return "" if axes & self.outer else "(BM, 1)"

    def _store(self, s: Store) -> None:
        if not self._is_local(s):
            super()._store(s)
            return
        columns = s.position.axes & self.inner
        shape = self.shape if columns else self.shape.split(",")[0] + ", 1)"
        value = self.value(s.value)
        if columns and self.column_mask:
            value = f"tl.where({self.column_mask}, {value}, 0.0)"
        name = self.names[s.buffer]
        self.line(f"{name} = tl.broadcast_to({value}, {shape})")
        self.lines += self.then.pop(name, [])


def _is_endless(ex: Ex) -> bool:
    return ex.op == "const" and ex.data == -inf
