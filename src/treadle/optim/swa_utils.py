"""Models whose parameters are means over training: stochastic weight averaging, and EMA."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.functions import where
from treadle.nn.module import Module
from treadle.nn.normalisation import _BatchNorm
from treadle.optim.lr_scheduler.schedule import LRScheduler, for_each, require
from treadle.optim.optimizer import Optimizer
from treadle.tensor.creation import tensor
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.tensor.tracing import TRACE

Average = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From the mean so far, a newer value and how many the mean is of, to the new mean."""
AverageMany = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor], None]
"""The same for many, which assigns to those of the first list."""

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def get_swa_avg_fn() -> Average:
    """The mean of all values, each as heavy as the others."""

    def average(mean: Tensor, new: Tensor, count: Tensor) -> Tensor:
        kind = mean.dtype if mean.dtype.is_float else "float32"
        return mean + (new - mean) / (count + 1).cast(kind)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A mean that forgets: decay of it stays at each update."""
    if not 0.0 <= decay <= 1.0:
        raise ArgumentError(explain("get_ema_avg_fn", "decay is in [0, 1]", decay=decay))
    return lambda mean, new, count: mean * decay + new * (1.0 - decay)


def get_swa_multi_avg_fn() -> AverageMany:
    """`get_swa_avg_fn` for many tensors."""
    return _many(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageMany:
    """`get_ema_avg_fn` for many tensors."""
    return _many(get_ema_avg_fn(decay))


def _many(average: Average) -> AverageMany:
    def averages(means: Sequence[Tensor], new: Sequence[Tensor], count: Tensor) -> None:
        for mean, value in zip(means, new, strict=True):
            mean.assign(average(mean, value, count).cast(mean.dtype))

    return averages


class AveragedModel(Module):
    """A copy of a model whose parameters are means of those it is shown, as `module`.

    - **avg_fn**, **multi_avg_fn**: how means are taken, of one tensor or of many; the mean of all
    - **use_buffers**: take means of buffers too; else they are those of the model shown last
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None,
        multi_avg_fn: AverageMany | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        if avg_fn is not None and multi_avg_fn is not None:
            raise ArgumentError(explain("AveragedModel", "takes avg_fn or multi_avg_fn, not both"))
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype="int64", device=device))
        self.multi_avg_fn = multi_avg_fn or _many(avg_fn or get_swa_avg_fn())
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **options: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **options)

    def update_parameters(self, model: Module) -> None:
        """Make the parameters part of the mean; the first time, they are it."""
        if TRACE:
            self._note()
        own, count = self.module, self.n_averaged
        with no_grad():
            means, new = list(own.parameters()), list(model.parameters())
            buffers = list(own.buffers()), list(model.buffers())
            if self.use_buffers:
                means, new = [*means, *buffers[0]], [*new, *buffers[1]]  # type: ignore[list-item]
            values = [x.detach().to(mean.device) for mean, x in zip(means, new, strict=True)]
            self.multi_avg_fn(means, values, count)
            for mean, value in zip(means, values, strict=True):
                at_first = (count == 0).to(mean.device)
                mean.assign(where(at_first, value.cast(mean.dtype), mean))
            if not self.use_buffers:
                for mine, theirs in zip(*buffers, strict=True):
                    mine.assign(theirs.detach().to(mine.device))
            count.assign(count + 1)
        if not TRACE:
            realize(*means, *buffers[0], count)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalisation anew, by a pass over a loader.

    - **loader**: batches of inputs, or lists that begin with them
    """
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not layers:
        return
    momenta, was_training = [layer.momentum for layer in layers], model.training
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the mean of all batches
    model.train()
    try:
        with no_grad():
            for batch in loader:
                first = batch[0] if isinstance(batch, list | tuple) else batch
                model(first if device is None else first.to(device))
                realize(*chain.from_iterable(layer.buffers() for layer in layers))
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """From the learning rate of now to swa_lr in anneal_epochs steps, and constant from there.

    - **anneal_strategy**: "cos" or "linear"
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | list[float], anneal_epochs: int = 10,
        anneal_strategy: str = "cos", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        wrong = f"anneal_strategy is one of {', '.join(WAYS)}"
        require("SWALR", anneal_strategy in WAYS, wrong, got=anneal_strategy)
        is_right = isinstance(anneal_epochs, int) and anneal_epochs >= 0
        require("SWALR", is_right, "anneal_epochs is a whole number, not negative")
        targets = for_each("SWALR", optimizer, swa_lr)
        for group, target in zip(optimizer.param_groups, targets, strict=True):
            group["swa_lr"] = target
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        way = WAYS[self._anneal_strategy]
        before, after = (
            way(max(0.0, min(1.0, k / max(1, self.anneal_epochs)))) for k in (step - 1, step)
        )

        def moved(lr: float, target: float) -> float:
            first = target if before == 1.0 else (lr - before * target) / (1.0 - before)
            return target * after + first * (1.0 - after)

        return [moved(float(g["lr"]), g["swa_lr"]) for g in self.optimizer.param_groups]


WAYS: dict[str, Callable[[float], float]] = {
    "cos": lambda part: (1.0 - math.cos(math.pi * part)) / 2.0,
    "linear": lambda part: part,
}
"""How much of the way lies behind after a part of the steps."""
