"""Factorisations and Fourier transforms: what each row computes, in any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.models import normal
from benchmarks.workload import Workload, bars


def _positive(generator: Any, n: int) -> Any:
    x = normal(generator, n, n)
    return x @ x.T / np.float32(n) + np.eye(n, dtype=np.float32)


def _well(generator: Any, *shape: int) -> Any:
    """A matrix that is far from singular."""
    return normal(generator, *shape) / np.float32(shape[-1] ** 0.5) + 2 * np.eye(
        shape[-1], dtype=np.float32
    )


def _qr(library: Any, x: Any) -> tuple[Any, Any]:
    """Factors are known up to the signs of rows: those of the diagonal are made positive."""
    q, r = library.linalg.qr(x)
    signs = library.sign(library.diagonal(r))
    return q * signs, r * signs[:, None]


def _eigh(library: Any, x: Any) -> tuple[Any, Any]:
    values, vectors = library.linalg.eigh(x)
    return values, vectors * library.sign(vectors[:1])


def _svd(library: Any, x: Any) -> tuple[Any, Any, Any]:
    u, s, vt = library.linalg.svd(x, full_matrices=False)
    signs = library.sign(u[:1])
    return u * signs, s, vt * signs.reshape(-1, 1)


def _with_spectrum(generator: Any, n: int) -> Any:
    """A symmetric matrix whose eigenvalues are apart, so that vectors are known well."""
    q, _ = np.linalg.qr(generator.standard_normal((n, n)))
    return ((q * np.linspace(1, 9, n)) @ q.T).astype(np.float32)


def _with_singular(generator: Any, n: int) -> Any:
    q, _ = np.linalg.qr(generator.standard_normal((n, n)))
    p, _ = np.linalg.qr(generator.standard_normal((n, n)))
    return ((q * np.linspace(1, 9, n)) @ p).astype(np.float32)


MATRICES: dict[str, Callable[..., Any]] = {
    "H.cholesky_512": lambda library, x: library.linalg.cholesky(x),
    "H.solve_512": lambda library, a, b: library.linalg.solve(a, b),
    "H.qr_256": _qr,
    "H.eigh_256": _eigh,
    "H.svd_256": _svd,
    "H.solve_64x32x32": lambda library, a, b: library.linalg.solve(a, b),
    "H.rfft_16x65536": lambda library, x: library.fft.rfft(x),
}
_INPUTS: dict[str, tuple[Callable[[Any], tuple[Any, ...]], float, float]] = {
    "H.cholesky_512": (lambda g: (_positive(g, 512),), 1.3, 1e-4),
    "H.solve_512": (lambda g: (_well(g, 512, 512), normal(g, 512, 512)), 1.3, 1e-3),
    "H.qr_256": (lambda g: (normal(g, 256, 256),), 2.0, 1e-2),
    "H.eigh_256": (lambda g: (_with_spectrum(g, 256),), 2.0, 2e-3),
    "H.svd_256": (lambda g: (_with_singular(g, 256),), 2.0, 2e-3),
    "H.solve_64x32x32": (lambda g: (_well(g, 64, 32, 32), normal(g, 64, 32, 32)), 1.0, 1e-3),
    "H.rfft_16x65536": (lambda g: (normal(g, 16, 65536),), 1.2, 2e-4),
}
"""Arguments, the bar, and how far single precision may be off."""

MATRIX_ROWS = tuple(
    Workload(name, inputs, lambda *xs, name=name: MATRICES[name](np, *xs), tolerance=most,
             bars=bars(bar))
    for name, (inputs, bar, most) in _INPUTS.items()
)  # fmt: skip


def in_library(library: Any) -> dict[str, Callable[..., Any]]:
    """Every row as a function of arrays alone."""
    return {
        name: lambda *xs, name=name: MATRICES[name](library, *xs)  # type: ignore[misc]
        for name in MATRICES
    }
