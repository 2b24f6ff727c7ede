"""Programs of graphs that differ in sizes only: after a few, one serves every size.

A graph is read as a pattern and the whole numbers in its types and args. Where graphs of a pattern
come again and again with other numbers, the one number they differ by becomes a size that is not
known yet, as that of a Dim; the other numbers follow from it by a factor and a summand. The graph
of such sizes is compiled once; for each size another table is filled in.

What is not the same op for all sizes is refused by whoever finds that out, and has a program for
each size, as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from treadle.backends.registry import RELIEF, Program, backend_of
from treadle.base import trace
from treadle.base.device import Device
from treadle.base.errors import DeviceError, ShapeError, TreadleError, explain
from treadle.base.knobs import MEANING
from treadle.base.shapes import Dim
from treadle.base.sizes import Size, unknown
from treadle.ir.graph import is_given, toposort
from treadle.ir.node import CONST, IOTA, Node, Type, apply, iota, new_node, placeholder, type_of
from treadle.ops.defs import Kind
from treadle.runtime.families import Compile, Family, Graph, Variant
from treadle.runtime.once import once

SEEN = 3  # sizes that have programs of their own, before one program serves all others
LEAST = 2  # of what changes
ROOM = 2  # a program serves sizes up to so many times what was seen, and down to such a part
SHARE = 8  # such a program works in one of so many parts of a device's memory at most
MOST_PATTERNS = 1024
NAME = "size"
NAMED = frozenset((Dim, Size))
Numbers = list[int]


class Read(NamedTuple):
    """A graph, apart from its sizes and from numbers that programs may be given."""

    pattern: tuple[Any, ...]
    sizes: Numbers
    order: list[Node]


class Line(NamedTuple):
    """Numbers as factor times a size plus a summand, each."""

    leader: int  # the number that is the size itself
    forms: list[tuple[int, int]]

    def at(self, size: int) -> Numbers:
        """The numbers for a size."""
        return [factor * size + more for factor, more in self.forms]


class General(NamedTuple):
    """Graphs of a size that is not known, which differ in numbers only, and their programs."""

    line: Line
    least: int
    most: int
    family: Family

    def fits(self, sizes: Numbers) -> bool:
        """Is a graph one of these?"""
        size = sizes[self.line.leader]
        return self.least <= size <= self.most and self.line.at(size) == sizes


class Pattern:
    """Graphs of one pattern: the sizes that were seen, and what serves them all."""

    __slots__ = ("general", "hopeless", "seen")

    def __init__(self) -> None:
        self.seen: list[Numbers] = []
        self.general: General | None = None
        self.hopeless = False

    def choices(self, sizes: Numbers) -> list[General]:
        """What might serve sizes and more, the widest first; nothing if too few were seen."""
        if self.general is not None and self.general.fits(sizes):
            return [self.general]
        self.seen = [*(numbers for numbers in self.seen if numbers != sizes), sizes][-SEEN - 1 :]
        line = _line(self.seen) if len(self.seen) > SEEN else None
        if line is None:
            return []
        leaders = [numbers[line.leader] for numbers in self.seen]
        if self.general is not None and self.general.line == line:
            leaders += [self.general.least, self.general.most]
        least, most = min(leaders), max(leaders)
        starts = [-((more - LEAST) // factor) for factor, more in line.forms if factor > 0]
        ends = [(LEAST - more) // factor for factor, more in line.forms if factor < 0]
        wide = max(least // ROOM, *starts), min([most * ROOM, *ends])  # nothing is below LEAST
        whole = min([n for factor, n in line.forms if not factor and n >= most], default=most)
        near = least, min(whole, wide[1])
        return [General(line, *bounds, Family()) for bounds in (wide, near)]


_PATTERNS: dict[tuple[Any, ...], Pattern] = {}
RELIEF.append(_PATTERNS.clear)


def new_variant(family: Family, values: list[Any], graph: Graph, compiled: Compile) -> Variant:
    """A program for a graph and its numbers, of which the family of its structure has none."""
    found = _of_any_size(values, graph, compiled)
    if found is None:
        return family.make(values, graph, compiled)
    family.variants = [found]
    return found


def _of_any_size(values: list[Any], graph: Graph, compiled: Compile) -> Variant | None:
    """The same, if the graph is one of many that differ in sizes."""
    told = MEANING.value or MEANING.watched or trace.is_heard()  # of a program for this graph alone
    read = None if told else read_graph(graph)
    if read is None:
        return None
    key = read.pattern

    def find() -> Variant | None:
        pattern = _PATTERNS.get(key)
        general = None if pattern is None else pattern.general
        if general is None or not general.fits(read.sizes):
            return None
        found = general.family.find(values)
        return None if found is None else _at(found, read.sizes[general.line.leader])

    def make() -> Variant | None:
        pattern = _PATTERNS.setdefault(key, Pattern())
        if len(_PATTERNS) > MOST_PATTERNS:
            del _PATTERNS[next(iter(_PATTERNS))]
        return None if pattern.hopeless else _served(pattern, read, values, graph, compiled)

    return once(("sizes", key), find, make)


def _served(
    pattern: Pattern, read: Read, values: list[Any], graph: Graph, compiled: Compile
) -> Variant | None:
    """A program that serves more sizes than one, if enough were seen."""
    choices = pattern.choices(read.sizes)
    for general in choices:
        try:
            found = general.family.find(values)
            if found is None:
                found = general.family.make(values, _generalised(general, read, graph), compiled)
            served = _at(found, read.sizes[general.line.leader])
            _require_room(graph[0][0].device, found.program)
        except TreadleError:  # the op of one size is not that of another, or nobody can tell
            continue
        pattern.general = general
        return served
    pattern.hopeless = bool(choices)
    return None


def _require_room(device: Device, program: Any) -> None:
    """Refuse what works in much of a device's memory: it is laid out for the largest size."""
    total = backend_of(device).statistics().total
    if total and program.layout.nbytes * SHARE > total:
        raise DeviceError(explain("compile", "a program for many sizes would take much memory"))


