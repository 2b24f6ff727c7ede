"""Calls of torch.nn.functional, all but losses, over grids of options."""

from __future__ import annotations

from itertools import product

import numpy as np
from functional_calls import apart, case, chance, fixed, grid, ints, mask, pos, still, x

SHAPES = ((3, 5), (7,), (), (0, 3), (1, 1))

# ---- activations

for name in (
    "relu", "relu6", "hardsigmoid", "hardswish", "selu", "silu", "mish", "sigmoid", "tanh",
    "logsigmoid", "softsign", "tanhshrink", "gelu", "elu", "celu", "leaky_relu", "hardtanh",
    "hardshrink", "softshrink", "softplus", "rrelu",
):  # fmt: skip
    for shape in SHAPES:
        case(name, x(*shape))
for name in ("relu", "elu", "celu", "hardtanh", "leaky_relu", "silu", "mish", "selu", "relu6"):
    case(name, x(4, 3), inplace=False)
case("elu", x(4, 5), 0.5)
case("celu", x(4, 5), 1.5)
case("leaky_relu", x(4, 5), 0.3)
case("hardtanh", x(4, 5), -0.3, 0.4)
case("hardshrink", x(4, 5), lambd=0.2)
case("softshrink", x(4, 5), lambd=0.2)
case("softplus", x(4, 5), beta=3, threshold=2)
case("gelu", x(4, 5), approximate="tanh")
case("threshold", x(4, 5), 0.1, 20.0)
case("rrelu", x(4, 5), 0.1, 0.5)
case("prelu", x(2, 3, 4), x(3))
case("prelu", x(2, 3, 4), x(1))
for shape, dim in (((6,), -1), ((4, 6), -1), ((4, 6), 0), ((2, 4, 3), 1)):
    case("glu", x(*shape), dim)
for name in ("softmax", "softmin", "log_softmax"):
    for shape in ((5,), (3, 5), (2, 3, 4), (2, 2, 3, 2)):
        case(name, x(*shape))
        for dim in range(-len(shape), len(shape)):
            case(name, x(*shape), dim)
    case(name, x(3, 4), dim=1, dtype="float64")

# ---- products

for lead in ((), (3,), (2, 3)):
    case("linear", x(*lead, 4), x(5, 4))
    case("linear", x(*lead, 4), x(5, 4), x(5))
    case("bilinear", x(*lead, 4), x(*lead, 3), x(5, 4, 3))
    case("bilinear", x(*lead, 4), x(*lead, 3), x(5, 4, 3), x(5))
