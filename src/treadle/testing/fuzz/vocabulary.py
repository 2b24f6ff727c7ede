"""Every kind of statement, and how often each is drawn."""

from __future__ import annotations

from treadle.testing.fuzz.arithmetic import ELEMENTS, LINES, PRODUCTS, ROWS
from treadle.testing.fuzz.generate import Draw
from treadle.testing.fuzz.views import INDICES, VIEWS

VALUES: tuple[Draw, ...] = (*VIEWS * 2, *ELEMENTS * 2, *ROWS * 2, *LINES * 2, *PRODUCTS * 4, *INDICES * 2)
EVERY: tuple[Draw, ...] = VALUES
