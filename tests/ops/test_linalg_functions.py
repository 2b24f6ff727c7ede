"""Does td.linalg take what its users pass, say what it refuses, and mark what has no answer?"""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

import treadle as td
from treadle.base.device import device
from treadle.base.dtypes import float32
from treadle.base.errors import ArgumentError, DtypeError, ShapeError
from treadle.ir.node import placeholder, type_of
from treadle.ops.linalg import eigen, factors, matrices, solving, spectral

RNG = np.random.default_rng(0)
LA = td.linalg


def drawn(*shape):
    return RNG.standard_normal(shape)


def test_the_standard_s_functions_are_there_and_agree():
    names = [name for name in array_api_strict.linalg.__all__ if name != "annotations"]
    missing = [name for name in names if not hasattr(LA, name)]
    assert not missing
    x, strict = drawn(4, 4), array_api_strict.linalg
    symmetric = x @ x.T + np.eye(4)
    for name in ("cholesky", "det", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "pinv",
                 "svdvals", "trace", "diagonal", "matrix_transpose", "vector_norm"):  # fmt: skip
        found = getattr(LA, name)(td.tensor(symmetric)).numpy()
        wanted = np.asarray(getattr(strict, name)(array_api_strict.asarray(symmetric)))
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    for name in ("qr", "svd", "eigh", "slogdet"):
        found, wanted = (
            getattr(LA, name)(td.tensor(symmetric)),
            getattr(strict, name)(array_api_strict.asarray(symmetric)),
        )
        assert found._fields == wanted._fields
        for one, two in zip(found, wanted, strict=True):
            assert one.shape == two.shape


def test_norms_by_axes():
    x = drawn(3, 4, 5)
    t = td.tensor(x)
    np.testing.assert_allclose(LA.norm(t).item(), np.linalg.norm(x))
    for p, axis in ((None, 1), (1, 2), (np.inf, -1), (2, (0, 1)), ("nuc", (2, 0)), ("fro", (0, 2)),
                    (None, (1, 2)), (-2, (1, 2))):  # fmt: skip
        for keepdims in (False, True):
            found = LA.norm(t, p, axis=axis, keepdims=keepdims).numpy()
            np.testing.assert_allclose(found, np.linalg.norm(x, p, axis, keepdims), rtol=1e-12)
    np.testing.assert_allclose(LA.norm(t[0], 1).item(), np.linalg.norm(x[0], 1))
    words = LA.norm(t, "nuc", dim=(1, 2), keepdim=True)  # PyTorch's
    np.testing.assert_allclose(words.numpy(), np.linalg.norm(x, "nuc", (1, 2), True))
    assert LA.diagonal(t, dim1=0, dim2=2).shape == (4, 3)
    assert LA.matrix_norm(t, dim=(0, 1)).shape == (5,)
    with pytest.raises(TypeError, match="colour"):
        LA.norm(t, colour=1)
    with pytest.raises(ShapeError, match="which axes"):
        LA.norm(t, 1)
    with pytest.raises(ArgumentError, match="two axes"):
        LA.norm(t, "fro", axis=1)
    with pytest.raises(ArgumentError, match="no such norm"):
        LA.matrix_norm(t, ord=3)


def test_least_squares():
    for m, n in ((6, 3), (3, 6), (4, 4)):
        a, b = drawn(2, m, n), drawn(2, m, 2)
        found = LA.lstsq(td.tensor(a), td.tensor(b))
        for k in range(2):
            x, left, rank, values = np.linalg.lstsq(a[k], b[k])
            np.testing.assert_allclose(found.solution.numpy()[k], x, atol=1e-12)
            np.testing.assert_allclose(found.singular_values.numpy()[k], values)
            assert found.rank.numpy()[k] == rank
            if m > n:
                np.testing.assert_allclose(found.residuals.numpy()[k], left)
        if m <= n:
            assert found.residuals.shape == (0,)


def test_ranks_by_tolerances():
    x = np.diag([3.0, 1.0, 1e-3, 0.0])
    t = td.tensor(x)
    assert LA.matrix_rank(t).item() == 3
    assert LA.matrix_rank(t, rtol=0.1).item() == 2
    assert LA.matrix_rank(t, atol=2.0).item() == 1
    assert LA.matrix_rank(t, hermitian=True).item() == 3
    np.testing.assert_allclose(LA.pinv(t, atol=0.5).numpy(), np.diag([1 / 3, 1, 0, 0]), atol=1e-12)
    symmetric = drawn(3, 3)
    symmetric = symmetric + symmetric.T
    found = LA.pinv(td.tensor(symmetric), hermitian=True).numpy()
    np.testing.assert_allclose(found, np.linalg.inv(symmetric), atol=1e-10)


