"""Means of parameters over training, lazily and compiled, and statistics computed anew."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError
from treadle.optim import swa_utils as s


@pytest.mark.parametrize("transform", [lambda f: f, td.compile], ids=["lazy", "compiled"])
@pytest.mark.parametrize("decay", [None, 0.75])
def test_means_are_those_of_the_formula(decay, transform):
    model = td.nn.Linear(2, 2)
    own = {} if decay is None else {"multi_avg_fn": s.get_ema_multi_avg_fn(decay)}
    averaged = s.AveragedModel(model, **own)

    def step(x):
        with td.no_grad():
            model.weight.assign(model.weight * 0.5 + x)
        averaged.update_parameters(model)

    run, seen = transform(step), []
    for k in range(5):
        run(td.tensor(float(k)))
        seen.append(model.weight.numpy().copy())
        expected = np.mean(seen, axis=0)
        if decay is not None:
            expected = seen[0]
            for value in seen[1:]:
                expected = decay * expected + (1 - decay) * value
        np.testing.assert_allclose(averaged.module.weight.numpy(), expected, rtol=1e-5)
    assert int(averaged.n_averaged) == 5
    x = td.ones(1, 2)
    np.testing.assert_array_equal(averaged(x).numpy(), averaged.module(x).numpy())
    assert set(averaged.state_dict()) == {"n_averaged", "module.weight", "module.bias"}


def test_statistics_are_means_of_all_batches():
    model = td.nn.Sequential(td.nn.BatchNorm1d(3)).eval()
    batches = [td.random.normal((8, 3)) * 2.0 + 1.0 for _ in range(4)]
    s.update_bn(batches, model)
    arrays = [batch.numpy() for batch in batches]
    layer = model[0]
    np.testing.assert_allclose(
        layer.running_mean.numpy(), np.mean([a.mean(0) for a in arrays], axis=0), rtol=1e-5
    )
    np.testing.assert_allclose(
        layer.running_var.numpy(), np.mean([a.var(0, ddof=1) for a in arrays], axis=0), rtol=1e-5
    )
    assert (layer.momentum, model.training) == (0.1, False)


def test_wrong_arguments_are_refused():
    with pytest.raises(ArgumentError, match="decay"):
        s.get_ema_multi_avg_fn(1.5)
    both = {"avg_fn": s.get_swa_avg_fn(), "multi_avg_fn": s.get_swa_multi_avg_fn()}
    with pytest.raises(ArgumentError, match="not both"):
        s.AveragedModel(td.nn.Linear(1, 1), **both)
    optimizer = td.optim.SGD([td.ones(1).requires_grad_()])
    with pytest.raises(ArgumentError, match="anneal_strategy"):
        s.SWALR(optimizer, 0.1, anneal_strategy="up")
