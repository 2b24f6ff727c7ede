"""Lazy values computed: a graph is found by its structure, compiled once, run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.backends.registry import Program, backend_of
from treadle.base import trace
from treadle.base.errors import ArgumentError, explain
from treadle.base.knobs import DEBUG
from treadle.ir.graph import Structure, structure, substitute
from treadle.ir.node import Call, Node, placeholder
from treadle.passes.pipeline import simplify
from treadle.runtime.explain import show_compiled

MOST_PROGRAMS = 4096
_PROGRAMS: dict[Structure, Program] = {}
_SINGLE: dict[Call, Program] = {}
HINT = "return the tensor instead of reading it (item, numpy, print, if) inside the function"


class _Traced:
    """Stands for the memory of an argument while a function is traced: nobody can read it."""

    def __getattr__(self, name: str) -> object:
        raise ArgumentError(explain("compile", "a value was asked for while tracing", HINT))


TRACED = _Traced()


def realize(nodes: Sequence[Node]) -> None:
    """Compute nodes that are not in memory yet, all together."""
    pending = [node for node in nodes if node.buffer is None]
    if not pending:
        return
    key, leaves = structure(pending)
    program = _PROGRAMS.get(key)
    if program is None:
        program = _remember(key, pending, leaves)
    buffers = program.run([leaf.buffer for leaf in leaves])
    for node, buffer in zip(pending, buffers, strict=True):
        node.buffer = buffer
        if not node.needs_grad or node.owner is not None:
            node.operands = ()


def realize_one(node: Node) -> None:
    """The same for one node; one op on values in memory is found by its Call alone."""
    operands = node.operands
    if len(operands) == 2:
        a, b = operands
        if a.buffer is not None and b.buffer is not None and a is not b:
            program = _SINGLE.get(node.call)
            if program is None:
                program = compile_graph([node], operands, {})
                _bound(_SINGLE)
                _SINGLE[node.call] = program
            node.buffer = program.run((a.buffer, b.buffer))[0]
            if not node.needs_grad:
                node.operands = ()
            return
    key, leaves = structure((node,))
    program = _PROGRAMS.get(key)
    if program is None:
        realize((node,))
        return
    node.buffer = program.run([leaf.buffer for leaf in leaves])[0]
    if not node.needs_grad or node.owner is not None:
        node.operands = ()


def in_memory(node: Node) -> bool:
    """Is the value there to be read?"""
    return node.buffer is not None and node.buffer is not TRACED


def _remember(key: Structure, pending: Sequence[Node], leaves: Sequence[Node]) -> Program:
    program = compile_graph(pending, leaves, {})
    _bound(_PROGRAMS)
    _PROGRAMS[key] = program
    return program


def _bound(programs: dict[Any, Program]) -> None:
    """Make room for one more: forget the older half where there are too many."""
    if len(programs) >= MOST_PROGRAMS:
        for old in list(programs)[: MOST_PROGRAMS // 2]:
            programs.pop(old, None)


def compile_graph(
    roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[int, int]
) -> Program:
    """A program for roots over leaves; replaces maps the number of a root to that of a leaf."""
    if not DEBUG.value:
        return _compile(roots, leaves, replaces)
    with trace.listen() as report:
        program = _compile(roots, leaves, replaces)
    show_compiled(report)
    return program


def _compile(roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[int, int]) -> Program:
    places = [placeholder(leaf.type) for leaf in leaves]
    bare = substitute(roots, dict(zip(leaves, places, strict=True)))
    with trace.stage("simplify"):
        simple = simplify(bare)
    taken = {simple[r]: places[k] for r, k in replaces.items()}
    backend = backend_of(roots[0].device)
    return backend.compile(simple, places, taken)
