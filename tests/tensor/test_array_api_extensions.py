"""The Python array API standard: complex numbers, `linalg` and `fft`, beside array_api_strict.

What a namespace has is compared; `docs/array-api.md` says what is missing.
"""

from __future__ import annotations

import inspect
from inspect import Parameter

import array_api_strict as xp
import numpy as np
import pytest

import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of overflow

FLOATS, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
INEXACT = (*FLOATS, *COMPLEX)


def near(found, wanted, ulps=64):
    """Dtype, shape and values, as far from the largest as so many roundings."""
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            near(one, other, ulps)
        return
    wanted = np.asarray(wanted._array)
    assert (found.shape, found.dtype.name) == (wanted.shape, wanted.dtype.name)
    if wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(found.numpy(), wanted)
        return
    size = np.abs(wanted).max(initial=1.0)
    tolerance = ulps * np.finfo(wanted.dtype).eps * size
    np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=tolerance)


def draw(rng, kind, shape):
    x = np.asarray(rng.uniform(0.5, 2.0, shape))
    if kind in COMPLEX:
        x = x + 1j * rng.uniform(-2.0, 2.0, shape)
    return np.asarray(x).astype(kind)


def both(names, *arrays, **options):
    """A function by its path, called on both sides."""
    found, wanted = td, xp
    for name in names.split("."):
        found, wanted = getattr(found, name), getattr(wanted, name)
    kinds = {"dtype": options.pop("dtype", None)}
    ours = {name: getattr(td, kind) for name, kind in kinds.items() if kind}
    theirs = {name: getattr(xp, kind) for name, kind in kinds.items() if kind}
    return (
        found(*_as(td.asarray, arrays), **options, **ours),
        wanted(*_as(xp.asarray, arrays), **options, **theirs),
    )


def _as(make, value):
    if isinstance(value, np.ndarray):
        return make(np.array(value))
    return type(value)(_as(make, x) for x in value) if isinstance(value, tuple | list) else value


# ---- complex numbers

ONE = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "conj", "cos", "cosh", "exp", "expm1",
    "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative", "positive",
    "real", "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
)  # fmt: skip
TWO = ("add", "divide", "equal", "logaddexp", "multiply", "not_equal", "pow", "subtract")
OF_REAL = ("logaddexp",)


@pytest.mark.parametrize("kind", COMPLEX)
@pytest.mark.parametrize("name", ONE)
def test_complex_functions_of_one(name, kind):
    rng = np.random.default_rng(1)
    for shape in ((), (7,), (3, 0), (2, 3)):
        near(*both(name, draw(rng, kind, shape)))


@pytest.mark.parametrize("name", [name for name in TWO if name not in OF_REAL])
def test_complex_functions_of_two(name):
    rng = np.random.default_rng(2)
    for one in INEXACT:
        for other in INEXACT:
            if {one, other} & set(COMPLEX):
                near(*both(name, draw(rng, one, (3, 1)), draw(rng, other, (4,))))


@pytest.mark.parametrize("kind", COMPLEX)
def test_complex_arrays(kind):
    rng = np.random.default_rng(3)
    x, y = draw(rng, kind, (3, 4)), draw(rng, kind, (4, 2))
    for name in ("sum", "prod", "mean"):
        for axis in (None, 0, 1):
            near(*both(name, x, axis=axis))
    for name in ("cumulative_sum", "cumulative_prod"):
        near(*both(name, x, axis=1))
    near(*both("matmul", x, y))
    near(*both("tensordot", x, y, axes=1))
    near(*both("vecdot", x, x[0]))
    near(*both("where", x.real > 1, x, x * 2))
    near(*both("concat", [x, x], axis=1))
    near(*both("stack", [x, x]))
    near(*both("tril", x))
    near(*both("take", x, np.array([2, 0]), axis=0))
    near(*both("diff", x))
    near(*both("full", (2, 3), 1.5 + 2j, dtype=kind))
    near(*both("zeros", (2,), dtype=kind))
    near(*both("eye", 3, dtype=kind))
    for name in ("count_nonzero", "any", "all", "nonzero", "matrix_transpose", "flip"):
        near(*both(name, x))
    assert complex(td.asarray(x)[0, 0]) == complex(x[0, 0])
    assert td.isdtype(getattr(td, kind), "complex floating")


