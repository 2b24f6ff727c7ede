"""Diffusion on small images: digits are made from noise by taking a little of it away many times.

Needs scikit-learn: pip install 'treadle[data]'.
"""

import itertools
import math
import sys

import numpy as np

import treadle as td

nn, F = td.nn, td.nn.functional
SHADES = " .:-=+*#%@"


class Denoiser(nn.Module):
    """Guesses the noise in an image, told how much of it there is."""

    def __init__(self, width: int, hidden: int) -> None:
        self.waves = width // 2
        self.time = nn.Sequential(nn.Linear(2 * self.waves, width), nn.SiLU())
        self.into = nn.Linear(64 + width, hidden)
        self.middle = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, hidden), nn.SiLU())
            for _ in range(2)
        )
        self.out = nn.Linear(hidden, 64)

    def forward(self, x: td.Tensor, t: td.Tensor) -> td.Tensor:
        """Images (batch, 64) and times (batch,) from 0 to 1, to noise."""
        angles = t.unsqueeze(1) * td.exp(td.arange(self.waves) * (math.log(1000) / self.waves))
        h = self.into(td.cat([x, self.time(td.cat([td.sin(angles), td.cos(angles)], 1))], 1))
        for layer in self.middle:
            h = h + layer(h)
        return self.out(h)


def kept(t: td.Tensor) -> td.Tensor:
    """How much of an image's variance is left at a time: all of it at 0, nearly none at 1."""
    return td.cos(t * (0.49 * math.pi)) ** 2


def show(pictures: np.ndarray) -> str:
    """Pictures side by side."""
    shades = (pictures.reshape(-1, 8, 8).clip(0, 1) * (len(SHADES) - 1)).round().astype(int)
    rows = shades.transpose(1, 0, 2)
    return "\n".join("  ".join("".join(SHADES[s] for s in part) for part in row) for row in rows)


def train(tiny: bool = False) -> float:
    """The part of the noise's variance that stays unexplained; 1 is to guess nothing."""
    td.manual_seed(0)
    images = np.stack([x.reshape(64) for x, _ in td.data.bundled("digits")]) * 2 - 1
    loader = td.data.DataLoader(td.data.TensorDataset(images[:1600]), 128, True, generator=0)
    model = Denoiser(*((32, 128) if tiny else (64, 512)))
    epochs = 12 if tiny else 300
    optimizer = td.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = td.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    averaged = td.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=td.optim.swa_utils.get_ema_multi_avg_fn(0.99)
    )

    def loss_of(network: nn.Module, x: td.Tensor) -> td.Tensor:
        t, noise = td.rand(len(x)), td.randn(*x.shape)
        share = kept(t).unsqueeze(1)
        return F.mse_loss(network(share.sqrt() * x + (1 - share).sqrt() * noise, t), noise)

    @td.compile
    def step(x: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model, x)
        loss.backward()
        optimizer.step()
        averaged.update_parameters(model)
        return loss

    @td.compile
    def cleaner(x: td.Tensor, now: td.Tensor, then: td.Tensor) -> td.Tensor:
        with td.no_grad():  # what the image would be, with less of the same noise
            noise = averaged(x, td.full((len(x),), 1.0) * now)
            clean = ((x - (1 - kept(now)).sqrt() * noise) / kept(now).sqrt()).clip(-1, 1)
            noise = (x - kept(now).sqrt() * clean) / (1 - kept(now)).sqrt()
            return kept(then).sqrt() * clean + (1 - kept(then)).sqrt() * noise

    for epoch in range(epochs):
        losses = [float(step(x)) for (x,) in loader]
        schedule.step()
        if epoch % (epochs // 6) == 0:
            print(f"epoch {epoch:3d}  loss {sum(losses) / len(losses):.3f}")
    times, x = np.linspace(1, 0, 10 if tiny else 100, dtype=np.float32), td.randn(6, 64)
    for now, then in itertools.pairwise(times):
        x = cleaner(x, td.tensor(now), td.tensor(then))
    print(show(x.numpy() / 2 + 0.5))
    with td.no_grad():
        return loss_of(averaged, td.tensor(images[1600:])).item()


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.0f} % of the noise stays unexplained")
