"""Fourier transforms on CUDA, which are products: as exact as those of the CPU."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_rows import interpreted as values_of
from cuda_rows import on_host
from triton_host import INTERPRETED, plan_of

from treadle.base.knobs import override
from treadle.ops.fourier import dft

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")


def pairs(lines, n, kind):
    return np.random.default_rng(n).standard_normal((lines, n, 2)).astype(kind)


@interpreted
@pytest.mark.parametrize(("n", "kind"), [
    (12, "float64"), (100, "float32"), (257, "float32"), (300, "float64"),
], ids=str)  # fmt: skip
def test_a_transform_is_as_exact_as_it_can_be(n, kind):
    x = pairs(1, n, kind)  # by one product, by a chirp, or by two
    (found,) = values_of([dft(on_host(x), 1)])
    wanted = np.fft.fft(x[..., 0].astype(np.float64) + 1j * x[..., 1])
    error = np.abs(found[..., 0] + 1j * found[..., 1] - wanted).max() / np.abs(wanted).max()
    assert error <= 4 * np.finfo(kind).eps * np.log2(n)


def test_coarse_products_leave_transforms_exact():
    def texts(tf32):
        with override(tf32=tf32):
            plan, _ = plan_of([dft(on_host(pairs(2, 16, "float32")), 1)])
            return [launch.source.text for launch in plan.launches]

    assert any("tl.dot" in text for text in texts(0))
    assert not any("tf32" in text for text in texts(1))
