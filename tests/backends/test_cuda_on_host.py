"""Factorisations in programs of a GPU: the host runs them, between graphs of kernels."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from fake_driver import as_cuda
from triton_host import INTERPRETED, node_of, plan_of

import treadle as td
from treadle.backends.cuda.on_host import HostStep
from treadle.base.knobs import override
from treadle.ops.linalg.factors import cholesky_factor

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")


@pytest.fixture
def fake(monkeypatch):
    with as_cuda(monkeypatch) as driver:
        yield driver


def square(n, *batch, kind=np.float64):
    x = np.random.default_rng(n).standard_normal((*batch, n, n)) + 3 * np.eye(n)
    return x.astype(kind)


def here(x):
    return td.tensor(x, device="cuda")


def test_a_factorisation_is_work_of_the_hosts():
    plan, _ = plan_of([cholesky_factor(node_of(square(3)) * 2.0) + 1.0])
    assert [isinstance(work, HostStep) for work in plan.work] == [False, True, False]
    assert len(plan.launches) == 2


@interpreted
@pytest.mark.parametrize("kind", ["float32", "float64", "complex64"])
def test_solve_gives_what_numpy_gives(fake, kind):
    a, b = square(5, 2, kind=kind), square(5, 2, kind=kind)[..., :3]
    found = td.linalg.solve(here(a), here(b) * 2.0)
    assert str(found.device).startswith("cuda")
    error = np.abs(found.numpy() - np.linalg.solve(a, b * 2)).max()
    assert error < 100 * np.finfo(kind).eps


@interpreted
def test_results_of_every_kind(fake):
    a = square(4)
    symmetric = a + a.T
    x, s = here(a), here(symmetric)
    np.testing.assert_allclose(td.linalg.det(x).numpy(), np.linalg.det(a), rtol=1e-10)
    np.testing.assert_allclose(td.linalg.inv(x).numpy(), np.linalg.inv(a), rtol=1e-9)
    np.testing.assert_allclose(td.linalg.svdvals(x).numpy(), np.linalg.svd(a)[1], rtol=1e-10)
    values, vectors = td.linalg.eigh(s)
    np.testing.assert_allclose(values.numpy(), np.linalg.eigvalsh(symmetric), rtol=1e-10)
    np.testing.assert_allclose((s @ vectors).numpy(), (vectors * values).numpy(), atol=1e-10)
    q, r = td.linalg.qr(x)
    np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-12)
    found = np.sort_complex(td.linalg.eigvals(x).numpy())
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(a)), rtol=1e-9)


@interpreted
def test_a_gradient_goes_through(fake):
    a, b = square(4), square(4)[:, :2]
    slope = td.grad(lambda a, b: (td.linalg.solve(a, b) ** 2).sum(), (0, 1))
    for mine, other in zip(slope(here(a), here(b)), slope(td.tensor(a), td.tensor(b)), strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)


@interpreted
def test_graphs_end_at_a_step_of_the_hosts(fake):
    def run(a, b):
        for _ in range(2):
            a = td.softmax((a @ a + 1.0).sum(0) + a) + 3 * td.eye(a.shape[0], device=a.device)
        x = td.linalg.solve(a.cast("float64"), b)
        return (td.softmax(x @ x.mT) @ td.softmax(x)).sum(0)

    a, b = square(4, kind=np.float32), square(4)
    wanted = run(td.tensor(a), td.tensor(b)).numpy()
    function, x, y = td.compile(run), here(a).realize(), here(b).realize()
    found = [function(x, y).numpy() for _ in range(3)]
    for each in found:
        np.testing.assert_allclose(each, wanted, rtol=1e-5)
    assert fake.replayed >= 4  # one before and one after the factorisation, at each later run


@interpreted
def test_a_body_of_a_loop_may_have_one(fake):
    def run(x):
        return td.fori_loop(0, 3, lambda i, x: td.linalg.inv(x) + 0.1 * i, x)

    a = square(3)
    np.testing.assert_allclose(run(here(a)).numpy(), run(td.tensor(a)).numpy(), rtol=1e-9)


@interpreted
def test_empty_matrices_need_no_step(fake):
    assert td.linalg.cholesky(here(np.zeros((2, 0, 0)))).shape == (2, 0, 0)
    assert float(td.linalg.det(here(np.zeros((0, 0))))) == 1.0


@interpreted
def test_it_can_be_watched_and_profiled(fake):
    a = square(3)
    with override(check=1):
        found = td.linalg.inv(here(a)).numpy()
    np.testing.assert_allclose(found, np.linalg.inv(a), rtol=1e-9)
    with override(debug=2):
        again = td.linalg.inv(here(a) * 2.0).numpy()
    np.testing.assert_allclose(again, np.linalg.inv(2 * a), rtol=1e-9)
