"""Kernels of the rows' tests on a device, compiled without one: they are most of those tests' time.

    python tests/backends/compile_ahead.py FOLDER        (some 24,000: ten minutes on two cores)
    TREADLE_TEST_CACHE=FOLDER make test-gpu              (1 minute instead of 10)

The same sources and the same release of Triton have to be there on both machines, and the folder
has to be its user's alone.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

PATIENCE = 60  # seconds for a row: numbers are zeros here, and some search for one that is not
ARCHITECTURE = 90


class TooLongError(Exception):
    """A row does not end without a device."""


def works():
    """What the tests on a device run, each with what it is given."""
    from cuda_cases import CASES
    from cuda_rows import DIFFERENTIABLE, SAMPLED, run_gradient, run_row
    from test_cuda_gpu import run_case

    yield from ((run_row, pair) for pair in SAMPLED)
    yield from ((run_gradient, (name,)) for name in DIFFERENTIABLE)
    yield from ((run_case, (name,)) for name in CASES)


def kernels(part, parts):
    """Sources of all kernels that a part of the tests would start."""
    import cuda_rows
    import numpy as np
    import pytest
    from fake_driver import OK, FakeDriver, as_cuda

    class Idle(FakeDriver):
        """Memory of zeros, which nothing changes."""

        def cuMemAllocAsync(self, nbytes, _):
            block = np.zeros(nbytes, np.uint8)
            self.memory[block.ctypes.data] = block
            return OK, block.ctypes.data

        def _move(self, *_):
            return (OK,)

        def _arguments(self, *_):
            return []

        def _run(self, *_):
            pass

        cuMemcpyHtoDAsync = cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = cuMemsetD8Async = _move

    def stop(*_):
        raise TooLongError

    signal.signal(signal.SIGALRM, stop)
    cuda_rows.compare = cuda_rows.compare_derivatives = lambda *_: None
    cuda_rows.by_reference = lambda nodes: nodes
    left = 0
    with as_cuda(pytest.MonkeyPatch(), Idle) as driver:
        for run, given in list(works())[part::parts]:
            signal.alarm(PATIENCE)
            try:
                run(*given)
            except Exception:  # zeros are wrong, and where they decide what comes next, it ends
                left += 1
            signal.alarm(0)
        return set(driver.sources.values()), left


def compile_part(folder, part, parts):
    """Put the kernels of a part of the tests into the cache in a folder; returns how many."""
    from treadle.backends.cuda.compile import code_of
    from treadle.base.knobs import override

    with override(cache_dir="off"):
        found, left = kernels(part, parts)
    with override(cache_dir=folder, cache_secret=f"{folder}/secret", cache_bytes=1 << 40):
        for source in found:
            code_of(source, ARCHITECTURE)
    return len(found), left


def main(folder, parts=64):
    """Compile everything, and say how far it is."""
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    with ProcessPoolExecutor(mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        asked = [pool.submit(compile_part, folder, part, parts) for part in range(parts)]
        for part, result in enumerate(asked, 1):
            found, left = result.result()
            print(f"{part} of {parts}: {found} kernels, {left} tests broken off", flush=True)


if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "0"
    main(str(Path(sys.argv[1]).absolute()), *map(int, sys.argv[2:]))
