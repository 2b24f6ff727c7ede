"""Writes docs/walk.md: two expressions through every stage, with what each really prints.

    python tools/walk.py            write the page
    python tools/walk.py --check    exit with 1 if the page is behind the compiler

The page is made for a fixed processor, so that it is the same wherever it is made.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import llvmlite

import treadle as td
from treadle.backends.cpu import chain_plan, gemm_plan, gemm_problem, jit
from treadle.backends.cpu.chain_emit import tile_text
from treadle.backends.cpu.emit import kernel_text
from treadle.backends.cpu.host import AVX2
from treadle.backends.cpu.products import Words
from treadle.backends.cpu.program import Program
from treadle.base import trace
from treadle.base.dtypes import float32
from treadle.base.shapes import Shape
from treadle.base.target import Takes
from treadle.ir.node import Node, placeholder, type_of
from treadle.ir.printer import graph_text
from treadle.ir.recording import RECORDING
from treadle.kernel.chain import LANES
from treadle.kernel.choose import Style, choose, units
from treadle.kernel.cost import rows_of
from treadle.kernel.plan import plan_steps
from treadle.kernel.signature import Signature
from treadle.kernel.steps import ChainStep, ProductStep, Step
from treadle.passes.pipeline import simplify
from treadle.runtime.explain import kernel_table

PAGE = Path(__file__).parent.parent / "docs" / "walk.md"
ASSEMBLY = "## 8. Assembly"
ROWS, DEPTH, COLUMNS = 256, 512, 384
LENGTH, HEADS, WIDTH = 512, 4, 64


def scores(x: Node, w: Node) -> Node:
    """The line that the page follows."""
    return td.softmax(x @ w)


def block(x: Node, w: Node, out: Node) -> Node:
    """The lines that the second walk follows: attention, and what is beside it."""
    q, k, v = td.unbind((x @ w).reshape(LENGTH, 3, HEADS, WIDTH).permute(1, 2, 0, 3))
    y = td.scaled_dot_product_attention(q, k, v, is_causal=True)
    return x + y.permute(1, 0, 2).reshape(x.shape) @ out


def record(lines: Callable[..., Node], *shapes: Shape) -> Node:
    """Lines run on leaves, with their numbers kept."""
    leaves = [placeholder(type_of(shape, float32)) for shape in shapes]
    before = RECORDING.sites
    RECORDING.watch(True, RECORDING.made)
    try:
        return lines(*leaves)
    finally:
        RECORDING.watch(before, RECORDING.made)


def product_plan(product: ProductStep) -> gemm_problem.Plan:
    """How the product is cut up."""
    left, right = product.left, product.right
    problem = gemm_problem.Problem(
        m=ROWS, n=COLUMNS, k=DEPTH, c_row=COLUMNS,
        a_strides=(left.strides[0], left.strides[1]),
        b_strides=(right.strides[0], right.strides[1]),
    )  # fmt: skip
    return gemm_plan.plan(problem, AVX2)


def first_loop(ir: str) -> str:
    """The first loop inside the loop over rows, in IR."""
    head = re.findall(r"^(head\d+):", ir, re.MULTILINE)[1]
    start = ir.index(f"{head}:")
    return ir[start : ir.index(f"br label %{head}", start)] + f"br label %{head}"


def first_machine_loop(assembly: str) -> str:
    """The first block of instructions that jumps back to its own start."""
    for match in re.finditer(r"^(\.LBB\w+):\n((?:\t.*\n)+)", assembly, re.MULTILINE):
        if re.search(rf"\tj\w+\t{re.escape(match[1])}\n", match[2]):
            return match[0].expandtabs(8).rstrip()
    raise AssertionError("no loop")


def fenced(text: str, language: str = "text") -> str:
    """A code block."""
    lines = "\n".join(line.rstrip() for line in text.rstrip().splitlines())
    return f"```{language}\n{lines}\n```"


def walk() -> str:
    """The page."""
    root = record(scores, (ROWS, DEPTH), (DEPTH, COLUMNS))
    recorded = graph_text([root])
    with trace.listen() as report:
        (simple,) = simplify([root])
        steps = plan_steps([simple], {}, Takes((float32,)))
    (product,) = [step for step in steps if isinstance(step, ProductStep)]
    (built,) = [built for step in steps if step is not product for built in step.programs()]
    style, loops = choose(built.loops, AVX2)
    blocks = -(-units(loops, style, AVX2) // loops.rows_per_block)
    plan = product_plan(product)
    cut = [[phase.blocks for phase in plan.phases], [blocks]]
    rows = rows_of(steps, cut, report.fact("refused"))
    signature = Signature(loops)
    ir = kernel_text(signature.text, style, AVX2)
    assembly = jit.assembly(ir, AVX2, style.effort)
    fired = "\n".join(f"{name:20} {count}" for name, count in report.fact("rules").items())
    phases = "\n".join(f"{phase.entry:12} {phase.blocks} blocks" for phase in plan.phases)
    values = ", ".join(f"p{k} = {value}" for k, (_, value) in enumerate(signature.values))
    first = TEMPLATE.format(
        rows=ROWS, depth=DEPTH, columns=COLUMNS,
        recorded=fenced(recorded), simplified=fenced(graph_text([simple])), fired=fenced(fired),
        groups=fenced(kernel_table(rows)), phases=fenced(phases), loops=fenced(str(loops)),
        signature=fenced(signature.text), values=values, style=style,
        per_block=loops.rows_per_block, blocks=blocks,
        ir=fenced(first_loop(ir), "llvm"), ir_lines=len(ir.splitlines()), assembly_title=ASSEMBLY,
        assembly=fenced(first_machine_loop(assembly), "asm"), version=llvmlite.__version__,
    )  # fmt: skip
    return first + second_walk()


def second_walk() -> str:
    """The second part of the page."""
    width = HEADS * WIDTH
    root = record(block, (LENGTH, width), (width, 3 * width), (width, width))
    with trace.listen() as report:
        (simple,) = simplify([root])
        steps = plan_steps([simple], {}, Program.takes)
    (step,) = [step for step in steps if isinstance(step, ChainStep)]
    chain = step.chain
    cut = chain_plan.cut(chain, AVX2)
    tiles = HEADS * -(-LENGTH // LANES) * -(-LENGTH // cut.step)
    blocks = [[cut.tasks] if s is step else [product_blocks(s)] for s in steps]
    sweep = Signature(chain.sweeps[0].program.loops)
    text = tile_text(sweep.text, Style(effort=2), AVX2)
    return SECOND.format(
        length=LENGTH, heads=HEADS, head_width=WIDTH, width=width, lanes=LANES, step=cut.step,
        simplified=fenced(graph_text([simple])),
        groups=fenced(kernel_table(rows_of(steps, blocks, report.fact("refused")))),
        first=fenced(str(chain.first.loops)), chain=fenced(str(chain)), tasks=cut.tasks,
        scratch=f"{cut.nbytes / 1e3:.0f}", scores=f"{HEADS * LENGTH * LENGTH * 4 / 1e6:.0f}",
        tiles=tiles, signature=fenced(sweep.text), ir_lines=len(text.splitlines()),
    )  # fmt: skip


def product_blocks(step: Step) -> int:
    """Blocks of a product's last phase."""
    if not isinstance(step, ProductStep):
        raise TypeError("the block is products and a chain")
    return Words(step).plan(AVX2)[1].phases[-1].blocks


