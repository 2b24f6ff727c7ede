"""Layers for graphs given as lists of edges: gathered from sources, scattered to targets.

`edge_index` is (2, edges): the numbers of sources and of targets. Parameters have PyTorch
Geometric's names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import concat, expand, leaky_relu, scatter_reduce, take, where
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.linear import Linear, parameter
from treadle.nn.module import Module
from treadle.tensor.creation import arange, full, ones, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

POOLS = {"add": "sum", "sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}


def scattered(values: Tensor, index: Tensor, count: int, reduce: str = "sum") -> Tensor:
    """The sum, mean, max or min of the rows that go to each of `count` places; 0 where none do."""
    if reduce not in POOLS:
        hint = ", ".join(POOLS)
        raise ArgumentError(explain("scattered", "unknown reduce", hint, got=repr(reduce)))
    nothing = zeros(count, *values.shape[1:], dtype=values.dtype, device=values.device)
    places = index.reshape(index.size, *[1] * (values.ndim - 1))
    places = expand(places, values.shape)
    return scatter_reduce(nothing, places, values, 0, POOLS[reduce], include_self=False)


def _edges(what: str, edge_index: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    if edge_index.ndim != 2 or edge_index.shape[0] != 2:
        hint = "two rows: sources and targets"
        raise ShapeError(explain(what, "not a list of edges", hint, shape=edge_index.shape))
    if x.ndim != 2:
        raise ShapeError(explain(what, "nodes are rows: (nodes, features)", shape=x.shape))
    return edge_index[0], edge_index[1]


def _with_loops(source: Tensor, target: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """One more edge from every node to itself."""
    every = arange(count, dtype=source.dtype, device=source.device)
    return concat([source, every]), concat([target, every])


class _Graph(Module):
    bias: Tensor | None

    def _shift(self, bias: bool, size: int, place: dict[str, Any]) -> None:
        own = parameter(type(self).__name__, size, **place) if bias else None
        self.register_parameter("bias", own)
        if own is not None:
            init.zeros_(own)

    def _shifted(self, x: Tensor) -> Tensor:
        return x if self.bias is None else x + self.bias


class GCNConv(_Graph):
    """Means of neighbours' features, weighted by the roots of both nodes' degrees (Kipf, Welling).

    - **improved**: loops count twice
    - **add_self_loops**, **normalize**: as they say; degrees count weights of edges
    """

    def __init__(
        self, in_channels: int, out_channels: int, improved: bool = False,
        add_self_loops: bool = True, normalize: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.in_channels, self.out_channels, self.improved = in_channels, out_channels, improved
        self.add_self_loops, self.normalize = add_self_loops, normalize
        place = {"device": device, "dtype": dtype}
        self.lin = Linear(in_channels, out_channels, False, **place)
        init.xavier_uniform_(self.lin.weight)
        self._shift(bias, out_channels, place)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Any:
        """(nodes, in_channels) to (nodes, out_channels)."""
        source, target = _edges("GCNConv", edge_index, x)
        count, weight = x.shape[0], edge_weight
        if self.add_self_loops and self.normalize:
            source, target, weight = _looped(source, target, count, weight, x, self.improved)
        if self.normalize:
            own = ones(source.shape[0], dtype=x.dtype, device=x.device)
            weight = own if weight is None else weight
            degree = scattered(weight, target, count)
            scale = where(degree > 0, degree, 1.0) ** -0.5 * (degree > 0).cast(x.dtype)
            weight = take(scale, source, axis=0) * weight * take(scale, target, axis=0)
        sent = take(self.lin(x), source, axis=0)
        sent = sent if weight is None else sent * weight.reshape(-1, 1)
        return self._shifted(scattered(sent, target, count))

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.in_channels}, {self.out_channels}"


def _looped(
    source: Tensor, target: Tensor, count: int, weight: Tensor | None, x: Tensor, improved: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Loops of weight 1 or 2 where there are none; those that are there keep theirs."""
    own = ones(source.shape[0], dtype=x.dtype, device=x.device) if weight is None else weight
    loop = source == target
    there = scattered(where(loop, own, 0.0), source, count, "sum")
    has = scattered(loop.cast(x.dtype), source, count, "max") > 0
    new = where(
        has, there, full((count,), 2.0 if improved else 1.0, dtype=x.dtype, device=x.device)
    )
    kept = where(loop, zeros((), dtype=x.dtype, device=x.device), own)
    return *_with_loops(source, target, count), concat([kept, new])


class SAGEConv(_Graph):
    """A matrix times the mean (or max, sum) of neighbours, plus one times the node itself.

    - **normalize**: results of length 1
    - **project**: neighbours go through a layer and relu first
    """

    def __init__(
        self, in_channels: int, out_channels: int, aggr: str = "mean", normalize: bool = False,
        root_weight: bool = True, project: bool = False, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        self.normalize, self.root_weight, self.project = normalize, root_weight, project
        place = {"device": device, "dtype": dtype}
        if project:
            self.lin = Linear(in_channels, in_channels, True, **place)
        self.lin_l = Linear(in_channels, out_channels, bias, **place)
        if root_weight:
            self.lin_r = Linear(in_channels, out_channels, False, **place)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        """(nodes, in_channels) to (nodes, out_channels)."""
        source, target = _edges("SAGEConv", edge_index, x)
        sent = f.relu(self.lin(x)) if self.project else x
        found = self.lin_l(scattered(take(sent, source, axis=0), target, x.shape[0], self.aggr))
        if self.root_weight:
            found = found + self.lin_r(x)
        return f.normalize(found, 2.0, -1) if self.normalize else found

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.in_channels}, {self.out_channels}, aggr={self.aggr}"


