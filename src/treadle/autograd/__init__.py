"""Derivatives of graphs."""
