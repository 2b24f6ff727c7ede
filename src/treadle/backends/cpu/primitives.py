"""The primitives and dtypes that there is native code for; no compiler is loaded here."""

from __future__ import annotations

from treadle.backends.cpu.ops import JOIN, PRIMITIVES
from treadle.base.dtypes import ALL
from treadle.ops.defs import Kind

DTYPES = ALL
NAMES = {Kind.ELEMENTWISE: PRIMITIVES, Kind.REDUCE: JOIN}
"""Ops by kind; of a kind that is not here, all."""
