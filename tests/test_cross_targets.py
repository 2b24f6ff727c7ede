"""Kernels compile for processors other than this one."""

from __future__ import annotations

import pytest

from treadle.autograd.backward import gradients
from treadle.backends.cpu import fft, gemm_tasks, jit
from treadle.backends.cpu.emit import kernel_text
from treadle.backends.cpu.epilogue_emit import epilogue_text
from treadle.backends.cpu.host import AARCH64, AVX2
from treadle.base.dtypes import bfloat16, float8_e4m3fn, float32, float64, int64
from treadle.base.target import Takes
from treadle.ir.node import placeholder, type_of
from treadle.kernel.choose import choose
from treadle.kernel.plan import plan_steps
from treadle.kernel.signature import Signature
from treadle.ops import activations, neural
from treadle.ops import elementwise as e
from treadle.ops.contract import matrix_product, scatter_add
from treadle.ops.fourier import rdft
from treadle.ops.reduce import max_, sum_
from treadle.passes.pipeline import simplify

TARGETS = {"avx2": AVX2, "aarch64": AARCH64}
MACHINES = {"avx2": b"\x3e\x00", "aarch64": b"\xb7\x00"}  # e_machine of an ELF file


def leaf(*shape, kind=float32):
    return placeholder(type_of(shape, kind))


def with_gradient(y, *wrt):
    return [y, *gradients([y], wrt, [leaf(*y.shape)])]


def normed():
    x, weight, bias = leaf(200, 100), leaf(100), leaf(100)
    return with_gradient(neural.layer_norm(x, weight, bias), x, weight, bias)


def reduced_tiles():
    x = e.maximum(matrix_product(leaf(64, 32), leaf(32, 48)), 0.0)
    return [sum_(x, axis=0), max_(x, axis=1)]


GRAPHS = {
    "softmax": lambda: [neural.softmax(leaf(33, 100))],
    "softmax over columns": lambda: [neural.softmax(leaf(33, 100), axis=0)],
    "layer norm": normed,
    "chain": lambda: [e.tanh(e.exp(leaf(8, 9)) / 2.5) + e.sin(leaf(9)) - e.erf(leaf(9))],
    "double": lambda: [neural.log_softmax(leaf(5, 33, kind=float64))],
    "half": lambda: [neural.softmax(leaf(5, 33, kind=bfloat16))],
    "float8": lambda: [neural.softmax(leaf(5, 33, kind=float8_e4m3fn))],
    "integers": lambda: [leaf(70, kind=int64) // leaf(70, kind=int64) % 7],
    "remainder": lambda: [leaf(70) % leaf(70)],
    "scatter": lambda: [scatter_add(leaf(9), leaf(30, kind=int64), leaf(30), axis=0)],
    "gelu epilogue": lambda: [
        activations.gelu(matrix_product(leaf(64, 32), leaf(32, 48)) + leaf(48))
    ],
    "reduced tiles": reduced_tiles,
}


def loops_of(roots):
    """Every loop kernel of a graph, those that run on a product's tiles included."""
    found = []
    for step in plan_steps(simplify(roots), {}, Takes((float32, float64))):
        found += [built.loops for built in step.programs()]
    return found


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", GRAPHS)
def test_kernels_of_a_graph_compile_for_another_processor(name, target):
    kernels = loops_of(GRAPHS[name]())
    assert kernels
    for loops in kernels:
        style, loops = choose(loops, TARGETS[target])
        if loops.epilogue:
            style = type(style)(1, False, style.effort)
        emit = epilogue_text if loops.epilogue else kernel_text
        text = emit(Signature(loops).text, style, TARGETS[target])
        image = jit.compile_object(text, TARGETS[target], style.effort)
        assert image[:4] == b"\x7fELF"
        assert image[18:20] == MACHINES[target]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(40, 30), (40, 2048), (1, 65536)], ids=str)
@pytest.mark.parametrize("kind", [float32, float64], ids=lambda d: d.name)
def test_transforms_compile_for_another_processor(kind, shape, target):
    work = fft.plan(rdft(leaf(*shape, kind=kind), 1), TARGETS[target])
    for step in work.steps:
        text = work.text(*work.parts, step.symbol, TARGETS[target])
        image = jit.compile_object(text, TARGETS[target], 2, True)
        assert image[18:20] == MACHINES[target]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [float32, float64], ids=lambda d: d.name)
def test_products_compile_for_another_processor(kind, target):
    text = gemm_tasks.text(kind, kind, TARGETS[target])
    image = jit.compile_object(text, TARGETS[target], 1)
    assert image[18:20] == MACHINES[target]


def test_vectors_are_as_wide_as_the_processor_has_them():
    loops = loops_of([e.exp(leaf(1000)) + 1.0])[0]
    texts = {name: kernel_text(Signature(loops).text, choose(loops, t)[0], t)
             for name, t in TARGETS.items()}  # fmt: skip
    assert "<8 x float>" in texts["avx2"]
    assert "<4 x float>" in texts["aarch64"]
    assert "<8 x float>" not in texts["aarch64"]
