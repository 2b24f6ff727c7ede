"""Samples against the distributions they claim: distribution functions, moments, frequencies."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import TreadleError
from treadle.ops.defs import TABLE, Kind

COUNT = 40_000
LARGEST_GAP = 1.95 / math.sqrt(COUNT)  # Kolmogorov: exceeded once in a thousand honest samples

normal_cdf = np.vectorize(lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5)))


def truncated_cdf(x):
    low, high = normal_cdf(-1.0), normal_cdf(0.5)
    return (normal_cdf(x) - low) / (high - low)


def laplace_cdf(x):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))


def erlang_cdf(x):
    """Gamma with concentration 3."""
    return 1 - np.exp(-x) * (1 + x + x * x / 2)


r = td.random
CONTINUOUS = {
    "uniform": (lambda **o: r.uniform(COUNT, -2.0, 3.0, **o), lambda x: (x + 2) / 5),
    "normal": (lambda **o: r.normal((COUNT,), 1.0, 2.0, **o), lambda x: normal_cdf((x - 1) / 2)),
    "rand": (lambda **o: r.rand(COUNT, **o), lambda x: np.clip(x, 0, 1)),
    "randn": (lambda **o: r.randn(COUNT // 2, 2, **o).reshape(-1), normal_cdf),
    "rand_like": (lambda **o: r.rand_like(td.zeros(COUNT), **o), lambda x: np.clip(x, 0, 1)),
    "randn_like": (lambda **o: r.randn_like(td.zeros(COUNT), **o), normal_cdf),
    "truncated_normal": (lambda **o: r.truncated_normal(COUNT, -1.0, 0.5, **o), truncated_cdf),
    "exponential": (lambda **o: r.exponential(COUNT, 2.0, **o), lambda x: 1 - np.exp(-2 * x)),
    "laplace": (lambda **o: r.laplace(COUNT, 0.0, 1.0, **o), laplace_cdf),
    "gumbel": (lambda **o: r.gumbel(COUNT, **o), lambda x: np.exp(-np.exp(-x))),
    "gamma": (lambda **o: r.gamma(COUNT, 3.0, **o), erlang_cdf),
}
DISCRETE = {
    "bernoulli", "randint", "randint_like", "categorical", "multinomial", "permutation", "poisson",
}  # fmt: skip


def largest_gap(samples, cdf):
    x = np.sort(samples.astype(np.float64))
    f = cdf(x)
    steps = np.arange(len(x) + 1) / len(x)
    return max(np.max(f - steps[:-1]), np.max(steps[1:] - f))


def test_every_distribution_is_tested():
    rows = {name for name, op in TABLE.items() if op.kind is Kind.RANDOM}
    assert rows == {*CONTINUOUS, *DISCRETE}


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_follow_the_distribution_function(name, kind):
    make, cdf = CONTINUOUS[name]
    samples = make(dtype=kind, key=td.random.key(11)).numpy()
    assert samples.dtype == kind
    assert np.isfinite(samples).all()
    assert largest_gap(samples, cdf) < LARGEST_GAP


def test_the_measure_of_distributions_notices_a_wrong_one():
    samples = td.random.normal(COUNT, 0.03, key=td.random.key(1)).numpy()
    assert largest_gap(samples, normal_cdf) > LARGEST_GAP / 2
    assert largest_gap(samples * 1.1, normal_cdf) > LARGEST_GAP


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_never_reaches_its_end(kind):
    x = td.random.uniform(COUNT, dtype=kind, key=td.random.key(3)).numpy().astype(np.float64)
    assert x.min() >= 0.0
    assert x.max() < 1.0


@pytest.mark.parametrize("concentration", [0.1, 0.7, 1.0, 5.0, 300.0])
def test_gamma_has_its_mean_and_variance(concentration):
    x = td.random.gamma(COUNT, concentration, 2.0, "float64", key=td.random.key(5)).numpy()
    deviation = math.sqrt(concentration) / 2
    assert abs(x.mean() - concentration / 2) < 4 * deviation / math.sqrt(COUNT)
    spread = deviation**2 * math.sqrt((6 / concentration + 2) / COUNT)
    assert abs(x.var() - deviation**2) < 4 * spread
    assert (x >= 0).all()


@pytest.mark.parametrize("rate", [0.0, 0.3, 4.0, 9.9, 10.1, 80.0, 5000.0])
def test_poisson_counts_are_as_likely_as_they_should_be(rate):
    x = td.random.poisson(COUNT, rate, key=td.random.key(9)).numpy()
    deviation = math.sqrt(rate)
    assert abs(x.mean() - rate) <= 4 * deviation / math.sqrt(COUNT)
    assert abs(x.var() - rate) <= 5 * rate * math.sqrt(2 / COUNT) + 5 * deviation / math.sqrt(COUNT)
    logs = [k * math.log(rate) - rate - math.lgamma(k + 1) if rate else -math.inf for k in x[:1]]
    assert all(math.isfinite(v) or rate == 0 for v in logs)
    for k in {math.floor(rate), math.floor(rate + deviation), max(0, math.floor(rate - deviation))}:
        p = math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) if rate else float(k == 0)
        assert abs((x == k).mean() - p) <= 4.5 * math.sqrt(p / COUNT)


def test_poisson_takes_a_rate_for_each_element():
    rates = np.repeat([0.5, 8.0, 30.0], COUNT // 3).astype(np.float32)
    x = td.random.poisson(rates.shape, td.tensor(rates), key=td.random.key(2)).numpy()
    for rate, part in zip([0.5, 8.0, 30.0], np.split(x, 3), strict=True):
        assert abs(part.mean() - rate) < 4 * math.sqrt(rate / len(part))


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 4), (0, 1000), (5, 6)])
def test_integers_are_equally_likely(low, high):
    x = td.random.randint(low, high, COUNT, key=td.random.key(4)).numpy()
    assert x.dtype == np.int64
    counts = np.bincount(x - low, minlength=high - low)
    assert len(counts) == high - low
    expected = COUNT / (high - low)
    assert np.abs(counts - expected).max() <= 5 * math.sqrt(expected)


def test_integers_reach_over_the_whole_range():
    for low, high, kind in [(0, 1 << 32, "int64"), (-(1 << 63), (1 << 63) - 1, "int64")]:
        x = td.random.randint(low, high, 1000, kind, key=td.random.key(8)).numpy()
        span = float(high) - float(low)
        assert abs((x.astype(np.float64) - low).mean() / span - 0.5) < 0.05
    assert td.random.randint(-128, 128, 9, "int8").numpy().dtype == np.int8


def test_bernoulli_takes_a_probability_for_each_element():
    p = td.tensor([0.0, 0.25, 1.0])
    share = td.random.bernoulli((COUNT, 3), p, key=td.random.key(6)).numpy().mean(0)
    assert share[0] == 0.0
    assert share[2] == 1.0
    assert abs(share[1] - 0.25) < 4 * 0.5 / math.sqrt(COUNT)


def test_categories_are_as_likely_as_their_softmax():
    logits = td.log(td.tensor([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]]))
    x = td.random.categorical(logits, count=COUNT, key=td.random.key(7)).numpy()
    assert x.shape == (2, COUNT)
    for row, p in zip(x, [[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]], strict=True):
        share = np.bincount(row, minlength=3) / COUNT
        assert np.abs(share - p).max() < 4 * 0.5 / math.sqrt(COUNT)
    assert td.random.categorical(logits, axis=0).shape == (3,)


def test_multinomial_without_replacement_takes_each_once():
    weights = td.tensor(np.tile([0.5, 0.3, 0.1, 0.1, 0.0], (2000, 1)).astype(np.float32))
    x = td.random.multinomial(weights, 4, key=td.random.key(3)).numpy()
    assert (np.sort(x, axis=1) == [0, 1, 2, 3]).all()
    assert abs((x[:, 0] == 0).mean() - 0.5) < 0.05
    again = td.random.multinomial(weights, 50, replacement=True, key=td.random.key(3)).numpy()
    assert abs((again == 1).mean() - 0.3) < 0.01


def test_permutations_hold_every_number_and_are_equally_likely():
    x = td.random.permutation(1000, key=td.random.key(1)).numpy()
    assert (np.sort(x) == np.arange(1000)).all()
    first = [td.random.permutation(4, key=td.random.key(k)).numpy()[0] for k in range(2000)]
    assert np.abs(np.bincount(first, minlength=4) - 500).max() < 5 * math.sqrt(500)
    rows = td.arange(12).reshape(4, 3)
    mixed = td.random.permutation(rows, key=td.random.key(2)).numpy()
    assert (mixed[np.argsort(mixed[:, 0])] == rows.numpy()).all()
    assert td.random.permutation(0).shape == (0,)


# ---- keys


def test_the_same_key_gives_the_same_numbers_and_another_others():
    one, other = td.random.split(td.random.key(0))
    a, b, c = (td.random.normal(8, key=k).numpy() for k in (one, one, other))
    np.testing.assert_array_equal(a, b)
    assert not np.isin(a, c).any()
    folded = td.random.fold_in(one, 3)
    assert not np.isin(td.random.normal(8, key=folded).numpy(), a).any()


def test_a_seed_starts_the_global_generator_again():
    td.manual_seed(5)
    first = [td.random.uniform(4).tolist() for _ in range(3)]
    td.manual_seed(5)
    assert first == [td.random.uniform(4).tolist() for _ in range(3)]
    assert first[0] != first[1]


def test_a_compiled_function_draws_anew_at_each_call_and_by_key_the_same():
    fresh = td.compile(lambda x: x + td.random.normal(3))
    x = td.zeros(3)
    assert fresh(x).tolist() != fresh(x).tolist()
    keyed = td.compile(lambda key: td.random.permutation(9, key=key))
    key = td.random.key(4)
    assert keyed(key).tolist() == keyed(key).tolist() == td.random.permutation(9, key=key).tolist()


def test_gradients_flow_to_what_moves_and_scales_the_samples():
    mean, deviation = td.tensor(1.0, requires_grad=True), td.tensor(2.0, requires_grad=True)
    key = td.random.key(3)
    td.random.normal(100, mean, deviation, key=key).sum().backward()
    assert float(mean.grad) == 100.0
    np.testing.assert_allclose(
        float(deviation.grad), td.random.normal(100, key=key).numpy().sum(), 1e-4
    )


def test_streams_of_one_draw_are_not_related():
    x = td.random.normal((2, COUNT), key=td.random.key(0)).numpy()
    assert abs(np.corrcoef(x)[0, 1]) < 4 / math.sqrt(COUNT)
    lag = np.corrcoef(x[0, 1:], x[0, :-1])[0, 1]
    assert abs(lag) < 4 / math.sqrt(COUNT)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: r.normal(-1), "negative"), (lambda: r.normal("a"), "integer"),
        (lambda: r.uniform(3, dtype="int32"), "floats"), (lambda: r.normal(3, mean="x"), "mean"),
        (lambda: r.gamma(3, -1.0), "positive"), (lambda: r.poisson(3, -1.0), "negative"),
        (lambda: r.randint(3, 3, 2), "low < high"), (lambda: r.randint(0, 300, 2, "uint8"), "fit"),
        (lambda: r.randint(0, 3, 2, "float32"), "integers"), (lambda: r.key("a"), "integer"),
        (lambda: td.manual_seed(1.5), "integer"), (lambda: r.normal(3, key=td.ones(2)), "key"),
        (lambda: r.bernoulli(3, 1.5), r"\[0, 1\]"), (lambda: r.exponential(3, 0), "positive"),
        (lambda: r.multinomial(td.ones(3), 4), "elements"), (lambda: r.split([1, 2]), "key"),
        (lambda: r.categorical(td.ones(2, 0)), "classes"),
        (lambda: r.truncated_normal(3, 2.0, 1.0), "low < high"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, word):
    with pytest.raises(TreadleError, match=word):
        call()


@pytest.mark.parametrize(
    ("dtype", "low", "high", "step"),
    [("float32", 1000.0, 1001.0, 2.0**-14), ("float16", 2.0, 3.0, 2.0**-9),
     ("bfloat16", 2.0, 3.0, 2.0**-6), ("float32", -3.0, -2.0, 2.0**-22)],
)  # fmt: skip
def test_uniform_stays_below_its_end_and_favours_no_place(dtype, low, high, step):
    td.manual_seed(0)
    x = td.random.uniform((400_000,), low, high, dtype=dtype).cast("float64").numpy()
    assert low <= x.min()
    assert x.max() < high
    places = round((high - low) / step)
    if places <= 512:  # every place is as likely, the first one too
        counts = np.bincount(np.round((x - low) / step).astype(int), minlength=places)
        expected = len(x) / places
        assert len(counts) == places
        assert abs(counts - expected).max() < 6 * expected**0.5


def test_uniform_refuses_bounds_in_the_wrong_order():
    with pytest.raises(ValueError, match="low is above high"):
        td.random.uniform((2,), 1.0, 0.0)
