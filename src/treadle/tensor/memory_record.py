"""`record_memory`: an account of what is held, line by line and moment by moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treadle.base.knobs import MEANING
from treadle.ir.recording import RECORDING
from treadle.runtime.ledger import LEDGERS, Ledger
from treadle.tensor.living import live_nodes, live_values

BEFORE = "before the recording"


@contextmanager
def record_memory() -> Iterator[Ledger]:
    """Who takes memory within a with block, at which line, and who held it at the peak.

    Compiled functions are traced once more for it. Print the result, or ask it: `peak_bytes()`,
    `at_peak()`, `live()` and `changes()`, each of a device.

    >>> import treadle as td
    >>> with record_memory() as memory:
    ...     x = td.ones(1000).realize()
    >>> memory.peak_bytes() >= 4000
    True
    """
    ledger = Ledger()
    for value in live_values(live_nodes()):
        ledger.add(value.memory, value.type, value.line or BEFORE)
    MEANING.accounts += 1
    MEANING.follow()
    LEDGERS.append(ledger)
    RECORDING.given.append(ledger.add_leaf)
    try:
        yield ledger
    finally:
        ledger.close()
        RECORDING.given.remove(ledger.add_leaf)
        LEDGERS.remove(ledger)
        MEANING.accounts -= 1
        MEANING.follow()
