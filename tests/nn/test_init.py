"""First values: bounds, deviations and structure, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, ShapeError
from treadle.nn import init

DEVIATIONS = {
    "xavier_uniform_": (lambda w: init.xavier_uniform_(w, gain=2.0), 2 * math.sqrt(2 / (60 + 120))),
    "xavier_normal_": (init.xavier_normal_, math.sqrt(2 / (60 + 120))),
    "kaiming_uniform_": (init.kaiming_uniform_, math.sqrt(2 / 60)),
    "kaiming_normal_": (lambda w: init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
                        math.sqrt(2 / 120)),
    "slope": (lambda w: init.kaiming_normal_(w, a=1.0), math.sqrt(1 / 60)),
    "normal_": (lambda w: init.normal_(w, std=0.3), 0.3),
    "uniform_": (lambda w: init.uniform_(w, -3.0, 3.0), math.sqrt(3)),
    "trunc_normal_": (lambda w: init.trunc_normal_(w, std=0.5, a=-0.5, b=0.5), 0.5 * 0.5396),
}  # fmt: skip


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviation(name):
    td.manual_seed(0)
    draw, deviation = DEVIATIONS[name]
    w = nn.Parameter(td.zeros(40, 20, 3))  # 60 inputs, 120 outputs
    assert draw(w) is w
    assert w.requires_grad
    assert w.numpy().std() == pytest.approx(deviation, rel=0.05)
    assert abs(w.numpy().mean()) < 0.1 * deviation


def test_truncated_numbers_stay_within():
    w = init.trunc_normal_(td.zeros(1000), mean=1.0, std=2.0, a=0.0, b=2.0).numpy()
    assert w.min() >= 0
    assert w.max() <= 2


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 3), (1, 4), (4, 1)])
def test_orthogonal_rows_or_columns(shape):
    w = init.orthogonal_(td.zeros(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    square = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_structures():
    np.testing.assert_array_equal(init.eye_(td.zeros(2, 3)).numpy(), np.eye(2, 3))
    assert init.ones_(td.zeros(2)).tolist() == [1, 1]
    assert init.constant_(td.zeros(2), 0.5).tolist() == [0.5, 0.5]
    w = init.sparse_(td.zeros(10, 6), 0.35).numpy()
    assert ((w == 0).sum(0) == 4).all()
    x = td.random.normal((2, 4, 5, 5))
    layer = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
    init.dirac_(layer.weight, groups=2)
    np.testing.assert_allclose(layer(x).numpy(), x.numpy(), atol=1e-6)


def test_a_key_draws_the_same_again():
    key = td.random.key(4)
    one, other = (init.normal_(td.zeros(5), generator=key).tolist() for _ in range(2))
    assert one == other


def test_gains():
    assert init.calculate_gain("tanh") == pytest.approx(5 / 3)
    assert init.calculate_gain("leaky_relu", 0.2) == pytest.approx(math.sqrt(2 / 1.04))
    with pytest.raises(ArgumentError, match="unknown"):
        init.calculate_gain("swish")
    for wrong in (init.xavier_normal_, init.eye_, init.dirac_, init.orthogonal_):
        with pytest.raises(ShapeError):
            wrong(td.zeros(3))
    with pytest.raises(ArgumentError, match="fan_in"):
        init.kaiming_normal_(td.zeros(2, 2), mode="in")
