"""When Python looks for garbage: not while a program is made, of which nearly all is in use.

The collector goes through every object there is each time their number has grown by a quarter, and
planning makes hundreds of thousands: it would find nothing, and take a fifth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 50_000  # objects: it takes a while to go through more of them


@contextmanager
def uncollected() -> Iterator[None]:
    """A with block in which the collector rests.

    Of several threads, the last that found it at work starts it again, and maybe too early for
    others, which costs them time alone.
    """
    works = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if works:
            if gc.get_count()[0] > MANY and not gc.get_freeze_count():
                gc.freeze()  # together these two count all there is as old, and go through nothing
                gc.unfreeze()
            gc.enable()
