"""Chained products: how many kernels they become, named in a table or made up here."""

from __future__ import annotations

import math

import pytest

from treadle.autograd.backward import gradients
from treadle.base.dtypes import dtype
from treadle.ir.graph import structure
from treadle.ir.node import leaf, type_of
from treadle.kernel.steps import ChainStep
from treadle.ops import activations, composite, neural
from treadle.ops import elementwise as e
from treadle.ops.contract import matrix_product
from treadle.ops.reduce import sum_
from treadle.runtime.realize import compile_graph

M, N, D, W = 160, 208, 32, 24  # rows, columns, depth, width of what is mixed
NONE = -math.inf


def given(*shape, kind="float32"):
    return leaf(type_of(shape, dtype(kind)), object())


def program_of(*roots):
    return compile_graph(roots, structure(roots)[1], {})


def kinds_of(*roots):
    return [step.cluster.kind for step in program_of(*roots).steps]


def sweeps_of(*roots):
    """Runs over the stream of each chain."""
    return [
        len(step.chain.sweeps) for step in program_of(*roots).steps if isinstance(step, ChainStep)
    ]


def operands(*batch, kind="float32"):
    shapes = ((*batch, M, D), (*batch, N, D), (*batch, N, W))
    return [given(*shape, kind=kind) for shape in shapes]


def indices(s):
    return s.iota_like(-2), s.iota_like(-1)


# ---- made up here: nothing in the compiler names them


def mixed(weights):
    return lambda s, v: matrix_product(weights(s), v)


def seen(s, test):
    return e.where(test, s, NONE)


def normalised_relu(s):
    s = activations.relu(s)
    return s / (sum_(s, axis=-1, keepdims=True) + 1.0)


def centred(s):
    return s - composite.mean(s, axis=-1, keepdims=True)


def alibi(s):
    row, column = indices(s)
    return neural.softmax(s + e.cast(column - row, s.dtype) * 0.1)


def sliding(s):
    row, column = indices(s)
    return neural.softmax(seen(s, (row >= column) & (row - column < 30)))


def dilated(s):
    row, column = indices(s)
    return neural.softmax(seen(s, e.eq((row - column) % 3, 0)))


ONE_KERNEL = {
    "softmax": neural.softmax,
    "relu": activations.relu,
    "normalised relu": normalised_relu,
    "squared relu": lambda s: activations.relu(s) * activations.relu(s),
    "nothing": lambda s: s * 0.5,
    "soft cap": lambda s: neural.softmax(e.tanh(s / 5.0) * 5.0),
    "alibi": alibi,
    "sliding window": sliding,
    "dilated": dilated,
    "sigmoid": activations.sigmoid,
    "centred": lambda s: centred(e.tanh(s)),
}


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_a_program_between_two_products_is_one_kernel(name):
    q, k, v = operands(2, 4)
    assert kinds_of(mixed(ONE_KERNEL[name])(matrix_product(q, k.mT), v)) == ["chain"]


@pytest.mark.parametrize("name", ["softmax", "soft cap", "alibi", "sliding window"])
def test_a_running_maximum_needs_one_run(name):
    q, k, v = operands(2, 4)
    assert sweeps_of(mixed(ONE_KERNEL[name])(matrix_product(q, k.mT), v)) == [1]


def test_what_cannot_be_kept_up_to_date_takes_another_run():
    q, k, v = operands(2, 4)
    assert sweeps_of(matrix_product(centred(e.tanh(matrix_product(q, k.mT))), v)) == [2]


