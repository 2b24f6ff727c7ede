"""A program for a graph on any devices: pieces of one device each, and transfers between them.

A piece is what one device can compute between two transfers. What a later piece of the same device
reads of an earlier one is kept for it; numbers, indices and views are made again where they are
read. Equal transfers of a node are one. A loop or branch over several devices is a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from treadle.backends.registry import Program, backend_of
from treadle.base import trace
from treadle.base.device import Device
from treadle.base.knobs import MEANING
from treadle.base.watch import WATCH
from treadle.ir.graph import toposort
from treadle.ir.node import CONST, IOTA, Node, Type, new_node, placeholder
from treadle.ir.printer import graph_text
from treadle.ir.region import BRANCH, LOOP, PROJECT, bodies_of
from treadle.ops.defs import Kind
from treadle.passes.boxes import put_in_place
from treadle.passes.pairs import in_pairs
from treadle.passes.pipeline import simplify
from treadle.passes.regions import with_small_regions


def program_of(roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[int, int]) -> Program:
    """A program for a graph on any devices; replaces: the number of a root to that of a leaf."""
    device, known = roots[0].device, set(leaves)
    order = toposort(roots, known.__contains__)
    crossed = any(map(is_crossing, order))
    if not crossed and all(node.device is device for node in order):
        return _for_one(roots, leaves, replaces)
    if crossed:  # without what nobody reads; bodies are simplified where they are compiled
        roots = with_small_regions(roots, list)
        order = toposort(roots, known.__contains__)
    return Crossing(roots, leaves, order)


def is_crossing(node: Node) -> bool:
    """Is a node a loop or branch that no single device can run?"""
    if node.op is not LOOP and node.op is not BRANCH:
        return False
    device = node.operands[0].device
    parts = [x for body in bodies_of(node.arg) for x in (*body.params, *toposort(body.results))]
    return any(x.device is not device or is_crossing(x) for x in (*node.operands, *parts))


def _for_one(roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[int, int]) -> Program:
    """A program for a graph on one device."""
    with trace.stage("simplify"):
        roots, leaves = in_pairs(roots, leaves)
        replaced = [leaves[k] for k in replaces.values()]
        simple = put_in_place(roots, replaced) if replaced else list(roots)
        backend = backend_of(simple[0].device)
        if not Type.paired or backend.name != "reference":  # NumPy knows complex numbers
            simple = simplify(simple, backend.rules)
        if WATCH.on:
            trace.tell("simplified", graph_text(simple))
    taken = {simple[r]: leaves[k] for r, k in replaces.items()}
    if not MEANING.watched:
        return backend.compile(simple, leaves, taken)
    watched: Program = import_module("treadle.runtime.watched").compiled(
        backend, simple, leaves, taken
    )
    return watched


def moved(memory: Any, source: Type, target: Type, hurried: bool = False) -> Any:
    """A value on another device; what a GPU gives is in memory that nobody else has.

    hurried: nobody waits for it here, and what is computed meanwhile does not either.
    """
    array = backend_of(source.device).download(memory, source)
    backend: Any = backend_of(target.device)
    if hurried and target.device.backend == "cuda":
        return backend.upload_beside(array, target)
    return backend.upload(array, target, source.device.backend != "cuda")


def begin(memory: Any, type_: Type) -> bool:
    """Let a GPU copy a value to the host beside what it computes; False: it lies elsewhere."""
    if type_.device.backend == "cuda":
        backend: Any = backend_of(type_.device)
        backend.begin(memory, type_)
        return True
    return False


class Piece:
    """What one device computes between transfers; nodes of the whole graph and its own copies."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.copies: dict[Node, Node] = {}
        self.read: dict[Node, Node] = {}  # values from elsewhere, and what stands for them here
        self.made: dict[Node, None] = {}  # values that somebody else reads

    def compiled(self) -> Program:
        """Its program: from what it reads to what it makes."""
        return _for_one([self.copies[node] for node in self.made], list(self.read.values()), {})


