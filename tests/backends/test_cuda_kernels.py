"""Loop programs and products as Triton: interpreted against the reference, compiled for sm_90."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

import triton
from cuda_cases import CASES
from triton_host import (
    INTERPRETED,
    check,
    error_of,
    node_of,
    plan_of,
    run_interpreted,
)  # fmt: skip

from treadle.autograd.backward import gradients
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.launch import Memory
from treadle.backends.cuda.naming import PLACE
from treadle.backends.cuda.program import Plan
from treadle.base.dtypes import float32
from treadle.base.knobs import override
from treadle.ir.node import placeholder, type_of
from treadle.ops.activations import gelu
from treadle.ops.elementwise import cast, eq, maximum, sqrt, where
from treadle.ops.movement import slice_
from treadle.ops.neural import (
    layer_norm,
    log_softmax,
    scaled_dot_product_attention,
    softmax,
)
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
names = pytest.mark.parametrize("name", CASES)
FORMS = [
    "chain", "long_sums", "softmaxes", "scatter", "product_with_epilogue", "bfloat_product",
    "windows_in_place", "layer_norm_two_rows_at_a_time", "chained_attention_half", "chained_window",
    "chained_one_query_half",
]  # fmt: skip
"""One of each kind of kernel."""


@interpreted
@names
def test_interpreted(name):
    case = CASES[name]
    if case.size > 1 << 18:
        pytest.skip("too large to interpret")
    check(case.build(), case.tolerance)


@compiled
@names
def test_compiled_for_sm_90(name):
    plan, _ = plan_of(CASES[name].build())
    for launch in plan.launches:
        code = code_of(launch.source, 90)
        assert code.cubin[:4] == b"\x7fELF"
        assert code.name == PLACE
        assert code.shared <= 227 << 10
        assert code_of(launch.source, 90) == code  # now from disk


@compiled
@pytest.mark.parametrize("architecture", [80, 100])
@pytest.mark.parametrize("name", FORMS)
def test_compiled_for_others(name, architecture):
    plan, _ = plan_of(CASES[name].build(), architecture=architecture)
    for launch in plan.launches:
        code = code_of(launch.source, architecture)
        assert code.shared <= (163 if architecture == 80 else 227) << 10
        assert architecture > 80 or not code.maps  # its copy engine knows no tensors


def test_gradients_read_one_number_of_a_row():
    """A softmax's maximum and sum are one logarithm, unless somebody wants the sum's inverse."""
    rows = []
    for name in ("chained_shares", "chained_shares_wanted"):
        plan, _ = plan_of(CASES[name].build())
        chains = [x.source for x in plan.launches if "# a chain" in x.source.text]
        rows.append([sum(name.startswith("b1_") for name, _ in x.types) for x in chains])
    assert rows == [[0, 2, 2], [0, 3, 3]]


def test_few_blocks_of_lanes_are_cut_along_the_stream():
    grids = []
    for heads, rows in ((4, 1), (4, 40), (64, 1)):
        q, k = (node_of(np.zeros((4, heads, n, 16), np.float32)) for n in (rows, 4096))
        plan, _ = plan_of([scaled_dot_product_attention(q, k, k)])
        grids.append([launch.grid for launch in plan.launches])
    assert grids == [[(16, 8), (16, 1)], [(32, 4), (32, 1)], [(256, 1)]]


def test_masked_slopes_along_keys_have_long_tiles():
    """Where they fit registers: of width 64. Items are told apart without calls of a function."""
    found = {}
    for width, causal in ((64, True), (64, False), (128, True)):
        q, k, v, g = (node_of(np.zeros((2, 4, 200, width), ml_dtypes.bfloat16)) for _ in range(4))
        y = scaled_dot_product_attention(q, k, v, is_causal=causal)
        plan, _ = plan_of(gradients([y], [k, v], [g]))
        source = plan.launches[-1].source
        found[width, causal] = dict(source.constants)["BN"]
        assert "int64" not in source.text
    assert found == {(64, True): 128, (64, False): 64, (128, True): 64}


def test_tiles_of_products_do_little_and_meet_few_arrays():
    """A kernel of its own is quicker than tiles that wait, for memory or for what takes long."""
    x, y = (node_of(np.zeros((1024, 1024), ml_dtypes.bfloat16)) for _ in range(2))
    p, m, v = (node_of(np.zeros((1024, 1024), np.float32)) for _ in range(3))
    slope = cast(x.mT @ y, float32)
    steps = {
        "relu": [maximum(x @ y, 0.0)],
        "gelu": [gelu(x @ y)],
        "plain": [p - slope * 0.1],
        "adam": [p - (m + slope) / (sqrt(v + slope * slope) + 1.0)],
    }
    found = {name: len(plan_of(roots)[0].steps) for name, roots in steps.items()}
    assert found == {"relu": 1, "gelu": 2, "plain": 1, "adam": 2}


def test_one_structure_has_one_text():
    def texts(rows, columns):
        plan, _ = plan_of([softmax(node_of(np.zeros((rows, columns), np.float32)))])
        return [(x.source.text, x.source.constants) for x in plan.launches]

    assert texts(14, 1000) == texts(27, 999)


def test_small_memory_is_one_arena():
    x, w = node_of(np.ones((64, 48), np.float32)), node_of(np.ones((48, 48), np.float32))
    plan, _ = plan_of([layer_norm(x @ w) @ w])
    inside = [
        m.buffer for x in plan.launches for _, m in x.memories() if plan.found[m.buffer][0] == 0
    ]
    assert inside
    assert plan.layout.nbytes >= 64 * 48 * 4


@interpreted
def test_a_root_takes_over_its_leaf():
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = node_of(values.copy())
    plan, leaves = plan_of([x * 2.0 + 1.0], {0: 0})
    assert plan.outputs == [("leaf", 0)]
    (found,) = run_interpreted(plan, [leaf.buffer for leaf in leaves])
    assert error_of(found, values * 2.0 + 1.0) == 0.0
    assert found is leaves[0].buffer


def test_a_term_is_looked_up_by_all_threads_before_one_writes_there():
    x, label = node_of(np.zeros((40, 4096), np.float32)), node_of(np.zeros((40, 1), np.int64))
    found = sum_(where(eq(x.iota_like(-1), label), x, 0.0), axis=-1, keepdims=True)
    number = plan_of([x - found])[1].index(x)
    plan, _ = plan_of([x - found], {0: number})
    (launch,) = plan.launches
    text = launch.source.text
    assert plan.outputs == [("leaf", number)]
    assert text.index("mask=") < text.index("tl.debug_barrier()") < text.index("tl.store(")


def test_an_overwritten_leaf_is_copied_out_first():
    x = node_of(np.arange(12, dtype=np.float32))
    plan, _ = plan_of([x, x * 2.0], {1: 0})
    assert [kind for kind, _ in plan.outputs] == ["new", "leaf"]
    assert all(isinstance(x.arguments[0], Memory) for x in plan.launches)


@compiled
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_a_product_and_a_sum_are_rounded_each(kind, monkeypatch):
    written = []
    compile_ = triton.compile

    def noted(*args, **options):
        made = compile_(*args, **options)
        written.append(made.asm["ptx"])
        return made

    monkeypatch.setattr(triton, "compile", noted)
    monkeypatch.setattr("treadle.base.cache.read", lambda key: None)
    x, y, z = (node_of(np.full(4096, k, kind)) for k in (1, 2, 3))
    with override(round=1):
        plan, _ = plan_of([x * y + z])
    code_of(plan.launches[0].source, 90)
    assert "mul" in written[0]
    assert "fma" not in written[0]


@pytest.mark.parametrize(
    ("build", "once"), [(softmax, True), (log_softmax, True), (layer_norm, False)]
)
def test_a_maximum_and_sums_relative_to_it_read_long_rows_once(build, once):
    x, w = node_of(np.zeros((2, 20000), np.float32)), node_of(np.zeros(20000, np.float32))
    (launch,) = plan_of([build(x, w, w) if build is layer_norm else build(x)])[0].launches
    assert ("now" in launch.source.text) is once
    assert launch.source.text.count("for start in") == (4 if once else 6)  # each with its rest


NORMS = {  # columns, dtype: rows of a tile, warps, stages, whether rows go round the programs
    (768, "bfloat16"): (2, 4, 3, False),
    (2048, "float32"): (1, 4, 3, False),
    (4096, "float32"): (1, 16, 3, True),
    (4096, "bfloat16"): (2, 16, 4, True),
    (8192, "bfloat16"): (1, 8, 3, True),
}


@pytest.mark.parametrize(("columns", "kind"), NORMS)
def test_long_rows_with_column_sums_go_round_the_programs(columns, kind):
    rows, warps, stages, around = NORMS[columns, kind]
    x, slope = (node_of(np.zeros((1001, columns), kind)) for _ in range(2))
    w, b = (node_of(np.zeros(columns, kind)) for _ in range(2))
    y = layer_norm(x, w, b)
    plan, _ = plan_of([y, *gradients([y], [x, w, b], [slope])])
    norm, sums = plan.launches  # those of w and of b in one
    text = norm.source.text
    assert (dict(norm.source.constants)["ROWS"], norm.source.warps) == (rows, warps)
    assert f"num_stages={stages})" in text
    assert ("tl.num_programs(0) * ROWS" in text) is around
    assert ("program * rows_per_block" in text) is not around
    assert ("tl.sum(tl.broadcast_to(" in text) is (around and rows > 1)
    assert norm.grid == (126 if around else 501, 1)
    assert sums.source.text.count("tl.program_id") == 1


def test_three_sums_by_column_leave_no_registers_for_two_rows():
    """And a tile of columns, where nothing is reduced along rows, has fewer programs if stored."""
    x, slope = (node_of(np.zeros((4096, 3072), ml_dtypes.bfloat16)) for _ in range(2))
    w, b, c = (node_of(np.zeros(3072, ml_dtypes.bfloat16)) for _ in range(3))
    y = layer_norm(x + c, w, b)
    plan, _ = plan_of([y, *gradients([y], [x, w, b, c], [slope])])
    assert dict(plan.launches[0].source.constants)["ROWS"] == 1
    assert len(plan.launches) == 2
    for roots, programs in (([x.sum(0)], 256), ([sqrt(x), sqrt(x).sum(0)], 171)):
        plan, _ = plan_of(roots)
        assert plan.launches[0].grid == (programs, 3)


@pytest.mark.parametrize(
    ("shape", "build"),
    [
        ((70, 128 * 65537), lambda x: sum_(x, axis=0)),
        ((64, (1 << 28) + 4096), lambda x: sum_(x, axis=0)),
        ((64, 64 * 65600), lambda x: x.T @ slice_(x, [(0, 64, 1), (0, 64, 1)])),
    ],
)
def test_a_grid_has_only_so_many_programs_along_its_second_axis(shape, build):
    x = placeholder(type_of(shape, float32))
    with override(tf32=1):
        plan = Plan(simplify([build(x)]), [x], {}, 132, architecture=90)
    assert len(plan.launches) > 1
    assert all(launch.grid[1] < 1 << 16 for launch in plan.launches)
