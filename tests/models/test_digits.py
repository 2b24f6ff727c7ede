"""Real learning: scikit-learn's digits, which a small network tells apart."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.nn import functional as f

pytest.importorskip("sklearn")


def network():
    def stage(inputs, outputs):
        conv = td.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        return conv, td.nn.BatchNorm2d(outputs), td.nn.ReLU()

    return td.nn.Sequential(
        *stage(1, 32), *stage(32, 32), td.nn.MaxPool2d(2), *stage(32, 64), td.nn.MaxPool2d(2),
        td.nn.Flatten(), td.nn.Dropout(0.3), td.nn.Linear(256, 10),
    )  # fmt: skip


@pytest.mark.slow
def test_digits_are_told_apart():
    td.manual_seed(0)
    digits = td.data.bundled("digits")
    order = np.random.default_rng(0).permutation(len(digits))
    training, unseen = td.data.Subset(digits, order[:1437]), td.data.Subset(digits, order[1437:])
    model, epochs = network(), 12
    optimizer = td.optim.AdamW(model.parameters(), lr=3e-3)
    loader = td.data.DataLoader(training, 64, shuffle=True, drop_last=True)
    schedule = td.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=epochs * len(loader))

    @td.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = f.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(epochs):
        for x, y in loader:
            step(x, y)
            schedule.step()
    model.eval()
    x, y = next(iter(td.data.DataLoader(unseen, len(unseen))))
    share = (model(x).argmax(1) == y).float().mean().item()
    assert share >= 0.985, share
