"""Statements that take derivatives: of random functions, nested, and beside closed-over tensors."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base.dtypes import float32, float64
from treadle.testing.fuzz.bounds import Unfit, Value
from treadle.testing.fuzz.generate import Draw, Generation, attempt
from treadle.testing.fuzz.program import Statement
from treadle.testing.fuzz.state import body_of


def _is_fit(v: Value) -> bool:
    return v.dtype in (float32, float64) and v.is_exact and 0 < v.size < 3000


def _terms(g: Generation, inner: Generation) -> tuple[str, list[str]]:
    """A scalar made of some of the values of a body."""
    made = [n for s in inner.statements for n in s.targets if inner.model[n].dtype.is_float]
    if not made:
        raise Unfit("nothing to differentiate")
    chosen = list(dict.fromkeys([made[-1], *(g.draw.one(made) for _ in range(g.draw.number(0, 2)))]))
    parts = [g.draw.one((f"{{{k}}}.sum()", f"{{{k}}}.square().sum()", f"({{{k}}} * 2).sum()"))
             for k in range(len(chosen))]  # fmt: skip
    return " + ".join(parts), chosen


def _forms(count: int) -> list[tuple[str, int]]:
    """Ways to take a gradient by so many arguments: text, number of results."""
    places = ", ".join(f"{{{k}}}" for k in range(count))
    numbers = ", ".join(map(str, range(count)))
    if count == 1:
        return [
            ("td.grad({f})({0})", 1),
            ("td.compile(td.grad({f}))({0})", 1),
            ("(lambda x: td.gradients({f}(x), [x])[0])({0}.detach().requires_grad_())", 1),
            ("td.value_and_grad({f})({0})", 2),
            ("td.jvp({f}, ({0},), ({0},))", 2),
            ("td.grad(lambda x: td.grad({f})(x).square().sum())({0})", 1),
            ("td.grad(lambda x: (td.grad({f})(x) * {0}).sum() + {f}(x))({0})", 1),
        ]
    return [
        (f"td.grad({{f}}, ({numbers}))({places})", count),
        (f"td.compile(td.grad({{f}}, ({numbers})))({places})", count),
        (f"(lambda *x: td.gradients({{f}}(*x), x))(*[v.detach().requires_grad_() for v in ({places})])",
         count),
        (f"td.compile(lambda *x: td.gradients({{f}}(*x), x))({places})", count),
    ]


def gradient(values: Sequence[Draw]) -> Draw:
    """The gradient of a random function by one to three arguments."""

    def define(g: Generation) -> None:
        draw = g.draw
        arguments = [g.pick_or_make(_is_fit, None, draw.one((float32, float64, float64)))]
        arguments += [g.pick(_is_fit) for _ in range(draw.number(0, 2))]
        chosen = list(dict.fromkeys(name for name in arguments if name is not None))
        around = [n for n in (g.pick(_is_fit),) if n is not None and n not in chosen]
        if not chosen:
            return
        inner, params = body_of(g, chosen, around)
        for _ in range(draw.number(1, 5)):
            attempt(inner, values)
        text, terms = _terms(g, inner)
        end = Statement("return", "return", "move", (), tuple(terms), text)
        form, count = draw.one(_forms(len(chosen)))
        targets = tuple(g.new_name() for _ in range(count))
        g.add(Statement("gradient", "value", "loose", targets, tuple(chosen), form, params,
                        (*inner.statements, end)))  # fmt: skip

    return define


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
    ("td.grad(lambda w: (td.grad(lambda x: (x * x * x).sum() + (w * x).sum())({1}) * w).sum())({0})",
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
    g.value("nested gradient", "loose", text, w, x, meaning=meaning)
