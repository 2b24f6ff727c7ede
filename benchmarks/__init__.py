"""Treadle beside other frameworks, on one machine, in one run."""
