"""`x[...]` against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td

ARRAY = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)


@st.composite
def keys(draw, shape):
    """Integers, slices of any sign, None and one Ellipsis."""
    parts = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        bound = st.none() | st.integers(-size - 2, size + 2)
        step = st.sampled_from((None, 1, 2, 3, -1, -2))
        kind = draw(st.sampled_from(("integer", "slice", "slice")))
        if kind == "integer":
            parts.append(draw(st.integers(-size, size - 1)))
        else:
            parts.append(slice(draw(bound), draw(bound), draw(step)))
    if draw(st.booleans()):
        parts.append(Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts) if draw(st.booleans()) or len(parts) != 1 else parts[0]


def check(x, key):
    expected = ARRAY[key]
    assert x[key].shape == expected.shape
    np.testing.assert_array_equal(x[key].numpy(), expected)
    np.testing.assert_array_equal((x[key] + 1.0).numpy(), expected + 1.0)  # through a kernel


@given(keys(ARRAY.shape))
def test_index_gives_what_numpy_gives(key):
    check(td.tensor(ARRAY), key)


@given(keys((4, 5, 6)))
def test_index_of_a_pending_value_gives_what_numpy_gives(key):
    x = td.tensor(ARRAY) * 2.0
    np.testing.assert_array_equal(x[key].numpy(), ARRAY[key] * 2.0)


@given(st.lists(st.integers(-4, 3), min_size=1, max_size=6), st.integers(0, 2))
def test_one_tensor_of_integers_picks_slices(picked, place):
    sizes = [np.array(picked) % n for n in ARRAY.shape]
    key = [slice(None)] * 3
    key[place] = sizes[place]
    own = list(key)
    own[place] = td.tensor(sizes[place])
    np.testing.assert_array_equal(td.tensor(ARRAY)[tuple(own)].numpy(), ARRAY[tuple(key)])


def test_a_two_dimensional_index_keeps_its_shape():
    index = np.array([[0, 3], [2, 2], [-1, 1]])
    np.testing.assert_array_equal(td.tensor(ARRAY)[td.tensor(index)].numpy(), ARRAY[index])


@pytest.mark.parametrize(
    "key", [(0, np.int64(2)), (np.int32(-1),), (slice(None), 1, slice(4, 1, -1))]
)
def test_numpy_integers_are_integers(key):
    check(td.tensor(ARRAY), key)


def test_a_zero_dimensional_integer_tensor_is_an_index():
    assert td.tensor(ARRAY)[td.tensor(2)].shape == (5, 6)


def test_iteration_runs_over_the_first_axis():
    rows = list(td.tensor(ARRAY))
    assert len(rows) == 4
    np.testing.assert_array_equal(rows[2].numpy(), ARRAY[2])


def test_gradient_of_an_index_lands_where_it_was_read():
    x = td.tensor(ARRAY).requires_grad_()
    (x[1:3, ::2, -1] * 2.0).sum().backward()
    expected = np.zeros_like(ARRAY)
    expected[1:3, ::2, -1] = 2.0
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_gradient_of_a_repeated_index_adds_up():
    x = td.tensor([1.0, 2.0, 3.0]).requires_grad_()
    x[td.tensor([0, 2, 0, 0])].sum().backward()
    assert x.grad.tolist() == [3.0, 0.0, 1.0]
