"""Functions in a small part of Python as LLVM IR: how long algorithms on matrices are written.

A function has annotated parameters: `int`, `float` (a real), `Scalar` (an element of the matrices:
real or complex), addresses `Array` (of Scalars), `Reals` and `Integers`. It knows assignments,
`if`, `while`, `for i in range(...)`, arithmetic, comparisons, `a[i]`, and `a + i` for the address
of an element. What it calls are functions of the same kind, the few of `BUILTINS`, and functions
with vectors in them, for which `vectorised` names who writes their text. Variables become stack
slots, which LLVM's passes turn into registers.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from treadle.backends.cpu.writer import Writer
from treadle.backends.cpu.written_builtins import BUILTINS
from treadle.backends.cpu.written_values import Arithmetic, Value
from treadle.base.dtypes import DType
from treadle.base.errors import CompilerError, explain
from treadle.base.target import Target

Scalar: TypeAlias = Any  # annotations of parameters
Array: TypeAlias = Any
Reals: TypeAlias = Any
Integers: TypeAlias = Any
Function = Callable[..., Any]
Text = Callable[[str, DType, Target], Sequence[Writer]]
"""(name, dtype, target) to the functions that it takes, the last by that name."""
VECTORS: dict[Function, Text] = {}

KINDS = {"int": "int", "float": "real", "bool": "bool", "Reals": "*real", "Integers": "*int"}


def vectorised(text: Text) -> Callable[[Function], Function]:
    """For real numbers a function is written by text; its Python says what it does, for others."""

    def marked(function: Function) -> Function:
        VECTORS[function] = text
        return function

    return marked


@cache
def _syntax(function: Function) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise CompilerError(explain("written", "no function", got=type(tree).__name__))
    return tree


def parameters_of(function: Function) -> dict[str, str]:
    """Names and annotations, in order."""
    return {x.arg: ast.unparse(x.annotation) for x in _syntax(function).args.args if x.annotation}


class Module:
    """Functions that an entry needs, each once."""

    def __init__(self, dtype: DType, target: Target, is_complex: bool = False) -> None:
        self.dtype, self.target = dtype, target
        self.field = "complex" if is_complex else "real"
        self.functions: dict[Function, str] = {}
        self.writers: dict[str, Writer] = {}

    def kind(self, annotation: str) -> str:
        """The kind of a value, from how a parameter is annotated."""
        if annotation in ("Scalar", "Array"):
            return self.field if annotation == "Scalar" else f"*{self.field}"
        return KINDS[annotation]

    def named(self, function: Function) -> str:
        """The symbol of a function; it is written on first use."""
        if function not in self.functions:
            name = self.functions[function] = function.__name__
            if self.field == "real" and function in VECTORS:
                for writer in VECTORS[function](name, self.dtype, self.target):
                    self.writers.setdefault(_symbol(writer), writer)
            else:
                self.writers[name] = _Body(self, function).written()
        return self.functions[function]

    def result_of(self, function: Function) -> str:
        """The kind of what it returns, or nothing."""
        returns = _syntax(function).returns
        text = ast.unparse(returns) if returns is not None else "None"
        return "" if text == "None" else self.kind(text)


def _symbol(writer: Writer) -> str:
    return writer.head.partition("@")[2].partition("(")[0]


def function_named(path: str) -> Function:
    """The function "module.name" below this folder."""
    module, _, name = path.rpartition(".")
    found: Function = getattr(importlib.import_module(f"treadle.backends.cpu.{module}"), name)
    return found


class Returning(Writer):
    """A function with a result, whose last block is never left by its end."""

    def __init__(self, name: str, params: Sequence[str], result: str) -> None:
        super().__init__(name, params, internal=True)
        self.result = result
        self.head = self.head.replace(" void ", f" {result} ", 1)

    def text(self) -> str:
        end = "  ret void" if self.result == "void" else "  unreachable"
        return "\n".join([self.head, "entry:", *self.entry, *self.lines, end, "}"])


class _Body:
    """One function on its way to text."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module, self.function, self.tree = module, function, _syntax(function)
        kinds = {n: module.kind(a) for n, a in parameters_of(function).items()}
        self.result = module.result_of(function)
        plain = Arithmetic(Writer("", ()), module.dtype)
        types = plain.types(self.result) if self.result else ("void",)
        result = types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"
        given = {
            n: [f"%{n}.{k}" for k in range(len(plain.types(kind)))] for n, kind in kinds.items()
        }
        params = [
            f"{t} {x}" for n, kind in kinds.items()
            for t, x in zip(plain.types(kind), given[n], strict=True)
        ]  # fmt: skip
        self.w = Returning(function.__name__, params, result)
        self.on = Arithmetic(self.w, module.dtype)
        self.slots: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.loops: list[tuple[str, str]] = []  # where continue and break lead
        for name, kind in kinds.items():
            self._set(name, Value(kind, tuple(given[name])))

    def written(self) -> Writer:
        """The whole function."""
        for statement in self.tree.body:
            self._statement(statement)
        return self.w

    # ---- variables

    def _set(self, name: str, value: Value) -> None:
        if name not in self.slots:
            types = self.on.types(value.kind)
            self.slots[name] = value.kind, tuple(self.w.alloca(t, 8) for t in types)
        kind, places = self.slots[name]
        value = self.on.converted(value, kind)
        for type_, part, place in zip(self.on.types(kind), value.parts, places, strict=True):
            self.w.store(type_, part, place, 8)

    def _get(self, name: str) -> Value:
        if name not in self.slots:
            found = self.function.__globals__.get(name)
            if isinstance(found, int):
                return Value("int", (str(found),))
            raise self._refused(f"no variable {name}")
        kind, places = self.slots[name]
        types = zip(self.on.types(kind), places, strict=True)
        return Value(kind, tuple(self.w.load(t, place, 8) for t, place in types))

    def _refused(self, wrong: str) -> CompilerError:
        return CompilerError(explain("written", wrong, function=self.function.__name__))

    # ---- statements

    def _statement(self, node: ast.stmt) -> None:
        name = type(node).__name__
        do = getattr(self, f"_do_{name.lower()}", None)
        if do is None:
            raise self._refused(f"no statement {name}")
        do(node)

    def _do_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._of_call(node.value)

    def _do_pass(self, node: ast.Pass) -> None:
        pass

    def _do_assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            values = [self._value(x) for x in node.value.elts]  # type: ignore[attr-defined]
            for place, value in zip(target.elts, values, strict=True):
                self._put(place, value)
        else:
            self._put(target, self._value(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        now = self._value(node.target)
        self._put(node.target, self.on.binary(type(node.op).__name__, now, self._value(node.value)))

    def _put(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value)
        elif isinstance(target, ast.Subscript):
            self.on.store(self._value(target.value), self._value(target.slice), value)

    def _do_return(self, node: ast.Return) -> None:
        w = self.w
        if node.value is None:
            w.do("ret void")
        else:
            value = self.on.converted(self._value(node.value), self.result)
            types = self.on.types(self.result)
            if len(types) == 1:
                w.do(f"ret {types[0]} {value.one}")
            else:
                pair = w.op(f"insertvalue {w.result} poison, {types[0]} {value.parts[0]}, 0")
                pair = w.op(f"insertvalue {w.result} {pair}, {types[1]} {value.parts[1]}, 1")
                w.do(f"ret {w.result} {pair}")
        w.start(w.fresh("after"))

    def _do_if(self, node: ast.If) -> None:
        w = self.w
        then, other, done = w.fresh("then"), w.fresh("else"), w.fresh("done")
        w.do(f"br i1 {self._truth(node.test)}, label %{then}, label %{other}")
        for label, body in ((then, node.body), (other, node.orelse)):
            w.start(label)
            for statement in body:
                self._statement(statement)
            w.do(f"br label %{done}")
        w.start(done)

    def _do_while(self, node: ast.While) -> None:
        w = self.w
        head, body, done = w.fresh("head"), w.fresh("body"), w.fresh("done")
        w.do(f"br label %{head}")
        w.start(head)
        w.do(f"br i1 {self._truth(node.test)}, label %{body}, label %{done}")
        w.start(body)
        self._looped(node.body, head, done)
        w.do(f"br label %{head}")
        w.start(done)

    def _do_for(self, node: ast.For) -> None:
        w, name = self.w, node.target.id  # type: ignore[attr-defined]
        given = [self._value(x) for x in node.iter.args]  # type: ignore[attr-defined]
        zero, one = Value("int", ("0",)), Value("int", ("1",))
        first, last = (zero, given[0]) if len(given) == 1 else given[:2]
        step = given[2] if len(given) == 3 else one
        head, body = w.fresh("head"), w.fresh("body")
        following, done = w.fresh("next"), w.fresh("done")
        self._set(name, first)
        w.do(f"br label %{head}")
        w.start(head)
        relation = "Gt" if step.one.startswith("-") else "Lt"
        more = self.on.compared(relation, self._get(name), last).one
        w.do(f"br i1 {more}, label %{body}, label %{done}")
        w.start(body)
        self._looped(node.body, following, done)
        w.do(f"br label %{following}")
        w.start(following)
        self._set(name, self.on.binary("Add", self._get(name), step))
        w.do(f"br label %{head}")
        w.start(done)

    def _looped(self, body: list[ast.stmt], following: str, done: str) -> None:
        self.loops.append((following, done))
        for statement in body:
            self._statement(statement)
        self.loops.pop()

    def _do_continue(self, node: ast.Continue) -> None:
        self._jump(self.loops[-1][0])

    def _do_break(self, node: ast.Break) -> None:
        self._jump(self.loops[-1][1])

    def _jump(self, label: str) -> None:
        self.w.do(f"br label %{label}")
        self.w.start(self.w.fresh("after"))

    # ---- expressions

    def _value(self, node: ast.expr) -> Value:
        name = type(node).__name__
        of = getattr(self, f"_of_{name.lower()}", None)
        if of is None:
            raise self._refused(f"no expression {ast.unparse(node)}")
        found: Value = of(node)
        return found

    def _of_constant(self, node: ast.Constant) -> Value:
        value: Any = node.value
        if isinstance(value, float):
            return self.on.number(value)
        return Value("bool" if isinstance(value, bool) else "int", (str(int(value)),))

    def _of_name(self, node: ast.Name) -> Value:
        return self._get(node.id)

    def _of_binop(self, node: ast.BinOp) -> Value:
        name = type(node.op).__name__
        return self.on.binary(name, self._value(node.left), self._value(node.right))

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        x = node.operand
        if isinstance(node.op, ast.Not):
            return Value("bool", (self.w.op(f"xor i1 {self._truth(x)}, true"),))
        if isinstance(x, ast.Constant) and isinstance(x.value, int):
            return Value("int", (str(-x.value),))
        return self.on.minus(self._value(x))

    def _of_compare(self, node: ast.Compare) -> Value:
        relation = type(node.ops[0]).__name__
        return self.on.compared(relation, self._value(node.left), self._value(node.comparators[0]))

    def _of_subscript(self, node: ast.Subscript) -> Value:
        return self.on.load(self._value(node.value), self._value(node.slice))

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        truth = Value("bool", (self._truth(node.test),))
        return self.on.select(truth, self._value(node.body), self._value(node.orelse))

    def _truth(self, node: ast.expr) -> str:
        return self._value(node).one

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        """The second is looked at only if the first leaves the answer open."""
        w, done = self.w, self.w.fresh("known")
        place = w.alloca("i1", 8)
        for x in node.values:
            truth = self._truth(x)
            w.store("i1", truth, place, 8)
            more = w.fresh("more")
            labels = (more, done) if isinstance(node.op, ast.And) else (done, more)
            w.do(f"br i1 {truth}, label %{labels[0]}, label %{labels[1]}")
            w.start(more)
        w.do(f"br label %{done}")
        w.start(done)
        return Value("bool", (w.load("i1", place, 8),))

    def _of_call(self, node: ast.Call) -> Value:
        name = node.func.id  # type: ignore[attr-defined]
        values = [self._value(x) for x in node.args]
        if name in BUILTINS:
            return BUILTINS[name](self.on, values)
        function = self.function.__globals__[name]
        kinds = [self.module.kind(a) for a in parameters_of(function).values()]
        if len(kinds) != len(values):
            raise self._refused(f"{name} takes {len(kinds)} arguments, not {len(values)}")
        fitted = [self.on.converted(x, kind) for x, kind in zip(values, kinds, strict=True)]
        args = [
            f"{t} {part}" for x in fitted
            for t, part in zip(self.on.types(x.kind), x.parts, strict=True)
        ]  # fmt: skip
        symbol, result = self.module.named(function), self.module.result_of(function)
        types = self.on.types(result) if result else ("void",)
        kind = types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"
        call = f"call {kind} @{symbol}({', '.join(args)})"
        if not result:
            self.w.do(call)
            return Value("void", ())
        found = self.w.op(call)
        if len(types) == 1:
            return Value(result, (found,))
        return Value(result, tuple(self.w.op(f"extractvalue {kind} {found}, {k}") for k in (0, 1)))
