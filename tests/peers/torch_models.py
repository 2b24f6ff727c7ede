"""Models in plain PyTorch, written small, with the names that their originals are known by.

torchvision's and timm's own are used where these can be imported; the compiled part of
torchvision, which no model here needs, may be missing.
"""

from __future__ import annotations

import functools
import importlib.util

import pytest

torch = pytest.importorskip("torch")
nn, f = torch.nn, torch.nn.functional
DECLARED = torch.library.Library("torchvision", "FRAGMENT")  # kept: it ends with the object


@functools.cache
def torchvision():
    """The module, or the test is skipped."""
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    for name in ("nms", "qnms"):  # declared by the compiled part, asked for by the other one
        if not hasattr(torch.ops.torchvision, name):
            DECLARED.define(f"{name}(Tensor d, Tensor s, float t) -> Tensor")
    return importlib.import_module("torchvision")


def timm():
    """The module, or the test is skipped."""
    torchvision()
    return pytest.importorskip("timm")


def mlp(inputs, sizes, dropout=0.0):
    layers = []
    for size in sizes[:-1]:
        layers += [nn.Linear(inputs, size), nn.ReLU(), nn.Dropout(dropout)]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, sizes[-1]), nn.Dropout(dropout))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = f.max_pool2d(f.relu(self.conv1(x)), 2)
        x = f.max_pool2d(f.relu(self.conv2(x)), 2)
        return self.fc3(f.relu(self.fc2(f.relu(self.fc1(x.flatten(1))))))


# ---- U-Net


class Wrapped(nn.Module):
    """A module under a name."""

    def __init__(self, **named):
        super().__init__()
        for name, module in named.items():
            setattr(self, name, module)
        self.first = next(iter(named))

    def forward(self, x):
        return getattr(self, self.first)(x)


def double(inputs, outputs, middle):
    layers = []
    for size, following in ((inputs, middle), (middle, outputs)):
        layers += [nn.Conv2d(size, following, 3, padding=1, bias=False)]
        layers += [nn.BatchNorm2d(following), nn.ReLU()]
    return Wrapped(double_conv=nn.Sequential(*layers))


