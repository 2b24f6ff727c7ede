"""Classification: a perceptron tells on which arm of a spiral a point lies."""

import sys

import numpy as np

import treadle as td

nn = td.nn


def spirals(count: int) -> td.data.TensorDataset:
    """Points on three arms, and the arm of each."""
    rng = np.random.default_rng(0)
    arm = rng.integers(0, 3, count)
    t = rng.uniform(0.1, 1.0, count)
    angle = 5.0 * t + arm * 2.1 + rng.normal(0.0, 0.1, count)
    points = np.stack([t * np.cos(angle), t * np.sin(angle)], 1).astype(np.float32)
    return td.data.TensorDataset(points, arm)


def train(tiny: bool = False) -> float:
    """The share of points it has not seen that it puts on the right arm."""
    td.manual_seed(0)
    known, kept_apart = td.data.random_split(spirals(3000), [0.8, 0.2], generator=0)
    loader = td.data.DataLoader(known, 128, shuffle=True, drop_last=True, generator=0)
    model = nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3)
    )
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-2)

    @td.compile  # forward, backward and update become one native program
    def step(x: td.Tensor, y: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for epoch in range(5 if tiny else 20):
        losses = [float(step(x, y)) for x, y in loader]
        print(f"epoch {epoch:2d}  loss {sum(losses) / len(losses):.3f}")
    x, y = next(iter(td.data.DataLoader(kept_apart, len(kept_apart))))
    with td.no_grad():
        return (td.argmax(model(x), axis=1) == y).cast("float32").mean().item()


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.1f} % of unseen points on the right arm")
