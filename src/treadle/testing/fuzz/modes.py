"""The ways to run a program, and what must be the same in all of them."""

from __future__ import annotations

import re
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

import treadle as td
from treadle.testing.fuzz.bounds import Value, difference
from treadle.testing.fuzz.differences import differing
from treadle.testing.fuzz.dims import Sized
from treadle.testing.fuzz.heads import ALL_LINES
from treadle.testing.fuzz.machine import SMALL
from treadle.testing.fuzz.model import Elsewhere, code_of
from treadle.testing.fuzz.program import (
    INDENT,
    Printer,
    Program,
    Statement,
    data,
    inlinable,
    segments,
)  # fmt: skip
from treadle.testing.fuzz.watch import Taken, counted, on_threads
from treadle.testing.fuzz.watch import in_any_order as any_order
from treadle.testing.fuzz.watch import shadowed as kernel_by_kernel

SLACK = 64 << 10  # bytes: alignment, and partial sums of the blocks of small tensors
LEAN = frozenset((
    "sum", "extreme", "test", "unary", "scaled", "binary", "compare", "choose", "cast", "flip",
    "slice", "column", "permute", "expand", "pad", "mean", "clip", "whole", "round", "smooth",
    "square", "number", "softmax",
))  # fmt: skip
"""Kinds that need no memory but for their result."""

HOME: list[Any] = [td]
"""What programs call td: the one entry is changed where they run on another device."""

Expected = list[dict[str, Value]]
"""What each statement binds, by the model."""


@dataclass(frozen=True)
class Failure:
    """What a program did wrong.

    - **what**: "wrong value", "changed" (after it was read), "raised", "memory", "crashed", "hung"
    - **symptom**: the same for failures that have the same cause, as far as that can be told
    """

    mode: str
    what: str
    detail: str
    symptom: str
    name: str = ""


class Mismatch(Exception):
    """A value is not what the model says."""

    def __init__(self, name: str, detail: str, what: str = "wrong value") -> None:
        super().__init__(f"{name}: {detail}")
        self.name, self.what = name, what


def scope(space: Any = None) -> dict[str, Any]:
    """The names that every program starts with."""
    names = {"td": space or HOME[0], "np": np, "data": data, "__name__": "program"}
    exec(code_of(ALL_LINES, "exec"), names)
    return names


def final(program: Program, expected: Expected) -> dict[str, Value]:
    """What the observed names mean in the end."""
    last: dict[str, Value] = {}
    for bound in expected:
        last |= bound
    return {name: last[name] for name in sorted(program.observed) if name in last}


def array_of(thing: Any) -> Any:
    """What a name means, as an array."""
    return thing.numpy() if isinstance(thing, td.Tensor) else np.asarray(thing)


def check(name: str, value: Value, thing: Any) -> None:
    """Raise Mismatch if a name does not mean what it must."""
    found = array_of(thing)
    if value.form == "number":
        found = found.astype(value.array.dtype)
    wrong = difference(value, found)
    if wrong:
        raise Mismatch(name, wrong)


def execute(lines: Sequence[str], names: dict[str, Any]) -> None:
    """Run lines of Python."""
    exec(code_of("\n".join(lines), "exec"), names)


# ---- the ways


def lazily(program: Program, expected: Expected, order: int = 0) -> None:
    """Nothing is looked at before the end; then one by one, backwards, or all together."""
    names = scope()
    execute(
        Printer(inlinable(program.statements, program.observed)).lines(program.statements), names
    )
    look(program, expected, names, order)


def look(program: Program, expected: Expected, names: dict[str, Any], order: int = 0) -> None:
    """Compare what is there in the end."""
    wanted = final(program, expected)
    if order % 3 == 1:
        wanted = dict(reversed(wanted.items()))
    elif order % 3 == 2:
        td.realize(*(names[n] for n in wanted if isinstance(names[n], td.Tensor)))
    for name, value in wanted.items():
        check(name, value, names[name])


def step_by_step(program: Program, expected: Expected) -> None:
    """Every value is read as soon as it is made, and what was read never changes."""
    names, printer = scope(), Printer()
    seen: list[tuple[str, Any, Any]] = []
    for s, bound in zip(program.statements, expected, strict=True):
        with counted() as taken:
            execute(printer.one(s), names)
            for name, value in bound.items():
                check(name, value, names[name])
        _is_lean(s, bound, names, taken)
        for name in bound:
            array = array_of(names[name])
            seen.append((name, array, array.copy()))
    look(program, expected, names)
    for name, array, copy in seen:
        if not np.array_equal(array, copy):
            raise Mismatch(name, "an array that was read has changed", "changed")


def _is_lean(s: Statement, bound: dict[str, Value], names: dict[str, Any], taken: Taken) -> None:
    """Raise Mismatch where a statement that needs no memory takes some."""
    if s.kind in LEAN and taken.total > SLACK and not SMALL:
        given = max((array_of(names[name]).nbytes for name in s.operands), default=0)
        made = sum(value.array.nbytes for value in bound.values())
        if taken.total > made + given // 2 + SLACK:
            least = f"{taken.total} bytes taken, {made} made, {given} read"
            raise Mismatch(s.targets[0], least, "memory")


def compiled_lines(program: Program) -> list[str]:
    """The program with every run of statements that only compute as a compiled function."""
    lines: list[str] = []
    later = _needed_after(program)
    at = 0
    for number, run in enumerate(segments(program.statements)):
        at += len(run)
        if not run[0].is_pure or not run[0].operands:
            lines += Printer().lines(run)
            continue
        made = [name for s in run for name in s.targets]
        given = sorted({n for s in run for n in s.reads()} - set(made))
        results = [name for name in made if name in later[at]]
        if not results:
            continue
        inner = Printer(inlinable(run, frozenset(results)))
        lines += ["@td.compile", f"def part{number}({', '.join(given)}):"]
        lines += [INDENT + line for line in inner.lines(run)]
        lines.append(f"{INDENT}return {', '.join(results)}")
        lines.append(f"{', '.join(results)} = part{number}({', '.join(given)})")
    return lines


