"""Every kind of statement, and how often each is drawn."""

from __future__ import annotations

from treadle.testing.fuzz.arithmetic import ELEMENTS, LINES, PRODUCTS, ROWS
from treadle.testing.fuzz.generate import Draw
from treadle.testing.fuzz.scenes import scene
from treadle.testing.fuzz.slopes import gradient, nested
from treadle.testing.fuzz.state import SHARING, STATES, call_again, function
from treadle.testing.fuzz.views import INDICES, VIEWS

VALUES: tuple[Draw, ...] = (
    *VIEWS * 2, *ELEMENTS * 2, *ROWS * 2, *LINES * 2, *PRODUCTS * 4, *INDICES * 2,
)  # fmt: skip
FUNCTIONS: tuple[Draw, ...] = (function(VALUES, STATES), call_again)
SLOPES: tuple[Draw, ...] = (*(gradient(VALUES),) * 3, nested)
STORIES: tuple[Draw, ...] = (scene(VALUES),)
EVERY: tuple[Draw, ...] = (
    *VALUES * 4, *STATES * 8, *SHARING * 4, *FUNCTIONS * 20, *SLOPES * 10, *STORIES * 12,
)  # fmt: skip
