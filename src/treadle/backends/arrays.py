"""The NumPy dtype that has the elements of one of ours."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from treadle.base.dtypes import DType


@cache
def numpy_dtype(d: DType) -> Any:
    """The NumPy dtype with the same elements."""
    return np.dtype(getattr(ml_dtypes, d.name, d.name))
