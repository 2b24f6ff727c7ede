"""Convolutions, a small network of them and ResNet-18: sizes, first parameters, float64 meaning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.models import (
    Parameters,
    cross_entropy,
    in_float64,
    linear,
    linear_parameters,
    normal,
)


@dataclass(frozen=True)
class ConvSizes:
    """A convolution of a batch of squares with square kernels, stride 1, same size out."""

    batch: int
    inputs: int
    outputs: int
    side: int
    kernel: int
    groups: int = 1

    @property
    def padding(self) -> int:
        """What keeps the size."""
        return self.kernel // 2

    @property
    def flops(self) -> float:
        """Of the forward pass."""
        depth = self.inputs // self.groups * self.kernel**2
        return 2.0 * self.batch * self.outputs * self.side**2 * depth

    @property
    def nbytes(self) -> float:
        """Input and output."""
        return 4.0 * self.batch * self.side**2 * (self.inputs + self.outputs)

    def operands(self, generator: Any) -> tuple[Any, Any]:
        """Input and weights."""
        depth = self.inputs // self.groups
        scale = np.float32(1 / math.sqrt(depth * self.kernel**2))
        x = normal(generator, self.batch, self.inputs, self.side, self.side)
        return x, normal(generator, self.outputs, depth, self.kernel, self.kernel) * scale

    def with_cotangent(self, generator: Any) -> tuple[Any, Any, Any]:
        """Input, weights and the gradient of the output."""
        operands = self.operands(generator)
        return (*operands, normal(generator, self.batch, self.outputs, self.side, self.side))


CONVOLUTIONS = {
    "D.conv3x3_16x64x56": ConvSizes(16, 64, 64, 56, 3),
    "D.conv3x3_16x256x14": ConvSizes(16, 256, 256, 14, 3),
    "D.conv1x1_16x256x56to64": ConvSizes(16, 256, 64, 56, 1),
    "D.dwconv3x3_16x128x28": ConvSizes(16, 128, 128, 28, 3, groups=128),
}


def _windows(x: Any, size: int, stride: int, padding: int) -> Any:
    """Of (batch, channels, rows, columns, size, size)."""
    margins = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    seen = np.lib.stride_tricks.sliding_window_view(np.pad(x, margins), (size, size), axis=(2, 3))
    return seen[:, :, ::stride, ::stride]


def convolve(x: Any, weight: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Any:
    """What a convolution is, for one group or a group for each channel."""
    seen = _windows(x, weight.shape[2], stride, padding)
    if groups == 1:
        return np.tensordot(seen, weight, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
    return np.einsum("nchwij,cij->nchw", seen, weight[:, 0])


def convolution_gradients(sizes: ConvSizes, x: Any, weight: Any, dy: Any) -> tuple[Any, Any, Any]:
    """The output, and the gradients of input and weights."""
    seen = _windows(x, sizes.kernel, 1, sizes.padding)
    back = weight[:, :, ::-1, ::-1]
    y = convolve(x, weight, 1, sizes.padding, sizes.groups)
    if sizes.groups == 1:
        dx = convolve(dy, back.transpose(1, 0, 2, 3), 1, sizes.padding)
        return y, dx, np.tensordot(dy, seen, ((0, 2, 3), (0, 2, 3)))
    dx = convolve(dy, back, 1, sizes.padding, sizes.groups)
    return y, dx, np.einsum("nchw,nchwij->cij", dy, seen)[:, None]


# ---- a small network: two convolutions, two linear layers

CNN_BATCH, CNN_SIDE = 64, 28


def cnn_parameters(generator: Any) -> Parameters:
    """As the layers of a digit reader."""
    parameters: Parameters = {}
    for name, before, after in (("conv1", 1, 32), ("conv2", 32, 64)):
        scale = np.float32(math.sqrt(2 / (9 * before)))
        parameters[f"{name}.weight"] = normal(generator, after, before, 3, 3) * scale
        parameters[f"{name}.bias"] = normal(generator, after) * np.float32(0.01)
    parameters |= linear_parameters(generator, "fc1", 3136, 128)
    return parameters | linear_parameters(generator, "fc2", 128, 10)


def cnn_flops() -> float:
    """One step: forward once, backward twice."""
    convolutions = 28 * 28 * 32 * 9 + 14 * 14 * 64 * 32 * 9
    return 6.0 * CNN_BATCH * (convolutions + 3136 * 128 + 1280)


def _pool2(x: Any) -> Any:
    batch, channels, rows, columns = x.shape
    return x.reshape(batch, channels, rows // 2, 2, columns // 2, 2).max((3, 5))


def cnn_loss(parameters: Parameters, x: Any, labels: Any) -> Any:
    """The loss before the first step."""
    parameters, x = in_float64(parameters), x.astype(np.float64)
    for name in ("conv1", "conv2"):
        x = convolve(x, parameters[f"{name}.weight"], 1, 1)
        x = _pool2(np.maximum(x + parameters[f"{name}.bias"][:, None, None], 0))
    hidden = np.maximum(linear(parameters, "fc1", x.reshape(len(x), -1)), 0)
    return cross_entropy(linear(parameters, "fc2", hidden), labels)


# ---- ResNet-18

RESNET_CLASSES = 1000
RESNET_MULTIPLICATIONS = {64: 148.2e6, 224: 1814e6}  # of one image, by its side


def resnet_blocks() -> Iterator[tuple[str, int, int, int]]:
    """Name, channels before and after, stride."""
    before = 64
    for level, after in enumerate((64, 128, 256, 512), 1):
        for number in range(2):
            yield f"layer{level}.{number}", before, after, 2 if level > 1 and not number else 1
            before = after


def resnet_parameters(generator: Any) -> Parameters:
    """Weights, and means and variances as if it had been trained."""
    parameters: Parameters = {}

    def convolution(name: str, before: int, after: int, size: int) -> None:
        scale = np.float32(math.sqrt(2 / (size**2 * before)))
        parameters[f"{name}.weight"] = normal(generator, after, before, size, size) * scale

    def norm(name: str, channels: int) -> None:
        near_one, tenth = generator.random((2, channels), np.float32) + 0.5, np.float32(0.1)
        parameters[f"{name}.weight"] = near_one[0] * np.float32(0.5) + np.float32(0.25)
        parameters[f"{name}.bias"] = normal(generator, channels) * tenth
        parameters[f"{name}.running_mean"] = normal(generator, channels) * tenth
        parameters[f"{name}.running_var"] = near_one[1]

    convolution("conv1", 3, 64, 7)
    norm("bn1", 64)
    for name, before, after, stride in resnet_blocks():
        convolution(f"{name}.conv1", before, after, 3)
        norm(f"{name}.bn1", after)
        convolution(f"{name}.conv2", after, after, 3)
        norm(f"{name}.bn2", after)
        if stride != 1 or before != after:
            convolution(f"{name}.down", before, after, 1)
            norm(f"{name}.downbn", after)
    return parameters | linear_parameters(generator, "fc", 512, RESNET_CLASSES)


def _batch_norm(parameters: Parameters, name: str, x: Any, trains: bool) -> Any:
    if trains:
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    else:
        mean, variance = (parameters[f"{name}.running_{part}"] for part in ("mean", "var"))
    scale = parameters[f"{name}.weight"] / np.sqrt(variance + 1e-5)
    shift = parameters[f"{name}.bias"] - mean * scale
    return x * scale[:, None, None] + shift[:, None, None]


def _pool3(x: Any) -> Any:
    margins = ((0, 0), (0, 0), (1, 1), (1, 1))
    padded = np.pad(x, margins, constant_values=-np.inf)
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return seen[:, :, ::2, ::2].max((-1, -2))


def resnet_logits(parameters: Parameters, x: Any, trains: bool = False) -> Any:
    """By the batch's own statistics while it trains, by the stored ones otherwise."""
    parameters, x = in_float64(parameters), x.astype(np.float64)

    def layer(name: str, norm: str, x: Any, stride: int, padding: int) -> Any:
        y = convolve(x, parameters[f"{name}.weight"], stride, padding)
        return _batch_norm(parameters, norm, y, trains)

    x = _pool3(np.maximum(layer("conv1", "bn1", x, 2, 3), 0))
    for name, _, _, stride in resnet_blocks():
        y = np.maximum(layer(f"{name}.conv1", f"{name}.bn1", x, stride, 1), 0)
        y = layer(f"{name}.conv2", f"{name}.bn2", y, 1, 1)
        if f"{name}.down.weight" in parameters:
            x = layer(f"{name}.down", f"{name}.downbn", x, stride, 0)
        x = np.maximum(y + x, 0)
    return linear(parameters, "fc", x.mean((2, 3)))


def resnet_loss(parameters: Parameters, x: Any, labels: Any) -> Any:
    """The loss before the first step."""
    return cross_entropy(resnet_logits(parameters, x, trains=True), labels)
