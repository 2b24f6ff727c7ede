"""Words every layer shares; standard library only."""
