"""Loops and branches over several devices: the host goes through them, a program for each body.

What a step makes is given to the next one. Results that are stacked are written one beside the
other as they come.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from treadle.backends.registry import Program, backend_of
from treadle.base.device import Device
from treadle.base.dtypes import int64
from treadle.ir.graph import substitute
from treadle.ir.node import Node, Type, full, placeholder, type_of
from treadle.ir.region import Branch, Loop, bodies_of
from treadle.ops.composite import take
from treadle.ops.contract import scatter

Make = Callable[[Sequence[Node], Sequence[Node], dict[int, int]], Program]
"""(roots, leaves, which root is written over which leaf) -> their program."""


def stepped(node: Node, wanted: Sequence[int], make: Make) -> Steps | Choice:
    """The program of a loop or branch, from its operands to those results that are wanted."""
    spec: Loop | Branch = node.arg
    return Steps(spec, wanted, make) if isinstance(spec, Loop) else Choice(node, wanted, make)


def _number(value: int, device: Device) -> Any:
    """Memory with the number of a step."""
    return backend_of(device).upload(array("q", [value]), _number_type(device), copy=True)


def _number_type(device: Device) -> Type:
    return type_of((1,), int64, device)


def _value(memory: Any, type_: Type) -> int:
    """One number that lies on a device; waits for it."""
    return int(backend_of(type_.device).download(memory, type_).item())


class Steps:
    """A loop: its steps one after the other."""

    overwrites: frozenset[int] = frozenset()

    def __init__(self, spec: Loop, wanted: Sequence[int], make: Make) -> None:
        self.spec, self.wanted = spec, wanted
        params, first = spec.body.params, spec.carries + spec.xs
        slices = params[spec.carries : first]
        stacks = [placeholder(_stack(spec, x.type)) for x in slices]
        self.ends = [x.type for x in spec.body.results]
        self.numbers = list(dict.fromkeys(x.device for x in slices))
        at = {device: placeholder(_number_type(device)) for device in self.numbers}
        rows = [take(x, at[x.device], axis=0).reshape(x.shape[1:]) for x in stacks]
        results = substitute(spec.body.results, dict(zip(slices, rows, strict=True)))
        leaves = [*params[: spec.carries], *stacks, *params[first:], *at.values()]
        self.program = make(results, leaves, {})
        self.rows = {k: Rows(spec.result(k), make) for k in wanted if k >= spec.carries}

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """The wanted results from the operands, added to results if they are given."""
        spec, count = self.spec, len(self.spec.body.params)
        carries, others = list(inputs[: spec.carries]), list(inputs[spec.carries : count])
        stacks: dict[int, Any] = dict.fromkeys(self.rows)
        going = not spec.flagged or bool(_value(inputs[-1], self.ends[-1]))
        done = 0
        while going and done < spec.length:
            k = spec.length - 1 - done if spec.reverse else done
            numbers = [_number(k, device) for device in self.numbers]
            found = self.program.run([*carries, *others, *numbers])
            carries = found[: spec.carries]
            for n, rows in self.rows.items():
                stacks[n] = rows.written(stacks[n], found[n], k)
            going = not spec.flagged or bool(_value(found[-1], self.ends[-1]))
            done += 1
        if not done:  # what comes out is what went in, in memory of its own
            ends = zip(carries, self.ends, strict=False)
            carries = [backend_of(type_.device).copy(x) for x, type_ in ends]
        made = [carries[k] if k < spec.carries else stacks[k] for k in self.wanted]
        if results is not None:
            results += made
        return made


def _stack(spec: Loop, type_: Type) -> Type:
    return type_of((spec.length, *type_.shape), type_.dtype, type_.device)


class Rows:
    """What steps leave of one result: a stack that each writes a row of."""

    def __init__(self, type_: Type, make: Make) -> None:
        self.device = type_.device
        stack, at = placeholder(type_), placeholder(_number_type(type_.device))
        row = placeholder(type_of(type_.shape[1:], type_.dtype, type_.device))
        shape = 1, *row.shape
        index = at.reshape((1,) * len(shape)).expand(shape)
        first, later = (
            scatter(x, index, row.reshape(shape), axis=0) for x in (full(0, type_), stack)
        )
        self.first = make([first], [row, at], {})
        self.later = make([later], [stack, row, at], {0: 0})

    def written(self, stack: Any, row: Any, k: int) -> Any:
        """The stack with row k; the first one makes it."""
        at = _number(k, self.device)
        program, given = (self.first, []) if stack is None else (self.later, [stack])
        (found,) = program.run([*given, row, at])
        return found


class Choice:
    """A branch: one of its bodies."""

    overwrites: frozenset[int] = frozenset()

    def __init__(self, node: Node, wanted: Sequence[int], make: Make) -> None:
        self.index = node.operands[0].type
        bodies = bodies_of(node.arg)
        self.programs = [make([x.results[k] for k in wanted], x.params, {}) for x in bodies]

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """The wanted results from the operands, added to results if they are given."""
        chosen = min(max(_value(inputs[0], self.index), 0), len(self.programs) - 1)
        return self.programs[chosen].run(inputs[1:], results)
