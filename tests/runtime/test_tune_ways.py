"""Is every way that a search may choose right?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends import choices
from treadle.runtime import realize

pytestmark = pytest.mark.usefixtures("own_cache")


def random(*shape, seed=0):
    return td.tensor(np.random.default_rng(seed).standard_normal(shape, np.float32))


def asked_by(make):
    search = choices.Search()
    with choices.searching(search):
        make()
    return search.asked


def ways(question, hops=2, most=24):
    """What a search may come by, some steps away from where it starts."""
    reached = {question.space.default: None}
    edge = list(reached)
    for _ in range(hops):
        edge = [way for last in edge for way in question.space.near(last) if way not in reached]
        reached |= dict.fromkeys(edge)
    return list(reached)[:: max(1, len(reached) // most)]


def every_way(function, *args):
    """(way, value, value on one thread) for every way of the only open kernel."""

    def run():
        realize.forget()
        return td.compile(function)(*args).numpy()

    for key, question in asked_by(run).items():
        for way in ways(question):
            with choices.searching(choices.Search({key: way})):
                several = run()
                with td.override(threads=1):
                    yield way, several, run()


PRODUCTS = {
    "square": ((200, 200), (200, 200), {}),
    "ragged": ((77, 130), (130, 45), {}),
    "left by columns": ((150, 70), (150, 90), {"left": True}),
    "right by columns": ((90, 150), (130, 150), {"right": True}),
    "one row": ((1, 100), (100, 900), {}),  # longer ones are cut along their depth
    "one column": ((900, 400), (400, 1), {}),
    "batch": ((3, 70, 90), (3, 90, 80), {}),
    "shared right": ((3, 70, 90), (90, 80), {}),
    "finished": ((96, 130), (130, 120), {"finish": True}),
    "narrow": ((96, 130), (130, 120), {"dtype": "bfloat16"}),
    "bytes": ((96, 130), (130, 120), {"dtype": "int8"}),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_cut_gives_the_product(name):
    shape, other, options = PRODUCTS[name]
    a, b = random(*shape), random(*other, seed=1)
    if "dtype" in options:
        b = (b * 5.0).cast(options["dtype"])
    td.realize(a, b)

    def product(a, b):
        a = a.T if "left" in options else a
        b = b.T if "right" in options else b
        y = a @ b.cast("float32")
        return td.relu(y + 1.0) if "finish" in options else y

    wide = [x.cast("float64").numpy() for x in (a, b)]
    wide[0] = wide[0].T if "left" in options else wide[0]
    wide[1] = wide[1].T if "right" in options else wide[1]
    expected = wide[0] @ wide[1]
    expected = np.maximum(expected + 1.0, 0) if "finish" in options else expected
    seen = 0
    for way, several, alone in every_way(product, a, b):
        np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-3, err_msg=str(way))
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        seen += 1
    assert seen > 1 or name == "one column"


def test_every_cut_gives_the_convolution():
    x, weight = random(2, 8, 20, 20), random(16, 8, 3, 3, seed=1)

    def convolved(x, weight):
        return td.conv2d(x, weight, padding=1)

    expected = td.conv2d(x.cast("float64"), weight.cast("float64"), padding=1).numpy()
    seen = []
    for way, several, alone in every_way(convolved, x, weight):
        np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-3, err_msg=str(way))
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        seen.append(way)
    assert len(seen) > 2


@pytest.mark.parametrize("causal", [False, True])
def test_every_length_of_tiles_gives_attention(causal):
    q, k, v = (random(1, 2, 300, 32, seed=seed) for seed in range(3))

    def attend(q, k, v):
        return td.scaled_dot_product_attention(q, k, v, is_causal=causal)

    wide = [x.cast("float64").numpy()[0] for x in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1) / np.sqrt(32)
    if causal:
        scores = np.where(np.tril(np.ones((300, 300), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (powers / powers.sum(-1, keepdims=True) @ wide[2])[None]
    seen = []
    for way, several, alone in every_way(attend, q, k, v):
        np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-5, err_msg=str(way))
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        seen.append(way)
    assert len(seen) > 2


LOOPS = {
    "map": lambda x: td.exp(x) + 1.0,
    "turned": lambda x: x.T * 2.0,
    "softmax": lambda x: td.softmax(x),
    "rows": lambda x: x.sum(1),
    "columns": lambda x: x.sum(0),
    "norm": lambda x: td.layer_norm(x),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("shape", [(256, 512), (301, 257), (3, 70001)], ids=str)
def test_every_pace_gives_the_same(name, shape):
    x = random(*shape)
    expected = LOOPS[name](x).numpy()
    for way, several, alone in every_way(LOOPS[name], x):
        np.testing.assert_array_equal(several, alone, err_msg=str(way))
        if name in ("map", "turned"):
            np.testing.assert_array_equal(several, expected, err_msg=str(way))
        else:
            np.testing.assert_allclose(several, expected, rtol=1e-5, atol=2e-4, err_msg=str(way))
