"""Rows of linear algebra, which users find in `td.linalg`; loaded with it."""

from treadle.ops.linalg import factors, matrices, solving, spectral

__all__ = ["factors", "matrices", "solving", "spectral"]