def _at(variant: Variant, size: int) -> Variant:
    """A variant for one size."""
    if not hasattr(variant.program, "at"):
        raise DeviceError(explain("compile", "a program of this device has one size"))
    program: Program = variant.program.at({NAME: size})
    return variant.of(program)


# ---- sizes of a graph


def read_graph(graph: Graph) -> Read | None:
    """The pattern and sizes of a graph; None if it has Dims, or runs on several devices."""
    roots, leaves, replaces = graph
    device = roots[0].device
    if any(node.device is not device for node in (*roots, *leaves)):
        return None
    number = {leaf: k for k, leaf in enumerate(leaves)}
    order = [node for node in toposort(roots, number.__contains__) if node not in number]
    ends = set(roots)
    sizes: Numbers = []
    pattern: list[Any] = [device, tuple(replaces.items()), len(leaves)]
    for node in (*leaves, *order):
        shape = node.shape
        if node.device is not device or not NAMED.isdisjoint(map(type, shape)):
            return None
        if node not in number:
            pattern += (node.op, _read(node, ends, sizes), *[number[x] for x in node.operands])
            number[node] = len(number)
        pattern += (node.dtype, len(shape))
        sizes += shape
    pattern += [number[root] for root in roots]
    return Read(tuple(pattern), sizes, order)


def _read(node: Node, roots: set[Node], sizes: Numbers) -> Any:
    if node.op is CONST:  # one that programs may be given is no part of them
        return node.call.slot if is_given(node, roots) else node.call
    return _without_sizes(node.arg, sizes)


def _without_sizes(arg: Any, sizes: Numbers) -> Any:
    """An arg with nothing where whole numbers are, which are added to sizes."""
    if arg.__class__ is int:
        sizes.append(arg)
        return int
    if arg.__class__ is tuple:
        return tuple([_without_sizes(x, sizes) for x in arg])
    return arg


def _with_sizes(arg: Any, sizes: Iterator[Any]) -> Any:
    """The arg with other numbers."""
    if arg.__class__ is int:
        return next(sizes)
    if arg.__class__ is tuple:
        return tuple([_with_sizes(x, sizes) for x in arg])
    return arg


def _line(seen: Sequence[Numbers]) -> Line | None:
    """Numbers as functions of the one that changes least; None if they are no straight lines.

    What changes has to be 2 at least: a size of 1 is another op.
    """
    one, other = seen[-2:]
    steps = [b - a for a, b in zip(one, other, strict=True)]
    moved = [k for k, step in enumerate(steps) if step]
    leader = min(moved, key=lambda k: abs(steps[k]))
    start, least = one[leader], steps[leader]
    if any(step % least for step in steps):
        return None
    if min(numbers[k] for numbers in seen for k in moved) < LEAST:
        return None
    factors = [step // least for step in steps]
    forms = [(factor, a - factor * start) for factor, a in zip(factors, one, strict=True)]
    line = Line(leader, forms)
    return line if all(line.at(numbers[leader]) == numbers for numbers in seen) else None


def _generalised(general: General, read: Read, graph: Graph) -> Graph:
    """A graph with a size that is not known. Its numbers are those of the graph that was read."""
    roots, leaves, replaces = graph
    size = unknown(NAME, general.least, general.most)
    sizes = iter([factor * size + more for factor, more in general.line.forms])

    def type_for(node: Node) -> Type:
        return type_of(tuple([next(sizes) for _ in node.shape]), node.dtype, node.device)

    done = {leaf: placeholder(type_for(leaf)) for leaf in leaves}
    for node in read.order:
        arg = node.arg if node.op is CONST else _with_sizes(node.arg, sizes)
        operands = tuple([done[x] for x in node.operands])
        done[node] = _with_type(node, operands, arg, type_for(node))
    for node, other in done.items():
        other.site = node.site
    return [done[root] for root in roots], [done[leaf] for leaf in leaves], replaces


def _with_type(node: Node, operands: tuple[Node, ...], arg: Any, type_: Type) -> Node:
    """An op on operands of other sizes; what it gives must be what the sizes say."""
    if node.op is IOTA:
        return iota(type_.shape, arg, type_.device)
    if node.op.kind in (Kind.REGION, Kind.RESULT):
        kept = arg == node.arg and type_ is node.type
        if kept and all(x.type is y.type for x, y in zip(operands, node.operands, strict=True)):
            return new_node(node.call, operands)
        raise ShapeError(explain(node.op.name, "bodies have sizes of their own"))
    found = apply(node.op, operands, arg) if operands else new_node(node.call, ())
    if found.type is not type_:
        wrong = "sizes do not follow from each other as it seemed"
        raise ShapeError(explain(node.op.name, wrong, got=found.type, expected=type_))
    return found
