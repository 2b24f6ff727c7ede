"""Statements that bind names anew, share memory, or call compiled functions that do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from treadle.base.dtypes import DType, bool_, float32, float64, int32, int64
from treadle.testing.fuzz.bounds import Value
from treadle.testing.fuzz.generate import Draw, Draws, Generation, attempt
from treadle.testing.fuzz.program import Statement
from treadle.testing.fuzz.views import index_leaf, key_of

NATIVE = (float32, float64, int64, int32)  # what NumPy has without help


def _same_type(g: Generation, x: str) -> Sequence[str]:
    v = g.model[x]
    return g.names(lambda o: o.shape == v.shape and o.dtype is v.dtype and o is not v)


def successor(g: Generation, x: str) -> str | None:
    """Another tensor of the type of one, computed from it."""
    v, draw = g.model[x], g.draw
    others = _same_type(g, x)
    forms: list[tuple[str, str]] = [("{0}.flip(0)", "move"), ("{0}.roll(1, 0)", "move")]
    if not v.shape:
        forms.clear()
    if v.dtype is not bool_:
        forms += [("{0} * 2", "multiply"), ("{0} + 1", "add"), ("{0} * 0.5", "multiply")]
        forms += [("{0} - {0}[:1]", "add"), ("{0} - {0}[..., :1]", "add")] if v.shape else []
        forms += [("{0} + {1}", "add"), ("{0} - {1}", "add"), ("{0} * {1}", "multiply")] * bool(
            others
        )
    if not forms:
        return None
    if len(v.shape) == 2 and v.dtype in (float32, float64) and v.size and draw.coin():
        sides = [g.leaf(shape, v.dtype) for shape in ((v.shape[0], 3), (3, v.shape[1]))]
        made = g.value("product", "product", "{0} @ {1}", *sides)
        text = draw.one(("{0} + {1} - {1}[:, :1]", "{0} - {1}[::-1]", "{0} + {1}"))
        return g.value("successor", "add", text, made, x)
    text, rule = draw.one(forms)
    return g.value("successor", rule, text, x, *([draw.one(others)] if "{1}" in text else []))


def assign(g: Generation) -> None:
    """Give a tensor another value of its type."""
    x = g.pick()
    if x is None:
        return
    others = _same_type(g, x)
    y = g.draw.one(others) if others and g.draw.coin() else successor(g, x)
    if y is not None:
        kind = "assign argument" if x.startswith("p") else "assign"
        g.add(Statement(kind, "assign", "move", (), (x, y), "{1}"))


def assign_item(g: Generation) -> None:
    """Other elements at some places: a number, or tensors."""
    x = g.pick(lambda v: bool(v.shape) and v.size > 0)
    if x is None:
        return
    v, draw = g.model[x], g.draw
    number = "True" if v.dtype is bool_ else draw.one(("1", "2", "0"))
    way = draw.number(0, 3)
    if way == 0:
        mask = g.pick_or_make(lambda o: o.dtype is bool_ and o.shape == v.shape, v.shape, bool_)
        if mask is not None:
            g.do("assign item", f"{{0}}[{{1}}] = {number}", x, mask, form="item")
    elif way == 1:
        rows = draw.number(1, 4)
        index = index_leaf(g, (rows,), v.shape[0])
        g.do("assign item", f"{{0}}[{{1}}] = {number}", x, index, form="item")
    else:
        key = key_of(draw, v.shape)
        if way == 2 or "None" in key:
            g.do("assign item", f"{{0}}[{key}] = {number}", x, form="item")
            return
        there = v.array[eval(f"np.s_[{key}]", {"np": __import__("numpy")})]
        y = g.pick_or_make(
            lambda o: o.shape == there.shape and o.dtype is v.dtype, there.shape, v.dtype
        )
        if y is not None:
            g.do("assign item", f"{{0}}[{key}] = {{1}}", x, y, form="item")


def _is_like(shape: tuple[int, ...], kind: DType, value: Value) -> bool:
    return value.shape == shape and value.dtype is kind


def assign_rows(g: Generation) -> None:
    """A state written row by row and read in between, as a cache is."""
    x = g.pick(lambda v: bool(v.shape) and v.size > 0)
    if x is None:
        return
    v, draw = g.model[x], g.draw
    for _ in range(draw.number(1, 3)):
        axis = draw.number(0, min(1, len(v.shape) - 1))
        shape = (*v.shape[:axis], *v.shape[axis + 1 :])
        row = g.pick_or_make(partial(_is_like, shape, v.dtype), shape, v.dtype)
        if row is None:
            return
        if draw.coin():
            other = draw.number(0, v.shape[axis] - 1)
            row = g.value("row", "move", f"{{0}}[{':, ' * axis}{other}]", x) or row
        before = ":, " * axis
        if draw.coin():
            at = index_leaf(g, (), v.shape[axis])
            g.do("assign row", f"{{0}}[{before}{{2}}] = {{1}}", x, row, at, form="item")
        else:
            at = str(draw.number(-v.shape[axis], v.shape[axis] - 1))
            g.do("assign row", f"{{0}}[{before}{at}] = {{1}}", x, row, form="item")
        if draw.coin() and v.dtype is not bool_:
            g.value("sum", "sum", f"{{0}}.sum({axis})", x)


def detach(g: Generation) -> None:
    g.value("detach", "move", "{0}.detach()", g.pick())


def view(g: Generation) -> None:
    """A NumPy array over the memory of a tensor, which must stay as it is."""
    x = g.pick()
    if x is not None:
        g.add(Statement("view", "view", "move", (g.new_name("n"),), (x,), "{0}.numpy()"))


def shared(g: Generation) -> None:
    """A tensor over the memory of a NumPy array, which nobody else may write to."""
    kind = g.draw.one(NATIVE)
    sizes = ", ".join(map(str, g.shape(g.draw.one((1, 1, 2)))))
    array = g.new_name("n")
    seed = g.draw.number(1, 30)
    g.add(Statement("array", "array", "move", (array,), (),
                    f'data({sizes}, seed={seed}).astype("{kind.name}")'))  # fmt: skip
    text = "td.from_numpy({0})"
    g.add(Statement("from numpy", "share", "move", (g.new_name(),), (array,), text))


def number(g: Generation) -> None:
    x = g.pick(lambda v: v.size > 0)
    text = g.draw.one(("{0}.sum()", "({0} * 3).sum()", "{0}.max()"))
    if x is not None and (g.model[x].dtype is not bool_ or text == "{0}.sum()"):
        rule = "move" if "max" in text else "sum"
        g.add(Statement("number", "number", rule, (g.new_name("n"),), (x,), text))


def realize(g: Generation) -> None:
    x, y = g.pick(), g.pick()
    if x is not None and y is not None:
        g.do("realize", *g.draw.one((("{0}.realize()", x), ("td.realize({0}, {1})", x, y))))


def forget(g: Generation) -> None:
    """Nobody holds a tensor any more."""
    named = {n for s in g.statements for n in s.inner_names()}
    x = g.pick()
    if x is not None and x not in named:
        g.do("del", "del {0}", x)


# ---- functions


def _is_fit(v: Value) -> bool:
    return v.dtype is not bool_


def body_of(
    g: Generation, arguments: Sequence[str], around: Sequence[str], followed: bool = False
) -> tuple[Generation, tuple[str, ...]]:
    """A function to be filled: its parameters stand for arguments, and it knows names around it.

    followed: a slope will be taken of it.
    """
    inner = Generation(g.draw, g)
    inner.model.followed = followed
    inner.model.cells = {name: [g.model[name]] for name in around}
    params = tuple(g.new_name("p") for _ in arguments)
    inner.model.cells |= {p: [g.model[a]] for p, a in zip(params, arguments, strict=True)}
    return inner, params


def function(values: Draws, states: Draws) -> Draw:
    """A compiled function that may assign to its arguments and to what it closes over."""

    def define(g: Generation) -> None:
        draw = g.draw
        known = [name for name in (g.pick(_is_fit) for _ in range(3)) if name is not None]
        if not known:
            return
        chosen = list(dict.fromkeys(known))
        count = draw.number(0, len(chosen))
        arguments, around = chosen[:count], chosen[count:]
        inner, params = body_of(g, arguments, around)
        for _ in range(draw.number(1, 3)):
            attempt(inner, values)
            if draw.coin():
                attempt(inner, states)
        made = [n for s in inner.statements if s.is_pure for n in s.targets]
        if not made:
            return
        returned = tuple(dict.fromkeys([made[-1], draw.one(made)]))
        end = Statement("return", "return", "move", (), returned,
                        ", ".join(f"{{{k}}}" for k in range(len(returned))))  # fmt: skip
        name = g.new_name("f")
        g.add(
            Statement("define", "define", "move", (name,), (), "", params, (*inner.statements, end))
        )
        if draw.rarely(3):  # something waits while the function runs
            attempt(g, values)
        call(g, name, arguments)

    return define


def call(g: Generation, name: str, arguments: Sequence[str]) -> None:
    """Call a function."""
    returned = g.model.functions[name].body[-1].operands
    targets = tuple(g.new_name() for _ in returned)
    places = ", ".join(f"{{{k + 1}}}" for k in range(len(arguments)))
    g.add(Statement("call", "call", "move", targets, (name, *arguments), f"{{0}}({places})"))


def call_again(g: Generation) -> None:
    """Another call of a function, with the same arguments or others of their types."""
    calls = [s for s in g.statements if s.form == "call"]
    if not calls:
        return
    known = g.draw.one(calls).operands
    if any(a not in g.model for a in known[1:]):
        return
    arguments = [g.draw.one([a, *_same_type(g, a)]) for a in known[1:]]
    if len(set(arguments)) == len(arguments):
        call(g, known[0], arguments)


STATES: tuple[Draw, ...] = (assign, assign, assign_item, assign_rows)
SHARING: tuple[Draw, ...] = (detach, view, view, shared, number, number, realize, forget)
