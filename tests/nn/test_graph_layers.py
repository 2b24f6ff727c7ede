"""Layers of graphs against products with dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, ShapeError

random = np.random.default_rng(0)
EDGES = np.array([[0, 1, 2, 2, 3, 0, 4, 2], [1, 2, 0, 3, 2, 3, 1, 2]])  # the last is a loop
NODES = 6  # the last has no edges
X = random.standard_normal((NODES, 3)).astype(np.float32)
MATRIX = np.zeros((NODES, NODES))
MATRIX[EDGES[1], EDGES[0]] = 1  # from column to row


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


def both(layer, *args):
    """The result; compiled is the same."""
    found = layer(*args)
    close(td.compile(lambda *args: layer(*args))(*args), found.numpy())
    return found


x, edges = td.tensor(X), td.tensor(EDGES)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("improved", [False, True])
def test_gcn(weighted, improved):
    layer = nn.GCNConv(3, 4, improved=improved)
    weight = random.uniform(0.5, 2, 8).astype(np.float32)
    matrix = MATRIX.copy()
    if weighted:
        matrix[EDGES[1], EDGES[0]] = weight
    for k in range(NODES):
        matrix[k, k] = matrix[k, k] if k == 2 else 2 if improved else 1
    scale = matrix.sum(1) ** -0.5
    expected = scale[:, None] * matrix * scale @ (X @ layer.lin.weight.numpy().T)
    found = both(layer, x, edges, td.tensor(weight)) if weighted else both(layer, x, edges)
    close(found, expected + layer.bias.numpy())
    assert list(layer.state_dict()) == ["bias", "lin.weight"]


@pytest.mark.parametrize("aggr", ["mean", "max", "sum"])
def test_sage(aggr):
    layer = nn.SAGEConv(3, 4, aggr=aggr)
    means = np.zeros((NODES, 3))
    for k in range(NODES):
        rows = X[EDGES[0][EDGES[1] == k]]
        means[k] = getattr(np, aggr)(rows, 0) if len(rows) else 0
    expected = means @ layer.lin_l.weight.numpy().T + layer.lin_l.bias.numpy()
    close(both(layer, x, edges), expected + X @ layer.lin_r.weight.numpy().T)
    assert list(layer.state_dict()) == ["lin_l.weight", "lin_l.bias", "lin_r.weight"]


@pytest.mark.parametrize("learned", [False, True])
def test_gin(learned):
    layer = nn.GINConv(nn.Linear(3, 2), eps=0.5, train_eps=learned)
    close(
        both(layer, x, edges),
        layer.nn(td.tensor((MATRIX @ X + 1.5 * X).astype(np.float32))).numpy(),
    )
    assert ("eps" in dict(layer.named_parameters())) is learned
    assert list(layer.state_dict()) == ["eps", "nn.weight", "nn.bias"]


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_gat(joined, loops):
    layer = nn.GATConv(3, 4, heads=2, concat=joined, add_self_loops=loops)
    heads = (X @ layer.lin.weight.numpy().T).reshape(NODES, 2, 4)
    seen = MATRIX + np.eye(NODES) if loops else MATRIX
    expected = np.zeros((NODES, 2, 4))
    for h in range(2):
        source = heads[:, h] @ layer.att_src.numpy()[0, h]
        target = heads[:, h] @ layer.att_dst.numpy()[0, h]
        score = target[:, None] + source
        share = np.exp(np.where(score > 0, score, 0.2 * score)) * (seen > 0)
        share /= share.sum(1, keepdims=True) + 1e-16
        expected[:, h] = share @ heads[:, h]
    expected = expected.reshape(NODES, 8) if joined else expected.mean(1)
    close(both(layer, x, edges), expected + layer.bias.numpy())
    assert list(layer.state_dict()) == ["att_src", "att_dst", "bias", "lin.weight"]


def test_pools_of_graphs():
    batch = np.array([0, 0, 2, 2, 2, 3])
    for pool, f in ((nn.global_mean_pool, np.mean), (nn.global_add_pool, np.sum),
                    (nn.global_max_pool, np.max)):  # fmt: skip
        rows = [X[batch == k] for k in range(4)]
        expected = [f(r, 0) if len(r) else np.zeros(3) for r in rows]
        close(pool(x, td.tensor(batch)), np.stack(expected))
        close(
            td.compile(lambda x, b, pool=pool: pool(x, b, 4))(x, td.tensor(batch)),
            np.stack(expected),
        )
        close(pool(x, None), f(X, 0)[None])


def test_gradients_go_along_edges():
    layer, given = nn.GCNConv(3, 2), td.tensor(X, requires_grad=True)
    found = layer(given, edges)
    found[1].sum().backward()
    reached = np.abs(given.grad.numpy()).sum(1) > 0
    assert reached.tolist() == [True, True, False, False, True, False]


def test_what_is_no_graph_is_refused():
    with pytest.raises(ShapeError, match="sources and targets"):
        nn.GCNConv(3, 2)(x, td.tensor([0, 1]))
    with pytest.raises(ShapeError, match="nodes"):
        nn.GATConv(3, 2)(td.ones(2, 2, 3), edges)
    with pytest.raises(ArgumentError, match="reduce"):
        nn.SAGEConv(3, 2, aggr="median")(x, edges)
