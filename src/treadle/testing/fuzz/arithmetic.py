"""Statements that compute: elements, rows, running totals, orders."""

from __future__ import annotations

from treadle.base.dtypes import ALL, DType, bool_, float16, float32, float64
from treadle.testing.fuzz.bounds import Value
from treadle.testing.fuzz.generate import Draw, Generation

SMOOTH = ("sin", "cos", "sigmoid", "tanh", "erf", "atan", "softsign", "gelu", "silu")
CONTINUOUS = ("relu", "abs", "neg")


def _is_number(x: Value) -> bool:
    return x.dtype is not bool_


def _is_float(x: Value) -> bool:
    return x.dtype.is_float


def _is_exact_number(x: Value) -> bool:
    return x.is_exact and x.dtype is not bool_


# ---- elements


def unary(g: Generation) -> None:
    x = g.pick(lambda v: _is_number(v) and v.dtype.kind != "uint")
    if x is not None:
        g.value("unary", "kink", f"{{0}}.{g.draw.one(CONTINUOUS)}()", x)


def smooth(g: Generation) -> None:
    x = g.pick(_is_float)
    g.value("smooth", "smooth", f"{{0}}.{g.draw.one(SMOOTH)}()", x)


def square(g: Generation) -> None:
    x = g.pick(_is_number)
    g.value("square", "multiply", "{0}.square()", x)


def scaled(g: Generation) -> None:
    x = g.pick(_is_number)
    if x is None:
        return
    whole = not g.model[x].dtype.is_float
    number = g.draw.one((1, 2, 3) if whole else (2, 3, -1, 0.5, 0.25, 1.5))
    text, rule = g.draw.one((
        (f"{{0}} * {number}", "multiply"), (f"{{0}} + {number}", "add"),
        (f"{{0}} - {number}", "add"), (f"{number} - {{0}}", "add"),
    ))  # fmt: skip
    g.value("scaled", rule, text, x)


def _beside(g: Generation, x: str) -> str | None:
    """Another tensor that broadcasts with one, of a dtype that goes with it."""
    shape = g.model[x].shape

    def fits(v: Value) -> bool:
        sizes = zip(v.shape[::-1], shape[::-1], strict=False)
        return all(1 in pair or pair[0] == pair[1] for pair in sizes)

    own = tuple(1 if g.draw.rarely(3) else n for n in shape)[g.draw.one((0, 0, 0, 1)) :]
    kind = g.model[x].dtype if g.draw.coin() else None
    return g.pick_or_make(fits, own, kind)


def binary(g: Generation) -> None:
    x = g.pick(_is_number)
    y = None if x is None else _beside(g, x)
    text, rule = g.draw.one((
        ("{0} + {1}", "add"), ("{0} - {1}", "add"), ("{0} * {1}", "multiply"),
        ("td.maximum({0}, {1})", "kink"), ("td.minimum({0}, {1})", "kink"),
    ))  # fmt: skip
    g.value("binary", rule, text, x, y)


def compare(g: Generation) -> None:
    x = g.pick(lambda v: v.is_exact)
    y = None if x is None else _beside(g, x)
    if y is not None and g.model[y].is_exact:
        sign = g.draw.one(("<", ">=", "==", "!=", ">"))
        g.value("compare", "jump", f"{{0}} {sign} {{1}}", x, y)


def choose(g: Generation) -> None:
    x = g.pick(_is_number)
    y = None if x is None else _beside(g, x)
    if x is None or y is None:
        return
    mask = g.pick(lambda v: v.dtype is bool_ and v.shape == g.model[x].shape)
    if mask is not None and g.draw.coin():
        g.value("choose", "add", "td.where({0}, {1}, {2})", mask, x, y)
    elif g.model[x].is_exact:
        g.value("choose", "choose", "td.where({0} > 0, {0}, {1})", x, y)


def cast(g: Generation) -> None:
    x = g.pick()
    if x is None:
        return
    kind: DType = g.draw.one((float32, float32, float64, float16, *ALL))
    v = g.model[x]
    if kind.is_float or v.is_exact:
        g.value("cast", "add", f"{{0}}.cast(td.{'bool' if kind is bool_ else kind.name})", x)


