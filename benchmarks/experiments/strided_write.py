"""Strided write against contiguous write plus movement.

exp(x) of a matrix shall lie transposed in memory. A kernel may read in order and write with a
stride, read with a stride and write in order, or write in order first and move afterwards. All
are loops in rows, by the same emitter; "as compiled" is what the scheduler makes of it.
"""

from __future__ import annotations

import numpy as np

import treadle as td
from benchmarks.experiments.by_hand import Loop, Loops
from benchmarks.experiments.turns import compare, compiled, parse, table

SIZES = ((128, 128), (512, 512), (1000, 1004), (2048, 2048), (4096, 4096))
MAP = """kernel f32 f32!
o0 < p0
i0 < p1
e0 f32 load b0[{source}]
{value}pass
set b1[{target}] {last}"""


def loop(rows: int, columns: int, source: str, target: str, stride: int, moves: bool) -> Loop:
    """Rows and columns of the loop; one side in order, the other with a stride."""
    value, last = ("", "e0") if moves else ("e1 f32 exp e0\n", "e1")
    text = MAP.format(source=source, target=target, value=value, last=last)
    return Loop(text, (0, 1), (rows, columns, columns, stride), rows)


def main() -> None:
    """Print a table."""
    options = parse(__doc__)
    ratios = []
    for m, n in SIZES:
        x = np.random.default_rng(0).standard_normal((m, n), np.float32)
        between, y = np.empty_like(x), np.empty((n, m), np.float32)
        in_order, strided, across = "o0*p2+i0", "o0+i0*p3", "o0*p2+i0"
        writes = loop(m, n, in_order, strided, m, moves=False)
        reads = loop(n, m, strided, across, n, moves=False)
        plain = loop(m, n, in_order, in_order.replace("p2", "p3"), n, moves=False)
        moved = loop(n, m, strided, across, n, moves=True)
        second = Loop(moved.text, (1, 2), moved.slots, moved.rows)
        given = td.tensor(x)
        ways = {
            "reads in order, writes strided": Loops([x, y], [writes], (n, m)),
            "reads strided, writes in order": Loops([x, y.copy()], [reads], (n, m)),
            "writes in order, then moves": Loops([x, between, y.copy()], [plain, second], (n, m)),
            "as compiled": compiled(lambda x: td.exp(x).T.contiguous(), given),
        }
        ratios.append((f"{m} x {n}", compare(f"exp of {m} x {n}, transposed", ways, options)))
    table(ratios, ("size", *ways))


if __name__ == "__main__":
    main()