ATTENTION = {
    "plain": (operands, lambda q, k, v: neural.scaled_dot_product_attention(q, k, v)),
    "causal": (
        operands, lambda q, k, v: neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    ),
    "bool mask": (
        lambda *batch: [*operands(*batch), given(M, N, kind="bool")],
        lambda q, k, v, mask: neural.scaled_dot_product_attention(q, k, v, mask),
    ),
    "added mask": (
        lambda *batch: [*operands(*batch), given(4, 1, N)],
        lambda q, k, v, mask: neural.scaled_dot_product_attention(q, k, v, mask),
    ),
    "groups": (
        lambda a, b: [given(a, b, M, D), given(a, b // 2, N, D), given(a, b // 2, N, W)],
        lambda q, k, v: neural.scaled_dot_product_attention(q, k, v, is_causal=True),
    ),
    "heads in rows": (
        lambda a, b: [given(a, M, b, D), given(a, N, b, D), given(a, N, b, W)],
        lambda *x: neural.scaled_dot_product_attention(*(y.permute(0, 2, 1, 3) for y in x)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("name", ATTENTION)
def test_attention_is_one_kernel_and_at_most_three_backward(name, kind):
    make, attend = ATTENTION[name]
    given_ = [x if x.dtype.kind == "bool" else e.cast(x, dtype(kind)) for x in make(2, 4)]
    leaves = [given(*x.shape, kind=x.dtype.name) for x in given_]
    y = attend(*leaves)
    assert kinds_of(y) == ["chain"]
    assert sweeps_of(y) == [1]
    wrt = leaves[:3]
    upstream = given(*y.shape, kind=kind)
    found = kinds_of(y, *gradients([y], wrt, [upstream]))
    assert len([k for k in found if k != "copy"]) <= 4
    assert "product" not in found


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("batch", [(2,), (2, 4)])
def test_tiles_that_a_mask_of_indices_rules_out_are_skipped(batch, kind):
    q, k, v = operands(*batch, kind=kind)
    y = neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    roots = [y, *gradients([y], [q, k, v], [given(*y.shape, kind=kind)])]
    chains = [step.chain for step in program_of(*roots).steps if isinstance(step, ChainStep)]
    for chain in chains:
        turned = chain.frame.turned
        assert chain.limits == [(-1, 1, 0) if turned else (1, -1, 0)]


def test_few_items_go_by_rows_and_by_columns():
    q, k, v = operands(2)
    y = matrix_product(neural.softmax(matrix_product(q, k.mT)), v)
    roots = [y, *gradients([y], [q, k, v], [given(*y.shape)])]
    assert kinds_of(*roots) == ["chain", "loop", "chain", "chain"]


def test_many_items_are_filled_in_both_directions_by_one_kernel():
    q, k, v = operands(2, 4)
    y = matrix_product(neural.softmax(matrix_product(q, k.mT)), v)
    roots = [y, *gradients([y], [q, k, v], [given(*y.shape)])]
    assert kinds_of(*roots) == ["chain", "loop", "chain"]


def test_a_loss_over_a_large_vocabulary_keeps_no_logits():
    h, w, label = given(512, 32), given(40_000, 32), given(512, kind="int64")
    y = neural.cross_entropy(matrix_product(h, w.mT), label)
    program = program_of(y)
    assert "product" not in [step.cluster.kind for step in program.steps]
    assert program.layout.nbytes < 512 * 40_000 * 4 // 20
    both = program_of(y, *gradients([y], [h, w], [None]))
    assert "product" not in [step.cluster.kind for step in both.steps]
    assert both.layout.nbytes < 512 * 40_000 * 4 // 20


def test_attention_keeps_no_scores():
    q, k, v = (given(1, 8, 1024, 64) for _ in range(3))
    y = neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    program = program_of(y, *gradients([y], [q, k, v], [given(*y.shape)]))
    assert program.layout.nbytes + 2 * program.scratch_bytes < 8 * 1024 * 1024 * 4 // 20


# ---- what stays as it is


def test_tiles_that_somebody_wants_are_written():
    q, k, v = operands(2, 4)
    weights = neural.softmax(matrix_product(q, k.mT))
    assert "chain" not in kinds_of(matrix_product(weights, v), weights)


def test_small_tiles_are_written():
    q, k, v = given(8, 8), given(8, 8), given(8, 8)
    assert "chain" not in kinds_of(matrix_product(neural.softmax(matrix_product(q, k.mT)), v))


def test_deep_products_are_written():
    x, a, b = given(512, 768), given(768, 2048), given(2048, 768)
    assert "chain" not in kinds_of(matrix_product(activations.relu(matrix_product(x, a)), b))


def test_three_products_in_a_row_share_no_product():
    a, b, c, d = (given(1024, 1024) for _ in range(4))
    assert kinds_of(matrix_product(matrix_product(matrix_product(a, b), c), d)) == [
        "product",
        "product",
        "product",
    ]
    a, d = given(1024, 32), given(1024, 32)
    found = kinds_of(
        matrix_product(matrix_product(matrix_product(a, given(32, 1024)), given(1024, 1024)), d)
    )
    assert found.count("chain") <= 1


def test_a_chain_says_what_it_is():
    q, k, v = operands(2, 4)
    (step,) = program_of(matrix_product(neural.softmax(matrix_product(q, k.mT)), v)).steps
    text = str(step.chain)
    assert text.startswith("chain over 2, 4 : lanes 160, stream 208") or "lanes 160" in text
    assert "32 deep" in text
    assert "acc0 = acc0 * factor-state0 + feed0" in text
