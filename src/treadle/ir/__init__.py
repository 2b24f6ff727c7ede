"""The graph and how to rewrite it."""
