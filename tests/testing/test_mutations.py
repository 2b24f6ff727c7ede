"""Every planted bug still has its place in the sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import MUTATIONS

import treadle

SOURCES = Path(treadle.__file__).parent


@pytest.mark.parametrize("number", range(len(MUTATIONS)))
def test_a_bug_can_be_planted(number):
    mutation = MUTATIONS[number]
    text = (SOURCES / mutation.file).read_text("utf-8")
    assert text.count(mutation.old) == 1
    compile(text.replace(mutation.old, mutation.new), mutation.file, "exec")


def test_there_are_enough():
    assert len(MUTATIONS) >= 30
    assert len({m.file.partition("/")[0] for m in MUTATIONS}) >= 7