class Transfer(NamedTuple):
    """A value that goes to another device: numbers of the values, and their types."""

    number: int
    made: int
    source: Type
    target: Type

    def __str__(self) -> str:
        return f"{self.source} {self.source.device} → {self.target.device}"


class Run(NamedTuple):
    """A piece, loop or branch as a step: numbers of the values that it reads and makes."""

    program: Program
    read: list[int]
    made: list[int]


@contextmanager
def _heard(reports: list[trace.Report]) -> Iterator[None]:
    """Add what is told of a piece to reports, if somebody listens."""
    if not trace.is_heard():
        yield
        return
    caller = trace.recall("caller")
    with trace.listen() as report:
        report.facts.append(("caller", caller))
        yield
    reports.append(report)


class Crossing:
    """Programs of several devices and the transfers between them, one after the other.

    No leaf is overwritten: whoever interrupts a run between two steps finds every value as it was.
    """

    overwrites: frozenset[int] = frozenset()

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], order: Sequence[Node]
    ) -> None:
        cut = Cut(roots, leaves, order)
        number = {leaf: k for k, leaf in enumerate(leaves)}
        self.steps: list[Transfer | Run] = []
        reports: list[trace.Report] = []

        def make(*graph: Any) -> Program:
            with _heard(reports):
                return program_of(*graph)

        for stage in range(cut.stages):
            for node in cut.transfers.get(stage, ()):
                (x,) = node.operands
                made = number.setdefault(node, len(number))
                self.steps.append(Transfer(number[cut.value(x)], made, x.type, node.type))
            for node in cut.walks.get(stage, ()):
                read, ends = [number[cut.value(x)] for x in node.operands], cut.ends[node]
                made_here = [number.setdefault(x, len(number)) for x in ends]
                stepped = import_module("treadle.runtime.stepped").stepped
                program = stepped(node, [x.arg for x in ends], make)
                self.steps.append(Run(program, read, made_here))
            for piece in cut.pieces_of(stage):
                read = [number[node] for node in piece.read]
                made_here = [number.setdefault(node, len(number)) for node in piece.made]
                with _heard(reports):
                    self.steps.append(Run(piece.compiled(), read, made_here))
        if trace.is_heard():
            moves = [str(x) for x in self.steps if isinstance(x, Transfer)]
            import_module("treadle.runtime.together").tell(reports, moves)
        self.count = len(number)
        self.roots = [number[root] for root in cut.results]
        self.again = self._shared(cut.results, leaves)
        self.last = self._last_reads(len(leaves))

    def _shared(self, results: Sequence[Node], leaves: Sequence[Node]) -> list[tuple[int, Device]]:
        """Roots whose memory an earlier root or a leaf has: each gets its own."""
        seen = set(leaves)
        found = []
        for k, node in enumerate(results):
            if node in seen:
                found.append((k, node.device))
            seen.add(node)
        return found

    def _last_reads(self, leaves: int) -> list[list[int]]:
        """For each step, the values that are let go of after it."""
        last: dict[int, int] = {}
        for k, step in enumerate(self.steps):
            for number in step.read if isinstance(step, Run) else [step.number]:
                last[number] = k
        kept = set(self.roots)
        found: list[list[int]] = [[] for _ in self.steps]
        for number, k in last.items():
            if number >= leaves and number not in kept:
                found[k].append(number)
        return found

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """The roots' memory from the leaves', added to results if they are given."""
        values = [*inputs, *[None] * (self.count - len(inputs))]
        for step, done in zip(self.steps, self.last, strict=True):
            if isinstance(step, Transfer):
                values[step.made] = moved(values[step.number], step.source, step.target)
            else:
                found = step.program.run([values[k] for k in step.read])
                for k, memory in zip(step.made, found, strict=True):
                    values[k] = memory
            for k in done:
                values[k] = None
        made = [values[k] for k in self.roots]
        for k, device in self.again:
            made[k] = backend_of(device).copy(made[k])
        if results is not None:
            results += made
        return made


