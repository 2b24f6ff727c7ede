"""One file per framework Treadle is compared with."""
