"""Dims with a max: one trace and one program for every size, or a refusal, never another number."""

from __future__ import annotations

import threading
import traceback

import numpy as np
import pytest

import treadle as td
from treadle.base import trace
from treadle.base.errors import DeviceError, ShapeError, TreadleError
from treadle.base.sizes import UnknownSizeError
from treadle.nn import functional as F
from treadle.testing.dim_cases import CLOSE, EXACT, T, check, random


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_one_program_serves_every_size(name):
    check(name, "cpu")


def test_sizes_below_the_least_have_traces_of_their_own():
    f = td.compile(lambda x: td.softmax(x, axis=0))
    for n in (0, 1, 2):
        x = random(n, 4)
        np.testing.assert_array_equal(
            f(T.of(td.tensor(x))).numpy(), td.softmax(td.tensor(x), axis=0).numpy()
        )
    assert sum(map(len, f.entries.values())) == 3


def test_a_size_can_be_an_argument():
    state = td.tensor(random(600, 4))
    f = td.compile(lambda x, n, scale=1.0: (state[:n] * x).sum(0) * scale / n)
    for n in (600, 3, 77):
        x = random(4, seed=n)
        expected = (state.numpy()[:n] * x).sum(0) / n
        np.testing.assert_allclose(f(td.tensor(x), T(n)).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert sum(map(len, f.entries.values())) == 1


def test_results_keep_the_dim():
    double, total = td.compile(lambda x: x * 2.0), td.compile(lambda x: x.sum(0))
    for n in (5, 9):
        y = double(T.of(td.ones(n, 3)))
        assert repr(y.shape) == f"(t={n}, 3)"
        assert total(y).tolist() == [2.0 * n] * 3
    assert len(total.entries) == 1


def test_two_dims_in_one_program():
    batch = td.Dim("batch", max=40)
    f = td.compile(lambda x, w: td.relu(x @ w).sum(1))
    for n, m in ((3, 2), (600, 40), (5, 17)):
        x, w = random(m, n), random(n, 6, seed=1)
        args = T.of(batch.of(td.tensor(x)), 1), T.of(td.tensor(w))
        expected = np.maximum(x.astype(np.float64) @ w, 0).sum(1)
        np.testing.assert_allclose(f(*args).numpy(), expected, rtol=1e-4, atol=1e-4)
    assert len(f.entries) == 1


def test_a_part_of_a_state_by_a_size():
    state, plain = td.zeros(600, 3), np.zeros((600, 3), np.float32)
    f = td.compile(lambda x: state.__setitem__(slice(0, x.shape[0]), x))
    for n in (20, 600, 7):
        x = random(n, 3, seed=n)
        f(T.of(td.tensor(x)))
        plain[:n] = x
        np.testing.assert_array_equal(state.numpy(), plain)
    assert len(f.entries) == 1


def trained(dim):
    rng = np.random.default_rng(0)
    w, v = (td.nn.Parameter(td.tensor(random(*s) * 0.1)) for s in ((20, 32), (32, 10)))
    optimizer = td.optim.Adam([w, v], lr=1e-2)

    @td.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(td.relu(x @ w) @ v, y)
        loss.backward()
        optimizer.step()
        return loss

    losses = []
    for n in (64, 64, 37, 5, 64):
        x, y = td.tensor(random(n, 20, seed=n)), td.tensor(rng.integers(0, 10, n))
        losses.append(float(step(*((T.of(x), T.of(y)) if dim else (x, y)))))
    return losses, len(step.entries)


def test_a_last_smaller_batch_trains_alike():
    (losses, count), (expected, several) = trained(True), trained(False)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert (count, several) == (1, 3)


# ---- decoding


def decoder(most, width, heads=2):
    rng = np.random.default_rng(0)
    weights = [td.tensor(rng.standard_normal((width, width)).astype(np.float32) / width**0.5)
               for _ in range(4)]  # fmt: skip
    keys, values = (td.zeros(heads, most, width // heads) for _ in range(2))

    def step(x, at, n):
        q, k, v = ((x @ w).reshape(heads, 1, -1) for w in weights[:3])
        keys[:, at], values[:, at] = k[:, 0], v[:, 0]
        seen = td.softmax(q @ keys[:, :n].mT) @ values[:, :n]
        return x + seen.reshape(1, width) @ weights[3]

    def plain(xs):
        q, k, v, w = (m.numpy().astype(np.float64) for m in weights)
        q, k, v = ((xs @ m).reshape(len(xs), heads, -1).transpose(1, 0, 2) for m in (q, k, v))
        scores = np.exp(q[:, -1:] @ k.transpose(0, 2, 1))
        seen = scores / scores.sum(-1, keepdims=True) @ v
        return xs[-1:] + seen.transpose(1, 0, 2).reshape(1, width) @ w

    return td.compile(step), plain


def test_a_decode_loop_traces_plans_and_compiles_once():
    most, width = 256, 32
    t = td.Dim("t", max=most)
    step, plain = decoder(most, width)
    xs = random(202, width) * 0.5
    step(td.tensor(xs[:1]), td.tensor(0), t(1))  # one has a program of its own
    for k in range(1, 202):
        x, at = td.tensor(xs[k : k + 1]), td.tensor(k).realize()
        with trace.listen() as report:
            y = step(x, at, t(k + 1))
        if k > 1:
            assert not report.facts
            assert not report.stages
        if k % 40 == 1:
            expected = plain(xs[: k + 1].astype(np.float64))
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-3, atol=1e-3)
    assert sum(map(len, step.entries.values())) == 2


def test_threads_run_one_program_at_different_sizes():
    f = td.compile(lambda x: (x * 2).sum(1) + x.shape[0])
    f(T.of(td.ones(5, 40)))
    wrong = []

    def work(n):
        found = [f(T.of(td.ones(n, 40))).tolist() for _ in range(20)]
        wrong.extend(x for x in found if x != [80.0 + n] * n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 50, 600)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sum(map(len, f.entries.values())) == 1


# ---- refusals

ASKED = {
    "a comparison": lambda x: x * 2 if x.shape[0] > 5 else x,
    "an equality": lambda x: x * 2 if x.shape[0] == 5 else x,
    "a shape": lambda x: x * 2 if x.shape == (5, 3) else x,
    "a loop": lambda x: [x * k for k in range(x.shape[0])][-1],
    "a list": lambda x: x * len([0] * x.shape[0]),
    "a length": lambda x: x * len(x),
    "a number": lambda x: x * int(x.shape[0]),
    "a fraction": lambda x: x * (x.shape[0] / 2),
    "a float": lambda x: x * (0.5 * x.shape[0]),
    "an array": lambda x: x * td.tensor(np.ones(x.shape, np.float32)),
}


@pytest.mark.parametrize("name", ASKED)
def test_python_that_asks_for_the_size_is_refused_at_its_line(name):
    with pytest.raises(UnknownSizeError, match="t from 3 to 600") as caught:
        td.compile(ASKED[name])(T.of(td.ones(5, 3)))
    code = ASKED[name].__code__
    lines = [
        f.lineno for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__
    ]
    assert code.co_firstlineno in lines


@pytest.mark.parametrize("f", [
    lambda x: x + td.ones(5, 3), lambda x: x.reshape(5, 3), lambda x: x[:5] + x, lambda x: x[4],
    lambda x: x.split(5),
])  # fmt: skip
def test_what_fits_some_sizes_only_is_refused(f):
    with pytest.raises(TreadleError):
        td.compile(f)(T.of(td.ones(5, 3)))


def test_a_dim_has_one_size_and_one_range_in_a_call():
    f = td.compile(lambda x, y: x.sum() + y.sum())
    with pytest.raises(ShapeError, match="two sizes"):
        f(T.of(td.ones(5)), T.of(td.ones(6)))
    with pytest.raises(ShapeError, match="two sizes"):
        f(T.of(td.ones(5)), td.Dim("t", max=20).of(td.ones(5)))
    with pytest.raises(ShapeError, match="range"):
        T(601)
    with pytest.raises(ShapeError, match="range"):
        td.Dim("not a word", max=5)
    with pytest.raises(ShapeError, match="range"):
        td.Dim("t", max=5, min=1)


def test_a_state_keeps_its_size():
    state = td.ones(5, 3)
    with pytest.raises(TreadleError):
        td.compile(lambda x: state.assign(x * 2))(T.of(td.ones(5, 3)))


def test_other_backends_refuse_it():
    f = td.compile(lambda x: x * 2)
    with pytest.raises(DeviceError, match="the CPU or a GPU"):
        f(T.of(td.ones(5, 3).to("reference")))
