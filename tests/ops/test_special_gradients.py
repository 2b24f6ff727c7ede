"""Gradients where a formula would divide by 0 or multiply it by infinity: the numbers they have.

What is expected here is what PyTorch 2.13 gives; `make test-torch` sweeps every row.
"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

inf, nan = float("inf"), float("nan")
F = td.nn.functional


def slope(define, *values, dtype="float64"):
    """Gradients of the sum of a function of tensors."""
    xs = [td.tensor(np.array(x, float), dtype=dtype, requires_grad=True) for x in values]
    found = td.gradients(define(*xs).sum(), xs)
    return [x.tolist() for x in found] if len(xs) > 1 else found[0].tolist()


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_cross_entropy_of_a_saturated_chance_has_a_gradient(kind):
    assert slope(
        lambda x: F.binary_cross_entropy(td.sigmoid(x), x * 0 + 1), [40.0], dtype=kind
    ) == [0]
    x = td.tensor([40.0, -40.0], dtype=kind, requires_grad=True)
    loss = F.binary_cross_entropy(td.sigmoid(x), td.tensor([1.0, 0.0], dtype=kind))
    loss.backward()
    assert abs(loss.item()) < 1e-3
    assert abs(x.grad.numpy().astype(float)).max() < 1e-3


def test_cross_entropy_at_0_and_1():
    x, target = [0.0, 0.0, 1.0, 1.0, 0.5], [0.0, 1.0, 0.0, 1.0, 1.0]
    losses = F.binary_cross_entropy(td.tensor(x), td.tensor(target), reduction="none")
    np.testing.assert_allclose(losses.numpy(), [0.0, 100.0, 100.0, 0.0, np.log(2)], rtol=1e-6)
    of_x, of_target = slope(
        lambda x, t: F.binary_cross_entropy(x, t, reduction="sum"), x, target
    )  # fmt: skip
    np.testing.assert_allclose(of_x, [0.0, -1e12, 1e12, 0.0, -2.0])
    np.testing.assert_allclose(of_target, [100.0, 100.0, -100.0, -100.0, 0.0])


def test_cross_entropy_has_second_derivatives_and_those_of_its_weight():
    x, t, w = (td.tensor(v, dtype="float64") for v in ([0.3, 0.8], [1.0, 0.25], [2.0, 0.5]))
    second = td.hessian(lambda x: F.binary_cross_entropy(x, t, reduction="sum"))(x)
    expected = t.numpy() / x.numpy() ** 2 + (1 - t.numpy()) / (1 - x.numpy()) ** 2
    np.testing.assert_allclose(np.diag(second.numpy()), expected)
    losses = F.binary_cross_entropy(x, t, reduction="none")
    found = td.grad(lambda w: F.binary_cross_entropy(x, t, w))(w)
    np.testing.assert_allclose(found.numpy(), losses.numpy() / 2)


@pytest.mark.parametrize("value", [0.0, 1.0, 20.0, -100.0, 3.7])
@pytest.mark.parametrize("count", [3, 15, 100])
def test_spread_of_equal_elements_is_flat(value, count):
    for kind in ("float32", "float64"):
        x = td.tensor([value] * count, dtype=kind)
        assert td.std(x).item() == 0.0
    assert slope(td.std, [value] * count) == [0.0] * count
    np.testing.assert_allclose(slope(td.var, [value] * count), 0.0, atol=1e-13)


def test_spread_of_nothing_is_not_a_number():
    for x in ([], [inf, inf], [nan, 1.0]):
        assert np.isnan(td.std(td.tensor(x, dtype="float32")).item())
    assert np.isnan(td.std(td.tensor([2.0]), correction=1).item())


@pytest.mark.parametrize("count", [5, 6, 7, 9, 15])
def test_means_are_rounded_once(count):
    x = np.full(count, 20.0, np.float32)
    assert td.mean(td.tensor(x)).item() == 20.0
    assert F.avg_pool1d(td.tensor(x[None]), count).item() == 20.0
    assert not td.layer_norm(td.tensor(x)).numpy().any()


def test_spread_of_halves_is_computed_in_float32():
    x = td.tensor([-400.0, 400.0], dtype="float16")
    assert td.std(x).item() == 400.0  # its square is no float16


@pytest.mark.parametrize("order", [0.25, 0.5, 0.9, 1, 1.5, 2, 3])
def test_norm_has_no_slope_at_zeros(order):
    assert slope(lambda x: td.norm(x, ord=order), [0.0, 0.0]) == [0.0, 0.0]
    found = slope(lambda x: td.norm(x, ord=order), [0.0, 2.0, 0.0])
    np.testing.assert_allclose(found, [0.0, 1.0, 0.0], rtol=1e-14)


def test_norm_of_negative_order():
    assert slope(lambda x: td.norm(x, ord=-1), [0.0, 2.0]) == [0.0, 0.0]
    assert td.norm(td.tensor([0.0, 2.0]), ord=-1).item() == 0.0
    assert td.norm(td.tensor([inf, -inf]), ord=-1).item() == inf
    np.testing.assert_allclose(slope(lambda x: td.norm(x, ord=-1), [2.0, 4.0]), [4 / 9, 1 / 9])


def test_norms_of_windows_without_elements_but_0_are_flat():
    for power in (2.0, 3.0, 1.5):
        pooled = lambda x: F.lp_pool1d(x, power, 2)  # noqa: B023, E731
        found = slope(pooled, [[0.0, 0.0, 3.0, 0.0]])
        np.testing.assert_allclose(found, [[0.0, 0.0, 1.0, 0.0]], rtol=1e-14)


def test_product_of_the_smallest_numbers():
    assert slope(td.prod, [5e-324, 5e-324, 1.0]) == [0.0, 0.0, 0.0]
    assert slope(td.prod, [5e-324, 1.0, 2.0]) == [2.0, 1e-323, 5e-324]


@pytest.mark.parametrize("loss", [F.huber_loss, F.smooth_l1_loss])
def test_straight_parts_of_losses_at_infinity(loss):
    found = slope(lambda x: loss(x, x * 0, reduction="sum"), [-3.0, -0.5, 0.0, 2.0])
    assert found == [-1.0, -0.5, 0.0, 1.0]
    target = td.tensor([0.0, 0.0], dtype="float64")
    assert slope(lambda x: loss(x, target, reduction="sum"), [inf, -inf]) == [1.0, -1.0]


def test_prelu_at_infinity():
    of_x, of_weight = slope(F.prelu, [inf, -2.0, 0.0, 3.0], 0.25)
    assert of_x == [1.0, 0.25, 0.25, 1.0]
    assert of_weight == -2.0
    assert slope(lambda x: F.prelu(x, td.tensor(inf, dtype="float64")), [2.0, 3.0]) == [1.0, 1.0]


def test_margins_pull_where_they_are_just_met():
    of_first, of_second, of_target = slope(
        lambda a, b, t: F.margin_ranking_loss(a, b, t, reduction="sum"), [1.0], [1.0], [1.0]
    )
    assert (of_first, of_second, of_target) == ([-1.0], [1.0], [0.0])
    target = td.tensor([-1.0, -1.0], dtype="float64")
    hinge = lambda x: F.hinge_embedding_loss(x, target, reduction="sum")  # noqa: E731
    assert slope(hinge, [1.0, 1.5]) == [-1.0, 0.0]


def test_a_variance_below_its_least_can_grow():
    *_, found = slope(
        lambda x, t, var: F.gaussian_nll_loss(x, t, var, reduction="sum"), [0.5], [0.5], [0.0]
    )
    np.testing.assert_allclose(found, [0.5e6])


@pytest.mark.parametrize("size", [1e4, 1e8, 1e30])
def test_cross_entropy_of_large_equal_logits(size):
    logits = td.tensor([[size] * 7, [size] * 7])
    found = F.cross_entropy(logits, td.tensor([0, 3]))
    np.testing.assert_allclose(found.item(), np.log(7), rtol=1e-6)
    found = F.cross_entropy(logits, td.tensor([0, 3]), label_smoothing=0.3)
    np.testing.assert_allclose(found.item(), np.log(7), rtol=1e-6)


def test_means_of_regions_look_at_nobody_else():
    x = td.tensor([[inf, 1.0, 2.0, 3.0, 4.0, 5.0, -inf]])
    assert F.adaptive_avg_pool1d(x, 3).tolist() == [[inf, 3.0, -inf]]
    assert F.adaptive_avg_pool1d(x, 7).tolist() == x.tolist()
