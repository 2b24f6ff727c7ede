"""NaN, infinities, signed zeros, saturation and wrapping: what numbers do at their edges."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

inf, nan = float("inf"), float("nan")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def same(result, expected):
    np.testing.assert_array_equal(result.numpy(), np.asarray(expected), strict=False)


def floats(*values, dtype="float32"):
    return td.tensor(np.array(values), dtype=dtype)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_exp_and_log_reach_their_limits(kind):
    same(td.exp(floats(-inf, 0.0, inf, nan, dtype=kind)), [0.0, 1.0, inf, nan])
    same(td.log(floats(0.0, 1.0, inf, -1.0, nan, dtype=kind)), [-inf, 0.0, inf, nan, nan])
    edge = 88.8 if kind == "float32" else 709.8
    same(td.exp(floats(edge, -2 * edge, dtype=kind)), [inf, 0.0])


def test_negative_zero_keeps_its_sign():
    x = floats(-0.0, 0.0)
    for result in (td.sin(x), td.sqrt(x), td.floor(x), x * 1.0, x / 2.0, td.relu(-x) - 0.0):
        assert result.tolist() == [0.0, 0.0]
    assert np.signbit(td.sin(x).numpy()).tolist() == [True, False]
    assert np.signbit((x / 2.0).numpy()).tolist() == [True, False]
    same(1.0 / x, [-inf, inf])


def test_maximum_and_minimum_pass_nan_on_from_either_side():
    a, b = floats(nan, 1.0, inf, -inf), floats(1.0, nan, 2.0, 2.0)
    same(td.maximum(a, b), [nan, nan, inf, 2.0])
    same(td.minimum(a, b), [nan, nan, 2.0, -inf])


@pytest.mark.parametrize("size", [3, 17, 70, 20000])
@pytest.mark.parametrize("place", [0, -1])
def test_reductions_find_the_one_nan(size, place):
    array = np.linspace(-1, 1, size, dtype=np.float32)
    array[place] = nan
    x = td.tensor(array)
    assert np.isnan(float(x.max()))
    assert np.isnan(float(x.min()))
    assert np.isnan(float(x.sum()))
    assert int(td.argmax(x)) == place % size == int(td.argmin(x))


def test_infinities_add_up():
    x = floats(inf, 1.0, -2.0)
    assert float(x.sum()) == inf
    assert np.isnan(float(td.concat([x, -x]).sum()))
    assert float(td.tensor(np.full(5, -inf, np.float32)).max()) == -inf


def test_softmax_of_a_row_with_some_infinities_ignores_them():
    x = floats(-inf, 0.0, 0.0, -inf).reshape(1, 4)
    same(td.softmax(x), [[0.0, 0.5, 0.5, 0.0]])
    same(td.softmax(floats(-inf, -inf)), [nan, nan])
    assert float(td.logsumexp(floats(-inf, -inf))) == -inf
    assert float(td.logsumexp(floats(inf, 0.0))) == inf


def test_softmax_of_large_values_does_not_overflow():
    x = floats(1e4, 1e4 - 1.0)
    np.testing.assert_allclose(td.softmax(x).numpy(), [0.7310586, 0.2689414], rtol=1e-6)
    np.testing.assert_allclose(td.log_softmax(x).numpy(), [-0.3132617, -1.3132617], rtol=1e-6)


def test_comparisons_with_nan_are_false_but_for_not_equal():
    a, b = floats(nan, nan, 1.0), floats(nan, 1.0, nan)
    for result in (a == b, a < b, a <= b, a > b, a >= b):
        assert result.tolist() == [False, False, False]
    assert (a != b).tolist() == [True, True, True]
    assert td.isnan(a).tolist() == [True, True, False]


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_float_to_integer_saturates_and_nan_becomes_zero(kind, source):
    limits = np.iinfo(kind)
    x = floats(nan, inf, -inf, 1e30, -1e30, 3.99, -0.5, dtype=source)
    low = limits.min
    expected = np.array([0, limits.max, low, limits.max, low, 3, 0], kind)
    same(x.cast(kind), expected)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_wrap_around(kind):
    limits = np.iinfo(kind)
    edges = np.array([limits.max, limits.min, limits.max // 2 + 1], kind)
    with np.errstate(over="ignore"):
        x, one = td.tensor(edges), td.tensor(np.array([1], kind))
        same(x + one, edges + np.array(1, kind))
        same(x - one, edges - np.array(1, kind))
        same(x * x, edges * edges)
        same(-x, -edges)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_division_rounds_down_and_by_zero_gives_zero(kind):
    signed = np.iinfo(kind).min < 0
    a = np.array([7, 7, 8, 0, 5, 127], kind)
    b = np.array([2, 3, 4, 3, 0, 1], kind)
    if signed:
        a, b = np.concatenate([a, -a, a]), np.concatenate([b, b, -b])
    with np.errstate(divide="ignore"):
        same(td.tensor(a) // td.tensor(b), a // b)
        same(td.tensor(a) % td.tensor(b), a % b)


def test_the_one_overflow_of_integer_division_wraps():
    least = np.iinfo(np.int32).min
    x, y = td.tensor(np.array([least], np.int32)), td.tensor(np.array([-1], np.int32))
    assert (x // y).tolist() == [least]
    assert (x % y).tolist() == [0]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_float_division_keeps_x_equal_to_y_times_quotient_plus_rest(kind):
    rng = np.random.default_rng(0)
    a = rng.uniform(-50, 50, 500).astype(kind)
    b = np.where(np.abs(d := rng.uniform(-3, 3, 500)) < 0.1, 0.1, d).astype(kind)
    a[:5], b[:5] = 1.0, 0.1  # the quotient rounds up to 10, but 9 whole times fit
    x, y = td.tensor(a), td.tensor(b)
    same(x // y, a // b)
    same(x % y, a % b)


def test_float_division_by_zero_is_infinite_or_nan():
    x = floats(1.0, -1.0, 0.0, inf)
    same(x / 0.0, [inf, -inf, nan, inf])
    same(x // floats(0.0, 0.0, 0.0, 1.0), [inf, -inf, nan, nan])
    same(x % floats(0.0, inf, 3.0, 2.0), [nan, inf, 0.0, nan])


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_small_floats_round_to_nearest_even_and_overflow(kind):
    step = 2.0**-10 if kind == "float16" else 2.0**-7
    x = floats(1 + step / 2, 1 + 3 * step / 2, 1 + step * 0.51, 3.4e38, -3.4e38, nan)
    expected = [1.0, 1 + 2 * step, 1 + step, inf, -inf, nan]
    same(x.cast(kind).cast("float32"), np.array(expected, np.float32))


def test_anything_but_zero_is_true():
    same(floats(0.0, -0.0, nan, 1e-40, -2.0).cast("bool"), [False, False, True, True, True])


def test_powers_at_the_edges():
    x, y = floats(0.0, 0.0, inf, 1.0, nan, -2.0), floats(0.0, -1.0, 0.5, nan, 0.0, 3.0)
    same(td.pow(x, y), [1.0, inf, inf, 1.0, 1.0, -8.0])


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_a_cast_out_of_16_bits_rounds_like_a_stored_value(kind):
    x = td.tensor(np.array([60000.0, 1.0, 3e38], np.float32)).cast(kind)
    fused = ((x + x) * 1.0009765625).cast("float32").numpy()
    stored = ((x + x) * 1.0009765625).realize().cast("float32").numpy()
    np.testing.assert_array_equal(fused, stored)


# ---- bits, integers and bool


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_powers_wrap_around(kind):
    limits = np.iinfo(kind)
    x = np.array([0, 1, 2, 3, 7, limits.max, limits.min], kind)
    y = np.array([0, 1, 2, 5, 63, 64, limits.max], kind)
    a, b = (part.ravel() for part in np.meshgrid(x, y))
    with np.errstate(over="ignore"):
        same(td.pow(td.tensor(a), td.tensor(b)), a**b)
        for power in (1, 2, 3, 5, 11):
            same(td.tensor(a) ** power, a ** np.array(power, kind))
        same(2 ** td.tensor(y[:4]), np.array(2, kind) ** y[:4])


def test_integers_to_negative_powers_are_what_is_left_of_a_fraction():
    x = td.tensor(np.array([1, -1, -1, 2, -3, 0]))
    same(td.pow(x, td.tensor(np.array([-5, -3, -2, -1, -1, -1]))), [1, -1, 1, 0, 0, 0])


@pytest.mark.parametrize("kind", INTEGERS)
def test_shifts_by_too_much_leave_nothing_but_the_sign(kind):
    bits, signed = np.iinfo(kind).bits, np.iinfo(kind).min < 0
    x = np.array([5, 5, 5, 1, 127] + ([-5, -5, -128, -1] if signed else []), kind)
    y = np.array([0, 1, bits, bits - 1, 100] + ([1, bits, 100, bits - 1] if signed else []), kind)
    same(td.tensor(x) << td.tensor(y), np.left_shift(x, y))
    same(td.tensor(x) >> td.tensor(y), np.right_shift(x, y))


@pytest.mark.parametrize("kind", INTEGERS)
def test_rounding_leaves_integers_as_they_are(kind):
    x = np.array([np.iinfo(kind).max, np.iinfo(kind).min, 3], kind)
    for row in (td.floor, td.ceil, td.round, td.trunc, td.positive):
        result = row(td.tensor(x))
        assert result.dtype.name == kind
        same(result, x)
    same(td.sign(td.tensor(x)), np.sign(x))
    same(~td.tensor(x), ~x)
    assert td.isfinite(td.tensor(x)).tolist() == [True] * 3
    assert td.isinf(td.tensor(x)).tolist() == td.isnan(td.tensor(x)).tolist() == [False] * 3


@pytest.mark.parametrize("kind", INTEGERS)
def test_fmod_of_integers_has_the_sign_of_the_first(kind):
    info = np.iinfo(kind)
    x = np.array([7, 7, 0, info.max, info.min] + ([-7, -7, 7] if info.min < 0 else []), kind)
    y = np.array([3, 0, 5, 2, 3] + ([3, -3, -3] if info.min < 0 else []), kind)
    with np.errstate(divide="ignore"):
        same(td.fmod(td.tensor(x), td.tensor(y)), np.fmod(x, y))


PAIRED = [("float32", "int32"), ("float32", "uint32"), ("float64", "int64"), ("float16", "int16"),
          ("int8", "uint8"), ("uint64", "float64"), ("uint16", "float16")]  # fmt: skip


@pytest.mark.parametrize(("source", "to"), PAIRED)
def test_bitcast_reads_the_same_bits(source, to):
    x = np.array([0, 1, 2, 100, 15360], "int64").astype(source)
    if source.startswith("float"):
        x = np.concatenate([x, np.array([-0.0, -1.5, inf], source)])
    same(td.bitcast(td.tensor(x), to), x.view(to))
    same(td.bitcast(td.bitcast(td.tensor(x) + 0, to), source), x + x.dtype.type(0))


def test_sign_bits():
    x = floats(-0.0, 0.0, nan, -inf, 2.0)
    assert td.signbit(x).tolist() == [True, False, False, True, False]
    turned = td.copysign(floats(1.0, -1.0, nan), floats(-0.0, 0.0, -1.0)).numpy()
    assert np.signbit(turned).tolist() == [True, False, True]
    assert np.isnan(float(td.sign(floats(nan))))


def test_logic_takes_any_number():
    x, y = floats(0.0, nan, 2.0, -0.0), floats(0.0, 0.0, 1.0, 3.0)
    assert td.logical_and(x, y).tolist() == [False, False, True, False]
    assert td.logical_or(x, y).tolist() == [False, True, True, True]
    assert td.logical_xor(x, y).tolist() == [False, True, False, True]
    assert td.logical_not(x).tolist() == [True, False, False, True]


def test_clip_takes_numbers_and_tensors_and_keeps_nan():
    x = floats(-3.0, 0.5, 7.0, nan)
    same(td.clip(x, 0.0, 1.0), [0.0, 0.5, 1.0, nan])
    same(td.clip(x, max=1.0), [-3.0, 0.5, 1.0, nan])
    same(td.clip(x, min=0.0), [0.0, 0.5, 7.0, nan])
    same(td.clip(x, floats(0.0, 1.0, nan, 0.0), 5.0), [0.0, 1.0, nan, nan])
    same(td.clip(td.tensor(np.array([1, 5, 9])), 2, 6), [2, 5, 6])


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_nan_to_num_fills_in_the_largest(kind):
    x = floats(nan, inf, -inf, 1.5, dtype=kind)
    largest = td.finfo(kind).max
    same(td.nan_to_num(x).cast("float64"), [0.0, largest, -largest, 1.5])
    same(td.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0).cast("float64"), [1.0, 2.0, 3.0, 1.5])


def test_nearness_as_numpy_has_it():
    a = floats(1.0, inf, inf, nan, 1.0, 1e-9, -inf)
    b = floats(1.0 + 1e-6, inf, -inf, nan, inf, 0.0, 1.0)
    for equal_nan in (False, True):
        expected = np.isclose(a.numpy(), b.numpy(), equal_nan=equal_nan)
        same(td.isclose(a, b, equal_nan=equal_nan), expected)
    assert bool(td.allclose(a[:2], b[:2]))
    assert not bool(td.allclose(a, b, equal_nan=True))
    big = td.tensor(np.array([2**40, 2**40 + 1]))
    assert td.isclose(big, big[0], rtol=0.0, atol=0.0).tolist() == [True, False]


# ---- gradients at the edges


def slope(function, *values):
    xs = [td.tensor(np.array(value), dtype="float64", requires_grad=True) for value in values]
    return [g.tolist() for g in td.gradients(function(*xs).sum(), xs)]


def test_gradients_at_kinks_are_those_of_pytorch():
    assert slope(td.relu, [-1.0, 0.0, 1.0]) == [[0.0, 0.0, 1.0]]
    assert slope(abs, [-1.0, 0.0, 1.0]) == [[-1.0, 0.0, 1.0]]
    assert slope(td.maximum, [0.0, 1.0, 2.0], [0.0, 3.0, 1.0]) == [[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]
    assert slope(td.minimum, [0.0, 1.0], [0.0, 3.0]) == [[0.5, 1.0], [0.5, 0.0]]
    assert slope(lambda x: td.clip(x, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0]) == [[0.0, 1.0, 1.0, 1.0]]
    assert slope(td.relu6, [-1.0, 0.0, 3.0, 6.0]) == [[0.0, 0.0, 1.0, 0.0]]
    assert slope(td.elu, [-0.0, 0.0, 1000.0]) == [[1.0, 1.0, 1.0]]
    assert slope(td.softplus, [0.0, 1000.0, -1000.0]) == [[0.5, 1.0, 0.0]]


def test_gradients_at_zero_are_no_nan():
    assert slope(td.hypot, [0.0], [0.0]) == [[0.0], [0.0]]
    assert slope(td.atan2, [0.0], [0.0]) == [[0.0], [0.0]]
    assert slope(td.pow, [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]) == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert slope(td.sqrt, [0.0]) == [[inf]]
    assert slope(td.logaddexp, [-inf], [-inf]) == [[0.5], [0.5]]
    assert slope(lambda x: td.where(x > 0.0, td.sqrt(x), 0.0), [-1.0, 4.0])[0][1] == 0.25


@pytest.mark.parametrize("kind", ["bool", "uint8", "int32"])
def test_fmod_beside_whole_numbers_has_a_gradient(kind):
    x, y = td.tensor([3.5, -2.25]), td.tensor([1, 1], dtype=kind)
    assert td.grad(lambda x: td.fmod(x, y).sum())(x).tolist() == [1.0, 1.0]
    assert td.grad(lambda x: td.fmod(y, x).sum())(td.tensor([0.4, -0.3])).tolist() == [-2.0, 3.0]