def test_complex_dtypes_promote_as_the_standard_says():
    for one in INEXACT:
        for other in INEXACT:
            found = td.result_type(getattr(td, one), getattr(td, other))
            assert (
                found.name
                == str(xp.result_type(getattr(xp, one), getattr(xp, other))).split(".")[-1]
            )
    for kind in COMPLEX:
        own, other = td.finfo(getattr(td, kind)), xp.finfo(getattr(xp, kind))
        assert (own.bits, own.eps, own.max) == (other.bits, other.eps, other.max)


# ---- names and arguments of the extensions

THERE = [
    f"{part}.{name}" for part in ("linalg", "fft") for name in getattr(xp, part).__all__
    if hasattr(getattr(td, part, None), name)
]  # fmt: skip


@pytest.mark.parametrize("path", THERE)
def test_arguments(path):
    part, name = path.split(".")
    wanted = inspect.signature(getattr(getattr(xp, part), name)).parameters.values()
    own = inspect.signature(getattr(getattr(td, part), name)).parameters
    for position, one in enumerate(wanted):
        if one.kind is Parameter.KEYWORD_ONLY:
            assert own[one.name].kind in (one.kind, Parameter.POSITIONAL_OR_KEYWORD)
        else:
            assert list(own.values())[position].kind in (one.kind, Parameter.POSITIONAL_OR_KEYWORD)


def test_every_transform_is_there():
    assert set(xp.fft.__all__) <= {path.split(".")[1] for path in THERE}


# ---- linear algebra


def positive(x):
    return x @ x.swapaxes(-1, -2).conj() + 3 * np.eye(x.shape[-1], dtype=x.dtype)


SQUARE, WIDE, BATCH = (4, 4), (3, 5), (2, 3, 3)
MATRICES = {
    # name: (shapes, options) that both sides answer with one and the same matrix
    "cholesky": [((SQUARE,), {}), ((BATCH,), {"upper": True})],
    "cross": [(((2, 3), (2, 3)), {}), (((3, 4), (3, 4)), {"axis": -2})],
    "det": [((SQUARE,), {}), ((BATCH,), {})],
    "diagonal": [((WIDE,), {}), ((BATCH,), {"offset": 1})],
    "eigvalsh": [((SQUARE,), {}), ((BATCH,), {})], "inv": [((SQUARE,), {}), ((BATCH,), {})],
    "matmul": [((WIDE, (5, 2)), {})], "matrix_transpose": [((BATCH,), {})],
    "matrix_norm": [((WIDE,), {}), ((BATCH,), {"ord": 1, "keepdims": True}), ((WIDE,), {"ord": 2})],
    "matrix_power": [((SQUARE, 3), {}), ((BATCH, -1), {}), ((SQUARE, 0), {})],
    "matrix_rank": [((SQUARE,), {}), ((WIDE,), {})], "outer": [(((3,), (4,)), {})],
    "pinv": [((WIDE,), {}), ((BATCH,), {})], "slogdet": [((SQUARE,), {}), ((BATCH,), {})],
    "solve": [((SQUARE, (4, 2)), {}), ((BATCH, (3,)), {}), ((BATCH, (2, 3, 1)), {})],
    "svdvals": [((WIDE,), {}), ((BATCH,), {})], "tensordot": [((WIDE, (5, 2)), {"axes": 1})],
    "trace": [((WIDE,), {}), ((BATCH,), {"offset": -1}), ((BATCH,), {"dtype": "complex128"})],
    "vecdot": [((WIDE, WIDE), {}), ((WIDE, (3, 1)), {"axis": -2})],
    "vector_norm": [((WIDE,), {}), ((WIDE,), {"axis": 1, "ord": 3, "keepdims": True})],
}  # fmt: skip
OF_POSITIVE = ("cholesky", "eigvalsh", "eigh", "inv", "solve", "det", "slogdet", "matrix_power")


