"""Fine-tuning: weights that read digits are loaded to tell odd from even ones, from few samples.

Needs scikit-learn: pip install 'treadle[data]'.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import treadle as td

nn, F = td.nn, td.nn.functional


class Network(nn.Module):
    """A body that makes features of an image, and a head that tells classes apart."""

    def __init__(self, width: int, classes: int) -> None:
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(32 * width, 64), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Linear(64, classes)

    def forward(self, x: td.Tensor) -> td.Tensor:
        """(batch, 1, 8, 8) to (batch, classes)."""
        return self.head(self.body(x))


def fit(model: Network, x: np.ndarray, y: np.ndarray, epochs: int, lr: float = 3e-3) -> None:
    """Train whatever of a model takes gradients."""
    optimizer = td.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    loader = td.data.DataLoader(td.data.TensorDataset(x, y), 25, True, generator=0)

    @td.compile
    def step(x: td.Tensor, y: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(epochs):
        for batch in loader:
            step(*batch)


def right(model: Network, x: np.ndarray, y: np.ndarray) -> float:
    """The share of images that are told."""
    with td.no_grad():
        return float(np.mean(td.argmax(model(td.tensor(x)), axis=1).numpy() == y))


def train(tiny: bool = False) -> float:
    """How much better the loaded weights are than new ones: a difference of shares."""
    td.manual_seed(0)
    images, labels = td.data.bundled("digits").tensors
    width, epochs, few = (8, 8, 20) if tiny else (16, 20, 20)
    teacher = Network(width, 10)
    fit(teacher, images[:1000], labels[:1000], epochs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.safetensors"
        td.save(teacher.state_dict(), path)
        weights = td.load(path)

    x, y = images[1000:], labels[1000:] % 2
    fresh, tuned = Network(width, 2), Network(width, 2)
    body = {name: value for name, value in weights.items() if name.startswith("body.")}
    print(tuned.load_state_dict(body, strict=False))  # says what it did not find: the head
    tuned.body.requires_grad_(False)  # first the new head alone, then all of it, gently
    fit(tuned, x[:few], y[:few], 40)
    tuned.body.requires_grad_(True)
    fit(tuned, x[:few], y[:few], 40, lr=1e-3)
    fit(fresh, x[:few], y[:few], 80)
    shares = right(tuned, x[few:], y[few:]), right(fresh, x[few:], y[few:])
    print("right: {:.1%}, from scratch {:.1%}".format(*shares))
    return shares[0] - shares[1]


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.1f} points better")
