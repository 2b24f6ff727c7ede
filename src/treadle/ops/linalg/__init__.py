"""Rows of linear algebra, which users find in `td.linalg`; loaded with it."""

from treadle.ops.linalg import factors, solving

__all__ = ["factors", "solving"]
