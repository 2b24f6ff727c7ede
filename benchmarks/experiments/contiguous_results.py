"""Contiguous results always, or when needed?

After a movement (a transpose, a slice, a flip, a broadcast) the next op may read the view as it
lies, or a copy in order may be written first. `--device cuda` does the same on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import treadle as td
from benchmarks.experiments.turns import View, compare, compiled, copied_first, parse, random, table

SIDES = (256, 1024, 4096)

MOVEMENTS: dict[str, View] = {
    "a transpose": lambda x: x.T,
    "every second column": lambda x: x[:, ::2],
    "half of the columns": lambda x: x[:, : x.shape[1] // 2],
    "a flip of the rows": lambda x: td.flip(x, (0,)),
}
READERS: dict[str, Callable[[Any], Any]] = {
    "a map": lambda x: td.exp(x) + 1.0,
    "sums of rows": lambda x: x.sum(1),
    "sums of columns": lambda x: x.sum(0),
    "softmax": lambda x: td.softmax(x, axis=1),
    "a product": lambda x: x @ x[: x.shape[1], :].T if x.shape[0] >= x.shape[1] else x @ x.T,
}


def main() -> None:
    """Print a table."""
    options = parse(__doc__, devices=True)
    ratios = []
    for side in SIDES:
        x = random(side, side, device=options.device)
        for moved, move in MOVEMENTS.items():
            for read, reader in READERS.items():
                if read == "a product" and side > 1024:
                    continue
                ways = {
                    "when needed": compiled(lambda x, r=reader, m=move: r(m(x)), x),
                    "always": copied_first(reader, [move], x),
                }
                title = f"{read} of {moved}, {side} x {side}"
                ratios.append((title, compare(title, ways, options)[1:]))
    table(ratios, ("what", "always / when needed"))


if __name__ == "__main__":
    main()
