"""torch.nn.functional on inputs that nobody plans for: empty axes, NaN, narrow and whole dtypes.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.nn import functional as ours

torch = pytest.importorskip("torch")
theirs = torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

TOLERANCE = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 2e-4, "float64": 1e-7}


class Odd:
    """An operand: normal floats, or what else its dtype holds, some of them NaN and infinite."""

    def __init__(self, *shape, kind="float32", special=False, view="", seed=0):
        self.shape, self.kind, self.special = shape, kind, special
        self.view, self.seed = view, seed

    def __repr__(self):
        return f"{self.kind}{list(self.shape)}{'!' * self.special}{self.view}"

    def both(self):
        rng = np.random.default_rng(self.seed)
        shape = self.shape[::-1] if self.view == "turned" else self.shape
        shape = tuple(2 * n for n in shape) if self.view == "steps" else shape
        values = rng.standard_normal(shape)
        if self.kind in ("int32", "int64", "uint8", "bool"):
            values = rng.integers(0, 4, shape)
        if self.special:
            values.reshape(-1)[::3] = np.nan
            values.reshape(-1)[1::3] = np.inf
        found = [
            torch.tensor(values).to(getattr(torch, self.kind)),
            td.tensor(values).cast(self.kind),
        ]
        if self.view == "turned":
            return [x.permute(*range(x.ndim)[::-1]) for x in found]
        if self.view == "steps":
            return [x[(slice(None, None, 2),) * x.ndim] for x in found]
        return found


def given(value, k):
    if isinstance(value, Odd):
        return value.both()[k]
    return (torch.tensor, td.tensor)[k](value) if isinstance(value, np.ndarray) else value


def flat(found):
    return list(found) if isinstance(found, tuple) else [found]


def assert_same(name, args, options, tolerance=None):
    calls = [
        getattr(space, name)(
            *(given(value, k) for value in args),
            **{word: given(value, k) for word, value in options.items()},
        )
        for k, space in enumerate((theirs, ours))
    ]
    for yours, mine in zip(*map(flat, calls), strict=True):
        kind = str(yours.dtype).removeprefix("torch.")
        assert (mine.dtype.name, mine.shape) == (kind, tuple(yours.shape))
        least = TOLERANCE.get(kind, 0) if tolerance is None else tolerance
        pair = (mine.cast("float64").numpy(), yours.double().numpy())
        np.testing.assert_allclose(*pair, rtol=least, atol=least)


LABELS = np.array([0, 3, 1])
BLIND = np.zeros((4, 5), bool)
EMPTY = ((0, 3, 6, 5), (2, 0, 6, 5), (2, 3, 1, 1), (3, 6, 5))
CASES = [
    ("linear", (Odd(2, 3), Odd(3)), {}),
    ("linear", (Odd(3), Odd(3)), {}),
    ("linear", (Odd(2, 0), Odd(4, 0), Odd(4)), {}),
    ("linear", (Odd(0, 3), Odd(4, 3), Odd(4)), {}),
    ("linear", (Odd(2, 5, 3, view="turned"), Odd(4, 3, view="steps"), Odd(1)), {}),
    ("grid_sample", (Odd(0, 3, 4, 5), Odd(0, 3, 2, 2)), {}),
    ("nll_loss", (Odd(3, 4), LABELS.astype(np.uint8)), {}),
    ("nll_loss", (Odd(3, 4), LABELS.astype(np.uint8), Odd(4)), {"ignore_index": 3}),
    ("kl_div", (Odd(3, 4), Odd(3, 4, seed=1)), {"reduction": "none"}),  # targets below 0
    ("kl_div", (Odd(3, 4), np.array([0.0, 0.5, 0.5, 0.0])[None].repeat(3, 0)), {}),
    ("cross_entropy", (Odd(3, 4), np.ones(3, int)), {"ignore_index": 1}),
    ("cross_entropy", (Odd(0, 4), np.zeros(0, int)), {}),
    ("cross_entropy", (Odd(0, 4), np.zeros(0, int)), {"reduction": "sum"}),
    *(("rms_norm", (Odd(2, n, kind=kind), (n,)), {}) for n in (1, 4) for kind in TOLERANCE),
    *(
        ("rms_norm", (np.full((2, 8), 1e-3, "f4"), (8,)), {"weight": weight})
        for weight in (None, Odd(8))
    ),
    *(
        ("grid_sample", (Odd(2, 3, 4, 5), Odd(2, 3, 2, 2, seed=3, special=True)),
         {"mode": mode, "padding_mode": padding, "align_corners": corners})
        for mode in ("bilinear", "nearest") for padding in ("border", "reflection")
        for corners in (False, True)
    ),
    *(
        ("scaled_dot_product_attention",
         (Odd(2, 4, d), Odd(2, n, d, seed=1), Odd(2, n, 3, seed=2), seen), {})
        for n, d, seen in (
            (0, 8, None), (0, 8, BLIND[:, :0]), (0, 8, Odd(4, 0)), (5, 0, None), (5, 0, BLIND),
            (5, 0, Odd(4, 5)), (5, 8, BLIND), (1, 1, None),
        )
    ),
    *(("max_pool2d", (Odd(3, 6, 5, kind=kind), 2), {}) for kind in ("int64", "uint8", "float16")),
    *(
        (name, (Odd(*shape), 1), {"return_indices": True})
        for name in ("max_pool2d", "adaptive_max_pool2d") for shape in EMPTY if shape[1]
    ),
    *(
        (name, (Odd(*shape, view=view),), {})
        for name in ("gelu", "softplus", "hardswish") for shape in ((0, 3), (1, 1), (3, 4))
        for view in ("turned", "steps")
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "args", "options"), CASES, ids=[f"{k}-{case[0]}" for k, case in enumerate(CASES)]
)
def test_it_is_what_theirs_is(name, args, options):
    assert_same(name, args, options)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_pictures_of_bytes_stay_so_and_differ_by_rounding(mode, antialias):
    pixels = np.random.default_rng(0).integers(0, 256, (1, 3, 9, 7)).astype(np.uint8)
    for size in ((3, 7), (12, 11)):
        options = {"size": size, "mode": mode, "antialias": antialias}
        assert_same("interpolate", (pixels,), options, tolerance=2)