class GINConv(Module):
    """A network of one's own applied to (1 + eps) times a node plus the sum of its neighbours."""

    eps: Tensor

    def __init__(
        self, nn: Callable[[Tensor], Any], eps: float = 0.0, train_eps: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.nn, self.initial_eps = nn, eps
        first = full((1,), eps, dtype="float32" if dtype is None else dtype, device=device)
        if train_eps:
            self.eps = parameter("GINConv", 1, device=device, dtype=dtype)
            init.constant_(self.eps, eps)
        else:
            self.register_buffer("eps", first)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        """What the network makes of the sums."""
        source, target = _edges("GINConv", edge_index, x)
        found = scattered(take(x, source, axis=0), target, x.shape[0])
        return self.nn(found + x * (self.eps + 1.0))


class GATConv(_Graph):
    """Means of neighbours weighted by attention, in several heads.

    - **concat**: heads side by side; else their mean
    - **negative_slope**: of the leaky relu of scores
    - **dropout**: the share of weights set to 0 while training
    """

    def __init__(
        self, in_channels: int, out_channels: int, heads: int = 1, concat: bool = True,
        negative_slope: float = 0.2, dropout: float = 0.0, add_self_loops: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.in_channels, self.out_channels, self.heads = in_channels, out_channels, heads
        self.concat, self.negative_slope, self.dropout = concat, negative_slope, dropout
        self.add_self_loops = add_self_loops
        place = {"device": device, "dtype": dtype}
        self.lin = Linear(in_channels, heads * out_channels, False, **place)
        self.att_src = parameter("GATConv", 1, heads, out_channels, **place)
        self.att_dst = parameter("GATConv", 1, heads, out_channels, **place)
        self._shift(bias, heads * out_channels if concat else out_channels, place)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            bound = math.sqrt(6.0 / max(1, weight.shape[-2] + weight.shape[-1]))
            init.uniform_(weight, -bound, bound)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        """(nodes, in_channels) to (nodes, heads out_channels), or (nodes, out_channels)."""
        source, target = _edges("GATConv", edge_index, x)
        count, loop = x.shape[0], source == target
        if self.add_self_loops:
            source, target = _with_loops(source, target, count)
        heads = self.lin(x).reshape(count, self.heads, self.out_channels)
        score = take((heads * self.att_src).sum(-1), source, axis=0)
        score = score + take((heads * self.att_dst).sum(-1), target, axis=0)
        score = leaky_relu(score, self.negative_slope)
        if self.add_self_loops:  # those that were there before count no more
            gone = concat([loop, zeros(count, dtype="bool", device=x.device)])
            score = where(gone.reshape(-1, 1), -math.inf, score)
        weight = f.dropout(_softmax(score, target, count), self.dropout, self.training)
        sent = take(heads, source, axis=0) * weight.unsqueeze(-1)
        found = scattered(sent, target, count)
        found = found.flatten(1) if self.concat else found.mean(1)
        return self._shifted(found)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"


def _softmax(score: Tensor, target: Tensor, count: int) -> Tensor:
    """Softmax over the edges that go to the same node."""
    with no_grad():
        largest = scattered(score.detach(), target, count, "max")
    share = (score - take(largest, target, axis=0)).exp()
    total = scattered(share, target, count)
    return share / (take(total, target, axis=0) + 1e-16)


# ---- graphs of a batch


def _pool(x: Tensor, batch: Tensor | None, size: int | None, reduce: str) -> Tensor:
    if batch is None:
        batch = zeros(x.shape[0], dtype="int64", device=x.device)
        size = 1
    count = int(batch.max()) + 1 if size is None else size
    return scattered(x, batch, count, reduce)


def global_add_pool(x: Tensor, batch: Tensor | None, size: int | None = None) -> Tensor:
    """The sum of the nodes of each graph; batch has the graph of each node.

    In a compiled function size, the number of graphs, must be given.
    """
    return _pool(x, batch, size, "sum")


def global_mean_pool(x: Tensor, batch: Tensor | None, size: int | None = None) -> Tensor:
    """The mean of the nodes of each graph; batch has the graph of each node.

    In a compiled function size, the number of graphs, must be given.
    """
    return _pool(x, batch, size, "mean")


def global_max_pool(x: Tensor, batch: Tensor | None, size: int | None = None) -> Tensor:
    """The largest of the nodes of each graph; batch has the graph of each node.

    In a compiled function size, the number of graphs, must be given.
    """
    return _pool(x, batch, size, "max")
