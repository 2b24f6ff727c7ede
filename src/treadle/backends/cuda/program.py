"""A plan as launches: kernels with their arguments, and where every buffer lies."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.chain import ABLE, chain_launch
from treadle.backends.cuda.emit import kernel_text
from treadle.backends.cuda.forms import Form, choose, size_of, splits
from treadle.backends.cuda.launch import Arguments, Launch, tile_constants
from treadle.backends.cuda.matmul import TEMPLATES, matmul
from treadle.backends.cuda.split import split_reduction, with_parts
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.places import Places, Temporary
from treadle.kernel.plan import as_stored, plan_tasks
from treadle.kernel.signature import Signature

FIRST_LEAF = 1  # number of the first leaf's base address, after the arena


class Plan:
    """Everything about a program that needs no device."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node],
        processors: int,
    ) -> None:  # fmt: skip
        self.processors = processors
        self.roots, replaces = as_stored(roots, replaces)
        self.leaves = list(leaves)
        self.temporaries: dict[object, Temporary] = {}
        self.launches: list[Launch] = []
        self.tasks = plan_tasks(self.roots, replaces, TEMPLATES, ABLE)
        # The programs of a grid run in any order: only equal positions may share memory.
        self.memory = Places(
            self.tasks, self.roots, self.leaves, replaces, FIRST_LEAF, ordered=False
        )
        for built in self.memory.copies.values():
            self._add_loops(built, 0)
        for number, task in enumerate(self.tasks):
            for built in task.kernels:
                self._add_loops(built, number)
            if task.product and task.product.dot.type.size:
                self.launches.append(matmul(task.product, processors))
            if task.chain:
                self.launches.append(chain_launch(task.chain))
        self.launches = [x for x in self.launches if x.grid[0] and x.grid[1]]
        self.places = self.memory.settle(self.temporaries)
        self.layout, self.outputs = self.memory.layout, self.memory.outputs

    # ---- kernels

    def _add_loops(self, built: Built, task: int) -> None:
        loops = built.loops
        for name, nbytes in built.join().items():
            self.temporaries[name] = (nbytes, task, task)
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
        text = kernel_text(signature.text, form)
        source = arguments.source(text, tile_constants(form), form.warps)
        self.launches.append(Launch(source, (programs, second), arguments.values, loops.size))
