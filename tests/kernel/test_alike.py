"""Groups of one structure share their loops, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import float32
from treadle.ir.node import placeholder, type_of
from treadle.kernel import plan
from treadle.kernel.alike import Alike
from treadle.kernel.build import build_cluster
from treadle.kernel.signature import Signature
from treadle.ops import elementwise as e
from treadle.ops.reduce import max_, sum_
from treadle.runtime import realize


class Compared(Alike):
    """Every group is built anew as well."""

    groups, shared = 0, 0

    def build(self, cluster):
        before = {id(built.loops) for _, _, known in self.known.values() for built in known}
        found = super().build(cluster)
        alone = build_cluster(cluster, self.stored)
        assert [built.buffers for built in found] == [built.buffers for built in alone]
        for one, other in zip(found, alone, strict=True):
            pair = Signature(one.loops), Signature(other.loops)
            assert pair[0].text == pair[1].text
            assert pair[0].values == pair[1].values
            assert (one.joins is None) == (other.joins is None)
            assert one.joins in (None, found[0])
        Compared.groups += 1
        Compared.shared += found[0].loops is not None and id(found[0].loops) in before
        return found


@pytest.fixture
def compared(monkeypatch):
    monkeypatch.setattr(plan, "Alike", Compared)
    monkeypatch.setattr(Compared, "groups", 0)
    monkeypatch.setattr(Compared, "shared", 0)
    realize.forget()
    return Compared


def test_equal_layers_share_loops(compared):
    rng = np.random.default_rng(0)
    x = [td.tensor(rng.standard_normal((96, 64), np.float32)) for _ in range(5)]
    found = td.compile(lambda *x: [td.softmax(y * 2, axis=1) for y in x])(*x)
    for y, part in zip(x, found, strict=True):
        expected = np.exp(2 * y.numpy())
        np.testing.assert_allclose(part.numpy(), expected / expected.sum(1, keepdims=True), 1e-5)
    assert compared.shared == 4


def test_column_sums_have_parts_of_their_own(compared):
    x = [td.tensor(np.full((300, 40), k + 1.0, np.float32)) for k in range(3)]
    sums = td.compile(lambda *x: [(y * y).sum(0) for y in x])(*x)
    for k, found in enumerate(sums):
        np.testing.assert_allclose(found.numpy(), np.full(40, 300.0 * (k + 1) ** 2))
    assert compared.shared == 2


@pytest.mark.parametrize(
    "other",
    [
        lambda x: e.exp(x + x),
        lambda x: e.exp(x * x * x),
        lambda x: max_(e.exp(x), axis=1),
        lambda x: sum_(e.exp(x), axis=0),
        lambda x: e.exp(x.reshape((16, 4))),
    ],
)
def test_other_groups_share_nothing(compared, other):
    first, second = (placeholder(type_of((8, 8), float32)) for _ in range(2))
    roots = [sum_(e.exp(first), axis=1), other(second)]
    realize.compile_graph(roots, [first, second], {})
    assert compared.groups >= 2
    assert compared.shared == 0
