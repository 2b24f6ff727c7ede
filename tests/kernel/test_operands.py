"""What products read in place: narrow operands, windows, rows times what is computed."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import treadle as td
from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import STORAGE, float32, int8, int16, uint8, uint16
from treadle.base.target import Takes
from treadle.ir.graph import structure, substitute
from treadle.ir.node import LEAF, leaf, type_of
from treadle.kernel.operands import Separable, Strided, located
from treadle.kernel.steps import LoopStep, ProductStep
from treadle.ops.contract import matrix_product
from treadle.ops.elementwise import cast
from treadle.ops.movement import flip, pad
from treadle.ops.windows import windows
from treadle.passes.pipeline import simplify
from treadle.runtime.realize import compile_graph

NARROW = (*STORAGE, int8, uint8, int16, uint16)


def given(*shape, kind=float32):
    return leaf(type_of(shape, kind), object())


def steps_of(*roots):
    return compile_graph(roots, structure(roots)[1], {}).steps


@pytest.mark.parametrize("kind", NARROW, ids=lambda d: d.name)
def test_a_widened_operand_is_read_as_it_lies(kind):
    x, w = given(40, 64), given(30, 64, kind=kind)
    for y in (matrix_product(x, cast(w, float32).mT), matrix_product(cast(w.mT, float32).mT, x.mT)):
        (step,) = steps_of(y)
        assert isinstance(step, ProductStep)
        assert [x.base.op for x in (step.left, step.right)] == [LEAF, LEAF]
        assert kind in (step.left.base.dtype, step.right.base.dtype)


@pytest.mark.parametrize("kind", NARROW, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(1, 70, 50), (7, 33, 1), (5, 17, 65), (70, 130, 90), (3, 0, 4)])
def test_widened_products_are_those_of_the_wide_numbers(kind, shape):
    m, k, n = shape
    rng = np.random.default_rng(m + k + n)
    low = 0 if kind.kind == "uint" else -50
    w = td.tensor(rng.integers(low, 50, (n, k)) / (1 if kind.is_integer else 8), dtype=td.float32)
    w = w.cast(kind).realize()
    x = td.tensor(rng.standard_normal((m, k)), dtype=td.float32)
    wide = w.cast(td.float64).numpy()
    expected = x.numpy().astype(np.float64) @ wide.T
    bound = 1e-6 * (np.abs(x.numpy()) @ np.abs(wide).T).max(initial=1)
    np.testing.assert_allclose((x @ w.cast(td.float32).mT).numpy(), expected, rtol=0, atol=bound)
    np.testing.assert_allclose((w.cast(td.float32) @ x.mT).numpy(), expected.T, rtol=0, atol=bound)


def test_what_was_rounded_stays_rounded():
    rng = np.random.default_rng(1)
    x, w = (td.tensor(rng.standard_normal((50, 50)), dtype=td.float32) for _ in range(2))
    rounded = w.cast(td.bfloat16)
    found = (x @ rounded.cast(td.float32)).numpy()
    expected = x.numpy() @ rounded.cast(td.float64).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_a_row_times_a_computed_matrix_is_one_kernel():
    x, w, scale = given(1, 64), given(32, 64, kind=int8), given(32, 1)
    (step,) = steps_of(matrix_product(x, (cast(w, float32) * scale).mT))
    assert isinstance(step, LoopStep)
    (step,) = steps_of(matrix_product(cast(w, float32) * scale, x.mT))
    assert isinstance(step, LoopStep)


@pytest.mark.parametrize("shape", [(1, 65, 40), (40, 65, 1), (1, 5, 1), (1, 0, 3), (1, 300, 2)])
def test_rows_times_computed_matrices(shape):
    m, k, n = shape
    rng = np.random.default_rng(sum(shape))
    a, b = rng.standard_normal((2, m, k)), rng.standard_normal((2, k, n))
    x, y = td.tensor(a), td.tensor(b)
    np.testing.assert_allclose(((x * 2) @ (y + 1)).numpy(), (a * 2) @ (b + 1), atol=1e-12)
    turned = td.tensor(np.ascontiguousarray(b.swapaxes(1, 2)))
    np.testing.assert_allclose((x @ (turned * 3).mT).numpy(), a @ (b * 3), atol=1e-12)


# ---- places


def places(operand, shape):
    """Where the elements of an operand lie, one by one."""
    found = np.full(shape, operand.offset)
    for axis, stride in enumerate(operand.strides):
        found += stride * np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])  # fmt: skip  # noqa: E501
    if isinstance(operand, Separable):
        for (axis, index), into in ((operand.rows, (-1, 1)), (operand.columns, (1, -1))):
            found += np.array([value_at(index, axis, k) for k in range(axis.extent)]).reshape(into)
    return found


def value_at(index, axis, k):
    total = index.constant
    for atom, factor in index.terms:
        if atom is axis:
            total += k * factor
        else:
            inside = value_at(atom.of, axis, k)
            rest = type(atom).__name__ == "Remainder"
            total += (inside % atom.by if rest else inside // atom.by) * factor
    return total


@pytest.mark.parametrize("seed", range(20))
def test_separable_operands_lie_where_their_views_say(seed):
    draw = Random(seed)
    x = given(2, 3, draw.randint(5, 9), draw.randint(5, 9))
    view = pad(x, [(0, 0), (0, 0), (1, 2), (0, 1)]) if draw.random() < 0.5 else x
    sizes = (draw.randint(1, 3), draw.randint(1, 3))
    seen = windows(view, sizes, (draw.randint(1, 2), draw.randint(1, 2)))
    seen = flip(seen, (2,)) if draw.random() < 0.3 else seen
    node = seen.reshape((2, 3 * sizes[0] * sizes[1], -1))
    node = node if draw.random() < 0.5 else node.permute((1, 0, 2)).reshape((node.shape[1], -1))
    (node,) = simplify([node])
    found = located(node, (), Takes().reads) or located(node, ())
    if found is None:
        pytest.skip("less to write out than what it is read from")
    if isinstance(found, Separable) and view is not x:
        assert found.base.op is pad
    memory = np.arange(found.base.type.size).reshape(found.base.shape)
    (alone,) = substitute([node], {found.base: given(*found.base.shape)})
    (expected,) = evaluate([alone], lambda _: memory.astype(np.float32))
    np.testing.assert_array_equal(memory.ravel()[places(found, node.shape)], expected)


def test_what_is_padded_is_read_from_its_copy():
    x = given(2, 3, 8, 8)
    node = windows(pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3)).reshape((2, 27, 64))
    (node,) = simplify([node])
    assert located(node, (), Takes().reads).base.op is pad
    plain = located(x.reshape((6, 64)), ())
    assert isinstance(plain, Strided)
    assert plain.base.op is LEAF
