"""Axes merge into new ones; who holds the old program finds it as it was."""

from __future__ import annotations

from treadle.base.dtypes import float32
from treadle.base.target import Takes
from treadle.ir.node import leaf, type_of
from treadle.kernel import build
from treadle.kernel.axes import merged
from treadle.kernel.index import Axis, Index
from treadle.kernel.loops import Argument, Ex, Loops, Pass, Store
from treadle.kernel.plan import plan_steps
from treadle.ops.elementwise import exp
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify


def load(*terms):
    return Ex("load", (), float32, (0, Index(terms), ()))


def test_neighbours_that_count_alike_become_a_new_axis():
    a, b, c = Axis("a0", 3), Axis("a1", 4), Axis("a2", 5)
    value = load((a, 20), (b, 5), (c, 1))
    value.axes = frozenset([a, b, c])
    store = Store(1, Index([(a, 20), (b, 5), (c, 1)]), value)
    before = Loops(
        [Argument(float32, False), Argument(float32, True)], [], [a, b, c], [Pass([], [store])], []
    )
    text = str(before)
    after = merged(before)
    (axis,) = after.inner
    assert axis.extent == 60
    assert str(after.stores()[0].position) == str(axis)
    assert after.stores()[0].value.axes == {axis}
    assert str(before) == text
    assert [x.extent for x in (a, b, c)] == [3, 4, 5]


def test_axes_that_an_operand_tells_apart_stay():
    a, b, c = Axis("a0", 3), Axis("a1", 4), Axis("a2", 5)
    store = Store(1, Index([(a, 20), (b, 5), (c, 1)]), load((b, 5), (c, 1)))
    before = Loops(
        [Argument(float32, False), Argument(float32, True)], [], [a, b, c], [Pass([], [store])], []
    )
    assert [axis.extent for axis in merged(before).inner] == [3, 20]


def test_the_join_of_blocks_is_a_program_of_its_own():
    x = leaf(type_of((500, 8), float32), None)
    (root,) = simplify([sum_(exp(x), axis=0)])
    (step,) = plan_steps([root], {}, Takes((float32,)))
    rows, join = step.programs()
    assert isinstance(rows, build.Built)
    rows.loops.rows_per_block = 100
    before = join.loops
    assert join.join() == {join.buffers[0]: 5 * 8 * 4}
    assert [axis.extent for axis in join.loops.inner] == [5]
    assert [axis.extent for axis in before.inner] == [1]
