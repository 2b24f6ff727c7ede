"""Bugs to plant, one at a time: a fuzzer that does not find them is not looking.

Each is (file below src/treadle, what stands there, what is put there instead, what that breaks).
`python tests/testing/mutate.py` plants them in a copy of the sources and lets the fuzzer look.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """One planted bug."""

    file: str
    old: str
    new: str
    breaks: str


MUTATIONS = [
    Mutation(*row)
    for row in (
        # ---- what may be written over what
        ("kernel/overwrite.py", "by_rows = ordered and not loops.epilogue", "by_rows = ordered",
         "an epilogue sees a row tile by tile"),
        ("kernel/overwrite.py", "load.axes & set(loops.inner) or load.stage or not loops.outer",
         "load.stage or not loops.outer", "what moves along the row is not read once"),
        ("kernel/overwrite.py", "    return start == 0", "    return True",
         "rows that do not touch are taken for one piece"),
        ("kernel/overwrite.py",
         "any(operand is x for x in step.operands())",
         "any(operand is x for x in step.operands()[:1])", "every tile reads columns of the right operand"),
        ("kernel/overwrite.py", "ex.data[1] == targets[0].position or (by_rows",
         "True or (by_rows", "any element may be read after it was written"),
        # ---- where buffers lie
        ("kernel/places.py", "or self.last.get(leaf, -1) < at", "or self.last.get(leaf, -1) <= at",
         "state is replaced by a kernel that still reads it"),
        ("kernel/overwrite.py", "step.base and all(operand is not buffer for buffer in rest)",
         "step.base", "a part of a state is written while its values are read from it"),
        ("kernel/places.py", "until[holder] = max(until[holder], self.last[node])",
         "until[holder] = self.last[holder]", "shared memory is given away too early"),
        ("kernel/places.py", "same and self.last[operand] == step and self", "same and self",
         "an operand that is read later is written over"),
        ("schedule/layout.py", "if last < interval.first or interval.last < first:",
         "if last <= interval.first or interval.last <= first:",
         "a kernel's result lies over its operand"),
        ("schedule/layout.py", "            at = max(at, end)", "            at = start",
         "buffers that live at the same time overlap"),
        # ---- which nodes share a kernel, and when it runs
        ("schedule/fuse.py",
         "if not cluster.before.get(other, True) or not other.before.get(cluster, True):",
         "if False:", "groups are merged though their elements do not line up"),
        ("schedule/clusters.py", "    if early.rank > late.rank:\n", "    if False:\n",
         "ways from one group to another are not seen"),
        ("schedule/fuse.py", "return span == ROW and read.folding == other.folding",
         "return span == ROW", "rows of another form are taken for these"),
        ("schedule/fuse.py", "if other is not cluster and depends(other, cluster):", "if False:",
         "a kernel waits for itself"),
        ("schedule/keep.py", "for base in bases_of(node) if base not in crossing}",
         "for base in bases_of(node)[:1] if base not in crossing}", "of joined parts only one is in memory"),
        ("schedule/keep.py", "if node.op.kind is Kind.REDUCE or node.op.kind in APART:",
         "if node.op.kind in APART:", "sums are computed again where they are read"),
        ("schedule/order.py", "before[cluster] = {c for c in needed if c is not cluster and c in touched}",
         "before[cluster] = {c for c in needed if c.number > cluster.number and c in touched}",
         "kernels run before what they read"),
        # ---- the identity of a kernel
        ("kernel/signature.py", 'FACTORS = {1: "", -1: "*-1"}', 'FACTORS = {1: "", -1: ""}',
         "backwards is the same kernel as forwards"),
        ("kernel/signature.py", "            if index.constant:", "            if index.constant > 0:",
         "an offset below zero is left out"),
        ("kernel/signature.py", "self._slot(guard, bound)", 'self._slot(None, bound)',
         "the bounds of all guards have one slot"),
        ("kernel/signature.py", "name = self._slot((\"number\", ex), value, dtype.compute)",
         "name = self._slot(\"number\", value, dtype.compute)", "all numbers have one slot"),
        # ---- code
        ("backends/cpu/points.py", "back = range(n - 1, -1, -1)",
         "back = range(n)", "what is read backwards stays in order"),
        ("backends/cpu/points.py", 'mask = w.shuffle("i1", mask, "poison", back, n) if mask else ""', 'mask = ""',
         "the end of a line is read backwards without its mask"),
        ("backends/cpu/points.py", "{negative}, {t} {wrapped}, {t} {value}",
         "{negative}, {t} {value}, {t} {value}", "negative indices do not count from the end"),
        ("backends/cpu/emit.py", "if at.mask and not self.kernel.across:", "if False:",
         "lanes that do not exist are reduced too"),
        ("backends/cpu/ops.py", "across = [k ^ step for k in range(n)]",
         "across = [min(k + step, n - 1) for k in range(n)]", "lanes are joined twice"),
        ("kernel/operands.py", "own = [0 if n == 1 else s for s, n in",
         "own = [s for s, n in", "a batch axis of one element is not broadcast"),
        # ---- lazy values
        ("runtime/realize.py",
         "                node.buffer = buffer\n            if not node.needs_grad or node.owner is not None:",
         "                node.buffer = buffer\n            if True:",
         "a value that was looked at forgets what its gradient needs"),
        ("ir/graph.py", "    key += [number[root] for root in roots]\n", "",
         "graphs that differ in what is asked for are taken for one"),
        # ---- state, gradients, traces
        ("transforms/held.py", "            if kept.lent:", "            if False:",
         "values change for those who still read them"),
        ("transforms/held.py", "kept = _copied(call, inputs[number])",
         "kept = Kept(_backend(call), inputs[number])", "memory of others is written over"),
        ("transforms/held.py", "if known is None and not any(memory is other for other in self.inputs):",
         "if known is None:",
         "an argument's memory becomes state"),
        ("transforms/traced.py", "if t in trace.found or not used}", "if not used}",
         "gradients that are added to stay inside"),
        ("transforms/traced.py", "if (held.owner(arguments)._grad is not None) is not there:",
         "if False:", "a trace is used though gradients are there now"),
        ("transforms/grad.py", "if follows and not ours.isdisjoint(node.operands):", "if follows:",
         "an inner gradient forgets what the outer one follows"),
        ("autograd/backward.py", "flowing[node] = part if before is None else before + part",
         "flowing[node] = part", "of several cotangents the last one counts"),
        ("passes/sums.py", "nothing = 1 if node.op is prod_ else 0", "nothing = 1",
         "the sum of nothing is one"),
        # ---- products that read at places in tables
        ("kernel/operands.py", "return Separable(base, position.constant, tuple(strides)",
         "return Separable(base, 0, tuple(strides)", "places count from the first element"),
        ("kernel/operands.py", "return (columns, rows) if self.turned else (rows, columns)",
         "return (rows, columns)",
         "a turned product takes rows for steps"),
        ("backends/cpu/products.py", "inside % part.by if isinstance(part, Remainder) else inside // part.by",
         "inside // part.by", "windows begin where they end"),
        ("kernel/epilogue.py", "axes[ends.index(columns * rows) if fits else 1]",
         "axes[ends.index(columns * rows) if fits else 0]", "a turned product of one column fills one row"),
        ("backends/cpu/epilogue_emit.py", 'begins = w.compare("eq", w.rem("%m", tall), 0)',
         'begins = w.compare("eq", "%m", 0)', "later blocks of rows begin with what lies in memory"),
        ("backends/cpu/epilogue_emit.py", 'w.div("%n", wide), begins, (row, "%rows"), start)',
         'w.div("%n", wide), begins, (row, "%rows"), 0)', "a maximum of negative numbers is nothing"),
        ("kernel/epilogue.py", "shape: Shape = (prod(batch) * -(-height // rows), width)",
         "shape: Shape = (-(-height // rows), width)", "sums over rows leave out all items but one"),
        # ---- one program for many sizes
        ("runtime/growing.py", "self.least <= size <= self.most and self.line.at(size) == sizes",
         "self.least <= size <= self.most", "graphs of other sizes are taken for this one"),
        # ---- found by the fuzzer
        ("schedule/fuse.py", 'return read.aligned == "same" and span != COLUMN',
         'return read.aligned == "same"', "totals of columns are taken for those of rows"),
    )
]  # fmt: skip
