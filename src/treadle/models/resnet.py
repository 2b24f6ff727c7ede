"""Residual networks, with torchvision's names: resnet18, resnet34, resnet50."""

from __future__ import annotations

from collections.abc import Sequence

from treadle import nn
from treadle.nn import functional as f
from treadle.nn import init
from treadle.tensor.tensor import Tensor


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Module | None = None
    ) -> None:
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        """The residual of x, added to it."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = f.relu(self.bn1(self.conv1(x)))
        return f.relu(self.bn2(self.conv2(x)) + shortcut)


class Bottleneck(nn.Module):
    """A 3x3 convolution between two of 1x1, the second of four times the channels."""

    expansion = 4

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Module | None = None
    ) -> None:
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        """The residual of x, added to it."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = f.relu(self.bn1(self.conv1(x)))
        x = f.relu(self.bn2(self.conv2(x)))
        return f.relu(self.bn3(self.conv3(x)) + shortcut)


class ResNet(nn.Module):
    """Images (batch, 3, height, width) to scores of classes.

    - **layers**: how many blocks each of the four stages has
    - **zero_init_residual**: blocks are the identity at first
    """

    def __init__(
        self, block: type[BasicBlock | Bottleneck], layers: Sequence[int], num_classes: int = 1000,
        zero_init_residual: bool = False,
    ) -> None:  # fmt: skip
        self.inplanes = 64
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = self._stage(block, 64, layers[0], 1)
        self.layer2 = self._stage(block, 128, layers[1], 2)
        self.layer3 = self._stage(block, 256, layers[2], 2)
        self.layer4 = self._stage(block, 512, layers[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif zero_init_residual and isinstance(module, BasicBlock | Bottleneck):
                last = module.bn2 if isinstance(module, BasicBlock) else module.bn3
                init.zeros_(last.get_parameter("weight"))

    def _stage(
        self, block: type[BasicBlock | Bottleneck], planes: int, blocks: int, stride: int
    ) -> nn.Sequential:
        wide, downsample = planes * block.expansion, None
        if stride != 1 or self.inplanes != wide:
            shortcut = nn.Conv2d(self.inplanes, wide, 1, stride, bias=False)
            downsample = nn.Sequential(shortcut, nn.BatchNorm2d(wide))
        first = block(self.inplanes, planes, stride, downsample)
        self.inplanes = wide
        return nn.Sequential(first, *(block(wide, planes) for _ in range(blocks - 1)))

    def forward(self, x: Tensor) -> Tensor:
        """Scores, before any softmax."""
        x = self.maxpool(f.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(num_classes: int = 1000, zero_init_residual: bool = False) -> ResNet:
    """ResNet-18: 11.7 million parameters."""
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, zero_init_residual)


def resnet34(num_classes: int = 1000, zero_init_residual: bool = False) -> ResNet:
    """ResNet-34: 21.8 million parameters."""
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes, zero_init_residual)


def resnet50(num_classes: int = 1000, zero_init_residual: bool = False) -> ResNet:
    """ResNet-50: 25.6 million parameters."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, zero_init_residual)
