"""How a row is called, as text: names, types and defaults of its arguments, and what it gives."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from treadle.ops.defs import Elementwise, Kind, Op
from treadle.ops.words import Words

WORDS = {("typing", "Unpack"), ("treadle.ops.words", "Words")}
STAR, NAMED = Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY
WIDTH = 100


@dataclass(frozen=True)
class Argument:
    """One argument as it is written in a definition."""

    name: str
    kind: Any  # as inspect.Parameter has them
    type: str
    default: str | None
    is_operand: bool

    def __str__(self) -> str:
        star = "*" if self.kind is STAR else ""
        default = "" if self.default is None else f" = {self.default}"
        return f"{star}{self.name}: {self.type}{default}"

    def passed(self) -> str:
        """How the argument is handed on."""
        if self.kind is STAR:
            return f"*{self.name}"
        return f"{self.name}={self.name}" if self.kind is NAMED else self.name


@dataclass
class Signature:
    """Arguments and result of a row, and the (module, name) pairs their types must import."""

    arguments: list[Argument] = field(default_factory=list)
    returns: str = "Tensor"
    imports: set[tuple[str, str]] = field(default_factory=set)

    def definition(self, name: str, method: bool = False) -> list[str]:
        """`def name(...) -> ...:` in as many lines as it takes."""
        width, parts = WIDTH - 4 if method else WIDTH, self.written(method)
        if self.takes_words:
            parts.append(f"**words: {'Any' if self.own_words else 'Unpack[Words]'}")
        return wrapped(f"def {name}(", parts, f") -> {self.result(method)}:", width)

    @property
    def takes_words(self) -> bool:
        """May PyTorch's words come too? Not beside any number of operands."""
        return not any(a.kind is STAR and a.is_operand for a in self.arguments)

    @property
    def own_words(self) -> bool:
        """Is one of PyTorch's words the name of an argument here?"""
        return any(argument.name in Words.__annotations__ for argument in self.arguments)

    def with_words(self) -> Signature:
        """Itself, with what its words must import."""
        if self.takes_words:
            self.imports |= {("typing", "Any")} if self.own_words else WORDS
        return self

    def written(self, method: bool = False) -> list[str]:
        """Every argument with type and default."""
        parts: list[str] = []
        for argument in self.arguments:
            if argument.kind is NAMED and not any("*" in part[:1] for part in parts):
                parts.append("*")
            parts.append(str(argument))
        if not method:
            return parts
        return ["self", *(part.replace("Tensor", "Self") for part in parts[1:])]

    def result(self, method: bool = False) -> str:
        """The type of the result."""
        return self.returns.replace("Tensor", "Self") if method else self.returns

    def call(self, target: str, method: bool = False) -> list[str]:
        """`return target(...)` with all arguments; apart, with words that are not ours."""
        names, width = [argument.passed() for argument in self.arguments], WIDTH - 4 - 4 * method
        if method:
            names[0] = "self"
        plain = wrapped(f"return {target}(", names, ")", width)
        if not self.takes_words:
            return plain
        worded = wrapped(f"return {target}(", [*names, "**words"], ")", width - 4)
        return ["if words:", *(f"    {line}" for line in worded), *plain]


def wrapped(before: str, parts: Sequence[str], after: str, width: int) -> list[str]:
    """A bracketed list in one line, three, or one a part: as the formatter writes it."""
    line = f"{before}{', '.join(parts)}{after}"
    if len(line) <= width:
        return [line]
    inner = "    " + ", ".join(parts)
    if len(inner) <= width:
        return [before, inner, after]
    return [before, *(f"    {part}," for part in parts), after]


def signature_of(op: Op) -> Signature:
    """The signature of a row: its definition's, its arguments', or its reference's."""
    found = Signature()
    source = op.define or op.arguments
    if source is None:
        names = list(inspect.signature(op.reference).parameters)[1:] if op.reference else []
        kind = "Tensor | float" if len(names) > 1 and isinstance(op, Elementwise) else "Tensor"
        plain = Parameter.POSITIONAL_OR_KEYWORD
        found.arguments = [Argument(name, plain, kind, None, True) for name in names]
        return found.with_words()
    writer = _Types(source, found.imports)
    parameters = list(inspect.signature(source).parameters.values())
    for position, parameter in enumerate(parameters):
        operand = _is_operand(op, position, parameter)
        kind = writer.text(parameter.annotation, operand)
        if operand and _takes_numbers(op, position):
            kind = kind.replace("Tensor", "Tensor | float")
        default = parameter.default
        if operand and default is None and "None" not in kind:
            kind += " | None"
        shown = None if default is parameter.empty else writer.value(default)
        found.arguments.append(Argument(parameter.name, parameter.kind, kind, shown, operand))
    if op.define is not None:
        found.returns = writer.text(inspect.signature(source).return_annotation, operand=True)
    return found.with_words()


