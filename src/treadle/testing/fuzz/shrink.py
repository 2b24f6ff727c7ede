"""The smallest programs that still go wrong: statements left out, sizes and numbers made small."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from treadle.testing.fuzz.generate import NUMBER, renumbered
from treadle.testing.fuzz.program import Program, Statement, renamed

NOTHING = re.compile(r"[%/] 0\b")
SIMPLER = ("0", "1", "2", "3", "4", "8", "16")
DTYPES = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "uint8",
          "uint16", "uint32", "uint64", "float64")  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A program, one way to run it, and whether the limits of the machine are small."""

    program: Program
    mode: str
    small: bool = False


Case = tuple[Run, ...]
"""Runs in one process; the last goes wrong."""
Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, seconds: float = 60.0) -> Case:
    """A smaller case that fails too."""
    until = time.monotonic() + seconds
    case = _without_history(case, fails, until)
    progress = True
    while progress and time.monotonic() < until:
        progress = False
        for smaller in _smaller(case):
            if time.monotonic() > until:
                break
            if fails(smaller):
                case, progress = smaller, True
                break
    return case


def _without_history(case: Case, fails: Fails, until: float) -> Case:
    """Leave out runs before the last, halves first."""
    history, last = list(case[:-1]), case[-1]
    if history and fails((last,)):
        return (last,)
    size = len(history)
    while size >= 1 and time.monotonic() < until:
        at = 0
        while at < len(history) and time.monotonic() < until:
            rest = history[:at] + history[at + size :]
            if fails((*rest, last)):
                history = rest
            else:
                at += size
        size //= 2
    return (*history, last)


def _smaller(case: Case) -> Iterator[Case]:
    """Cases that differ by one simplification, those that may save most first."""
    if case[0].small:
        yield tuple(replace(one, small=False) for one in case)
    for k in range(len(case) - 1, -1, -1):
        for program in simplifications(case[k].program):
            yield (*case[:k], replace(case[k], program=program), *case[k + 1 :])
    for k in range(len(case) - 1):
        yield case[:k] + case[k + 1 :]


def simplifications(program: Program) -> Iterator[Program]:
    """Programs that are a little simpler."""
    statements = program.statements
    if tidy(program) != program:
        yield tidy(program)
    if len(program.observed) > 1:
        for name in sorted(program.observed):
            yield tidy(replace(program, observed=frozenset([name])))
    for k in range(len(statements) - 1, -1, -1):
        yield tidy(without(program, k))
    yield from _bypassed(program)
    for k, s in enumerate(statements):
        for n in range(len(s.body) - 2, -1, -1):
            body = s.body[:n] + s.body[n + 1 :]
            yield _with(program, k, replace(s, body=body))
        yield from _fewer_results(program, k)
        yield from _fewer_params(program, k)
    yield from (p for p in _other_numbers(program) if not _divides_by_nothing(p.statements))
    for name in DTYPES:
        if any(f"td.{name}" in s.text for s in statements):
            yield _replaced(program, f"td.{name}", "td.int64" if "int" in name else "td.float32")


def _divides_by_nothing(statements: Sequence[Statement]) -> bool:
    return any(NOTHING.search(s.text) or _divides_by_nothing(s.body) for s in statements)


def _with(program: Program, k: int, s: Statement) -> Program:
    statements = (*program.statements[:k], s, *program.statements[k + 1 :])
    return replace(program, statements=statements)


def without(program: Program, k: int) -> Program:
    """The program without a statement and those that need it."""
    gone: set[str] = set(program.statements[k].targets)
    kept = list(program.statements[:k])
    for s in program.statements[k + 1 :]:
        if gone.isdisjoint(s.reads()):
            kept.append(s)
        else:
            gone |= set(s.targets)
    return replace(program, statements=tuple(kept), observed=program.observed - gone)


def tidy(program: Program) -> Program:
    """The program without statements that compute what nobody reads."""
    needed = set(program.observed)
    kept = []
    for s in reversed(program.statements):
        if s.form not in ("value", "array", "define") or not needed.isdisjoint(s.targets):
            kept.append(s)
            needed |= s.reads()
    return replace(program, statements=tuple(reversed(kept)))


def _bypassed(program: Program) -> Iterator[Program]:
    """An operand instead of what is computed from it."""
    for k, s in enumerate(program.statements):
        if s.form == "value" and len(s.targets) == 1:
            for name in dict.fromkeys(s.operands):
                change = {s.targets[0]: name}
                rest = [renamed(other, change) for other in program.statements[k + 1 :]]
                observed = frozenset(change.get(n, n) for n in program.observed)
                made = (*program.statements[:k], *rest)
                yield replace(program, statements=made, observed=observed)


def _fewer_results(program: Program, k: int) -> Iterator[Program]:
    """A function that returns less."""
    s = program.statements[k]
    if s.form != "define" or len(s.body[-1].operands) < 2:
        return
    for n in range(len(s.body[-1].operands)):
        end = replace(s.body[-1], operands=(s.body[-1].operands[n],), text="{0}")
        changed = _with(program, k, replace(s, body=(*s.body[:-1], end)))
        calls = [replace(c, targets=(c.targets[n],)) if c.form == "call" and c.operands[0] ==
                 s.targets[0] else c for c in changed.statements]  # fmt: skip
        yield replace(changed, statements=tuple(calls))


def _fewer_params(program: Program, k: int) -> Iterator[Program]:
    """A function that takes less."""
    s = program.statements[k]
    if s.form != "define":
        return
    used = {name for part in s.body for name in part.reads()}
    for n, param in enumerate(s.params):
        if param not in used:
            params = s.params[:n] + s.params[n + 1 :]
            changed = _with(program, k, replace(s, params=params))
            calls = []
            for c in changed.statements:
                if c.form == "call" and c.operands[0] == s.targets[0]:
                    operands = c.operands[: n + 1] + c.operands[n + 2 :]
                    places = ", ".join(f"{{{i + 1}}}" for i in range(len(params)))
                    calls.append(replace(c, operands=operands, text=f"{{0}}({places})"))
                else:
                    calls.append(c)
            yield tidy(replace(changed, statements=tuple(calls)))


def _numbers(statements: Sequence[Statement]) -> set[str]:
    found: set[str] = set()
    for s in statements:
        found |= set(NUMBER.findall(s.text)) | _numbers(s.body)
    return found


def _other_numbers(program: Program) -> Iterator[Program]:
    """Smaller numbers: one everywhere, then one at a time."""
    for number in sorted(_numbers(program.statements), key=int, reverse=True):
        options = [n for n in SIMPLER if int(n) < int(number)]
        if int(number) > 8:
            options += [str(int(number) // 2), str(int(number) - 1)]
        for n in dict.fromkeys(options):
            change = {number: n}
            made = tuple(renumbered(s, change) for s in program.statements)
            yield replace(program, statements=made)
    for k, s in enumerate(program.statements):
        for number in sorted(_numbers([s]), key=int, reverse=True):
            if int(number) > 1:
                for n in ("1", "2") if int(number) > 2 else ("1",):
                    yield _with(program, k, renumbered(s, {number: n}))


def _replaced(program: Program, old: str, new: str) -> Program:
    def changed(s: Statement) -> Statement:
        return replace(s, text=s.text.replace(old, new), body=tuple(map(changed, s.body)))

    return replace(program, statements=tuple(map(changed, program.statements)))
