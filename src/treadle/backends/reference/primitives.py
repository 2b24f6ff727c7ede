"""The primitives and dtypes that NumPy evaluates: every row has its reference, so all."""

from __future__ import annotations

from collections.abc import Collection

from treadle.base.dtypes import ALL
from treadle.ops.defs import Kind

DTYPES = ALL
NAMES: dict[Kind, Collection[str]] = {}
