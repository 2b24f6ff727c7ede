"""Lazy values computed: a graph is found by its structure, compiled once, run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from treadle.autograd.sample import SAMPLE
from treadle.backends.registry import RELIEF, Program, backend_of
from treadle.base import forks, trace
from treadle.base.errors import ArgumentError, explain
from treadle.base.knobs import MEANING
from treadle.base.watch import WATCH
from treadle.ir.graph import Structure, copied, is_realised, structure, toposort
from treadle.ir.node import LEAF, Call, Node, new_node
from treadle.ir.printer import graph_text
from treadle.ir.recording import COMPUTED, RECORDING, user_site
from treadle.ir.sites import put_places, sites_of
from treadle.ops.defs import Kind
from treadle.runtime.asked import Asked
from treadle.runtime.devices import program_of
from treadle.runtime.explain import show_compiled
from treadle.runtime.families import Family, Variant
from treadle.runtime.growing import new_variant
from treadle.runtime.once import once

MOST_PROGRAMS = 4096
MOST_PARTS = 400_000  # of all keys: a program takes some 300 bytes for each
_PROGRAMS: dict[Structure, Family] = {}
_SINGLE: dict[Call, Program] = {}
_MADE: WeakSet[Program] = WeakSet()
REPORTS: WeakKeyDictionary[Program, trace.Report] = WeakKeyDictionary()
"""What was told of programs while they were made, where somebody looked on."""
_READING = threading.RLock()
"""Held for moments: while a graph is read, and while nodes let go of what they were computed from.
Nothing is compiled or run under it."""
forks.share("reading", _READING)
COMPILING: ContextVar[bool] = ContextVar("compiling", default=False)
"""Are nodes made by the compiler, which has no values to compute with?"""
UNKNOWN = (LEAF, SAMPLE)  # ops of sources that have a value only once somebody gives them one
SMALLEST, LARGEST = 512, 2048  # ops of a piece of a long graph
LONG = 30_000  # of a key: some 10,000 ops, more than any model records for one step
HINT = "td.cond or td.where for an if, td.while_loop or td.scan for a loop; or return the tensor"


class _Traced:
    """Stands for the memory of an argument while a function is traced: nobody can read it."""

    def __getattr__(self, name: str) -> object:
        wrong = f"a value was asked for while tracing, at {user_site()}"
        raise ArgumentError(explain("compile", wrong, HINT))


TRACED = _Traced()


class _Work(NamedTuple):
    """Nodes to compute, as they were while no other thread could change anything."""

    nodes: list[Node]
    inputs: list[Any]  # memory of the leaves
    key: Structure
    numbers: list[Any]  # that are no part of the key
    found: Variant | None
    graph: tuple[list[Node], list[Node]]  # roots and leaves of a copy, if nothing is found


def realize(nodes: Sequence[Node], alone: bool = False) -> None:
    """Compute nodes that are not in memory yet, all together.

    What they are computed from and somebody else holds is kept too, unless they are to be alone.
    """
    work = _read(nodes, alone)
    if work and work.found is None and len(work.key) > LONG and in_pieces(nodes):
        work = _read(nodes, alone)
    if work is None:
        return
    asked = None if MEANING.plain or not WATCH.on else Asked(work.nodes)
    try:
        found = work.found
        if found is None:
            found = _found_or_made(work.key, work.numbers, *work.graph)
        _give(work.nodes, found.run(work.inputs, work.numbers))
    finally:
        if asked is not None:
            asked.end()


def _read(nodes: Sequence[Node], alone: bool) -> _Work | None:
    """What is to be done for nodes; None if all of them are there."""
    with _READING:
        pending = [node for node in nodes if node.buffer is None]
        if not pending:
            return None
        held: list[Node] = []
        numbers: list[Any] = []
        meaning = MEANING.value  # other than usual: programs of its own, with all numbers built in
        key, leaves = structure(pending, None if alone else held, None if meaning else numbers)
        if meaning:
            key = (meaning, *key)
        if MEANING.watched:  # who watches wants to know the lines of this caller
            key = (tuple([n.site for n in toposort(pending, is_realised)]), *key)
        family = _PROGRAMS.get(key)
        found = None if family is None else family.find(numbers)
        graph = _copy(pending, held, leaves) if found is None else ([], [])
        return _Work(pending + held, [x.buffer for x in leaves], key, numbers, found, graph)


def _copy(
    pending: Sequence[Node], held: Sequence[Node], leaves: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    _require_known(pending)
    return copied([*pending, *held], leaves)


def _require_known(nodes: Sequence[Node]) -> None:
    """Refuse nodes whose value depends on something that has none."""
    for node in toposort(nodes, is_realised):
        if node.buffer is None and node.op is SAMPLE:
            wrong = "a value was asked for that differs from sample to sample"
            hint = "return it; for a choice td.where(condition, x, y) instead of if"
            raise ArgumentError(explain("vmap", wrong, hint, at=user_site()))
        if node.buffer is None and node.op is LEAF:
            wrong = "a tensor made while a function was traced has no value"
            raise ArgumentError(explain("compile", wrong, "return it from the function"))


def _give(nodes: Sequence[Node], buffers: Sequence[Any]) -> None:
    """Values to nodes, which then need what they came from for gradients only."""
    with _READING:
        for node, buffer in zip(nodes, buffers, strict=True):
            if node.buffer is None:  # another thread may have been quicker
                node.buffer = buffer
            if not node.needs_grad or node.owner is not None:
                node.operands = ()


def realize_one(node: Node, seen: bool = False) -> None:
    """The same for one node; one op on values in memory is found by its Call alone.

    seen: whoever wants to know of it was told.
    """
    if not (MEANING.plain or seen):
        _realize_seen(node)
        return
    operands = node.operands
    first = second = None
    if len(operands) == 2 and operands[0] is not operands[1]:
        # Operands get no names: those would count as somebody who holds them.
        first, second = operands[0].buffer, operands[1].buffer
    if first is not None and second is not None:
        program = _SINGLE.get(node.call)
        if program is None:
            program = _remember_one(node, operands)
        buffer = program.run((first, second))[0]
    else:
        held: list[Node] = []
        numbers: list[Any] = []
        # Without the lock: where a thread takes operands away meanwhile, the key fits no program.
        key, leaves = structure((node,), held, numbers)
        family = _PROGRAMS.get(key)
        found = None if family is None else family.find(numbers)
        if found is None:
            held.clear()
            realize((node,))
            return
        buffer, *others = found.run([leaf.buffer for leaf in leaves], numbers)
        if held:
            _give(held, others)
    with _READING:
        if node.buffer is None:
            node.buffer = buffer
        if not node.needs_grad or node.owner is not None:
            node.operands = ()


def _realize_seen(node: Node) -> None:
    """One node, where knobs are not as usual or somebody profiles."""
    if MEANING.value:
        realize((node,))
        return
    asked = Asked((node,))
    try:
        realize_one(node, seen=True)
    finally:
        asked.end()


def number_in(node: Node) -> Any:
    """The one element of a node, computed now."""
    _compute(node)
    return backend_of(node.device).download(node.buffer, node.type).item()


def _compute(node: Node) -> None:
    """Compute a value on which a size depends; a placeholder has none."""
    if not is_known(node):
        hint = "sizes that depend on values need values"
        raise ArgumentError(explain("realize", "nothing is known yet", hint, type=node.type))
    realize((node,))


def is_known(node: Node) -> bool:
    """Can the value be computed now? Not if it depends on a placeholder."""
    if in_memory(node):
        return True
    return not any(n.op in UNKNOWN and n.buffer is None for n in toposort([node], in_memory))


COMPUTED.number, COMPUTED.realize = number_in, _compute


def in_pieces(roots: Sequence[Node]) -> bool:
    """Compute the first of many pending ops piece by piece; less than a LARGEST piece is left.

    Returns whether there was one. A piece ends where the fewest values are read later: so the
    pieces of a loop, and those of its gradient, are equal in structure and compiled once.
    """
    with _READING:
        pieces = _pieces(roots)
    found = bool(pieces)
    while pieces:
        realize(pieces.pop(), alone=True)
    return found


def _pieces(roots: Sequence[Node]) -> list[list[Node]]:
    """The nodes to compute of each piece, the last piece first."""
    reached = toposort(roots, is_realised)
    if any(n.buffer is TRACED or (n.op is LEAF and n.buffer is None) for n in reached):
        return []  # part of what a compiler works on, not of what somebody waits for
    order = [n for n in reached if n.buffer is None and n.operands]
    place = {node: k for k, node in enumerate(order)}
    last = dict.fromkeys(order, -1)  # where a node is read for the last time
    for k, node in enumerate(order):
        for x in node.operands:
            if x in last:
                last[x] = k
    last |= {root: len(order) for root in roots if root in last}
    results: dict[Node, list[Node]] = {}  # of loops, which have no value themselves
    for node in order:
        if node.op.kind is Kind.RESULT:
            results.setdefault(node.operands[0], []).append(node)
    start, pieces = 0, []
    for end in _cuts(order, last):
        read = {_below(x): None for x in order[start:end] if last[x] >= end}
        read |= {root: None for root in roots if start <= place.get(root, -1) < end}
        wanted = [x for node in read if node.operands for x in results.get(node, (node,))]
        pieces.append(list(dict.fromkeys(wanted)))
        start = end
    return pieces[::-1]


def _cuts(order: Sequence[Node], last: dict[Node, int]) -> list[int]:
    """Where pieces end: of the places after SMALLEST to LARGEST ops, the one with fewest reads."""
    ends = [0] * (len(order) + 2)  # how many nodes are read for the last time at a place
    crossing: list[int] = []  # values made before a place and read there or later
    alive = 0
    for k, node in enumerate(order):
        crossing.append(alive)
        ends[max(last[node], k)] += 1
        alive += 1 - ends[k]
    found = [0]
    while len(order) - found[-1] >= LARGEST:
        window = range(found[-1] + SMALLEST, found[-1] + LARGEST)
        found.append(min(window, key=crossing.__getitem__))
    return found[1:]


def _below(node: Node) -> Node:
    """What a view shows: views are not worth the memory."""
    while node.op.kind is Kind.MOVEMENT and len(node.operands) == 1:
        node = node.operands[0]
    return node


def in_memory(node: Node) -> bool:
    """Is the value there to be read?"""
    return node.buffer is not None and node.buffer is not TRACED


def _found_or_made(
    key: Structure, numbers: list[Any], roots: Sequence[Node], leaves: Sequence[Node]
) -> Variant:
    """The program of a key and numbers, which a copy of its graph is compiled to if need be."""

    def find() -> Variant | None:
        family = _PROGRAMS.get(key)
        return None if family is None else family.find(numbers)

    def make() -> Variant:
        family = _PROGRAMS.get(key) or Family()
        made = new_variant(family, numbers, (roots, leaves, {}), compile_graph)
        if key not in _PROGRAMS:
            _bound(_PROGRAMS)
            _bound_sizes(key)
        _PROGRAMS[key] = family
        return made

    return once(key, find, make)


def _remember_one(node: Node, operands: tuple[Node, ...]) -> Program:
    alone = new_node(node.call, operands)  # another thread may take the node's operands away

    def make() -> Program:
        program = new_variant(Family(), [], ([alone], operands, {}), compile_graph).program
        _bound(_SINGLE)
        _SINGLE[node.call] = program
        return program

    return once(node.call, lambda: _SINGLE.get(node.call), make)


def programs() -> list[Program]:
    """Every program that somebody holds: found by structure, or of a compiled function."""
    with _READING:
        return list(_MADE)


def forget() -> None:
    """Let go of programs that are found by structure."""
    _PROGRAMS.clear()
    _SINGLE.clear()


RELIEF.append(forget)


def _bound(programs: dict[Any, Any]) -> None:
    """Make room for one more: forget the older half where there are too many."""
    if len(programs) >= MOST_PROGRAMS:
        for old in list(programs)[: MOST_PROGRAMS // 2]:
            programs.pop(old, None)


def _bound_sizes(key: Structure) -> None:
    """Make room for one more: forget the oldest while graphs are too large, taken together."""
    keys = list(_PROGRAMS)
    more = len(key) + sum(map(len, keys)) - MOST_PARTS
    for old in keys:
        if more <= 0:
            return
        _PROGRAMS.pop(old, None)
        more -= len(old)


def compile_graph(
    roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[int, int]
) -> Program:
    """A program for roots over leaves; replaces maps the number of a root to that of a leaf.

    Any number of threads may do this at once: each works on a copy that nobody else knows.
    """
    with _READING:
        roots, places = copied(roots, leaves)
    # Who watches a program has one of its own, in which lines may stand as they are.
    caller = (sites_of if MEANING.watched else put_places)(roots, set(places))
    context = copy_context()  # COMPILING in there is over when this is, however it ends
    if not MEANING.shown:
        trace.tell("caller", caller)
        program = context.run(_stages, roots, places, replaces)
    else:
        with trace.listen() as report:
            trace.tell("caller", caller)
            if WATCH.on:
                trace.tell("graph", graph_text(roots))
            program = context.run(_stages, roots, places, replaces)
        REPORTS[program] = report
        show_compiled(report)
    with _READING:
        _MADE.add(program)
    return program


def _stages(roots: Sequence[Node], places: Sequence[Node], replaces: dict[int, int]) -> Program:
    COMPILING.set(True)
    watcher = RECORDING.keep_places()
    try:
        with forks.COMPILING.mine():
            return program_of(roots, places, replaces)
    finally:
        del watcher  # an error may keep this frame