for n, spatial in ((1, (9,)), (2, (7, 6)), (3, (5, 4, 5))):
    for batch in ((2,), ()):
        for more in grid(stride=(1, 2), padding=(0, 1), dilation=(1, 2), groups=(1, 2)):
            case(
                f"conv{n}d",
                x(*batch, 4, *spatial),
                x(6, 4 // more["groups"], *(2,) * n),
                x(6),
                **more,
            )
    for padding in ("same", "valid"):
        case(f"conv{n}d", x(2, 3, *spatial), x(4, 3, *(3,) * n), padding=padding)
    for more in grid(stride=(1, 2), padding=(0, 1), groups=(1, 2), dilation=(1, 2)):
        case(
            f"conv_transpose{n}d",
            x(2, 4, *(4, 3, 3)[:n]),
            x(4, 3, *(3,) * n),
            x(3 * more["groups"]),
            **more,
        )
    case(f"conv_transpose{n}d", x(2, 4, *(4, 3, 3)[:n]), x(4, 3, *(3,) * n), None, 2, 1, 1)
for pad in (0, 1, 2):
    case("conv_tbc", x(6, 2, 3), x(3, 3, 4), x(4), pad)
for batch in ((2,), ()):
    for more in grid(kernel_size=(2, (2, 3)), dilation=(1, 2), padding=(0, (1, 2)), stride=(1, 2)):
        case("unfold", x(*batch, 3, 6, 7), **more)
        kernel, edge = (np.broadcast_to(more[k], 2) for k in ("kernel_size", "padding"))
        counts = [
            (n + 2 * p - more["dilation"] * (k - 1) - 1) // more["stride"] + 1
            for n, p, k in zip((6, 7), edge, kernel, strict=True)
        ]
        columns = x(*batch, 3 * int(np.prod(kernel)), int(np.prod(counts)))
        case("fold", columns, (6, 7), **more)

# ---- pools

for n, spatial in ((1, (9,)), (2, (7, 9)), (3, (6, 5, 7))):
    for batch in ((2,), ()):
        shape = (*batch, 2, *spatial)
        for more in grid(
            stride=(None, 2), padding=(0, 1), dilation=(1, 2), ceil_mode=(False, True)
        ):
            for indices in (False, True):
                case(f"max_pool{n}d", apart(*shape), 3 if more["dilation"] == 1 else 2,
                     return_indices=indices, **more)  # fmt: skip
        for more in grid(stride=(None, 2), padding=(0, 1), ceil_mode=(False, True),
                         count_include_pad=(True, False)):  # fmt: skip
            case(f"avg_pool{n}d", x(*shape), 3, **more)
        for size in (1, 2, 3, 4, (4, None, 3)[:n] if n > 1 else 5):
            case(f"adaptive_avg_pool{n}d", x(*shape), size)
            for indices in (False, True):
                case(f"adaptive_max_pool{n}d", apart(*shape), size, return_indices=indices)
        for power, stride, ceil in product((1, 2, 3.0), (None, 1), (False, True)):
            case(f"lp_pool{n}d", pos(*shape), power, 2, stride, ceil)
        if n > 1:
            case(f"avg_pool{n}d", x(*shape), 2, divisor_override=3)
    case(
        f"max_pool{n}d",
        apart(2, 2, *spatial),
        tuple(range(2, 2 + n)),
        stride=tuple(range(1, 1 + n)),
    )
for n, spatial in ((2, (7, 8)), (3, (6, 7, 8))):
    for more in grid(kernel_size=(2, 3), output_size=(2, 3), return_indices=(False, True)):
        case(
            f"fractional_max_pool{n}d",
            apart(2, 3, *spatial),
            _random_samples=still(chance(2, 3, n)),
            **more,
        )
    case(f"fractional_max_pool{n}d", apart(2, 3, *spatial), 2, output_ratio=(0.5,) * n,
         _random_samples=still(chance(2, 3, n)))  # fmt: skip

# ---- normalisation

for sizes in ((5,), (4, 5), (3, 4, 5)):
    for affine in ((), (x(*sizes),), (x(*sizes), x(*sizes))):
        case("layer_norm", x(2, 3, 4, 5), sizes, *affine)
    case("layer_norm", x(2, 3, 4, 5), list(sizes), None, x(*sizes), 0.1)
    for affine in ((), (x(*sizes),)):
        case("rms_norm", x(2, 3, 4, 5), sizes, *affine)
        case("rms_norm", x(2, 3, 4, 5), sizes, *affine, eps=0.1)
for shape, groups in (((3, 6), 2), ((2, 6, 4), 3), ((2, 4, 3, 3), 4), ((2, 4, 3, 3), 1)):
    case("group_norm", x(*shape), groups)
    case("group_norm", x(*shape), groups, x(shape[1]), x(shape[1]), 0.01)
for shape in ((5, 3), (4, 3, 5), (2, 3, 4, 4), (2, 3, 2, 3, 2)):
    for training in (False, True):
        affine = {"weight": x(3), "bias": x(3)}
        case("batch_norm", x(*shape), still(x(3)), still(pos(3)), training=training)
        case(
            "batch_norm",
            x(*shape),
            still(x(3)),
            still(pos(3)),
            **affine,
            training=training,
            momentum=0.3,
            eps=0.1,
        )
    case("batch_norm", x(*shape), None, None, training=True)
for shape in ((4, 3, 5), (2, 3, 4, 4), (2, 3, 2, 3, 2)):
    case("instance_norm", x(*shape))
    for stats in (True, False):
        case("instance_norm", x(*shape), still(x(3)), still(pos(3)), use_input_stats=stats)
        case("instance_norm", x(*shape), still(x(3)), still(pos(3)), x(3), x(3), stats, 0.3, 0.1)
for shape in ((2, 5, 3), (2, 5, 3, 4), (1, 6, 2, 2, 3)):
    for size in (1, 2, 3, 5):
        case("local_response_norm", x(*shape), size)
        case("local_response_norm", x(*shape), size, alpha=0.5, beta=0.6, k=2.0)
for p, dim in product((1, 2.0, 3), (0, 1, -1)):
    case("normalize", x(4, 3, 5), p, dim)
case("normalize", x(4, 3), eps=2.0)

# ---- look-ups

case("one_hot", ints(5, 3, 2), 7)
case("one_hot", fixed(0, 2, 1))
for index in ((6,), (2, 3), ()):
    case("embedding", ints(5, *index), x(5, 3))
    case("embedding", ints(5, *index), x(5, 3), 1)
    case("embedding", ints(5, *index), x(5, 3), -2, 1.0)
    case("embedding", ints(5, *index), x(5, 3), scale_grad_by_freq=True)
    case("embedding", ints(5, *index), x(5, 3), max_norm=0.7, norm_type=1.0)
OFFSETS = fixed(0, 3, 3, 5)
for mode, padding in product(("sum", "mean", "max"), (None, 2)):
    case("embedding_bag", ints(6, 3, 4), x(6, 2), mode=mode, padding_idx=padding)
    case("embedding_bag", ints(6, 8), x(6, 2), OFFSETS, mode=mode, padding_idx=padding)
    case("embedding_bag", ints(6, 8), x(6, 2), fixed(0, 2, 8), mode=mode, include_last_offset=True,
         padding_idx=padding)  # fmt: skip
    case("embedding_bag", ints(6, 8), x(6, 2), OFFSETS, 0.9, mode=mode, padding_idx=padding)
case("embedding_bag", ints(6, 3, 4), x(6, 2), mode="sum", per_sample_weights=x(3, 4))
case("embedding_bag", ints(6, 8), x(6, 2), OFFSETS, mode="sum", per_sample_weights=x(8))
# Theirs divides by the counts of other rows.
case("embedding_bag", ints(6, 8), still(x(6, 2)), OFFSETS, mode="sum", scale_grad_by_freq=True)

# ---- images

for mode, value in (
    ("constant", None),
    ("constant", 2.5),
    ("reflect", None),
    ("replicate", None),
    ("circular", None),
):
    for edges in ((1, 2), (2, 1, 0, 2)):
        case("pad", x(2, 4, 5) if len(edges) == 2 else x(2, 3, 4, 5), edges, mode, value)
case("pad", x(2, 3), (-1, 1, 2, 0))
case("pad", x(2, 3, 4, 4, 5), (1, 1, 2, 0, 1, 2), "replicate")
for size in ({"size": (7, 3)}, {"size": 8}, {"scale_factor": 2}, {"scale_factor": (1.7, 0.6)},
             {"scale_factor": (1.7, 0.6), "recompute_scale_factor": True}):  # fmt: skip
    for mode in ("nearest", "nearest-exact", "area"):
        case("interpolate", x(2, 2, 4, 5), **size, mode=mode)
    for mode, corners in product(("bilinear", "bicubic"), (None, False, True)):
        case("interpolate", x(2, 2, 4, 5), **size, mode=mode, align_corners=corners)
        case("interpolate", x(2, 2, 6, 7), **size, mode=mode, align_corners=corners, antialias=True)
for mode in ("nearest", "linear", "area"):
    case("interpolate", x(2, 3, 5), 8, mode=mode)
    case("interpolate", x(2, 3, 5), 3, mode=mode)
for corners in (False, True):
    case("interpolate", x(1, 2, 3, 4, 3), (4, 5, 2), mode="trilinear", align_corners=corners)
case("upsample", x(1, 2, 3, 3), scale_factor=2)
case("upsample", x(1, 2, 3, 3), (5, 4), mode="bilinear", align_corners=True)
case("upsample_nearest", x(1, 2, 3, 3), 6)
case("upsample_bilinear", x(1, 2, 3, 3), 6)
case("pixel_shuffle", x(2, 8, 3, 2), 2)
case("pixel_unshuffle", x(2, 2, 4, 6), 2)
for shape, groups in (((2, 6, 3), 2), ((2, 6, 3, 2), 3), ((1, 4, 2, 2), 1)):
    case("channel_shuffle", x(*shape), groups)
    case("native_channel_shuffle", still(x(*shape)), groups)
for mode, padding, corners in product(
    ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
):
    case("grid_sample", x(2, 3, 4, 5), x(2, 3, 4, 2), mode, padding, corners)
    case("grid_sample", x(2, 1, 1, 4), x(2, 3, 4, 2), mode, padding, corners)
    if mode != "bicubic":
        case("grid_sample", x(2, 2, 3, 4, 5), x(2, 3, 2, 3, 3), mode, padding, corners)
for corners in (False, True):
    case("affine_grid", x(2, 2, 3), (2, 3, 4, 5), corners)
    case("affine_grid", x(2, 2, 3), (2, 3, 1, 5), corners)
    case("affine_grid", x(2, 3, 4), (2, 3, 2, 4, 3), corners)

# ---- attention

for shape, keys in (((2, 3, 5, 4), (2, 3, 6, 4)), ((3, 5, 4), (3, 5, 4)), ((5, 4), (6, 4))):
    for more in ({}, {"is_causal": True}, {"scale": 0.3}):
        case("scaled_dot_product_attention", x(*shape), x(*keys), x(*keys[:-1], 3), **more)
    for seen in (mask(shape[-2], keys[-2]), x(shape[-2], keys[-2]), x(*shape[:-1], keys[-2])):
        case("scaled_dot_product_attention", x(*shape), x(*keys), x(*keys), seen)
case("scaled_dot_product_attention", x(2, 6, 5, 4), x(2, 2, 7, 4), x(2, 2, 7, 4), enable_gqa=True)
for more in ({"is_causal": True}, {"scale": 0.3, "is_causal": True}):
    q, kv = x(2, 6, 5, 4), x(2, 2, 5, 4)
    case("scaled_dot_product_attention", q, kv, kv, None, 0.0, enable_gqa=True, **more)


def heads(query, key, **more):
    """multi_head_attention_forward of 2 heads and width 4."""
    out = (x(4, 4), x(4))
    added = (more.pop("bias_k", None), more.pop("bias_v", None), more.pop("zero", False))
    case("multi_head_attention_forward", query, key, key, 4, 2, x(12, 4), x(12), *added, 0.0, *out,
         **more)  # fmt: skip


for weights, average in ((True, True), (True, False), (False, True)):
    more = {"need_weights": weights, "average_attn_weights": average}
    heads(x(3, 2, 4), x(5, 2, 4), **more)
    heads(x(3, 4), x(5, 4), **more)
    heads(x(3, 2, 4), x(5, 2, 4), attn_mask=x(3, 5), **more)
    heads(x(3, 2, 4), x(5, 2, 4), attn_mask=x(4, 3, 5), **more)
    heads(x(3, 2, 4), x(5, 2, 4), attn_mask=fixed(*[[False, True, False, False, True]] * 3), **more)
    padding = fixed([False, False, True, True, False], [False] * 5)
    heads(x(3, 2, 4), x(5, 2, 4), key_padding_mask=padding, **more)
    heads(
        x(3, 2, 4),
        x(5, 2, 4),
        key_padding_mask=padding,
        attn_mask=fixed(*[[False, True, False, False, False]] * 3),
        **more,
    )
    heads(x(3, 2, 4), x(5, 2, 4), zero=True, attn_mask=x(3, 5), **more)
    heads(x(3, 2, 4), x(5, 2, 4), bias_k=x(1, 1, 4), bias_v=x(1, 1, 4), attn_mask=x(3, 5), **more)
    heads(x(3, 2, 4), x(5, 2, 4), static_k=x(4, 6, 2), static_v=x(4, 6, 2), **more)
    causal = np.triu(np.ones((4, 4), bool), 1)
    heads(x(4, 2, 4), x(4, 2, 4), attn_mask=causal, is_causal=True, **more)
    case("multi_head_attention_forward", x(3, 2, 4), x(5, 2, 3), x(5, 2, 6), 4, 2, None, x(12),
         None, None, False, 0.0, x(4, 4), x(4), use_separate_proj_weight=True,
         q_proj_weight=x(4, 4), k_proj_weight=x(4, 3), v_proj_weight=x(4, 6),
         **more)  # fmt: skip
    same = x(4, 2, 4)
    heads(same, same, **more)
