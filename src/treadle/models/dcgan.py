"""DCGAN: a generator of images by transposed convolutions, and its discriminator."""

from __future__ import annotations

from treadle import nn
from treadle.nn import init
from treadle.tensor.tensor import Tensor


def _initialise(model: nn.Module) -> None:
    """The distributions of the paper: weights about 0, scales about 1."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
            init.normal_(module.weight, 0.0, 0.02)
        elif isinstance(module, nn.BatchNorm2d):
            init.normal_(module.get_parameter("weight"), 1.0, 0.02)


class DCGANGenerator(nn.Module):
    """Noise (batch, nz, 1, 1) to images (batch, nc, 64, 64) in [-1, 1].

    Names are those of PyTorch's example; ngf is the number of channels of the last layer.
    """

    def __init__(self, nz: int = 100, ngf: int = 64, nc: int = 3) -> None:
        layers: list[nn.Module] = []
        size, placed = nz, (1, 0)  # stride and padding: the first makes 4x4 of one element
        for channels in (ngf * 8, ngf * 4, ngf * 2, ngf):
            layers.append(nn.ConvTranspose2d(size, channels, 4, *placed, bias=False))
            layers += [nn.BatchNorm2d(channels), nn.ReLU()]
            size, placed = channels, (2, 1)
        layers.append(nn.ConvTranspose2d(size, nc, 4, 2, 1, bias=False))
        self.main = nn.Sequential(*layers, nn.Tanh())
        _initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        """Images."""
        return self.main(x)


class DCGANDiscriminator(nn.Module):
    """Images (batch, nc, 64, 64) to the probability (batch,) that they are real."""

    def __init__(self, ndf: int = 64, nc: int = 3) -> None:
        layers: list[nn.Module] = [nn.Conv2d(nc, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
        for channels in (ndf, ndf * 2, ndf * 4):
            layers.append(nn.Conv2d(channels, channels * 2, 4, 2, 1, bias=False))
            layers += [nn.BatchNorm2d(channels * 2), nn.LeakyReLU(0.2)]
        last = nn.Conv2d(ndf * 8, 1, 4, 1, 0, bias=False)
        self.main = nn.Sequential(*layers, last, nn.Sigmoid())
        _initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        """Probabilities."""
        return self.main(x).reshape(-1)
