"""A variational autoencoder: digits as a few normally distributed numbers, and new ones of those.

Needs scikit-learn: pip install 'treadle[data]'.
"""

import sys

import numpy as np

import treadle as td

nn, F = td.nn, td.nn.functional
PIXELS, SHADES = 64, " .:-=+*#%@"


class Autoencoder(nn.Module):
    """Pixels to means and variances of latent numbers, and from draws of those back to pixels."""

    def __init__(self, hidden: int, latent: int) -> None:
        self.encoder = nn.Sequential(nn.Linear(PIXELS, hidden), nn.ReLU())
        self.mean, self.spread = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, PIXELS)
        )

    def forward(self, x: td.Tensor) -> tuple[td.Tensor, td.Tensor, td.Tensor]:
        """Scores of the pixels, and means and logarithms of the variances of what lay between."""
        h = self.encoder(x)
        mean, spread = self.mean(h), self.spread(h)
        drawn = mean + td.randn(*mean.shape) * td.exp(0.5 * spread)  # gradients pass the draw
        return self.decoder(drawn), mean, spread


def bound(model: Autoencoder, x: td.Tensor) -> td.Tensor:
    """Nats that describe a picture: its pixels given the latent numbers, and those themselves."""
    scores, mean, spread = model(x)
    pixels = F.binary_cross_entropy_with_logits(scores, x, reduction="sum")
    latent = 0.5 * (mean**2 + td.exp(spread) - 1.0 - spread).sum()
    return (pixels + latent) / len(x)


def show(picture: np.ndarray) -> str:
    """Eight lines of characters."""
    rows = (picture.reshape(8, 8) * (len(SHADES) - 1)).round().astype(int)
    return "\n".join("".join(2 * SHADES[shade] for shade in row) for row in rows)


def train(tiny: bool = False) -> float:
    """Nats for a picture that it has not seen."""
    td.manual_seed(0)
    pictures = np.stack([image.reshape(PIXELS) for image, _ in td.data.bundled("digits")])
    known, unseen = pictures[:1500], td.tensor(pictures[1500:])
    loader = td.data.DataLoader(td.data.TensorDataset(known), 100, shuffle=True, generator=0)
    model = Autoencoder(*((64, 4) if tiny else (256, 8)))
    optimizer = td.optim.Adam(model.parameters(), lr=3e-3)

    @td.compile
    def step(x: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        loss = bound(model, x)
        loss.backward()
        optimizer.step()
        return loss

    for epoch in range(15 if tiny else 100):
        losses = [float(step(x)) for (x,) in loader]
        if epoch % 5 == 0:
            print(f"epoch {epoch:3d}  {sum(losses) / len(losses):.2f} nats")
    with td.no_grad():
        made = model.decoder(td.randn(1, model.mean.out_features)).sigmoid()
        print(f"a digit that nobody wrote:\n{show(made.numpy())}")
        return bound(model, unseen).item()


if __name__ == "__main__":
    print(f"{train('--tiny' in sys.argv):.2f} nats for a picture it has not seen")