def whole(g: Generation) -> None:
    """Bits, quotients and remainders."""
    x = g.pick(lambda v: v.dtype.is_integer)
    y = g.pick(lambda v: v.dtype.is_integer and x is not None and v.shape == g.model[x].shape)
    forms = ["{0} // 3", "{0} % 3", "{0} // 2", "{0} % 4", "{0} >> 1", "{0} << 1", "~{0}"]
    forms += ["{0} & {1}", "{0} | {1}", "{0} ^ {1}"] if y is not None else []
    text = g.draw.one(forms)
    g.value("whole", "jump", text, x, *([y] if "{1}" in text else []))


def clip(g: Generation) -> None:
    x = g.pick(lambda v: _is_number(v) and v.dtype.kind != "uint")
    g.value("clip", "kink", f"{{0}}.clip({g.draw.one((-2, -1))}, {g.draw.one((1, 2))})", x)


def rounded(g: Generation) -> None:
    x = g.pick(lambda v: _is_float(v) and v.is_exact)
    g.value(
        "round", "jump", f"{{0}}.{g.draw.one(('floor', 'ceil', 'round', 'trunc', 'sign'))}()", x
    )


# ---- rows


def _axis(g: Generation, x: str) -> str:
    rank = len(g.model[x].shape)
    keep = ", keepdims=True" if g.draw.coin() else ""
    if rank and g.draw.rarely(5):
        chosen = g.draw.some(rank) or (0,)
        return f"{tuple(chosen)}{keep}"
    return f"{g.draw.number(-rank, rank - 1)}{keep}" if rank else ""


def total(g: Generation) -> None:
    x = g.pick()
    if x is not None:
        g.value("sum", "sum", f"{{0}}.sum({_axis(g, x) if g.draw.rarely(2) else ''})", x)


def extreme(g: Generation) -> None:
    x = g.pick(lambda v: _is_number(v) and v.size > 0)
    if x is None:
        return
    if g.model[x].is_exact and g.draw.rarely(3):
        axis = _axis(g, x)
        if "(" not in axis:
            g.value("argmax", "jump", f"{{0}}.{g.draw.one(('argmax', 'argmin'))}({axis})", x)
        return
    g.value("extreme", "pick", f"{{0}}.{g.draw.one(('max', 'min'))}({_axis(g, x)})", x)


def mean(g: Generation) -> None:
    x = g.pick(lambda v: _is_float(v) and v.size > 0)
    if x is not None:
        g.value("mean", "shares", f"{{0}}.mean({_axis(g, x)})", x)


def test(g: Generation) -> None:
    x = g.pick(lambda v: v.is_exact)
    if x is not None:
        op = g.draw.one(("any", "all", "count_nonzero"))
        g.value("test", "jump", f"{{0}}.{op}({_axis(g, x)})", x)


def normal(g: Generation) -> None:
    """A softmax or its like along an axis."""
    x = g.pick(lambda v: v.dtype in (float32, float64) and v.size > 0 and bool(v.shape))
    if x is None:
        return
    axis = g.draw.number(-len(g.model[x].shape), -1)
    op = g.draw.one(("softmax", "log_softmax", "logsumexp"))
    g.value("softmax", "shares", f"td.{op}({{0}}, {axis})", x)


def centred(g: Generation) -> None:
    """What batch norm does: every column less its mean."""
    x = g.pick(lambda v: v.dtype in (float32, float64) and len(v.shape) >= 2 and v.size > 0)
    if x is None:
        return
    axis = g.draw.number(0, len(g.model[x].shape) - 1)
    kept = f"{axis}, keepdims=True"
    total = g.value("sum", "sum", f"{{0}}.sum({kept})", x)
    less = g.value("binary", "add", "{0} - {1}", x, total)
    if less is not None and g.draw.coin():
        size = g.value("unary", "kink", "{0}.abs()", less)
        spread = g.value("sum", "sum", f"{{0}}.sum({kept})", size)
        g.value("binary", "multiply", "{0} * {1}", less, spread)


