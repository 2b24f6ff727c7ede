"""Chained products against NumPy in float64: forms, odd sizes, dtypes, values that are none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import treadle as td
from treadle.autograd.backward import gradients
from treadle.backends.cpu.program import Program
from treadle.base.dtypes import dtype
from treadle.base.knobs import override
from treadle.ir.graph import structure
from treadle.kernel.steps import ChainStep
from treadle.ops import activations, neural
from treadle.ops import elementwise as e
from treadle.ops.contract import matrix_product
from treadle.ops.reduce import max_, sum_
from treadle.passes import tiles
from treadle.runtime.realize import compile_graph, forget
from treadle.testing.arrays import by_reference, compiled, node_of
from treadle.testing.gradcheck import gradcheck

NONE = -math.inf


@pytest.fixture
def eager(monkeypatch):
    """Chains wherever they can be, however small and dear."""
    for name in ("SMALL", "SHORT", "LARGE", "FEWEST_ROWS"):
        monkeypatch.setattr(tiles, name, 1)
    able = replace(Program.takes.chains, balance=1 << 40)
    monkeypatch.setattr(Program, "takes", replace(Program.takes, chains=able))
    forget()  # programs that were made otherwise
    yield
    forget()


def normal(*shape, kind="float32", seed=0):
    rng = np.random.default_rng(seed + sum(shape) + len(shape))
    return node_of(rng.standard_normal(shape).astype(np.float32), dtype(kind))


def is_chained(roots):
    program = compile_graph(roots, structure(roots)[1], {})
    return any(isinstance(step, ChainStep) for step in program.steps)


def error(found, wanted):
    wanted = np.asarray(wanted, np.float64)
    found = np.asarray(found).astype(np.float64)
    odd = ~np.isfinite(wanted)
    assert np.array_equal(found[odd], wanted[odd], equal_nan=True)
    top = np.abs(wanted[~odd]).max(initial=0.0) or 1.0
    return np.abs(found[~odd] - wanted[~odd]).max(initial=0.0) / top


def check(roots, tolerance=3e-6, chained=True):
    assert is_chained(roots) is chained
    expected = by_reference(roots, precise=True)  # before they are in memory
    for got, want in zip(compiled(roots), expected, strict=True):
        assert error(got, want) <= tolerance


def seen(s, test):
    return e.where(test, s, NONE)


def below(s):
    return s.iota_like(-2) >= s.iota_like(-1)


def near(s):
    return below(s) & (s.iota_like(-2) - s.iota_like(-1) < 7)


FORMS = {
    "softmax": neural.softmax,
    "causal": lambda s: neural.softmax(seen(s, below(s))),
    "window": lambda s: neural.softmax(seen(s, near(s))),
    "after": lambda s: neural.softmax(e.where(s.iota_like(-2) < s.iota_like(-1) - 3, NONE, s)),
    "cap": lambda s: neural.softmax(e.tanh(s * 0.2) * 5.0),
    "relu": activations.relu,
    "square": lambda s: activations.relu(s) * activations.relu(s),
    "share": lambda s: e.exp(s * 0.1) / (sum_(e.exp(s * 0.1), axis=-1, keepdims=True) + 1.0),
    "two runs": lambda s: e.tanh(s - sum_(s, axis=-1, keepdims=True) * 0.01),
    "by the largest": lambda s: s / max_(abs(s), axis=-1, keepdims=True),
    "distance": lambda s: neural.softmax(
        s + e.cast(s.iota_like(-1) - s.iota_like(-2), s.dtype) * 0.1
    ),
}
SIZES = [  # batch, rows, columns, depth, width
    ((), 16, 16, 1, 1), ((2,), 65, 97, 5, 3), ((3, 1), 64, 96, 64, 64), ((1,), 1, 33, 8, 8),
    ((2,), 33, 1, 4, 7), ((9,), 20, 193, 16, 6), ((2, 5), 70, 31, 7, 17), ((), 200, 130, 33, 70),
]  # fmt: skip


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("both", [True, False], ids=["both", "apart"])
@pytest.mark.parametrize("name", FORMS)
def test_forms_and_gradients(name, both, monkeypatch):
    """Directions of a backward pass in one kernel or apart; rows of a window may be empty."""
    able = replace(Program.takes.chains, both=both)
    monkeypatch.setattr(Program, "takes", replace(Program.takes, chains=able))
    forget()
    for batch, rows, columns, depth, width in (SIZES[1], SIZES[5], SIZES[6]):
        q, k = normal(*batch, rows, depth), normal(*batch, columns, depth)
        v = normal(*batch, columns, width)

        def mixed(q=q, k=k, v=v):
            y = matrix_product(FORMS[name](matrix_product(q, k.mT) * 0.5), v)
            return y, gradients([y], [q, k, v], [normal(*y.shape, seed=1)])

        check([mixed()[0]])
        y, slopes = mixed()
        check([y, *slopes], 1e-5)
        check(mixed()[1], 1e-5)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16"])
def test_sizes_and_dtypes(size, kind):
    batch, rows, columns, depth, width = size
    q, k, v = (normal(*batch, n, m, kind=kind)
               for n, m in ((rows, depth), (columns, depth), (columns, width)))  # fmt: skip
    y = matrix_product(
        neural.softmax(seen(matrix_product(q, k.mT) * 0.5, below(matrix_product(q, k.mT)))), v
    )
    unit = {"float32": 2e-7, "float64": 1e-15, "float16": 5e-4, "bfloat16": 4e-3}[kind]
    roots = [y, *gradients([y], [q, k, v], [normal(*y.shape, kind=kind, seed=1)])]
    expected = by_reference(roots, precise=True)
    for got, want in zip(compiled(roots), expected, strict=True):
        assert error(got, want) <= 40 * unit


@pytest.mark.usefixtures("eager")
def test_totals_of_another_dtype_make_no_chain():
    s = matrix_product(normal(20, 4), normal(4, 30))
    check([sum_(e.cast(s > 0.5, dtype("int64")), axis=-1)], chained=False)
    check([sum_(e.cast(s, dtype("float64")), axis=-1)], 1e-6, chained=False)
    wide, other = (e.cast(x, dtype("float64")) for x in (s, normal(30, 4)))
    check([matrix_product(wide, other)], 1e-6, chained=False)


@pytest.mark.usefixtures("eager")
def test_an_empty_axis_makes_no_chain():
    for rows, columns, width in ((0, 32, 8), (32, 0, 8), (32, 32, 0)):
        q, k, v = normal(2, rows, 4), normal(2, columns, 4), normal(2, columns, width)
        assert compiled([matrix_product(activations.relu(matrix_product(q, k.mT)), v)])[
            0
        ].shape == (2, rows, width)


@pytest.mark.usefixtures("eager")
def test_masks_in_memory_and_rows_that_see_nothing():
    q, k, v = normal(2, 4, 40, 8), normal(2, 4, 110, 8), normal(2, 4, 110, 8)
    mask = np.random.default_rng(0).random((2, 1, 40, 110)) > 0.5
    mask[0, 0, 3], mask[1, 0, :, :100] = False, False
    y = neural.scaled_dot_product_attention(q, k, v, node_of(mask))
    check([y, *gradients([y], [q, k, v], [normal(*y.shape, seed=1)])], 1e-5)
    check(
        [matrix_product(neural.softmax(seen(matrix_product(q, k.mT), node_of(mask))), v)]
    )  # no numbers, as it says
    added = normal(4, 40, 110)
    check([neural.scaled_dot_product_attention(q, k, v, added, scale=0.3)])


@pytest.mark.usefixtures("eager")
def test_groups_of_heads_share_keys():
    q, k, v = normal(2, 6, 50, 8), normal(2, 2, 70, 8), normal(2, 2, 70, 5)
    y = neural.scaled_dot_product_attention(q, k, v, is_causal=True)
    check([y, *gradients([y], [q, k, v], [normal(*y.shape, seed=1)])], 1e-5)


@pytest.mark.usefixtures("eager")
def test_operands_lie_anywhere():
    q, k, v = normal(2, 40, 3, 8), normal(2, 8, 3, 50), normal(3, 50, 2, 7)
    heads = q.permute(0, 2, 1, 3), k.permute(0, 2, 3, 1), v.permute(2, 0, 1, 3)
    y = neural.scaled_dot_product_attention(*heads)
    check([y.permute(0, 2, 1, 3), *gradients([y], [q, k, v], [normal(*y.shape, seed=1)])], 1e-5)


@pytest.mark.usefixtures("eager")
def test_infinities_and_nan_stay_in_their_rows():
    values = np.random.default_rng(0).standard_normal((2, 70, 8)).astype(np.float32)
    values[0, 5], values[1, 60, 3], values[1, 2, 0] = np.inf, np.nan, -np.inf
    q, k, v = node_of(values), normal(2, 120, 8), normal(2, 120, 8)
    check([matrix_product(neural.softmax(matrix_product(q, k.mT)), v)])


@pytest.mark.usefixtures("eager")
def test_what_follows_a_product_runs_on_it():
    q, k, v, w = normal(2, 4, 40, 8), normal(2, 4, 50, 8), normal(2, 4, 50, 8), normal(2, 4, 40, 8)
    y = e.cast(
        matrix_product(neural.softmax(matrix_product(q, k.mT)), v) * 2.0 + w, dtype("float16")
    )
    program = compile_graph([y], structure([y])[1], {})
    assert [step.cluster.kind for step in program.steps] == ["chain"]
    check([y], 1e-3)


@pytest.mark.usefixtures("eager")
def test_gradients_are_slopes():
    def attend(q, k, v):
        return td.scaled_dot_product_attention(q, k, v, is_causal=True)

    rng = np.random.default_rng(0)
    gradcheck(attend, [td.tensor(rng.standard_normal((2, 17, 4))) for _ in range(3)])


@pytest.mark.usefixtures("eager")
def test_results_do_not_depend_on_threads():
    q, k, v = normal(9, 130, 8), normal(9, 190, 8), normal(9, 190, 8)

    def results():
        y = matrix_product(neural.softmax(matrix_product(q, k.mT)), v)
        return compiled([y, *gradients([y], [q, k, v], [normal(*y.shape, seed=1)])])

    many = results()
    with override(threads=1):
        one = results()
    assert all(np.array_equal(a, b) for a, b in zip(many, one, strict=True))


@pytest.mark.usefixtures("eager")
def test_a_loss_picks_its_logits():
    h, w = normal(70, 8), normal(300, 8)
    label = np.random.default_rng(0).integers(0, 300, 70)
    label[4] = -100
    y = neural.cross_entropy(matrix_product(h, w.mT), node_of(label))
    check([y, *gradients([y], [h, w], [None])], 1e-5)
    check(
        [neural.cross_entropy(matrix_product(h, w.mT), node_of(label), label_smoothing=0.1)], 1e-5
    )
