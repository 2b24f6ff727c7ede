"""Rows of linear algebra, which users find in `td.linalg`; loaded with it."""

from treadle.ops.linalg import determinants, eigen, factors, matrices, solving, spectral

__all__ = ["determinants", "eigen", "factors", "matrices", "solving", "spectral"]
