"""`python -m treadle` is the command `treadle`."""

import sys

from treadle.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