def channels(g: Generation) -> None:
    """What batch norm does to images, with a look at one element of another channel.

    A scan before and after: what is read and what is made are memory that nobody else needs.
    """
    kind = g.draw.one((float32, float64))
    x = g.pick(lambda v: len(v.shape) == 3 and v.dtype in (float32, float64) and v.size > 0)
    x = x if x is not None and g.draw.coin() else g.leaf((g.draw.number(2, 5), g.size(), 4), kind)
    x = g.value("scan", "scan", f"{{0}}.cumsum({g.draw.number(0, 2)})", x)
    total = g.value("sum", "sum", "{0}.sum((0, 2), keepdims=True)", x)
    less = g.value("binary", "add", "{0} - {1}", x, total)
    if less is not None and g.draw.coin():
        after = "[:1, 1:, :1], [(0, 0), (0, 1), (0, 0)]"
        beside = g.draw.one((after, after, "[:1, :-1, :1], [(0, 0), (1, 0), (0, 0)]"))
        less = g.value("binary", "add", f"{{0}} - td.pad({{1}}{beside})", less, x)
    elif less is not None and g.draw.coin():
        turned = g.draw.one(("roll(1, 1)", "roll(-1, 1)", "flip(1)"))
        less = g.value("binary", "add", f"{{0}} - {{1}}.{turned}[:1, :, :1]", less, x)
    if less is not None and g.draw.rarely(4):
        g.value("sum", "sum", "{0}.sum((0, 2))", less)
    elif less is not None:
        g.value("scan", "scan", f"{{0}}.cumsum({g.draw.number(0, 2)})", less)


def crossed(g: Generation) -> None:
    """Totals of the rows of a square, spread along its columns or along its rows."""
    x = g.pick(lambda v: len(v.shape) == 2 and v.shape[0] == v.shape[1] and _is_number(v))
    if x is None or g.draw.rarely(3):
        size = g.size()
        x = g.leaf((size, size), g.draw.one((float32, float64)))
    x = g.value("scaled", "add", "{0} + 2", x)
    total = g.value("sum", "sum", f"{{0}}.sum({g.draw.number(0, 1)})", x)
    for _ in range(g.draw.number(1, 2)):
        spread = g.draw.one(("{1}", "{1}.reshape(-1, 1)"))
        x = g.value("binary", "add", f"{{0}} - {spread}", x, total)
    if x is not None and g.draw.coin():
        g.value("sum", "sum", f"{{0}}.sum({g.draw.number(0, 1)})", x)


# ---- lines


def scan(g: Generation) -> None:
    x = g.pick(lambda v: bool(v.shape) and v.dtype is not bool_)
    if x is None:
        return
    axis = g.draw.number(0, len(g.model[x].shape) - 1)
    if g.draw.rarely(3):
        g.value("scan", "pick", f"{{0}}.{g.draw.one(('cummax', 'cummin'))}({axis})", x)
    else:
        g.value("scan", "scan", f"{{0}}.cumsum({axis})", x)


def order(g: Generation) -> None:
    x = g.pick(lambda v: bool(v.shape) and v.dtype is not bool_ and v.size > 0)
    if x is None:
        return
    axis = g.draw.number(0, len(g.model[x].shape) - 1)
    down = ", descending=True" if g.draw.rarely(3) else ""
    if g.model[x].is_exact and g.draw.rarely(3):
        g.value("argsort", "jump", f"{{0}}.argsort({axis}{down})", x)
    else:
        g.value("sort", "pick", f"{{0}}.sort({axis}{down})", x)


ELEMENTS: tuple[Draw, ...] = (
    unary, smooth, square, scaled, scaled, binary, binary, binary, compare, choose, cast, cast,
    whole, clip, rounded,
)  # fmt: skip
ROWS: tuple[Draw, ...] = (
    total,
    total,
    total,
    extreme,
    mean,
    test,
    normal,
    centred,
    channels,
    crossed,
)
LINES: tuple[Draw, ...] = (scan, order, order)
