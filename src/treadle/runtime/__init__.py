"""Graph to results."""
