"""Compiled functions do what the functions do: values, state, random numbers, no aliasing."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError
from treadle.transforms.compile import Compiled

rng = np.random.default_rng(0)


def random(*shape):
    return td.tensor(rng.standard_normal(shape).astype(np.float32))


# ---- plain functions

FUNCTIONS = {
    "chain": lambda x, y: td.exp(x * 0.1) + y,
    "product": lambda x, y: td.gelu(x @ y.T),
    "several": lambda x, y: (x + y, x.sum(), [y * 2.0, {"k": x.max(axis=0)}]),
    "given back": lambda x, y: (x, y),
    "constant": lambda x, y: td.zeros(3) + 1.0,
    "softmax": lambda x, y: td.softmax(x - y, axis=0),
    "same twice": lambda x, y: (lambda z: (z, z))(x * y),
    "view": lambda x, y: (x.T, y[1:, ::2]),
}


def leaves(tree):
    if isinstance(tree, td.Tensor):
        return [tree.numpy()]
    parts = tree.values() if isinstance(tree, dict) else tree
    return [array for part in parts for array in leaves(part)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_function_gives_what_the_function_gives(name):
    f, x, y = FUNCTIONS[name], random(5, 6), random(5, 6)
    compiled = td.compile(f)
    for _ in range(3):
        expected, result = leaves(f(x, y)), leaves(compiled(x, y))
        assert len(expected) == len(result)
        for a, b in zip(expected, result, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-6)
        x = x + 1.0


def test_containers_come_back_as_they_were():
    result = td.compile(lambda x: {"a": [x, (x * 2.0,)], "b": None, "c": 3})(td.tensor([1.0]))
    assert list(result) == ["a", "b", "c"]
    assert isinstance(result["a"], list)
    assert isinstance(result["a"][1], tuple)
    assert result["a"][1][0].tolist() == [2.0]
    assert (result["b"], result["c"]) == (None, 3)


def test_nested_arguments_are_found():
    f = td.compile(lambda batch, scale: batch["x"] * batch["more"][0] * scale)
    batch = {"x": td.tensor([2.0]), "more": [td.tensor([3.0])]}
    assert f(batch, scale=td.tensor([5.0])).tolist() == [30.0]
    batch["more"][0] = td.tensor([7.0])
    assert f(batch, scale=td.tensor([5.0])).tolist() == [70.0]


def test_another_shape_traces_again():
    calls = []

    @td.compile
    def f(x):
        calls.append(x.shape)
        return x * 2.0

    for shape in ((3,), (3,), (4,), (3,), (2, 2)):
        np.testing.assert_allclose(f(td.ones(shape)).numpy(), np.full(shape, 2.0))
    assert calls == [(3,), (4,), (2, 2)]


def test_another_dtype_traces_again():
    f = td.compile(lambda x: x + 1)
    assert f(td.tensor([1])).dtype is td.int64
    assert f(td.tensor([1.0])).dtype is td.float32


def test_static_arguments_are_part_of_the_trace():
    f = td.compile(lambda x, power, name="a": x**power if name == "a" else -x)
    x = td.tensor([3.0])
    assert f(x, 2).tolist() == [9.0]
    assert f(x, 3).tolist() == [27.0]
    assert f(x, 3, name="b").tolist() == [-3.0]
    assert f(x, 2).tolist() == [9.0]


def test_pending_arguments_are_computed_first():
    f = td.compile(lambda x: x * 2.0)
    assert f(td.tensor([1.0]) + 1.0).tolist() == [4.0]


@pytest.mark.parametrize("look", [float, bool, lambda t: t.numpy(), lambda t: t.tolist(), int])
def test_reading_a_value_while_tracing_is_refused(look):
    f = td.compile(lambda x: x * 2.0 if look((x + 1.0).sum()) else x)
    with pytest.raises(ArgumentError, match="while tracing") as caught:
        f(td.tensor([1.0, 2.0]))
    assert "hint" in str(caught.value)
    assert (td.tensor([1.0]) * 2.0).tolist() == [2.0]  # nothing is left traced


def test_printing_while_tracing_shows_no_value():
    seen = []
    td.compile(lambda x: (seen.append(repr(x + 1.0)), x)[1])(td.tensor([1.0, 2.0]))
    assert "traced" in seen[0]


def test_an_error_in_the_function_leaves_things_as_they_were():
    p = td.tensor([1.0]).requires_grad_()

    @td.compile
    def f(x):
        p.assign(p + x)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        f(td.tensor([1.0]))
    assert p.tolist() == [1.0]


def test_unhashable_arguments_are_refused_with_a_hint():
    with pytest.raises(ArgumentError, match="compile") as caught:
        td.compile(lambda x, y: x)(td.tensor([1.0]), {1, 2})
    assert "hint" in str(caught.value)


def test_gradients_inside_a_compiled_function():
    f = td.compile(td.value_and_grad(lambda x: (x * x * x).sum()))
    value, gradient = f(td.tensor([1.0, 2.0]))
    assert float(value) == 9.0
    assert gradient.tolist() == [3.0, 12.0]


# ---- random numbers


def draw(x):
    return td.random.uniform((4,)) + x * 0.0, td.random.normal((3,))


def values(pair):
    return [part.numpy().tolist() for part in pair]


def test_random_numbers_advance_with_every_call():
    f, x = td.compile(draw), td.zeros(4)
    td.manual_seed(3)
    drawn = [values(f(x)) for _ in range(3)]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def test_the_same_seed_gives_the_same_numbers_again():
    f, x = td.compile(draw), td.zeros(4)
    f(x)
    runs = []
    for _ in range(2):
        td.manual_seed(5)
        runs.append([values(f(x)) for _ in range(3)])
    assert runs[0] == runs[1]
    td.manual_seed(6)
    assert values(f(x)) != runs[0][0]


def test_compiled_and_lazy_draws_are_the_same_numbers():
    f, x = td.compile(draw), td.zeros(4)
    f(x)
    td.manual_seed(7)
    lazy = [values(draw(x)) for _ in range(3)]
    td.manual_seed(7)
    assert [values(f(x)) for _ in range(3)] == lazy


def test_random_numbers_are_spread_as_they_should_be():
    td.manual_seed(11)
    u, n = td.random.uniform((50_000,)).numpy(), td.random.normal((50_000,)).numpy()
    assert 0 <= u.min() < 0.001
    assert 0.999 < u.max() < 1
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(n.mean()) < 0.02
    assert abs(n.std() - 1) < 0.02
    assert len(np.unique(u)) > 49_000


def test_lists_of_tensors_are_not_taken_for_tensors():
    f = td.compile(lambda a, b: a[0] * b)
    x, y = td.ones(2, 3) * 2.0, td.arange(6).reshape(2, 3).cast("float32")
    np.testing.assert_array_equal(f([x], y).numpy(), 2.0 * y.numpy())
    z = td.concat([x, x])[:2] * y
    np.testing.assert_array_equal(f(z, y).numpy(), z.numpy()[0] * y.numpy())


def test_numbers_that_are_equal_but_of_other_types_trace_again():
    f = td.compile(lambda x, k: x * k)
    x = td.arange(3)
    assert [f(x, k).dtype for k in (2, 2.0)] == [td.int64, td.float32]
    assert f(td.ones(1), 0.0).tolist() == [0.0]
    assert np.signbit(f(td.ones(1), -0.0).numpy()).all()


def test_an_argument_that_wants_a_gradient_is_traced_apart():
    f = td.compile(lambda x: (x * 2.0 if x.requires_grad else x).sum())
    x = td.ones(3)
    assert float(f(x)) == 3.0
    assert float(f(td.ones(3).requires_grad_())) == 6.0
    assert float(f(td.ones(5).requires_grad_())) == 10.0


def test_a_function_without_tensors_to_return_is_refused():
    with pytest.raises(ArgumentError, match="makes no tensor"):
        td.compile(lambda x: None)(td.ones(2))


def test_rows_may_be_unpacked_while_tracing():
    f = td.compile(lambda x: (lambda a, b: a - b)(*(x * 2.0)))
    assert f(td.tensor([[3.0, 4.0], [1.0, 1.0]])).tolist() == [4.0, 6.0]


def test_gradients_go_through_compiled_functions():
    f = td.compile(lambda x: (x * x).sum())
    x = td.tensor([1.0, 2.0])
    f(x)
    assert td.grad(f)(x).tolist() == [2.0, 4.0]
    assert td.grad(lambda v: f(v * 3.0))(x).tolist() == [18.0, 36.0]


def test_a_pending_value_closed_over_is_what_it_was():
    x = td.ones(2)
    tripled = x * 3.0
    function = td.compile(lambda: tripled + 1.0)
    assert function().tolist() == [4.0, 4.0]
    x.assign(td.zeros(2))
    assert function().tolist() == [4.0, 4.0]


def test_another_thread_is_not_part_of_a_trace():
    inside, outside = threading.Event(), threading.Event()
    other = td.ones(2).realize()

    def traced(x):
        inside.set()
        assert outside.wait(10)
        return x + 1.0

    def assign():
        assert inside.wait(10)
        other.assign(td.zeros(2))
        outside.set()

    thread = threading.Thread(target=assign)
    thread.start()
    assert td.compile(traced)(td.ones(2)).tolist() == [2.0, 2.0]
    thread.join()
    assert other.tolist() == [0.0, 0.0]


def test_ever_new_static_arguments_do_not_fill_memory(monkeypatch):
    monkeypatch.setattr("treadle.transforms.compile.MOST_TRACES", 4)
    function = td.compile(lambda x, k: x * k)
    for k in range(12):
        assert function(td.ones(1), k).tolist() == [float(k)]
    assert len(function.entries) <= 4


# ---- methods and odd arguments


class Scaled:
    def __init__(self, by):
        self.by = by
        self.traced = 0

    __hash__ = None  # equal by value, as data classes are

    def __eq__(self, other):
        return isinstance(other, Scaled)

    @td.compile
    def times(self, x, more=1.0):
        self.traced += 1
        return x * self.by * more

    @classmethod
    @td.compile
    def kind(cls, x):
        assert cls is Scaled
        return x + 1.0

    @staticmethod
    @td.compile
    def plain(x):
        return x - 1.0


class Slotted:
    __slots__ = ("by",)

    @td.compile
    def times(self, x):
        return x * self.by


def test_methods_are_compiled_for_each_instance():
    a, b, x = Scaled(2.0), Scaled(3.0), td.ones(2)
    for _ in range(3):
        assert a.times(x).tolist() == [2.0, 2.0]
        assert b.times(x, more=2.0).tolist() == [6.0, 6.0]
    assert (a.traced, b.traced) == (1, 1)
    assert Scaled(5.0).times(x).tolist() == [5.0, 5.0]
    assert Scaled.kind(x).tolist() == a.kind(x).tolist() == [2.0, 2.0]
    assert Scaled.plain(x).tolist() == a.plain(x).tolist() == [0.0, 0.0]
    assert a.times.__self__ is a
    assert isinstance(Scaled.times, Compiled)
    slotted = Slotted()
    slotted.by = 4.0
    assert slotted.times(x).tolist() == [4.0, 4.0]


def test_an_instance_with_a_compiled_method_is_not_kept_alive():
    a = Scaled(2.0)
    a.times(td.ones(2))
    gone, bound = weakref.ref(a), len(Scaled.times.bound)
    del a
    gc.collect()
    assert gone() is None
    assert len(Scaled.times.bound) == bound - 1


def test_compiling_a_compiled_function_changes_nothing():
    f = td.compile(lambda x: x + 1.0)
    assert td.compile(f) is f


def test_a_tensor_that_leaks_out_of_a_trace_is_named():
    leaked = []

    def f(x):
        leaked.extend([x * 2.0, x, td.random.uniform(2), td.concat([x, x])])
        return x

    assert td.compile(f)(td.ones(2)).tolist() == [1.0, 1.0]
    for tensor in leaked:
        for use in (tensor.numpy, (tensor + 1.0).numpy, lambda t=tensor: td.compile(lambda: t)()):
            with pytest.raises(ArgumentError, match="made while a function was traced"):
                use()
        assert "pending" in repr(tensor)


def test_the_argument_that_is_refused_is_named():
    x, f = td.ones(2), td.compile(lambda x, y=None: x)
    for wrong, args, options in (
        ("argument 1", (x, np.ones(2)), {}),
        ("argument y", (x,), {"y": [1, {"k": np.ones(2)}]}),
    ):
        with pytest.raises(ArgumentError, match=f"{wrong}.*numpy.ndarray") as caught:
            f(*args, **options)
        assert "td.tensor" in str(caught.value)
