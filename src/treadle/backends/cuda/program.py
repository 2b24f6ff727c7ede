"""A plan as launches: kernels with their arguments, and where every buffer lies."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.emit import kernel_text
from treadle.backends.cuda.forms import Form, choose, size_of, splits
from treadle.backends.cuda.launch import Arguments, Launch, tile_constants
from treadle.backends.cuda.matmul import TEMPLATES, matmul
from treadle.backends.cuda.split import split_reduction, with_parts
from treadle.ir.node import LEAF, Node
from treadle.kernel.build import Built, build_copy
from treadle.kernel.overwrite import writes_over
from treadle.kernel.plan import Task, plan_tasks, without_reshape
from treadle.kernel.signature import Signature
from treadle.schedule.memory import Interval, Layout, lay_out

ARENA, FIRST_LEAF = 0, 1
Place = tuple[int, int]
"""(number of a base address, byte offset): the arena, the leaves, then the new outputs."""


class Plan:
    """Everything about a program that needs no device."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node],
        processors: int,
    ) -> None:  # fmt: skip
        self.processors = processors
        self.roots, self.leaves = [without_reshape(root) for root in roots], list(leaves)
        replaces = {without_reshape(root): leaf for root, leaf in replaces.items()}
        self.temporaries: dict[object, tuple[int, int, int]] = {}
        self.launches: list[Launch] = []
        self.tasks = plan_tasks(self.roots, replaces, TEMPLATES)
        self.in_place = self._in_place(replaces)
        self._lifetimes()
        self.shares = self._shared()
        self._copies(replaces)
        for number, task in enumerate(self.tasks):
            for built in task.kernels:
                self._add_loops(built, number)
            if task.product and task.product.dot.type.size:
                self.launches.append(matmul(task.product, processors))
        self.launches = [x for x in self.launches if x.grid[0] and x.grid[1]]
        self.layout = self._lay_out()
        self.places = self._places()

    def _copies(self, replaces: dict[Node, Node]) -> None:
        """A root that is a leaf about to be overwritten is copied out first."""
        self.copies: dict[int, str] = {}
        taken = set(replaces.values())
        for k, root in enumerate(self.roots):
            if root.op is LEAF and root in taken:
                self.copies[k] = f"copy{k}"
                self._add_loops(build_copy(root, frozenset(), self.copies[k]), 0)

    # ---- kernels

    def _add_loops(self, built: Built, task: int) -> None:
        loops = built.loops
        if built.joins is not None:
            rows = built.joins
            loops.inner[0].extent = -(-rows.rows // rows.rows_per_block)
            loops.size = loops.inner[0].extent * loops.outer[0].extent
            name = built.buffers[0]
            self.temporaries[name] = (loops.size * loops.arguments[0].dtype.size, task, task)
        parts = splits(loops, self.processors)
        if parts > 1:
            self._add_split(built, task, parts)
        else:
            self._launch(built, choose(loops, self.processors))

    def _add_split(self, built: Built, task: int, parts: int) -> None:
        """Few rows, long: parts of them reduced side by side, then joined."""
        columns = size_of(built.loops.inner)
        form = choose(with_parts(built.loops, parts), self.processors, split=True)
        span = -(-columns // (parts * form.columns)) * form.columns
        first, between = split_reduction(built, -(-columns // span), f"parts{len(self.launches)}")
        for name, nbytes in between.items():
            self.temporaries[name] = (nbytes, task, task)
        self._launch(first, form, span)
        self._launch(built, choose(built.loops, self.processors))

    def _launch(self, built: Built, form: Form, span: int = 0) -> None:
        loops = built.loops
        signature = Signature(loops)
        arguments = Arguments()
        arguments.loops(built, signature, form.wide)
        rows, columns = size_of(loops.outer[form.split :]), size_of(loops.inner)
        programs, second = -(-rows // form.rows), 1
        if form.kind == "map":
            programs *= -(-columns // form.columns)
        elif form.kind == "blocks":
            arguments.integer("rows_per_block", loops.rows_per_block, form.wide)
            programs = -(-rows // loops.rows_per_block)
            second = 1 if form.whole or form.in_memory else -(-columns // form.columns)
        if form.split:
            arguments.integer("span", span, form.wide)
            second = loops.outer[0].extent
        text = kernel_text(loops, signature, form)
        source = arguments.source(text, tile_constants(form), form.warps)
        self.launches.append(Launch(source, (programs, second), arguments.values, loops.size))

    # ---- memory

    def _in_place(self, replaces: dict[Node, Node]) -> dict[Node, Node]:
        """Roots written over the leaf they replace: nobody reads the leaf afterwards."""
        writer = {node: k for k, task in enumerate(self.tasks) for node in task.writes}
        last_read: dict[Node, int] = {}
        for k, task in enumerate(self.tasks):
            for node in task.reads():
                last_read[node] = k
        found: dict[Node, Node] = {}
        for root, leaf in replaces.items():
            if root not in writer or root.type.nbytes != leaf.type.nbytes:
                continue
            at = writer[root]
            last = last_read.get(leaf, -1)
            if last < at or (last == at and _takes_place(self.tasks[at], root, leaf)):
                found[root] = leaf
        return found

    def _lifetimes(self) -> None:
        """First and last task of everything that is neither an input nor an output."""
        outside = set(self.roots) | set(self.leaves)
        self.first: dict[Node, int] = {}
        self.last: dict[Node, int] = {}
        for k, task in enumerate(self.tasks):
            for node in task.writes:
                if node not in outside:
                    self.first[node] = self.last[node] = k
            for node in task.reads():
                if node in self.first:
                    self.last[node] = k

    def _lay_out(self) -> Layout:
        """Offsets in the arena."""
        until = dict(self.last)
        for node, holder in self.shares.items():
            until[holder] = max(until[holder], self.last[node])
        intervals = [
            Interval(node, node.type.nbytes, start, until[node])
            for node, start in self.first.items()
            if node not in self.shares
        ]
        intervals += [Interval(n, size, a, b) for n, (size, a, b) in self.temporaries.items()]
        return lay_out(intervals)

    def _shared(self) -> dict[Node, Node]:
        """Nodes written over an operand that nobody reads afterwards: node to the first holder."""
        shares: dict[Node, Node] = {}
        for k, task in enumerate(self.tasks):
            free = [n for n in task.reads() if self.last.get(n) == k]
            for node in [n for n in task.writes if n in self.first]:
                for operand in free:
                    same = operand.type.nbytes == node.type.nbytes
                    if same and _takes_place(task, node, operand):
                        shares[node] = shares.get(operand, operand)
                        free.remove(operand)
                        break
        return shares

    def _places(self) -> dict[object, Place]:
        """Where buffers lie, and (in outputs) where each root's memory comes from."""
        places: dict[object, Place] = {n: (ARENA, o) for n, o in self.layout.offsets.items()}
        places |= {node: places[holder] for node, holder in self.shares.items()}
        number = {leaf: k for k, leaf in enumerate(self.leaves)}
        places |= {leaf: (FIRST_LEAF + k, 0) for leaf, k in number.items()}
        self.outputs: list[tuple[str, int]] = []  # ("new", bytes), ("leaf", k) or ("same", j)
        seen: dict[Node, int] = {}
        base = FIRST_LEAF + len(self.leaves)
        for k, root in enumerate(self.roots):
            if k not in self.copies:
                if root in seen:
                    self.outputs.append(("same", seen[root]))
                    continue
                if root.op is LEAF:
                    self.outputs.append(("leaf", number[root]))
                    continue
                seen[root] = k
                if root in self.in_place:
                    taken = number[self.in_place[root]]
                    places[root] = (FIRST_LEAF + taken, 0)
                    self.outputs.append(("leaf", taken))
                    continue
            places[self.copies.get(k, root)] = (base, 0)
            self.outputs.append(("new", root.type.nbytes))
            base += 1
        return places


def _takes_place(task: Task, result: Node, operand: Node) -> bool:
    """Is operand read only at the element about to be written?

    The programs of a grid run in any order, so reading elsewhere in a row is not safe here.
    """
    if not writes_over(task, result, operand):
        return False
    parts = [*task.kernels, *([task.product.epilogue] if task.product else [])]
    for built in parts:
        if built is None or operand not in built.buffers:
            continue
        stores = [s for s in built.loops.stores() if built.buffers[s.buffer] is result]
        loads = [ex for ex in built.loops.order() if ex.op == "load"]
        mine = [ex for ex in loads if built.buffers[ex.data[0]] is operand]
        if any(ex.data[1] != s.position for ex in mine for s in stores):
            return False
    return True
