"""The fuzzer on an imitated GPU, which does everything as late and in as bad an order as it may.

TRITON_INTERPRET=1 python tests/backends/fuzz_on_host.py --minutes 10 --workers 1
"""

from __future__ import annotations

import os
import sys

import pytest
from fake_driver import as_cuda
from late_driver import LateDriver

from treadle.testing.fuzz import children, loop
from treadle.testing.fuzz.__main__ import main

if __name__ == "__main__":
    children.PATIENCE = loop.PATIENCE = 600.0  # seconds: interpreting takes long
    sys.argv += ["--device", "cuda"]
    os.register_at_fork(after_in_child=as_cuda(pytest.MonkeyPatch(), LateDriver).__enter__)
    sys.exit(main())