def _takes_numbers(op: Op, position: int) -> bool:
    """May a number stand for this operand? In what broadcasts, and where a sample has no axes."""
    if op.define is None or len(op.operands) < 2:
        return isinstance(op, Elementwise) and op.arity > 1
    if not op.samples.cases:
        return True
    shapes = [case[position] for case in op.samples.cases if position < len(case) - 1]
    return position > 0 and () in shapes and not op.samples.role(position)


def _is_operand(op: Op, position: int, parameter: Parameter) -> bool:
    if op.kind in (Kind.CREATION, Kind.RANDOM):
        return False
    if parameter.kind is STAR:
        return position == (1 if op.samples.lead else 0)
    if op.define is not None:
        return parameter.name in op.operands and parameter.name != op.samples.lead
    whole = "Any" in str(parameter.annotation) and parameter.default is parameter.empty
    return position == 0 or whole


class _Types:
    """Annotations and defaults of one function as text that stands alone."""

    def __init__(self, source: Callable[..., Any], imports: set[tuple[str, str]]) -> None:
        self.space = getattr(inspect.unwrap(source), "__globals__", {})
        self.imports = imports

    def text(self, annotation: Any, operand: bool) -> str:
        """An annotation with its aliases written out; Any is a tensor where an operand stands."""
        if annotation is inspect.Signature.empty:
            annotation = "Any"
        if not isinstance(annotation, str):
            annotation = _plain(annotation)
        tree = _Spelled(self, operand).visit(ast.parse(annotation, mode="eval"))
        return ast.unparse(tree)

    def name(self, node: ast.Name, operand: bool) -> ast.expr:
        """A name of an annotation as it is written elsewhere."""
        name = node.id
        if name == "Any":
            return self.imported("typing", "Any") if not operand else ast.Name("Tensor")
        value = self.space.get(name)
        if value is None:
            if name in ("Sequence", "Callable", "Iterable"):
                return self.imported("collections.abc", name)
            return node
        if isinstance(value, type) and not hasattr(value, "__origin__"):
            return node if name == "Tensor" else self.imported(value.__module__, name)
        if name == "Literal":
            return self.imported("typing", name)
        alias = ast.parse(_plain(value), mode="eval").body
        return _Spelled(self, operand).visit(alias)

    def value(self, default: Any) -> str:
        """A default: a literal, or the name of what it is."""
        if isinstance(default, float) and not math.isfinite(default):
            return f'float("{default}")'
        if isinstance(default, str):
            return f'"{default}"'
        shown = repr(default)
        try:
            ast.literal_eval(shown)
        except (ValueError, SyntaxError):
            names = [name for name, value in self.space.items() if value is default]
            if not names:
                return shown  # good enough to read; a definition must name its default
            self.imported(_home(default, names[0]), names[0])
            return names[0]
        return shown

    def imported(self, module: str, name: str) -> ast.Name:
        """A name that must be imported from a module."""
        self.imports.add((module, name))
        return ast.Name(name)


class _Spelled(ast.NodeTransformer):
    def __init__(self, types: _Types, operand: bool) -> None:
        self.types, self.operand = types, operand

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name, or the alias it stands for."""
        return self.types.name(node, self.operand)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """A class with its module, as types are printed."""
        module, _, name = ast.unparse(node).rpartition(".")
        return self.types.imported(module, name)


def _plain(annotation: Any) -> str:
    """A type as it would be written in a module."""
    text = annotation.__name__ if isinstance(annotation, type) and not hasattr(
        annotation, "__origin__") else str(annotation)  # fmt: skip
    for prefix in ("collections.abc.", "typing.", "NoneType"):
        text = text.replace(prefix, "None" if prefix == "NoneType" else "")
    return text


def _home(value: Any, name: str) -> str:
    """A module that offers a value under a name: the one it was made in, if that can be seen."""
    own = [getattr(value, "__module__", ""), getattr(type(value), "__module__", "")]
    offers = _offering(value, name)
    return next((module for module in own if module in offers), next(iter(offers)))


def _offering(value: Any, name: str) -> dict[str, None]:
    modules = list(sys.modules.items())
    return {key: None for key, module in modules if vars(module).get(name) is value}


def place_of(op: Op) -> tuple[str, str]:
    """(module, name) under which a row can be imported."""
    if op.kind in (Kind.CREATION, Kind.RANDOM) and op.define is not None:
        return op.define.__module__, op.define.__name__
    makers = (op.define, op.arguments, op.reference, op.grad, op.types)
    likely = [getattr(maker, "__module__", "") for maker in makers if callable(maker)]
    for module in dict.fromkeys((*likely, *_packages(likely))):
        for name, value in vars(sys.modules.get(module, ast)).items():
            if value is op:
                return module, name
    return "treadle.ops.defs", f'TABLE["{op.name}"]'


def _packages(likely: Iterable[str]) -> list[str]:
    roots = {"treadle", *(module.split(".")[0] for module in likely)}
    return sorted(name for name in sys.modules if name.split(".")[0] in roots)
