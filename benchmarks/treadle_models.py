"""The networks of rows D to G in Treadle, built from `nn`; the decoder in plain ops."""

from __future__ import annotations

import math
from typing import Any

import treadle as td
from benchmarks.models import GPT2, MLP_SIZES, GptSizes
from benchmarks.sequences import CAPACITY, HEAD, LSTM_LAYERS, LSTM_WIDTH, PAST, is_matrix
from benchmarks.vision import RESNET_CLASSES, resnet_blocks


class Mlp(td.nn.Module):
    """Three linear layers."""

    def __init__(self) -> None:
        self.fc1, self.fc2, self.fc3 = (td.nn.Linear(*sizes) for sizes in MLP_SIZES)

    def forward(self, x: Any) -> Any:
        """Logits."""
        return self.fc3(td.relu(self.fc2(td.relu(self.fc1(x)))))


def Conv(before: int, after: int, size: int, stride: int = 1, bias: bool = False) -> Any:  # noqa: N802
    """A convolution with square kernels that keeps sizes but for its stride."""
    return td.nn.Conv2d(before, after, size, stride, size // 2, bias=bias)


BatchNorm = td.nn.BatchNorm2d


class Cnn(td.nn.Module):
    """Two convolutions, each pooled, and two linear layers."""

    def __init__(self) -> None:
        self.conv1, self.conv2 = Conv(1, 32, 3, bias=True), Conv(32, 64, 3, bias=True)
        self.fc1, self.fc2 = td.nn.Linear(3136, 128), td.nn.Linear(128, 10)

    def forward(self, x: Any) -> Any:
        """Logits."""
        for layer in (self.conv1, self.conv2):
            x = td.max_pool2d(td.relu(layer(x)), 2)
        return self.fc2(td.relu(self.fc1(x.reshape((x.shape[0], -1)))))


class ResidualBlock(td.nn.Module):
    """Two convolutions around which the input goes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        self.conv1, self.bn1 = Conv(before, after, 3, stride), BatchNorm(after)
        self.conv2, self.bn2 = Conv(after, after, 3), BatchNorm(after)
        self.changes = stride != 1 or before != after
        if self.changes:
            self.down, self.downbn = Conv(before, after, 1, stride), BatchNorm(after)

    def forward(self, x: Any) -> Any:
        """What goes into the next block."""
        y = self.bn2(self.conv2(td.relu(self.bn1(self.conv1(x)))))
        return td.relu(y + (self.downbn(self.down(x)) if self.changes else x))


class ResNet(td.nn.Module):
    """ResNet-18."""

    def __init__(self) -> None:
        self.conv1, self.bn1 = Conv(3, 64, 7, 2), BatchNorm(64)
        blocks = [(name, ResidualBlock(*sizes)) for name, *sizes in resnet_blocks()]
        for level in ("layer1", "layer2", "layer3", "layer4"):
            setattr(self, level, [block for name, block in blocks if name.startswith(level)])
        self.fc = td.nn.Linear(512, RESNET_CLASSES)

    def forward(self, x: Any) -> Any:
        """Logits."""
        x = td.max_pool2d(td.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for level in ("layer1", "layer2", "layer3", "layer4"):
            for block in getattr(self, level):
                x = block(x)
        return self.fc(x.mean((2, 3)))


class Lstm(td.nn.LSTM):
    """Layers of cells, and a linear layer on the last step."""

    def __init__(self) -> None:
        super().__init__(LSTM_WIDTH, LSTM_WIDTH, LSTM_LAYERS, batch_first=True)
        self.fc = td.nn.Linear(LSTM_WIDTH, 10)

    def forward(self, x: Any) -> Any:
        """Logits."""
        seen, _ = super().forward(x)
        return self.fc(seen[:, -1])


def _heads(part: Any, heads: int) -> Any:
    batch, length, width = part.shape
    return part.reshape((batch, length, heads, width // heads)).transpose(1, 2)


class Block(td.nn.Module):
    """Attention, then a hidden layer, each behind a norm and around a residual."""

    def __init__(self, sizes: GptSizes) -> None:
        width, self.heads = sizes.width, sizes.heads
        self.ln1, self.ln2 = td.nn.LayerNorm(width), td.nn.LayerNorm(width)
        self.qkv, self.proj = td.nn.Linear(width, 3 * width), td.nn.Linear(width, width)
        self.fc, self.fc2 = td.nn.Linear(width, 4 * width), td.nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """The residual stream after this block."""
        width, joined = x.shape[-1], self.qkv(self.ln1(x))
        parts = (joined[:, :, i * width : (i + 1) * width] for i in range(3))
        q, k, v = (_heads(part, self.heads) for part in parts)
        mixed = td.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.fc2(td.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt(td.nn.Module):
    """A GPT whose output layer is its token embedding."""

    def __init__(self, sizes: GptSizes, only_last: bool = False) -> None:
        self.wte = td.nn.Parameter(td.zeros(sizes.vocabulary, sizes.width))
        self.wpe = td.nn.Parameter(td.zeros(sizes.length, sizes.width))
        self.lnf, self.layers, self.only_last = (
            td.nn.LayerNorm(sizes.width),
            sizes.layers,
            only_last,
        )
        for layer in range(sizes.layers):
            setattr(self, f"h{layer}", Block(sizes))

    def forward(self, tokens: Any) -> Any:
        """Logits, of every position or of the last."""
        x = td.take(self.wte, tokens, axis=0) + self.wpe[: tokens.shape[1]]
        for layer in range(self.layers):
            x = getattr(self, f"h{layer}")(x)
        x = x[:, -1:] if self.only_last else x
        logits = self.lnf(x) @ self.wte.T
        return logits.reshape((-1, logits.shape[-1]))


class Decoder:
    """GPT-2 with a cache: one more token each call. Weights may be narrow, with scales or not."""

    def __init__(self, arrays: dict[str, Any], keys: Any, values: Any, narrow: str) -> None:
        self.own = {name: td.tensor(array) for name, array in arrays.items()}
        if narrow:
            narrowed = {name: x.cast(narrow) for name, x in self.own.items() if is_matrix(name)}
            self.own |= narrowed
        room = td.zeros(1, GPT2.heads, CAPACITY - PAST, HEAD)
        self.keys, self.values = (
            [td.concat([td.tensor(layer), room], axis=2) for layer in cache]
            for cache in (keys, values)
        )
        td.realize(*self.own.values(), *self.keys, *self.values)

    def product(self, name: str, x: Any) -> Any:
        """x times a matrix, widened where it is read."""
        y = x @ self.own[name].cast("float32").T
        return y * self.own[f"{name}.scale"] if f"{name}.scale" in self.own else y

    def linear(self, name: str, x: Any) -> Any:
        """A layer."""
        return self.product(f"{name}.weight", x) + self.own[f"{name}.bias"]

    def norm(self, name: str, x: Any) -> Any:
        """A layer norm."""
        return td.layer_norm(x, self.own[f"{name}.weight"], self.own[f"{name}.bias"], eps=1e-5)

    def attend(self, layer: int, q: Any, k: Any, v: Any) -> Any:
        """To what the cache holds, this token's included."""
        keys, values = self.keys[layer], self.values[layer]
        keys[:, :, PAST : PAST + 1], values[:, :, PAST : PAST + 1] = k, v
        scores = q @ keys[:, :, : PAST + 1].transpose(2, 3) / math.sqrt(HEAD)
        return td.softmax(scores, axis=-1) @ values[:, :, : PAST + 1]

    def step(self, token: Any) -> Any:
        """Logits."""
        x = td.take(self.own["wte"], token, axis=0).cast("float32")
        if "wte.scale" in self.own:
            x = x * td.take(self.own["wte.scale"], token, axis=0).reshape((1, 1, 1))
        x = x + self.own["wpe"][PAST : PAST + 1]
        width = GPT2.width
        for layer in range(GPT2.layers):
            joined = self.linear(f"h{layer}.qkv", self.norm(f"h{layer}.ln1", x))
            parts = (joined[:, :, i * width : (i + 1) * width] for i in range(3))
            mixed = self.attend(layer, *(_heads(part, GPT2.heads) for part in parts))
            x = x + self.linear(f"h{layer}.proj", mixed.transpose(1, 2).reshape(x.shape))
            hidden = self.linear(f"h{layer}.fc", self.norm(f"h{layer}.ln2", x))
            x = x + self.linear(f"h{layer}.fc2", td.gelu(hidden, approximate="tanh"))
        return self.product("wte", self.norm("lnf", x))
