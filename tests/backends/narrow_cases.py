"""Numbers at which conversions to 8 bits can go wrong."""

from __future__ import annotations

import ml_dtypes
import numpy as np

FLOAT8 = ("float8_e4m3fn", "float8_e5m2")


def every_byte(kind):
    """All 256 numbers of a float8 type."""
    return np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, kind))


def floats_around(kind):
    """float32: every number of the type, every midpoint, the neighbours of both, and odd ones."""
    finite = every_byte(kind)[:128].astype(np.float32)
    finite = np.sort(finite[np.isfinite(finite)])
    last = finite[-1] - finite[-2]
    ladder = np.concatenate([finite, [finite[-1] + last, finite[-1] + 2 * last]])
    middles = (ladder[1:] + ladder[:-1]) / 2
    exact = np.concatenate([ladder, middles]).astype(np.float32)
    near = [exact, *(np.nextafter(exact, np.float32(end)) for end in (-np.inf, np.inf))]
    odd = [np.inf, np.nan, 1e-45, 1e-40, np.finfo(np.float32).tiny, np.finfo(np.float32).max]
    positive = np.concatenate([*near, np.array(odd, np.float32)]).astype(np.float32)
    return np.concatenate([positive, -positive])
