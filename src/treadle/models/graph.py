"""GCN and GAT: classes of the nodes of a graph, with PyTorch Geometric's names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from treadle import nn
from treadle.base.errors import ArgumentError, explain
from treadle.nn import functional as f
from treadle.tensor.tensor import Tensor


class _GraphNetwork(nn.Module):
    """Layers `convs`, between them an activation and dropout."""

    convs: nn.ModuleList
    dropout: float
    act: Callable[[Tensor], Tensor]

    def _between(self, x: Tensor) -> Tensor:
        return f.dropout(self.act(x), self.dropout, self.training)


def _sizes(inputs: int, hidden: int, layers: int, outputs: int | None) -> list[int]:
    if layers < 1:
        wrong = "needs a layer at least"
        raise ArgumentError(explain("graph network", wrong, num_layers=layers))
    return [inputs, *[hidden] * (layers - 1), outputs or hidden]


class GCN(_GraphNetwork):
    """Graph convolutions: features of nodes (nodes, in_channels) and edges (2, edges) to scores.

    - **out_channels**: hidden_channels if left out

    >>> import treadle as td
    >>> edges = td.tensor([[0, 1, 2], [1, 2, 0]])
    >>> td.models.GCN(4, 16, 2, out_channels=3)(td.ones(3, 4), edges).shape
    (3, 3)
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, num_layers: int,
        out_channels: int | None = None, dropout: float = 0.0,
        act: Callable[[Tensor], Tensor] = f.relu,
    ) -> None:  # fmt: skip
        self.dropout, self.act = dropout, act
        sizes = _sizes(in_channels, hidden_channels, num_layers, out_channels)
        self.convs = nn.ModuleList(nn.GCNConv(*pair) for pair in pairwise(sizes))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Scores (nodes, out_channels), before any softmax."""
        *inner, last = self.convs
        for conv in inner:
            x = self._between(conv(x, edge_index, edge_weight))
        return last(x, edge_index, edge_weight)


class GAT(_GraphNetwork):
    """Graph attention: features of nodes (nodes, in_channels) and edges (2, edges) to scores.

    - **heads**: share hidden_channels; with out_channels the last layer has as many, averaged
    - **dropout**: of weights of edges, too
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, num_layers: int,
        out_channels: int | None = None, dropout: float = 0.0,
        act: Callable[[Tensor], Tensor] = f.relu, heads: int = 1,
    ) -> None:  # fmt: skip
        if heads <= 0 or hidden_channels % heads:
            facts = {"hidden_channels": hidden_channels, "heads": heads}
            raise ArgumentError(explain("GAT", "heads share hidden_channels", **facts))
        self.dropout, self.act = dropout, act
        sizes = _sizes(in_channels, hidden_channels, num_layers, out_channels)
        convs = []
        for k in range(num_layers):
            side = k < num_layers - 1 or out_channels is None
            each = sizes[k + 1] // heads if side else sizes[k + 1]
            convs.append(nn.GATConv(sizes[k], each, heads, concat=side, dropout=dropout))
        self.convs = nn.ModuleList(convs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Scores (nodes, out_channels), before any softmax."""
        *inner, last = self.convs
        for conv in inner:
            x = self._between(conv(x, edge_index))
        return last(x, edge_index)
