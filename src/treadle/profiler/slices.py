"""Which of the records are a profile's that began while another one was under way."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from treadle.base.watch import FIELDS, RECORD, Kind, Place, Records


def own_records(
    records: Sequence[Records], events: Sequence[Any], since: Place
) -> Sequence[Records]:
    """Records of launches that began or ended since then; earlier ones are another profile's."""
    if not since.launch:
        return records
    columns = zip(events[0::FIELDS], events[5::FIELDS], strict=True)
    ended = [more[0] for kind, more in columns if kind == Kind.CALL]
    lost = sum(source.lost for source in records) - since.lost
    found = []
    for source in records:
        own = copy(source)
        words = np.frombuffer(source.words, np.int64)[source.first :][: RECORD * source.size]
        numbers = words[::RECORD]
        mine = np.flatnonzero((numbers > since.launch) | np.isin(numbers, ended))
        own.words, own.first, own.size = (
            words.reshape(source.size, RECORD)[mine].ravel(),
            0,
            len(mine),
        )
        own.lost, lost = lost, 0  # of all of them, once
        found.append(own)
    return found
