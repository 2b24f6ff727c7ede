"""Every row along sizes that are not known: the numbers of the exact size, or a refusal."""

from __future__ import annotations

import pytest

from treadle.testing.dim_cases import REFUSED, served
from treadle.testing.samples import public_rows


@pytest.mark.parametrize("name", public_rows())
def test_a_row_along_a_dim_gives_the_numbers_of_the_exact_size(name):
    count = served(name, "cpu")
    if count is None:
        pytest.skip("its sample has no size to vary")
    assert bool(count) is (name not in REFUSED)
