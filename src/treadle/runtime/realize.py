"""Lazy values computed: a graph is found by its structure, compiled once, run."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.registry import Program, backend_of
from treadle.base.errors import ArgumentError, explain
from treadle.ir.graph import Structure, structure, substitute
from treadle.ir.node import Node, placeholder
from treadle.passes.pipeline import simplify

MOST_PROGRAMS = 4096
TRACED = object()  # stands for the memory of an argument while a function is traced
HINT = "return the tensor instead of reading it (item, numpy, print, if) inside the function"
_PROGRAMS: dict[Structure, Program] = {}


def realize(nodes: Sequence[Node]) -> None:
    """Compute nodes that are not in memory yet, all together."""
    pending = [node for node in nodes if node.buffer is None]
    if not pending:
        return
    key, leaves = structure(pending)
    program = _PROGRAMS.get(key)
    if program is None:
        program = _remember(key, pending, leaves)
    inputs = [leaf.buffer for leaf in leaves]
    if TRACED in inputs:
        raise ArgumentError(explain("compile", "a value was asked for while tracing", HINT))
    buffers = program.run(inputs)
    for node, buffer in zip(pending, buffers, strict=True):
        node.buffer = buffer
        if not node.needs_grad or node.owner is not None:
            node.operands = ()


def in_memory(node: Node) -> bool:
    """Is the value there to be read?"""
    return node.buffer is not None and node.buffer is not TRACED


def _remember(key: Structure, pending: Sequence[Node], leaves: Sequence[Node]) -> Program:
    if len(_PROGRAMS) >= MOST_PROGRAMS:  # forget the older half
        for old in list(_PROGRAMS)[: MOST_PROGRAMS // 2]:
            del _PROGRAMS[old]
    program = _PROGRAMS[key] = compile_graph(pending, leaves, {})
    return program


def compile_graph(
    roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[int, int]
) -> Program:
    """A program for roots over leaves; replaces maps the number of a root to that of a leaf."""
    places = [placeholder(leaf.type) for leaf in leaves]
    bare = substitute(roots, dict(zip(leaves, places, strict=True)))
    simple = simplify(bare)
    taken = {simple[r]: places[k] for r, k in replaces.items()}
    backend = backend_of(roots[0].device)
    return backend.compile(simple, places, taken)
