"""Losses of torch.nn.functional over grids of options."""

from __future__ import annotations

from itertools import product

from functional_calls import case, chance, fixed, ints, logs, pos, sign, still, x

REDUCTIONS = ("mean", "sum", "none")

# ---- of numbers

for name, reduction in product(("mse_loss", "l1_loss"), REDUCTIONS):
    for shape in ((3, 4), (), (5,)):
        case(name, x(*shape), x(*shape), reduction=reduction)
    case(name, x(3, 4), x(3, 4), reduction=reduction, weight=pos(3, 4))
for reduction, delta in product(REDUCTIONS, (1.0, 0.3)):
    case("huber_loss", x(3, 4), x(3, 4), reduction, delta)
    case("huber_loss", x(3, 4), x(3, 4), reduction, delta, pos(3, 4))
    case("smooth_l1_loss", x(3, 4), x(3, 4), reduction=reduction, beta=delta)
case("smooth_l1_loss", x(3, 4), x(3, 4), beta=0.0)
for reduction, full in product(REDUCTIONS, (True, False)):
    for var in ((3, 4), (3,), (3, 1), (1, 4)):
        case("gaussian_nll_loss", x(3, 4), x(3, 4), pos(*var), full, reduction=reduction)
    case("gaussian_nll_loss", x(3, 4), x(3, 4), 0.7, full, reduction=reduction)
    for log in (True, False):
        case("poisson_nll_loss", pos(3, 4), pos(3, 4), log, full, reduction=reduction)
case("gaussian_nll_loss", x(4, 4), x(4, 4), pos(4))
for dim, shape in ((0, (4, 3)), (1, (4, 3)), (-1, (2, 3, 4))):
    case("cosine_similarity", x(*shape), x(*shape), dim)
# Theirs lets gradients through the least length, as if it were the length itself.
case("cosine_similarity", still(x(3, 4)), still(x(1, 4)), eps=1.0)
for p, keep in product((1.0, 2.0, 3.0, float("inf")), (False, True)):
    case("pairwise_distance", x(3, 4), x(3, 4), p, keepdim=keep)
    case("pairwise_distance", x(4), x(4), p, 0.1, keep)
for p, n in product((1.0, 2.0, 3.0, float("inf")), (1, 2, 5)):
    case("pdist", x(n, 3), p)
for reduction, margin in product(REDUCTIONS, (0.0, 0.4)):
    case("cosine_embedding_loss", x(6, 4), x(6, 4), sign(6), margin, reduction=reduction)
    case("cosine_embedding_loss", x(4), x(4), sign(), margin, reduction=reduction)
    case("margin_ranking_loss", x(6), x(6), sign(6), margin, reduction=reduction)
    case("hinge_embedding_loss", x(6, 2), sign(6, 2), 1.0 + margin, reduction=reduction)
for reduction, p, swap in product(REDUCTIONS, (1, 2.0, 3), (False, True)):
    case("triplet_margin_loss", x(5, 4), x(5, 4), x(5, 4), 0.8, p, 1e-6, swap, reduction=reduction)
    case("triplet_margin_with_distance_loss", x(5, 4), x(5, 4), x(5, 4), margin=float(p), swap=swap,
         reduction=reduction)  # fmt: skip
for reduction in REDUCTIONS:
    case("soft_margin_loss", x(4, 3), sign(4, 3), reduction=reduction)
    case("multilabel_soft_margin_loss", x(4, 3), chance(4, 3), reduction=reduction)
    case("multilabel_soft_margin_loss", x(4, 3), chance(4, 3), pos(3), reduction=reduction)
    for p, margin in product((1, 2), (1.0, 0.4)):
        case("multi_margin_loss", x(5, 4), ints(4, 5), p, margin, reduction=reduction)
        case(
            "multi_margin_loss", x(5, 4), ints(4, 5), p, margin, still(pos(4)), reduction=reduction
        )
        case("multi_margin_loss", x(4), ints(4), p, margin, reduction=reduction)
    case("multilabel_margin_loss", x(5, 4), ints(4, 5, 4, low=-1), reduction=reduction)
    case("multilabel_margin_loss", x(5, 4), ints(4, 5, 4), reduction=reduction)
    case("multilabel_margin_loss", x(4), fixed(3, 1, -1, 2), reduction=reduction)

