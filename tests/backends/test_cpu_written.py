"""Do functions in the small part of Python do what Python does, on other processors as well?"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from treadle.backends.cpu import jit
from treadle.backends.cpu.host import AARCH64, AVX2, host_target
from treadle.backends.cpu.linalg import (
    cholesky,
    eig,
    eigh,
    exponential,
    jacobi,
    lu,
    qr,
    schur_complex,
    svd,
    triangular,
)
from treadle.backends.cpu.writer import module
from treadle.backends.cpu.written import Array, Integers, Module, Reals
from treadle.backends.cpu.written_builtins import conjugate, copysign, real_part, sqrt
from treadle.backends.cpu.written_entry import BLOCKS, text
from treadle.base.dtypes import float32, float64
from treadle.base.errors import CompilerError


def loaded(function, dtype=float64, is_complex=False):
    """The function as code of this machine that takes addresses and integers."""
    written = Module(dtype, host_target(), is_complex)
    written.named(function)
    writers = list(written.writers.values())
    writers[-1].head = writers[-1].head.replace("define internal", "define")
    name = function.__name__
    code = jit.load(f"test {name} {is_complex} {dtype}", lambda: module(writers), (name,),
                    host_target(), 2, True)  # fmt: skip

    def call(*args):
        given = [x.ctypes.data if isinstance(x, np.ndarray) else x for x in args]
        kinds = [ctypes.c_void_p if isinstance(x, np.ndarray) else ctypes.c_int64 for x in args]
        ctypes.CFUNCTYPE(None, *kinds)(code[name])(*given)

    call.code = code
    return call


def flow(n: int, out: Integers) -> None:
    count = 0
    for i in range(n):
        if i % 3 == 0 or i == 4:
            continue
        if i > 10 and not i < 12:
            break
        count += i
    k = n
    while k > 0:
        k = k - 2
        if k == 5:
            out[2] = k
    out[0] = count
    out[1] = k
    for j in range(7, -1, -3):
        out[3] = out[3] * 10 + j
    out[4] = min(n, 4, 9) * 100 + max(3, 7) - (n if n > 50 else -n)
    out[5] = n // 4 + n % 4


@pytest.mark.parametrize("n", [0, 1, 9, 11, 40, 60])
def test_flow_is_python_s(n):
    wanted, found = np.zeros(6, np.int64), np.zeros(6, np.int64)
    flow(n, wanted)
    loaded(flow)(n, found)
    np.testing.assert_array_equal(found, wanted)


def squared(x: float) -> float:
    return x * x


def numbers(n: int, x: Reals, out: Reals) -> None:
    for i in range(n):
        big = squared(x[i]) > 4.0
        out[i] = sqrt(abs(x[i])) + copysign(i / 3, x[i]) + (1.5 if big else -x[i])
        out[i] -= max(x[i], 0.5)


def test_numbers_are_python_s():
    x = np.linspace(-3, 3, 17)
    wanted, found = np.zeros(17), np.zeros(17)
    numbers(17, x, wanted)
    loaded(numbers)(17, x, found)
    np.testing.assert_allclose(found, wanted, rtol=1e-15)


def products(n: int, a: Array, b: Array, out: Array) -> None:
    for i in range(n):
        out[i] = a[i] * b[i] / (a[i] - 2.0) + conjugate(b[i]) - abs(a[i]) * real_part(b[i])
        here = out + i
        here[0] = -here[0]


def test_complex_numbers_are_python_s():
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(9) + 1j * rng.standard_normal(9) for _ in range(2))
    found = np.zeros(9, complex)
    loaded(products, is_complex=True)(9, a, b, found)
    wanted = -(a * b / (a - 2.0) + b.conj() - np.abs(a) * b.real)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def odd(n: int, x: Reals) -> None:
    x[0] = n**2


def unknown(n: int, x: Reals) -> None:
    x[0] = nowhere  # noqa: F821


@pytest.mark.parametrize("function", [odd, unknown])
def test_what_it_does_not_know_is_refused_by_name(function):
    with pytest.raises((CompilerError, KeyError)):
        Module(float64, host_target()).named(function)


ENTRIES = [
    (cholesky, cholesky.cholesky_factor, ("a",), False),
    (cholesky, cholesky.hermitian_factor, ("a",), True),
    (triangular, triangular.triangular_solve, ("a", "b"), False),
    (lu, lu.lu_pack, ("a",), False), (lu, lu.lu_small, ("a",), True),
    (lu, lu.update, ("a",), False),
    (qr, qr.qr_pack, ("a",), True), (eigh, eigh.eigh_pack, ("a",), False),
    (svd, svd.svd_pack, ("a",), False), (eig, eig.eig_pack, ("a",), False),
    (jacobi, jacobi.complex_svd, ("a",), True), (jacobi, jacobi.hermitian_pack, ("a",), True),
    (schur_complex, schur_complex.complex_eig, ("a",), True),
    (exponential, exponential.exponential, ("a",), False),
]  # fmt: skip


@pytest.mark.parametrize("target", [AVX2, AARCH64], ids=lambda target: target.cpu)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[1].__name__)
def test_algorithms_compile_for_other_processors(entry, target):
    place, function, sources, is_complex = entry
    name = place.__name__.removeprefix("treadle.backends.cpu.")
    for dtype in (float32, float64):
        symbol = f"{function.__name__}{BLOCKS}"
        source = text(name, sources, dtype, is_complex, symbol, target)
        assert jit.compile_object(source, target, 0, True)
