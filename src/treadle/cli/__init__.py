"""The command `treadle`: text generated from the op table, and what the table holds."""
