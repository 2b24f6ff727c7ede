"""A graph for every rewrite rule that the rule must change."""

from __future__ import annotations

from treadle.base.dtypes import bool_, float32, int32
from treadle.ir.node import CONST, const, full, iota
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.contract import gather, put, scatter_add, scatter_mul
from treadle.ops.contract import matrix_product as product
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.totals import prod_
from treadle.passes.decompose import CHUNK
from treadle.passes.selects import MAPS

REDUCTIONS = (sum_, max_, min_, prod_)
COMPARISONS = (e.lt, e.le, e.gt, e.ge, e.eq, e.ne)
BITS = (e.bitwise_and, e.bitwise_or, e.bitwise_xor)
WHOLE = (e.floor_divide, e.remainder, *BITS)
ARITHMETIC = (e.add, e.sub, e.mul, e.div, e.maximum, e.minimum)


def example_of(rule, leaf):
    """A graph for a rule; leaf(shape, dtype) makes its leaves."""
    if rule.pattern is None:
        return EXAMPLES[rule.name](leaf)
    for dtype in ("float32", "int32", "bool"):
        try:
            node = instance(rule.pattern, lambda dtype=dtype: leaf((3, 4), dtype), {})
        except TypeError:  # a pattern of logic has no float instance
            continue
        if rule.apply(node) is not None:
            return node
    raise AssertionError(rule.name)


def instance(pattern, leaf, holes):
    if pattern.op is None:
        if pattern.name not in holes:
            holes[pattern.name] = leaf()
        return holes[pattern.name]
    if pattern.op is CONST:
        return pattern.value
    return pattern.op(*(instance(x, leaf, holes) for x in pattern.operands))


def spread(leaf):
    return full(2.0, leaf((3, 4)).type)


def broadcast(leaf):
    return leaf((3, 1)).expand(2, 3, 4)


def parts(x, *ranges):
    return m.concat([m.slice_(x, [r]) for r in ranges])


def zeros(leaf, kind):
    return product(leaf((2, 3), kind), full(0, leaf((3, 4), kind).type))


grid = iota((6, 1), 0) * 8 + iota((1, 8), 1)
two, three = const(2.0, float32), const(3.0, float32)
seven, eleven = const(-7, int32), const(11, int32)


def choice(leaf, number, shape=(3, 4)):
    return e.where(leaf((3, 1), "bool"), const(number, float32), leaf(shape))


def choices(leaf, op):
    if op in (e.exp, e.neg):
        return op(choice(leaf, 0.0))
    test = leaf((3, 1), "bool")
    return op(*(e.where(test, const(k, float32), leaf((3, 4))) for k in (1.0, 2.0)))


def chosen_twice(leaf):
    test = leaf((3, 1), "bool")
    return e.where(test, const(1.0, float32), e.where(test, const(2.0, float32), leaf((3, 4))))


