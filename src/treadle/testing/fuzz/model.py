"""What every name in a program must mean, statement by statement, without any laziness.

Names are bound to values that never change. Tensors are evaluated by the reference backend one
statement at a time, from values alone: nothing pends, nothing is compiled, no memory is shared.
Assignments to items are NumPy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

import treadle
from treadle.backends.reference.backend import Memory
from treadle.backends.reference.eval import evaluate
from treadle.base.device import device
from treadle.base.errors import TreadleError
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node, definition, leaf, type_of
from treadle.ops.defs import Kind
from treadle.tensor.tensor import Tensor
from treadle.testing.arrays import unit_roundoff
from treadle.testing.fuzz.bounds import RULES, Facts, Unfit, Value, bound, grain, largest
from treadle.testing.fuzz.heads import ALL_LINES
from treadle.testing.fuzz.program import Printer, Program, Statement, data, filled

REFERENCE = device("reference")
MAKERS = ("tensor", "zeros", "ones", "full", "arange", "eye", "from_numpy", "asarray")
MOST_ELEMENTS = 1 << 20  # of any value on the way
MOST_INSIDE = 1 << 22  # of values in the definitions of ops: all windows of an image, say


UNFIT = (TreadleError, TypeError, ValueError, IndexError, ArithmeticError, MemoryError)


class Elsewhere:
    """The public names of treadle, with new tensors on another device."""

    def __init__(self, where: str, compiles: bool) -> None:
        self._where = where
        if not compiles:
            self.compile = lambda function: function

    def __getattr__(self, name: str) -> Any:
        found = getattr(treadle, name)
        if name == "from_numpy":
            return lambda array: treadle.tensor(array, device=self._where)
        if name in MAKERS:
            return lambda *args, **options: found(*args, **options, device=self._where)
        return found


PLAIN = Elsewhere("reference", compiles=False)


@lru_cache(maxsize=4096)
def code_of(text: str, mode: str = "eval") -> CodeType:
    """Python text, compiled once."""
    return compile(text, "<program>", mode)


class Model:
    """The values of names, as statements go by."""

    def __init__(self, followed: bool = False) -> None:
        self.followed = followed  # is a slope taken of what is computed?
        self.cells: dict[str, list[Value]] = {}  # lists of one: parameters share an argument's
        self.functions: dict[str, Statement] = {}

    def __getitem__(self, name: str) -> Value:
        return self.cells[name][0]

    def __contains__(self, name: str) -> bool:
        return name in self.cells

    def run(self, program: Program) -> list[dict[str, Value]]:
        """What each statement of a program bound."""
        return [self.execute(s) for s in program.statements]

    def execute(self, s: Statement) -> dict[str, Value]:
        """The names that a statement binds, with what they mean from here on."""
        if any(name not in self.cells and name not in self.functions for name in s.operands):
            raise Unfit("a name without a meaning")
        try:
            with np.errstate(all="ignore"):
                found: dict[str, Value] = getattr(self, f"_{s.form}")(s)
        except UNFIT as error:
            raise Unfit(str(error)) from error
        return found

    def _bind(self, names: Sequence[str], values: Sequence[Value]) -> dict[str, Value]:
        if len(names) != len(values):
            raise Unfit("more names than values")
        for name, value in zip(names, values, strict=True):
            self.cells[name] = [value]
        return dict(zip(names, values, strict=True))

    def _value(self, s: Statement) -> dict[str, Value]:
        return self._bind(s.targets, self.computed(s))

    _share = _story = _value

    def _number(self, s: Statement) -> dict[str, Value]:
        (value,) = self.computed(s)
        if value.size != 1:
            raise Unfit("not a number")
        return self._bind(s.targets, [Value(value.array.reshape(()), value.error, "number")])

    def _array(self, s: Statement) -> dict[str, Value]:
        made = eval(code_of(s.text), {"np": np, "data": data})
        return self._bind(s.targets, [Value(np.ascontiguousarray(made), form="array")])

    def _view(self, s: Statement) -> dict[str, Value]:
        value = self[s.operands[0]]
        return self._bind(s.targets, [Value(value.array, value.error, "array")])

    def _assign(self, s: Statement) -> dict[str, Value]:
        (value,) = self.computed(s)
        cell = self.cells[s.operands[0]]
        if value.shape != cell[0].shape or value.dtype is not cell[0].dtype:
            raise Unfit("another type")
        cell[0] = value
        return {s.operands[0]: value}

    def _item(self, s: Statement) -> dict[str, Value]:
        cell = self.cells[s.operands[0]]
        before = cell[0]
        arrays = [np.array(before.array)] + [self[name].array for name in s.operands[1:]]
        names = [f"v{k}" for k in range(len(arrays))]
        scope: dict[str, Any] = {"np": np, **dict(zip(names, arrays, strict=True))}
        exec(code_of(filled(s.text, names), "exec"), scope)
        cell[0] = Value(arrays[0], max(self[name].error for name in s.operands))
        if largest(cell[0].array) > 1e6 and before.dtype.is_float:
            raise Unfit("too large")
        return {s.operands[0]: cell[0]}

    def _define(self, s: Statement) -> dict[str, Value]:
        if any(name not in self.cells for name in s.inner_names()):
            raise Unfit("a name without a meaning")
        self.functions[s.targets[0]] = s
        return {}

    def _call(self, s: Statement) -> dict[str, Value]:
        called = self.functions[s.operands[0]]
        arguments = s.operands[1:]
        if len(arguments) != len(called.params):
            raise Unfit("other arguments")
        inner = Model()
        inner.cells = dict(self.cells)
        inner.cells |= {p: self.cells[a] for p, a in zip(called.params, arguments, strict=True)}
        outer = {id(cell): name for name, cell in self.cells.items()}
        changed: dict[str, Value] = {}
        for part in called.body[:-1]:
            for name, value in inner.execute(part).items():
                known = outer.get(id(inner.cells[name]))
                if known is not None:
                    changed[known] = value
        returned = [inner[name] for name in called.body[-1].operands]
        return changed | self._bind(s.targets, returned)

    def _do(self, s: Statement) -> dict[str, Value]:
        if s.kind == "del":
            for name in s.operands:
                del self.cells[name]
        return {}

    # ---- tensors

    def computed(self, s: Statement) -> list[Value]:
        """The tensors that a statement's text stands for."""
        if s.body:
            self._try_body(s)
        inputs = [self[name] for name in s.operands]
        if s.kind == "nested gradient" and len({x.shape for x in inputs}) > 1:
            raise Unfit("other shapes than it is written for")
        names = [f"v{k}" for k in range(len(inputs))]
        scope: dict[str, Any] = {"td": PLAIN, "np": np, "data": data}
        if s.form == "story" or s.body:
            exec(code_of(ALL_LINES, "exec"), scope)
        scope |= {n: reference_object(x) for n, x in zip(names, inputs, strict=True)}
        text = filled(s.meaning or s.text, names, f=s.function if s.body else "")
        if s.body:
            around = sorted(s.inner_names())
            scope |= {name: reference_object(self[name]) for name in around}
            inputs = inputs + [self[name] for name in around]
            exec(_definition(s), scope)
        result = eval(code_of(text), scope)
        tensors = result if isinstance(result, tuple | list) else (result,)
        if s.form == "value" and any(t is x for t in tensors for x in scope.values()):
            raise Unfit("another name of the same tensor")
        if self.followed and RULES[s.rule].bends and any(x.error for x in inputs):
            raise Unfit("bends on inexact values")
        return values_of(tensors, inputs, s.rule)

    def function_of(self, s: Statement) -> Any:
        """The function of a statement's body, on the reference backend."""
        scope: dict[str, Any] = {"td": PLAIN, "np": np, "data": data}
        scope |= {name: reference_object(self[name]) for name in s.inner_names()}
        exec(_definition(s), scope)
        return scope[s.function]

    def _try_body(self, s: Statement) -> None:
        """Raise Unfit if a statement of a function whose slope is taken is."""
        if any(name not in self.cells for name in s.inner_names()):
            raise Unfit("a name without a meaning")
        if len(set(s.operands)) < len(s.operands):
            raise Unfit("slopes by one tensor twice")
        inner = Model(followed=True)
        inner.cells = {name: [self[name]] for name in s.inner_names()}
        start = [self[a] for a in s.operands]
        if s.kind == "trained":
            start = _after_steps(start, [self[name] for name in s.inner_names()])
        inner.cells |= {p: [x] for p, x in zip(s.params, start, strict=True)}
        for part in s.body[:-1]:
            inner.execute(part)


