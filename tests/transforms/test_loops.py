"""Loops in the graph against loops in Python: values, gradients, forms, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import (
    ArgumentError,
    DtypeError,
    GradientError,
    OperandError,
    ShapeError,
)
from treadle.ir.parser import parse_graph
from treadle.ir.printer import graph_text
from treadle.ir.region import LOOP
from treadle.ir.verify import RECORDED, verify
from treadle.runtime import realize
from treadle.testing.arrays import by_reference
from treadle.testing.gradcheck import gradcheck

SHAPE = (2, 3)


def python_loop(f, carry, xs, length, reverse=False):
    """What scan means."""
    found = []
    for k in range(length)[:: -1 if reverse else 1]:
        carry, y = f(carry, [x[k] for x in xs])
        found.append(y)
    rows = zip(*(found[::-1] if reverse else found), strict=True)
    return carry, [td.stack(list(row)) for row in rows]


def random_body(rng, carries, xs, closed):
    """A body of random ops on float64 tensors of one shape; carries may swap, stay and repeat."""
    count = rng.integers(2, 9)
    plan = [(int(rng.integers(0, 9)), *map(int, rng.integers(0, 1000, 3))) for _ in range(count)]
    ends = [int(n) for n in rng.integers(0, 1000, carries)]
    outs = [int(n) for n in rng.integers(0, 1000, rng.integers(0, 4))]

    def step(kind, values, a, b, c):
        a, b, c = (values[n % len(values)] for n in (a, b, c))
        return [
            lambda: td.tanh(a + b),
            lambda: a * b * 0.5,
            lambda: td.sin(a) - c,
            lambda: td.tanh(a @ closed[0]),
            lambda: a + closed[1],
            lambda: (a - a.mean(axis=1, keepdims=True)) * 0.5,
            lambda: td.where(a > b, a, c),
            lambda: td.flip(a, 1),
            lambda: td.sigmoid(a @ closed[0] + b @ closed[2]),
        ][kind]()

    def body(carry, x):
        values = [*carry, *x]
        for kind, *operands in plan:
            values.append(step(kind, values, *operands))
        late = values[::-1]
        return [late[n % len(late)] for n in ends], [late[n % len(late)] for n in outs]

    return body


def random_case(seed):
    rng = np.random.default_rng(seed)
    carries, xs, length = int(rng.integers(0, 4)), int(rng.integers(0, 3)), int(rng.integers(0, 6))
    xs = xs or int(not carries)
    make = lambda *shape: td.tensor(rng.uniform(-1, 1, shape))  # noqa: E731
    closed = [make(3, 3), make(3), make(3, 3)]
    arguments = [make(*SHAPE) for _ in range(carries)], [make(length, *SHAPE) for _ in range(xs)]
    body = random_body(rng, carries, xs, closed)
    return body, *arguments, closed, length, bool(rng.integers(0, 2))


def arrays_of(trees):
    return [x.numpy() for tree in trees for x in tree]


def close(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_random_body_gives_what_a_loop_in_python_gives(seed):
    body, carry, xs, _, length, reverse = random_case(seed)
    expected = python_loop(body, carry, xs, length, reverse) if length else (carry, None)
    run = lambda carry, xs: td.scan(body, carry, xs, length=length, reverse=reverse)  # noqa: E731
    lazily = run(carry, xs)
    roots = [x._node for tree in lazily for x in tree]
    if roots:
        verify(roots, RECORDED, "scan")
        close(by_reference(roots), arrays_of(lazily))
        compiled = td.compile(run)
        for _ in range(2):
            close(arrays_of(compiled(carry, xs)), arrays_of(lazily))
    if length:
        close(arrays_of(lazily), arrays_of(expected))


@pytest.mark.parametrize("seed", range(60))
def test_gradient_of_a_random_body_is_that_of_a_loop_in_python(seed):
    body, carry, xs, closed, length, reverse = random_case(seed)
    operands = [*carry, *xs, *closed]
    weights = np.random.default_rng(seed).uniform(-1, 1, (8, max(1, length), *SHAPE))

    def loss(loop):
        for x in operands:
            x.requires_grad_()
        ends, ys = loop(body, carry, xs, length=length, reverse=reverse)
        parts = [(x * td.tensor(w[0])).sum() for x, w in zip(ends, weights, strict=False)]
        parts += [(y * td.tensor(w)).sum() for y, w in zip(ys, weights[4:], strict=False)]
        return sum(parts, td.tensor(0.0, dtype="float64"))

    if not length or not loss(td.scan).requires_grad:
        return
    expected = td.gradients(loss(python_loop), operands)
    found = td.gradients(loss(td.scan), operands)
    close([x.numpy() for x in found], [x.numpy() for x in expected])
    inside = td.compile(lambda: td.gradients(loss(td.scan), operands))()
    close([x.numpy() for x in inside], [x.numpy() for x in expected])


def draws(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, shape) for shape in shapes]


def recurrent(h, xs, w, u, **options):
    def step(h, x):
        h = td.tanh(x @ w + h @ u)
        return h, h.sum(axis=-1)

    h, ys = td.scan(step, h, xs, **options)
    return td.concat([h.reshape(-1), ys.reshape(-1)])


RECURRENT = (2, 3), (4, 2, 5), (5, 3), (3, 3)


@pytest.mark.parametrize("options", [{}, {"reverse": True}, {"unroll": 3}, {"unroll": True}],
                         ids=["plain", "reverse", "unroll", "all"])  # fmt: skip
def test_gradient_is_the_slope(options):
    arrays = draws(0, *RECURRENT)
    gradcheck(lambda *args: recurrent(*args, **options), arrays)
    expected = recurrent(*map(td.tensor, arrays), reverse="reverse" in options, unroll=True)
    np.testing.assert_allclose(
        recurrent(*map(td.tensor, arrays), **options).numpy(), expected.numpy(), rtol=1e-12
    )


def test_second_derivatives():
    arrays = draws(1, *RECURRENT)

    def slope(*args):
        inner = td.grad(lambda *xs: (recurrent(*xs) ** 2).sum(), argnums=(0, 1, 2, 3))(*args)
        return td.concat([g.reshape(-1) for g in inner])

    gradcheck(slope, arrays, directions=3)


def test_checkpoint_inside_a_body():
    arrays = draws(2, (3,), (4, 3), (3, 3))

    def run(c, xs, w):
        def step(c, x):
            c = td.checkpoint(lambda c, x: td.sin(td.tanh(c @ w) * x), c, x)
            return c, c

        return td.scan(step, c, xs)[1]

    gradcheck(run, arrays)


def test_detach_and_no_grad_inside_a_body_stop_gradients():
    x, xs = td.tensor([2.0]).requires_grad_(), td.ones(3, 1)
    y, _ = td.scan(lambda c, x: (c * c.detach() * x, None), x, xs)
    y.sum().backward()
    assert x.grad.item() == 2.0**7

    def step(c, x):
        with td.no_grad():
            factor = c * x
        return c + factor, None

    z, _ = td.scan(step, x, xs)
    assert td.gradients(z.sum(), [x])[0].item() == 1.0


def test_loop_within_a_loop():
    arrays = draws(3, (2,), (3, 4, 2), (2, 2))

    def run(c, xs, w):
        def outer(c, rows):
            c, ys = td.scan(lambda d, x: (td.tanh(d @ w + x), d * x), c, rows)
            return c, ys.sum(axis=0)

        return td.scan(outer, c, xs)[1]

    gradcheck(run, arrays)
    c, xs, w = map(td.tensor, arrays)
    expected = []
    for rows in xs.unbind():
        total = td.zeros(2, dtype="float64")
        for x in rows.unbind():
            c, total = td.tanh(c @ w + x), total + c * x
        expected.append(total)
    found = td.compile(run)(*map(td.tensor, arrays))
    np.testing.assert_allclose(found.numpy(), td.stack(expected).numpy(), rtol=1e-12)


def test_steps_of_no_length():
    carry, ys = td.scan(lambda c, x: (c + x, (c, x)), td.ones(2), td.zeros(0, 2))
    assert carry.tolist() == [1.0, 1.0]
    assert [y.shape for y in ys] == [(0, 2), (0, 2)]
    x = td.ones(2).requires_grad_()
    carry, _ = td.compile(lambda x, xs: td.scan(lambda c, x: (c * x, None), x, xs))(
        x, td.zeros(0, 2)
    )
    assert carry.tolist() == [1.0, 1.0]


def test_trees_of_carries_and_results():
    def step(carry, x):
        state = {"a": carry["a"] + x["left"], "b": (carry["b"][0] * 2, carry["a"])}
        return state, [state["a"], (x["right"], None)]

    carry = {"a": td.zeros(2), "b": (1.0, td.ones(2))}
    xs = {"left": td.ones(3, 2), "right": td.arange(3)}
    state, (sums, (right, nothing)) = td.scan(step, carry, xs)
    assert state["a"].tolist() == [3.0, 3.0]
    assert state["b"][0].item() == 8.0
    assert state["b"][1].tolist() == [2.0, 2.0]
    assert nothing is None
    assert sums[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert right.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["float32", "float16", "int32", "int8", "bool", "uint64"])
def test_dtypes(kind):
    xs = td.tensor(np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]), dtype=kind)

    def step(c, x):
        new = c ^ x if kind == "bool" else c + x
        return new, new

    _, ys = td.scan(step, xs[0], xs)
    total = np.array(xs[0].numpy())
    for x, y in zip(xs.numpy(), ys.numpy(), strict=True):
        total = total ^ x if kind == "bool" else total + x
        np.testing.assert_array_equal(y, total)


def test_state_that_is_written_in_place_step_by_step():
    def step(memory, k):
        row = td.scatter(memory, k.reshape(1, 1).expand(1, 4), td.full((1, 4), 7.0), axis=0)
        return row, memory.sum()

    begin = td.zeros(5, 4)
    memory, sums = td.compile(lambda m, k: td.scan(step, m, k))(begin, td.tensor([3, 1]))
    assert memory.sum(axis=1).tolist() == [0.0, 28.0, 0.0, 28.0, 0.0]
    assert sums.tolist() == [0.0, 28.0]
    assert begin.sum().item() == 0.0


def test_results_of_one_loop_are_computed_together():
    carry, ys = td.scan(lambda c, x: (td.cos(c + x), c), td.zeros(4), td.ones(50, 4))
    other = ys[3]
    carry.realize()
    assert ys._node.buffer is not None
    assert other.shape == (4,)


def test_random_numbers_are_others_at_every_step():
    td.manual_seed(3)
    _, ys = td.scan(lambda c, x: (c, td.rand(4)), 0.0, None, length=6)
    assert len(np.unique(ys.numpy())) == 24
    td.manual_seed(3)
    again = td.compile(lambda: td.scan(lambda c, x: (c, td.rand(4)), 0.0, None, length=6)[1])
    first = again().numpy()
    assert len(np.unique([first, again().numpy()])) == 48


def test_fori_loop_and_map():
    x = td.tensor([1.0, 2.0])
    assert td.fori_loop(2, 5, lambda k, s: s * k, x).tolist() == [24.0, 48.0]
    assert td.fori_loop(5, 2, lambda k, s: s * k, x).tolist() == [1.0, 2.0]
    found = td.map(lambda pair: {"sum": pair[0] + pair[1]}, (td.ones(3, 2), td.arange(3.0)))
    assert found["sum"].tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    gradcheck(lambda x: td.fori_loop(0, 3, lambda k, s: td.sin(s) * x, x), draws(4, (3,)))


def test_thousand_steps_have_the_kernels_of_ten():
    def run(c, xs):
        return td.scan(lambda c, x: (td.tanh(c * 0.9 + x), c), c, xs)

    counts = [len(td.explain(run, td.zeros(3), td.zeros(n, 3)).rows) for n in (10, 1000)]
    assert counts == [1, 1]


def test_text_reads_back():
    def step(c, x):
        inner, _ = td.scan(lambda d, _: (d * 2, None), c, None, length=2)
        return inner + x, c

    carry, ys = td.scan(step, td.zeros(2), td.ones(3, 2))
    text = graph_text([carry._node, ys._node])
    roots = parse_graph(text)
    assert graph_text(roots) == text
    assert "{" in text
    verify(roots, RECORDED, "test")
    assert roots[0].operands[0] is roots[1].operands[0]
    assert roots[0].operands[0].op is LOOP


def test_bodies_of_the_same_structure_are_one():
    def node():
        return td.scan(lambda c, x: (c + x, None), td.zeros(2), td.ones(3, 2))[0]._node

    assert node().operands[0].call is node().operands[0].call


class TestRefused:
    def test_carry_of_another_type(self):
        with pytest.raises(ShapeError, match=r"f32\[2\].*\n?.*f32\[1, 2\]|given=|carry 0"):
            td.scan(lambda c, x: (c.reshape(1, 2), None), td.zeros(2), td.zeros(3))
        with pytest.raises(DtypeError) as found:
            td.scan(lambda c, x: (c + x, None), 0, td.zeros(3))
        assert "i64[]" in str(found.value)
        assert "f32[]" in str(found.value)

    def test_carry_of_another_form(self):
        with pytest.raises(ArgumentError, match="form"):
            td.scan(lambda c, x: ((c, c), None), td.zeros(2), td.zeros(3))
        with pytest.raises(ArgumentError, match="two things"):
            td.scan(lambda c, x: c, td.zeros(2), td.zeros(3))

    def test_state_assigned_inside(self):
        state = td.zeros(2)

        def step(c, x):
            state.assign(c)
            return c, None

        with pytest.raises(ArgumentError, match="outlives"):
            td.scan(step, td.ones(2), td.zeros(3))
        assert state.tolist() == [0.0, 0.0]

    def test_value_asked_for_inside(self):
        with pytest.raises(ArgumentError, match=r"test_loops.py:\d+.*\n.*td.cond"):
            td.scan(lambda c, x: (c if bool(c.sum() > 0) else -c, None), td.ones(2), td.zeros(3))
        with pytest.raises(ArgumentError, match=r"test_loops.py:\d+.*\n.*td.while_loop"):
            td.compile(lambda x: x * x.sum().item())(td.ones(2))

    def test_lengths(self):
        with pytest.raises(ShapeError, match="different sizes"):
            td.scan(lambda c, x: (c, None), 0.0, (td.zeros(3), td.zeros(4)))
        with pytest.raises(ArgumentError, match="how many steps"):
            td.scan(lambda c, x: (c, None), 0.0)
        with pytest.raises(ShapeError, match="0-d"):
            td.scan(lambda c, x: (c, None), 0.0, td.tensor(1.0))
        with pytest.raises(OperandError, match="xs"):
            td.scan(lambda c, x: (c, None), 0.0, [1, 2])
        with pytest.raises(ArgumentError, match="while_loop"):
            td.fori_loop(0, 2.5, lambda k, s: s, 0.0)

    def test_gradient_of_a_loop_without_bound(self):
        x = td.tensor(1.5).requires_grad_()
        y = td.while_loop(lambda x: x < 10, lambda x: x * x, x)
        with pytest.raises(GradientError, match="max_steps"):
            y.backward()


def test_complex_numbers_go_through_loops():
    rng = np.random.default_rng(5)
    xs = rng.uniform(-1, 1, (4, 2)) + 1j * rng.uniform(-1, 1, (4, 2))
    turn = td.tensor(np.exp(1j * np.array([0.3, 1.2])))
    run = lambda xs: td.scan(lambda c, x: (c * turn + x, c.abs()), xs[0], xs)  # noqa: E731
    c, sizes = xs[0], []
    for x in xs:
        sizes.append(np.abs(c))
        c = c * turn.numpy() + x
    for found in (run(td.tensor(xs)), td.compile(run)(td.tensor(xs))):
        np.testing.assert_allclose(found[0].numpy(), c, rtol=1e-13)
        np.testing.assert_allclose(found[1].numpy(), sizes, rtol=1e-13)

    def parts(a, b):
        z = td.view_as_complex(td.stack([a, b], axis=-1))
        return td.view_as_real(td.scan(lambda c, x: (c * c * 0.3 + x * z, None), z, xs_)[0])

    xs_ = td.tensor(xs)
    gradcheck(parts, [np.array([0.3, 0.4]), np.array([0.1, -0.4])])


@pytest.mark.parametrize("steps", [2, 7])
def test_one_program_for_any_number_of_steps(steps):
    (w,) = draws(6, (4, 4))
    w = td.tensor(w).requires_grad_()

    def slope(c, xs):
        def step(carry, x):
            c, d = carry
            return (td.tanh(c @ w + x), c), d

        (c, d), ys = td.scan(step, (c, c * 2), xs)
        return td.gradients((c * c).sum() + (d * ys.mean(axis=0)).sum(), [w])[0]

    compiled = td.compile(slope)
    for count in (steps, steps + 2):
        c, xs = map(td.tensor, draws(count, (2, 4), (count, 2, 4)))
        named = xs.reshape(td.Dim("t", count, max=16), 2, 4)
        np.testing.assert_allclose(
            compiled(c, named).numpy(), slope(c, xs).numpy(), rtol=1e-11, atol=1e-13
        )
    assert sum(map(len, compiled.entries.values())) == 1


def test_tuned_loops_give_the_same():
    xs, w = map(td.tensor, draws(7, (5, 40, 30), (30, 30)))

    def run(xs):
        return td.scan(lambda c, x: (td.tanh(c @ w + x), c.sum()), xs[0], xs)[1]

    found = td.tune(run, xs, seconds=1)(xs)
    close([found.numpy()], [run(xs).numpy()])


def test_pictures_and_reports_know_loops():
    def run(x):
        y = td.scan(lambda c, _: (c * 2, None), x, None, length=3)[0]
        return td.cond(y.sum() > 0, td.sin, td.cos, y)

    assert "loop" in td.graph(run(td.ones(2)))
    assert "svg" in td.draw(run(td.ones(2)))._repr_svg_()
    rows = td.explain(run, td.ones(2)).rows
    assert [row.kind for row in rows].count("region") == 2


@pytest.mark.parametrize("piece", [3, 5, 8])
def test_long_graphs_are_cut_around_loops(monkeypatch, piece):
    """A piece never ends between a loop and its results."""
    monkeypatch.setattr(realize, "SMALLEST", piece)
    monkeypatch.setattr(realize, "LARGEST", 2 * piece)
    x, xs = map(td.tensor, draws(8, (3,), (4, 3)))
    expected = x.numpy()
    total = x
    for k in range(6):
        total, ys = td.scan(lambda c, x: (td.sin(c) + x, c), total, xs)
        total = total * 0.5 + ys.sum(axis=0) + k
        kept = []
        for row in xs.numpy():
            kept.append(expected)
            expected = np.sin(expected) + row
        expected = expected * 0.5 + np.sum(kept, axis=0) + k
    assert realize.in_pieces([total._node])
    np.testing.assert_allclose(total.numpy(), expected, rtol=1e-12)
