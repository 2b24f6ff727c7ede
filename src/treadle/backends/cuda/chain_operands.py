"""How a chain's operands come from memory: by a copy engine that knows the tensor, or by pointers.

A tile of an operand has a row for each lane (BM of them) or stream position (BN), and a column for
each element of the depth; turned, it is the other way round.
"""

from __future__ import annotations

from treadle.backends.cuda.copies import tensor_of
from treadle.backends.cuda.forms import power_of_two
from treadle.backends.cuda.launch import Arguments, Tensor
from treadle.kernel.chain import Frame, Operand

DEEP = 128  # elements of an operand that a program holds while others stream by
PLACES = {"BM": ("first_lane", "lane", "lane"), "BN": ("start", "position", "stream")}
"""Of a block: its first row, and its rows as a column and where they are columns."""


class Operands:
    """The operands of one chain, by the names they have in the kernel."""

    def __init__(self, frame: Frame, arguments: Arguments, wide: bool, copies: bool) -> None:
        self.frame, self.arguments = frame, arguments
        self.wide, self.copies = wide, copies
        self.copied: set[str] = set()

    def add(self, name: str, operand: Operand, columns: int, block: tuple[str, int]) -> str:
        """Its arguments, and a line that leads to this item, if there is one.

        block: what a tile has rows of, and how many.
        """
        add = self.arguments
        tensor = self._tensor(operand, columns, block)
        if tensor is not None:
            self.copied.add(name)
            add.tensor(name, operand.base.dtype, tensor)
            return ""
        add.memory(name, operand.base.dtype, operand.base)
        numbers = {"offset": operand.offset, "along": operand.along, "depth": operand.depth}
        for key, value in numbers.items():
            add.integer(f"{name}_{key}", value, self.wide)
        terms = [f"{name}_offset"]
        for k, step in enumerate(operand.batch):
            if step:
                add.integer(f"{name}_g{k}", step, self.wide)
                terms.append(f"d{k} * {name}_g{k}")
        return f"{name} += {' + '.join(terms)}"

    def _tensor(self, operand: Operand, columns: int, block: tuple[str, int]) -> Tensor | None:
        """An operand that a copy engine can read: batch axes, then a matrix."""
        rows = (self.frame.lane if block[0] == "BM" else self.frame.stream).extent
        sides = [(rows, operand.along, block[1]), (columns, operand.depth, width_of(columns))]
        if operand.depth != 1:
            sides.reverse()
        batch = zip(self.frame.batch, operand.batch, strict=True)
        axes = [*((axis.extent, step, 1) for axis, step in batch if step), *sides]
        known = self.copies and columns <= DEEP
        base = operand.base
        return tensor_of(base, base.dtype, operand.offset, axes) if known else None

    def tile(
        self, name: str, operand: Operand, columns: int, block: str, edge: str, turned: bool = False
    ) -> str:
        """The tile at a block; edge: a test of which rows there are."""
        width = width_of(columns)
        first, *rows = PLACES[block]
        if name in self.copied:
            text = self._copied(name, operand, f"{block}, {width}", first)
            return f"tl.trans({text})" if turned else text
        column = f"tl.arange(0, {width}){'[:, None]' if turned else '[None, :]'}"
        masks = [f"({edge})"] * bool(edge)
        masks += [] if width == columns else [f"({column} < {columns})"]
        at = f"{name} + {rows[turned]}{times(f'{name}_along', operand.along)}"
        at += f" + {column}{times(f'{name}_depth', operand.depth)}"
        return f"tl.load({at}{masked(masks)})"

    def _copied(self, name: str, operand: Operand, shape: str, first: str) -> str:
        place = f"({first} + program * 0).to(tl.int32)" if self.wide else first
        items = [f"d{k}.to(tl.int32)" for k, step in enumerate(operand.batch) if step]
        if operand.depth == 1:
            return f"{name}.load([{', '.join([*items, place, '0'])}]).reshape({shape})"
        other = ", ".join(reversed(shape.split(", ")))
        return f"tl.trans({name}.load([{', '.join([*items, '0', place])}]).reshape({other}))"


def width_of(columns: int) -> int:
    """Columns of a tile that has room for so many."""
    return max(16, power_of_two(columns))


def times(name: str, value: int) -> str:
    """A stride in the text: 1 is worth knowing to the compiler."""
    return "" if value == 1 else f" * {name}"


def masked(parts: list[str]) -> str:
    """The rest of a load of what is there alone."""
    return f", mask={' & '.join(parts)}, other=0.0" if parts else ""
