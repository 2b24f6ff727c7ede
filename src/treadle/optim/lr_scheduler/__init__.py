"""Schedules of learning rates, under PyTorch's names: call `step()` after the optimizer's."""

from treadle.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
    WarmupStableDecayLR,
)
from treadle.optim.lr_scheduler.joined import ChainedScheduler, SequentialLR
from treadle.optim.lr_scheduler.plateau import ReduceLROnPlateau
from treadle.optim.lr_scheduler.schedule import LRScheduler
from treadle.optim.lr_scheduler.waves import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
    "WarmupStableDecayLR",
]  # fmt: skip
