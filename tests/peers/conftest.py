"""What comparisons with PyTorch share."""

from __future__ import annotations

import pytest


@pytest.fixture
def numbers_in_double():
    """Where PyTorch counts in its default dtype, it does so in float64."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
