"""Every op that PyTorch has too, where numbers need care: finite where theirs is, and the same.

Zeros, ones, ties, saturation, subnormals and infinities go through every row, in all operands at
once and in one after the other. Run by `make test-torch`.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from torch_rows import ROWS, listed, theirs_of, torch

import treadle as td
from treadle.base.dtypes import dtype, float32, float64
from treadle.ops.defs import Kind
from treadle.testing.samples import Case, cases, takes

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same'"),
    pytest.mark.filterwarnings("ignore:reduction. 'mean' divides"),
    pytest.mark.filterwarnings("ignore:std.*degrees of freedom"),
    pytest.mark.filterwarnings("ignore:var.*degrees of freedom"),
    pytest.mark.filterwarnings("ignore:A window was not provided"),
]
inf = float("inf")
LARGEST_CASE = 2000  # elements
TOLERANCE = {"float32": 2e-4, "float64": 1e-8}  # of the largest number, or of 1

SINGLE = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 20.0, -20.0, 100.0, -100.0, 1e4, -1e4, inf, -inf)
MIXED = {
    "zeros and ones": (0.0, 1.0), "ties": (-1.0, -0.0, 0.0, 1.0),
    "saturated": (-1e4, -100.0, -20.0, 0.0, 20.0, 100.0, 1e4, 1.0, -1.0),
    "chances": (0.0, 1.0, 1 - 2.0**-24, 2.0**-24, 0.5),
    "some inf": (inf, 0.0, 1.0, -1.0), "some -inf": (-inf, 0.0, 1.0, -1.0),
}  # fmt: skip
LARGE = ("100", "-100", "10000", "-10000", "saturated")
TINY = ("subnormal", "tiny")
ENDLESS = ("inf", "-inf", "some inf", "some -inf")
EVERYWHERE = ("all", *map("{:g}".format, SINGLE), *MIXED, *TINY)

TIES = (
    "clamp", "clip", "fmax", "fmin", "quantile", "nanquantile", "topk", "kthvalue", "mode", "cdist",
)  # fmt: skip
TIED = "which of equal elements gets a gradient is a choice"
NOISE = "what is left of numbers that cancel is their rounding"
PADDED = (
    "padding holds zeros, and 0 * inf is NaN; a transposed convolution is one of a padded image"
)
SINGULAR = "of a singular matrix there are several factors, and no gradient of any"
FACTORS = (
    "cholesky_ex", "cond", "det", "eig", "eigvals", "eigvalsh", "householder_product", "inv_ex",
    "lu", "lu_factor", "matrix_norm", "matrix_rank", "pinv", "qr", "slogdet", "solve",
    "solve_triangular", "svd", "svdvals",
)  # fmt: skip
OTHERWISE = {
    # ours: where it may differ, and why
    **dict.fromkeys(FACTORS, (EVERYWHERE, SINGULAR)),
    **{
        f"{kind}_pool{n}d": (EVERYWHERE, TIED)
        for kind in ("max", "adaptive_max")
        for n in (1, 2, 3)
    },
    **dict.fromkeys(TIES, (EVERYWHERE, TIED)),
    **dict.fromkeys(("batch_norm", "instance_norm", "layer_norm"), (LARGE, NOISE)),
    "group_norm": ((*LARGE, "20", "-20"), NOISE),
    "angle": (("-0", "ties", "all"), "NumPy's: pi at -0"),
    "bucketize": (EVERYWHERE, "the boundaries are not sorted here"),
    "histogram": (TINY, "densities of bins without a width"),
    "cov": (TINY, "weights of which the sum is nothing"),
    "cumulative_prod": ((*TINY, *ENDLESS), "it divides by elements"),
    "matrix_exp": (("-10000", *ENDLESS), NOISE),
    "mvlgamma": (EVERYWHERE, "below (p - 1) / 2 it is not defined"),
    "polar": (("all",), "theirs has no gradient of an absolute value of 0"),
    "stft": (ENDLESS, "0 * inf is NaN"),
    "binary_cross_entropy": (TINY, "the gradient of its target is that of a logarithm not clamped"),
    "celu": (EVERYWHERE, "theirs rounds 1 / alpha to float32"),
    "conv2d": (ENDLESS, PADDED),
    **{f"conv_transpose{n}d": (ENDLESS, PADDED) for n in (1, 2, 3)},
    "cumprod": ((*TINY, *ENDLESS), "it divides by elements; theirs looks for lines of one"),
    "prod": (ENDLESS, "it divides by elements"),
    "scatter": (EVERYWHERE, "theirs has gradients of values that others have overwritten"),
    "scatter_mul": (TINY, "it divides by elements"),
    "scatter_reduce": (EVERYWHERE, TIED),
    "hypot": (("all",), "what it divides by is rounded to a subnormal"),
    "logcumsumexp": (LARGE, "it is exp of logarithms, which are rounded"),
    "scaled_dot_product_attention": ((*LARGE, *ENDLESS), NOISE),
    "searchsorted": (EVERYWHERE, "the elements are not sorted here"),
    **dict.fromkeys(("std", "std_mean"), (TINY, "squares of such numbers are 0")),
}


def points(kind):
    """Names of special points, and the numbers that stand there."""
    limits = np.finfo(kind)
    least, tiny = float(limits.smallest_subnormal), float(limits.tiny)
    return {
        **{f"{x:g}": (x,) for x in SINGLE}, **MIXED,
        "subnormal": (least,), "tiny": (least, -least, tiny, -tiny, 0.0),
    }  # fmt: skip


def filled(case, kind, rng):
    """The case with special numbers in all operands, and in one after the other."""
    floats = [k for k, x in enumerate(case.operands) if x.dtype == kind]
    for name, numbers in points(kind).items():
        for chosen in [floats, *([[k] for k in floats] if len(floats) > 1 else [])]:
            operands = [
                rng.choice(np.array(numbers, kind), x.shape).astype(kind) if k in chosen else x
                for k, x in enumerate(case.operands)
            ]
            yield name, Case(case.op, operands, case.arguments, case.options)


def every_pair(op, case, kind):
    """An elementwise row on all special numbers at once, each with each other."""
    numbers = [x for group in points(kind).values() for x in group]
    grid = np.meshgrid(*[np.array([*numbers, -0.5, 2.5, 3.0], kind)] * len(case.operands))
    return Case(op, [x.reshape(-1) for x in grid], case.arguments, case.options)


def special(op, kind, rng):
    """(name of the points, case) of a row."""
    plain = op.kind is Kind.ELEMENTWISE or (op.kind is Kind.COMPOSITE and not op.samples.cases)
    for case in cases(op, dtype(kind), rng):
        if plain and len(case.operands) <= 2:
            yield "all", every_pair(op, case, kind)
            return
        if 0 < sum(x.size for x in case.operands) <= LARGEST_CASE:
            yield from filled(case, kind, rng)


def both(case, kind, name):
    """Values and gradients of a case, ours and theirs; None where they have no such form."""
    leaves = [torch.tensor(x, requires_grad=x.dtype == kind) for x in case.operands]
    try:
        theirs = theirs_of(case, leaves)
    except (RuntimeError, TypeError, IndexError, NotImplementedError, ValueError):
        return None
    inputs = [td.tensor(x, requires_grad=x.dtype == kind) for x in case.operands]
    ours = listed(case.record(inputs))
    both = list(zip(ours, theirs, strict=False))  # of some they give values alone
    pairs = [("value", a, b) for a, b in both]
    outputs = [(a, b) for a, b in both if b.requires_grad]
    defined = name == "all" or not any(bool(b.isnan().any()) for b in theirs)
    if outputs and defined and not isinstance(case.op.grad, str):
        rng = np.random.default_rng(0)
        weights = [rng.uniform(0.5, 1.5, b.shape).astype(a.dtype.name) for a, b in outputs]
        wrt = [k for k, x in enumerate(leaves) if x.requires_grad]
        try:
            wanted = torch.autograd.grad(
                [b for _, b in outputs], [leaves[k] for k in wrt],
                [torch.tensor(w) for w in weights], materialize_grads=True,
            )  # fmt: skip
        except RuntimeError:  # they have no derivative, or one that does not work
            wanted = None
    else:
        wanted = None
    if wanted is not None:
        seeds = [td.tensor(w) for w in weights]
        found = td.gradients([a for a, _ in outputs], [inputs[k] for k in wrt], seeds)
        pairs += [(f"gradient {k}", a, b) for k, a, b in zip(wrt, found, wanted, strict=True)]
    return [(what, a.numpy(), b.detach().numpy()) for what, a, b in pairs]


def differences(case, kind, name):
    """Where PyTorch has a finite number and ours is another."""
    found = both(case, kind, name) or []
    for what, ours, theirs in found:
        value = found[0][2]
        known = np.isfinite(theirs)
        if name == "all" and value.shape == theirs.shape:  # of an infinite value no slope is asked
            known &= np.isfinite(value)
        largest = np.abs(theirs[known]).max(initial=1.0)
        with np.errstate(all="ignore"):
            apart = np.abs(np.where(known, ours, 0.0) - np.where(known, theirs, 0.0))
            wrong = ~(apart <= TOLERANCE[np.dtype(kind).name] * largest)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            where = [x[at].item() if x.shape == wrong.shape else x.tolist() for x in case.operands]
            yield f"{what} at {where}: {ours[at]} for {theirs[at]}"


@pytest.mark.parametrize("kind", [float32, float64], ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", ROWS)
def test_finite_and_the_same_where_torch_is(name, kind):
    op = ROWS[name]
    if not takes(op, kind) or name.startswith("unique"):
        pytest.skip("takes no floats, or theirs has no gradient")
    rng = np.random.default_rng(zlib.crc32(f"{name}{kind.name}".encode()))
    wrong = {}
    for where, case in special(op, np.dtype(kind.name), rng):
        for difference in differences(case, np.dtype(kind.name), where):
            wrong.setdefault(where, f"{case}: {difference}")
    expected, _ = OTHERWISE.get(name, ((), ""))
    assert not {where: said for where, said in wrong.items() if where not in expected}
