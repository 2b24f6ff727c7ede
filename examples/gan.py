"""A generative adversarial network: points of a ring of eight spots, made from noise."""

import math
import sys

import numpy as np

import treadle as td

nn, F = td.nn, td.nn.functional
SPOTS = 8
CENTRES = np.array([(math.cos(a), math.sin(a)) for a in np.arange(SPOTS) * 2 * math.pi / SPOTS])


def perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Three layers."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
        nn.Linear(hidden, outputs),
    )  # fmt: skip


def judged(made: np.ndarray) -> tuple[float, int]:
    """The share of points that lie in a spot, and how many spots have points."""
    away = np.linalg.norm(made[:, None] - CENTRES, axis=-1)
    near = away.min(1) < 0.2
    return float(near.mean()), len(np.unique(away.argmin(1)[near]))


def train(tiny: bool = False) -> float:
    """The share of made points that lie in a spot."""
    td.manual_seed(0)
    rng = np.random.default_rng(0)
    batch, hidden, steps = (256, 64, 600) if tiny else (512, 128, 3000)
    maker, judge = perceptron(4, hidden, 2), perceptron(2, hidden, 1)
    options = {"lr": 2e-3, "betas": (0.5, 0.9), "weight_decay": 0.0}
    makers = td.optim.AdamW(maker.parameters(), **options)
    judges = td.optim.AdamW(judge.parameters(), **options)

    @td.compile  # both games in one program; the noise is new at every call
    def step(real: td.Tensor) -> tuple[td.Tensor, td.Tensor]:
        judges.zero_grad()
        made = maker(td.randn(batch, 4))
        caught = F.softplus(-judge(real)).mean() + F.softplus(judge(made.detach())).mean()
        caught.backward()
        judges.step()
        makers.zero_grad()
        fooled = F.softplus(-judge(made)).mean()
        fooled.backward()
        makers.step()
        return caught, fooled

    for k in range(steps):
        real = CENTRES[rng.integers(0, SPOTS, batch)] + rng.normal(0, 0.05, (batch, 2))
        caught, fooled = step(td.tensor(real.astype(np.float32)))
        if k % 200 == 0:
            near, spots = judged(maker(td.randn(1000, 4)).numpy())
            losses = f"judge {float(caught):.2f}  maker {float(fooled):.2f}"
            print(f"step {k:4d}  {losses}  {100 * near:.0f} % in {spots} spots")
    near, spots = judged(maker(td.randn(2000, 4)).numpy())
    print(f"{spots} of {SPOTS} spots are found")
    return near


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.0f} % of the points made lie in a spot")
