"""How exactly float32 products are computed is set once, and programs are known by it."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.base.errors import ArgumentError
from treadle.base.knobs import MEANING


def test_it_is_what_was_set_and_programs_are_known_by_it():
    assert td.get_matmul_precision() == "highest"
    before = MEANING.value
    try:
        td.set_matmul_precision("high")
        assert td.get_matmul_precision() == "high"
        assert MEANING.value != before
    finally:
        td.set_matmul_precision("highest")
    assert MEANING.value == before


def test_what_it_does_not_know_it_says():
    with pytest.raises(ArgumentError, match="one of highest, high, medium"):
        td.set_matmul_precision("low")
