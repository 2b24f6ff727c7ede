"""Statements that move elements: views, slices with steps, borders, joins, indices."""

from __future__ import annotations

from treadle.base.dtypes import int32, int64
from treadle.testing.choice import Choice
from treadle.testing.fuzz.bounds import Value
from treadle.testing.fuzz.generate import Draw, Generation, elements


def _has_axes(x: Value) -> bool:
    return bool(x.shape)


def _has_elements(x: Value) -> bool:
    return bool(x.shape) and x.size > 0


def _axes(draw: Choice, rank: int) -> str:
    chosen = draw.some(rank) or (draw.number(0, rank - 1),)
    return str(chosen[0]) if len(chosen) == 1 else str(tuple(chosen))


def flip(g: Generation) -> None:
    x = g.pick_or_make(_has_axes)
    if x is not None:
        g.value("flip", "move", f"{{0}}.flip({_axes(g.draw, len(g.model[x].shape))})", x)


def permute(g: Generation) -> None:
    x = g.pick(lambda v: len(v.shape) >= 2)
    if x is not None:
        order = g.draw.order(len(g.model[x].shape))
        text = "{0}.mT" if g.draw.rarely(3) else f"{{0}}.permute({', '.join(map(str, order))})"
        g.value("permute", "move", text, x)


def key_of(draw: Choice, shape: tuple[int, ...], picks: bool = True) -> str:
    """A key of numbers and slices, with steps of either sign."""
    parts = []
    for size in shape:
        start, step = draw.number(0, max(0, size - 1)), draw.one((1, 1, 2, 3, -1, -2))
        forms = [":", f"::{step}", f"{start}:", f":{start + 1}", f"{start}::{abs(step)}"]
        if size and picks:
            forms += [str(start), str(start - size)]
        parts.append(draw.one(forms))
    if draw.rarely(6):
        parts.insert(draw.number(0, len(parts)), "None" if picks else "...")
    return ", ".join(parts)


def part(g: Generation) -> None:
    x = g.pick_or_make(_has_axes)
    if x is not None:
        g.value("slice", "move", f"{{0}}[{key_of(g.draw, g.model[x].shape)}]", x)


def row_or_column(g: Generation) -> None:
    """One column or row of a table."""
    x = g.pick_or_make(lambda v: len(v.shape) == 2 and v.size > 0, g.shape(2))
    if x is not None:
        rows, columns = g.model[x].shape
        row, column = g.draw.number(0, rows - 1), g.draw.number(0, columns - 1)
        at = g.draw.one((f":, {column}", f"{row}", f":, :{column + 1}", f":, {column}:"))
        g.value("column", "move", f"{{0}}[{at}]", x)


def reshape(g: Generation) -> None:
    x = g.pick(_has_elements)
    if x is None:
        return
    size = g.model[x].size
    forms = ["-1", "-1, 1", "1, -1"]
    forms += [f"{n}, -1" for n in (2, 3, 4, 7, 17) if size % n == 0]
    forms += [f"-1, {n}, 2" for n in (1, 2, 3, 5) if size % (2 * n) == 0]
    g.value("reshape", "move", f"{{0}}.reshape({g.draw.one(forms)})", x)


def expand(g: Generation) -> None:
    x = g.pick(lambda v: 1 in v.shape or len(v.shape) < 3)
    if x is not None:
        sizes = [g.size() if n == 1 else n for n in g.model[x].shape]
        if g.draw.coin():
            sizes.insert(0, g.draw.number(1, 4))
        if sizes:
            g.value("expand", "move", f"{{0}}.expand({', '.join(map(str, sizes))})", x)


def pad(g: Generation) -> None:
    x = g.pick(_has_axes)
    if x is None:
        return
    shape = g.model[x].shape
    edges = ", ".join(str((g.draw.number(0, 3), g.draw.number(0, 3))) for _ in shape)
    fill = 0 if g.model[x].dtype.kind == "bool" else g.draw.one((0, 1))
    if g.draw.rarely(4) and 0 not in shape:
        mode = g.draw.one(("reflect", "replicate", "circular"))
        ends = ", ".join(str((g.draw.number(0, n - 1), g.draw.number(0, n - 1))) for n in shape)
        # Of another kind than borders of one value: a border of many turns may be written out.
        g.value("continued", "move", f"td.pad({{0}}, [{ends}], mode={mode!r})", x)
        return
    g.value("pad", "move", f"td.pad({{0}}, [{edges}], {fill})", x)


def join(g: Generation) -> None:
    x = g.pick(_has_axes)
    if x is None:
        return
    v = g.model[x]
    y = g.pick(lambda o: o.shape == v.shape and o.dtype is v.dtype)
    axis = g.draw.number(0, len(v.shape) - 1)
    forms = (f"td.concat([{{0}}, {{1}}], {axis})", f"td.stack([{{0}}, {{1}}], {axis})")
    g.value("join", "move", g.draw.one(forms), x, y)


