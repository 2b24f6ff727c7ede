"""Running totals on GPUs: interpreted against the reference, compiled for sm_90."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import integers, normal
from triton_host import INTERPRETED, check, node_of, plan_of

from treadle.backends.cuda import one_pass
from treadle.backends.cuda import scan as scans
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.scan import choose
from treadle.ops import scan as s

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
SPECIAL = np.array([1.0, -np.inf, 2.0, np.nan, np.inf, 3.0] * 3, np.float32)

CASES = {
    "sums": lambda: [s.cumsum(normal(5, 70), axis=1), s.cumsum(normal(70, 5), axis=0)],
    "between": lambda: [s.cumsum(normal(3, 20, 70), axis=1), s.cummax(normal(3, 20, 7), axis=1)],
    "one line": lambda: [s.cumsum(normal(300), axis=0), s.cumprod(normal(40), axis=0)],
    "extremes": lambda: [f(normal(9, 33), axis=1) for f in (s.cummax, s.cummin)],
    "integers": lambda: [f(integers(9, 7, 33), axis=1)
                         for f in (s.cumsum, s.cumprod, s.cummax, s.cummin)],
    "logarithms": lambda: [s.logcumsumexp(normal(6, 40), axis=1)],
    "double": lambda: [s.cumsum(normal(6, 40, kind=np.float64), axis=1)],
    "special": lambda: [f(node_of(SPECIAL), axis=0) for f in (s.cummax, s.cummin, s.cumsum)],
    "no logarithm": lambda: [s.logcumsumexp(node_of(np.full(9, -np.inf, np.float32)), axis=0)],
    "long": lambda: [s.cumsum(normal(1 << 15), axis=0), s.cummax(normal(1 << 15), axis=0)],
    "long columns": lambda: [s.cumsum(normal(9000, 3), axis=0)],
    "empty": lambda: [s.cumsum(normal(0, 3), axis=0), s.cumsum(normal(3, 0), axis=0)],
}  # fmt: skip
names = pytest.mark.parametrize("name", CASES)


@interpreted
@names
def test_interpreted(name):
    if "long" in name:
        pytest.skip("too large to interpret")
    check(CASES[name](), 2e-6)


@interpreted
@pytest.mark.parametrize("shape", [(1, 900), (900, 3), (2, 400)], ids=str)
def test_parts_interpreted(shape, monkeypatch):
    monkeypatch.setattr(scans, "TILE", 32)
    monkeypatch.setattr(one_pass, "SPAN", 32)
    axis = int(shape[0] < shape[1])
    roots = [f(normal(*shape), axis=axis) for f in (s.cumsum, s.cummax, s.logcumsumexp)]
    plan, _ = plan_of(roots)
    assert len(plan.launches) == (9 if axis == 0 else 6)
    check(roots, 2e-6)


@interpreted
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint32, np.int64, np.float64], ids=str)
def test_one_pass_carries_every_dtype(kind, monkeypatch):
    monkeypatch.setattr(scans, "TILE", 16)
    monkeypatch.setattr(one_pass, "SPAN", 16)
    x = node_of((np.random.default_rng(1).standard_normal((2, 150)) * 50).astype(kind))
    roots = [s.cumsum(x, axis=1), s.cummax(x, axis=1)]
    assert sum("waited" in launch.source.text for launch in plan_of(roots)[0].launches) == 2
    check(roots, 1e-12 if kind is np.float64 else 0.0)


@interpreted
def test_one_pass_hands_on_what_is_special(monkeypatch):
    monkeypatch.setattr(scans, "TILE", 16)
    monkeypatch.setattr(one_pass, "SPAN", 16)
    x = np.ones(200, np.float32)
    for at, value in ((40, np.inf), (90, -np.inf), (130, np.nan)):
        x[at] = value
        check([f(node_of(x), axis=0) for f in (s.cumsum, s.cummax, s.cummin)], 0.0)


@interpreted
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16], ids=str)
def test_halves_interpreted(kind):
    # The interpreter cuts bits off where a device rounds to bfloat16.
    check([s.cumsum(normal(4, 50, kind=kind), axis=1)], 1e-3 if kind is np.float16 else 8e-3)


@compiled
@names
def test_compiled(name):
    plan, _ = plan_of(CASES[name]())
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin


def test_few_long_lines_are_cut_so_that_all_processors_work():
    cut = choose(1, 1 << 26, 1, 132)
    assert 132 * 2 <= cut.parts <= 132 * 8
    assert choose(1 << 16, 1 << 10, 1, 132).parts == 1
    assert choose(1, 1 << 20, 64, 132).parts > 100
