"""Reinforcement learning on a toy: a cart learns to balance a pole, from how long it stood.

The physics is a few lines of NumPy for many carts at once; the learning step is one program.
"""

import sys

import numpy as np

import treadle as td

nn = td.nn
LONGEST = 200


class Carts:
    """Carts with poles: (place, speed, angle, turning) of each."""

    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.state, self.rng = rng.uniform(-0.05, 0.05, (count, 4)), rng

    def push(self, right: np.ndarray) -> np.ndarray:
        """A fiftieth of a second of force; which poles have fallen, or carts left."""
        _, speed, angle, turning = self.state.T
        sine, cosine = np.sin(angle), np.cos(angle)
        force = (np.where(right, 10.0, -10.0) + 0.05 * turning**2 * sine) / 1.1
        twist = (9.8 * sine - cosine * force) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        change = [speed, force - 0.05 * twist * cosine / 1.1, turning, twist]
        self.state = self.state + 0.02 * np.stack(change, 1)
        return (abs(self.state[:, 0]) > 2.4) | (abs(self.state[:, 2]) > 0.21)


def train(tiny: bool = False) -> float:
    """How many pushes the pole stays up, on average, of 200."""
    td.manual_seed(0)
    rng = np.random.default_rng(0)
    count = 32
    policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = td.optim.Adam(policy.parameters(), lr=1e-2)
    scores = td.compile(policy.forward)

    @td.compile
    def step(seen: td.Tensor, pushed: td.Tensor, worth: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        chances = td.log_softmax(policy(seen), axis=-1)
        taken = td.take_along_axis(chances, pushed.unsqueeze(-1), axis=-1).squeeze(-1)
        loss = -(taken * worth).sum() / count  # what paid off becomes more likely
        loss.backward()
        optimizer.step()
        return loss

    def play() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        carts, up = Carts(count, rng), np.ones(count, bool)
        seen, pushed, alive = np.zeros((LONGEST, count, 4)), np.zeros((LONGEST, count), int), []
        for k in range(LONGEST):
            seen[k] = carts.state
            both = scores(td.tensor(carts.state.astype(np.float32))).numpy()
            pushed[k] = rng.random(count) < 1 / (1 + np.exp(both[:, 0] - both[:, 1]))
            alive.append(up)
            if not up.any():
                break
            up = up & ~carts.push(pushed[k] == 1)
        stood = np.zeros((LONGEST, count))
        stood[: len(alive)] = alive
        return seen, pushed, stood

    lengths = []
    for round_ in range(25 if tiny else 80):
        seen, pushed, stood = play()
        lengths.append(stood.sum(0).mean())
        left = stood[::-1].cumsum(0)[::-1]  # how long it still stood from each moment on
        worth = (left - left.sum(1, keepdims=True) / stood.sum(1, keepdims=True).clip(1)) * stood
        worth /= worth[stood > 0].std() + 1e-6
        step(*(td.tensor(x.astype(t)) for x, t in ((seen, "f4"), (pushed, "i8"), (worth, "f4"))))
        if round_ % 5 == 0:
            print(f"round {round_:2d}  {lengths[-1]:.0f} pushes")
    return float(np.mean(lengths[-5:]))


if __name__ == "__main__":
    print(f"the pole stands for {train('--tiny' in sys.argv):.0f} pushes of {LONGEST}")
