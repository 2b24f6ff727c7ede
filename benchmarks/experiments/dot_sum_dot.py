"""The three orders of dot -> sum -> dot.

A sum over an axis that neither product contracts may be taken before the first, between the two
or after the second: sum(a @ b) @ c, (sum(a)) @ b @ c, sum(a @ b @ c), with a of (count, m, k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import treadle as td
from benchmarks.experiments.turns import compare, compiled, parse, random, table

SHAPES = (  # count, m, k, n, p
    (2, 64, 64, 64, 64),
    (16, 64, 64, 64, 64),
    (16, 256, 256, 256, 256),
    (16, 256, 64, 1024, 64),  # a wide middle
    (64, 32, 512, 32, 512),  # a narrow middle
    (4, 1024, 1024, 1024, 1024),
)


ORDERS: dict[str, Callable[..., Any]] = {
    "dot, sum, dot": lambda a, b, c: (a @ b).sum(0) @ c,
    "sum, dot, dot": lambda a, b, c: a.sum(0) @ b @ c,
    "dot, dot, sum": lambda a, b, c: (a @ b @ c).sum(0),
}


def main() -> None:
    """Print a table."""
    options = parse(__doc__, devices=True)
    ratios = []
    for count, m, k, n, p in SHAPES:
        shapes = ((count, m, k), (k, n), (n, p))
        operands = [random(*s, device=options.device, seed=i) for i, s in enumerate(shapes)]
        ways = {name: compiled(order, *operands) for name, order in ORDERS.items()}
        title = f"{count} x ({m}, {k}) . ({k}, {n}) . ({n}, {p})"
        kernels = [len(td.explain(order, *operands).rows) for order in ORDERS.values()]
        ratios.append((title, compare(f"{title}, {kernels} kernels", ways, options)))
    table(ratios, ("shape", *ORDERS))


if __name__ == "__main__":
    main()
