"""What the op table becomes as text: functions, methods, exports, reference pages."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from treadle.cli.coverage import Support, dtype_text
from treadle.cli.merge import Piece
from treadle.cli.signature import WIDTH, Signature, place_of, signature_of
from treadle.ops.defs import TABLE, Kind, Op
from treadle.ops.syntax import Syntax
from treadle.tensor.methods import Methods
from treadle.tensor.tensor import Tensor

WORDED = ("treadle.ops.words", "accept_words")
NAMESPACES = {
    "treadle.random": "random", "treadle.ops.linalg": "linalg", "treadle.ops.fft": "fft",
    "treadle.tensor.frequencies": "fft",
}  # fmt: skip
"""Packages of rows that users do not find at the top, and where they do."""


@dataclass(frozen=True)
class Row:
    """An op with everything that is written about it."""

    op: Op

    @cached_property
    def place(self) -> tuple[str, str]:
        """(module, name) of the row itself."""
        return place_of(self.op)

    @property
    def space(self) -> str:
        """The namespace in which users find it; nothing for the top."""
        module = self.place[0]
        return next((to for package, to in NAMESPACES.items() if module.startswith(package)), "")

    @property
    def section(self) -> str:
        """The module the row is written in, without its package."""
        return self.place[0].rpartition(".")[2]

    @cached_property
    def signature(self) -> Signature:
        """How it is called."""
        return signature_of(self.op)

    @property
    def target(self) -> str:
        """The row as generated modules call it."""
        module, name = self.place
        return name if name.startswith("TABLE[") else f"{alias_of(module)}.{name}"

    @property
    def doc(self) -> str:
        """The documentation, without indentation."""
        return inspect.cleandoc(self.op.__doc__ or "")

    @property
    def is_written(self) -> bool:
        """Is it a handwritten function already, and only listed here?"""
        return self.op.kind in (Kind.CREATION, Kind.RANDOM)

    @property
    def is_method(self) -> bool:
        """Can it be called on its first operand?"""
        first = next(iter(self.signature.arguments), None)
        return (
            first is not None and first.is_operand and first.type.startswith("Tensor")
            and not str(first).startswith("*") and not self.is_written
        )  # fmt: skip


def alias_of(module: str) -> str:
    """The name under which a generated module imports a module of rows."""
    return f"{module.rpartition('.')[2]}_rows"


def own_rows() -> list[Row]:
    """Treadle's public rows, by module and there in the order they are written."""
    for package in ("treadle.ops", "treadle.tensor"):
        folder = importlib.import_module(package).__path__
        for module in pkgutil.iter_modules(folder, f"{package}."):
            importlib.import_module(module.name)
    ours = [op for op in TABLE.values() if place_of(op)[0].startswith("treadle.")]
    return rows_of({op.name: op for op in ours})


def rows_of(table: Mapping[str, Op]) -> list[Row]:
    """The public rows of a table."""
    rows = [Row(op) for op in table.values() if op.public and op.kind is not Kind.SOURCE]
    return sorted(rows, key=lambda row: row.place[0])


