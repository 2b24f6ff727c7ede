"""A multilayer perceptron, with torchvision's arguments and names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from treadle import nn


class MLP(nn.Sequential):
    """Linear layers of the sizes hidden_channels; the last of them is the output.

    Between two of them stand norm_layer(size) if given, an activation and dropout; dropout ends it.

    >>> import treadle as td
    >>> td.models.MLP(4, [16, 3])(td.ones(2, 4)).shape
    (2, 3)
    """

    def __init__(
        self, in_channels: int, hidden_channels: Sequence[int],
        norm_layer: Callable[[int], nn.Module] | None = None,
        activation_layer: Callable[[], nn.Module] = nn.ReLU, *, bias: bool = True,
        dropout: float = 0.0,
    ) -> None:  # fmt: skip
        layers: list[nn.Module] = []
        sizes = [in_channels, *hidden_channels]
        for size, following in pairwise(sizes[:-1]):
            layers.append(nn.Linear(size, following, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(following))
            layers += [activation_layer(), nn.Dropout(dropout)]
        layers += [nn.Linear(sizes[-2], sizes[-1], bias=bias), nn.Dropout(dropout)]
        super().__init__(*layers)
