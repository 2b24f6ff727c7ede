"""A case as a Python script that anybody can run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treadle.testing.fuzz.heads import heads_of
from treadle.testing.fuzz.modes import Failure, compiled_lines
from treadle.testing.fuzz.program import HEAD, INDENT, Printer, Program, inlinable
from treadle.testing.fuzz.shrink import Case, Run

MOST_RUNS = 4  # shown of a long history
SMALL = """
from treadle.testing.fuzz.machine import make_small
make_small()
"""
SIZED = ("from treadle.testing.fuzz.dims import Sized", "td = Sized()")
WRONG = re.compile(r"first at \[(.*?)\]: \S+ instead of (\S+)(?: ± (\S+))?")


def script_of(case: Case, failure: Failure) -> str:
    """The whole script, with what went wrong in front."""
    said = failure.detail.strip().splitlines()
    shown = [*said[:1], *said[-1:]] if len(said) > 3 else said
    head = [f"# {failure.mode}: {failure.what}", *(f"# {line.strip()}" for line in shown)]
    shown_runs, left_out = case[-MOST_RUNS:], len(case) - MOST_RUNS
    if left_out > 0:
        head.append(f"# after {left_out} other runs, which are not shown")
    parts = [line for one in shown_runs for line in ["", *lines_of(one)]]
    stories = heads_of([s for one in case for s in one.program.statements])
    small = SMALL if case and case[0].small else ""
    return "\n".join([*head, HEAD + small + stories, *parts[1:], *_end(failure), ""])


def lines_of(one: Run) -> list[str]:
    """A program as it is run in one way, and how its values are looked at."""
    program, mode = one.program, one.mode
    watched = sorted(n for n in program.observed if n.startswith("t"))
    if mode == "step by step":
        return _steps(program)
    if mode in ("compiled", "by dims"):
        lines = compiled_lines(program)
        lines = [*SIZED, *lines] if mode == "by dims" else lines
    else:
        inlined = inlinable(program.statements, program.observed)
        lines = Printer(inlined, mode != "uncompiled").lines(program.statements)
    if mode == "in threads":
        return _threads(lines)
    if mode == "lazily, together":
        return [*lines, f"td.realize({', '.join(watched)})"]
    order = watched[::-1] if mode == "lazily, backwards" else watched
    return [*lines, *(f"{name}.numpy()" for name in order)]


def _steps(program: Program) -> list[str]:
    printer = Printer()
    lines: list[str] = []
    for s in program.statements:
        lines += printer.one(s)
        changed = [*s.targets, *s.changes()] if s.form not in ("define", "view") else []
        lines += [f"{name}.numpy()" for name in changed if name.startswith("t")]
    return lines


def _threads(lines: Sequence[str]) -> list[str]:
    start = ["threads = [Thread(target=body) for _ in range(3)]"]
    start += ["for thread in threads:", f"{INDENT}thread.start()"]
    start += ["for thread in threads:", f"{INDENT}thread.join()"]
    body = [INDENT + line for line in lines]
    return ["from threading import Thread", "def body():", *body, *start]


def _end(failure: Failure) -> list[str]:
    """The element that is wrong."""
    found = WRONG.search(failure.detail)
    if failure.what != "wrong value" or found is None or not failure.name:
        return []
    where = f"[{found[1]}]" if found[1] else "[()]"
    value = f"np.asarray({failure.name}){where}"
    if found[3]:
        return [f"assert abs({value} - {found[2]}) <= {found[3]}, {value}"]
    return [f"assert {value} == {found[2]}, {value}"]