def sections_of(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by module."""
    sections: dict[str, list[Row]] = {}
    for row in rows:
        sections.setdefault(row.place[0], []).append(row)
    return sections


# ---- Python


def function_pieces(rows: Sequence[Row]) -> Iterator[Piece]:
    """A typed function for every row."""
    written = [row for row in rows if not row.is_written]
    yield _imports(written, [("treadle.tensor.tensor", "Tensor"), WORDED])
    for row in written:
        lines = [
            *row.signature.definition(row.op.name),
            *_indented([*_docstring(row.doc), *row.signature.call(row.target)]),
        ]
        yield Piece(row.op.name, tuple(lines), gap=2)
    names = [f"{alias} = {row.op.name}" for row in written for alias in row.op.aliases]
    if names:
        yield Piece("aliases", tuple(names), gap=2)
    yield Piece("words", ("accept_words(globals().values())",), gap=2)


def method_pieces(rows: Sequence[Row]) -> Iterator[Piece]:
    """A method for every row whose first operand is a tensor, unless one is written by hand."""
    owners = [owner for owner in Tensor.__mro__ if owner not in (Methods, object)]
    by_hand = {name for owner in owners for name in vars(owner)}
    chosen = [row for row in rows if row.is_method and row.op.name not in by_hand]
    yield _imports(chosen, [("typing", "Self"), ("treadle.ops.syntax", "Syntax"), WORDED])
    for row in chosen:
        summary = row.doc.split("\n\n")[0].replace("\n", " ")
        lines = [
            *row.signature.definition(row.op.name, method=True),
            *_indented([*_docstring(summary, 8), *row.signature.call(row.target, method=True)]),
        ]
        yield Piece(row.op.name, tuple(_indented(lines)))
    names = []
    for row in rows:
        owner = "" if row in chosen else "Syntax." if row.op.name in vars(Syntax) else None
        if row.is_method and owner is not None:
            aliases = [alias for alias in row.op.aliases if alias not in by_hand]
            names += [f"    {alias} = {owner}{row.op.name}" for alias in aliases]
    if names:
        yield Piece("aliases", tuple(names))
    yield Piece("words", ("accept_words(vars(Methods).values(), method=True)",), gap=2)


def export_pieces(rows: Sequence[Row]) -> Iterator[Piece]:
    """The import of every function, and their names in `__all__`."""
    sources: dict[str, list[str]] = {}
    for row in rows:
        if not row.space:
            source = row.place[0] if row.is_written else "treadle.functions"
            sources.setdefault(source, []).extend((row.op.name, *row.op.aliases))
    imports: list[str] = []
    for source in sorted(sources):
        names = ", ".join(sorted(sources[source]))
        imports += [f"from {source} import (", *_filled(f"{names},"), ")"]
    yield Piece("imports", tuple(imports), group="imports")
    names = ", ".join(f'"{name}"' for name in sorted(n for part in sources.values() for n in part))
    yield Piece("names", ("__all__ += [", *_filled(f"{names},"), "]"))


def _imports(rows: Sequence[Row], always: Iterable[tuple[str, str]]) -> Piece:
    """Every import that the generated definitions need, as isort sorts them."""
    plain: dict[str, set[str]] = {}
    for module, name in (*always, *(x for row in rows for x in row.signature.imports)):
        plain.setdefault(module, set()).add(name)
    lines = {
        f"from {module} import {', '.join(sorted(names, key=_as_sorted))}": module
        for module, names in plain.items()
    }  # fmt: skip
    for module, name in dict.fromkeys(row.place for row in rows):
        package, _, last = module.rpartition(".")
        if name.startswith("TABLE["):
            lines["from treadle.ops.defs import TABLE"] = module
        elif package:
            lines[f"from {package} import {last} as {alias_of(module)}"] = f"{package}\0{last}"
        else:
            lines[f"import {last} as {alias_of(module)}"] = last
    groups: list[list[str]] = [[], [], []]
    for line, key in sorted(lines.items(), key=lambda pair: pair[1]):
        groups[_group(key.partition("\0")[0])].append(line)
    found = [line for group in groups if group for line in ("", *group)]
    return Piece("imports", (*found[1:], ""), group="imports")


def _as_sorted(name: str) -> tuple[bool, str]:
    """How linters want imports: names in capitals first."""
    return not name.isupper(), name


def _group(module: str) -> int:
    """Standard library, Treadle, the package itself."""
    root = module.partition(".")[0]
    return 0 if root in sys.stdlib_module_names else 1 if root == "treadle" else 2


def _docstring(doc: str, indent: int = 4) -> list[str]:
    """A docstring in quotes, no line too long."""
    room = WIDTH - indent
    quotes = 'r"""' if "\\" in doc else '"""'
    lines = f"{quotes}{doc}".split("\n")
    if len(lines) == 1:
        if len(lines[0]) + 3 <= room:
            return [f'{lines[0]}"""']
        return [*textwrap.wrap(lines[0], room - 3), '"""']
    wrapped = [textwrap.wrap(line, room) if len(line) > room else [line] for line in lines]
    return [*(part for parts in wrapped for part in parts), '"""']


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


# ---- pages


def page_pieces(rows: Sequence[Row], package: str = "td") -> Iterator[Piece]:
    """The reference: a section for each module of rows, an entry for each row."""
    for module, members in sections_of(rows).items():
        about = inspect.cleandoc(importlib.import_module(module).__doc__ or "").split("\n")[0]
        title = module.rpartition(".")[2].replace("_", " ").capitalize()
        yield Piece(f"section-{module.rpartition('.')[2]}", (f"## {title}", "", about))
        for row in members:
            yield Piece(row.op.name, tuple(page_of(row, package)))


def page_of(row: Row, package: str = "td") -> list[str]:
    """The entry of a row."""
    op = row.op
    space = f"{package}.{row.space}" if row.space else package
    head = f"{space}.{op.name}({', '.join(row.signature.written())}) -> {row.signature.result()}"
    return [
        f"### {op.name}", "", "```text", *textwrap.wrap(head, WIDTH, subsequent_indent="    "),
        "```", "", *_prose(row.doc), "", *_facts(row),
    ]  # fmt: skip


def _prose(doc: str) -> list[str]:
    """Documentation for a page: examples become blocks of code."""
    parts = [
        f"```pycon\n{part}\n```" if part.startswith(">>>") else part for part in doc.split("\n\n")
    ]
    return "\n\n".join(parts).split("\n")


def _facts(row: Row) -> list[str]:
    op = row.op
    facts = []
    if op.aliases:
        facts.append(f"- also: {', '.join(f'`{alias}`' for alias in op.aliases)}")
    facts.append(f"- kind: {op.kind.name.lower()}, {op.kind.value}")
    if not row.is_written:
        slope = f"none, {op.grad}" if isinstance(op.grad, str) else (
            "a rule of its own" if op.grad else "follows from the definition")  # fmt: skip
        facts.append(f"- gradient: {slope}")
        facts.append(f"- dtypes: {dtype_text(op)}")
    if op.kind is Kind.ELEMENTWISE and op.flops != 1:
        facts.append(f"- cost: about {op.flops:g} operations an element")
    return facts


def support_pieces(rows: Sequence[Row]) -> Iterator[Piece]:
    """The matrix of op, dtype and device: a table for each module of rows."""
    for module, members in sections_of(rows).items():
        last = module.rpartition(".")[2]
        table = Support([row.op for row in members if not row.is_written])
        if table.ops:
            title = last.replace("_", " ").capitalize()
            yield Piece(last, (f"## {title}", "", *table.markdown()))


# ---- files


@dataclass(frozen=True)
class Target:
    """A file with generated blocks, and what it holds when there is none yet."""

    path: Path
    pieces: tuple[Piece, ...]
    empty: str

    @property
    def markdown(self) -> bool:
        """Are markers HTML comments?"""
        return self.path.suffix == ".md"


HEAD = """

from __future__ import annotations

# <gen imports>
# </gen imports none>"""
FUNCTIONS = f'"""The ops of the table as typed functions."""{HEAD}\n'
METHODS = f'''"""The ops of the table as methods of a tensor."""{HEAD}


class Methods(Syntax):
    """Every op that can be called on its first operand."""

    __slots__ = ()
'''


def own_targets(root: Path) -> list[Target]:
    """Treadle's own files: functions, methods, exports, two pages."""
    rows, source = own_rows(), root / "src" / "treadle"
    top = [row for row in rows if not row.space or row.is_written]
    spaces = {name: [row for row in rows if row.space == name] for name in ("linalg", "fft")}
    return [
        Target(source / "functions.py", tuple(function_pieces(top)), FUNCTIONS),
        *(
            Target(source / name / "functions.py", tuple(function_pieces(own)), FUNCTIONS)
            for name, own in spaces.items()
        ),
        Target(source / "tensor" / "methods.py", tuple(method_pieces(top)), METHODS),
        Target(source / "__init__.py", tuple(export_pieces(rows)), ""),
        Target(root / "docs" / "ops.md", tuple(page_pieces(rows)), "# Ops\n"),
        Target(root / "docs" / "support.md", tuple(support_pieces(rows)), "# Support\n"),
    ]


def outside_targets(table: Mapping[str, Op], into: Path) -> list[Target]:
    """Another package's files: its functions and its reference page."""
    rows = rows_of(table)
    return [
        Target(into / "functions.py", tuple(function_pieces(rows)), FUNCTIONS),
        Target(into / "ops.md", tuple(page_pieces(rows, into.name)), f"# Ops of {into.name}\n"),
    ]
