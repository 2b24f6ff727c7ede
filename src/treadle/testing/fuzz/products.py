"""Statements that multiply matrices: in batches, with maps over results, of views, windows."""

from __future__ import annotations

from treadle.base.dtypes import bfloat16, bool_, float16, float32, float64, int8, int16, uint8
from treadle.testing.fuzz.generate import Draw, Generation, elements

MOST_PRODUCT = 1 << 24  # multiplications
MOST_SLOW = 1 << 17  # of dtypes that NumPy multiplies one by one


def product(g: Generation) -> None:
    """A matrix product; the other side is made for it if there is none."""
    left = g.pick_or_make(lambda v: len(v.shape) >= 2 and v.dtype is not bool_, g.shape(2))
    if left is not None:
        multiplied(g, left)


def multiplied(g: Generation, left: str) -> str | None:
    """The product of a tensor and one that fits."""
    v, draw = g.model[left], g.draw
    depth = v.shape[-1]
    batch = tuple(1 if draw.rarely(3) else n for n in v.shape[:-2])[draw.number(0, 2) :]
    shape = (*batch, depth, 1 if draw.rarely(6) else g.size())
    right = g.pick_or_make(
        lambda o: len(o.shape) >= 2 and o.shape[-2] == depth and o.dtype is v.dtype, shape, v.dtype
    )
    turned = g.pick(lambda o: len(o.shape) == 2 and o.shape[-1] == depth and o.dtype is v.dtype)
    flops = elements(v.shape) * (g.model[right].shape[-1] if right else 1)
    if flops > (MOST_PRODUCT if v.dtype in (float32, float64) else MOST_SLOW):
        return None
    if turned is not None and draw.rarely(3) and g.model[turned].shape[0] < 200:
        return g.value("product", "product", "{0} @ {1}.mT", left, turned)
    return g.value("product", "product", "{0} @ {1}", left, right)


def batched(g: Generation) -> None:
    """A product with many batch axes, some of them of size 1."""
    draw = g.draw
    rank, kind = draw.number(2, 5), draw.one((float32, float64, g.root.main))
    batch = [draw.one((1, 2, 2, 3)) for _ in range(rank)]
    rows, depth, columns = (draw.one((1, 2, 3, 5)) for _ in range(3))
    sides = [[1 if draw.rarely(3) else n for n in batch] for _ in range(2)]
    left = g.leaf((*sides[0], rows, depth), kind)
    right = g.leaf((*sides[1][draw.one((0, 0, 1)) :], depth, columns), kind)
    if kind is not bool_:
        g.value("product", "product", "{0} @ {1}", left, right)


def _laid(g: Generation, x: str) -> str | None:
    """A table whose elements no two strides tell: turned, with gaps, windows side by side."""
    rows, columns = g.model[x].shape
    high, wide = g.draw.number(1, min(3, rows)), g.draw.number(1, min(3, columns))
    start, step = g.draw.number(0, columns - 1), g.draw.number(1, 2)
    windows = f"{{0}}.unfold(0, {high}, {step}).unfold(1, {wide}, 1)"
    lines = f"{windows}.reshape(-1, {high * wide})"
    forms = (
        "{0}.flip(0)", "{0}.flip(1)", "{0}.flip((0, 1))", "{0}[::2, ::2]", f"{{0}}[:, {start}::-1]",
        f"{{0}}.unfold(1, {wide}, {step}).reshape(-1, {wide})",
        f"{{0}}[:, {start}:].unfold(0, {high}, {step}).reshape(-1, {high}).mT",
        windows, lines, f"{lines}.mT", f"{{0}}.expand(2, {rows}, {columns}).flip(2)",
    )  # fmt: skip
    return g.value("rearrange", "move", g.draw.one(forms), x)


def of_views(g: Generation) -> None:
    """A product of what lies in memory in no order of its own, and maps over it."""
    x = g.pick_or_make(
        lambda v: len(v.shape) == 2 and v.size > 0 and v.dtype in (float32, float64),
        (g.size(), g.size()), g.draw.one((float32, float64)),
    )  # fmt: skip
    if x is None or g.model[x].size > 3000:
        return
    seen = _laid(g, x)
    if seen is None:
        return
    v = g.model[seen]
    rows, depth = v.shape[-2:]
    if g.draw.coin():
        made = g.value("product", "product", "{0} @ {1}", seen, g.leaf((depth, g.size()), v.dtype))
    else:
        made = g.value("product", "product", "{0} @ {1}", g.leaf((g.size(), rows), v.dtype), seen)
    if made is None or g.draw.coin():
        return
    *_, rows, columns = g.model[made].shape
    shape = g.draw.one(((columns,), (rows, 1), (rows, columns)))
    made = g.value("binary", "add", "{0} + {1}", made, g.leaf(shape, v.dtype))
    if made is not None and g.draw.coin():
        g.value("unary", "kink", f"{{0}}.{g.draw.one(('relu', 'abs'))}()", made)