TEMPLATE = """# A walk through the compiler

<!-- Written by tools/walk.py; do not edit. -->

This page follows one line, `td.softmax(x @ w)`, from Python to machine code. Everything in the
boxes was printed by the stage it belongs to. `TREADLE_DEBUG=6` prints the same for any program,
and `td.explain(f, *args)` prints the middle part.

## 1. The line

```python
import treadle as td

x, w = td.zeros({rows}, {depth}), td.zeros({depth}, {columns})
y = td.softmax(x @ w)
```

Nothing is computed yet. Each op checked shapes and dtypes, made one node and returned.

## 2. The recorded graph

`ir/printer.py` prints any graph, one node a line, and `ir/parser.py` reads it back.

{recorded}

`matmul` and `softmax` are *composite* ops: rows of the op table that are defined by other ops.
What stands in brackets is an op's arg: for a composite, the names of the operands it was given
and its options.

## 3. The simplified graph

`passes/pipeline.py` runs all rewrite rules from the leaves upwards, once. Composites are replaced
by their definitions, constants folded, views merged, equal nodes shared.

{simplified}

The rules that fired:

{fired}

## 4. The groups

`schedule/fuse.py` decides which nodes share a kernel and keeps a reason where they do not;
`schedule/keep.py` decides what is written to memory.

{groups}

The maximum, the exponential, the sum and the division work on one row at a time, so they are one
kernel in which the row stays in cache. The product is a template of its own: maps could run on
its tiles, but a row of the result is spread over several tiles, and softmax needs the whole row.

## 5. The product

`backends/cpu/gemm_plan.py` cuts the product for the caches of the target. Each line is a loop
whose blocks the threads share:

{phases}

## 6. The loop program

`kernel/lower.py` turns the other group into axes, passes and scalar expressions. Views are gone:
they have become index arithmetic.

{loops}

The kernel's identity is its structure. Extents, strides and constants are parameters ({values}),
so that one compiled kernel serves every shape (`kernel/signature.py`):

{signature}

Emitters are given this text and nothing else (`kernel/parser.py` reads it), so no number outside of
it can decide code.

`kernel/choose.py` picks a style: *{style}*, {per_block} rows a block, {blocks} blocks for the
threads to share.

## 7. LLVM IR

`backends/cpu/emit.py` writes {ir_lines} lines of IR, here for a processor with AVX2. This is the
first pass over a row, the maximum: vectors, unrolling and the order of operations are explicit,
so results do not depend on what LLVM likes. The second comparison makes a NaN win.

{ir}

{assembly_title}

The same loop after llvmlite {version}, for the same processor:

{assembly}

The address of this function and its parameters become one line of the program's table. Running
the program is one call of a native loop that walks the table (`backends/cpu/workers.py`).
"""


