"""Updates at the end of a program: kernels of one text run as one."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import normal
from triton_host import INTERPRETED, compare, plan_of, run_interpreted

from treadle.backends.cuda.compile import code_of
from treadle.ops.elementwise import exp, sqrt
from treadle.ops.reduce import sum_

SHAPES = ((48, 64), (16,), (7,), (5, 3), (4096,), (9, 16))


def updates():
    """(roots, their leaves): a step of each size, with a rate that all read."""
    rate, found = normal() * 0.1, []
    for shape in SHAPES:
        x, slope, seen = normal(*shape), normal(*shape, 1).reshape(shape), normal(1, *shape)
        seen = seen.reshape(shape) * 0.9 + slope * slope * 0.1
        found.append((x - slope * rate / (sqrt(seen) + 1.0), x))
    return found


def launched(roots, leaves):
    """(plan, leaves of it) where each root takes the memory of a leaf; None: its own."""
    _, found = plan_of(roots)
    over = {k: found.index(leaf) for k, leaf in enumerate(leaves) if leaf is not None}
    return plan_of(roots, over)


def checked(roots, leaves):
    """The plan, after its results have been compared or its kernels compiled."""
    plan, given = launched(roots, leaves)
    if INTERPRETED:
        compare(roots, run_interpreted(plan, [x.buffer.copy() for x in given]), 2e-6)
    else:
        for launch in plan.launches:
            assert code_of(launch.source, 90).cubin
    return plan


def test_updates_of_one_text_are_one_launch():
    roots, leaves = zip(*updates(), strict=True)
    plan = checked(roots, leaves)
    counts = [launch.source.text.count("tl.program_id") for launch in plan.launches]
    assert counts == [1, 1]  # lengths that vectors divide, and others
    assert sum(launch.size for launch in plan.launches) == sum(map(np.prod, SHAPES))


def test_who_reads_what_another_writes_over_stays_before_it():
    (first, x), *others = updates()
    reader = exp(x.mT) * 0.5
    plan = checked([first, *(root for root, _ in others), reader], [x, *(y for _, y in others)])
    written = [step.writes for step in plan.steps]
    own, last = (
        next(k for k, w in enumerate(written) if root in w)
        for root in (plan.roots[-1], plan.roots[0])
    )
    assert own < last


def test_what_is_read_again_is_no_update():
    (first, x), (second, y), *_ = updates()
    total = sum_(first * first)
    plan = checked([first, second, total], [x, y, None])
    assert plan.updates == 0


def test_a_body_of_a_loop_keeps_its_order():
    (first, _), (second, _), *_ = updates()
    plan, _ = plan_of([first, second])
    assert plan.updates == 2
    assert type(plan)(plan.roots, plan.leaves, {}, 132, within=0).updates == 0
