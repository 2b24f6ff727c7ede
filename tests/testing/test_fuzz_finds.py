"""The fuzzer finds bugs that are planted, and makes them small."""

from __future__ import annotations

import subprocess
import sys

from treadle.testing.fuzz.bounds import Unfit
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.runs import new_program
from treadle.testing.fuzz.shrink import Run, shrink

PLANTED = """
import sys
from treadle.kernel import places
from treadle.schedule.layout import Layout

usual = places.lay_out

def all_at_one_place(intervals, shared=0):
    found = usual(intervals, shared)
    offsets = dict.fromkeys(found.offsets, 0)
    return Layout(offsets, found.nbytes, found.lower_bound, found.without_reuse)

places.lay_out = all_at_one_place
sys.argv = ["fuzz", "--minutes", "1", "--seed", "5", "--workers", "1", "--shrink", "5"]
from treadle.testing.fuzz.__main__ import main
sys.exit(main())
"""


def test_a_planted_bug_is_found_and_printed():
    command = [sys.executable, "-c", PLANTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "seed 5" in done.stdout
    assert "import treadle as td" in done.stdout


def test_shrinking_leaves_what_matters():
    """Whatever flips and then sums fails: nothing else is left."""

    def fails(case):
        program = case[-1].program
        try:
            Model().run(program)
        except Unfit:
            return False
        if any(s.form == "define" for s in program.statements):
            return False  # what functions call and return is shrunk by other rules
        flipped = {n for s in program.statements if s.kind == "flip" for n in s.targets}
        sums = [s for s in program.statements if s.kind == "sum"]
        return any(not flipped.isdisjoint(s.operands) for s in sums)

    number, history = 0, (Run(new_program(5, 0), "lazily"),)
    while not fails((*history, Run(new_program(5, number), "lazily"))):
        number += 1
    case = (*history, Run(new_program(5, number), "lazily"))
    small = shrink(case, fails, seconds=20)
    assert len(small) == 1
    assert sorted(small[0].program.kinds) == ["flip", "sum", "tensor"]
    assert len(small[0].program.statements) == 3


def test_a_history_is_kept_where_it_matters():
    first, second = Run(new_program(3, 1), "lazily"), Run(new_program(3, 2), "compiled")
    others = tuple(Run(new_program(3, n), "lazily") for n in range(3, 9))
    small = shrink((*others, first, *others, second), lambda case: first in case, seconds=5)
    assert first in small
    assert len(small) <= 2