# ---- of classes

LABELLED = (
    ((4,), ()),
    ((5, 4), (5,)),
    ((2, 4, 3), (2, 3)),
    ((3, 4, 4), (3, 4)),
    ((2, 4, 3, 2), (2, 3, 2)),
)
for (shape, target), reduction, ignore in product(LABELLED, REDUCTIONS, (-100, 1)):
    more = {"reduction": reduction, "ignore_index": ignore}
    if target or ignore == -100:
        case("nll_loss", x(*shape), ints(4, *target), **more)
        case("nll_loss", x(*shape), ints(4, *target), still(pos(4)), **more)
        for smoothing in (0.0, 0.2):
            case("cross_entropy", x(*shape), ints(4, *target), label_smoothing=smoothing, **more)
            case(
                "cross_entropy",
                x(*shape),
                ints(4, *target),
                still(pos(4)),
                label_smoothing=smoothing,
                **more,
            )
for (shape, _), reduction, smoothing in product(LABELLED, REDUCTIONS, (0.0, 0.2)):
    more = {"reduction": reduction, "label_smoothing": smoothing}
    case("cross_entropy", x(*shape), chance(*shape), **more)
    case("cross_entropy", x(*shape), chance(*shape), still(pos(4)), **more)
for reduction in REDUCTIONS:
    case("linear_cross_entropy", x(5, 3), x(4, 3), ints(4, 5), reduction=reduction)
    case("linear_cross_entropy", x(5, 3), x(4, 3), ints(4, 5), linear_bias=x(4),
         weight=still(pos(4)), reduction=reduction, label_smoothing=0.1)  # fmt: skip
    case(
        "linear_cross_entropy",
        x(5, 3),
        x(4, 2, 3),
        ints(4, 5, 2),
        linear_bias=x(4, 2),
        reduction=reduction,
    )
    case("binary_cross_entropy", chance(3, 4), chance(3, 4), reduction=reduction)
    case("binary_cross_entropy", chance(3, 4), chance(3, 4), still(pos(4)), reduction=reduction)
    case("binary_cross_entropy_with_logits", x(3, 4), chance(3, 4), reduction=reduction)
    case(
        "binary_cross_entropy_with_logits",
        x(3, 4),
        chance(3, 4),
        still(pos(4)),
        reduction=reduction,
    )
    case(
        "binary_cross_entropy_with_logits",
        x(3, 4),
        chance(3, 4),
        reduction=reduction,
        pos_weight=still(pos(4)),
    )
for reduction, log in product((*REDUCTIONS, "batchmean"), (False, True)):
    case(
        "kl_div",
        logs(3, 4),
        logs(3, 4) if log else chance(3, 4),
        reduction=reduction,
        log_target=log,
    )
for reduction, zero in product(REDUCTIONS, (False, True)):
    more = {"reduction": reduction, "zero_infinity": zero}
    case("ctc_loss", logs(9, 3, 5), ints(5, 3, 4, low=1), fixed(9, 7, 8), fixed(4, 2, 3), **more)
    case("ctc_loss", logs(9, 3, 5), ints(5, 8, low=1), (9, 9, 9), (3, 1, 4), **more)
    case("ctc_loss", logs(9, 3, 5), ints(4, 3, 4), fixed(9, 7, 8), fixed(4, 0, 3), blank=4, **more)
    case("ctc_loss", logs(6, 5), ints(5, 2, low=1), (6,), (2,), **more)
case(
    "ctc_loss",
    logs(4, 2, 5),
    ints(2, 2, 4, low=1),
    (4, 4),
    (4, 1),
    zero_infinity=True,
    reduction="sum",
)
case("ctc_loss", logs(30, 2, 6), ints(6, 2, 10, low=1), (30, 22), (10, 6))
