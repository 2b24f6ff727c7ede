"""Losses as modules: what an output is worth beside a target, by `nn.functional`.

`reduction` says what is made of the losses of all elements: "mean", "sum" or "none". PyTorch's
older `size_average` and `reduce` are not taken; options after them are given by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.nn import functional as f
from treadle.nn.images import PairwiseDistance
from treadle.nn.linear import Linear
from treadle.nn.module import Module
from treadle.nn.tree import shown
from treadle.tensor.tensor import Tensor


class _Loss(Module):
    """What losses share: how the elements' are reduced."""

    _reductions: tuple[str, ...] = ("mean", "sum", "none")

    def __init__(self, *, reduction: str = "mean") -> None:
        if reduction not in self._reductions:
            wrong = f"reduction is one of {', '.join(self._reductions)}"
            raise ArgumentError(explain(type(self).__name__, wrong, got=repr(reduction)))
        self.reduction = reduction


class _Weighted(_Loss):
    """A loss with a weight for each class or element, which moves with the module."""

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)


# ---- numbers


class L1Loss(_Loss):
    """The absolute difference."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """The square of the difference."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """The absolute difference, and its square where it is below beta."""

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the square of the difference, growing straight on from delta."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.huber_loss(input, target, self.reduction, self.delta)


class PoissonNLLLoss(_Loss):
    """What a count is worth to a rate, or to its logarithm."""

    def __init__(
        self, log_input: bool = True, full: bool = False, *, eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Any:
        """The loss."""
        options: dict[str, Any] = {"eps": self.eps, "reduction": self.reduction}
        return f.poisson_nll_loss(log_input, target, self.log_input, self.full, **options)


class GaussianNLLLoss(_Loss):
    """What a number is worth to a mean and a variance."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Any:
        """The loss."""
        return f.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


# ---- classes


class NLLLoss(_Weighted):
    """Minus the logarithm given to the right class; classes are axis 1."""

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """NLLLoss under the name it once had for images."""


class CrossEntropyLoss(_Weighted):
    """NLLLoss of the log_softmax of scores; targets are classes, or probabilities of all."""

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction=reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip


class LinearCrossEntropyLoss(_Weighted):
    """CrossEntropyLoss of what a linear layer of its own makes of the input."""

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: Sequence[int] = (),
        bias: bool = False, device: Any = None, dtype: Any = None, reduction: str = "mean",
        weight: Tensor | None = None, ignore_index: int | None = None,
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, tuple(out_features)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        outputs = math.prod(self.out_features, start=num_classes)
        self.linear = Linear(in_features, outputs, bias, device, dtype)

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        sizes = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return f.linear_cross_entropy(
            input, self.linear.weight.reshape(*sizes, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(sizes), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The options, by name."""
        sizes = f"in_features={self.linear.in_features}, {shown(self, 'num_classes')}"
        rest = shown(self, "reduction", "ignore_index", "label_smoothing")
        bias = f"bias={self.linear.bias is not None}"
        return f"{sizes}, out_features={self.out_features}, {bias}, {rest}"


class BCELoss(_Weighted):
    """What yes or no is worth to a probability."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Weighted):
    """BCELoss of the sigmoid of a score; pos_weight is what a yes counts for."""

    pos_weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, *, reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        options: dict[str, Any] = {"reduction": self.reduction, "pos_weight": self.pos_weight}
        return f.binary_cross_entropy_with_logits(input, target, self.weight, **options)


class KLDivLoss(_Loss):
    """How far a distribution is from that of logarithms; "batchmean" is the divergence itself."""

    _reductions = ("mean", "sum", "none", "batchmean")

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class CTCLoss(_Loss):
    """What a sequence of labels is worth to the scores of a longer one."""

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Any:
        """The loss."""
        return f.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
            self.zero_infinity,
        )  # fmt: skip


# ---- margins


class HingeEmbeddingLoss(_Loss):
    """A distance where the target is 1, what it lacks to a margin where it is -1."""

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target input)), with targets 1 and -1."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """What every wrong class lacks to a margin below every right one."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_Weighted):
    """BCEWithLogitsLoss of each class, the mean over classes."""

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        return f.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class MultiMarginLoss(_Weighted):
    """What every wrong class lacks to a margin below the right one."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, *,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction=reduction)
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss."""
        options = (self.p, self.margin, self.weight)
        return f.multi_margin_loss(input, target, *options, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """What the larger of two lacks to a margin; a target of 1 means the first is."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Any:
        """The loss."""
        options = {"reduction": self.reduction}
        return f.margin_ranking_loss(input1, input2, target, self.margin, **options)


class CosineEmbeddingLoss(_Loss):
    """How far the cosine is from 1 where the target is 1, above a margin where it is -1."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Any:
        """The loss."""
        options = {"reduction": self.reduction}
        return f.cosine_embedding_loss(input1, input2, target, self.margin, **options)


class TripletMarginLoss(_Loss):
    """How much nearer, less a margin, an anchor is to the positive than to the negative."""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, *,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Any:
        """The loss."""
        return f.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance of one's own."""

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0, swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        distance: Any = PairwiseDistance() if distance_function is None else distance_function
        self.distance_function = distance
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Any:
        """The loss."""
        return f.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function,
            margin=self.margin, swap=self.swap, reduction=self.reduction,
        )  # fmt: skip
