"""Rows D to G: convolutions, training steps, inference and attention."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import models, sequences, vision
from benchmarks.models import Parameters, normal
from benchmarks.vision import CONVOLUTIONS, ConvSizes
from benchmarks.workload import COMPILED, ONNX, Bar, Workload, bars

DECODE = "F.gpt2s_decode1"

# ---- D: forward, and with the gradients of input and weights

_CONVOLUTION_BARS = {
    "D.conv3x3_16x64x56": (0.6, 0.6),
    "D.conv3x3_16x256x14": (0.7, 0.65),
    "D.conv1x1_16x256x56to64": (0.35, 0.4),
    "D.dwconv3x3_16x128x28": (0.35, 0.35),
}


def _convolved(sizes: ConvSizes, x: Any, weight: Any) -> Any:
    return vision.convolve(x, weight, 1, sizes.padding, sizes.groups)


def _convolution_rows(name: str, sizes: ConvSizes) -> tuple[Workload, Workload]:
    forward, both = _CONVOLUTION_BARS[name]
    return (
        Workload(
            name,
            sizes.operands,
            partial(_convolved, sizes),
            bytes=sizes.nbytes,
            flops=sizes.flops,
            bars=bars(forward),
        ),
        Workload(
            f"{name}_fb",
            sizes.with_cotangent,
            partial(vision.convolution_gradients, sizes),
            bytes=3 * sizes.nbytes,
            flops=3 * sizes.flops,
            tolerance=1e-3,
            bars=bars(both),
        ),
    )


CONVOLUTION_ROWS = tuple(
    row for name, sizes in CONVOLUTIONS.items() for row in _convolution_rows(name, sizes)
)

# ---- E: one step of Adam


def _mlp_inputs(generator: Any) -> tuple[Any, ...]:
    parameters = models.mlp_parameters(generator)
    return parameters, normal(generator, 128, 784), generator.integers(0, 10, 128)


def _cnn_inputs(generator: Any) -> tuple[Any, ...]:
    batch, side = vision.CNN_BATCH, vision.CNN_SIDE
    parameters = vision.cnn_parameters(generator)
    return parameters, normal(generator, batch, 1, side, side), generator.integers(0, 10, batch)


def _images(generator: Any, batch: int, side: int) -> tuple[Parameters, Any]:
    return vision.resnet_parameters(generator), normal(generator, batch, 3, side, side)


def _resnet_inputs(generator: Any) -> tuple[Any, ...]:
    return (*_images(generator, 8, 64), generator.integers(0, vision.RESNET_CLASSES, 8))


def _lstm_inputs(generator: Any) -> tuple[Any, ...]:
    shape = (sequences.LSTM_BATCH, sequences.LSTM_LENGTH, sequences.LSTM_WIDTH)
    parameters = sequences.lstm_parameters(generator)
    return parameters, normal(generator, *shape), generator.integers(0, 10, shape[0])


def _gpt_inputs(generator: Any) -> tuple[Any, ...]:
    parameters = models.gpt_parameters(generator)
    shape = (models.GPT.batch, models.GPT.length)
    tokens = generator.integers(0, models.GPT.vocabulary, shape)
    return parameters, tokens, generator.integers(0, models.GPT.vocabulary, shape)


_trains = partial(Workload, trains=True)

TRAINING_ROWS = (
    _trains(
        "E.mlp_b128",
        _mlp_inputs,
        models.mlp_loss,
        flops=models.mlp_flops(),
        bars=bars(0.75, lazy=1.0),
    ),
    _trains("E.cnn_b64", _cnn_inputs, vision.cnn_loss, flops=vision.cnn_flops(), bars=bars(0.6)),
    _trains(
        "E.resnet18_b8_64",
        _resnet_inputs,
        vision.resnet_loss,
        flops=6 * 8 * vision.RESNET_MULTIPLICATIONS[64],
        tolerance=1e-3,
        drift=1e-2,  # batch norms of eight images: a last digit is a thousandth after four steps
        bars=bars(0.65),
    ),
    _trains(
        "E.lstm_2x256_t64_b32",
        _lstm_inputs,
        sequences.lstm_loss,
        flops=sequences.lstm_flops(),
        bars=bars(0.75),
    ),
    _trains(
        "E.gpt_4x256_b8_t128",
        _gpt_inputs,
        models.gpt_loss,
        flops=models.gpt_flops(),
        bars=bars(0.75),
    ),
)

# ---- F: inference. Weights of 16 and 8 bits may as well be widened beforehand, so the times of
# peers that hold them in float32 count for those rows too.

INFERENCE_ROWS = (
    Workload(
        "F.resnet18_b1_224",
        lambda generator: _images(generator, 1, 224),
        vision.resnet_logits,
        flops=2 * vision.RESNET_MULTIPLICATIONS[224],
        tolerance=1e-3,
        bars=(*bars(0.6), Bar(COMPILED, 1.0, (ONNX,))),
    ),
    Workload(
        "F.gpt2s_prefill128",
        sequences.prefill_inputs,
        sequences.prefill,
        bytes=4.0 * sequences.MATRICES,
        flops=sequences.prefill_flops(),
        tolerance=1e-3,
        bars=bars(0.8),
    ),
    *(
        Workload(
            DECODE + suffix,
            inputs,
            sequences.decode,
            bytes=width * sequences.MATRICES,
            flops=2.0 * sequences.MATRICES,
            tolerance=1e-3,
            bars=bars(ratio),
            also=(DECODE,) if suffix else (),
        )
        for suffix, inputs, width, ratio in (
            ("", sequences.decode_inputs, 4.0, 0.4),
            ("_bf16", sequences.narrow_inputs, 2.0, 0.25),
            ("_int8", sequences.quantised_inputs, 1.0, 0.15),
        )
    ),
)

# ---- G: causal attention of q, k and v, forward, and with the gradients of all three


def _attention_inputs(count: int, generator: Any) -> tuple[Any, ...]:
    return tuple(normal(generator, *sequences.ATTENTION) for _ in range(count))


ATTENTION_ROWS = (
    Workload(
        "G.attention_1x8x2048x64",
        partial(_attention_inputs, 3),
        sequences.causal_attention,
        flops=sequences.attention_flops(),
        bars=bars(0.7),
    ),
    Workload(
        "G.attention_1x8x2048x64_fb",
        partial(_attention_inputs, 4),
        sequences.causal_attention_gradients,
        flops=3 * sequences.attention_flops(),
        tolerance=1e-3,
        bars=bars(0.7),
    ),
)
