"""What `treadle train` is made of: settings, parts by their names, the loop, what it shows."""
