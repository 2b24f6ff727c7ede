"""LeNet-5: two convolutions and three linear layers, for digits."""

from __future__ import annotations

from treadle import nn
from treadle.nn import functional as f
from treadle.tensor.tensor import Tensor


class LeNet(nn.Module):
    """Images (batch, channels, 32, 32) to scores of classes; names as in PyTorch's tutorial.

    - **size**: height and width of the images, where they are not 32
    """

    def __init__(self, num_classes: int = 10, channels: int = 1, size: int = 32) -> None:
        left = ((size - 4) // 2 - 4) // 2
        self.conv1 = nn.Conv2d(channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * left * left, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores, before any softmax."""
        x = f.max_pool2d(f.relu(self.conv1(x)), 2)
        x = f.max_pool2d(f.relu(self.conv2(x)), 2)
        x = f.relu(self.fc1(x.flatten(1)))
        return self.fc3(f.relu(self.fc2(x)))