def _after_steps(values: Sequence[Value], others: Sequence[Value]) -> list[Value]:
    """What parameters are once they were changed: a little off, unless all numbers are round."""
    floats = [x for x in (*values, *others) if x.dtype.is_float]
    if all(grain(x.array) for x in floats):
        return list(values)
    return [replace(x, error=max(x.error, unit_roundoff(x.dtype))) for x in values]


def _definition(s: Statement) -> CodeType:
    plain = Printer(compiles=False)
    return code_of("\n".join(plain._function(s, s.function)), "exec")


def reference_object(value: Value) -> Any:
    """A value as a program on the reference backend sees it."""
    if value.form == "tensor":
        type_ = type_of(value.shape, value.dtype, REFERENCE)
        return Tensor(leaf(type_, Memory(value.array)))
    return value.array if value.form == "array" else value.array.item()


def values_of(tensors: Sequence[Tensor], inputs: Sequence[Value], rule: str) -> list[Value]:
    """The values of tensors on the reference backend, with their bounds."""
    if any(not isinstance(t, Tensor) for t in tensors):
        raise Unfit("no tensor")
    roots = [t._node for t in tensors]
    order = toposort(roots, lambda n: n.buffer is not None)
    if any(n.op is LEAF and n.buffer is None for n in order):
        raise Unfit("no value")
    if any(n.type.size > MOST_ELEMENTS for n in order) or _largest_inside(order) > MOST_INSIDE:
        raise Unfit("too many elements")
    made = dict(zip(order, evaluate(order, _memory), strict=True))
    peak = max((largest(x) for x in made.values() if x.dtype.kind not in "iub"), default=0.0)
    coarsest = max(unit_roundoff(n.dtype) for n in order)
    exact = all(x.is_exact for x in inputs) and _keeps_every_bit(order, made)
    return [
        Value(made[root], bound(RULES[rule], facts, exact), kind=root.dtype)
        for root in roots
        for facts in [Facts(inputs, made[root], root.dtype, peak, len(order), coarsest)]
    ]


def _largest_inside(order: Sequence[Node]) -> int:
    """How many elements the largest value has that definitions of ops go through."""
    found = 0
    for node in order:
        if node.op.kind is Kind.COMPOSITE:
            inside = toposort([definition(node)], set(node.operands).__contains__)
            found = max(found, _largest_inside(inside), *(n.type.size for n in inside))
    return found


def _keeps_every_bit(order: Sequence[Node], made: dict[Node, Any]) -> bool:
    """Is no node rounded: does computing in float64 give the same?"""
    if not any(n.dtype.is_float for n in order):
        return True
    precise = evaluate(order, _memory, precise=True)
    return all(
        grain(x) and np.array_equal(made[n].astype(x.dtype), x)
        for n, x in zip(order, precise, strict=True)
        if n.dtype.is_float
    )


def _memory(node: Node) -> Any:
    return node.buffer.array
