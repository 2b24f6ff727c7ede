"""Parts of a state that a compiled function assigns: written into it, at the cost of the part."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

# What a function does to a state of rows of 8, given two rows and a number, in NumPy's words too.
FORMS = {
    "a row at an index": lambda c, v, i: c.__setitem__(i, v[0]),
    "a row": lambda c, v, i: c.__setitem__(3, v[0]),
    "a row from the end": lambda c, v, i: c.__setitem__(-1, v[0]),
    "a slice": lambda c, v, i: c.__setitem__(slice(1, 3), v),
    "a slice with a step": lambda c, v, i: c.__setitem__(slice(1, 6, 4), v),
    "a slice backwards": lambda c, v, i: c.__setitem__(slice(2, 0, -1), v),
    "an element": lambda c, v, i: c.__setitem__((i, 2), v[0, 0]),
    "a number in a box": lambda c, v, i: c.__setitem__((slice(2, 4), slice(1, 3)), 7.0),
    "one after the other": lambda c, v, i: [c.__setitem__(k, v[k % 2]) for k in (2, 5, 3, 2)],
}


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def number(value):
    return td.tensor(np.int64(value)).realize()


def moved(f, *args):
    """Bytes that a call moves."""
    return sum(row.nbytes for row in td.explain(f, *args).rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("closed", [True, False])
def test_a_part_of_a_state_costs_the_part(form, closed):
    costs = []
    for rows in (64, 1024):
        start, values, at = random(rows, 8), random(2, 8, seed=1), 7
        state, expected = td.tensor(start.copy()), start.copy()
        if closed:
            f = td.compile(lambda v, i, c=state: FORMS[form](c, v, i))
            args = (td.tensor(values), number(at))
        else:
            f = td.compile(lambda c, v, i: FORMS[form](c, v, i))
            args = (state, td.tensor(values), number(at))
        f(*args)
        FORMS[form](expected, values, at)
        np.testing.assert_array_equal(state.numpy(), expected)
        costs.append(moved(f, *args))
        for _ in range(2):
            f(*args)
        np.testing.assert_array_equal(state.numpy(), expected)
    assert costs[0] == costs[1] < 1000


def test_sums_at_indices_cost_what_is_added():
    costs = []
    for rows in (64, 1024):
        start, values, at = random(rows, 8), random(3, 8, seed=1), np.array([5, 2, 5])
        state = td.tensor(start)

        @td.compile
        def add(v, i, state=state):
            state.assign(state.index_add(i, v, axis=0))

        add(td.tensor(values), td.tensor(at))
        np.add.at(start, at, values)
        np.testing.assert_allclose(state.numpy(), start, rtol=1e-6)
        costs.append(moved(add, td.tensor(values), td.tensor(at)))
    assert costs[0] == costs[1] < 1000


def test_a_cache_of_several_layers_is_written_and_read_in_turns():
    layers, heads, most, width = 3, 2, 32, 4
    cache, plain = (
        td.zeros(layers, 2, heads, most, width),
        np.zeros((layers, 2, heads, most, width)),
    )

    def step(c, x, t, mask, xp):
        for layer in range(layers):
            c[layer, 0, :, t] = x * (layer + 1)
            c[layer, 1, :, t] = x + layer
            scores = (c[layer, 0] * x[:, None]).sum(-1) + mask
            scores = xp.exp(scores - scores.max(-1, keepdims=True))
            x = (scores[..., None] * c[layer, 1]).sum(1) / scores.sum(-1)[..., None]
        return x

    run = td.compile(lambda x, t, mask: step(cache, x, t, mask, td))
    for t in range(6):
        x = random(heads, width, seed=t)
        mask = np.where(np.arange(most) <= t, 0.0, -1e9).astype(np.float32)
        result = run(td.tensor(x), number(t), td.tensor(mask))
        expected = step(plain, x.astype(np.float64), t, mask, np)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(cache.numpy(), plain, rtol=1e-4, atol=1e-5)
    written = [row for row in td.explain(run, td.tensor(x), number(t), td.tensor(mask)).rows
               if row.kind == "scatter"]  # fmt: skip
    assert len(written) == 2 * layers
    assert all(row.bytes_written == heads * width * 4 for row in written)


# ---- who can still read the old value keeps it


def holders(state):
    yield "an array", state.numpy(), lambda x: x
    yield "a detached one", state.detach(), lambda x: x.numpy()
    yield "a copy", state.clone(), lambda x: x.numpy()
    yield "a view that waits", state[1:4], lambda x: x.numpy()
    yield "a sum that waits", state * 2.0, lambda x: x.numpy()


@pytest.mark.parametrize("k", range(5))
@pytest.mark.parametrize("form", FORMS)
def test_what_others_hold_does_not_change(form, k):
    state = td.tensor(random(32, 8))
    f = td.compile(lambda v, i: FORMS[form](state, v, i))
    for turn in range(3):
        name, held, value = list(holders(state))[k]
        before = {"a view that waits": state.numpy()[1:4], "a sum that waits": state.numpy() * 2}
        expected = np.array(before.get(name, state.numpy()))
        after = state.numpy().copy()
        del before
        values = random(2, 8, seed=turn + 1)
        f(td.tensor(values), number(turn + 4))
        FORMS[form](after, values, turn + 4)
        np.testing.assert_array_equal(value(held), expected, err_msg=name)
        np.testing.assert_array_equal(state.numpy(), after)


def test_the_old_value_can_be_returned_beside_the_new_one():
    state = td.tensor(random(16, 4))

    @td.compile
    def f(v):
        old, before = state * 1.0, state.detach()
        state[2] = v
        state[3] = state[2] + before[3]
        return old, before, state[2:4]

    for turn in range(3):
        start, v = state.numpy().copy(), random(4, seed=turn)
        old, before, part = f(td.tensor(v))
        after = start.copy()
        after[2], after[3] = v, v + start[3]
        for found, expected in ((old, start), (before, start), (part, after[2:4]), (state, after)):
            np.testing.assert_array_equal(found.numpy(), expected)


def test_rows_of_a_state_that_trade_places():
    state, plain = td.tensor(random(16, 4)), random(16, 4)

    def swap(c):
        first = c[2] * 1.0
        c[2] = c[5]
        c[5] = first

    td.compile(lambda: swap(state))()
    swap(plain)
    np.testing.assert_array_equal(state.numpy(), plain)


def test_a_gradient_through_a_box():
    x, v = (td.tensor(random(*shape)).requires_grad_() for shape in ((6, 4), (2, 4)))

    def f(x, v):
        y = x * 2.0
        y[1:5:3] = v * 3.0
        return (y * y).sum()

    slopes = td.compile(td.grad(f, (0, 1)))(x.detach(), v.detach())
    f(x, v).backward()
    expected = 8 * x.detach().numpy()
    expected[1:5:3] = 0
    for found in (slopes[0], x.grad):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    for found in (slopes[1], v.grad):
        np.testing.assert_allclose(found.numpy(), 18 * v.detach().numpy(), rtol=1e-6)
