"""From a seed and a number to runs: a program, and the ways in which it is run."""

from __future__ import annotations

import re
from functools import lru_cache

import treadle as td
from treadle.testing.choice import Choice
from treadle.testing.fuzz.bounds import Unfit
from treadle.testing.fuzz.generate import program_of, resized
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.modes import HOME, Expected
from treadle.testing.fuzz.program import Program
from treadle.testing.fuzz.shrink import Run
from treadle.testing.fuzz.vocabulary import EVERY

BATCH = 300  # programs of a child
VARIANTS = 3  # programs of the same statements at other sizes, one after the other
MODES: tuple[tuple[str, int], ...] = (
    ("lazily", 2), ("lazily, backwards", 4), ("lazily, together", 4), ("step by step", 2),
    ("compiled", 2), ("by dims", 3), ("uncompiled", 3), ("by reference", 10), ("in threads", 12),
    ("in any order", 2), ("shadowed", 8), ("sparingly", 3), ("by differences", 2),
)  # fmt: skip
"""(mode, one program in so many)."""
OF_THE_CPU = {"by reference", "in any order", "shadowed", "sparingly"}
"""Modes that look into its programs, or are the same wherever programs run."""
LARGE_TENSOR = re.compile(r"data\([^s)]*\d\d\d?,[^s)]*\d\d\d")


@lru_cache(maxsize=4)
def new_program(seed: int, number: int) -> Program:
    """A program that is made from nothing."""
    return program_of(seed, number, EVERY)


def program_number(seed: int, number: int) -> tuple[Program, Expected]:
    """The program of a number, and its values.

    Every third is new, the others have its statements at other sizes.
    """
    made = new_program(seed, number // VARIANTS)
    draw = Choice(f"{seed}/{number} resized")
    for _ in range(4 if number % VARIANTS else 0):
        try:
            other = resized(made, draw)
            return other, Model().run(other)
        except Unfit:
            continue
    return _fit(made if number % VARIANTS == 0 else new_program(seed, -number), seed, number)


def _fit(made: Program, seed: int, number: int) -> tuple[Program, Expected]:
    """A program and its values; another one if too little is known of them.

    What was fit while it was drawn may not be once its statements stand in another order.
    """
    for again in range(10):
        try:
            return made, Model().run(made)
        except Unfit:
            made = program_of(seed, -number - (again << 32), EVERY)
    raise Unfit("ten programs in turn")


def is_small(number: int) -> bool:
    """Does a program run on a machine with small limits? Every second batch does."""
    return number // BATCH % 2 == 1


def modes_of(seed: int, number: int, program: Program, small: bool) -> list[str]:
    """The ways in which a program is run."""
    draw = Choice(f"{seed}/{number} modes")
    forms = {s.form for s in program.statements}
    found = [mode for mode, share in MODES if draw.rarely(share)]
    unfit = {"uncompiled"} if "define" not in forms else set()
    if not any(LARGE_TENSOR.search(s.text) for s in program.statements):
        unfit |= {"sparingly"} if small else {"sparingly", "in any order"}  # not worth it
    if not any(s.kind == "gradient" for s in program.statements):
        unfit.add("by differences")
    if not all(s.is_pure or s.form == "number" for s in program.statements):
        unfit.add("sparingly")
    if any("td.compile(" in s.text and len(s.targets) > 1 for s in program.statements):
        unfit.add("sparingly")  # computes results together of which nobody may need the others
    if HOME[0] is not td:
        unfit |= OF_THE_CPU
    return [m for m in found if m not in unfit] or ["lazily"]


def runs_of(seed: int, number: int) -> tuple[list[Run], Expected]:
    """A program in each of its ways, and its values."""
    program, expected = program_number(seed, number)
    small = is_small(number)
    runs = [Run(program, mode, small) for mode in modes_of(seed, number, program, small)]
    return runs, expected
