"""MobileNetV2: narrow blocks that widen, filter each channel and narrow again."""

from __future__ import annotations

from collections.abc import Sequence

from treadle import nn
from treadle.nn import init
from treadle.tensor.tensor import Tensor

# widening, channels, blocks, stride of the first of them
SETTING = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
           (6, 160, 3, 2), (6, 320, 1, 1))  # fmt: skip


def divisible(size: float, divisor: int = 8) -> int:
    """The nearest multiple of divisor, not below nine tenths of size."""
    nearest = max(divisor, int(size + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * size else nearest


def _layer(inp: int, oup: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution that keeps the size if stride is 1, normalised and rectified."""
    conv = nn.Conv2d(inp, oup, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(oup), nn.ReLU6())


class InvertedResidual(nn.Module):
    """Widen, filter each channel, narrow; beside a shortcut where the shapes are equal."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int) -> None:
        wide = inp * expand_ratio
        widened = [_layer(inp, wide, 1)] if expand_ratio != 1 else []
        narrow = [nn.Conv2d(wide, oup, 1, bias=False), nn.BatchNorm2d(oup)]
        self.conv = nn.Sequential(*widened, _layer(wide, wide, 3, stride, wide), *narrow)
        self.use_res_connect = stride == 1 and inp == oup

    def forward(self, x: Tensor) -> Tensor:
        """The residual of x, added to it where there is a shortcut."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    """Images (batch, 3, height, width) to scores of classes, with torchvision's names.

    - **width_mult**: scales the channels of all layers
    - **inverted_residual_setting**: rows (widening, channels, blocks, first stride)
    """

    def __init__(
        self, num_classes: int = 1000, width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] = SETTING, dropout: float = 0.2,
    ) -> None:  # fmt: skip
        size = divisible(32 * width_mult)
        self.last_channel = divisible(1280 * max(1.0, width_mult))
        features: list[nn.Module] = [_layer(3, size, 3, 2)]
        for widening, channels, count, stride in inverted_residual_setting:
            wanted = divisible(channels * width_mult)
            for k in range(count):
                features.append(InvertedResidual(size, wanted, 1 if k else stride, widening))
                size = wanted
        self.features = nn.Sequential(*features, _layer(size, self.last_channel, 1))
        last = nn.Linear(self.last_channel, num_classes)
        self.classifier = nn.Sequential(nn.Dropout(dropout), last)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out")
        init.normal_(last.weight, 0.0, 0.01)
        init.zeros_(last.get_parameter("bias"))

    def forward(self, x: Tensor) -> Tensor:
        """Scores, before any softmax."""
        return self.classifier(self.features(x).mean((2, 3)))


def mobilenet_v2(num_classes: int = 1000, width_mult: float = 1.0) -> MobileNetV2:
    """MobileNetV2: 3.5 million parameters."""
    return MobileNetV2(num_classes, width_mult)
