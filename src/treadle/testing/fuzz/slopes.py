"""Statements that take derivatives: of random functions, nested, and beside closed-over tensors."""

from __future__ import annotations

from treadle.base.dtypes import float32, float64
from treadle.testing.fuzz.bounds import Unfit, Value
from treadle.testing.fuzz.generate import Draw, Draws, Generation, attempt
from treadle.testing.fuzz.program import Statement, renamed
from treadle.testing.fuzz.state import body_of
from treadle.testing.fuzz.views import index_leaf


def _is_fit(v: Value) -> bool:
    return v.dtype in (float32, float64) and v.is_exact and 0 < v.size < 3000


def _terms(g: Generation, inner: Generation) -> tuple[str, list[str]]:
    """A scalar made of some of the values of a body, and of its parameters."""
    made = [n for s in inner.statements for n in s.targets if inner.model[n].dtype.is_float]
    if not made:
        raise Unfit("nothing to differentiate")
    others = [g.draw.one(made) for _ in range(g.draw.number(0, 2))]
    chosen = list(dict.fromkeys([made[-1], *others]))
    forms = ("{{{0}}}.sum()", "{{{0}}}.square().sum()", "({{{0}}} * 2).sum()")
    parts = [g.draw.one(forms).format(k) for k in range(len(chosen))]
    for name in inner.names(_is_fit):
        if name.startswith("p") and g.draw.coin():  # as weights decay
            parts.append(f"{{{len(chosen)}}}.square().sum()")
            chosen.append(name)
    return " + ".join(parts), chosen


def _forms(count: int) -> list[tuple[str, int, str]]:
    """Ways to take a gradient by so many arguments: text, number of results, what it means.

    The last is empty where the text says it.
    """
    places = ", ".join(f"{{{k}}}" for k in range(count))
    numbers = f"tuple(range({count}))"
    plain, looked = f"slopes({{f}}, {places})", f"slopes({{f}}, {places}, looks=True)"
    if count == 1:
        return [
            ("td.grad({f})({0})", 1, ""),
            ("td.compile(td.grad({f}))({0})", 1, ""),
            (f"{plain}[0]", 1, ""),
            (f"{looked}[0]", 1, f"{plain}[0]"),
            ("td.compile(lambda x: slopes({f}, x)[0])({0})", 1, ""),
            ("td.value_and_grad({f})({0})", 2, ""),
            ("[y.detach() for y in td.jvp({f}, ({0},), ({0},))]", 2, ""),
            ("td.grad(lambda x: td.grad({f})(x).square().sum())({0}).detach()", 1, ""),
            ("td.grad(lambda x: (td.grad({f})(x) * {0}).sum() + {f}(x))({0}).detach()", 1, ""),
        ]
    return [
        (f"td.grad({{f}}, {numbers})({places})", count, ""),
        (f"td.compile(td.grad({{f}}, {numbers}))({places})", count, ""),
        (plain, count, ""),
        (looked, count, plain),
        (f"td.compile(lambda *x: slopes({{f}}, *x))({places})", count, ""),
    ]


