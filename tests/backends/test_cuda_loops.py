"""Loops and branches on CUDA: flat or walked by the host, against the reference in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import normal, of_tensors
from fake_driver import as_cuda
from triton_host import INTERPRETED, compare, plan_of, run_interpreted

import treadle as td
from treadle.backends.cuda import nest
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.nest import Nest

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")


def recurrence(h, xs):
    return td.scan(lambda h, x: (h * 0.5 + x.sum(), (h, x, h * x)), h, xs)


def in_its_stack(h, xs):
    return td.scan(lambda h, x: ((new := (h + x).tanh()), new), h, xs, reverse=True)


def exchanged(a, b):
    steps = td.arange(5, device=a.device).to(td.float32)
    return td.scan(lambda c, x: ((c[1], c[0] + x), c[0]), (a, b), steps)


def counted(x):
    return td.fori_loop(0, 6, lambda i, x: x + i, x)


def while_small(x):
    return td.while_loop(lambda x: x.abs().sum() < 500, lambda x: x * 2, x)


def while_never(x):
    return td.while_loop(lambda x: x.abs().sum() < 0, lambda x: x * 2, x)


def chosen(x, w):
    def either(p):
        return td.cond(p, lambda x: x @ w, lambda x: x - 1, x)

    return either(x.sum() > 1e6), either(x.sum() < 1e6)


def chosen_in_turn(x, w):
    def step(h, k):
        return td.switch(k, [lambda h: h @ w, lambda h: h - 1, lambda h: h * 2], h), h.sum()

    return td.scan(step, x, td.arange(4, device=x.device))


def within_a_loop(x, xs):
    def inner(h):
        last, _ = td.scan(lambda a, b: (a + b * h.mean(), None), h, xs)
        return td.while_loop(lambda a: a.abs().sum() < 3, lambda a: a * 1.5, last)

    return td.fori_loop(0, 3, lambda i, h: inner(h) - i, x)


def slopes(h, xs, w):
    def run(h, xs, w):
        last, ys = td.scan(lambda h, x: ((new := (x + h @ w).tanh()), new * x), h, xs)
        return last.sum() + (ys * ys).sum()

    return td.value_and_grad(run, (0, 1, 2))(h, xs, w)


LOOPS = {
    "recurrence": (recurrence, (4,), (5, 4)),
    "recurrence of odd slices": (recurrence, (3,), (5, 3)),  # 12 bytes each
    "recurrence of single numbers": (recurrence, (1,), (4, 1)),
    "in its stack": (in_its_stack, (4,), (5, 4)),
    "in its stack of odd slices": (in_its_stack, (5,), (4, 5)),
    "exchanged": (exchanged, (3,), (3,)),
    "counted": (counted, (9,)),
    "while small": (while_small, (9,)),
    "while never": (while_never, (9,)),
    "chosen": (chosen, (3, 3), (3, 3)),
    "chosen in turn": (chosen_in_turn, (3, 3), (3, 3)),
    "within a loop": (within_a_loop, (3,), (4, 3)),
    "slopes": (slopes, (3, 5), (4, 3, 5), (5, 5)),
}
named = pytest.mark.parametrize("name", LOOPS)


def roots_of(name):
    function, *shapes = LOOPS[name]
    return of_tensors(function, *(normal(*shape) * 0.5 for shape in shapes))


@interpreted
@pytest.mark.parametrize("most", [nest.MOST, 0], ids=["flat", "walked"])
@named
def test_a_loop_gives_what_numpy_gives(monkeypatch, name, most):
    monkeypatch.setattr(nest, "MOST", most)
    roots = roots_of(name)
    plan, leaves = plan_of(roots)
    assert any(isinstance(work, Nest) for work in plan.work)
    compare(roots, run_interpreted(plan, [x.buffer.copy() for x in leaves]), 1e-5)


@compiled
@pytest.mark.parametrize("name", ["recurrence of odd slices", "within a loop", "slopes"])
def test_kernels_of_a_loop_compile_for_sm_90(name):
    plan, _ = plan_of(roots_of(name))
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin[:4] == b"\x7fELF"


def test_a_long_loop_has_the_kernels_of_a_short_one():
    def kernels(steps):
        plan, _ = plan_of(of_tensors(recurrence, normal(3), normal(steps, 3)))
        return [launch.source for launch in plan.launches], len(plan.placed())

    few, placed = kernels(10)
    many, walked = kernels(100_000)
    assert few == many
    assert placed > 10
    assert walked == 1


def test_slices_that_begin_anywhere_are_copied():
    def copied(name):
        plan, _ = plan_of(roots_of(name))
        (loop,) = (work for work in plan.work if isinstance(work, Nest))
        return list(loop.nested.slices), list(loop.nested.parts)

    assert copied("recurrence") == ([], [])
    assert copied("recurrence of odd slices") == ([1], [3])  # xs, and h * x


# ---- on a driver that interprets


@pytest.fixture
def fake(monkeypatch):
    with as_cuda(monkeypatch) as driver:
        yield driver


def array(*shape):
    values = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    return td.tensor(values, device="cuda"), td.tensor(values)


@interpreted
def test_a_compiled_loop_is_replayed_as_a_graph(fake):
    run = td.compile(lambda h, xs: td.scan(lambda h, x: (h * 0.5 + x, h), h, xs))
    (h, h0), (xs, xs0) = array(32), array(6, 32)
    wanted = td.scan(lambda h, x: (h * 0.5 + x, h), h0, xs0)
    for _ in range(3):  # results that nobody keeps: the next ones lie in the same memory
        last, ys = (x.numpy() for x in run(h, xs))
        np.testing.assert_allclose(last, wanted[0].numpy(), rtol=1e-6)
        np.testing.assert_allclose(ys, wanted[1].numpy(), rtol=1e-6)
    assert fake.replayed == 2


@interpreted
@pytest.mark.parametrize("most", [nest.MOST, 0], ids=["flat", "walked"])
def test_a_lazy_loop_runs_on_the_device(fake, monkeypatch, most):
    monkeypatch.setattr(nest, "MOST", most)
    for name in ("recurrence of odd slices", "within a loop"):
        function, *shapes = LOOPS[name]
        pairs = [array(*shape) for shape in shapes]
        found, wanted = (function(*(pair[k] for pair in pairs)) for k in (0, 1))
        found, wanted = (list(x) if isinstance(x, tuple) else [x] for x in (found, wanted))
        np.testing.assert_allclose(found[0].numpy(), wanted[0].numpy(), rtol=1e-5)
    assert fake.launched


@interpreted
def test_a_loop_with_a_flag_reads_it_after_every_step(fake):
    x = td.ones(4, device="cuda").realize()
    waited = fake.waited
    found = td.while_loop(lambda x: x.sum() < 100, lambda x: x * 2, x)
    assert found.tolist() == [32.0] * 4
    assert fake.waited - waited == 1 + 5 + 1  # to begin, after each step, to show


@interpreted
def test_steps_of_a_loop_with_a_flag_are_replayed(fake):
    (x, x0), (w, w0) = array(3, 3), array(3, 3)

    def run(x, w):
        def step(s):
            return s[0] + 1, (s[1] @ w).tanh() @ w

        return td.while_loop(lambda s: s[0] < 9, step, (x.sum().to(td.int32) * 0, x))[1]

    for _ in range(2):
        np.testing.assert_allclose(run(x, w).numpy(), run(x0, w0).numpy(), rtol=1e-5)
    assert fake.replayed >= 10  # of 18 steps: in each place the first ones are not
