"""vmap: axes, nested arguments, randomness, assignments, modules, state, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, NotSupported, OperandError, ShapeError
from treadle.ops.defs import TABLE, Kind, Op

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 3))
B = RNG.normal(size=(4, 3))


def close(found, wanted):
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-14)


# ---- axes


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("out", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("into", [0, 1, -1])
def test_axes_go_where_they_are_said_to(into, out, compiled):
    x = RNG.normal(size=(2, 3))
    f = td.vmap(lambda x: x.reshape(-1, 1) * td.tensor([1.0, 2.0], dtype="float64"), into, out)
    found = (td.compile(f) if compiled else f)(td.tensor(x))
    samples = np.moveaxis(x, into, 0)
    wanted = np.stack([s.reshape(-1, 1) * np.array([1.0, 2.0]) for s in samples], out)
    close(found, wanted)


def test_axes_are_nested_like_the_arguments_or_one_for_all():
    a, b = td.tensor(A), td.tensor(B)
    f = lambda p, x: (p["w"] * x + p["b"][0]).sum()  # noqa: E731
    wanted = (A * B + A).sum(1)
    given = ({"w": a, "b": [a]}, b)
    close(td.vmap(f)(*given), wanted)
    close(td.vmap(f, in_axes=(0, 0))(*given), wanted)
    close(td.vmap(f, in_axes=({"w": 0, "b": [0]}, 0))(*given), wanted)
    close(td.vmap(f, in_axes=[{"w": 1, "b": 0}, 0])({"w": a.T, "b": [a]}, b), wanted)
    shared = td.vmap(f, in_axes=({"w": None, "b": 0}, 0))({"w": td.tensor(A[0]), "b": [a]}, b)
    close(shared, (A[0] * B + A).sum(1))


def test_results_are_nested_and_have_axes_of_their_own():
    x = td.tensor(A)
    f = lambda x: {"a": x * 2.0, "b": (x.sum(), 7, "text")}  # noqa: E731
    found = td.vmap(f, out_axes={"a": 1, "b": 0})(x)
    close(found["a"], (A * 2).T)
    close(found["b"][0], A.sum(1))
    assert found["b"][1:] == (7, "text")


def test_what_is_the_same_for_all_is_repeated_or_left_out():
    x, w = td.tensor(A), td.tensor(B)
    close(td.vmap(lambda x: w)(x), np.stack([B] * 4))
    close(td.vmap(lambda x: w, out_axes=None)(x), B)
    with pytest.raises(ArgumentError, match="differs from sample to sample"):
        td.vmap(lambda x: x, out_axes=None)(x)


def test_words_of_pytorch():
    close(td.vmap(td.dot, in_dims=(1, None), out_dims=0)(td.tensor(A), td.ones(4).double()),
          A.sum(0))  # fmt: skip


def test_keyword_arguments_are_shared():
    found = td.vmap(lambda x, *, scale: x * scale)(td.tensor(A), scale=td.tensor(A[0]))
    close(found, A * A[0])


@pytest.mark.parametrize("size", [0, 1, 5])
def test_any_number_of_samples(size):
    x = RNG.normal(size=(size, 3))
    close(td.vmap(lambda x: td.softmax(x) @ x)(td.tensor(x)),
          [(np.exp(s) / np.exp(s).sum()) @ s for s in x])  # fmt: skip


def test_nested_maps_and_numbers_beside_tensors():
    a = td.tensor(A)
    table = td.vmap(td.vmap(lambda x, y: x * y, (None, 0)), (0, None))(a, a)
    close(table, np.einsum("ik,jk->ijk", A, A))
    close(td.vmap(lambda x, n: x * n)(a, 3), A * 3)


def test_one_program_for_every_number_of_samples():
    samples = td.Dim("samples", max=64)
    w = td.tensor(RNG.normal(size=(3, 2)))
    f = td.compile(td.vmap(td.grad(lambda x: td.tanh(x @ w).sum())))
    for size in (5, 64, 2):
        x = RNG.normal(size=(size, 3))
        slope = 1 - np.tanh(x @ w.numpy()) ** 2
        close(f(samples.of(td.tensor(x), axis=0)), slope @ w.numpy().T)
    assert sum(map(len, f.entries.values())) == 1


# ---- what a function may do


def test_elements_may_be_assigned_and_arguments_stay():
    def f(x, y):
        x[0] = y.sum()
        z = td.zeros(3, dtype="float64")
        z[1:] = x[:2]
        z[0] += 1.0
        return x, z

    x = td.tensor(A)
    first, second = td.vmap(f)(x, td.tensor(B))
    wanted = A.copy()
    wanted[:, 0] = B.sum(1)
    close(first, wanted)
    close(second, np.concatenate([np.ones((4, 1)), wanted[:, :2]], 1))
    close(x, A)


def test_samples_index_and_are_indexed():
    table = td.tensor(RNG.normal(size=(6, 2)))
    index = td.tensor([[0, 5], [2, 2], [-1, 1]])
    close(td.vmap(lambda i: table[i])(index), table.numpy()[index.numpy()])
    rows = td.tensor(A)
    at = td.tensor([0, 2, 1, 1])
    close(td.vmap(lambda x, i: x[i])(rows, at), A[np.arange(4), at.numpy()])
    mask = A > 0
    close(td.vmap(lambda x, m: td.where(m, x, 0.0))(rows, td.tensor(mask)), A * mask)
    close(td.vmap(lambda x: td.stack([row * 2.0 for row in x]))(rows), A * 2)


@pytest.mark.parametrize("compiled", [False, True])
def test_draws_differ_from_sample_to_sample(compiled):
    f = td.vmap(lambda x: x + td.rand(3))
    f = td.compile(f) if compiled else f
    td.manual_seed(5)
    found = f(td.zeros(4, 3)).numpy()
    td.manual_seed(5)
    np.testing.assert_array_equal(found, td.rand(4, 3).numpy())
    td.manual_seed(5)
    twice = td.vmap(td.vmap(lambda x: x + td.rand(2)))(td.zeros(4, 3, 2)).numpy()
    td.manual_seed(5)
    np.testing.assert_array_equal(twice, td.rand(4, 3, 2).numpy())


def test_draws_that_are_the_same_and_keys():
    x = td.zeros(4, 3)
    same = td.vmap(lambda x: x + td.rand(3), randomness="same")(x).numpy()
    assert (same == same[0]).all()
    key = td.random.key(1)
    shared = td.vmap(lambda x: x + td.random.uniform((3,), key=key))(x).numpy()
    assert (shared == shared[0]).all()
    keys = td.random.split(key, 4)
    own = td.vmap(lambda k: td.random.uniform((3,), key=k))(keys).numpy()
    wanted = [td.random.uniform((3,), key=keys[n]).numpy() for n in range(4)]
    np.testing.assert_array_equal(own, np.stack(wanted))
    with pytest.raises(ArgumentError, match="randomness"):
        td.vmap(lambda x: x, randomness="error")


def test_modules_and_their_gradients_sample_by_sample():
    model = nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.LayerNorm(5), nn.Linear(5, 2))
    x = td.tensor(A.astype("float32"))
    close_enough = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(td.vmap(model)(x).numpy(), model(x).numpy(), **close_enough)
    td.vmap(lambda x: model(x).sum())(x).sum().backward()
    mapped = [p.grad.numpy() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for found, p in zip(mapped, model.parameters(), strict=True):
        np.testing.assert_allclose(found, p.grad.numpy(), **close_enough)


def test_images_of_samples_are_one_batch():
    x, w = RNG.normal(size=(4, 2, 3, 6, 6)), RNG.normal(size=(5, 3, 3, 3))
    kernels = td.tensor(w)
    found = td.vmap(lambda x: td.conv2d(x, kernels, padding=1))(td.tensor(x))
    wanted = td.conv2d(td.tensor(x.reshape(8, 3, 6, 6)), kernels, padding=1)
    np.testing.assert_allclose(found.numpy(), wanted.numpy().reshape(found.shape), rtol=1e-10)


def test_a_matrix_that_samples_share_is_one_product():
    w = td.tensor(RNG.normal(size=(3, 3)))
    for f in (lambda x: x @ w, lambda x: w @ x, lambda x: td.linear(x, w)):
        calls = [c for row in td.explain(td.vmap(f), td.tensor(A)).rows for c in row.ops]
        assert calls.count("matrix_product") == 1
        shapes = [n.shape for n in _products(td.vmap(f)(td.tensor(A)))]
        assert shapes
        assert all(len(shape) == 2 for shape in shapes)


def _products(y):
    from treadle.ir.graph import toposort
    from treadle.passes.pipeline import simplify

    return [n for n in toposort(simplify([y._node])) if n.op.name == "matrix_product"]


def test_compiled_functions_inside_are_part_of_it():
    inner = td.compile(lambda x: td.sin(x).sum())
    close(td.vmap(inner)(td.tensor(A)), np.sin(A).sum(1))
    close(td.compile(td.vmap(td.grad(inner)))(td.tensor(A)), np.cos(A))


def test_what_a_compiled_function_closes_over_is_read_anew():
    w = td.tensor(A[0])
    f = td.compile(lambda x: td.vmap(lambda x: x * w)(x))
    close(f(td.tensor(A)), A * A[0])
    w.assign(td.tensor(A[1]))
    close(f(td.tensor(A)), A * A[1])


# ---- what is refused


def test_values_of_samples_cannot_be_read():
    x = td.tensor(A)
    for f in (lambda x: x.sum().item(), lambda x: x if x.sum() > 0 else -x, lambda x: x.numpy(),
              lambda x: float(x[0])):  # fmt: skip
        with pytest.raises(ArgumentError, match=r"sample to sample.*test_vmap.py:\d+"):
            td.vmap(f)(x)
    with pytest.raises(ArgumentError, match=r"td\.where"):
        td.vmap(lambda x: x[x > 0])(x)
    close(td.vmap(lambda x: x * td.tensor(2.0).item())(x), A * 2)


def test_tensors_outside_are_not_changed():
    x, kept = td.tensor(A), td.zeros(3, dtype="float64")

    def writes(x):
        kept[0] = x.sum()
        return x

    def collects(x):
        (weight * x).sum().backward()
        return x

    weight = td.ones(3, dtype="float64").requires_grad_()
    for f in (writes, lambda x: kept.assign(x), collects):
        with pytest.raises(ArgumentError, match="outside of the function"):
            td.vmap(f)(x)
    assert kept.tolist() == [0.0, 0.0, 0.0]
    assert weight.grad is None
    steps = td.zeros(())

    def counts(x):
        steps.assign(steps + 1.0)
        return x

    td.vmap(counts)(x)
    assert steps.item() == 1.0


def test_arguments_that_do_not_fit():
    x = td.tensor(A)
    with pytest.raises(ShapeError, match="different numbers"):
        td.vmap(td.add)(x, td.ones(3))
    with pytest.raises(ShapeError, match="0-d"):
        td.vmap(td.add)(x, td.tensor(1.0))
    with pytest.raises(ArgumentError, match="nothing to map"):
        td.vmap(td.add, in_axes=None)(x, x)
    with pytest.raises(ArgumentError, match="in_axes do not fit"):
        td.vmap(td.add, in_axes=(0,))(x, x)
    with pytest.raises(ArgumentError, match="out_axes do not fit"):
        td.vmap(lambda x: x, out_axes=(0, 0))(x)
    with pytest.raises(ShapeError, match="axis"):
        td.vmap(lambda x: x, in_axes=2)(x)
    with pytest.raises(OperandError, match="not a function"):
        td.vmap(x)
    with pytest.raises(OperandError, match="not a tensor"):
        td.vmap(td.add)(x, A)


def test_ops_without_a_rule_are_named():
    odd = Op(
        "odd_one", Kind.CONTRACT, "No rule knows it.",
        types=lambda dtypes: (tuple(dtypes), dtypes[0]), shape=lambda _, shapes: shapes[0],
    )  # fmt: skip
    try:
        with pytest.raises(NotSupported, match="odd_one has no rule"):
            td.vmap(lambda x: odd(x))(td.tensor(A))
    finally:
        del TABLE["odd_one"]