class Cut:
    """A graph in stages: transfers and loops over devices come first, then a piece for each."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], order: Sequence[Node]
    ) -> None:
        self.leaves = set(leaves)
        self.transfers: dict[int, list[Node]] = {}
        self.walks: dict[int, list[Node]] = {}  # loops and branches over devices
        self.ends: dict[Node, list[Node]] = {}  # their results
        self.pieces: dict[tuple[int, Device], Piece] = {}
        self.stage: dict[Node, int] = {}
        self.same: dict[tuple[Node, Device], Node] = {}  # equal transfers
        for node in order:
            self._place(node)
        self.stages = 1 + max(self.stage.values(), default=0)
        for node in order:
            if self._is_transfer(node) or node in self.ends:
                for x in node.operands:
                    self._make(x)
            elif not (node in self.leaves or self._is_free(node) or self._is_result(node)):
                self._copy(self._home(node), node)
        self.results = [self._make(root) for root in roots]

    def pieces_of(self, stage: int) -> list[Piece]:
        """What is computed in a stage; the host waits for nobody, so it comes last."""
        found = [piece for (k, _), piece in self.pieces.items() if k == stage and piece.made]
        return sorted(found, key=lambda piece: piece.device.backend == "cpu")

    def value(self, node: Node) -> Node:
        """The node that is computed for another one: of equal transfers the first."""
        return self.same[node.operands[0], node.device] if self._is_transfer(node) else node

    def _is_transfer(self, node: Node) -> bool:
        return node.op.kind is Kind.TRANSFER and node not in self.leaves

    def _is_result(self, node: Node) -> bool:
        """Is it what a loop or branch over devices gives?"""
        return node.op is PROJECT and node.operands[0] in self.ends

    def _is_free(self, node: Node) -> bool:
        """Is a node made again wherever it is read?"""
        is_view = node.op.kind is Kind.MOVEMENT and len(node.operands) == 1
        return node not in self.leaves and (is_view or node.op in (CONST, IOTA))

    def _place(self, node: Node) -> None:
        if node in self.leaves:
            self.stage[node] = 0
            return
        below = max((self.stage[x] for x in node.operands), default=0)
        crosses, steps = self._is_transfer(node), is_crossing(node)
        self.stage[node] = below + (crosses or steps)
        if steps:
            self.walks.setdefault(below + 1, []).append(node)
            self.ends[node] = []
        elif self._is_result(node):
            self.ends[node.operands[0]].append(node)
        if crosses and self.same.setdefault((node.operands[0], node.device), node) is node:
            self.transfers.setdefault(below + 1, []).append(node)

    def _home(self, node: Node) -> Piece:
        key = self.stage[node], node.device
        return self.pieces.setdefault(key, Piece(node.device))

    def _make(self, node: Node) -> Node:
        """Have a value made that somebody else reads; others than a piece's are there anyway."""
        if node in self.leaves or self._is_transfer(node) or self._is_result(node):
            return self.value(node)
        piece = self._home(node)
        self._within(piece, node)
        piece.made[node] = None
        return node

    def _within(self, piece: Piece, node: Node) -> Node:
        """A node as a piece has it: computed there, made again, or read from elsewhere."""
        views = []
        while node not in piece.copies and self._is_free(node) and node.operands:
            views.append(node)
            (node,) = node.operands
        found = piece.copies.get(node)
        if found is None and self._is_free(node):
            found = piece.copies[node] = new_node(node.call, ())
        if found is None:
            value = self._make(node)
            found = piece.read.get(value)
            if found is None:
                found = piece.read[value] = placeholder(node.type)
                found.site = node.site
            piece.copies[node] = found
        for view in reversed(views):
            found = self._copied(piece, view, (found,))
        return found

    def _copy(self, piece: Piece, node: Node) -> None:
        self._copied(piece, node, tuple([self._within(piece, x) for x in node.operands]))

    def _copied(self, piece: Piece, node: Node, operands: tuple[Node, ...]) -> Node:
        copy = piece.copies[node] = new_node(node.call, operands, node.needs_grad)
        copy.site = node.site
        return copy
