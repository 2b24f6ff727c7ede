"""Which dtype a tensor has: what two meet in, what numbers become beside one, and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle.base.dtypes import ALL, FLOATS, INTEGERS, NUMBERS, promote, to_float, weak
from treadle.base.limits import result_type

OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "maximum": td.maximum,
    "minimum": td.minimum,
    "remainder": lambda x, y: x % y,
    "where": lambda x, y: td.where(td.tensor([True, False, True]), x, y),
    "product": lambda x, y: x.reshape(1, 3) @ y.reshape(3, 1),
    "concat": lambda x, y: td.concat([x, y.cast(x.dtype)]),
}


@pytest.mark.parametrize("d", ALL, ids=lambda d: d.name)
def test_tensors_promote_as_dtypes_do(d):
    for other in ALL:
        x, y = td.ones(2, dtype=d), td.ones(2, dtype=other)
        assert (x + y).dtype is promote(d, other)
        assert (x + y).numpy().astype(float).tolist() in ([2.0, 2.0], [1.0, 1.0])


def test_divisions_and_exponentials_are_floats():
    for d in INTEGERS:
        assert to_float(d) is td.float32
        assert td.exp(td.ones(1, dtype=d)).dtype is td.float32
        assert (td.ones(1, dtype=d) / td.ones(1, dtype=d)).dtype is td.float32


def test_sums_of_small_integers_do_not_overflow():
    assert td.full((300,), 200, dtype="uint8").sum().item() == 60_000
    assert td.ones(300, dtype="bool").sum().item() == 300
    assert td.ones(2, dtype="float16").sum().dtype is td.float16


@pytest.mark.parametrize("d", ALL, ids=lambda d: d.name)
def test_numbers_take_the_dtype_beside_them(d):
    x = td.ones(2, dtype=d)
    for number in (True, 1, 0.5):
        for result in (x + number, number + x):
            assert result.dtype is weak(number, d) is result_type(x, number)
        assert result.tolist()[0] in (1, 1 + number)
    assert (x / 2).dtype is to_float(d)


@pytest.mark.parametrize("d", ALL, ids=lambda d: d.name)
def test_every_dtype_goes_in_and_comes_out(d):
    values = [0, 1, 1, 0] if d.kind == "bool" else [0, 1, 2, 3]
    x = td.tensor(values, dtype=d)
    assert x.numpy().astype(np.float64).tolist() == values
    assert x.tolist() == values
    assert x[3].item() == values[3]
    assert type(x[3].item()) is (bool if d.kind == "bool" else float if d.is_float else int)
    assert td.tensor(x.numpy()).dtype is d
    assert td.from_numpy(x.numpy()).dtype is d
    for other in ALL:
        there = x.cast(other)
        assert there.dtype is other
        assert there.cast("float64").tolist() == [min(v, 1) if other.kind == "bool" else v
                                                  for v in values]  # fmt: skip
    assert (f"dtype={d.name}" in repr(x)) is (d.name not in ("float32", "int64", "bool"))


# ---- gradients


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(sorted(OPERATIONS)), st.sampled_from(FLOATS), st.sampled_from(NUMBERS))
def test_a_gradient_has_the_dtype_of_what_it_belongs_to(name, left, right):
    x = td.tensor([1.0, 2.0, 3.0], dtype=left).requires_grad_()
    y = td.tensor([2.0, 1.0, 4.0], dtype=right)
    if right.is_float:
        y.requires_grad_()
    result = OPERATIONS[name](x, y)
    assert result.dtype is (left if name == "concat" else promote(left, right))
    result.cast("float32").sum().backward()
    for operand in (x, y):
        if operand.requires_grad:
            assert operand.grad.dtype is operand.dtype
            assert operand.grad.shape == operand.shape
        else:
            assert operand.grad is None


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(("add", "sub", "mul")), min_size=1, max_size=4),
    st.lists(st.sampled_from(FLOATS), min_size=5, max_size=5),
)
def test_chains_of_dtypes_give_every_operand_its_own(names, dtypes):
    """Values are small whole numbers, exact in every float, so gradients are too."""
    tensors = [td.tensor([1.0, 2.0], dtype=d).requires_grad_() for d in dtypes]
    wide = [td.tensor([1.0, 2.0], dtype="float64").requires_grad_() for _ in dtypes]

    def chain(parts):
        total = parts[0]
        for name, part in zip(names, parts[1:], strict=False):
            total = OPERATIONS[name](total, part)
        return total

    for parts in (tensors, wide):
        chain(parts).cast("float64").sum().backward()
    for x, exact in list(zip(tensors, wide, strict=True))[: len(names) + 1]:
        assert x.grad.dtype is x.dtype
        assert x.grad.cast("float64").tolist() == exact.grad.tolist()
