"""Every row that the table says runs on CUDA: compiled for sm_90, interpreted against NumPy."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

from cuda_rows import (
    COMPILED,
    DIFFERENTIABLE,
    PAIRS,
    ROWS,
    SAMPLED,
    USUAL,
    compile_row,
    interpret_gradient,
    interpret_row,
    label,
)  # fmt: skip
from triton_host import INTERPRETED

from treadle.base.dtypes import complex64

compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")


@compiled
@pytest.mark.parametrize(("name", "kind"), [p for p in PAIRS if p[1] in COMPILED], ids=label)
def test_row_compiles_for_sm_90(name, kind):
    compile_row(name, kind)


@interpreted
@pytest.mark.parametrize(("name", "kind"), [p for p in PAIRS if p[1] in USUAL], ids=label)
def test_interpreted_row_gives_what_numpy_gives(name, kind):
    interpret_row(name, kind)


@interpreted
@pytest.mark.parametrize(("name", "kind"), [p for p in SAMPLED if p[1] is complex64], ids=label)
def test_interpreted_row_of_complex_numbers_gives_what_numpy_gives(name, kind):
    interpret_row(name, kind)


@interpreted
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_interpreted_gradient_gives_what_numpy_gives(name):
    interpret_gradient(name)


def test_no_row_is_left_out():
    assert set(ROWS) == {name for name, _ in PAIRS}
