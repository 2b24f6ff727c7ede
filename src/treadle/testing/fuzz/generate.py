"""From a seed to a program: statements drawn one by one, each kept if its values can be checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from treadle.base.dtypes import ALL, DType, bool_, float32, float64
from treadle.testing.choice import Choice
from treadle.testing.fuzz.bounds import Unfit, Value
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.program import Program, Statement

SMALL = (1, 2, 3, 4, 5, 7, 8)
MIDDLE = (9, 16, 17, 33, 34)
LARGE = (64, 100, 130, 256, 300)
MOST_ELEMENTS = 100_000
TRIES = 6  # draws for one statement before another kind is taken
LEFT_OUT: set[str] = set()
"""Kinds of statements that no program gets: what is known to go wrong hides what is not."""
COMMON = (*(float32,) * 8, *(float64,) * 4)


class Generation:
    """A program under way."""

    def __init__(self, draw: Choice, outer: Generation | None = None) -> None:
        self.draw, self.outer = draw, outer
        self.root: Generation = self if outer is None else outer.root
        self.model = Model()
        self.leaves: list[Statement] = []  # of the root: tensors made from nothing come first
        self.statements: list[Statement] = []
        self.count = 0
        if outer is None:
            self.sizes = _palette(draw)
            self.main = draw.one((*COMMON, *ALL))

    # ---- choices

    @property
    def is_body(self) -> bool:
        """Is this the body of a function?"""
        return self.outer is not None

    def size(self) -> int:
        """Of an axis."""
        return int(self.draw.one(self.root.sizes))

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """Of a new tensor."""
        count = self.draw.one((0, 1, 1, 2, 2, 2, 2, 3, 3, 4)) if rank is None else rank
        sizes = [self.size() for _ in range(count)]
        while elements(sizes) > MOST_ELEMENTS:
            sizes[sizes.index(max(sizes))] = self.draw.one(SMALL)
        return tuple(sizes)

    def kind(self) -> DType:
        """Of a new tensor: mostly the one of the whole program."""
        drawn: DType = self.draw.one((*COMMON, *ALL)) if self.draw.rarely(4) else self.root.main
        return drawn

    def names(self, fits: Callable[[Value], bool] = lambda _: True) -> list[str]:
        """Tensors that fit, in the order of their making."""
        return [
            name for name, (value,) in self.model.cells.items()
            if value.form == "tensor" and fits(value)
        ]  # fmt: skip

    def pick(self, fits: Callable[[Value], bool] = lambda _: True) -> str | None:
        """A tensor that fits, the newer ones more often."""
        found = self.names(fits)
        if not found:
            return None
        chance = self.draw.random()
        last = 0.6 if self.is_body else 0.35  # a function is mostly a chain
        return str(
            self.draw.one(found[-1:] if chance < last else found[-3:] if chance < 0.7 else found)
        )

    def pick_or_make(
        self, fits: Callable[[Value], bool], shape: Sequence[int] | None = None,
        kind: DType | None = None,
    ) -> str | None:  # fmt: skip
        """A tensor that fits; one made for the purpose if there is none, and sometimes anyway."""
        name = None if self.draw.rarely(8 if self.is_body else 3) else self.pick(fits)
        if name is None:
            name = self.leaf(self.shape() if shape is None else shape, kind or self.kind())
            if not fits(self.model[name]):
                return None
        return name

    # ---- statements

    def new_name(self, stem: str = "t") -> str:
        """A name that nothing has yet."""
        self.root.count += 1
        return f"{stem}{self.root.count}"

    def leaf(self, shape: Sequence[int], kind: DType, text: str = "") -> str:
        """A tensor made from nothing, before everything else."""
        name = self.new_name()
        made = text or leaf_text(self.draw, shape, kind)
        statement = Statement("tensor", "value", targets=(name,), text=made)
        self.root.leaves.append(statement)
        self.root.model.execute(statement)
        within: Generation | None = self
        while within is not None:
            within.model.cells[name] = self.root.model.cells[name]
            within = within.outer
        return name

    def add(self, s: Statement) -> bool:
        """Another statement, unless nobody could check what it makes."""
        if s.kind in LEFT_OUT:
            raise Unfit("left out")
        changed = self.model.execute(s)
        if any(value.size > MOST_ELEMENTS for value in changed.values()):
            raise Unfit("too many elements")
        self.statements.append(s)
        return True

    def value(
        self, kind: str, rule: str, text: str, *operands: str | None, targets: int = 1,
        meaning: str = "",
    ) -> str | None:  # fmt: skip
        """A statement that computes tensors; the name of the first of them."""
        if None in operands:
            return None
        names = tuple(self.new_name() for _ in range(targets))
        given = tuple(map(str, operands))
        self.add(Statement(kind, "value", rule, names, given, text, meaning=meaning))
        return names[0]

    def do(self, kind: str, text: str, *operands: str, form: str = "do") -> None:
        """A statement that is made for what it does."""
        self.add(Statement(kind, form, "move", (), operands, text))


Draw = Callable[[Generation], Any]
"""Adds a statement to a program, or nothing."""
Draws = Sequence[tuple[int, Sequence[Draw]]]
"""Groups of them, with how often each group is taken."""


def attempt(g: Generation, draws: Draws) -> bool:
    """Add one statement of any of the kinds."""
    weights, groups = zip(*draws, strict=True)
    for _ in range(TRIES):
        count, made, cells = len(g.statements), len(g.root.leaves), dict(g.model.cells)
        before = {name: cell[0] for name, cell in cells.items()}
        try:
            g.draw.one(g.draw.choices(groups, weights)[0])(g)
        except Unfit:
            del g.statements[count:]
            for name, value in before.items():
                cells[name][0] = value
            new = {name for s in g.root.leaves[made:] for name in s.targets}
            known = g.root.model.cells.items()
            g.model.cells = cells | {name: cell for name, cell in known if name in new}
        if len(g.statements) > count:
            return True
    return False


def elements(sizes: Sequence[int]) -> int:
    """The product of sizes."""
    total = 1
    for size in sizes:
        total *= size
    return total


def _palette(draw: Choice) -> tuple[int, ...]:
    """Sizes of one program: few, so that shapes fit together."""
    found = [draw.one(SMALL), draw.one(SMALL), draw.one(MIDDLE)]
    if draw.rarely(5):
        found += [draw.one(LARGE)] * 2
    if draw.rarely(12):
        found.append(0)
    if draw.rarely(3):
        found.append(1)
    return tuple(found)


def leaf_text(draw: Choice, shape: Sequence[int], kind: DType) -> str:
    """A tensor of whole numbers, or of quarters."""
    sizes = ", ".join(map(str, shape))
    seed = f"{', ' if sizes else ''}seed={draw.number(1, 30)}"
    if kind is bool_:
        return f"td.tensor(data({sizes}{seed}) > {draw.one((0, -4, 5))})"
    name = f"td.{kind.name}"
    if draw.rarely(10):
        maker = draw.one((f"td.zeros({sizes}", f"td.ones({sizes}", f"td.full(({sizes},), 3"))
        if shape:
            return f"{maker}, dtype={name})"
    scaled = " % 7" if kind.kind == "uint" else " / 4" if kind.is_float and draw.coin() else ""
    smaller = " // 4" if elements(shape) > 2000 and kind.is_float else ""
    return f"td.tensor(data({sizes}{seed}){smaller}{scaled}, dtype={name})"


def program_of(seed: int, number: int, draws: Draws, steps: int = 8) -> Program:
    """The program of a number; the same for the same seed and vocabulary."""
    draw = Choice(f"{seed}/{number}")
    g = Generation(draw)
    for _ in range(draw.number(1, 2)):
        g.leaf(g.shape(), g.kind())
    for _ in range(draw.number(2, steps)):
        attempt(g, draws)
    return finished(g, f"seed {seed} program {number}")


def finished(g: Generation, label: str) -> Program:
    """The statements that are needed, and what is looked at: the last values and some others."""
    made = [name for s in g.statements for name in s.targets]
    alive = [n for n in made if n in g.model and g.model[n].form != "function"]
    chosen = {n for n in alive if g.draw.rarely(3)} | set(alive[-1:])
    changed = {n for s in g.statements for n in s.reads() if n in g.model}
    chosen |= {n for n in changed if n in g.model and g.model[n].form == "array"}
    chosen |= {n for n in _rebound(g.statements) if n in g.model}
    needed: set[str] = set(chosen)
    kept: list[Statement] = []
    for s in reversed([*g.leaves, *g.statements]):
        if not s.is_pure or not needed.isdisjoint(s.targets):
            kept.append(s)
            needed |= s.reads()
    return Program(tuple(reversed(kept)), frozenset(chosen), label)


def _rebound(statements: Sequence[Statement]) -> set[str]:
    """Names that are assigned to, by functions too."""
    found: set[str] = set()
    for s in statements:
        found |= s.changes() | {n for part in s.body for n in part.changes()}
    return found


DATA = re.compile(r"data\(([\d, ]*)")
NUMBER = re.compile(r"(?<![\w.{])\d+(?![\w.}])")


def renumbered(s: Statement, change: dict[str, str]) -> Statement:
    """A statement with other whole numbers in its text, unless another text says what it means."""
    text = s.text if s.meaning else NUMBER.sub(lambda m: change.get(m[0], m[0]), s.text)
    return replace(s, text=text, body=tuple(renumbered(part, change) for part in s.body))


def resized(program: Program, draw: Choice) -> Program:
    """The same statements at other sizes, if that makes sense: kernels are used again."""
    numbers = sorted({n for s in program.statements for n in NUMBER.findall(s.text)}, key=int)
    large = [n for n in numbers if int(n) > 2]
    change = {n: str(draw.one((*SMALL[2:], *MIDDLE))) for n in large if draw.coin()}
    made = replace(program, statements=tuple(renumbered(s, change) for s in program.statements))
    for found in DATA.findall("\n".join(s.text for s in made.statements)):
        if prod(map(int, NUMBER.findall(found))) > MOST_ELEMENTS:
            raise Unfit("too many elements")
    return replace(made, label=f"{program.label} resized")
