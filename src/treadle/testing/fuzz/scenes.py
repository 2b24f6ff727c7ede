"""Statements that tell one of the short stories."""

from __future__ import annotations

from treadle.base.dtypes import float32, float64
from treadle.testing.fuzz.bounds import Unfit, Value
from treadle.testing.fuzz.generate import Draw, Draws, Generation, attempt
from treadle.testing.fuzz.heads import SCENES, Scene
from treadle.testing.fuzz.program import Statement
from treadle.testing.fuzz.state import body_of


def _is_fit(v: Value) -> bool:
    return v.dtype in (float32, float64) and v.is_exact and 0 < v.size < 3000 and v.largest < 20


def scene(values: Draws) -> Draw:
    """One of the stories."""

    def tell(g: Generation) -> None:
        chosen: Scene = g.draw.one(SCENES)
        x = g.pick_or_make(_is_fit, None, g.draw.one((float32, float64)))
        if x is None or g.is_body:
            return
        operands: tuple[str, ...] = (x,)
        if chosen.name == "layers":
            v = g.model[x]
            if not v.shape:
                raise Unfit("no axis for a layer")
            operands = (x, g.leaf((g.size(), v.shape[-1]), v.dtype))
        params: tuple[str, ...] = ()
        body: tuple[Statement, ...] = ()
        if chosen.of_function:
            inner, params = body_of(g, [x], [], followed=True)
            for _ in range(g.draw.number(1, 2)):
                attempt(inner, values)
            found = [(n, inner.model[n]) for s in inner.statements for n in s.targets]
            kind = g.model[x].dtype  # a loop refuses a carry that becomes wider
            made = [n for n, v in found if _is_fit(v) and v.dtype is kind]
            if not made:
                raise Unfit("nothing to differentiate")
            text = g.draw.one(("{0}.sum() + {1}.sum()", "({0} * {0}).mean() + ({1} * 2).sum()"))
            end = Statement("return", "return", "move", (), (made[-1], params[0]), text)
            body = (*inner.statements, end)
        targets = tuple(g.new_name() for _ in range(chosen.results))
        text = f"{chosen.text}[0]" if chosen.results == 1 else chosen.text
        meaning = f"({chosen.meaning})[0]" if chosen.results == 1 else chosen.meaning
        g.add(Statement(chosen.name, "story", "loose", targets, operands, text, params, body,
                        meaning))  # fmt: skip

    return tell
