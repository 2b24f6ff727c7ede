"""torch.linalg, name by name: the same values and gradients, or why not.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import treadle as td

torch = pytest.importorskip("torch")

WITHOUT = "its results are those without _ex; ours are NaN, and `info` is there where it is cheap"
WHY_NOT = {
    "LinAlgError": "nothing is raised: what has no answer is NaN",
    "ldl_factor": "not written", "ldl_factor_ex": "not written", "ldl_solve": "not written",
    "lu_factor_ex": WITHOUT, "solve_ex": WITHOUT,
}  # fmt: skip
TOLERANCE = {"float32": 2e-4, "float64": 1e-9, "complex64": 2e-4, "complex128": 1e-9}


def symmetric(x):
    return x + x.conj().swapaxes(-1, -2)


def definite(x):
    return x @ x.conj().swapaxes(-1, -2) + np.eye(x.shape[-1])


def regular(x):
    return x + 3 * np.eye(x.shape[-1])


def same(x):
    return x


# name, makers of operands with their shapes, options here, options there, real ones only
S, T, W = (4, 4), (6, 3), (3, 6)
CASES = [
    ("cholesky", [(definite, S)], {}, {}),
    ("cholesky", [(definite, (2, 3, 3))], {"upper": True}, {"upper": True}),
    ("det", [(regular, S)], {}, {}), ("det", [(regular, (2, 1, 3, 3))], {}, {}),
    ("inv", [(regular, S)], {}, {}), ("inv", [(regular, (3, 2, 2))], {}, {}),
    ("solve", [(regular, S), (same, (4, 2))], {}, {}),
    ("solve", [(regular, S), (same, (4,))], {}, {}),
    ("solve", [(regular, (3, 1, 4, 4)), (same, (2, 4, 2))], {}, {}),
    ("solve", [(regular, S), (same, (2, 4))], {"left": False}, {"left": False}),
    ("solve", [(regular, (3, 1, 4, 4)), (same, (2, 3, 4))], {"left": False}, {"left": False}),
    ("vander", [(same, (4,))], {}, {}), ("vander", [(same, (2, 3))], {"N": 5}, {"N": 5}),
    ("solve_triangular", [(regular, S), (same, (4, 2))], {"upper": True}, {"upper": True}),
    ("solve_triangular", [(regular, S), (same, (2, 4))], {"upper": False, "left": False},
     {"upper": False, "left": False}),
    ("eigvalsh", [(symmetric, S)], {}, {}),
    ("eigvalsh", [(symmetric, S)], {"UPLO": "U"}, {"UPLO": "U"}),
    ("svdvals", [(same, T)], {}, {}), ("svdvals", [(same, (2, 3, 5))], {}, {}),
    ("pinv", [(same, T)], {}, {}), ("pinv", [(same, W)], {}, {}),
    ("pinv", [(symmetric, S)], {"hermitian": True}, {"hermitian": True}),
    ("matrix_exp", [(same, S)], {}, {}), ("matrix_exp", [(same, (2, 3, 3))], {}, {}),
    *(("matrix_power", [(regular, S)], {"n": n}, {"n": n}) for n in (-2, 0, 1, 5)),
    *(("matrix_norm", [(same, (2, 3, 4))], {"ord": p}, {"ord": p})
      for p in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"))),
    ("matrix_norm", [(same, (2, 3, 4))], {"ord": "nuc", "axis": (0, 2), "keepdims": True},
     {"ord": "nuc", "dim": (0, 2), "keepdim": True}),
    *(("vector_norm", [(same, (3, 4))], {"ord": p, "axis": 1}, {"ord": p, "dim": 1})
      for p in (1, 2, 3.5, float("inf"))),
    ("norm", [(same, (3, 4))], {}, {}), ("norm", [(same, (3, 4))], {"ord": 2}, {"ord": 2}),
    ("norm", [(same, (2, 3, 4))], {"ord": 1, "axis": (1, 2)}, {"ord": 1, "dim": (1, 2)}),
    *(("cond", [(regular, S)], {"p": p}, {"p": p}) for p in (None, "fro", 1, 2, -2)),
    ("multi_dot", [(same, (2, 5)), (same, (5, 3)), (same, (3, 4))], {}, {}),
    ("cross", [(same, (4, 3)), (same, (4, 3))], {}, {}),
    ("diagonal", [(same, (2, 3, 4))], {"offset": 1}, {"offset": 1}),
    ("matmul", [(same, (2, 3)), (same, (3, 4))], {}, {}),
    ("vecdot", [(same, (2, 3)), (same, (2, 3))], {}, {}),
    ("tensorinv", [(lambda x: regular(x.reshape(6, 6)).reshape(2, 3, 6), (2, 3, 6))], {}, {}),
    ("tensorsolve", [(lambda x: regular(x.reshape(6, 6)).reshape(2, 3, 6), (2, 3, 6)),
                     (same, (2, 3))], {}, {}),
    ("householder_product", [(same, (5, 3)), (lambda x: abs(x) + 0.5, (3,))], {}, {}),
]  # fmt: skip
LISTED = ("multi_dot",)
HALVES = ("cholesky", "eigvalsh")


def numbered(cases):
    return [pytest.param(*case, id=f"{case[0]}-{k}") for k, case in enumerate(cases)]


def operands(name, makers, dtype):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    found = []
    for make, shape in makers:
        x = rng.standard_normal(shape)
        if dtype.startswith("complex"):
            x = x + 1j * rng.standard_normal(shape)
        found.append(make(x).astype(dtype))
    return found


def called(function, name, xs, options):
    return function(
        [*xs] if name in LISTED else xs[0], *(() if name in LISTED else xs[1:]), **options
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "makers", "ours", "theirs"), numbered(CASES))
def test_values_and_gradients(name, makers, ours, theirs, dtype):
    arrays = operands(name, makers, dtype)
    mine = [td.tensor(x, requires_grad=True) for x in arrays]
    other = [torch.tensor(x, requires_grad=True) for x in arrays]
    result = called(getattr(td.linalg, name), name, mine, ours)
    wanted = called(getattr(torch.linalg, name), name, other, theirs)
    rtol = TOLERANCE[dtype]
    np.testing.assert_allclose(
        result.numpy(), wanted.detach().resolve_conj().numpy(), rtol=rtol, atol=rtol
    )
    if name == "cond" and ours["p"] in ("fro", 1):
        return  # PyTorch's own gradient is refused by its autograd
    weights = np.random.default_rng(0).uniform(0.5, 1.5, wanted.shape).astype(arrays[0].real.dtype)
    (result * td.tensor(weights)).sum().real.backward()
    loss = (wanted * torch.tensor(weights)).sum()
    (loss.real if loss.is_complex() else loss).backward()
    for x, y in zip(mine, other, strict=True):
        own, slope = x.grad.numpy(), y.grad.resolve_conj().numpy()
        if name in HALVES or "hermitian" in ours:  # the rest has no meaning
            own, slope = symmetric(own), symmetric(slope)
        scale = max(1.0, np.abs(slope).max(initial=0))
        np.testing.assert_allclose(own / scale, slope / scale, rtol=rtol, atol=rtol)


VECTORS = ("eigh", "svd", "qr", "eig", "lu", "slogdet", "lstsq", "lu_factor")


def invariant(name, found, absolute):
    """Of results whose sign or angle is free, what is not."""
    first, *rest = found
    if name == "eigh":
        return [first, absolute(rest[0])]
    if name == "svd":
        return [absolute(first), rest[0], absolute(rest[1])]
    return [*found] if name != "eig" else []


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", VECTORS)
def test_several_results(name, dtype):
    make = symmetric if name == "eigh" else regular
    arrays = operands(name, [(make, (2, 4, 4))] + [(same, (2, 4, 2))] * (name == "lstsq"), dtype)
    mine = [td.tensor(x, requires_grad=True) for x in arrays]
    other = [torch.tensor(x, requires_grad=True) for x in arrays]
    result = getattr(td.linalg, name)(*mine)
    options = {"driver": "gelsd"} if name == "lstsq" else {}
    wanted = getattr(torch.linalg, name)(*other, **options)
    rtol = TOLERANCE[dtype]
    pairs = zip(invariant(name, result, td.abs), invariant(name, wanted, torch.abs), strict=True)
    total, aim = 0.0, 0.0
    for x, y in pairs:
        if y.numel() == 0:
            continue
        np.testing.assert_allclose(
            x.detach().numpy(), y.detach().numpy(), rtol=10 * rtol, atol=rtol
        )
        if y.requires_grad and name not in ("lstsq", "slogdet"):
            total, aim = total + td.abs(x).sum(), aim + torch.abs(y).sum()
    if name == "eig":
        order = [np.sort_complex(np.round(x.detach().numpy(), 3)) for x in (result[0], wanted[0])]
        np.testing.assert_allclose(*order, atol=2e-3)
        total, aim = td.abs(result[0]).sum(), torch.abs(wanted[0]).sum()
    if not isinstance(total, float):
        total.backward()
        aim.backward()
        slope = other[0].grad.numpy()
        scale = max(1.0, np.abs(slope).max())
        np.testing.assert_allclose(
            mine[0].grad.numpy() / scale, slope / scale, rtol=10 * rtol, atol=10 * rtol
        )


def test_every_name_is_there_or_has_a_reason():
    names = [
        name for name, value in vars(torch.linalg).items()
        if not name.startswith("_") and callable(value) and "torch._" not in str(type(value))
    ]  # fmt: skip
    missing = {name for name in names if not hasattr(td.linalg, name)}
    known = {name for name in missing if name not in WHY_NOT and name.islower()}
    assert known <= {"common_notes", "tensor"}, sorted(known)
    assert all(not hasattr(td.linalg, name) for name in WHY_NOT)
