"""A table of what every layer of a model makes of such arguments, and at what cost."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.trees import flatten, unflatten
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.transforms.work import flops, rehearsed, stand_in

HEADS = ("layer", "output", "parameters", "flops", "memory")


class Row:
    """One call of a module: what it gave and cost, flops without those of modules below."""

    def __init__(self, name: str, module: Any, depth: int) -> None:
        self.name, self.kind, self.depth = name, type(module).__name__, depth
        own = list(module.parameters())
        self.parameters = sum(p.size for p in own)
        self.nbytes = sum(p.nbytes for p in own)
        self.shapes: list[tuple[int, ...]] = []
        self.made = 0
        self.flops = 0.0
        self.roots: list[Tensor] = []
        self.below: list[Row] = []

    def total_flops(self) -> float:
        """With those of all below."""
        return self.flops + sum(row.total_flops() for row in self.below)


class Summary:
    """What `Module.summary` found: `rows` of layers, and totals; print it for a table.

    - **parameters**: how many numbers are learned, shared ones once
    - **flops**: operations on numbers of one call, a product and a sum being two
    - **memory**: bytes of the parameters
    - **activations**: bytes of what all layers give
    """

    def __init__(self, model: Any, rows: list[Row]) -> None:
        own = list(model.parameters())
        self.parameters = sum(p.size for p in own)
        self.trainable = sum(p.size for p in own if p.requires_grad)
        self.memory = sum(p.nbytes for p in own)
        self.flops = sum(row.flops for row in rows)
        self.activations = sum(row.made for row in rows if not row.below)
        self.rows = rows

    def __repr__(self) -> str:
        lines = [HEADS, *(self._line(row) for row in self.rows)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(HEADS))]
        text = [
            "  ".join(
                part.ljust(width) if k < 2 else part.rjust(width)
                for k, (part, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        rule = "-" * max(map(len, text))
        total = (
            f"{self.parameters:,} parameters ({self.trainable:,} trainable), "
            f"{_amount(self.memory, 'B')}; {_amount(self.flops, 'flop')}, "
            f"{_amount(self.activations, 'B')} of outputs"
        )
        return "\n".join([text[0], rule, *text[1:], rule, total])

    def _line(self, row: Row) -> tuple[str, ...]:
        label = "  " * row.depth + (f"{row.name}: {row.kind}" if row.name else row.kind)
        shapes = ", ".join(str(shape) for shape in row.shapes)
        numbers = f"{row.parameters:,}" if row.parameters else ""
        memory = _amount(row.nbytes + row.made, "B")
        return label, shapes, numbers, _amount(row.total_flops(), ""), memory


def _amount(number: float, unit: str) -> str:
    """A number with three digits and a prefix."""
    if not number:
        return ""
    step = min(4, int(math.log10(number) // 3))
    return f"{number / 1000.0**step:.3g} {('', 'k', 'M', 'G', 'T')[step]}{unit}".strip()


def summarize(model: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Summary:
    """Call a model with stand-ins, and note what goes in and out of every module."""
    realize(*model.parameters(), *model.buffers())
    names = {module: name for name, module in model.named_modules()}
    rows: list[Row] = []
    open_rows: list[Row] = []

    def enter(module: Any, args: Any, options: Any) -> Any:
        tensors: list[Tensor] = []
        form = flatten((args, options), Tensor, tensors)
        if open_rows:
            open_rows[-1].roots += tensors
        name = names[module].rpartition(".")[2]
        row = Row(name, module, len(open_rows))
        if open_rows:
            open_rows[-1].below.append(row)
        rows.append(row)
        open_rows.append(row)
        known = {x: stand_in(x) for x in tensors}
        return unflatten(form, [known[x] for x in tensors])

    def leave(module: Any, args: Any, options: Any, result: Any) -> Any:
        row = open_rows.pop()
        tensors: list[Tensor] = []
        form = flatten(result, Tensor, tensors)
        row.shapes = [x.shape for x in tensors]
        row.made = sum(x.nbytes for x in tensors)
        roots = row.roots + tensors
        row.flops = flops(roots) if roots else 0.0
        return unflatten(form, [stand_in(x) for x in tensors])

    handles = []
    try:
        for module in names:
            handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
            handles.append(module.register_forward_hook(leave, with_kwargs=True))
        with no_grad():
            rehearsed(model, *args, **options)
    finally:
        for handle in handles:
            handle.remove()
    return Summary(model, rows)
