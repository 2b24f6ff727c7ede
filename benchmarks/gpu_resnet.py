"""ResNet-50 in PyTorch, as a peer."""

from __future__ import annotations

from typing import Any

from torch import nn

STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride
WIDER = 4


def _conv(inputs: int, outputs: int, size: int, stride: int = 1) -> list[nn.Module]:
    layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    return [layer, nn.BatchNorm2d(outputs)]


class Block(nn.Module):
    """A 3x3 convolution between two of 1x1, beside a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = WIDER * width
        self.body = nn.Sequential(
            *_conv(inputs, width, 1), nn.ReLU(), *_conv(width, width, 3, stride), nn.ReLU(),
            *_conv(width, outputs, 1),
        )  # fmt: skip
        alike = inputs == outputs and stride == 1
        self.beside = nn.Identity() if alike else nn.Sequential(*_conv(inputs, outputs, 1, stride))

    def forward(self, x: Any) -> Any:
        """The residual of x, added to it."""
        return nn.functional.relu(self.body(x) + self.beside(x))


def resnet50() -> nn.Module:
    """Images (batch, 3, height, width) to scores of 1000 classes."""
    layers: list[nn.Module] = [*_conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, count, stride in STAGES:
        for k in range(count):
            layers.append(Block(inputs, width, 1 if k else stride))
            inputs = WIDER * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
