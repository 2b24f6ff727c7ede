"""Trains a perceptron to tell on which arm of a spiral a point lies."""

import sys

import numpy as np

import treadle as td

rng = np.random.default_rng(0)
arm = rng.integers(0, 3, 3000)
t = rng.uniform(0.1, 1.0, 3000)
angle = 5.0 * t + arm * 2.1 + rng.normal(0.0, 0.1, 3000)
x = td.tensor(np.stack([t * np.cos(angle), t * np.sin(angle)], 1).astype(np.float32))
y = td.tensor(arm)

model = td.nn.Sequential(td.nn.Linear(2, 64), td.nn.ReLU(), td.nn.Linear(64, 64), td.nn.ReLU(),
                         td.nn.Linear(64, 3))  # fmt: skip
optimizer = td.optim.AdamW(model.parameters(), lr=1e-2)


@td.compile  # forward, backward and update become one native program
def step(x: td.Tensor, y: td.Tensor) -> td.Tensor:
    """One step of training."""
    optimizer.zero_grad()
    loss = td.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


for k in range(int(sys.argv[1]) if len(sys.argv) > 1 else 300):
    loss = step(x, y)
    if k % 50 == 0:
        print(f"step {k:3d}  loss {float(loss):.3f}")
right = td.argmax(model(x), axis=1) == y
print(f"{100 * float(td.mean(right.cast('float32'))):.1f} % on the right arm")
