"""The handle users hold: creation, reading, printing, copying, gradients."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import ALL
from treadle.base.errors import ArgumentError, GradientError

NAMES = [d.name for d in ALL]


# ---- creation


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_every_dtype_go_in_and_come_out(name):
    array = np.array([[0, 1, 1], [1, 0, 1]])
    x = td.tensor(array, dtype=name)
    assert x.dtype.name == name
    assert x.numpy().astype(np.int64).tolist() == array.tolist()
    assert (x.size, x.ndim, x.shape, x.nbytes) == (6, 2, (2, 3), 6 * x.dtype.size)


def test_python_numbers_take_the_default_dtypes():
    kinds = [td.tensor(v).dtype for v in (1.5, 2, True, [1.0], [[1], [2]])]
    assert kinds == [td.float32, td.int64, td.bool, td.float32, td.int64]
    assert td.tensor(np.array([1.0])).dtype is td.float64


def test_tensor_copies_and_from_numpy_may_share():
    array = np.zeros(100, np.float32)
    copied, shared = td.tensor(array), td.from_numpy(array)
    array += 1.0
    assert float(copied.sum()) == 0.0
    assert float(shared.sum()) in (0.0, 100.0)  # it shares where the array is aligned


def test_arrays_in_any_memory_order_are_read_right():
    array = np.arange(24.0).reshape(2, 3, 4)
    for view in (array.T, array[::-1], array[:, ::2], np.asfortranarray(array)):
        np.testing.assert_array_equal(td.tensor(view).numpy(), view)


def test_makers_make_what_they_say():
    assert td.zeros(2, 3).tolist() == [[0.0] * 3] * 2
    assert td.ones((2,), dtype="int32").tolist() == [1, 1]
    assert td.full((2,), True).dtype is td.bool
    assert td.full(3, 7).tolist() == [7, 7, 7]
    assert td.arange(2, 9, 3).tolist() == [2, 5, 8]
    assert td.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert td.arange(0.0, 1.0, 0.25).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert td.zeros_like(td.tensor([1, 2])).tolist() == [0, 0]
    assert td.ones_like(td.tensor([1.0])).tolist() == [1.0]


# ---- reading


def test_one_element_reads_as_a_number():
    x = td.tensor([[2.5]])
    assert (x.item(), float(x), int(x), bool(x)) == (2.5, 2.5, 2, True)
    assert [10, 20, 30][td.tensor(1)] == 20


def test_arrays_given_out_cannot_be_written():
    array = td.tensor([1.0, 2.0]).numpy()
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 5.0


def test_numpy_reads_tensors():
    x = td.tensor([1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(x), [1.0, 2.0])
    assert np.asarray(x, np.float64).dtype == np.float64


def test_tensors_are_hashed_by_identity():
    x, y = td.tensor([1.0]), td.tensor([1.0])
    assert len({x, y, x}) == 2
    assert {x: 1}[x] == 1


# ---- printing

PRINTED = {
    "tensor([1., 2.])": lambda: td.tensor([1.0, 2.0]),
    "tensor([1, 2])": lambda: td.tensor([1, 2]),
    "tensor(2.5)": lambda: td.tensor(2.5),
    "tensor([ True, False])": lambda: td.tensor([True, False]),
    "tensor([1., 2.], dtype=float64)": lambda: td.tensor(np.array([1.0, 2.0])),
    "tensor([1.], dtype=bfloat16)": lambda: td.tensor([1.0], dtype="bfloat16"),
    "tensor([1], dtype=uint8)": lambda: td.tensor([1], dtype="uint8"),
    "tensor([], shape=(0, 3))": lambda: td.zeros(0, 3),
    "tensor([1.], device=reference)": lambda: td.tensor([1.0], device="reference"),
    "tensor([[1., 2.],\n        [3., 4.]])".replace("        ", "       "): lambda: td.tensor(
        [[1.0, 2.0], [3.0, 4.0]]
    ),
}


@pytest.mark.parametrize("text", PRINTED)
def test_tensors_print_like_this(text):
    printed = repr(PRINTED[text]())
    assert " ".join(printed.split()) == " ".join(text.split())


def test_rows_of_a_printed_matrix_line_up():
    first, second = repr(td.tensor([[1.0, 2.0], [3.0, 4.0]])).splitlines()
    assert first.index("[1.") == second.index("[3.")


def test_large_tensors_are_summarised():
    assert len(repr(td.zeros(100, 1000))) < 1000


def test_printing_computes_but_does_not_change():
    x = td.tensor([1.0]) + 1.0
    assert "2." in repr(x)
    assert x.tolist() == [2.0]


# ---- copies


@pytest.mark.parametrize("name", NAMES)
def test_pickled_tensors_come_back_equal(name):
    x = td.tensor([[0, 1], [1, 1]], dtype=name)
    back = pickle.loads(pickle.dumps(x))
    assert back.dtype is x.dtype
    assert back.numpy().tobytes() == x.numpy().tobytes()


def test_pickles_keep_the_wish_for_a_gradient():
    back = pickle.loads(pickle.dumps(td.tensor([1.0]).requires_grad_()))
    assert back.requires_grad
    (back * 3.0).sum().backward()
    assert back.grad.tolist() == [3.0]


def test_deep_copies_share_nothing():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    y = copy.deepcopy(x)
    x.assign(x * 5.0)
    assert (y.tolist(), y.requires_grad) == ([1.0, 2.0], True)


# ---- gradients


def test_backward_adds_to_what_is_there():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    for expected in ([2.0, 4.0], [4.0, 8.0]):
        (x * x).sum().backward()
        assert x.grad.tolist() == expected
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_backward_takes_an_upstream_gradient():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    (x * 3.0).backward(td.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3.0, 30.0]


def test_no_grad_records_nothing():
    x = td.tensor([1.0]).requires_grad_()
    with td.no_grad():
        y = x * 2.0
    assert not y.requires_grad
    assert (x * 2.0).requires_grad


def test_no_grad_ends_with_an_error():
    x = td.tensor([1.0]).requires_grad_()
    with pytest.raises(ZeroDivisionError), td.no_grad():
        raise ZeroDivisionError
    assert (x * 2.0).requires_grad


def test_a_realised_value_still_passes_gradients_on():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    y = (x * x).realize()
    (y * 3.0).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_gradients_of_what_does_not_depend_are_zero():
    x, y = td.tensor([1.0]), td.tensor([2.0, 3.0])
    assert td.gradients((x * 2.0).sum(), [x, y])[1].tolist() == [0.0, 0.0]


def test_grad_of_several_arguments_comes_as_a_tuple():
    a, b = td.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(td.tensor([2.0]), td.tensor([5.0]))
    assert (a.tolist(), b.tolist()) == ([5.0], [2.0])


def test_integers_take_no_gradient():
    with pytest.raises(GradientError):
        td.tensor([1]).requires_grad_()
    x = td.tensor([1.5]).requires_grad_()
    assert not x.cast("int32").requires_grad


def test_assign_keeps_shape_and_dtype():
    with pytest.raises(ArgumentError, match="assign"):
        td.tensor([1.0]).assign(td.tensor([1]))


# ---- operators beside numbers


def test_numbers_may_stand_on_either_side():
    i, x, b = td.tensor([5]), td.tensor([4.0]), td.tensor([True])
    assert [(2 - i).item(), (12 // i).item(), (12 % i).item(), (2 * i).item()] == [-3, 2, 2, 10]
    assert [(2.0 / x).item(), (2.0**x).item(), (x**2).item(), (x**0.5).item()] == [0.5, 16, 16, 2]
    assert [(True & b).item(), (False | b).item(), (True ^ b).item()] == [True, True, False]
    assert [(~b).item(), (~i).item(), (abs(-i)).item(), (i << 2).item()] == [False, -6, 5, 20]


def test_numbers_do_not_widen_the_dtype():
    for name in ("float16", "bfloat16", "float64", "int8", "uint8"):
        x = td.tensor([1], dtype=name)
        assert (x * 2).dtype is x.dtype
    assert (td.tensor([1]) * 2.0).dtype is td.float32
    assert (td.tensor([True]) + 1).dtype is td.int64
    assert (td.tensor([1.0], dtype="float16") * 2.0).dtype is td.float16


def test_copies_for_numpy_keep_the_dtype_and_can_be_written():
    for x in (td.arange(3), td.ones(3)):
        copied = np.array(x)
        assert copied.dtype == x.numpy().dtype
        assert copied.flags.writeable


def test_numpy_scalars_on_the_left_leave_a_tensor_a_tensor():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    y = np.float64(2.0) * x + np.float32(1.0)
    assert isinstance(y, td.Tensor)
    assert y.dtype is td.float32
    assert y.requires_grad


def test_powers_of_tensors():
    x, y = td.tensor([2.0, 3.0]), td.tensor([3.0, 0.5])
    np.testing.assert_allclose((x**y).numpy(), [8.0, 3.0**0.5], rtol=1e-6)
    assert (1 << td.arange(3)).tolist() == [1, 2, 4]


def test_numbers_are_formatted_as_numbers():
    assert f"{td.tensor(1.5):.2f}" == "1.50"
    assert f"{td.tensor(1.5)}" == "tensor(1.5)"


def test_views_of_views_of_any_depth_are_read():
    x = td.tensor([[1.0, 2.0]])
    for _ in range(3000):
        x = x.T
    assert x.tolist() == [[1.0, 2.0]]


def test_numpy_numbers_keep_their_kind():
    assert td.full((2,), np.int64(2)).dtype is td.int64
    assert td.arange(np.int64(3)).dtype is td.int64
    assert td.ones(2, 3).sum(axis=np.int64(1)).shape == (2,)


def test_a_copy_of_a_tensor_goes_where_it_is_asked_to():
    assert str(td.tensor(td.ones(2), device="reference").device) == "reference"
    assert td.ones(2).to(np.float64).dtype is td.float64


def test_constants_are_rounded_to_their_dtype():
    tenth = td.full((2,), 0.1)
    assert tenth.cast("float64").tolist() == [float(np.float32(0.1))] * 2
    assert (tenth == td.full((2,), 0.1, "float64")).tolist() == [False, False]
    assert td.full((), 16777217).cast("float32").cast("int64").item() == 16777216


def test_no_grad_holds_for_its_own_thread():
    x = td.ones(2).requires_grad_()
    found = []
    with td.no_grad():
        other = threading.Thread(target=lambda: found.append((x * 2.0).requires_grad))
        other.start()
        other.join()
        found.append((x * 2.0).requires_grad)
    assert found == [True, False]
