"""Transforms against numpy.fft in float64: within 4 eps log2(n) of the size of a spectrum."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError
from treadle.ops import fourier

NORMS = ("backward", "ortho", "forward")
KINDS = {"float32": np.complex64, "float64": np.complex128}
LENGTHS = (*range(1, 41), 61, 64, 100, 128, 210, 243, 251, 256, 257, 502, 1009)
LONG = (2048, 2310, 6561, 16384, 65536, 61 * 61 * 16, 65537, 53 * 59 * 61, 12 * 251)
WHOLE, REAL, HALF = ("fft", "ifft"), ("fft", "ifft", "rfft", "ihfft"), ("irfft", "hfft")


def drawn(shape, kind, is_complex=True):
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    if is_complex:
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(KINDS[kind] if is_complex else kind)


def assert_near(found, wanted, kind, points):
    """points: how many of them are added up for an element."""
    found = found.numpy()
    assert found.shape == wanted.shape
    single = found.real.dtype
    assert single == kind
    size = np.sqrt(np.mean(np.abs(wanted) ** 2)) if wanted.size else 0
    bound = 4 * np.finfo(single).eps * max(1, np.log2(max(points, 1))) * size
    assert np.abs(found - wanted).max(initial=0) <= bound


def compare(name, x, kind, points=None, **options):
    """One function on an array, as is and compiled."""
    wide = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    wanted = getattr(np.fft, name)(wide, **options)
    ours = getattr(td.fft, name)
    points = points or max(wanted.shape[options.get("axis", -1)], x.shape[options.get("axis", -1)])
    assert_near(ours(td.tensor(x), **options), wanted, kind, points)


@pytest.mark.parametrize(
    ("n", "kind"), [(n, kind) for n in LENGTHS for kind in KINDS if kind == "float64" or n % 3 != 1]
)
def test_every_length(n, kind):
    x, z = drawn((3, n), kind, False), drawn((3, n), kind)
    for name in WHOLE:
        compare(name, z, kind)
    for name in REAL:
        compare(name, x, kind)
    for name in HALF:
        compare(name, z, kind, n=n)
        if n > 1:
            compare(name, z, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", LONG)
def test_long_lines(n, kind):
    compare("fft", drawn((n,), kind), kind)
    compare("rfft", drawn((5, n), kind, False), kind)
    compare("irfft", drawn((2, n // 2 + 1), kind), kind, n=n)
    compare("ifft", drawn((2, n), kind), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((40, 24), 1), ((40, 24), 0), ((17, 30), 1), ((3, 18, 5), 1), ((2, 60, 33), 1),
        ((2, 7, 40), 0), ((2, 3, 4, 5), -3), ((1, 1, 8), 2), ((16, 16), 0), ((2100, 3), 0),
        ((33, 67), 0), ((257, 33), 0), ((500, 2), 0), ((19, 1024), 1),
    ],
    ids=str,
)  # fmt: skip
def test_layouts(shape, axis, kind):
    x, z = drawn(shape, kind, False), drawn(shape, kind)
    for name in WHOLE:
        compare(name, z, kind, axis=axis)
    for name in ("rfft", "fft"):
        compare(name, x, kind, axis=axis)
    compare("irfft", z, kind, axis=axis)


@pytest.mark.parametrize("shape", [(64, 1000), (3, 33000), (2, 65522)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_lines_that_do_not_fill_vectors_in_several_threads(shape, kind):
    x = drawn(shape, kind, False)
    found = td.fft.irfft(td.fft.rfft(td.tensor(x)), shape[1])
    assert_near(found, x, kind, shape[1] ** 2)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*REAL, *HALF])
def test_norms(name, norm):
    for n in (12, 7):
        compare(name, drawn((2, n), "float64", name in HALF), "float64", norm=norm)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 16, 23, 40])
@pytest.mark.parametrize("name", [*REAL, *HALF])
def test_other_lengths_than_the_axis_has(name, n):
    x = drawn((3, 16, 2), "float32", name in HALF)
    compare(name, x, "float32", n=n, axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {}, {"axes": (0, 2)}, {"axes": (1,)}, {"s": (4, 5)}, {"s": (6, 3), "axes": (2, 0)},
        {"s": (2, 9, 4), "norm": "ortho"}, {"axes": (2, 0, 1), "norm": "forward"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name, options, kind):
    if "s" in options and "axes" not in options:  # NumPy is about to want both
        options = options | {"axes": tuple(range(-len(options["s"]), 0))}
    x = drawn((4, 6, 5), kind, name != "rfftn")
    compare(name, x, kind, x.size, **options)
    if name == "fftn":
        compare(name, drawn((4, 6, 5), kind, False), kind, x.size, **options)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_axes(name):
    x = drawn((3, 8, 6), "float64", name != "rfft2")
    compare(name, x, "float64", x.size)
    compare(name, x, "float64", x.size, s=(5, 7), axes=(0, 1))


@pytest.mark.parametrize("norm", NORMS)
def test_hermitian_transforms_of_several_axes(norm):
    other = {"backward": "forward", "ortho": "ortho", "forward": "backward"}[norm]
    z, x = drawn((4, 6), "float64"), drawn((4, 6), "float64", False)
    wanted = np.fft.irfftn(np.conj(z), axes=(0, 1), norm=other)
    assert_near(td.fft.hfftn(td.tensor(z), norm=norm), wanted, "float64", 40)
    assert_near(td.fft.hfft2(td.tensor(z), norm=norm), wanted, "float64", 40)
    wanted = np.conj(np.fft.rfftn(x, axes=(0, 1), norm=other))
    assert_near(td.fft.ihfftn(td.tensor(x), norm=norm), wanted, "float64", 40)
    assert_near(td.fft.ihfft2(td.tensor(x), norm=norm), wanted, "float64", 40)


@pytest.mark.parametrize("n", [2, 7, 30, 64, 251, 257, 360, 1024])
def test_devices_without_kernels_have_products(n, monkeypatch):
    monkeypatch.setattr(fourier, "NO_KERNELS", ("cpu",))
    for shape, axis in (((3, n), 1), ((n, 2), 0)):
        compare("fft", drawn(shape, "float64"), "float64", 64 * n, axis=axis)
        compare("rfft", drawn(shape, "float64", False), "float64", 64 * n, axis=axis)
        compare("irfft", drawn(shape, "float32"), "float32", 64 * n, axis=axis, n=n)


@pytest.mark.parametrize("shape", [(0, 8), (8, 0, 3), (3, 0)], ids=str)
def test_no_lines(shape):
    axis = 0 if shape[0] == 8 else 1
    x = td.zeros(shape)
    if shape == (3, 0):
        with pytest.raises(ShapeError, match="at least one point"):
            td.fft.rfft(x)
        assert td.fft.fft(x, n=4).numpy().tolist() == np.zeros((3, 4)).tolist()
        return
    assert td.fft.rfft(x, axis=axis).shape == np.fft.rfft(np.zeros(shape), axis=axis).shape
    assert td.fft.fft(x, axis=axis).numpy().shape == shape


@pytest.mark.parametrize("n", [8, 257])
def test_views_are_read_as_they_are(n):
    x = drawn((n, 6, 2), "float64")
    seen = td.tensor(x).permute(2, 1, 0)[:, ::2].flip(2)
    wanted = np.fft.fft(np.flip(np.transpose(x, (2, 1, 0))[:, ::2], 2))
    assert_near(td.fft.fft(seen), wanted, "float64", n)


def test_compiled_and_fused_with_what_is_around():
    x, h = drawn((5, 300), "float32", False), drawn((300,), "float32", False)

    @td.compile
    def convolved(x, h):
        n = x.shape[-1] + h.shape[-1]
        return td.fft.irfft(td.fft.rfft(x * 2.0, n) * td.fft.rfft(h, n), n) + 1.0

    wanted = np.stack([np.convolve(2.0 * row.astype(float), h) for row in x])
    found = convolved(td.tensor(x), td.tensor(h)).numpy()[:, : wanted.shape[1]]
    np.testing.assert_allclose(found, wanted + 1.0, atol=2e-4)


def test_a_batch_of_unknown_size():
    rows = td.Dim("rows", max=64)
    transformed = td.compile(lambda x: td.fft.rfft(x))
    for count in (64, 3, 17):
        x = drawn((count, 24), "float32", False)
        found = transformed(rows(count).of(td.tensor(x)))
        assert_near(found, np.fft.rfft(x.astype(float)), "float32", 24)


def test_integers_and_halves_become_float32():
    for kind in (td.int32, td.bool, td.float16, td.bfloat16):
        found = td.fft.fft(td.ones(4, dtype=kind))
        assert found.dtype == td.complex64
        assert found.real.tolist() == [4.0, 0.0, 0.0, 0.0]


def test_numpy_arrays_are_taken():
    x = drawn((3, 4), "float64", False)
    assert_near(td.fft.rfft(x, axis=0), np.fft.rfft(x, axis=0), "float64", 4)


def test_the_words_of_pytorch():
    x = drawn((3, 4), "float64", False)
    assert_near(td.fft.rfft(input=td.tensor(x), dim=0), np.fft.rfft(x, axis=0), "float64", 4)
    assert_near(td.fft.fftn(td.tensor(x), dim=(1,)), np.fft.fft(x), "float64", 4)
    assert_near(td.fft.ifft2(td.tensor(x), dim=(0, 1)), np.fft.ifft2(x), "float64", 12)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
@pytest.mark.parametrize("d", [1.0, 0.25])
def test_frequencies(n, d):
    for name in ("fftfreq", "rfftfreq"):
        ours, wanted = getattr(td.fft, name), getattr(np.fft, name)(n, d)
        np.testing.assert_allclose(ours(n, d).numpy(), wanted, rtol=1e-7)
        found = ours(n, d, dtype=td.float64, requires_grad=True)
        np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-15)
        assert found.requires_grad


@pytest.mark.parametrize("axes", [None, 0, (0, 1), (-1,)], ids=str)
def test_shifts(axes):
    for shape in ((4, 5), (3, 1)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        for name in ("fftshift", "ifftshift"):
            wanted = getattr(np.fft, name)(x, axes)
            assert getattr(td.fft, name)(td.tensor(x), axes).tolist() == wanted.tolist()


def test_what_is_not_finite_stays_in_its_line():
    x = np.ones((40, 16), np.float32)
    x[3, 2], x[7, 0] = np.nan, np.inf
    found = td.fft.rfft(td.tensor(x)).numpy()
    bad = ~np.isfinite(found).all(1)
    assert np.flatnonzero(bad).tolist() == [3, 7]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda x: td.fft.rfft(td.complex(x, x)), DtypeError, "rfft: needs real numbers"),
        (lambda x: td.fft.fft(x, n=0), ShapeError, "fft: needs at least one point"),
        (lambda x: td.fft.irfft(td.ones(3, 1)), ShapeError, "irfft: needs at least one point"),
        (lambda x: td.fft.ifft(x, norm="unit"), ArgumentError, "ifft: no such norm"),
        (lambda x: td.fft.fft(x, axis=2), ShapeError, "fft: axis out of range"),
        (lambda x: td.fft.fft(x, n=2.5), ArgumentError, "fft: n is an integer"),
        (lambda x: td.fft.fftn(x, s=(2,), axes=(0, 1)), ShapeError, "as many lengths as axes"),
        (lambda x: td.fft.fft2(x, axes=(1, -1)), ShapeError, "an axis is named twice"),
        (lambda x: td.fft.rfftn(x, axes=()), ShapeError, "needs an axis"),
        (lambda x: td.fft.hfft([1.0, 2.0]), OperandError, "hfft: not a tensor"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_refusals(call, error, said):
    with pytest.raises(error, match=said):
        call(td.ones(3, 4))


@pytest.mark.parametrize("name", [*REAL, *HALF])
@pytest.mark.parametrize("n", [-1, 0])
def test_a_line_has_a_point_at_least(name, n):
    with pytest.raises(ValueError, match="Invalid number"):
        getattr(np.fft, name)(np.ones((3, 4)), n)
    with pytest.raises(ShapeError, match=f"{name}: needs at least one point"):
        getattr(td.fft, name)(td.ones(3, 4), n=n)


def test_of_several_axes_minus_one_is_the_length_there_is():
    x = drawn((3, 4), "float64")
    compare("fft2", x, "float64", x.size, s=(-1, 6))
    with pytest.raises(ShapeError, match="fft2: needs at least one point"):
        td.fft.fft2(td.tensor(x), s=(-2, 6))
