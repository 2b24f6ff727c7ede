"""Contiguous operands against packed from strides.

A product's operand that lies in another order (transposed, or a part of a wider matrix) is read
where it lies and packed tile by tile, or a contiguous copy is made for it first.
"""

from __future__ import annotations

from benchmarks.experiments.turns import View, compare, compiled, copied_first, parse, random, table

SIZES = (64, 128, 256, 512, 1024, 2048)
LAYOUTS: dict[str, tuple[View, View]] = {
    "left transposed": (lambda a: a.T, lambda b: b),
    "right transposed": (lambda a: a, lambda b: b.T),
    "both transposed": (lambda a: a.T, lambda b: b.T),
    "left part of a wider": (lambda a: a[:, : a.shape[0]], lambda b: b),
}


def main() -> None:
    """Print a table."""
    options = parse(__doc__, devices=True)
    ratios = []
    for size in SIZES:
        for name, (left, right) in LAYOUTS.items():
            wide = 2 * size if "wider" in name else size
            a = random(size, wide, device=options.device)
            b = random(size, size, device=options.device, seed=1)
            lying = left(a).contiguous().realize(), right(b).contiguous().realize()
            ways = {
                "contiguous operands": compiled(lambda a, b: a @ b, *lying),
                "packed from strides": compiled(lambda a, b, x=left, y=right: x(a) @ y(b), a, b),
                "copied first": copied_first(lambda a, b: a @ b, [left, right], a, b),
            }
            title = f"{size}, {name}"
            ratios.append((title, compare(title, ways, options)[1:]))
    table(ratios, ("product of", "packed from strides", "copied first"))


if __name__ == "__main__":
    main()