def rearranged(g: Generation) -> None:
    """Other composites of views."""
    x = g.pick(_has_elements)
    if x is None:
        return
    rank, (draw, v) = len(g.model[x].shape), (g.draw, g.model[x])
    axis = draw.number(0, rank - 1)
    forms = ["{0}.flatten()", f"{{0}}.unsqueeze({axis})",
             f"{{0}}.roll({draw.number(-3, 3)}, {axis})",
             f"{{0}}.repeat({draw.number(1, 3)}, {axis})"]  # fmt: skip
    if rank >= 2 and v.dtype.kind != "bool":
        forms += [f"{{0}}.{draw.one(('tril', 'triu'))}({draw.number(-1, 1)})", "{0}.diagonal()"]
    size = v.shape[axis]
    if size >= 2:
        forms.append(f"{{0}}.unfold({axis}, {draw.number(1, min(3, size))}, {draw.number(1, 2)})")
    g.value("rearrange", "move", draw.one(forms), x)


# ---- indices


def index_leaf(g: Generation, shape: tuple[int, ...], size: int) -> str:
    """A tensor of whole numbers below a size; some count from the end."""
    sizes = ", ".join(map(str, shape))
    comma = ", " if sizes else ""
    text = f"td.tensor(data({sizes}{comma}seed={g.draw.number(1, 30)}) % {size}"
    text += f" - {g.draw.number(1, size)}" if g.draw.rarely(4) else ""
    kind = g.draw.one((int64, int64, int32))
    return g.leaf(shape, kind, f"{text}, dtype=td.{kind.name})")


def take(g: Generation) -> None:
    """Elements at places that are known."""
    x = g.pick(_has_elements)
    if x is None:
        return
    shape, draw = g.model[x].shape, g.draw
    axis = draw.number(0, len(shape) - 1)
    if len(shape) >= 2 and draw.coin():
        where = g.shape(draw.one((1, 2)))
        first, second = (index_leaf(g, where, n) for n in shape[:2])
        g.value("take", "move", "{0}[{1}, {2}]", x, first, second)
        return
    where = g.shape(draw.one((1, 1, 2)))
    index = index_leaf(g, where, shape[axis])
    if draw.coin():
        before = ":, " * axis
        g.value("take", "move", f"{{0}}[{before}{{1}}]", x, index)
        return
    whole = index_leaf(g, (*shape[:axis], draw.number(1, 5), *shape[axis + 1 :]), shape[axis])
    g.value("gather", "move", f"td.take_along_axis({{0}}, {{1}}, axis={axis})", x, whole)


def look_up(g: Generation) -> None:
    """A table read at places that are computed."""
    draw = g.draw
    where = g.pick(lambda v: v.is_exact and v.dtype.kind != "bool" and v.largest < 1e6)
    table = g.pick(lambda v: _has_elements(v) and v.shape[0] > 1)
    if where is None or table is None:
        return
    rest = elements(g.model[table].shape[1:])
    if rest * g.model[where].size > 50_000:
        return
    size = g.model[table].shape[0]
    modulus = min(size, draw.number(1, size), 100)
    if draw.rarely(3):  # from the end
        index = f"{{1}}.cast(td.{draw.one(('int64', 'int32'))}) % {modulus} - {modulus}"
    else:
        index = f"{{1}}.cast(td.{draw.one(('int64', 'int64', 'int32', 'uint8'))}) % {modulus}"
    g.value("look up", "jump", f"{{0}}[{index}]", table, where)


def search(g: Generation) -> None:
    """Where values would stand in a sorted line."""
    line = g.leaf((), int64, f"td.arange({g.draw.number(1, 40)})")
    x = g.pick(lambda v: v.is_exact and v.dtype.kind == "int")
    g.value("search", "jump", "td.searchsorted({0}, {1}.cast(td.int64))", line, x)


def looked_up_product(g: Generation) -> None:
    """Rows of a table, or elements of it, as the left side of a product: an embedding."""
    x = g.pick_or_make(lambda v: len(v.shape) == 2 and v.size > 0 and v.dtype.is_float, g.shape(2))
    if x is None:
        return
    rows, columns = g.model[x].shape
    table = g.value("sort", "pick", f"{{0}}.sort({g.draw.number(0, 1)})", x)
    table = table if g.draw.coin() else x
    if g.draw.coin():
        found = g.value("take", "move", "{0}[{1}]", table, index_leaf(g, (g.size(),), rows))
    else:
        where = g.shape(2)
        index = [index_leaf(g, where, n) for n in (rows, columns)]
        found = g.value("take", "move", "{0}[{1}, {2}]", table, *index)
    if found is not None:
        depth, kind = g.model[found].shape[-1], g.model[x].dtype
        right = g.leaf((depth, g.size()), kind)
        g.value("product", "product", "{0} @ {1}", found, right)
        if g.draw.coin():
            g.value("sum", "sum", f"{{0}}.sum({g.draw.number(0, 1)})", x)


VIEWS: tuple[Draw, ...] = (
    flip, flip, permute, part, part, part, row_or_column, row_or_column, reshape, expand, pad,
    join, rearranged,
)  # fmt: skip
INDICES: tuple[Draw, ...] = (
    take, take, look_up, look_up, search, looked_up_product, looked_up_product,
)  # fmt: skip
