"""Random programs, run in every way there is: all of them must give the same values."""
