"""A graph network: who belongs to which group, from friendships and one known member in ten."""

import sys

import numpy as np

import treadle as td

F = td.nn.functional


def friends(people: int, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Groups of people, and edges (2, n) both ways: most of them within a group."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, groups, people)
    chance = np.where(group[:, None] == group, 12.0, 1.0) * groups / people / 2
    meet = np.triu(rng.random((people, people)) < chance, 1)
    return group, np.stack(np.nonzero(meet | meet.T))


class Network(td.nn.Module):
    """Two rounds of means over neighbours."""

    def __init__(self, features: int, hidden: int, groups: int) -> None:
        self.first = td.nn.GCNConv(features, hidden)
        self.second = td.nn.GCNConv(hidden, groups)

    def forward(self, x: td.Tensor, edges: td.Tensor) -> td.Tensor:
        """(people, features) to (people, groups)."""
        x = F.relu(self.first(x, edges))
        return self.second(F.dropout(x, 0.5, self.training), edges)


def train(tiny: bool = False) -> float:
    """The share of people that are put where they belong, of those nobody told about."""
    td.manual_seed(0)
    people, groups = (120, 3) if tiny else (600, 4)
    group, edges = friends(people, groups)
    is_known = np.random.default_rng(1).random(people) < 0.1
    known, target = td.tensor(np.nonzero(is_known)[0]), td.tensor(group[is_known])
    x, links = td.eye(people), td.tensor(edges)  # nothing is known of a person but who it is
    model = Network(people, 16, groups)
    optimizer = td.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)

    @td.compile
    def step() -> td.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, links)[known], target)
        loss.backward()
        optimizer.step()
        return loss

    for k in range(80 if tiny else 200):
        loss = step()
        if k % 20 == 0:
            print(f"step {k:3d}  loss {float(loss):.3f}")
    model.eval()
    found = td.argmax(model(x, links), axis=1).numpy()
    return float(np.mean((found == group)[~is_known]))


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.1f} % of the others are put into the right group")
