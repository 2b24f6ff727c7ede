"""L-BFGS finds lowest points, and its line search keeps its promise."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import optim
from treadle.base.errors import ArgumentError
from treadle.optim.line_search import Point, cubic, strong_wolfe


def closure_of(optimizer, loss):
    def closure():
        optimizer.zero_grad()
        found = loss()
        found.backward()
        return found

    return closure


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_parabola_is_solved(search):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((6, 6))
    a, b = a @ a.T + 6 * np.eye(6), rng.standard_normal(6)
    x = td.zeros(6, dtype="float64").requires_grad_()
    matrix, vector = td.tensor(a), td.tensor(b)
    closest = {"tolerance_grad": 1e-10, "tolerance_change": 1e-18}
    optimizer = optim.LBFGS([x], max_iter=60, line_search_fn=search, **closest)
    closure = closure_of(optimizer, lambda: ((matrix @ x) * x).sum() * 0.5 - (vector * x).sum())
    for _ in range(3):
        optimizer.step(td.compile(closure))
    np.testing.assert_allclose(x.numpy(), np.linalg.solve(a, b), rtol=1e-6)


def test_a_valley_is_walked_to_its_end():
    p = td.tensor([-1.2, 1.0], dtype="float64").requires_grad_()
    closest = {"tolerance_change": 1e-18, "history_size": 5}
    optimizer = optim.LBFGS([p], line_search_fn="strong_wolfe", **closest)
    loss = lambda: (p[1] - p[0] * p[0]) ** 2 * 100.0 + (1.0 - p[0]) ** 2  # noqa: E731
    for _ in range(5):
        optimizer.step(closure_of(optimizer, loss))
    np.testing.assert_allclose(p.numpy(), [1.0, 1.0], rtol=1e-6)


def test_it_goes_on_from_its_state():
    starts = np.array([0.7, -0.4, 0.2])

    def made():
        p = td.tensor(starts).requires_grad_()
        return p, optim.LBFGS([p], lr=0.5, max_iter=3)

    def run(p, optimizer, steps):
        for _ in range(steps):
            optimizer.step(closure_of(optimizer, lambda: (p**4).sum() + ((p - 1.0) ** 2).sum()))

    (p, first), (q, second) = made(), made()
    run(p, first, 2)
    kept, value = first.state_dict(), p.numpy().copy()
    run(p, first, 2)
    second.load_state_dict(kept)
    q.assign(td.tensor(value))
    run(q, second, 2)
    np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_a_step_is_not_traced():
    optimizer = optim.LBFGS([td.ones(2).requires_grad_()])
    with pytest.raises(ArgumentError, match="closure"):
        td.compile(lambda x: optimizer.step(lambda: x))(td.ones(1))


def test_a_search_ends_where_it_is_low_and_flat():
    def at(t):
        return Point(t, (t - 3.0) ** 4 + t, td.zeros(1), 4.0 * (t - 3.0) ** 3 + 1.0)

    for first in (0.01, 1.0, 8.0, 100.0):
        found, looked = strong_wolfe(at, at(0.0), first, 1.0, 25)
        assert found.loss <= at(0.0).loss + 1e-4 * found.t * at(0.0).slope
        assert abs(found.slope) <= 0.9 * abs(at(0.0).slope)
        assert looked <= 26


def test_the_lowest_point_of_a_cubic_is_exact():
    def at(t):
        return Point(t, t**3 - 3.0 * t, td.zeros(1), 3.0 * t * t - 3.0)

    assert cubic(at(0.2), at(3.0), 0.0, 5.0) == pytest.approx(1.0)
    assert cubic(at(3.0), at(0.2), 0.0, 0.5) == 0.5