# fmt: off
EXAMPLES = {
    # constants
    **{f"fold-{op}": lambda leaf, op=op: op(two, three) for op in (*ARITHMETIC, *COMPARISONS)},
    **{f"fold-{op}": lambda leaf, op=op: op(seven, eleven) for op in WHOLE},
    "fold-neg": lambda leaf: e.neg(two),
    "fold-cast": lambda leaf: e.cast(two, "int32"),
    **{f"scalar-{op}": lambda leaf, op=op: op(leaf((3, 4)), spread(leaf))
       for op in (*ARITHMETIC, *COMPARISONS)},
    **{f"constant-right-{op}": lambda leaf, op=op: op(63, leaf((3,), "int32"))
       for op in (e.add, e.mul, *BITS)},
    **{f"regroup-{op}": lambda leaf, op=op: op(op(leaf((3,), "int32"), 63), 2**31 - 3)
       for op in (e.add, e.mul, *BITS)},
    **{f"regroup-{op}-float": lambda leaf, op=op: op(op(leaf((3,)), 1.1), 0.7)
       for op in (e.add, e.mul)},
    "div-power-of-two": lambda leaf: leaf((3,)) / 0.125,
    "div-constant": lambda leaf: leaf((3,)) / 3.0,
    "where-constant": lambda leaf: e.where(const(True, bool_), leaf((3,)), leaf((3,))),
    "where-same": lambda leaf: (lambda a: e.where(leaf((3,), "bool"), a, a))(leaf((3,))),
    "cast-same": lambda leaf: e.cast(leaf((3,)), "float32"),
    "cast-cast": lambda leaf: e.cast(e.cast(leaf((3,)), "float64"), "int32"),
    "compare-indices": lambda leaf: put(leaf((3, 8)), leaf((1, 3)), ((1, 2, 1), (1, 8, 3))),
    "detach": lambda leaf: e.detach(leaf((3,))),
    "rerouted": lambda leaf: e.rerouted(leaf((3,)), leaf((2, 3))),
    # ranges
    "quotient": lambda leaf: grid // 8,
    "remainder": lambda leaf: grid % 8,
    "mask": lambda leaf: (grid & 63) & 7,
    "minimum-range": lambda leaf: e.minimum(grid, 47),
    "maximum-range": lambda leaf: e.maximum(grid, 0),
    **{f"{op}-range": lambda leaf, op=op: op(grid, 48) for op in COMPARISONS},
    # views
    "permute-identity": lambda leaf: m.permute(leaf((2, 3)), 0, 1),
    "reshape-identity": lambda leaf: m.reshape(leaf((2, 3)), 2, 3),
    "expand-identity": lambda leaf: m.expand(leaf((2, 3)), 2, 3),
    "slice-identity": lambda leaf: m.slice_(leaf((2, 3)), [(0, 2, 1), (0, 3, 1)]),
    "pad-identity": lambda leaf: m.pad(leaf((2,)), [(0, 0)]),
    "flip-identity": lambda leaf: m.flip(leaf((1, 3)), 0),
    "reshape-constant": lambda leaf: m.reshape(spread(leaf), 12),
    "permute-constant": lambda leaf: m.permute(spread(leaf), 1, 0),
    "expand-constant": lambda leaf: m.expand(spread(leaf), 2, 3, 4),
    "slice-constant": lambda leaf: m.slice_(spread(leaf), [(0, 2, 1), (1, 4, 2)]),
    "pad-constant": lambda leaf: m.pad(spread(leaf), [(0, 2), (1, 0)], 2.0),
    "flip-constant": lambda leaf: m.flip(spread(leaf), 0),
    "concat-constant": lambda leaf: m.concat([spread(leaf), spread(leaf)], axis=1),
    "reshape-reshape": lambda leaf: leaf((2, 6)).reshape(3, 4).reshape(12),
    "permute-permute": lambda leaf: leaf((2, 3, 4)).permute(1, 2, 0).permute(2, 1, 0),
    "permute-as-reshape": lambda leaf: leaf((2, 1, 4)).permute(1, 0, 2),
    "expand-expand": lambda leaf: leaf((1, 3)).expand(2, 3).expand(4, 2, 3),
    "expand-reshape": lambda leaf: leaf((3,)).reshape(1, 3).expand(4, 2, 3),
    "flip-flip": lambda leaf: m.flip(m.flip(leaf((2, 3)), 0), (0, 1)),
    "permute-expand": lambda leaf: broadcast(leaf).permute(2, 0, 1),
    "reshape-expand": lambda leaf: broadcast(leaf).reshape(2, 1, 3, 4),
    "slice-expand": lambda leaf: m.slice_(broadcast(leaf), [(0, 2, 2), (1, 3, 1), (0, 4, 3)]),
    "flip-expand": lambda leaf: m.flip(broadcast(leaf)),
    "cast-expand": lambda leaf: e.cast(broadcast(leaf), "int32"),
    "slice-pad": lambda leaf: m.slice_(m.pad(leaf((5, 4)), [(2, 1), (0, 3)]),
                                       [(3, 8, 3), (0, 2, 1)]),
    "pad-pad": lambda leaf: m.pad(m.pad(leaf((3,)), [(1, 2)], 1.5), [(0, 4)], 1.5),
    "gather-cast": lambda leaf: gather(
        e.cast(leaf((5, 4)), int32), leaf((2, 4), "int64"), axis=0
    ),
    "slice-slice": lambda leaf: m.slice_(m.slice_(leaf((20,)), [(2, 17, 2)]), [(1, 7, 3)]),
    "slice-concat": lambda leaf: m.slice_(m.concat([leaf((3,)), leaf((5,)), leaf((4,))]),
                                          [(1, 7, 1)]),
    "concat-slices": lambda leaf: parts(leaf((9,)), (1, 4, 1), (4, 6, 1), (0, 9, 2)),
    "concat-one": lambda leaf: m.concat([leaf((3,)), leaf((0,))]),
    "concat-concat": lambda leaf: m.concat([m.concat([leaf((3,)), leaf((2,))]), leaf((5,))]),
    # sums
    "add-pads": lambda leaf: m.pad(leaf((2, 3)), [(0, 0), (3, 2)])
                             + m.pad(leaf((2, 3)), [(0, 0), (0, 5)]),
    **{f"{op}-constant": lambda leaf, op=op: op(full(0.75, leaf((3, 4)).type), axis=0)
       for op in (sum_, max_, min_)},
    "sum-expand": lambda leaf: sum_(broadcast(leaf), axis=(0, 1)),
    "sum-broadcast": lambda leaf: sum_(leaf((3, 1), "int64").expand(2, 3, 4), axis=(0, 2)),
    "sum-broadcast-float": lambda leaf: sum_(broadcast(leaf), axis=(0, 2)),
    **{f"{op}-nothing": lambda leaf, op=op: op(leaf((3, 1)), axis=1) for op in REDUCTIONS},
    **{f"{op}-of-none": lambda leaf, op=op: op(leaf((0, 3)), axis=0) for op in (sum_, prod_)},
    f"{product}-of-none": lambda leaf: product(leaf((2, 0)), leaf((0, 3))),
    "product-of-zeros": lambda leaf: zeros(leaf, "int32"),
    "product-of-zeros-float": lambda leaf: zeros(leaf, "float32"),
    "sum-reshape": lambda leaf: sum_(leaf((3, 4)).reshape(12)),
    **{f"split-{op}": lambda leaf, op=op: op(leaf((5 * CHUNK + 7,))) for op in REDUCTIONS},
    "deeper": lambda leaf: (
        product(leaf((9, 1)), leaf((1, 8))) + product(leaf((9, 1)), full(0.0, leaf((1, 8)).type))
    ),
    "lone-row": lambda leaf: product(leaf((2, 1, 1)), leaf((2, 1, 4)) * 2.0),  # one term: no order
    "few-batch-axes": lambda leaf: (
        product(leaf((2, 1, 3, 1, 2, 3, 4)), leaf((1, 2, 3, 2, 1, 4, 5)))
    ),
    **{f"{op}-choices": lambda leaf, op=op: choices(leaf, op) for op in MAPS},
    **{f"{op}-choice": lambda leaf, op=op: op(choice(leaf, 3.0), axis=1, keepdims=True)
       for op in (sum_, max_, min_)},
    "choice-twice": chosen_twice,
    **{f"widen-{op}": lambda leaf, op=op: op(
        leaf((3,), "bfloat16"), iota((12,), 0) % 2, leaf((12,), "bfloat16"), axis=0)
       for op in (scatter_add, scatter_mul)},
}
# fmt: on
