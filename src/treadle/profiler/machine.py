"""The machine a profile was taken on, and how fast it can be: measured once and kept."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import cache as once

import numpy as np

import treadle as td
from treadle.backends.registry import backend_of
from treadle.base import cache
from treadle.base.device import Device, device

ELEMENTS, SIDE = 1 << 24, 1024  # of a sum that is bound by memory; of a product that is not
RUNS = 3
DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16"}
"""Those of which products are measured; others count as float32."""


def facts() -> dict[str, str]:
    """Machine and versions."""
    return {
        "machine": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else
                     os.cpu_count()),
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "treadle": td.__version__,
    }  # fmt: skip


@once
def ceilings(name: str, dtype: str = "f32") -> tuple[float, float]:
    """Bytes and flops of a dtype per second that a device reaches; kept on disk."""
    where = device(name)
    key = cache.digest("ceilings", "2", *facts().values(), _model(where), dtype)
    stored = cache.read(key)
    if stored is not None:
        nbytes, flops = json.loads(stored)
        return float(nbytes), float(flops)
    with td.span("measure this machine, once"):  # a profile around this one sees it
        found = _measured(where, DTYPES[dtype])
    cache.write(key, json.dumps(found).encode())
    return found


def _model(where: Device) -> str:
    return str(backend_of(where).target())


def _measured(where: Device, dtype: str) -> tuple[float, float]:
    x = td.ones(ELEMENTS, device=where).realize()
    copy = td.compile(lambda x: x * 2.0)
    seconds = _quickest(lambda: _done(copy(x)))
    side = SIDE if where.backend == "cpu" else 8 * SIDE
    a = td.ones(side, side, dtype=dtype, device=where).realize()
    product = td.compile(lambda a: a @ a)
    return 2 * 4 * ELEMENTS / seconds, 2.0 * side**3 / _quickest(lambda: _done(product(a)))


def _done(x: td.Tensor) -> None:
    x.realize()
    if x.device.backend == "cuda":
        td.cuda.synchronize(x.device)


def _quickest(run: Callable[[], None]) -> float:
    run()
    spent = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return min(spent)
