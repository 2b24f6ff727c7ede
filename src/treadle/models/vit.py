"""The vision transformer, with torchvision's names: vit_b_16, and other sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from treadle import nn
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import cat, expand
from treadle.models.mlp import MLP
from treadle.nn import init
from treadle.tensor.creation import zeros
from treadle.tensor.tensor import Tensor

OLD_NAMES = {".mlp.linear_1.": ".mlp.0.", ".mlp.linear_2.": ".mlp.3."}  # of published files


class EncoderBlock(nn.Module):
    """Attention, then a perceptron for each position; both beside a shortcut."""

    def __init__(
        self, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float,
        attention_dropout: float,
    ) -> None:  # fmt: skip
        self.ln_1 = nn.LayerNorm(hidden_dim, eps=1e-6)
        self.self_attention = nn.MultiheadAttention(
            hidden_dim, num_heads, attention_dropout, batch_first=True
        )
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = nn.LayerNorm(hidden_dim, eps=1e-6)
        sizes = [mlp_dim, hidden_dim]
        self.mlp = MLP(hidden_dim, sizes, activation_layer=nn.GELU, dropout=dropout)
        for module in self.mlp:
            if isinstance(module, nn.Linear):
                init.xavier_uniform_(module.weight)
                init.normal_(module.get_parameter("bias"), std=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """Apply to (batch, positions, hidden_dim)."""
        y = self.ln_1(x)
        y, _ = self.self_attention(y, y, y, need_weights=False)
        x = x + self.dropout(y)
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Blocks over positions that were told where they are."""

    def __init__(
        self, seq_length: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int,
        dropout: float, attention_dropout: float,
    ) -> None:  # fmt: skip
        self.pos_embedding = nn.Parameter(zeros(1, seq_length, hidden_dim))
        init.normal_(self.pos_embedding, std=0.02)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential({
            f"encoder_layer_{k}":
            EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, attention_dropout)
            for k in range(num_layers)
        })  # fmt: skip
        self.ln = nn.LayerNorm(hidden_dim, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """Apply to (batch, positions, hidden_dim)."""
        return self.ln(self.layers(self.dropout(x + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """Images (batch, 3, image_size, image_size) to scores of classes.

    - **patch_size**: height and width of the squares that become positions
    - **representation_size**: size of a layer with tanh before the last, if any
    """

    def __init__(
        self, image_size: int, patch_size: int, num_layers: int, num_heads: int, hidden_dim: int,
        mlp_dim: int, dropout: float = 0.0, attention_dropout: float = 0.0,
        num_classes: int = 1000, representation_size: int | None = None,
    ) -> None:  # fmt: skip
        if image_size % patch_size:
            facts = {"image_size": image_size, "patch_size": patch_size}
            raise ArgumentError(explain("VisionTransformer", "patches do not fill it", **facts))
        self.image_size, self.patch_size, self.hidden_dim = image_size, patch_size, hidden_dim
        self.class_token = nn.Parameter(zeros(1, 1, hidden_dim))
        self.conv_proj = nn.Conv2d(3, hidden_dim, patch_size, patch_size)
        positions = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(
            positions, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout
        )
        size = representation_size or hidden_dim
        head = nn.Linear(size, num_classes)
        before = nn.Linear(hidden_dim, size) if representation_size else None
        layers = {"head": head}
        if before is not None:
            layers = {"pre_logits": before, "act": nn.Tanh(), "head": head}
            init.trunc_normal_(before.weight, std=math.sqrt(1.0 / hidden_dim))
            init.zeros_(before.get_parameter("bias"))
        self.heads = nn.Sequential(layers)
        init.trunc_normal_(self.conv_proj.weight, std=math.sqrt(1.0 / (3 * patch_size**2)))
        for bare in (self.conv_proj.get_parameter("bias"), head.weight, head.get_parameter("bias")):
            init.zeros_(bare)

    def forward(self, x: Tensor) -> Tensor:
        """Scores, before any softmax."""
        if x.ndim != 4 or x.shape[1:] != (3, self.image_size, self.image_size):
            hint = f"images (batch, 3, {self.image_size}, {self.image_size})"
            raise ShapeError(explain("VisionTransformer", "wrong size", hint, shape=x.shape))
        x = self.conv_proj(x).flatten(2).swapaxes(1, 2)
        token = expand(self.class_token, (x.shape[0], 1, self.hidden_dim))
        x = self.encoder(cat([token, x], 1))
        return self.heads(x[:, 0])

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """As any module's; files of before the perceptrons were renamed are understood."""
        if isinstance(state_dict, Mapping):
            state_dict = {_renamed(name): value for name, value in state_dict.items()}
        return super().load_state_dict(state_dict, strict, assign)


def _renamed(name: str) -> str:
    for old, new in OLD_NAMES.items():
        name = name.replace(old, new)
    return name


def vit_b_16(num_classes: int = 1000, image_size: int = 224) -> VisionTransformer:
    """ViT-B/16: 86.6 million parameters at 224x224."""
    return VisionTransformer(image_size, 16, 12, 12, 768, 3072, num_classes=num_classes)
