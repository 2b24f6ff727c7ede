"""Programs on a driver that interprets, watched: kernels held against NumPy, NaNs, full devices."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import CASES
from fake_driver import NEAR_THE_DRIVER, install
from triton_host import INTERPRETED, node_of, simplified

from treadle.base.errors import AnomalyError, CompilerError, OutOfMemory
from treadle.base.knobs import override
from treadle.ir.node import apply
from treadle.ops.defs import TABLE
from treadle.runtime import watched

pytestmark = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")


@pytest.fixture
def device(monkeypatch):
    fake, backend = install(monkeypatch)
    yield fake, backend
    for name in NEAR_THE_DRIVER:
        sys.modules.pop(f"treadle.backends.cuda.{name}", None)


def run(backend, roots):
    simple, places, leaves = simplified(roots)
    program = watched.compiled(backend, simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    found = program.run(inputs)
    return [backend.download(b, root.type) for b, root in zip(found, roots, strict=True)]


@pytest.mark.parametrize("name", ["chain", "sums", "embedding", "classifier"])
def test_right_kernels_pass(device, name):
    with override(check=1):
        run(device[1], CASES[name].build())


def test_a_wrong_kernel_is_named(device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from treadle.backends.cuda import calls

    usual = calls.encoded
    monkeypatch.setattr(calls, "encoded", lambda kind, v: usual(kind, 3.5 if v == 3.0 else v))
    x = node_of(np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8))
    with override(check=1), pytest.raises(CompilerError, match="differs from NumPy: loop mul"):
        run(device[1], [x * 3.0])
    assert len(list(tmp_path.iterdir())) == 1


def test_the_op_that_makes_a_nan_is_named(device):
    x = node_of(np.array([1.0, -1.0], np.float32))
    with override(anomaly=1), pytest.raises(AnomalyError, match="log makes NaN"):
        run(device[1], [apply(TABLE["log"], (x * 2.0,)) + 1.0])


def test_a_full_device_says_who_holds_it(device, monkeypatch):
    fake, backend = device
    fake.limit = 100 << 20
    monkeypatch.setattr("treadle.backends.exhausted.HOLDERS", [lambda name: f"  all of {name}"])
    held = backend.gpu.allocate(80 << 20)
    with pytest.raises(OutOfMemory, match=r"no device memory left[^$]*\n  all of cuda$"):
        backend.gpu.allocate(60 << 20)
    assert held.size == 80 << 20


def test_statistics_of_a_device(device):
    fake, backend = device
    held = backend.gpu.allocate(1 << 20)
    found = backend.statistics()
    assert found.mapped >= 1 << 20
    assert (found.room, found.total) == (0, fake.limit)
    assert held.size == 1 << 20
