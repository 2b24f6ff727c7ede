"""How close the value of a row must come to the one that NumPy gives in float64."""

from __future__ import annotations

import numpy as np

from treadle.base.dtypes import DType
from treadle.ops.defs import Kind
from treadle.testing.arrays import Array, array_type, unit_roundoff
from treadle.testing.samples import Case

ROUNDINGS = 6  # of a result computed in several steps, as a multiple of one rounding


def check_close(case: Case, result: Array, expected: Array, kind: DType) -> None:
    """Raise AssertionError where a result of a dtype is not what is expected: exact, or close."""
    if result.shape != expected.shape:
        raise AssertionError(f"{case}: shape {result.shape}, expected {expected.shape}")
    if not kind.is_inexact:
        limited = expected.astype(result.dtype) if expected.dtype.kind != "f" else expected
        np.testing.assert_array_equal(result, limited, err_msg=repr(case))
        return
    chosen = kind.part.mantissa > 8 and expected.size > 4 and _is_chosen(case, expected)
    with np.errstate(invalid="ignore", over="ignore"):
        wide = _widened(result)
        expected = _widened(expected.astype(array_type(kind)))  # overflow as it would
    if chosen:
        np.testing.assert_array_equal(wide, expected, err_msg=repr(case))
        return
    np.testing.assert_allclose(
        wide, expected, rtol=ROUNDINGS * unit_roundoff(kind),
        atol=bound(case, expected, kind), err_msg=repr(case),
    )  # fmt: skip


def _widened(x: Array) -> Array:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _is_chosen(case: Case, expected: Array) -> bool:
    """Are all elements those of operands, or 0? Where there are some, that is no accident."""
    floats = [_widened(x).ravel() for x in case.operands if x.dtype.kind in "fcV"]
    return bool(np.isin(expected[~np.isnan(expected)], np.concatenate([*floats, [0.0]])).all())


def bound(case: Case, expected: Array, kind: DType) -> float:
    """Roundings of the largest number involved; of a sum, growing with the root of its length."""
    with np.errstate(invalid="ignore"):
        parts = [np.abs(_widened(x)) for x in (*case.operands, expected) if x.size]
    finite = [part[np.isfinite(part)].max(initial=0.0) for part in parts]
    single = case.op.kind is Kind.ELEMENTWISE or not case.op.samples.cases
    largest = max([1.0, *(finite[-1:] if single else finite)])
    terms = 1 if single else max([1, *(x.size for x in case.operands)])
    return float(ROUNDINGS * unit_roundoff(kind) * largest * np.sqrt(terms))
