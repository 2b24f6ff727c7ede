"""Every form of kernel on a device in one process: what NVIDIA's checkers watch.

PYTHONPATH=src compute-sanitizer --tool memcheck python tests/backends/every_form.py

`every_form.py 2 8` runs the second of eight parts: most of the time goes to compiling.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from itertools import islice

FOLDER = tempfile.mkdtemp(prefix="treadle-forms-")
os.environ |= {"TREADLE_CACHE_DIR": FOLDER, "TREADLE_CACHE_SECRET": f"{FOLDER}/secret"}


def cases():
    """Names, and what compares the results with the host's."""
    import test_cuda_divided_gpu
    import test_cuda_gluon
    import test_cuda_gpu
    import test_cuda_suites

    for name in test_cuda_gpu.CASES:
        yield name, partial(test_cuda_gpu.run_case, name)
    for name in test_cuda_gluon.FORMS:
        yield f"chain {name}", partial(test_cuda_gluon.check_form, name)
    for name in test_cuda_divided_gpu.EVERYWHERE:
        for kind in ("bfloat16", "float32"):
            check = partial(test_cuda_divided_gpu.compare_on_the_device, name, kind)
            yield f"product {name} {kind}", check
    for shape in ((3, 100_000), (500, 700)):
        yield f"lines {shape}", partial(test_cuda_suites.check_lines, shape, "float32")
    yield "entries", partial(test_cuda_suites.check_entries, 200_000, 1_000, 1)
    yield "small products", test_cuda_suites.test_small_products_of_many_sizes


def main(part=1, parts=1):
    """The number of cases of a part that were wrong."""
    wrong = 0
    for name, check in islice(cases(), part - 1, None, parts):
        try:
            check()
            print("right", name, flush=True)
        except Exception as error:
            wrong += 1
            print("WRONG", name, repr(error)[:200], flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