def _promoted(
    inner: Generation, arguments: list[str], params: tuple[str, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """Tensors made for the body, some of which become arguments."""
    made = {n for s in inner.root.leaves for n in s.targets} - set(arguments)
    used = sorted({n for s in inner.statements for n in s.operands if n in made})
    taken = [n for n in used if _is_fit(inner.model[n]) and inner.draw.coin()][:2]
    names = {n: inner.new_name("p") for n in taken}
    inner.statements[:] = [renamed(s, names) for s in inner.statements]
    for old, new in names.items():
        inner.model.cells[new] = inner.model.cells.pop(old)
    return arguments + taken, (*params, *names.values())


def gradient(values: Draws) -> Draw:
    """The gradient of a random function by one to three arguments."""

    def define(g: Generation) -> None:
        draw = g.draw
        arguments = [g.pick_or_make(_is_fit, None, draw.one((float32, float64, float64)))]
        arguments += [g.pick(_is_fit) for _ in range(draw.number(0, 2))]
        chosen = list(dict.fromkeys(name for name in arguments if name is not None))
        around = [n for n in (g.pick(_is_fit),) if n is not None and n not in chosen]
        if not chosen:
            return
        inner, params = body_of(g, chosen, around, followed=True)
        for _ in range(draw.number(1, 5)):
            attempt(inner, values)
        chosen, params = _promoted(inner, chosen, params)
        text, terms = _terms(g, inner)
        end = Statement("return", "return", "move", (), tuple(terms), text)
        form, count, meaning = draw.one(_forms(len(chosen)))
        targets = tuple(g.new_name() for _ in range(count))
        how = "story" if meaning else "value"  # nobody can look while a function is traced
        g.add(Statement("gradient", how, "loose", targets, tuple(chosen), form, params,
                        (*inner.statements, end), meaning))  # fmt: skip

    return define


LINED = (
    ("sort", "pick", "{0}.sort(1)"), ("scan", "scan", "{0}.cumsum(0)"),
    ("sort", "pick", "{0}.sort(0)"), ("scaled", "multiply", "{0} * 2"),
)  # fmt: skip


def rejoined(g: Generation) -> None:
    """A gradient by tensors of which one is read on two ways: its parts meet again.

    One way leads through lines, places in a table and a product, the other through totals.
    """
    kind = g.draw.one((float32, float64))
    x = g.leaf((g.draw.number(2, 20), g.draw.number(2, 9)), kind)
    rows, columns = g.draw.number(1, 8), g.draw.number(1, 8)
    w = g.leaf((columns, g.draw.number(1, 20)), kind)
    inner, (p, q) = body_of(g, [x, w], [], followed=True)
    lines = inner.value(*g.draw.one(LINED), p)
    places = [index_leaf(inner, (rows, columns), n) for n in g.model[x].shape]
    taken = inner.value("look up", "move", "{0}[{1}, {2}]", lines, *places)
    made = inner.value("product", "product", "{0} @ {1}", taken, q)
    total = inner.value("sum", "sum", f"{{0}}.sum({g.draw.number(0, 1)})", p)
    form = g.draw.one(("{0}.sum() + {1}.square().sum()", "({0}.sum() + {1}.sum()) * 0.5"))
    end = Statement("return", "return", "move", (), (str(made), str(total)), form)
    text, count, meaning = g.draw.one(_forms(2))
    targets = tuple(g.new_name() for _ in range(count))
    how = "story" if meaning else "value"
    g.add(Statement("gradient", how, "loose", targets, (x, w), text, (p, q),
                    (*inner.statements, end), meaning))  # fmt: skip


NESTED = (
    ("td.grad(lambda w: td.grad(lambda x: (w * x * x).sum())({1}).sum() + (w * w * w).sum())({0})",
     "{1} * 2 + {0} * {0} * 3"),
    ("td.grad(lambda w: (td.grad(lambda x: (x * w).square().sum())({1}) * w).sum())({0})",
     "{1} * {0} * {0} * 6"),
    ("td.value_and_grad(lambda w: td.grad(lambda x: (x * x * w * {0}).sum())({1}).sum())({0})[1]",
     "{1} * {0} * 2"),
    ("td.grad(lambda w: td.vjp(lambda x: x * x * w, {1})[1]({1})[0].sum())({0})",
     "{1} * {1} * 2"),
    ("td.compile(td.grad(lambda w: td.grad(lambda x: (w * x * x).sum())({1}).sum()))({0})",
     "{1} * 2"),
    ("td.grad(lambda w: (td.jvp(lambda x: x * x * w, ({1},), ({0},))[1]).sum())({0})",
     "{1} * {0} * 2"),
    ("td.grad(lambda w: (td.grad(lambda x: (x * x * x + w * x).sum())({1}) * w).sum())({0})",
     "{1} * {1} * 3 + {0} * 2"),
    ("td.grad(lambda w: td.value_and_grad(lambda x: (w * w * x).sum())({1})[1].sum() * 2)({0})",
     "{0} * 4"),
    ("td.vjp(lambda w: td.grad(lambda x: (w * w * x * x).sum())({1}), {0})[1]({1})[0]",
     "{1} * {1} * {0} * 4"),
)  # fmt: skip
"""Gradients of gradients, and what they are."""


def nested(g: Generation) -> None:
    """A gradient of a gradient that closes over what the outer one is taken by."""
    w = g.pick_or_make(_is_fit, g.shape(1), float64)
    if w is None:
        return
    v = g.model[w]
    x = g.pick_or_make(lambda o: _is_fit(o) and o.shape == v.shape and o.dtype is v.dtype,
                       v.shape, v.dtype)  # fmt: skip
    text, meaning = g.draw.one(NESTED)
    text += ".detach()"  # nobody knows whether it could be differentiated again
    g.value("nested gradient", "loose", text, w, x, meaning=meaning)
