"""Scalar expressions of loop programs as Triton text: each has a name, made where it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from treadle.backends.cuda.coarse import precision
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.narrow import loaded
from treadle.backends.cuda.ops import PRIMITIVES, number, parameter
from treadle.base.errors import CompilerError, explain
from treadle.kernel.abstract import Atom, Axis, Ex, Factor, Guard, Kernel, Looked, Slot, Store, Sum


class Values:
    """What a kernel knows by name at a place of its text."""

    def __init__(self, kernel: Kernel, form: Form) -> None:
        self.kernel, self.form = kernel, form
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        self.known: list[dict[object, str]] = [{}]  # what has a name, by nesting
        self.outer = frozenset(kernel.outer[form.split :])
        self.inner = frozenset(kernel.inner)
        self.row_mask = self.column_mask = ""
        self.tile, self.tile_shape = "", "(BM, BN)"
        self.partial: dict[Store, str] = {}
        self.axis = 0 if kernel.across else 1  # of a tile: where columns run
        self.shape = "(COLUMNS, ROWS)" if kernel.across else "(ROWS, COLUMNS)"

    # ---- lines and names

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append("    " * self.indent + text)

    def name(self, text: str, stem: str = "v") -> str:
        """A fresh name for an expression."""
        self.count += 1
        self.line(f"{stem}{self.count} = {text}")
        return f"{stem}{self.count}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A loop; names made inside are not known after it."""
        self.line(head)
        self.indent += 1
        self.known.append({})
        yield
        self.known.pop()
        self.indent -= 1

    def find(self, key: object) -> str | None:
        """The name of something computed before."""
        for names in reversed(self.known):
            if key in names:
                return names[key]
        return None

    def there(self, key: object) -> str:
        """The same, where it must have been."""
        found = self.find(key)
        if found is None:
            raise CompilerError(explain("emit", "used before it is there", what=type(key).__name__))
        return found

    # ---- values

    def value(self, ex: Ex) -> str:
        """The name of an expression, computed here if it is not known yet."""
        found = self.find(ex)
        if found is None:
            reduced = ex.op == "reduced"
            found = self.there(ex.data) if reduced else self.name(self._make(ex))
            self.known[-1][ex] = found
        return found

    def _make(self, ex: Ex) -> str:
        if ex.op == "load":
            return self._load(ex)
        if ex.op == "const":
            given = isinstance(ex.data, Slot)
            return parameter(text_of(ex.data), ex.dtype) if given else number(ex.data, ex.dtype)
        if ex.op == "index":
            return f"({self.index(ex.data)} + tl.zeros((1, 1), tl.int32)).to(tl.int64)"
        if ex.op == "inside":
            return self.inside(ex.data)
        if ex.op == "tile":
            return self.tile
        if ex.op == "cast" and _is_as_stored(*ex.args) and ex.dtype is ex.args[0].dtype.compute:
            return self.value(ex.args[0])
        if ex.op in ("eq", "ne") and (found := self._numbered(ex)):
            return found
        first = ex.args[1] if ex.op == "where" else ex.args[0]
        values = [self.value(arg) for arg in ex.args]
        return PRIMITIVES[ex.op](precision(ex.op, first, self.inner), ex.dtype, values)

    def _numbered(self, ex: Ex) -> str:
        """The column that a row's number stands for: compared in 32 bits, if they reach."""
        sign = "==" if ex.op == "eq" else "!="
        for one, two in (ex.args, ex.args[::-1]):
            if one.op == "index" and not self.form.wide and not two.axes & self.inner:
                at = f"({self.index(one.data)} + tl.zeros((1, 1), tl.int32))"
                return f"{at} {sign} near({self.value(two)})"
        return ""

    def _load(self, ex: Ex) -> str:
        return loaded(self.read(ex), ex.dtype)

    def read(self, ex: Ex) -> str:
        """The elements of a load, as they lie in memory."""
        buffer, position, guards = ex.data
        mask = self._mask(ex.axes, guards)
        other = ", other=0" if mask else ""
        return f"tl.load({self._pointer(buffer, position)}{mask}{other})"

    def _pointer(self, buffer: int, position: Sum) -> str:
        """Addresses, as a tile even if there is one alone."""
        single = not position.axes & (self.outer | self.inner)
        return f"b{buffer} + {self.index(position)}" + " + tl.zeros((1, 1), tl.int32)" * single

    def inside(self, guards: Sequence[Guard]) -> str:
        """Where every guard holds."""
        parts = []
        for guard in guards:
            at = self.index(guard.index)
            parts.append(f"({at} < {text_of(guard.bound)})" if guard.bound else f"({at} >= 0)")
        return self.name(" & ".join(parts), "g")

    # ---- indices

    def index(self, index: Sum) -> str:
        """The name of an index expression."""
        found = self.find(index)
        if found is None:
            parts = [
                self._atom(atom) + ("" if factor == 1 else f" * {text_of(factor)}")
                for atom, factor in index.terms
            ]
            if index.offset:
                parts.append(text_of(index.offset))
            text = " + ".join(parts) or "0"
            found = text if text.isidentifier() or text == "0" else self.name(text, "x")
            self.known[-1][index] = found
        return found

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Axis):
            return self.there(atom)
        if isinstance(atom, Looked):
            value = f"clamped({self.value(atom.value)}, {text_of(atom.size)})"
            return value if self.form.wide else f"{value}.to(tl.int32)"
        return f"({self.index(atom.of)} {'%' if atom.remains else '//'} {text_of(atom.by)})"

    def _mask(self, axes: frozenset[Axis], guards: Sequence[Guard] = (), only: str = "") -> str:
        parts = [self.row_mask] if axes & self.outer else []
        parts += [self.column_mask] if axes & self.inner else []
        return mask_of([*parts, self.inside(guards) if guards else only])


def _is_as_stored(ex: Ex) -> bool:
    """Is it a narrow value as it lies in memory, so that nothing is left to be rounded?"""
    return ex.op == "load" and ex.dtype.is_storage


def text_of(number: Factor) -> str:
    """A number of the text, or the argument that holds it."""
    return f"p{number.number}" if isinstance(number, Slot) else str(number)


def mask_of(parts: list[str]) -> str:
    text = " & ".join(part for part in parts if part)
    return f", mask={text}" if text else ""
