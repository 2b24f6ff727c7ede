"""`x[key]` and `x[key] = value` against NumPy: every form of a key, and which ones raise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
from treadle.base.errors import ArgumentError, GradientError, IndexingError, ShapeError
from treadle.testing.gradcheck import gradcheck

ARRAY = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
MASK = ARRAY % 3 == 0


@st.composite
def views(draw, shape):
    """Integers, slices of any sign, None and one Ellipsis."""
    parts = [draw(_view(size)) for size in shape[: draw(st.integers(0, len(shape)))]]
    if draw(st.booleans()):
        parts.append(Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts) if draw(st.booleans()) or len(parts) != 1 else parts[0]


def _view(size):
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.sampled_from((None, 1, 2, 3, -1, -2))
    pieces = st.builds(slice, bound, bound, step)
    return pieces | st.integers(-size, size - 1) if size else pieces


@st.composite
def keys(draw, shape):
    """Any mixture of views with arrays of integers and masks, now and then one that is wrong."""
    axis, parts = 0, []
    together = draw(
        st.sampled_from(((), (1,), (2,), (3,), (2, 1), (0,)))
    )  # what arrays broadcast to
    while axis < len(shape) and draw(st.integers(0, 5)):
        kind = draw(st.sampled_from(("view", "view", "array", "array", "mask", "none", "bool")))
        if kind == "none":
            parts.append(None)
        elif kind == "bool":
            parts.append(draw(st.booleans()))
        elif kind == "mask":
            covered = draw(st.integers(1, len(shape) - axis))
            sizes = shape[axis : axis + covered]
            flags = st.lists(
                st.booleans(), min_size=int(np.prod(sizes)), max_size=int(np.prod(sizes))
            )
            parts.append(np.array(draw(flags), dtype=bool).reshape(sizes))
            axis += covered
        else:
            wrong = draw(st.integers(0, 30)) == 0
            size = shape[axis]
            parts.append(draw(_array(size + wrong, together) if kind == "array" else _view(size)))
            axis += 1
    empty = any(
        isinstance(part, np.ndarray) and part.dtype == bool and not part.size for part in parts
    )
    if draw(st.booleans()) and not empty:  # NumPy takes an empty mask for an axis that is not empty
        parts.insert(draw(st.integers(0, len(parts))), Ellipsis)
    return tuple(parts)


@st.composite
def _array(draw, size, together):
    own = tuple(
        n if draw(st.booleans()) else 1 for n in together[draw(st.integers(0, len(together))) :]
    )
    count = int(np.prod(own)) if size else 0
    if not size:
        own = (0,)
    inside = st.integers(-size, max(size - 1, -size))
    values = draw(st.lists(inside, min_size=count, max_size=count))
    return np.array(values, dtype=np.int64).reshape(own)


shapes = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple)


def as_given(key, how):
    """The same key with its arrays as lists or as tensors."""
    if isinstance(key, tuple):
        return tuple(as_given(part, how) for part in key)
    return how(key) if isinstance(key, np.ndarray) and key.shape else key


def listed(array):
    return array.tolist() if array.size else array


HOW = {"arrays": np.asarray, "lists": listed, "tensors": td.tensor}


def pending(array):
    """A tensor whose value is not known yet."""
    return td.tensor(array) | False if array.dtype == bool else td.tensor(array) * 1


# ---- reading


@given(views(ARRAY.shape))
def test_view_gives_what_numpy_gives(key):
    x, expected = td.tensor(ARRAY), ARRAY[key]
    assert x[key].shape == expected.shape
    np.testing.assert_array_equal(x[key].numpy(), expected)
    np.testing.assert_array_equal((x[key] + 1.0).numpy(), expected + 1.0)  # through a kernel


@given(views(ARRAY.shape))
def test_view_of_a_pending_value_gives_what_numpy_gives(key):
    x = td.tensor(ARRAY) * 2.0
    np.testing.assert_array_equal(x[key].numpy(), ARRAY[key] * 2.0)


@given(st.data())
@pytest.mark.parametrize("how", HOW)
def test_any_key_reads_or_raises_as_numpy_does(how, data):
    shape = data.draw(shapes)
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    key = data.draw(keys(shape))
    own = as_given(key, HOW[how])
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(IndexingError, match="index"):
            td.tensor(array)[own]
        return
    found = td.tensor(array)[own]
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.numpy(), expected)


KEYS = {
    "array": ([0, 3, 3],),
    "arrays": ([0, 3], [[1], [2]]),
    "apart": ([0, 3], slice(None), [1, 2]),
    "integer-apart": (1, slice(None), [1, 2]),
    "integer-beside": (1, [1, 2]),
    "new-axis-between": ([0, 1], None, [1, 2]),
    "backwards": (slice(None, None, -2), [4, 0], slice(5, 1, -3)),
    "mask": MASK,
    "mask-of-rows": MASK[:, 0, 0],
    "mask-of-two-axes": (slice(None), MASK[0]),
    "mask-and-array": (MASK[:, :, 0], [1]),
    "none": np.zeros((4, 5), bool),
    "all": np.ones((4, 5, 6), bool),
    "true": True,
    "false": False,
    "empty": ([],),
    "last": (..., [-1, 0]),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
@pytest.mark.parametrize(
    "how", [np.asarray, td.tensor, pending], ids=["array", "tensor", "pending"]
)
def test_key_of_each_kind(key, how):
    own = as_given(np.asarray(key) if isinstance(key, list) else key, how)
    np.testing.assert_array_equal(td.tensor(ARRAY)[own].numpy(), ARRAY[key])


@pytest.mark.parametrize(
    "key", [(0, np.int64(2)), (np.int32(-1),), (slice(None), 1, slice(4, 1, -1)), np.array(2),
            (np.array(True), np.bool_(True))]
)  # fmt: skip
def test_numpy_scalars_are_numbers(key):
    np.testing.assert_array_equal(td.tensor(ARRAY)[key].numpy(), ARRAY[key])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint64"])
def test_indices_may_have_any_integer_dtype(kind):
    index = np.array([3, 0, 1], kind)
    np.testing.assert_array_equal(td.tensor(ARRAY)[td.tensor(index)].numpy(), ARRAY[index])


def test_a_zero_dimensional_integer_tensor_is_an_index():
    assert td.tensor(ARRAY)[td.tensor(2)].shape == (5, 6)


def test_iteration_runs_over_the_first_axis():
    rows = list(td.tensor(ARRAY))
    assert len(rows) == 4
    np.testing.assert_array_equal(rows[2].numpy(), ARRAY[2])


def test_a_pending_index_out_of_range_is_moved_inside():
    index = td.tensor([-9, 9]) * 1
    np.testing.assert_array_equal(td.tensor(ARRAY)[index].numpy(), ARRAY[[0, 3]])


WRONG = {
    "integer": (4, "index=4, axis=0, size=4"),
    "integer-in-place": ((0, slice(None), -7), "index=-7, axis=2, size=6"),
    "list": ([0, 4], "index=4, axis=0"),
    "array": (np.array([-5]), "index=-5, axis=0"),
    "tensor": (td.tensor([4]), "index=4"),
    "too-many": ((0, 0, 0, 0), "indices=4"),
    "mask-size": (np.ones(3, bool), r"mask=\(3,\), axes=\(4,\)"),
    "mask-rank": (np.ones((4, 5, 6, 1), bool), "too many"),
    "broadcast": (([0, 1], [0, 1, 2]), r"\(2,\) and \(3,\)"),
    "two-dots": ((..., ...), "Ellipsis"),
    "float": (1.5, "got=float"),
    "floats": ([0.5], "float64"),
    "float-tensor": (td.tensor([0.5]), "float32"),
    "string": ("a", "got=str"),
    "uneven": ([[0], [1, 2]], "got=list"),
    "step": (slice(None, None, 0), "zero"),
    "bounds": (slice(0.5, None), "slice"),
}


@pytest.mark.parametrize(("key", "says"), WRONG.values(), ids=WRONG.keys())
def test_wrong_key_is_refused_at_once(key, says):
    x = td.tensor(ARRAY)
    with pytest.raises(IndexingError, match=says):
        x[key]
    with pytest.raises(IndexingError, match=says):
        x[key] = 0.0


def test_an_empty_axis_has_nothing_to_pick():
    with pytest.raises(IndexingError, match="empty axis"):
        td.zeros(0, 3)[td.tensor([0]) * 1]


# ---- assigning


@given(st.data())
@pytest.mark.parametrize("how", HOW)
def test_any_key_assigns_or_raises_as_numpy_does(how, data):
    shape = data.draw(shapes)
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    key = data.draw(keys(shape))
    own = as_given(key, HOW[how])
    x, expected = td.tensor(array), array.copy()
    try:
        places = array[key]
    except IndexError:
        with pytest.raises(IndexingError, match="index"):
            x[own] = 7
        return
    twice = len(np.unique(places)) < places.size  # NumPy does not say who comes last
    value = -1 - np.arange(places.size, dtype=np.int32).reshape(places.shape)
    if value.ndim:
        value = data.draw(st.sampled_from((value, value[..., :1])))
    value = np.int32(-7) if twice else value
    expected[key] = value
    x[own] = td.tensor(value[None] if data.draw(st.booleans()) else value)
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
@pytest.mark.parametrize("how", [np.asarray, pending], ids=["array", "pending"])
def test_number_is_assigned_by_each_kind_of_key(key, how):
    own = as_given(np.asarray(key) if isinstance(key, list) else key, how)
    x, expected = td.tensor(ARRAY), ARRAY.copy()
    x[own] = -1
    expected[key] = -1
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("value", [2.75, [1.5, 2.5], (3, 4), np.float64(1e3), True])
@pytest.mark.parametrize("kind", ["float32", "int16", "float16", "bool"])
def test_value_takes_the_dtype_of_what_it_is_assigned_to(value, kind):
    expected = np.zeros((3, 2), kind)
    x = td.tensor(expected)
    expected[1:] = value
    x[1:] = value
    assert x.dtype == kind
    np.testing.assert_array_equal(x.numpy(), expected)


def test_of_values_for_one_place_the_last_stays():
    x = td.zeros(3)
    x[td.tensor([1, 1, 2])] = td.tensor([5.0, 6.0, 7.0])
    assert x.tolist() == [0.0, 6.0, 7.0]


def test_a_slice_of_a_tensor_is_assigned_to_itself():
    x, expected = td.tensor(ARRAY), ARRAY.copy()
    x[1:] = x[:-1] + 1.0
    expected[1:] = ARRAY[:-1] + 1.0
    np.testing.assert_array_equal(x.numpy(), expected)


def test_what_was_read_before_does_not_change():
    x = td.tensor([1.0, 2.0, 3.0])
    part, double = x[:2], x * 2.0
    x[0] = 9.0
    assert part.tolist() == [1.0, 2.0]
    assert double.tolist() == [2.0, 4.0, 6.0]
    assert x.tolist() == [9.0, 2.0, 3.0]


def test_augmented_assignment_goes_through_the_key():
    x, expected = td.tensor(ARRAY), ARRAY.copy()
    x[MASK] *= 2.0
    expected[MASK] *= 2.0
    x[:, 1] += 1.0
    expected[:, 1] += 1.0
    np.testing.assert_array_equal(x.numpy(), expected)


UNFIT = {
    "size": (slice(0, 2), np.zeros((3, 5, 6)), ShapeError, "value="),
    "axes": (0, np.zeros((2, 5, 6)), ShapeError, "too many axes"),
    "mask-count": (MASK, np.zeros(7), ShapeError, "value="),
    "ragged": (0, [[1.0], [2.0, 3.0]], ArgumentError, "numbers"),
    "string": (0, "a", ArgumentError, "numbers"),
    "none": (0, None, ArgumentError, "numbers"),
}


@pytest.mark.parametrize(("key", "value", "error", "says"), UNFIT.values(), ids=UNFIT.keys())
def test_value_that_does_not_fit_is_refused(key, value, error, says):
    x = td.tensor(ARRAY)
    with pytest.raises(error, match=says):
        x[key] = value
    np.testing.assert_array_equal(x.numpy(), ARRAY)


def test_number_that_does_not_fit_the_dtype_is_refused():
    x = td.tensor(np.zeros(2, np.int8))
    with pytest.raises(ArgumentError, match="300"):
        x[0] = 300


# ---- gradients

SMALL = np.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
SLOPES = {
    "view": (slice(None), slice(None, None, -2), 1),
    "array": (slice(None), [0, 2, 2, 0]),
    "arrays": ([0, 1, 1], slice(None), [3, 0, 0]),
    "mask": SMALL > 0,
    "mask-and-integer": (SMALL[:, :, 0] > -0.5, 2),
    "several": ([[0], [1]], [[2, 0]], slice(1, 3)),
}


@pytest.mark.parametrize("key", SLOPES.values(), ids=SLOPES.keys())
def test_gradient_of_reading_is_the_slope(key):
    gradcheck(lambda x: x[key] * x[key], [SMALL])


@pytest.mark.parametrize("key", SLOPES.values(), ids=SLOPES.keys())
def test_gradient_of_assigning_is_the_slope(key):
    value = np.linspace(0.5, 2.0, SMALL[key].size).reshape(SMALL[key].shape)

    def changed(x, v):
        y = x * x
        y[key] = v * v
        return y * x

    gradcheck(changed, [SMALL, value])


def test_gradient_of_a_repeated_index_adds_up():
    x = td.tensor([1.0, 2.0, 3.0]).requires_grad_()
    x[td.tensor([0, 2, 0, 0])].sum().backward()
    assert x.grad.tolist() == [3.0, 0.0, 1.0]


def test_a_leaf_that_collects_gradients_is_not_assigned_to():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    with pytest.raises(GradientError, match=r"clone\(\)"):
        x[0] = 3.0
    with td.no_grad():
        x[0] = 3.0
    assert x.requires_grad
    assert x.tolist() == [3.0, 2.0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 4.0]


# ---- inside compiled functions


def test_compiled_function_assigns_into_what_it_closes_over():
    table, expected = td.zeros(4, 3), np.zeros((4, 3), np.float32)

    @td.compile
    def put(row, values):
        table[row] = values
        table[:, 0] = 1.0
        return table.sum()

    for k in (2, 0, 3):
        values = np.arange(3, dtype=np.float32) + k
        expected[k], expected[:, 0] = values, 1.0
        total = put(td.tensor(k), td.tensor(values))
        assert float(total) == expected.sum()
        np.testing.assert_array_equal(table.numpy(), expected)


def test_compiled_function_assigns_into_what_it_makes():
    @td.compile
    def limited(x):
        y = x * 2.0
        y[y > 4.0] = 4.0
        y[0] = x[-1]
        return y

    for values in ([1.0, 2.0, 3.0], [5.0, 0.0, 1.0]):
        doubled = np.minimum(np.array(values) * 2, 4)
        doubled[0] = values[-1]
        assert limited(td.tensor(values)).tolist() == doubled.tolist()


def test_compiled_function_says_what_it_cannot_index():
    x = td.tensor([1.0, 2.0])
    with pytest.raises(ArgumentError, match="not known"):
        td.compile(lambda y: y[y > 0])(x)


def test_compiled_function_assigns_to_its_argument_as_it_does_uncompiled():
    def overwritten(y):
        y[0] = 5.0
        return y * 2.0

    for f in (overwritten, td.compile(overwritten)):
        x = td.tensor([1.0, 2.0])
        assert f(x).tolist() == [10.0, 4.0]
        assert x.tolist() == [5.0, 2.0]
