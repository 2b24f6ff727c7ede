"""Spans own the kernels of what was recorded in them: the key `scope`."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import treadle as td
from treadle.runtime import realize

SIDE = 48
PRODUCT = 2.0 * SIDE**3  # flops


def array(*shape):
    return td.tensor(np.random.default_rng(0).standard_normal(shape, "float32")).realize()


@td.span("decorated")
def decorated(x):
    return x @ x


CODE = decorated.__code__


def scopes(prof):
    """Flops by scope; they are all there are."""
    groups = prof.group_by("scope")
    kernels = prof.group_by("kernel")
    for what in ("time", "flops", "nbytes"):
        whole = sum(getattr(group, what) for group in kernels)
        assert sum(getattr(group, what) for group in groups) == pytest.approx(whole)
    assert all(group.kernels for group in groups)
    return {group.name: group.flops for group in groups}


def test_who_records_owns_the_kernel_and_not_who_asks():
    x = array(SIDE, SIDE)
    with td.profile() as prof:
        with td.span("heavy"):
            y = x @ x
        with td.span("light"):
            y.numpy()
        (x + 1.0).numpy()
    assert scopes(prof) == {"heavy": PRODUCT, "(no span)": SIDE * SIDE}
    assert {group.name for group in prof.group_by("span")} == {"heavy", "light"}
    assert "GFLOP/s" in str(prof.table("scope"))


def test_names_are_paths_and_a_fused_kernel_is_shared():
    x = array(SIDE, SIDE)
    with td.profile() as prof:
        with td.span("outer"):
            y = x * 2.0
            with td.span("in\tner"):
                y = td.relu(y) + x
            y = y - 3.0
        y.numpy()
    assert len(prof.events().filter(kind="kernel", track="MainThread")) == 1
    assert set(scopes(prof)) == {"outer", "outer/in ner"}


def test_functions_and_blocks_lie_in_each_other():
    x = array(SIDE, SIDE)

    @td.span("f")
    def f(inner):
        with td.span("block"):
            return inner(x)

    @td.span("g")
    def g(x):
        return x @ x

    with td.profile() as prof:
        with td.span("outer"):
            y = f(g)
            z = g(x)
        y.numpy(), z.numpy(), g(x).numpy()
    assert scopes(prof) == dict.fromkeys(["outer/f/block/g", "outer/g", "g"], PRODUCT)


@pytest.mark.parametrize("memory", [False, True], ids=["time", "memory"])
@pytest.mark.parametrize("early", [True, False], ids=["before", "within"])
def test_a_compiled_function_knows_its_spans_and_those_of_each_call(early, memory):
    @td.compile
    def step(x):
        with td.span("first"):
            y = x @ x
            with td.span("second"):
                y = td.exp(y) @ x
        return decorated(y)

    x = array(SIDE, SIDE)
    if early:
        with td.span("nobody looks"):
            step(x)
    assert decorated.__code__ is CODE
    with td.profile(memory=memory) as prof:
        with td.span("call"):
            step(x)
        step(x)
    found = scopes(prof)
    inner = ("first", "first/second", "decorated")
    assert set(found) == {*inner, *(f"call/{name}" for name in inner)}
    assert found["decorated"] == found["call/decorated"] == PRODUCT
    assert decorated.__code__ is CODE


def test_a_trace_that_fails_gives_functions_their_code_back():
    @td.compile
    def fails(x):
        with td.span("open"):
            raise ValueError(decorated(x).shape)

    with pytest.raises(ValueError, match="48"):
        fails(array(SIDE, SIDE))
    assert decorated.__code__ is CODE
    with td.profile() as prof:
        array(SIDE, SIDE).exp().numpy()
    assert set(scopes(prof)) == {"(no span)"}


@pytest.mark.parametrize("compiled", [False, True], ids=["lazy", "compiled"])
def test_a_gradient_is_of_the_span_of_what_it_differentiates(compiled):
    w = array(SIDE, SIDE).requires_grad_()
    x = array(SIDE, SIDE)

    def step(x):
        w.grad = None
        with td.span("model"):
            loss = td.sum(td.tanh(x @ w) @ w)
        with td.span("pull"):
            loss.backward()
        return loss

    run = td.compile(step) if compiled else step
    float(run(x))
    with td.profile() as prof:
        float(run(x))
        w.grad.numpy()
    found = scopes(prof)
    assert found["model"] > 4 * PRODUCT  # two products, and three in their gradients
    assert found.get("pull", 0.0) < PRODUCT / 10
    assert {g.name for g in prof.group_by("phase")} >= {"forward", "backward"}


def test_a_compiled_function_that_is_named_and_one_in_another():
    named = td.span("twice")(td.compile(lambda x: x @ x))
    whole = td.compile(lambda x: named(x) + 1.0)
    x = array(SIDE, SIDE)
    named(x), whole(x)
    with td.profile() as prof:
        named(x), whole(x)
    assert scopes(prof) == {"twice": 2 * PRODUCT, "(no span)": SIDE * SIDE}


def test_each_thread_and_each_task_has_its_own():
    x = array(SIDE, SIDE)
    meet = threading.Barrier(2)

    def work(name):
        with td.span(name):
            meet.wait()
            y = x @ x
            meet.wait()
        y.numpy()

    async def task(name):
        with td.span(name):
            await asyncio.sleep(0)
            y = x @ x
            await asyncio.sleep(0)
        y.numpy()

    def elsewhere():
        with td.span("inner"):
            (x @ x).numpy()

    async def tasks():
        await asyncio.gather(task("c"), task("d"))
        with td.span("e"):
            await asyncio.to_thread(elsewhere)

    @td.span("run")
    def run():
        asyncio.run(tasks())

    with td.profile() as prof:
        threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run()
        (x + 1.0).numpy()
    paths = ["a", "b", "run/c", "run/d", "e/inner"]  # the call of run is another thread's
    assert scopes(prof) == dict.fromkeys(paths, PRODUCT) | {"(no span)": SIDE * SIDE}


def test_spans_that_are_left_in_another_order_leave_nothing_open():
    x = array(SIDE, SIDE)

    def batches():
        with td.span("batches"):
            yield 1

    with td.profile() as prof:
        found = batches()
        next(found)
        with td.span("step"):
            assert next(found, None) is None
            y = x @ x
        y.numpy()
        (x + 1.0).numpy()
    assert scopes(prof) == {"step": PRODUCT, "(no span)": SIDE * SIDE}


def test_a_block_that_outlasts_its_profile_is_over_in_the_next():
    x = array(SIDE, SIDE)
    late = td.span("late")
    with td.profile():
        late.__enter__()
    late.__exit__(None, None, None)
    with td.profile() as prof:
        (x @ x).numpy()
    assert scopes(prof) == {"(no span)": PRODUCT}


def test_steps_with_names_of_their_own_share_a_program():
    x = array(SIDE, SIDE)
    with td.profile() as prof:
        for k in range(3):
            with td.span(f"step {k}"):
                (x @ x).numpy()
    assert scopes(prof) == {f"step {k}": PRODUCT for k in range(3)}
    assert len(prof.group_by("program")) == 1


def test_names_make_no_programs_while_nobody_profiles(monkeypatch):
    monkeypatch.setattr(realize, "_PROGRAMS", {})
    x = array(SIDE, SIDE)
    with td.override(check=1):
        for k in range(3):
            with td.span(f"step {k}"):
                (x @ x).numpy()
    assert len(realize._PROGRAMS) == 1