def operands(rng, name, shapes, kind):
    drawn = [draw(rng, kind, s) if isinstance(s, tuple) else s for s in shapes]
    if name in OF_POSITIVE:
        drawn[0] = positive(drawn[0])
    return drawn


def kinds_of_matrices():
    """Those that can be inverted."""
    try:
        td.linalg.inv(td.eye(2, dtype="complex64"))
    except TypeError:
        return FLOATS
    return INEXACT


@pytest.mark.parametrize("kind", kinds_of_matrices())
@pytest.mark.parametrize("name", [name for name in MATRICES if f"linalg.{name}" in THERE])
def test_linear_algebra(name, kind):
    rng = np.random.default_rng(4)
    for shapes, options in MATRICES[name]:
        near(*both(f"linalg.{name}", *operands(rng, name, shapes, kind), **options), ulps=2000)


REBUILT = {
    "eigh": lambda np, values, vectors: (vectors * values[..., None, :]) @ vectors.mT.conj(),
    "qr": lambda np, q, r: q @ r,
    "svd": lambda np, u, s, vh: (
        (u[..., : s.shape[-1]] * s[..., None, :]) @ vh[..., : s.shape[-1], :]
    ),
}
"""Decompositions whose parts are one of several: together they are the matrix again."""


@pytest.mark.parametrize("name", REBUILT)
def test_decompositions(name):
    if f"linalg.{name}" not in THERE:
        return
    rng = np.random.default_rng(5)
    for kind in kinds_of_matrices():
        for shape in (SQUARE, BATCH) if name == "eigh" else (SQUARE, BATCH, WIDE, (5, 3)):
            (x,) = operands(rng, name, (shape,), kind)
            found, wanted = both(f"linalg.{name}", x)
            assert found._fields == wanted._fields
            for one, other in zip(found, wanted, strict=True):
                assert (one.shape, one.dtype.name) == (
                    other.shape,
                    np.asarray(other._array).dtype.name,
                )
            again = REBUILT[name](np, *(np.asarray(part.numpy()) for part in found))
            np.testing.assert_allclose(again, x, atol=200 * np.finfo(kind).eps * np.abs(x).max())


# ---- transforms

LENGTHS = (None, 1, 4, 7, 11)
NORMS = ("backward", "ortho", "forward")


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_along_an_axis(name, kind):
    rng = np.random.default_rng(6)
    real = name in ("rfft", "ihfft")
    x = draw(rng, kind if real else kind.replace("32", "64").replace("float", "complex"), (5, 6))
    if kind == "float64" and not real:
        x = x.astype("complex128")
    for norm in NORMS:
        for axis in (0, -1):
            for n in LENGTHS:
                near(*both(f"fft.{name}", x, n=n, axis=axis, norm=norm))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_along_axes(name):
    rng = np.random.default_rng(7)
    for kind in FLOATS if name == "rfftn" else COMPLEX:
        x = draw(rng, kind, (3, 4, 5))
        for options in (
            {}, {"axes": (0, 2)}, {"s": (4, 6), "axes": (1, 2)}, {"axes": (-1,), "norm": "ortho"},
        ):  # fmt: skip
            near(*both(f"fft.{name}", x, **options))


def test_frequencies_and_shifts():
    for name in ("fftfreq", "rfftfreq"):
        for n in (1, 2, 7, 8):
            for kind in FLOATS:
                near(*both(f"fft.{name}", n, d=0.25, dtype=kind), ulps=2)
    x = np.arange(30.0).reshape(5, 6)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (0, 1), (-1,)):
            near(*both(f"fft.{name}", x, axes=axes))
