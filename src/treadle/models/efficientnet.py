"""EfficientNet-Lite0, with timm's names and TensorFlow's padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import nn
from treadle.nn import functional as f
from treadle.nn import init
from treadle.tensor.tensor import Tensor

EPS = 1e-3  # TensorFlow's
# blocks, kernel, stride of the first of them, widening, channels
LITE0 = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112),
         (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))  # fmt: skip


class ConvSame(nn.Conv2d):
    """A convolution padded as TensorFlow does: an odd element goes to the end.

    The result has size / stride elements, rounded up.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel_size: int, stride: int = 1, groups: int = 1
    ) -> None:
        super().__init__(inputs, outputs, kernel_size, stride, groups=groups, bias=False)
        fan = outputs * kernel_size * kernel_size // groups
        init.normal_(self.weight, 0.0, math.sqrt(2.0 / fan))

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last two axes."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        edges: list[int] = []
        for size in (x.shape[3], x.shape[2]):
            added = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            edges += [added // 2, added - added // 2]
        if edges[0] == edges[1] == edges[2] == edges[3]:
            return f.conv2d(x, self.weight, None, stride, edges[0], 1, self.groups)
        return f.conv2d(f.pad(x, edges), self.weight, None, stride, 0, 1, self.groups)


class DepthwiseSeparableConv(nn.Module):
    """Filter each channel, then mix them."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        self.conv_dw = ConvSame(inputs, inputs, kernel, stride, inputs)
        self.bn1 = nn.BatchNorm2d(inputs, EPS)
        self.conv_pw = ConvSame(inputs, outputs, 1)
        self.bn2 = nn.BatchNorm2d(outputs, EPS)
        self.has_skip = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """The residual of x, added to it where there is a shortcut."""
        found = f.relu6(self.bn1(self.conv_dw(x)))
        found = self.bn2(self.conv_pw(found))
        return found + x if self.has_skip else found


class InvertedResidual(nn.Module):
    """Widen, filter each channel, narrow."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, widening: int) -> None:
        wide = inputs * widening
        self.conv_pw = ConvSame(inputs, wide, 1)
        self.bn1 = nn.BatchNorm2d(wide, EPS)
        self.conv_dw = ConvSame(wide, wide, kernel, stride, wide)
        self.bn2 = nn.BatchNorm2d(wide, EPS)
        self.conv_pwl = ConvSame(wide, outputs, 1)
        self.bn3 = nn.BatchNorm2d(outputs, EPS)
        self.has_skip = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """The residual of x, added to it where there is a shortcut."""
        found = f.relu6(self.bn1(self.conv_pw(x)))
        found = f.relu6(self.bn2(self.conv_dw(found)))
        found = self.bn3(self.conv_pwl(found))
        return found + x if self.has_skip else found


class EfficientNet(nn.Module):
    """Images (batch, in_chans, height, width) to scores of classes.

    - **stages**: rows (blocks, kernel, first stride, widening, channels)
    """

    def __init__(
        self, stages: Sequence[Sequence[int]] = LITE0, num_classes: int = 1000, in_chans: int = 3,
        stem_size: int = 32, num_features: int = 1280, drop_rate: float = 0.0,
    ) -> None:  # fmt: skip
        self.drop_rate = drop_rate
        self.conv_stem = ConvSame(in_chans, stem_size, 3, 2)
        self.bn1 = nn.BatchNorm2d(stem_size, EPS)
        size, made = stem_size, []
        for count, kernel, stride, widening, channels in stages:
            blocks: list[nn.Module] = []
            for k in range(count):
                sizes = (size, channels, kernel, 1 if k else stride)
                if widening == 1:
                    blocks.append(DepthwiseSeparableConv(*sizes))
                else:
                    blocks.append(InvertedResidual(*sizes, widening))
                size = channels
            made.append(nn.Sequential(*blocks))
        self.blocks = nn.Sequential(*made)
        self.conv_head = ConvSame(size, num_features, 1)
        self.bn2 = nn.BatchNorm2d(num_features, EPS)
        self.classifier = nn.Linear(num_features, num_classes)
        bound = 1.0 / math.sqrt(num_classes)
        init.uniform_(self.classifier.weight, -bound, bound)
        init.zeros_(self.classifier.get_parameter("bias"))

    def forward(self, x: Tensor) -> Tensor:
        """Scores, before any softmax."""
        x = self.blocks(f.relu6(self.bn1(self.conv_stem(x))))
        x = f.relu6(self.bn2(self.conv_head(x))).mean((2, 3))
        return self.classifier(f.dropout(x, self.drop_rate, self.training))


def efficientnet_lite0(
    num_classes: int = 1000, in_chans: int = 3, drop_rate: float = 0.0
) -> EfficientNet:
    """EfficientNet-Lite0: 4.7 million parameters; timm calls it tf_efficientnet_lite0."""
    return EfficientNet(LITE0, num_classes, in_chans, drop_rate=drop_rate)