class UNet(nn.Module):
    def __init__(self, n_channels=3, n_classes=2, bilinear=False, width=64):
        super().__init__()
        sizes = [width << k for k in range(5)]
        sizes[4] //= 1 + bilinear
        self.inc = double(n_channels, width, width)
        for k in range(4):
            pair = nn.Sequential(nn.MaxPool2d(2), double(sizes[k], sizes[k + 1], sizes[k + 1]))
            setattr(self, f"down{k + 1}", Wrapped(maxpool_conv=pair))
        for k in range(4):
            joined = width << (4 - k)
            out = joined // 2 // (2 if bilinear and k < 3 else 1)
            if bilinear:
                up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
                part = Wrapped(up=up, conv=double(joined, out, joined // 2))
            else:
                up = nn.ConvTranspose2d(joined, joined // 2, 2, 2)
                part = Wrapped(up=up, conv=double(joined, out, out))
            setattr(self, f"up{k + 1}", part)
        self.outc = Wrapped(conv=nn.Conv2d(width, n_classes, 1))

    def forward(self, x):
        kept = [self.inc(x)]
        for k in range(4):
            kept.append(getattr(self, f"down{k + 1}")(kept[-1]))
        x = kept.pop()
        for k in range(4):
            part, before = getattr(self, f"up{k + 1}"), kept.pop()
            x = part.up(x)
            high, wide = before.shape[2] - x.shape[2], before.shape[3] - x.shape[3]
            x = f.pad(x, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
            x = part.conv(torch.cat([before, x], 1))
        return self.outc(x)


# ---- what generates


class Generator(nn.Module):
    def __init__(self, nz=100, ngf=64, nc=3):
        super().__init__()
        layers = [nn.ConvTranspose2d(nz, ngf * 8, 4, 1, 0, bias=False)]
        for k in (8, 4, 2):
            layers += [nn.BatchNorm2d(ngf * k), nn.ReLU()]
            layers += [nn.ConvTranspose2d(ngf * k, ngf * k // 2, 4, 2, 1, bias=False)]
        layers += [nn.BatchNorm2d(ngf), nn.ReLU(), nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False)]
        self.main = nn.Sequential(*layers, nn.Tanh())

    def forward(self, x):
        return self.main(x)


class Discriminator(nn.Module):
    def __init__(self, ndf=64, nc=3):
        super().__init__()
        layers = [nn.Conv2d(nc, ndf, 4, 2, 1, bias=False)]
        for k in (1, 2, 4):
            layers += [nn.LeakyReLU(0.2), nn.Conv2d(ndf * k, ndf * k * 2, 4, 2, 1, bias=False)]
            layers += [nn.BatchNorm2d(ndf * k * 2)]
        layers += [nn.LeakyReLU(0.2), nn.Conv2d(ndf * 8, 1, 4, 1, 0, bias=False), nn.Sigmoid()]
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        return self.main(x).view(-1)


class VAE(nn.Module):
    def __init__(self, inputs=784, hidden=400, latent=20):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc21, self.fc22 = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.fc3, self.fc4 = nn.Linear(latent, hidden), nn.Linear(hidden, inputs)

    def forward(self, x, noise):
        x = f.relu(self.fc1(x))
        mu, logvar = self.fc21(x), self.fc22(x)
        z = mu + noise * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc4(f.relu(self.fc3(z)))), mu, logvar


# ---- graphs, by matrices of all pairs of nodes


def adjacency(edges, count, weight=None):
    """Row: target, column: source."""
    found = torch.zeros(count, count, dtype=torch.float64)
    weight = torch.ones(edges.shape[1], dtype=torch.float64) if weight is None else weight.double()
    found.index_put_((edges[1], edges[0]), weight, accumulate=True)
    return found


class GCNConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.bias, self.lin = nn.Parameter(torch.zeros(outputs)), nn.Linear(inputs, outputs, False)

    def forward(self, x, edges, weight=None):
        found = adjacency(edges, len(x), weight)
        own = found.diagonal()
        found = found + torch.diag((own == 0).double())
        scale = found.sum(1) ** -0.5
        found = (scale[:, None] * found * scale).to(x.dtype)
        return found @ self.lin(x) + self.bias


class GATConv(nn.Module):
    def __init__(self, inputs, outputs, heads, concat):
        super().__init__()
        self.att_src = nn.Parameter(torch.randn(1, heads, outputs) * 0.3)
        self.att_dst = nn.Parameter(torch.randn(1, heads, outputs) * 0.3)
        self.bias = nn.Parameter(torch.zeros(heads * outputs if concat else outputs))
        self.lin = nn.Linear(inputs, heads * outputs, False)
        self.concat = concat

    def forward(self, x, edges):
        x = self.lin(x).view(len(x), *self.att_src.shape[1:])
        source, target = ((x * a).sum(-1) for a in (self.att_src, self.att_dst))
        score = f.leaky_relu(target[:, None] + source[None], 0.2)  # target, source, head
        seen = (adjacency(edges, len(x)) > 0) | torch.eye(len(x), dtype=torch.bool)
        share = torch.softmax(score.masked_fill(~seen[:, :, None], -torch.inf), 1)
        found = torch.einsum("tsh,shc->thc", share, x)
        return (found.flatten(1) if self.concat else found.mean(1)) + self.bias


class GraphNetwork(nn.Module):
    def __init__(self, *convs):
        super().__init__()
        self.convs = nn.ModuleList(convs)

    def forward(self, x, *edges):
        for conv in self.convs[:-1]:
            x = f.relu(conv(x, *edges))
        return self.convs[-1](x, *edges)


def gcn(inputs, hidden, outputs):
    return GraphNetwork(GCNConv(inputs, hidden), GCNConv(hidden, outputs))


def gat(inputs, hidden, outputs, heads):
    first = GATConv(inputs, hidden // heads, heads, True)
    return GraphNetwork(first, GATConv(hidden, outputs, heads, False))
