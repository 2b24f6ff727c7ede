"""The primitives and dtypes that there is code for on GPUs; Triton is not loaded here."""

from __future__ import annotations

from treadle.backends.cuda.ops import JOINS, PRIMITIVES
from treadle.base.dtypes import ALL
from treadle.ops.defs import Kind

DTYPES = ALL
RUNNING = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
NAMES = {
    Kind.ELEMENTWISE: PRIMITIVES,
    Kind.REDUCE: ("sum", *JOINS),
    Kind.SCAN: (*RUNNING, "argsort"),
    Kind.ROUTINE: (),
}
"""Ops by kind; of a kind that is not here, all."""
