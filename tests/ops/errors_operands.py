"""Operands that wrong calls are made with."""

from __future__ import annotations

import numpy as np

import treadle as td


class Thing:
    """Something that is no tensor and no number."""


GREEK = "alpha"
x = td.tensor(np.arange(12.0, dtype=np.float32).reshape(3, 4))
v = td.tensor(np.arange(4.0, dtype=np.float32))
w = td.tensor(np.arange(4.0, dtype=np.float32))
i = td.tensor(np.arange(4))
i8, u8 = i.cast("int8"), i.cast("uint8")
b = td.tensor(np.array([True, False, True, True]))
scalar, empty = td.tensor(1.0), td.ones(0)
far = td.tensor([1.0, 2.0, 3.0, 4.0], device="reference")
image = td.ones(1, 3, 8, 8)
