"""Facts about ops: one row each, no behaviour of the compiler."""
