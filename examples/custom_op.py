"""A custom op: an activation as a row of one's own, checked, compiled and trained with.

docs/tutorial-op.md goes on from here: a package with a table of rows and generated functions.
"""

import sys
from typing import Any

import numpy as np

import treadle as td
from treadle.ops.composite import composite
from treadle.ops.elementwise import sqrt
from treadle.testing.gradcheck import gradcheck


@composite(lambda np, x, bend=4.0: (x + np.sqrt(x * x + bend)) / 2)  # its meaning in NumPy
def squareplus(x: Any, /, bend: float = 4.0) -> Any:
    """A smooth relu without exponentials; bend is how soon it is straight."""
    return (x + sqrt(x * x + bend)) * 0.5


class Squareplus(td.nn.Module):
    """The op as a layer."""

    def __init__(self, bend: float = 4.0) -> None:
        self.bend = bend

    def forward(self, x: td.Tensor) -> td.Tensor:
        """Elementwise."""
        return squareplus(x, self.bend)

    def extra_repr(self) -> str:
        """What its line says."""
        return f"bend={self.bend}"


def check() -> None:
    """Values against NumPy, the gradient against differences, and that it is one kernel."""
    x = np.linspace(-5, 5, 11)
    assert np.allclose(squareplus(td.tensor(x), 2.0).numpy(), (x + np.sqrt(x * x + 2.0)) / 2)
    gradcheck(squareplus, [x])
    found = td.explain(squareplus, td.ones(64, 64))
    assert len(found.rows) == 1
    print(found)


def train(tiny: bool = False) -> float:
    """How far a network with it stays from a sine."""
    check()
    td.manual_seed(0)
    hidden, steps = (32, 200) if tiny else (64, 2000)
    model = td.nn.Sequential(
        td.nn.Linear(1, hidden), Squareplus(0.5), td.nn.Linear(hidden, hidden), Squareplus(0.5),
        td.nn.Linear(hidden, 1),
    )  # fmt: skip
    print(model)
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = td.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    x = td.linspace(-3.0, 3.0, 256).unsqueeze(1)
    y = td.sin(2.0 * x)

    @td.compile
    def step() -> td.Tensor:
        optimizer.zero_grad()
        loss = td.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for k in range(steps):
        loss = step()
        schedule.step()
        if k % 100 == 0:
            print(f"step {k:4d}  loss {float(loss):.5f}")
    return float(loss)


if __name__ == "__main__":
    print(f"mean square error {train('--tiny' in sys.argv):.5f}")
