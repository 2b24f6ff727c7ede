"""The primitives and dtypes that there is code for on GPUs; Triton is not loaded here."""

from __future__ import annotations

from treadle.backends.cuda.ops import JOINS, PRIMITIVES
from treadle.base.dtypes import ALL
from treadle.ops.defs import Kind

DTYPES = ALL
RUNNING = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
PRODUCTS = ("dft", "rdft", "irdft")  # recorded as products with matrices of roots of unity
NAMES = {
    Kind.ELEMENTWISE: PRIMITIVES,
    Kind.REDUCE: ("sum", *JOINS),
    Kind.SCAN: (*RUNNING, "argsort", *PRODUCTS),
}
"""Ops by kind; of a kind that is not here, all: routines are run by the host (on_host.py)."""