def widened(g: Generation) -> None:
    """A product that reads narrow numbers as wider ones."""
    kind = g.draw.one((float16, bfloat16, int8, uint8, int16))
    depth = g.size()
    wide = f"{{0}}{g.draw.one(('', '', '.flip(0)', '[:, ::-1]'))}.cast(td.float32)"
    if g.draw.coin():
        sides = g.leaf((g.size(), depth), kind), g.leaf((depth, g.size()), float32)
        g.value("product", "product", f"{wide} @ {{1}}", *sides)
    else:
        sides = g.leaf((depth, g.size()), kind), g.leaf((g.size(), depth), float32)
        g.value("product", "product", f"{{1}} @ {wide}", *sides)


def convolved(g: Generation) -> None:
    """Images, or lines, and windows that slide over them: half of them as in most networks."""
    draw, kind, usual = g.draw, g.draw.one((float32, float32, float64)), g.draw.coin()
    groups, rank = 1 if usual else draw.one((1, 1, 2)), 2 if usual else draw.number(1, 2)
    channels, outputs = groups * draw.number(1, 3), groups * draw.number(1, 3)
    sizes = tuple(min(34 if rank == 1 else 9, g.size()) for _ in range(rank))
    window = (3, 3) if usual else tuple(draw.number(1, 3) for _ in range(rank))
    x = g.pick_or_make(
        lambda v: len(v.shape) == rank + 2 and v.shape[1] == channels and v.dtype is kind,
        (draw.number(1, 3), channels, *sizes), kind,
    )  # fmt: skip
    options = f"padding={draw.number(0, 2)}"
    if not usual:
        options += f", stride={draw.number(1, 2)}, dilation={draw.number(1, 2)}, groups={groups}"
    if draw.rarely(4):
        weight = g.leaf((channels, outputs // groups, *window), kind)
        text = f"td.conv_transpose{rank}d({{0}}, {{1}}, {options})"
    else:
        weight = g.leaf((outputs, channels // groups, *window), kind)
        text = f"td.conv{rank}d({{0}}, {{1}}, {options})"
    made = g.value("convolution", "windows", text, x, weight)
    if made is not None and draw.rarely(3):
        bias = g.leaf((g.model[made].shape[1], *(1,) * rank), kind)
        g.value("binary", "add", "{0} + {1}", made, bias)


BETWEEN = (
    ("softmax", "shares", "td.softmax({0}, -1)"), ("softmax", "shares", "td.softmax({0}, -2)"),
    ("unary", "kink", "{0}.relu()"), ("scaled", "multiply", "{0} * 0.5"),
    ("rearrange", "move", "{0}.tril(0)"), ("binary", "kink", "{0} - {0}.max(-1, keepdims=True)"),
    ("binary", "multiply", "{0} * {0}.sum(-1, keepdims=True)"),
)  # fmt: skip


def chained(g: Generation) -> None:
    """Products of products, with maps and totals of rows in between, as attention is."""
    draw, kind = g.draw, g.draw.one((float32, float32, float64))
    batch = draw.one(((), (), (3,), (2, 4)))
    rows, columns, depth, width = (g.size() for _ in range(4))
    if elements((*batch, rows, columns)) > 20_000:
        return
    left, right = g.leaf((*batch, rows, depth), kind), g.leaf((*batch, columns, depth), kind)
    tile = g.value("product", "product", "{0} @ {1}.mT", left, right)
    for _ in range(draw.number(1, 2)):
        name, rule, text = draw.one(BETWEEN)
        tile = g.value(name, rule, text, tile)
    if draw.rarely(4):
        g.value("product", "product", "{0}.mT @ {1}", tile, g.leaf((*batch, rows, width), kind))
    else:
        g.value("product", "product", "{0} @ {1}", tile, g.leaf((*batch, columns, width), kind))


def epilogue(g: Generation) -> None:
    """A product, and maps over it that read another one."""
    x = g.pick(lambda v: len(v.shape) == 2 and v.dtype in (float32, float64) and v.size > 0)
    first = multiplied(g, x) if x is not None else None
    if first is None:
        return
    rows, columns = g.model[first].shape[-2:]
    kind = g.model[first].dtype
    beside = g.pick_or_make(lambda v: v.shape == (rows, columns) and v.dtype is kind,
                            (rows, columns), kind)  # fmt: skip
    if g.draw.coin():  # a product that nobody needs afterwards
        depth = g.size()
        sides = [g.leaf(shape, kind) for shape in ((rows, depth), (depth, columns))]
        beside = g.value("product", "product", "{0} @ {1}", *sides)
    total = g.value("binary", "add", "{0} + {1}", first, beside)
    if g.draw.rarely(3):  # rows or columns of the product itself, turned around
        turned = g.draw.one(("::-1", ":, ::-1", ":1", ":, :1"))
        total = g.value("binary", "add", f"{{0}} - {{0}}[{turned}]", first)
    if total is not None and g.draw.coin():
        key = g.draw.one((":, :1", ":, :1", ":, -1:", ":1", "::-1", ":, ::-1"))
        total = g.value("binary", "add", f"{{0}} - {{1}}[{key}]", total, beside)
    if total is not None and g.draw.coin():
        multiplied(g, total)


PRODUCTS: tuple[Draw, ...] = (
    product, product, batched, epilogue, of_views, widened, convolved, chained,
)  # fmt: skip
