"""Every kind of statement, and how often each is drawn."""

from __future__ import annotations

from treadle.testing.fuzz.arithmetic import ELEMENTS, LINES, ROWS
from treadle.testing.fuzz.generate import Draws
from treadle.testing.fuzz.keepers import KEEPERS
from treadle.testing.fuzz.products import PRODUCTS
from treadle.testing.fuzz.scenes import scene
from treadle.testing.fuzz.slopes import gradient, nested, rejoined
from treadle.testing.fuzz.state import SHARING, STATES, call_again, function
from treadle.testing.fuzz.views import INDICES, VIEWS

VALUES: Draws = (
    (24, VIEWS), (24, ELEMENTS), (18, ROWS), (10, LINES), (20, PRODUCTS), (14, INDICES),
)  # fmt: skip
BINDING: Draws = ((1, STATES),)
FUNCTIONS = (function(VALUES, BINDING), call_again)
SLOPES = (gradient(VALUES), gradient(VALUES), gradient(VALUES), nested, rejoined)
STORIES = (scene(VALUES),)
EVERY: Draws = (
    *VALUES, (6, STATES), (8, SHARING), (12, FUNCTIONS), (14, SLOPES), (3, STORIES), (7, KEEPERS),
)  # fmt: skip