def test_reflections_of_qr_make_its_q():
    v, tau = drawn(2, 5, 3), RNG.uniform(0.5, 1.5, (2, 3))
    tau[0, 1] = 0.0
    wanted = matrices._reflections_reference(np, v, tau)
    found = LA.householder_product(td.tensor(v), td.tensor(tau)).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_pivots_count_from_one_as_lapack_has_them():
    a = np.array([[0.0, 1.0, 2.0], [5.0, 1.0, 0.0], [1.0, 7.0, 1.0]])
    found = LA.lu_factor(td.tensor(a))
    assert found.pivots.tolist() == [2, 3, 3]
    b = drawn(3, 2)
    x = LA.lu_solve(*found, td.tensor(b)).numpy()
    np.testing.assert_allclose(a @ x, b, atol=1e-12)
    x = LA.lu_solve(*found, td.tensor(b), adjoint=True).numpy()
    np.testing.assert_allclose(a.T @ x, b, atol=1e-12)
    x = LA.lu_solve(*found, td.tensor(b.T), left=False).numpy()
    np.testing.assert_allclose(x @ a, b.T, atol=1e-12)


def test_pivots_of_rows_that_are_not_there():
    a, b = drawn(3, 3), drawn(3, 2)
    lu, pivots = LA.lu_factor(td.tensor(a))
    for wrong in ([0, 2, 3], [1, 2, 4], [1, 2, 2**31 - 1], [-5, 2, 3]):
        with pytest.raises(IndexError, match="lu_solve: an index is out of range"):
            LA.lu_solve(lu, td.tensor(wrong, dtype=td.int32), td.tensor(b))
    solve = td.compile(lambda far: LA.lu_solve(lu, pivots * 0 + far, td.tensor(b)))
    for far in (0, 4, 2**31 - 1, -(2**31)):  # computed, they are no exchange, and nothing is read
        found = solve(td.tensor(far, dtype=td.int32)).numpy()
        wanted = LA.lu_solve(lu, td.tensor([1, 2, 3], dtype=td.int32), td.tensor(b)).numpy()
        np.testing.assert_array_equal(found, wanted)


def test_what_has_no_answer_is_nan_and_info_says_where():
    a = np.diag([1.0, 2.0, -1.0, 3.0])
    factor, info = LA.cholesky_ex(td.tensor(np.stack([a, np.abs(a)])))
    assert info.tolist() == [3, 0]
    assert np.isnan(factor.numpy()[0, 2:, 2]).all()
    assert not np.isnan(factor.numpy()[0, :, :2]).any()
    assert not np.isnan(factor.numpy()[1]).any()
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    inverse, info = LA.inv_ex(td.tensor(singular))
    assert info.item() == 2
    assert not np.isfinite(inverse.numpy()).any()
    assert LA.det(td.tensor(singular)).item() == 0
    sign, size = LA.slogdet(td.tensor(singular))
    assert (sign.item(), size.item()) == (0.0, -np.inf)
    assert np.isinf(LA.cond(td.tensor(singular * 0 + [[1.0, 0.0], [0.0, 0.0]])).item())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigvalsh", "svdvals", "matrix_exp"])
def test_no_number_in_is_no_number_out(name, value):
    a = np.eye(40) * 2
    a[7, 3] = a[3, 7] = value
    found = getattr(LA, name)(td.tensor(np.stack([a, np.eye(40)]))).numpy()
    if name != "inv" or np.isnan(value):  # 1 / inf is 0
        assert not np.isfinite(found[0]).all()
    assert np.isfinite(found[1]).all()
    for pair in (LA.eigh, LA.svd, LA.qr, LA.eig):
        assert all(not np.isfinite(x.numpy()).all() for x in pair(td.tensor(a))), pair


def test_compiled_functions_agree_with_lazy_tensors():
    def function(a, b):
        u, s, vh = LA.svd(a)
        return LA.solve(a, b) + (u * s) @ vh @ b + LA.det(a) * LA.qr(a).R

    a, b = td.tensor(drawn(5, 5)), td.tensor(drawn(5, 5))
    np.testing.assert_allclose(td.compile(function)(a, b).numpy(), function(a, b).numpy())


def test_views_and_sums_are_factored_as_well():
    a = drawn(2, 3, 6, 6)
    t = td.tensor(a)
    found = LA.inv(t.mT[:, 1] * 2.0).numpy()
    np.testing.assert_allclose(found, np.linalg.inv(np.swapaxes(a, -1, -2)[:, 1] * 2), rtol=1e-9)
    one = td.ones(3, 3, dtype="float64")
    assert LA.eigvalsh(one).numpy().round(9).tolist() == [0, 0, 3]


