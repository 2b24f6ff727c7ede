"""A variational autoencoder of two layers each way, with the names of PyTorch's example."""

from __future__ import annotations

from treadle import nn
from treadle.functions import exp, sigmoid
from treadle.nn import functional as f
from treadle.random import randn
from treadle.tensor.tensor import Tensor


class VAE(nn.Module):
    """Rows of numbers in [0, 1] to rows like them, by way of a few normally distributed ones."""

    def __init__(self, inputs: int = 784, hidden: int = 400, latent: int = 20) -> None:
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, inputs)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Means of the latent numbers, and logarithms of their variances."""
        x = f.relu(self.fc1(x))
        return self.fc21(x), self.fc22(x)

    def reparameterize(self, mu: Tensor, logvar: Tensor) -> Tensor:
        """Latent numbers drawn, so that gradients reach their mean and variance."""
        noise = randn(*mu.shape, dtype=mu.dtype, device=mu.device)
        return mu + noise * exp(0.5 * logvar)

    def decode(self, z: Tensor) -> Tensor:
        """Rows of numbers in [0, 1]."""
        return sigmoid(self.fc4(f.relu(self.fc3(z))))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What is made of the rows, and the means and logarithms of variances in between."""
        mu, logvar = self.encode(x.flatten(1))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def vae_loss(recon_x: Tensor, x: Tensor, mu: Tensor, logvar: Tensor) -> Tensor:
    """How far rows are from what was made of them, and latent numbers from normal ones; summed."""
    distance = f.binary_cross_entropy(recon_x, x.reshape(recon_x.shape), reduction="sum")
    return distance - 0.5 * (1.0 + logvar - mu * mu - exp(logvar)).sum()
