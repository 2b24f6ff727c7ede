"""A softmax over very many classes whose rare ones come in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import clip, concat, gather, log_softmax, where
from treadle.nn.containers import ModuleList, Sequential
from treadle.nn.linear import Linear
from treadle.nn.module import Module
from treadle.tensor.tensor import Tensor


class Found(NamedTuple):
    """The logarithm given to each right class, and the loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """log_softmax over n_classes that are sorted by frequency, rare ones in clusters.

    - **cutoffs**: where clusters begin
    - **div_value**: by what the size of the vectors shrinks from one cluster to the next
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        ends = [0, *cutoffs, n_classes]
        if len(ends) < 3 or any(a >= b for a, b in pairwise(ends)):
            hint = "numbers that grow, above 0 and below n_classes"
            facts = {"cutoffs": list(cutoffs), "n_classes": n_classes}
            raise ArgumentError(explain("AdaptiveLogSoftmaxWithLoss", "cutoffs", hint, **facts))
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, ends[1:]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[1], len(ends) - 2
        self.head_size = self.shortlist_size + self.n_clusters
        place = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, head_bias, **place)
        self.tail = ModuleList()
        for k, (first, last) in enumerate(pairwise(self.cutoffs)):
            between = int(in_features // (div_value ** (k + 1)))
            down = Linear(in_features, between, False, **place)
            self.tail.append(Sequential(down, Linear(between, last - first, False, **place)))

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        self.head.reset_parameters()
        for down, up in self.tail:
            down.reset_parameters()
            up.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> Found:
        """The logarithm given to the class of each row, and minus their mean."""
        if target.ndim > 1 or input.ndim != target.ndim + 1:
            hint = "input (N, in_features) and target (N), or (in_features) and ()"
            facts = {"input": input.shape, "target": target.shape}
            raise ShapeError(explain("AdaptiveLogSoftmaxWithLoss", "axes", hint, **facts))
        alone = target.ndim == 0
        rows = input.reshape(1, -1) if alone else input
        labels = target.reshape(-1, 1)
        head = log_softmax(self.head(rows), -1)
        found = gather(head, clip(labels, 0, self.shortlist_size - 1), 1)
        for k, (first, last) in enumerate(pairwise(self.cutoffs)):
            inside = log_softmax(self.tail[k](rows), -1)
            own = gather(inside, clip(labels - first, 0, last - first - 1), 1)
            own = own + head[:, self.shortlist_size + k].reshape(-1, 1)
            found = where((labels >= first) & (labels < last), own, found)
        output = found.reshape(target.shape)
        return Found(output, -output.mean())

    def log_prob(self, input: Tensor) -> Any:
        """The logarithms of all classes."""
        head = log_softmax(self.head(input), -1)
        parts = [head[:, : self.shortlist_size]]
        for k in range(self.n_clusters):
            own = head[:, self.shortlist_size + k].reshape(-1, 1)
            parts.append(log_softmax(self.tail[k](input), -1) + own)
        return concat(parts, axis=1)

    def predict(self, input: Tensor) -> Any:
        """The likeliest class of each row."""
        best = self.head(input).argmax(1)
        return where(best < self.shortlist_size, best, self.log_prob(input).argmax(1))
