"""Calls in PyTorch's words and order: what they mean in ours, and what PyTorch gives."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.ops.defs import NAMES, TABLE, Kind
from treadle.ops.words import OURS as OTHER_NAMES
from treadle.ops.words import TURNED

rng = np.random.default_rng(2)
ARRAYS = {
    **{name: rng.normal(size=(3, 4)).astype(np.float32) for name in "xy"},
    "v": rng.normal(size=4).astype(np.float32), "c": rng.normal(size=(2, 3, 4)).astype(np.float32),
    "i": np.array([[0, 2, 1, 0]]), "k": np.array([2, 0]), "m": rng.normal(size=(3, 4)) > 0,
    "n": np.array([3, 1, 2]),
}  # fmt: skip
SAME = {
    # PyTorch's words: ours
    "T.sum(x, dim=1)": "T.sum(x, axis=1)",
    "T.sum(x, dim=(0, 1), keepdim=True)": "T.sum(x, axis=(0, 1), keepdims=True)",
    "T.sum(input=x, dim=0)": "T.sum(x, 0)",
    "x.sum(dim=1, keepdim=True)": "x.sum(1, True)",
    "x.sum(dim=-1, dtype=T.float64)": "x.sum(-1, dtype='float64')",
    "T.mean(x, dim=1, keepdim=True)": "T.mean(x, 1, True)",
    "x.mean(dim=0)": "x.mean(0)",
    "T.mean(x, dim=1, dtype=T.float64)": "T.mean(x.double(), 1)",
    "T.prod(x, dim=1)": "T.prod(x, 1)",
    "T.var(x, dim=1, unbiased=False)": "T.var(x, 1)",
    "T.std(x, dim=1, unbiased=True)": "T.std(x, 1, correction=1)",
    "T.std(x, dim=1, correction=1)": "T.std(x, 1, correction=1)",
    "x.var(dim=0, correction=0, keepdim=True)": "x.var(0, True)",
    "T.argmax(x, dim=1)": "T.argmax(x, 1)",
    "x.argmin(dim=1, keepdim=True)": "x.argmin(1, True)",
    "T.all(m, dim=1)": "T.all(m, 1)",
    "m.any(dim=0, keepdim=True)": "m.any(0, True)",
    "T.count_nonzero(m, dim=1)": "T.count_nonzero(m, 1)",
    "T.logsumexp(x, dim=1, keepdim=True)": "T.logsumexp(x, 1, True)",
    "T.norm(x, p=3, dim=1)": "T.norm(x, 3, 1)",
    "T.norm(x, p='fro')": "T.norm(x)",
    "x.norm(p=1, dim=0, keepdim=True)": "x.norm(1, 0, True)",
    "T.quantile(x, 0.3, dim=1, keepdim=True)": "T.quantile(x, 0.3, 1, True)",
    "T.cumsum(x, dim=1)": "T.cumsum(x, 1)",
    "x.cumprod(dim=0)": "x.cumprod(0)",
    "T.cumsum(n, dim=0, dtype=T.float64)": "T.cumsum(n, 0, 'float64')",
    "T.logcumsumexp(x, dim=1)": "T.logcumsumexp(x, 1)",
    "T.softmax(x, dim=0)": "T.softmax(x, 0)",
    "x.softmax(dim=1, dtype=T.float64)": "x.double().softmax(1)",
    "x.log_softmax(dim=1)": "x.log_softmax(1)",
    "T.argsort(x, dim=1, descending=True)": "T.argsort(x, 1, True)",
    "T.topk(x, k=2, dim=1, largest=False, sorted=True)[0]": "T.topk(x, 2, 1, False)[0]",
    "T.add(input=x, other=y)": "x + y",
    "T.add(x, y, alpha=2)": "x + 2 * y",
    "x.add(y, alpha=0.5)": "x + 0.5 * y",
    "T.sub(x, 1.5, alpha=2)": "x - 3.0",
    "x.mul(other=y)": "x * y",
    "T.div(x, other=y, rounding_mode='floor')": "x // y",
    "T.pow(x, exponent=2)": "x ** 2",
    "T.pow(input=x, exponent=3)": "x ** 3",
    "T.maximum(x, other=y)": "T.maximum(x, y)",
    "T.max(x, y)": "T.maximum(x, y)",
    "T.min(x, other=y)": "T.minimum(x, y)",
    "x.max(y)": "T.maximum(x, y)",
    "T.atan2(input=x, other=y)": "T.atan2(x, y)",
    "T.hypot(x, other=y)": "T.hypot(x, y)",
    "T.fmod(x, other=2.0)": "T.fmod(x, 2.0)",
    "T.eq(x, other=x)": "x == x",
    "x.lt(other=0)": "x < 0",
    "T.where(m, input=x, other=y)": "T.where(m, x, y)",
    "T.lerp(x, end=y, weight=0.25)": "T.lerp(x, y, 0.25)",
    "T.clamp(input=x, min=-0.5, max=0.5)": "T.clip(x, -0.5, 0.5)",
    "T.isclose(x, other=y)": "T.isclose(x, y)",
    "T.matmul(x, other=v)": "x @ v",
    "T.bmm(c, mat2=c.mT)": "c @ c.mT",
    "T.mv(x, vec=v)": "x @ v",
    "T.dot(v, tensor=v)": "v @ v",
    "T.outer(v, vec2=v)": "T.outer(v, v)",
    "T.tensordot(x, y, dims=2)": "T.tensordot(x, y, 2)",
    "T.cat([x, y], dim=1)": "T.concat([x, y], 1)",
    "T.cat(tensors=(x, y), dim=-1)": "T.concat([x, y], 1)",
    "T.stack([x, y], dim=1)": "T.stack([x, y], 1)",
    "T.stack(T.unbind(c, dim=1), dim=0)": "T.permute(c, (1, 0, 2))",
    "T.split(x, 3, dim=1)[0]": "x[:, :3]",
    "T.split(x, split_size_or_sections=[1, 3], dim=1)[1]": "x[:, 1:]",
    "x.split(split_size=3, dim=1)[1]": "x[:, 3:]",
    "T.chunk(x, chunks=2, dim=1)[1]": "x[:, 2:]",
    "T.permute(c, dims=(2, 0, 1))": "T.permute(c, (2, 0, 1))",
    "c.permute(dims=(2, 0, 1))": "T.permute(c, (2, 0, 1))",
    "T.transpose(x, dim0=0, dim1=1)": "x.T",
    "x.transpose(dim0=0, dim1=1)": "x.T",
    "T.movedim(c, source=0, destination=2)": "T.movedim(c, 0, 2)",
    "T.unsqueeze(x, dim=1)": "T.unsqueeze(x, 1)",
    "x.unsqueeze(dim=-1)": "x.unsqueeze(-1)",
    "T.squeeze(x[:1], dim=0)": "x[0]",
    "T.flatten(c, start_dim=1)": "c.reshape(2, 12)",
    "c.flatten(start_dim=0, end_dim=1)": "c.reshape(6, 4)",
    "T.unflatten(x, dim=1, sizes=(2, 2))": "x.reshape(3, 2, 2)",
    "T.flip(x, dims=(0, 1))": "T.flip(x)",
    "x.flip(dims=(1,))": "T.flip(x, 1)",
    "T.roll(x, shifts=1, dims=0)": "T.roll(x, 1, 0)",
    "T.roll(x, shifts=(1, -1), dims=(0, 1))": "T.roll(x, (1, -1), (0, 1))",
    "T.rot90(x, k=1, dims=(0, 1))": "T.rot90(x)",
    "T.tile(x, dims=(2, 1))": "T.tile(x, (2, 1))",
    "T.tril(x, diagonal=1)": "T.tril(x, 1)",
    "x.triu(diagonal=-1)": "x.triu(-1)",
    "T.diag(v, diagonal=1)": "T.diag(v, 1)",
    "T.diagonal(c, offset=1, dim1=1, dim2=2)": "T.diagonal(c, 1, 1, 2)",
    "T.repeat_interleave(x, 2, dim=1)": "T.repeat(x, 2, 1)",
    "T.gather(x, 0, i)": "T.gather(x, i, 0)",
    "T.gather(x, dim=0, index=i)": "T.gather(x, i, 0)",
    "T.gather(input=x, dim=0, index=i, sparse_grad=False)": "T.gather(x, i, 0)",
    "x.gather(0, i)": "T.gather(x, i, 0)",
    "x.gather(dim=0, index=i)": "T.gather(x, i, 0)",
    "T.index_select(x, 0, k)": "x[k]",
    "x.index_select(dim=1, index=k)": "x[:, k]",
    "T.take(x, index=k)": "x.reshape(-1)[k]",
    "T.scatter(x, 0, i, y)": "T.scatter(x, i, y[:1], 0)",
    "x.scatter(dim=0, index=i, value=1.5)": "T.put_along_axis(x, i, 1.5, 0)",
    "T.scatter(x, dim=0, index=i, src=y)": "T.scatter(x, i, y[:1], 0)",
    "T.scatter_add(x, 0, i, y)": "T.scatter_add(x, i, y[:1], 0)",
    "x.scatter_add(dim=0, index=i, src=y)": "T.scatter_add(x, i, y[:1], 0)",
    "T.scatter_reduce(x, 0, i, y, reduce='amax')": "T.scatter_max(x, i, y[:1], 0)",
    "T.index_add(x, 0, k, y[:2], alpha=2)": "T.index_add(x, k, 2 * y[:2], 0)",
    "x.index_add(dim=0, index=k, source=y[:2])": "T.index_add(x, k, y[:2], 0)",
    "T.masked_fill(x, mask=m, value=1.5)": "T.where(m, 1.5, x)",
    "T.masked_select(input=x, mask=m)": "x[m]",
    "T.isin(elements=n, test_elements=k)": "T.isin(n, k)",
    "T.nonzero(m, as_tuple=False)": "T.argwhere(m)",
    "T.nonzero(m, as_tuple=True)[0]": "T.nonzero(m)[0]",
    "T.unique(n, sorted=True)": "T.unique(n)",
    "T.unique(m.long(), dim=0)": "T.unique(m.long(), axis=0)",
    "T.diff(x, n=1, dim=0)": "T.diff(x, axis=0)",
    "T.einsum('ij,kj->ik', x, y)": "x @ y.T",
    "T.zeros(size=(2, 3))": "T.zeros(2, 3)",
    "T.full(size=(2,), fill_value=7.0)": "T.full((2,), 7.0)",
    "T.full_like(input=x, fill_value=2)": "T.full_like(x, 2)",
    "T.zeros_like(input=x)": "T.zeros_like(x)",
    "T.arange(start=1, end=7, step=2)": "T.arange(1, 7, 2)",
    "T.arange(end=4)": "T.arange(4)",
    "T.linspace(start=0, end=1, steps=5)": "T.linspace(0, 1, 5)",
    "T.linspace(0, 10, steps=4, dtype=T.int64)": "T.linspace(0, 10, 4, dtype='int64')",
    "T.logspace(0, 2, steps=3)": "T.logspace(0, 2, 3)",
    "T.eye(n=2, m=3)": "T.eye(2, 3)",
    "T.celu(input=x, alpha=2.0)": "T.celu(x, 2.0)",
    "T.exp(input=x)": "T.exp(x)",
    "T.addmm(x, mat1=y, mat2=x.T @ x, beta=2, alpha=3)": "2 * x + 3 * (y @ (x.T @ x))",
    "T.addcmul(x, tensor1=y, tensor2=y, value=2)": "x + 2 * y * y",
    "T.cdist(x1=x, x2=y)": "T.cdist(x, y)",
    "T.kthvalue(x, k=2, dim=1, keepdim=True)[0]": "T.sort(x, 1)[:, 1:2]",
    "T.var_mean(x, dim=1, unbiased=False)[0]": "T.var(x, 1)",
    "T.narrow(x, dim=1, start=1, length=2)": "x[:, 1:3]",
    "T.select(x, dim=1, index=2)": "x[:, 2]",
    "T.cross(x[:, :3], other=y[:, :3], dim=1)": "T.cross(x[:, :3], y[:, :3], axis=1)",
    "T.tensor_split(x, 3, dim=1)[0]": "x[:, :2]",
    "T.nansum(x, dim=1, dtype=T.float64)": "x.double().sum(1)",
    "T.index_fill(x, dim=0, index=k, value=2.0)": "T.index_fill(x, k, 2.0, 0)",
    "T.amax(x, dim=(0, 1), keepdim=True)": "x.max(keepdims=True)",
    "T.take_along_dim(x, i, dim=0)": "T.gather(x, i, 0)",
    "T.diag_embed(x, dim1=0, dim2=1)": "T.diag_embed(x, 0, 0, 1)",
    "T.trapezoid(x, dim=0)": "T.trapezoid(x, axis=0)",
    "T.gcd(n, other=2 * n)": "n",
    "T.where(m)[1]": "T.nonzero(m)[1]",
    "T.index_select(x, 0, index=k)": "x[k]",
    "T.scatter(x, 0, i, src=y)": "T.scatter(x, i, y[:1], 0)",
    "x.scatter(0, i, value=1.5)": "T.put_along_axis(x, i, 1.5, 0)",
    "x.scatter(0, i, value=2, reduce='add')": "T.scatter_add(x, i, T.full((1, 4), 2.0), 0)",
    "x.scatter_add(0, i, src=y)": "T.scatter_add(x, i, y[:1], 0)",
    "T.scatter_reduce(x, 0, i, src=y, reduce='amax')": "T.scatter_max(x, i, y[:1], 0)",
    "x.index_add(0, k, source=y[:2])": "T.index_add(x, k, y[:2], 0)",
    "T.index_copy(x, 0, k, source=y[:2])": "T.index_copy(x, k, y[:2], 0)",
    "T.split(tensor=x, split_size_or_sections=3, dim=1)[0]": "x[:, :3]",
    "T.searchsorted(n.cumsum(0), n, out_int32=True)": "T.searchsorted(n.cumsum(0), n).int()",
    "T.nanquantile(x, T.tensor([0.2, 0.9]), dim=1)": "T.nanquantile(x, (0.2, 0.9), 1)",
}  # fmt: skip


def space(T, tensor):
    return {"T": T} | {name: tensor(x) for name, x in ARRAYS.items()}


def compare(found, wanted):
    found, wanted = found.numpy(), wanted.numpy()
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


OURS = space(td, td.tensor)


@pytest.mark.parametrize("call", SAME)
def test_words_mean_ours(call):
    compare(eval(call, dict(OURS)), eval(SAME[call], dict(OURS)))


@pytest.mark.parametrize("call", SAME)
def test_words_mean_theirs(call):
    torch = pytest.importorskip("torch")
    compare(eval(call, dict(OURS)), eval(call, space(torch, torch.tensor)))


@pytest.mark.parametrize(("call", "words"), [
    ("T.sum(x, 1, dim=0)", "axis twice: as dim"),
    ("T.sum(x, dim=0, axis=1)", "axis twice: as dim"),
    ("T.sum(x, dimm=0)", "no argument 'dimm': it takes x, axis, keepdims, dtype"),
    ("T.exp(x, dim=1)", "no argument 'dim'"),
    ("T.gather(x)", "missing index, axis: it takes x, index, axis"),
    ("T.gather(x, dim=1)", "missing index"),
    ("x.gather(index=i)", "missing axis"),
    ("T.add(other=x)", "missing x"),
    ("T.add(x)", "missing y: it takes x, y"),
    ("T.where(m, x)", "missing y"),
    ("x.scatter(0, i)", "missing values"),
    ("T.sum()", "missing x"),
    ("x.scatter_add(dim=0, index=i)", "missing values"),
    ("T.sum(x, out=y)", "no argument 'out'"),
])  # fmt: skip
def test_words_that_do_not_add_up(call, words):
    with pytest.raises(TypeError) as caught:
        eval(call, dict(OURS))
    assert words in str(caught.value)
    assert caught.value.__cause__ is None


def test_five_words_are_taken_wherever_pytorch_has_them():
    torch = pytest.importorskip("torch")
    refused = []
    for known, name in NAMES.items():
        op = TABLE[name]
        source = op.define or op.arguments or op.reference
        if not op.public or source is None or op.kind is Kind.RANDOM:
            continue
        code = source.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{known}"):
            theirs = {argument.name for argument in schema.arguments}
            for word in theirs & {"dim", "dims", "keepdim", "input", "other"}:
                ours = names[:1] if word == "input" else OTHER_NAMES[word]
                taken = word in names or (name, word) in TURNED or set(ours) & set(names)
                refused += [] if taken else [(known, word)]
    assert refused == [("slice", "dim")]  # ours takes ranges of all axes


def test_words_are_translated_under_compile_and_in_gradients():
    x = OURS["x"]
    f = td.compile(lambda x: td.softmax(x, dim=1).sum(dim=0, keepdim=True))
    compare(f(x), td.softmax(x, 1).sum(0, True))
    found = td.grad(lambda x: td.add(x, x, alpha=3).sum(dim=1).sum())(x)
    assert (found.numpy() == 4).all()


def test_what_a_name_means_here_where_it_has_two_meanings():
    x = td.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert td.repeat(x[0], 2).tolist() == x[0].repeat(2).tolist() == [1, 1, 2, 2]
    assert td.var(x[0]).item() == 0.25
    assert td.median(x).item() == 2.5
    assert td.take(x, td.tensor([3, 0])).tolist() == [5, 1]
    assert td.meshgrid(x[0], td.ones(3))[0].shape == (3, 2)
    assert td.sum(x, axis=()).tolist() == x.tolist()
    assert td.equal(x, x).shape == (2, 2)
    assert td.max(x, dim=1).tolist() == [2, 5]
    assert td.nanmedian(x).item() == 2.5
    a, b = td.eye(3)[0].reshape(1, 3), td.eye(3)
    assert td.cross(a.expand((3, 3)), b).tolist() == td.linalg.cross(a, b).tolist()
    with pytest.raises(ValueError, match="size 1"):
        td.squeeze(x, 0)
    c = OURS["c"]
    assert c[0, :, td.tensor([1, 2])].shape == (2, 3)
    compare(c[0][:, td.tensor([1, 2])], c[0, :, td.tensor([1, 2])].T)
    assert (x * td.tensor(2.0, dtype="float64")).dtype is td.float64
    assert td.sum(td.tensor([1], dtype="uint8")).dtype is td.uint64
    assert td.sort(x, dim=1).shape == (2, 2)
