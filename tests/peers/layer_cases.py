"""Layers and losses over grids of options: what is made, and what it is called with."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np


@dataclass(eq=False)
class Case:
    """One layer with its options, and how it is called."""

    name: str
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    shapes: tuple[Any, ...] = ((2, 3),)  # of inputs: normal floats; or functions that make arrays
    call: dict[str, Any] = field(default_factory=dict)  # options of the call; arrays become tensors
    modes: tuple[bool, ...] = (True, False)
    logits: bool = False  # is the log_softmax of the first input what is given?
    tolerance: float = 1e-4

    def __str__(self) -> str:
        given = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.options.items())]
        text = f"{self.name}({', '.join(given)}) of {self.shapes} {list(self.call)}"
        return text[:160]


def grid(**options: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(options, chosen, strict=True)) for chosen in product(*options.values())]


def whole(high: int, *shape: int, low: int = 0):
    return lambda rng: rng.integers(low, high, shape)


def fraction(*shape: int):
    return lambda rng: rng.uniform(0.05, 0.95, shape).astype(np.float32)


def fixed(make):
    """What makes an input that no gradient is asked of."""
    make.fixed = True
    return make


def sign(*shape: int):
    return fixed(lambda rng: rng.choice(np.array([-1.0, 1.0], np.float32), shape))


def chances(*shape: int, log: bool = False, axis: int = 1):
    def make(rng):
        x = np.exp(rng.standard_normal(shape))
        x = x / x.sum(axis, keepdims=True)
        return (np.log(x) if log else x).astype(np.float32)

    return make


def values(*numbers: float, dtype: Any = np.float32):
    return np.array(numbers, dtype)


EVAL = (False,)
IMAGES = {1: (2, 4, 9), 2: (2, 4, 7, 8), 3: (2, 4, 5, 4, 6)}
FEW = {1: (2, 3, 8), 2: (2, 3, 6, 5), 3: (1, 2, 4, 5, 4)}


def activations() -> list[Case]:
    plain = [
        "ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardsigmoid", "Hardswish", "Sigmoid", "Tanh",
        "LogSigmoid", "Softsign", "Tanhshrink", "GELU", "ELU", "CELU", "LeakyReLU", "PReLU",
        "Hardtanh", "Hardshrink", "Softshrink", "Softplus", "GLU", "Identity",
    ]  # fmt: skip
    found = [Case(name, shapes=(shape,)) for name in plain for shape in ((4, 6), (2, 1, 2, 4))]
    found += [Case("GELU", ("tanh",)), Case("ELU", (0.7,)), Case("CELU", (0.5,))]
    found += [Case("LeakyReLU", (0.3,)), Case("PReLU", (3, 0.1)), Case("PReLU", (), {"init": 0.6})]
    found += [Case("Threshold", (0.1, 2.0)), Case("Hardtanh", (-0.3, 0.6))]
    found += [Case("Hardshrink", (0.2,)), Case("Softshrink", (0.1,)), Case("Softplus", (2.0, 1.0))]
    found += [Case("RReLU", (), {}, modes=EVAL), Case("RReLU", (0.1, 0.2), {}, modes=EVAL)]
    found += [Case("GLU", (0,), {}, ((4, 3),)), Case("Softmax2d", (), {}, ((2, 3, 4, 2),))]
    found += [
        Case(name, (dim,), {}, ((2, 3, 4),))
        for name in ("Softmax", "Softmin", "LogSoftmax") for dim in (0, 1, -1)
    ]  # fmt: skip
    found += [Case(n, (p,), {}, ((2, 3, 4),), modes=EVAL)
              for n in ("Dropout", "Dropout1d", "AlphaDropout") for p in (0.0, 0.5)]  # fmt: skip
    found += [Case("Dropout", (0.0,)), Case("Dropout2d", (0.4,), {}, ((2, 3, 4, 5),), modes=EVAL)]
    found += [Case("Dropout3d", (0.4,), {}, ((2, 3, 4, 5, 2),), modes=EVAL),
              Case("FeatureAlphaDropout", (0.4,), {}, ((2, 3, 4),), modes=EVAL)]  # fmt: skip
    return found


def products() -> list[Case]:
    found = [Case("Linear", (3, 5), o, (s,)) for o in grid(bias=(True, False))
             for s in ((3,), (2, 3), (2, 4, 3), (0, 3))]  # fmt: skip
    found += [Case("Bilinear", (3, 4, 5), o, ((2, 3), (2, 4))) for o in grid(bias=(True, False))]
    found += [Case("Flatten", a, {}, ((2, 3, 4),)) for a in ((), (0,), (1, 2))]
    found += [Case("Unflatten", (1, (2, 3)), {}, ((4, 6, 2),))]
    for axes in (1, 2, 3):
        shape = IMAGES[axes]
        options = grid(stride=(1, 2), padding=(0, 1), dilation=(1, 2), groups=(1, 2))
        options += grid(padding=("same", "valid"), bias=(True, False))
        options += grid(padding=(2,), padding_mode=("reflect", "replicate", "circular"))
        options += grid(padding=("same",), padding_mode=("circular",), dilation=(2,))
        found += [Case(f"Conv{axes}d", (4, 6, 2), o, (shape,)) for o in options]
        found += [Case(f"Conv{axes}d", (4, 4, (3, 2, 1)[:axes]), {"groups": 4}, (shape,))]
        found += [Case(f"Conv{axes}d", (4, 2, 3), {}, (shape[1:],))]
        options = grid(stride=(1, 2), padding=(0, 1), dilation=(1, 2), groups=(1, 2))
        options += grid(stride=(2,), output_padding=(1,), bias=(True, False))
        few = (FEW[axes][0], 4, *FEW[axes][2:])
        found += [Case(f"ConvTranspose{axes}d", (4, 6, 3), o, (few,)) for o in options]
    return found


def pools() -> list[Case]:
    found = []
    for axes in (1, 2, 3):
        shape = (FEW[axes],)
        options = grid(stride=(None, 1), padding=(0, 1), ceil_mode=(False, True))
        for o in options:
            found += [Case(f"MaxPool{axes}d", (3,), {**o, "dilation": d}, shape, modes=EVAL)
                      for d in (1, 2) if FEW[axes][2] + 2 * o["padding"] >= 2 * d + 1
                      and min(FEW[axes][2:]) + 2 * o["padding"] >= 2 * d + 1]  # fmt: skip
            found += [Case(f"AvgPool{axes}d", (3,), {**o, "count_include_pad": c}, shape,
                           modes=EVAL) for c in (True, False)]  # fmt: skip
        found += [Case(f"MaxPool{axes}d", (2,), {"return_indices": True}, shape, modes=EVAL)]
        found += [Case(f"LPPool{axes}d", (p, 2), {"ceil_mode": c}, shape, modes=EVAL,)
                  for p in (1, 2, 3) for c in (False, True)]  # fmt: skip
        for size in (1, 2, 3):
            found += [Case(f"Adaptive{kind}Pool{axes}d", (size,), {}, shape, modes=EVAL)
                      for kind in ("Max", "Avg")]  # fmt: skip
        found += [Case(f"AdaptiveMaxPool{axes}d", (2,), {"return_indices": True}, shape,
                       modes=EVAL)]  # fmt: skip
    found += [Case(f"AvgPool{n}d", (2,), {"divisor_override": 3}, (FEW[n],), modes=EVAL)
              for n in (2, 3)]  # fmt: skip
    found += [Case("AdaptiveAvgPool2d", ((None, 2),), {}, (FEW[2],), modes=EVAL)]
    samples = lambda n: np.full((2, 3, n), 0.3, np.float32)  # noqa: E731
    for ratio in ({"output_size": 3}, {"output_ratio": 0.5}):
        found += [Case("FractionalMaxPool2d", (2,), {**ratio, "_random_samples": samples(2)},
                       ((2, 3, 7, 6),), modes=EVAL)]  # fmt: skip
        found += [Case("FractionalMaxPool3d", (2,), {**ratio, "_random_samples": samples(3)},
                       ((2, 3, 7, 6, 8),), modes=EVAL)]  # fmt: skip
    return found


def normalisations() -> list[Case]:
    found = []
    for axes in (1, 2, 3):
        shape = FEW[axes] if axes < 3 else (2, 2, 3, 2, 4)
        channels = shape[1]
        for o in grid(
            affine=(True, False), track_running_stats=(True, False), momentum=(0.1, None)
        ):
            found.append(Case(f"BatchNorm{axes}d", (channels,), o, (shape,)))
            if o["momentum"] is not None:
                found.append(Case(f"InstanceNorm{axes}d", (channels,), o, (shape,)))
        found.append(Case(f"InstanceNorm{axes}d", (channels,), {}, (shape[1:],)))
        found.append(Case(f"BatchNorm{axes}d", (channels, 1e-2, 0.7), {}, (shape,)))
    found.append(Case("BatchNorm1d", (3,), {}, ((5, 3),)))
    for o in grid(elementwise_affine=(True, False), bias=(True, False), eps=(1e-5, 1e-2)):
        found += [Case("LayerNorm", (size,), o, ((2, 5, 4),)) for size in (4, (5, 4))]
    for o in grid(elementwise_affine=(True, False), eps=(None, 1e-2)):
        found += [Case("RMSNorm", (size,), o, ((2, 5, 4),)) for size in (4, (5, 4))]
    found += [Case("GroupNorm", (groups, 6), {"affine": affine}, (shape,))
              for groups in (1, 2, 6) for affine in (True, False)
              for shape in ((2, 6, 7), (2, 6, 3, 2))]  # fmt: skip
    found += [Case("LocalResponseNorm", (size,), {}, (shape,)) for size in (2, 3)
              for shape in ((2, 5, 3), (2, 5, 3, 2))]  # fmt: skip
    found += [Case("LocalResponseNorm", (3, 0.5, 0.5, 2.0), {}, ((2, 5, 3),))]
    return found


def images() -> list[Case]:
    found = []
    for mode, axes in (("nearest", 1), ("linear", 1), ("nearest", 2), ("bilinear", 2),
                       ("bicubic", 2), ("nearest", 3), ("trilinear", 3)):  # fmt: skip
        sizes = ({"size": (7, 8, 6)[:axes]}, {"scale_factor": 2}, {"scale_factor": 1.5})
        found += [Case("Upsample", (), {**o, "mode": mode}, (FEW[axes],), modes=EVAL)
                  for o in sizes]  # fmt: skip
        if mode != "nearest":
            found.append(Case("Upsample", (), {"scale_factor": 2, "mode": mode,
                         "align_corners": True}, (FEW[axes],), modes=EVAL))  # fmt: skip
    found += [Case(n, (), {"scale_factor": 2}, (FEW[2],), modes=EVAL)
              for n in ("UpsamplingNearest2d", "UpsamplingBilinear2d")]  # fmt: skip
    found += [Case("PixelShuffle", (2,), {}, ((2, 8, 3, 4),)),
              Case("PixelUnshuffle", (2,), {}, ((2, 2, 4, 6),)),
              Case("ChannelShuffle", (2,), {}, ((2, 6, 3, 2),)),
              Case("ChannelShuffle", (3,), {}, ((2, 6, 4),))]  # fmt: skip
    for o in grid(dilation=(1, 2), padding=(0, 1), stride=(1, 2)):
        found.append(Case("Unfold", (2,), o, ((2, 3, 6, 5),), modes=EVAL))
        reach = [(n + 2 * o["padding"] - o["dilation"] - 1) // o["stride"] + 1 for n in (6, 5)]
        found.append(Case("Fold", ((6, 5), 2), o, ((2, 12, reach[0] * reach[1]),), modes=EVAL))
    for axes in (1, 2, 3):
        for padding in (1, tuple(range(1, 2 * axes + 1))[: 2 * axes]):
            few = (2, 3, *(8, 7, 7)[:axes])
            found += [Case(f"{kind}Pad{axes}d", (padding,), {}, (few,), modes=EVAL)
                      for kind in ("Zero", "Reflection", "Replication", "Circular")]  # fmt: skip
            found.append(Case(f"ConstantPad{axes}d", (padding, 1.5), {}, (few,), modes=EVAL))
    found += [Case("CosineSimilarity", (dim,), {}, ((2, 3, 4), (2, 3, 4)), modes=EVAL)
              for dim in (0, 1, 2)]  # fmt: skip
    found += [Case("PairwiseDistance", (p,), {"keepdim": k}, ((3, 4), (3, 4)), modes=EVAL)
              for p in (1.0, 2.0, 3.0) for k in (True, False)]  # fmt: skip
    return found


def tables() -> list[Case]:
    options = [
        {}, {"padding_idx": 2}, {"padding_idx": -1}, {"max_norm": 1.0},
        {"max_norm": 1.0, "norm_type": 1.0}, {"scale_grad_by_freq": True},
    ]  # fmt: skip
    found = [Case("Embedding", (7, 3), o, (whole(7, 2, 4),)) for o in options]
    for mode in ("sum", "mean", "max"):
        for o in ({}, {"padding_idx": 2}):
            found.append(Case("EmbeddingBag", (7, 3), {"mode": mode, **o}, (whole(7, 2, 4),)))
            found.append(Case("EmbeddingBag", (7, 3), {"mode": mode, **o}, (
                whole(7, 6), lambda rng: np.array([0, 2, 2])),))  # fmt: skip
    found.append(Case("EmbeddingBag", (7, 3), {"mode": "sum"}, (whole(7, 2, 4),),
                      {"per_sample_weights": fraction(2, 4)}))  # fmt: skip
    found.append(Case("EmbeddingBag", (7, 3), {"include_last_offset": True}, (
        whole(7, 6), lambda rng: np.array([0, 2, 6]))))  # fmt: skip
    found.append(Case("AdaptiveLogSoftmaxWithLoss", (8, 12, [3, 7]), {}, ((6, 8), whole(12, 6))))
    found.append(Case("AdaptiveLogSoftmaxWithLoss", (8, 12, [3]), {"head_bias": True,
                      "div_value": 2.0}, ((6, 8), whole(12, 6))))  # fmt: skip
    found.append(Case("AdaptiveLogSoftmaxWithLoss", (8, 12, [3, 7]), {}, ((8,), whole(12))))
    return found


def losses() -> list[Case]:
    found: list[Case] = []

    def add(name: str, options: list[dict[str, Any]], *shapes: Any) -> None:
        for reduction in ("mean", "sum", "none"):
            found.extend(
                Case(name, (), {**o, "reduction": reduction}, shapes, modes=EVAL) for o in options
            )

    add("L1Loss", [{}], (3, 4), (3, 4))
    add("MSELoss", [{}], (3, 4), (3, 4))
    add("SmoothL1Loss", grid(beta=(1.0, 0.3)), (3, 4), (3, 4))
    add("HuberLoss", grid(delta=(1.0, 0.3)), (3, 4), (3, 4))
    add("PoissonNLLLoss", grid(log_input=(True,), full=(True, False)), (3, 4), fraction(3, 4))
    add("PoissonNLLLoss", [{"log_input": False}], fraction(3, 4), fraction(3, 4))
    add("GaussianNLLLoss", grid(full=(True, False)), (3, 4), (3, 4), fraction(3, 4))
    add("GaussianNLLLoss", [{"eps": 1e-3}], (3, 4), (3, 4), fraction(3, 1))
    weight = values(0.5, 1.0, 2.0, 0.3, 1.5)
    classes = [{}, {"weight": weight}, {"ignore_index": 1}, {"weight": weight, "ignore_index": 1}]
    for shape in ((4, 5), (2, 5, 3), (2, 5, 2, 3)):
        labels = whole(5, shape[0], *shape[2:])
        add("NLLLoss", classes, chances(*shape, log=True), labels)
        smooth = [{**o, "label_smoothing": s} for o in classes for s in (0.0, 0.2)]
        add("CrossEntropyLoss", smooth, shape, labels)
        smooth = [{"label_smoothing": s, "weight": w} for s in (0.0, 0.2) for w in (None, weight)]
        add("CrossEntropyLoss", smooth, shape, chances(*shape))
    add("CrossEntropyLoss", classes, (5,), whole(5))
    found += [Case("LinearCrossEntropyLoss", (3, 5), o, ((4, 3), whole(5, 4)))
              for o in grid(bias=(True, False), label_smoothing=(0.0, 0.2))]  # fmt: skip
    found.append(Case("LinearCrossEntropyLoss", (3, 5), {"out_features": (2,), "weight": weight},
                      ((4, 3), whole(5, 4, 2))))  # fmt: skip
    bits = lambda rng: rng.integers(0, 2, (3, 5)).astype(np.float32)  # noqa: E731
    add("BCELoss", [{}, {"weight": weight}], fraction(3, 5), bits)
    add("BCEWithLogitsLoss", [{}, {"weight": weight}, {"pos_weight": weight}], (3, 5), bits)
    add("MultiLabelSoftMarginLoss", [{}, {"weight": weight}], (3, 5), bits)
    add("KLDivLoss", [{}], chances(3, 5, log=True), chances(3, 5))
    add("KLDivLoss", [{"log_target": True}], chances(3, 5, log=True), chances(3, 5, log=True))
    found.append(Case("KLDivLoss", (), {"reduction": "batchmean"},
                      (chances(3, 5, log=True), chances(3, 5)), modes=EVAL))  # fmt: skip
    add("HingeEmbeddingLoss", [{}, {"margin": 0.4}], (3, 4), sign(3, 4))
    add("SoftMarginLoss", [{}], (3, 4), sign(3, 4))
    add("MultiLabelMarginLoss", [{}], (2, 4), lambda rng: np.array([[3, 0, -1, 1], [2, -1, 0, 0]]))
    add("MultiMarginLoss", [{}, {"p": 2}, {"margin": 0.5}, {"weight": weight}], (3, 5), whole(5, 3))
    add("MarginRankingLoss", [{}, {"margin": 0.5}], (6,), (6,), sign(6))
    add("CosineEmbeddingLoss", [{}, {"margin": 0.3}], (3, 4), (3, 4), sign(3))
    triplets = [{}, {"margin": 0.4}, {"p": 1.0}, {"swap": True}]
    add("TripletMarginLoss", triplets, (3, 4), (3, 4), (3, 4))
    add("TripletMarginWithDistanceLoss", [{}, {"swap": True}], (3, 4), (3, 4), (3, 4))
    targets = lambda rng: np.array([[1, 2, 2], [3, 1, 0]])  # noqa: E731
    lengths = {"input_lengths": np.array([7, 6]), "target_lengths": np.array([3, 2])}
    for reduction in ("mean", "sum", "none"):
        found += [Case("CTCLoss", (), {"reduction": reduction, "zero_infinity": z},
                       ((7, 2, 4), targets), lengths, modes=EVAL, logits=True)
                  for z in (True, False)]  # fmt: skip
    return found


def recurrent() -> list[Case]:
    found = []
    for name in ("RNN", "LSTM", "GRU"):
        options = grid(num_layers=(1, 2), bidirectional=(False, True), batch_first=(False, True),
                       bias=(True, False))  # fmt: skip
        if name == "LSTM":
            options += grid(num_layers=(1, 2), bidirectional=(False, True), proj_size=(2,))
        if name == "RNN":
            options += grid(nonlinearity=("relu",), num_layers=(1, 2))
        found += [Case(name, (3, 4), o, ((4, 2, 3),), modes=EVAL) for o in options]
        found += [Case(name, (3, 4), {}, ((4, 3),), modes=EVAL)]
        found += [Case(name, (3, 4), {"dropout": 0.5, "num_layers": 2}, ((4, 2, 3),), modes=EVAL)]
        found += [Case(f"{name}Cell", (3, 4), o, (shape,), modes=EVAL)
                  for o in grid(bias=(True, False)) for shape in ((2, 3), (3,))]  # fmt: skip
    found += [Case(n, (3, 4), {}, ((4, 2, 3), (1, 2, 4)), modes=EVAL) for n in ("RNN", "GRU")]
    found += [Case(n, (3, 4), {}, ((2, 3), (2, 4)), modes=EVAL) for n in ("RNNCell", "GRUCell")]
    found += [Case("RNNCell", (3, 4), {"nonlinearity": "relu"}, ((2, 3),), modes=EVAL)]
    return found


def causal(n: int):
    return np.triu(np.full((n, n), -np.inf, np.float32), 1)


PADDING = np.array([[False, False, True, False], [False, True, True, False]])


def attention() -> list[Case]:
    found = []
    same = ((4, 2, 6),) * 3
    options = grid(bias=(True, False), batch_first=(False, True), add_zero_attn=(False, True))
    options += [{"add_bias_kv": True}, {"kdim": 5, "vdim": 3}]
    calls: list[dict[str, Any]] = [
        {}, {"need_weights": False}, {"average_attn_weights": False}, {"attn_mask": causal(4)},
        {"attn_mask": causal(4) < 0}, {"key_padding_mask": PADDING},
        {"attn_mask": causal(4) < 0, "key_padding_mask": PADDING, "need_weights": False},
        {"attn_mask": causal(4), "is_causal": True, "need_weights": False},
    ]  # fmt: skip
    for o in options:
        sizes = ((2, 4, 6),) * 3 if o.get("batch_first") else same
        sizes = (sizes[0], (4, 2, 5), (4, 2, 3)) if "kdim" in o else sizes
        for call in calls:
            if "is_causal" in call and (o.get("add_bias_kv") or o.get("add_zero_attn")):
                continue  # PyTorch then shows the extra key to the last query alone
            found.append(Case("MultiheadAttention", (6, 2), o, sizes, call, modes=EVAL))
    found += [Case("MultiheadAttention", (6, 2), {}, ((3, 6), (4, 6), (4, 6)), modes=EVAL)]
    small = {"dim_feedforward": 8, "dropout": 0.0}
    for o in grid(norm_first=(False, True), activation=("relu", "gelu"), bias=(True, False),
                  batch_first=(False, True)):  # fmt: skip
        x = (2, 4, 6) if o["batch_first"] else (4, 2, 6)
        for call in ({}, {"src_mask": causal(4)}, {"src_key_padding_mask": PADDING}):
            found.append(Case("TransformerEncoderLayer", (6, 2), {**small, **o}, (x,), call,
                              (True,)))  # fmt: skip
        for call in ({}, {"tgt_mask": causal(4)}, {"memory_key_padding_mask": PADDING}):
            found.append(Case("TransformerDecoderLayer", (6, 2), {**small, **o}, (x, x), call,
                              (True,)))  # fmt: skip
    for o in grid(norm_first=(False, True), batch_first=(False, True)):
        x = (2, 4, 6) if o["batch_first"] else (4, 2, 6)
        layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
        calls = [{}, {"tgt_mask": causal(4), "src_key_padding_mask": PADDING}]
        found += [Case("Transformer", (6, 2), {**small, **layers, **o}, (x, x), call, (True,))
                  for call in calls]  # fmt: skip
    return found


CASES = [
    *activations(), *products(), *pools(), *normalisations(), *images(), *tables(), *losses(),
    *recurrent(), *attention(),
]  # fmt: skip
