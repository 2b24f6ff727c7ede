"""Every row of the op table as a CUDA program: which there are, and each against its reference."""

from __future__ import annotations

import zlib
from itertools import islice

import numpy as np
from triton_host import error_of, plan_of, run_interpreted

from treadle.autograd.backward import gradients
from treadle.backends.arrays import numpy_dtype
from treadle.backends.cuda.compile import code_of
from treadle.backends.reference.eval import evaluate
from treadle.backends.registry import backend_of
from treadle.base.device import device
from treadle.base.dtypes import (
    bfloat16,
    dtype,
    float32,
    float64,
    int32,
)  # fmt: skip
from treadle.base.errors import DtypeError
from treadle.ir.node import leaf, type_of
from treadle.testing.arrays import by_reference, compiled
from treadle.testing.closeness import check_close
from treadle.testing.samples import FEWER, USUAL, cases, odd_cases, public_rows
from treadle.testing.taken import row_support

COMPILED = (float32, int32, bfloat16)
INTERPRETED_WHOLE = (float32,)
CUDA = device("cuda")
ROWS = public_rows()
PAIRS = [(name, d) for name, op in ROWS.items() for d in row_support(op)["cuda"]]
HEAVY = ("fft", "fourier", "linalg", "short_time")
"""Where rows come from that are many kernels each, or steps of the host's."""


def home(name):
    """The module of ops that a row comes from."""
    rule = ROWS[name].define or ROWS[name].arguments
    return "" if rule is None else rule.__module__.removeprefix("treadle.ops.")


def is_heavy(name):
    """Is a row of those whose samples take long to interpret?"""
    return home(name).split(".")[0] in HEAVY


SAMPLED = [(name, d) for name, d in PAIRS if not (d.is_complex and home(name)[:6] == "linalg")]
"""Factors of complex matrices are one of several: they have tests of their own."""
LATER = "rerouted"  # has a gradient once somebody gives it one
DIFFERENTIABLE = [
    name for name, d in PAIRS
    if d is float64 and not isinstance(ROWS[name].grad, str) and name != LATER
]  # fmt: skip
GRADIENT_ERROR = 1e-12  # of the largest derivative


def label(value):
    """A dtype or a row by its name."""
    return value if isinstance(value, str) else value.name


def drawn(name, kind):
    """The cases of a row, the same ones in every process."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {kind.name}".encode()))
    return cases(ROWS[name], kind, rng)


def listed(results):
    """One result or several as a list."""
    return list(results) if isinstance(results, list | tuple) else [results]


def on_host(array):
    """A leaf of the GPU's whose memory is the array itself, for plans without a device."""
    array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
    return leaf(type_of(array.shape, dtype(array.dtype.name), CUDA), array)


def on_device(array):
    """A leaf in the memory of the first GPU."""
    type_ = type_of(array.shape, dtype(array.dtype.name), CUDA)
    return leaf(type_, backend_of(CUDA).upload(array, type_, True))


def recorded(case, leaves):
    """The nodes of a case; none where complex numbers are refused, as products at indices are."""
    try:
        return listed(case.record(leaves))
    except DtypeError:
        if not leaves[0].dtype.is_complex:
            raise
        return []


def odd(name, kind):
    """A function on infinities, NaN and signed zeros."""
    op = ROWS[name]
    special = kind in (float32, float64, bfloat16) and not op.samples.cases
    return list(odd_cases(op, kind)) if special else []


def derivatives(case, make):
    """Gradients of a case with random cotangents, on leaves that `make` makes of arrays."""
    rng = np.random.default_rng(1)
    leaves = [make(x) for x in case.operands]
    results = [x for x in recorded(case, leaves) if x.dtype.is_float]
    seeds = [make(np.asarray(rng.uniform(0.5, 1.5, x.shape))) for x in results]
    wrt = [x for x in leaves if x.dtype.is_float]
    return [g for g in gradients(results, wrt, seeds) if g is not None]


def compare_derivatives(case, results, expected):
    """Gradients against the same graph in NumPy."""
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape, case
        error = error_of(result, wanted)
        assert error <= GRADIENT_ERROR, (case, error)


def compare(case, nodes, results):
    """Results of a case against NumPy."""
    expected = listed(case.expected(nodes[0].dtype)) if nodes else []
    for node, result, wanted in zip(nodes, results, expected, strict=True):
        assert result.dtype.name == node.dtype.name, case
        check_close(case, result, wanted, node.dtype)


# ---- without a device


def compile_row(name, kind):
    """Machine code for sm_90 of the row's first sample."""
    case = next(drawn(name, kind))
    plan, _ = plan_of(listed(case.record([on_host(x) for x in case.operands])))
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin[:4] == b"\x7fELF"


def interpreted(nodes):
    """Values of nodes, each kernel interpreted."""
    plan, leaves = plan_of(nodes)
    results = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    return [
        np.ascontiguousarray(x).view(numpy_dtype(n.dtype)).reshape(n.shape)
        for x, n in zip(results, nodes, strict=True)
    ]


def interpret_row(name, kind):
    """Samples of a row: all and odd numbers, or the first of several elements."""
    found = list(drawn(name, kind))
    if is_heavy(name):
        found = found[2:3] or found[:1]
    elif kind in INTERPRETED_WHOLE:
        found += odd(name, kind)
    else:
        found = [x for x in found if min(map(np.size, x.operands)) > 1][:1] or found[:1]
    for case in found:
        nodes = recorded(case, [on_host(x) for x in case.operands])
        compare(case, nodes, interpreted(nodes))


def interpret_gradient(name):
    """Gradients of every second sample of a row, against the same graph in NumPy."""
    for case in islice(drawn(name, float64), 0, 1 if is_heavy(name) else None, 2):
        found = derivatives(case, on_host)
        compare_derivatives(case, interpreted(found), evaluate(found, lambda n: n.buffer))


# ---- on a device


def run_row(name, kind):
    """All samples of a row on the GPU; returns how many."""
    found = list(islice(drawn(name, kind), 0, None, 1 if kind in USUAL else FEWER))
    found += odd(name, kind)
    for case in found:
        nodes = recorded(case, [on_device(x) for x in case.operands])
        compare(case, nodes, compiled(nodes))
    return len(found)


def run_gradient(name):
    """Gradients of all samples of a row on the GPU; returns how many samples."""
    found = list(drawn(name, float64))
    for case in found:
        nodes = derivatives(case, on_device)
        expected = by_reference(nodes)
        compare_derivatives(case, compiled(nodes), expected)
    return len(found)
