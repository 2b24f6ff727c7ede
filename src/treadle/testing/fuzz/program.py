"""What a program is: statements as data, and how they print as plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

HEAD = """import numpy as np
import treadle as td


def data(*shape, seed=1):
    n = np.arange(np.prod(shape, dtype=np.int64)) + seed
    return ((n * n * 3 + n * 5 + n // 7) % 17 - 8).reshape(shape)
"""
PLACE = re.compile(r"\{(\w+)\}")
INDENT = "    "


def data(*shape: int, seed: int = 1) -> np.ndarray:
    """Whole numbers from -8 to 8 in no obvious order: what every tensor is made of."""
    n = np.arange(np.prod(shape, dtype=np.int64)) + seed
    return ((n * n * 3 + n * 5 + n // 7) % 17 - 8).reshape(shape)


@dataclass(frozen=True)
class Statement:
    """One statement; operands stand in its text as {0}, {1} and so on.

    - **kind**: what it is called in counts of what was generated
    - **form**: what it does, which decides how it prints:
      "value" names new tensors and does nothing else; "array" names a NumPy array, "view" one over
      the memory of a tensor, "share" a tensor over that of an array, "number" a Python number;
      "story" is like a value, but may do anything inside; "assign" binds its first operand to the
      value of the text, "item" is `x[...] = y`; "define" and "call" are functions, whose body may
      assign; "return" ends a body; "do" is any other
    - **rule**: how far rounding may move what it computes (`bounds.py`)
    - **body**: of a function. With the form "value" it is one that the text mentions as {f}
    - **meaning**: another text for the same value, by which the text is judged
    """

    kind: str
    form: str
    rule: str = "move"
    targets: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    text: str = ""
    params: tuple[str, ...] = ()
    body: tuple[Statement, ...] = ()
    meaning: str = ""

    @property
    def is_pure(self) -> bool:
        """Does it only compute new tensors?"""
        return self.form == "value"

    @property
    def function(self) -> str:
        """The name of the function of its body."""
        return f"f_{self.targets[0]}"

    def inner_names(self) -> set[str]:
        """Names that its body takes from outside."""
        own = set(self.params)
        found: set[str] = set()
        for part in self.body:
            found |= (set(part.operands) | part.inner_names()) - own
            own |= set(part.targets)
        return found

    def reads(self) -> set[str]:
        """Every name it needs."""
        return set(self.operands) | self.inner_names()

    def names(self) -> set[str]:
        """Every name it mentions or makes, its body's too."""
        inside = [part.names() for part in self.body]
        return set(self.operands).union(self.targets, self.params, *inside)

    def changes(self) -> set[str]:
        """Names of its own block that mean another value afterwards, besides its targets."""
        return {self.operands[0]} if self.form in ("assign", "item") else set()


@dataclass(frozen=True)
class Program:
    """Statements, and the names whose values are looked at in the end."""

    statements: tuple[Statement, ...]
    observed: frozenset[str]
    label: str = field(default="", compare=False)  # where it comes from

    def __len__(self) -> int:
        return sum(1 + len(s.body) for s in self.statements)

    @property
    def kinds(self) -> Counter[str]:
        """How often each kind of statement occurs, in bodies too."""
        return Counter(kinds_of(self.statements))

    def where(self, keep: Callable[[int], bool]) -> Program:
        """The statements with some of the numbers."""
        kept = tuple(s for k, s in enumerate(self.statements) if keep(k))
        return replace(self, statements=kept)


def kinds_of(statements: Iterable[Statement]) -> list[str]:
    """The kinds of statements, those of bodies too."""
    return [kind for s in statements for kind in (s.kind, *kinds_of(s.body))]


def renamed(s: Statement, change: dict[str, str]) -> Statement:
    """A statement that reads other names."""
    operands = tuple(change.get(name, name) for name in s.operands)
    return replace(s, operands=operands, body=tuple(renamed(part, change) for part in s.body))


# ---- text


def filled(text: str, names: Sequence[str], **others: str) -> str:
    """A text with names in its places."""
    return PLACE.sub(lambda m: others[m[1]] if m[1] in others else names[int(m[1])], text)


class Printer:
    """Statements as lines of Python.

    - **inlined**: names whose expressions stand where they are used, each once
    - **compiles**: are functions compiled, as they are written?
    """

    def __init__(self, inlined: Iterable[str] = (), compiles: bool = True) -> None:
        self.inlined, self.compiles = set(inlined), compiles
        self.expressions: dict[str, str] = {}

    def lines(self, statements: Iterable[Statement]) -> list[str]:
        """The lines of statements of one block."""
        return [line for s in statements for line in self.one(s)]

    def one(self, s: Statement) -> list[str]:
        """The lines of a statement; none if it stands where it is used."""
        names = [self.expressions.get(name, name) for name in s.operands]
        text = filled(s.text, names, f=s.function) if s.body else filled(s.text, names)
        if s.form == "define":
            return self._function(s, s.targets[0], "@td.compile" if self.compiles else "")
        if s.form == "value" and not s.body and s.targets[0] in self.inlined:
            self.expressions[s.targets[0]] = f"({text})"
            return []
        lines = self._function(s, s.function) if s.body else []
        if s.form == "assign":
            return [*lines, f"{names[0]}.assign({text})"]
        if s.form == "number":
            return [*lines, f"{s.targets[0]} = {text}.item()"]
        if s.form == "return":
            return [*lines, f"return {text}"]
        return [*lines, f"{', '.join(s.targets)} = {text}" if s.targets else text]

    def _function(self, s: Statement, name: str, decorator: str = "") -> list[str]:
        inner = Printer(inlinable(s.body, frozenset()), self.compiles)
        body = [INDENT + line for line in inner.lines(s.body)]
        return [*([decorator] if decorator else []), f"def {name}({', '.join(s.params)}):", *body]


def inlinable(statements: Sequence[Statement], observed: frozenset[str]) -> set[str]:
    """Names that are used once, where nothing that they are computed from has changed by then."""
    uses: Counter[str] = Counter()
    for s in statements:
        uses.update(s.operands)
        uses.update(dict.fromkeys(s.inner_names(), 2))  # a function finds them by name
    found: set[str] = set()
    waiting: dict[str, Statement] = {}
    for s in statements:
        if s.form in ("value", "number", "return", "call") or s.form in ("assign", "item"):
            steady = s.operands if s.form not in ("assign", "item") else s.operands[1:]
            found |= {name for name in steady if name in waiting}
        if s.form in ("assign", "item", "call", "do", "view"):
            waiting.clear()
        if s.form == "value" and len(s.targets) == 1 and not s.body:
            (name,) = s.targets
            if uses[name] == 1 and name not in observed and "data(" not in s.text:
                waiting[name] = s
    return found


def segments(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Statements cut into runs that only compute, and the others one by one."""
    runs: list[list[Statement]] = []
    for s in statements:
        if s.is_pure and s.operands and runs and runs[-1][0].is_pure and runs[-1][0].operands:
            runs[-1].append(s)
        else:
            runs.append([s])
    return runs