REFUSED = {
    "square": (lambda: LA.inv(td.ones(2, 3)), ShapeError, "inv: needs square"),
    "matrix": (lambda: LA.svd(td.ones(3)), ShapeError, "svd: needs a matrix"),
    "rows": (lambda: LA.solve(td.ones(2, 2), td.ones(3, 1)), ShapeError, "solve: shapes"),
    "batch": (lambda: LA.solve(td.ones(2, 2, 2), td.ones(3, 2, 1)), ShapeError, "solve"),
    "integers": (lambda: LA.inv(td.ones(2, 2, dtype="int32")), DtypeError, "float32, float64"),
    "halves": (lambda: LA.qr(td.ones(2, 2, dtype="float16")), DtypeError, "cast the operand"),
    "mode": (lambda: LA.qr(td.ones(2, 2), mode="full"), ArgumentError, '"complete"'),
    "uplo": (lambda: LA.eigh(td.ones(2, 2), UPLO="X"), ArgumentError, "'L' or 'U'"),
    "one": (lambda: LA.multi_dot([td.ones(2, 2)]), ArgumentError, "needs two"),
    "power": (lambda: LA.matrix_power(td.ones(2, 3), 2), ShapeError, "square"),
    "elements": (lambda: LA.tensorinv(td.ones(2, 3, 5)), ShapeError, "square matrix of elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_would_work(name):
    call, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


ROUTINES = {
    "cholesky_factor": lambda x: factors.cholesky_factor(x),
    "lu_pack": lambda x: factors.lu_pack(x),
    "qr": lambda x: spectral.qr(x),
    "eigh": lambda x: spectral.eigh(x),
    "svd": lambda x: spectral.svd(x),
    "eig": lambda x: eigen.eig(x),
    "matrix_exp": lambda x: matrices.matrix_exp(x),
    "solve_triangular": lambda x: solving.solve_triangular(x, x, upper=True),
}


@pytest.mark.parametrize("name", ROUTINES)
def test_gpus_take_all_algorithms(name):
    x = placeholder(type_of((4, 4), float32, device("cuda")))
    made = ROUTINES[name](x)
    found = made if isinstance(made, tuple) else (made,)
    assert {y.device for y in found} == {device("cuda")}


@pytest.mark.parametrize("p", [1, -1, np.inf, "fro", "nuc", 2, -2])
def test_the_condition_of_singular_matrices_is_infinite(p):
    a = np.stack([np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])])
    found = td.linalg.cond(td.tensor(a), p).numpy()
    assert found[0] == np.inf
    np.testing.assert_allclose(found[1], np.linalg.cond(a[1], p))
    assert np.isnan(td.linalg.cond(td.tensor(a[1] * np.nan), p).item())


def test_least_squares_of_one_vector():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 5, 3)), rng.standard_normal((2, 5))
    found = td.linalg.lstsq(td.tensor(a), td.tensor(b))
    assert [x.shape for x in found] == [(2, 3), (2,), (2,), (2, 3)]
    for k in range(2):
        x, left, _, _ = np.linalg.lstsq(a[k], b[k])
        np.testing.assert_allclose(found.solution[k].numpy(), x)
        np.testing.assert_allclose(found.residuals[k].numpy(), left[0])
    wide = td.linalg.lstsq(td.tensor(a[0].T), td.tensor(b[0, :3]))
    np.testing.assert_allclose(wide.solution.numpy(), np.linalg.lstsq(a[0].T, b[0, :3])[0])


def test_a_system_with_the_unknown_on_the_left():
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 3, 3)), rng.standard_normal((4, 3))
    x = LA.solve(td.tensor(a), td.tensor(b), left=False)
    np.testing.assert_allclose(x.numpy() @ a, np.broadcast_to(b, (2, 4, 3)), atol=1e-12)
    for shape in ((3,), (3, 2)):
        with pytest.raises(ShapeError, match="solve: shapes do not fit"):
            LA.solve(td.tensor(a), td.ones(shape, dtype="float64"), left=False)


def test_powers_of_many_vectors():
    x = np.random.default_rng(4).standard_normal((2, 3))
    for count in (None, 1, 5):
        wanted = np.stack([np.vander(row, count, increasing=True) for row in x])
        np.testing.assert_allclose(LA.vander(td.tensor(x), count).numpy(), wanted)
    with pytest.raises(ShapeError, match="vander: needs vectors"):
        LA.vander(td.tensor(1.0))