def _needed_after(program: Program) -> list[set[str]]:
    """For each number of statements, the names that are read after so many."""
    needed = set(program.observed)
    found = [needed]
    for s in reversed(program.statements):
        needed = needed | s.reads()
        found.append(needed)
    return found[::-1]


def compiled(program: Program, expected: Expected) -> None:
    """Whatever only computes is compiled."""
    names = scope()
    execute(compiled_lines(program), names)
    look(program, expected, names)


def by_dims(program: Program, expected: Expected) -> None:
    """Whatever only computes is compiled for sizes that are not known."""
    names = scope(Sized(HOME[0]))
    execute(compiled_lines(program), names)
    look(program, expected, names)


def uncompiled(program: Program, expected: Expected) -> None:
    """Functions are called as they are written, without compiling them."""
    names = scope()
    inlined = inlinable(program.statements, program.observed)
    execute(Printer(inlined, compiles=False).lines(program.statements), names)
    look(program, expected, names)


def by_reference(program: Program, expected: Expected) -> None:
    """Lazily, on the reference backend."""
    names = scope(Elsewhere("reference", compiles=True))
    execute(
        Printer(inlinable(program.statements, program.observed)).lines(program.statements), names
    )
    look(program, expected, names)


def in_threads(program: Program, expected: Expected, count: int = 3) -> None:
    """Several threads run it at the same time, over the same tensors if none is assigned to."""
    shares = all(s.is_pure or s.form in ("view", "number") for s in program.statements)
    first: list[Statement] = []
    rest = list(program.statements)
    while shares and rest and not rest[0].operands:
        first.append(rest.pop(0))
    names = scope()
    execute(Printer().lines(first), names)
    lines = Printer(inlinable(rest, program.observed)).lines(rest)
    problems: list[BaseException] = []
    start = threading.Barrier(count)

    def body(own: dict[str, Any]) -> None:
        try:
            start.wait()
            execute(lines, own)
            look(program, expected, own)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=body, args=(dict(names),)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def in_any_order(program: Program, expected: Expected) -> None:
    """On one thread, on four, and with blocks in any order: the same bits as usual."""
    lines = Printer(inlinable(program.statements, program.observed)).lines(program.statements)
    first: dict[str, Any] = {}
    for around in (nullcontext(), on_threads(1), on_threads(4), any_order(1), any_order(2)):
        names = scope()
        with around:
            execute(lines, names)
            look(program, expected, names)
        for name in program.observed:
            bits = array_of(names[name]).tobytes()
            if first.setdefault(name, bits) != bits:
                raise Mismatch(name, "other bits on other threads")


def shadowed(program: Program, expected: Expected) -> None:
    """Kernel by kernel against the reference."""
    with kernel_by_kernel():
        lazily(program, expected)


def sparingly(program: Program, expected: Expected) -> None:
    """Lazily it takes no more memory than compiled, but for what has a name."""
    inlined = inlinable(program.statements, program.observed)
    lines = Printer(inlined).lines(program.statements)
    with counted() as lazy:
        names = scope()
        execute(lines, names)
        look(program, expected, names)
    with counted() as least:
        execute(compiled_lines(program), own := scope())
        look(program, expected, own)
    named = sum(value.array.nbytes for bound in expected for name, value in bound.items()
                if name not in inlined)  # fmt: skip
    if lazy.total > least.total + named + SLACK:
        raise Mismatch(
            min(program.observed),
            f"{lazy.total} bytes lazily, {least.total} compiled, {named} have a name", "memory",
        )  # fmt: skip


def by_differences(program: Program, expected: Expected) -> None:
    """Slopes are what differences say."""
    wrong = differing(program)
    if wrong:
        raise Mismatch(wrong.partition(":")[0], wrong)


Way = Callable[[Program, Expected], None]
WAYS: dict[str, Way] = {
    "lazily": lazily,
    "lazily, backwards": lambda p, e: lazily(p, e, 1),
    "lazily, together": lambda p, e: lazily(p, e, 2),
    "step by step": step_by_step,
    "compiled": compiled,
    "by dims": by_dims,
    "uncompiled": uncompiled,
    "by reference": by_reference,
    "in threads": in_threads,
    "in any order": in_any_order,
    "shadowed": shadowed,
    "sparingly": sparingly,
    "by differences": by_differences,
}


def run(program: Program, expected: Expected, mode: str) -> Failure | None:
    """What goes wrong with a program that is run one way."""
    try:
        WAYS[mode](program, expected)
    except Mismatch as error:
        made = [s.kind for s in program.statements if error.name in (*s.targets, *s.changes())]
        symptom = f"{error.what} {made[-1] if made else ''}"
        return Failure(mode, error.what, str(error), symptom, error.name)
    except Exception as error:
        return Failure(mode, "raised", _told(error), symptom_of(error))
    return None


def _told(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    return "".join(lines[-6:]).strip()


def symptom_of(error: BaseException) -> str:
    """An exception without the numbers in it, and the innermost place."""
    text = re.sub(r"\d+", "#", str(error).partition("\n")[0])[:80]
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].name}" if frames else ""
    if isinstance(error, AssertionError):
        text = text[:30]
    return f"{type(error).__name__} {text} in {place}"
