"""The networks of rows D to G in PyTorch, as its users write them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.models import GPT2, MLP_SIZES, GptSizes
from benchmarks.sequences import LSTM_LAYERS, LSTM_WIDTH, PAST
from benchmarks.vision import RESNET_CLASSES, resnet_blocks


class Mlp(nn.Module):
    """Three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc3 = (nn.Linear(*sizes) for sizes in MLP_SIZES)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        return self.fc3(functional.relu(self.fc2(functional.relu(self.fc1(x)))))


class Cnn(nn.Module):
    """Two convolutions, each pooled, and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)
        self.fc1, self.fc2 = nn.Linear(3136, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        return self.fc2(functional.relu(self.fc1(x.flatten(1))))


def _convolution(before: int, after: int, size: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(before, after, size, stride, size // 2, bias=False)


class ResidualBlock(nn.Module):
    """Two convolutions around which the input goes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = _convolution(before, after, 3, stride), nn.BatchNorm2d(after)
        self.conv2, self.bn2 = _convolution(after, after, 3), nn.BatchNorm2d(after)
        self.changes = stride != 1 or before != after
        if self.changes:
            self.down, self.downbn = _convolution(before, after, 1, stride), nn.BatchNorm2d(after)

    def forward(self, x: Tensor) -> Tensor:
        """What goes into the next block."""
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(y + (self.downbn(self.down(x)) if self.changes else x))


class ResNet(nn.Module):
    """ResNet-18."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = _convolution(3, 64, 7, 2), nn.BatchNorm2d(64)
        blocks = [(name, ResidualBlock(*sizes)) for name, *sizes in resnet_blocks()]
        self.layer1, self.layer2, self.layer3, self.layer4 = (
            nn.Sequential(*[block for name, block in blocks if name.startswith(f"layer{level}")])
            for level in range(1, 5)
        )
        self.fc = nn.Linear(512, RESNET_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Lstm(nn.Module):
    """PyTorch's own layers, and a linear one on the last step."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(LSTM_WIDTH, LSTM_WIDTH, LSTM_LAYERS, batch_first=True)
        self.fc = nn.Linear(LSTM_WIDTH, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        return self.fc(self.rnn(x)[0][:, -1])


class Block(nn.Module):
    """Attention, then a hidden layer, each behind a norm and around a residual."""

    def __init__(self, sizes: GptSizes) -> None:
        super().__init__()
        width, self.heads = sizes.width, sizes.heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """The residual stream after this block."""
        batch, length, width = x.shape
        parts = self.qkv(self.ln1(x)).split(width, -1)
        heads = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(heads).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.fc2(functional.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """A GPT whose output layer is its token embedding."""

    def __init__(self, sizes: GptSizes, only_last: bool = False) -> None:
        super().__init__()
        self.wte = nn.Parameter(torch.empty(sizes.vocabulary, sizes.width))
        self.wpe = nn.Parameter(torch.empty(sizes.length, sizes.width))
        self.lnf, self.layers, self.only_last = nn.LayerNorm(sizes.width), sizes.layers, only_last
        for layer in range(sizes.layers):
            setattr(self, f"h{layer}", Block(sizes))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits, of every position or of the last."""
        x = functional.embedding(tokens, self.wte) + self.wpe[: tokens.shape[1]]
        for layer in range(self.layers):
            x = getattr(self, f"h{layer}")(x)
        x = x[:, -1:] if self.only_last else x
        return functional.linear(self.lnf(x), self.wte).flatten(0, 1)


class Decoder:
    """GPT-2 with a cache: one more token each call. Weights may be narrow, with scales or not."""

    def __init__(self, own: dict[str, Tensor]) -> None:
        self.own = own

    def product(self, name: str, x: Tensor) -> Tensor:
        """x times a matrix, widened where it is read."""
        y = functional.linear(x, self.own[name].to(x.dtype))
        return y * self.own[f"{name}.scale"] if f"{name}.scale" in self.own else y

    def linear(self, name: str, x: Tensor) -> Tensor:
        """A layer."""
        weight, bias = f"{name}.weight", self.own[f"{name}.bias"]
        if self.own[weight].dtype == x.dtype:
            return functional.linear(x, self.own[weight], bias)
        return self.product(weight, x) + bias

    def norm(self, name: str, x: Tensor) -> Tensor:
        """A layer norm."""
        weight, bias = self.own[f"{name}.weight"], self.own[f"{name}.bias"]
        return functional.layer_norm(x, (GPT2.width,), weight, bias)

    def __call__(self, token: Tensor, keys: Any, values: Any, at: Any, mask: Any) -> Tensor:
        """Logits. Without a mask the filled part of the cache is cut out: shapes then change."""
        x = functional.embedding(token, self.own["wte"]).float()
        if "wte.scale" in self.own:
            x = x * self.own["wte.scale"][token][..., None]
        x = x + self.own["wpe"][PAST : PAST + 1]
        for layer in range(GPT2.layers):
            parts = self.linear(f"h{layer}.qkv", self.norm(f"h{layer}.ln1", x)).chunk(3, -1)
            q, k, v = (part.view(1, 1, GPT2.heads, -1).transpose(1, 2) for part in parts)
            seen, kept = keys[layer], values[layer]
            if mask is None:
                seen[:, :, PAST : PAST + 1], kept[:, :, PAST : PAST + 1] = k, v
                seen, kept = seen[:, :, : PAST + 1], kept[:, :, : PAST + 1]
            else:
                seen, kept = seen.index_copy_(2, at, k), kept.index_copy_(2, at, v)
            mixed = functional.scaled_dot_product_attention(q, seen, kept, attn_mask=mask)
            x = x + self.linear(f"h{layer}.proj", mixed.transpose(1, 2).reshape(1, 1, -1))
            hidden = self.linear(f"h{layer}.fc", self.norm(f"h{layer}.ln2", x))
            x = x + self.linear(f"h{layer}.fc2", functional.gelu(hidden, approximate="tanh"))
        return self.product("wte", self.norm("lnf", x))
