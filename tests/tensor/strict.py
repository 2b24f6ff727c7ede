"""A call of the array API on both sides: array_api_strict says what is right."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np

import treadle as td

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
INTEGERS, FLOATS = (*SIGNED, *UNSIGNED), ("float32", "float64")
NUMERIC, ALL = (*INTEGERS, *FLOATS), ("bool", *INTEGERS, *FLOATS)
SHAPES = ((), (1,), (7,), (3, 4), (0,), (2, 0, 3), (2, 1, 5))
MIXED = [
    (one, other) for group in (("bool",), SIGNED, UNSIGNED, FLOATS, (*SIGNED, *UNSIGNED[:3]))
    for one in group for other in group
]  # fmt: skip
"""Pairs of dtypes that the standard promotes."""

SPECIAL = (
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, -2.5, 3.0, -3.0, 3.75,
    -7.25, 1e-30, -1e-30, 1e30, -1e30, 88.0, -104.0,
)  # fmt: skip
"""Every kind of number that the standard's tables of special cases tell apart."""


def draw(rng, dtype, shape, low=-9, high=9):
    """Random elements that are exact in every dtype: few of them twice, both ends of integers."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in UNSIGNED:
        low = max(low, 0)
    return rng.integers(low, high + 1, shape).astype(dtype)


def strict(value):
    """An array, or whatever holds arrays, as array_api_strict has it."""
    if isinstance(value, np.ndarray | np.generic):
        return xp.asarray(np.array(value))  # its own: operators in place write there
    return type(value)(map(strict, value)) if isinstance(value, list | tuple) else value


def ours(value):
    """An array, or whatever holds arrays, as a tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return td.asarray(np.array(value))
    return type(value)(map(ours, value)) if isinstance(value, list | tuple) else value


def agree(found, expected, ulps=8):
    """The same dtype, shape and values, NaN and the sign of zero included."""
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other, ulps)
        return
    if not hasattr(expected, "dtype"):
        assert found == expected
        assert type(found) is type(expected)
        return
    expected = np.asarray(expected._array)
    assert found.dtype.name == expected.dtype.name
    assert found.shape == expected.shape
    values = found.numpy()
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(values, expected)
        return
    np.testing.assert_allclose(values, expected, rtol=ulps * np.finfo(expected.dtype).eps, atol=0)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(values[zero]), np.signbit(expected[zero]))


class Calls:
    """Calls of one function on both sides; ours are computed together, so compiled once."""

    def __init__(self, name, ulps=8, given=lambda *operands: operands):
        self.name, self.ulps, self.pairs = name, ulps, []
        self.given = given  # operands as the other side has them

    def add(self, *operands, **options):
        given = {key: strict(value) for key, value in options.items()}
        own = {key: ours(value) for key, value in options.items()}
        if "dtype" in options:
            given["dtype"] = getattr(xp, options["dtype"])
            own["dtype"] = getattr(td, options["dtype"])
        expected = getattr(xp, self.name)(*map(strict, self.given(*operands)), **given)
        found = getattr(td, self.name)(*map(ours, operands), **own)
        self.pairs.append((found, expected, (operands, options)))

    def check(self):
        td.realize(*(x for found, _, _ in self.pairs for x in _tensors(found)))
        wrong = []
        for found, expected, call in self.pairs:
            try:
                agree(found, expected, self.ulps)
            except AssertionError as error:
                wrong.append(f"{self.name}{_shown(call)}: {error}")
        assert self.pairs
        assert not wrong, "\n\n".join(wrong[:6]) + f"\n{len(wrong)} of {len(self.pairs)}"


def _shown(value):
    """Arrays by dtype and shape."""
    if isinstance(value, list | tuple):
        return tuple(map(_shown, value))
    small = not isinstance(value, np.ndarray) or value.size < 9
    return value if small else f"{value.dtype}{value.shape}"


def _tensors(found):
    if isinstance(found, list | tuple):
        return [x for part in found for x in _tensors(part)]
    return [found] if isinstance(found, td.Tensor) else []


def line(dtype):
    """Special numbers, or both ends of an integer type and what lies around 0."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        return np.array(SPECIAL, dtype)
    info = np.iinfo(dtype)
    around = range(max(info.min, -5), 6)
    return np.array([info.min, info.min + 1, *around, 63, info.max - 1, info.max], dtype)
