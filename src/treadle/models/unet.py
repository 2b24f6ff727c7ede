"""U-Net: features of five scales, each joined to the upsampled ones below it."""

from __future__ import annotations

from treadle import nn
from treadle.functions import cat
from treadle.nn import functional as f
from treadle.tensor.tensor import Tensor


class DoubleConv(nn.Module):
    """Two 3x3 convolutions that keep the size."""

    def __init__(
        self, in_channels: int, out_channels: int, mid_channels: int | None = None
    ) -> None:
        middle = mid_channels or out_channels
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, middle, 3, padding=1, bias=False),
            nn.BatchNorm2d(middle),
            nn.ReLU(),
            nn.Conv2d(middle, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last two axes."""
        return self.double_conv(x)


class Down(nn.Module):
    """Half the size, then two convolutions."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(in_channels, out_channels))

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last two axes."""
        return self.maxpool_conv(x)


class Up(nn.Module):
    """Twice the size, joined to what was there before it was halved."""

    def __init__(self, in_channels: int, out_channels: int, bilinear: bool) -> None:
        half = in_channels // 2
        self.up: nn.Module
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(in_channels, out_channels, half)
        else:
            self.up = nn.ConvTranspose2d(in_channels, half, 2, stride=2)
            self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        """A size that was odd is filled up with zeros."""
        x = self.up(x)
        edges: list[int] = []
        for axis in (3, 2):
            added = before.shape[axis] - x.shape[axis]
            edges += [added // 2, added - added // 2]
        return self.conv(cat([before, f.pad(x, edges) if any(edges) else x], 1))


class OutConv(nn.Module):
    """Scores of every element."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        self.conv = nn.Conv2d(in_channels, out_channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last two axes."""
        return self.conv(x)


class UNet(nn.Module):
    """Images (batch, n_channels, height, width) to scores (batch, n_classes, height, width).

    Names are those of the widespread PyTorch implementation by milesial.

    - **bilinear**: upsample by interpolation instead of transposed convolutions
    - **width**: channels of the first scale; each scale below has twice as many
    """

    def __init__(
        self, n_channels: int = 3, n_classes: int = 2, bilinear: bool = False, width: int = 64
    ) -> None:
        self.n_channels, self.n_classes, self.bilinear = n_channels, n_classes, bilinear
        part = 2 if bilinear else 1  # interpolation keeps the channels, so they are halved before
        self.inc = DoubleConv(n_channels, width)
        self.down1 = Down(width, width * 2)
        self.down2 = Down(width * 2, width * 4)
        self.down3 = Down(width * 4, width * 8)
        self.down4 = Down(width * 8, width * 16 // part)
        self.up1 = Up(width * 16, width * 8 // part, bilinear)
        self.up2 = Up(width * 8, width * 4 // part, bilinear)
        self.up3 = Up(width * 4, width * 2 // part, bilinear)
        self.up4 = Up(width * 2, width, bilinear)
        self.outc = OutConv(width, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of every element, before any softmax."""
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        x = self.up1(self.down4(x4), x4)
        x = self.up2(x, x3)
        x = self.up3(x, x2)
        return self.outc(self.up4(x, x1))