SECOND = """
# A second walk: an attention block

```python
def block(x, w, out):  # {length} positions of {width} numbers, {heads} heads of {head_width}
    q, k, v = td.unbind((x @ w).reshape({length}, 3, {heads}, {head_width}).permute(1, 2, 0, 3))
    y = td.scaled_dot_product_attention(q, k, v, is_causal=True)
    return x + y.permute(1, 0, 2).reshape(x.shape) @ out
```

Attention is two products with a softmax between them. Written one after the other they would store
a score for every pair of positions: {scores} MB here, and sixteen times that at four times the
length. This walk shows how they become one kernel that stores none. Nothing in it knows the word
attention.

## 1. The simplified graph

The composite is gone; what is left are products, a comparison of indices, a maximum, sums and maps.
Heads are views: no node moves memory.

{simplified}

## 2. The groups

`passes/tiles.py` looks for *spaces*: elements that a product makes and that another product, or a
sum, uses up, with maps and row statistics between. `schedule/chains.py` decides whether a space is
worth a *chain*, where its elements live in tiles only. Products at the ends stay as they are, and
the sum with `x` runs on the tiles of the last one.

{groups}

The query, key and value of a head are parts of one result and read where they lie
(`kernel/operands.py`): after `[lane]` and `[stream]` below stand the first element and the steps
from head to head, row to row and column to column.

## 3. The chain

One task takes {lanes} *lanes* (queries) and lets the *stream* (keys) go by, {step} at a time. What
a lane knows is kept in scratch: its running maximum (`state0`), its sum (`state1`) and its row of
the result (`acc0`). They begin with

{first}

and then, for every tile,

{chain}

How sums can be taken before the maximum is known is derived in `kernel/running.py` from their form,
a sum of `exp(x - max)`: when a tile raises the maximum, what was added up so far is multiplied by
`exp(old - new)`, which is `factor-state0`. A lane that has seen nothing but `-inf` counts from 0.
The last program divides, once for each row.

The line *tiles where* comes from the mask: `kernel/limits.py` reads comparisons of indices out of
what a sum adds up, and tiles on which nothing is left are never made. Of {tiles} tiles of this
block about half are skipped.

## 4. The kernel

`backends/cpu/chain_plan.py` cuts {tasks} tasks with {scratch} kB of scratch each, which stays in a
core's own cache. `backends/cpu/chain_tasks.py` is the loop over tiles, the same for every chain: it
packs the lanes' rows once, calls the micro-kernel of products for `tile0`, the tile's program, and
the micro-kernel again for `acc0`. The program is code of its own ({ir_lines} lines of IR), made by
the emitter of the first walk from the text that tells it from others:

{signature}

On a GPU `backends/cuda/chain.py` writes the same chain as one Triton kernel: a tile is a value, its
program the lines between two `tl.dot`.

The backward pass is found the same way. Scores are made again, tile by tile, from the saved
statistics of each row, and used up by the products that make the gradients.
"""


def main() -> int:
    """Write the page, or check it."""
    text = walk()
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
