"""The meaning of every op in NumPy: slow, obvious, right by definition."""
