"""Experiments: what layouts and orders are worth. docs/experiments.md has the results."""
