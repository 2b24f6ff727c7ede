"""Programs of the fuzzer: the same for a seed, printed as Python that gives the model's values."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from importlib import import_module

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu.program import Program as Native
from treadle.base.dtypes import float32
from treadle.testing.fuzz import runs
from treadle.testing.fuzz.bounds import RULES, Facts, Unfit, Value, bound, difference
from treadle.testing.fuzz.generate import program_of
from treadle.testing.fuzz.heads import heads_of
from treadle.testing.fuzz.machine import LIMITS
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.modes import WAYS, Failure, final, run
from treadle.testing.fuzz.program import HEAD, Printer, Program, Statement, inlinable
from treadle.testing.fuzz.runs import MODES, new_program
from treadle.testing.fuzz.script import lines_of, script_of
from treadle.testing.fuzz.shrink import Run
from treadle.testing.fuzz.vocabulary import EVERY, VALUES
from treadle.testing.fuzz.watch import instead, on_threads, shadowed

SEED = 2024
KINDS = {
    "tensor", "flip", "permute", "slice", "column", "reshape", "expand", "pad", "join", "rearrange",
    "take", "gather", "look up", "search", "unary", "smooth", "square", "scaled", "binary",
    "compare", "choose", "cast", "whole", "clip", "round", "sum", "extreme", "argmax", "mean",
    "test", "softmax", "scan", "sort", "argsort", "product", "convolution", "assign",
    "assign argument", "assign item", "assign row", "row", "successor", "detach", "view",
    "array", "from numpy", "number", "realize", "del", "define", "call", "return", "gradient",
    "nested gradient", "switched", "counted", "collected", "trained", "layers", "continued",
    "scanned",
}  # fmt: skip


def statement(kind, form, text, targets=(), operands=(), **more):
    return Statement(kind, form, "move", tuple(targets), tuple(operands), text, **more)


def test_a_seed_gives_the_same_program():
    for number in range(20):
        assert program_of(SEED, number, EVERY) == program_of(SEED, number, EVERY)


def test_every_kind_of_statement_is_generated():
    seen = set()
    for number in range(2000):
        seen |= set(new_program(SEED, number).kinds)
        if seen >= KINDS:
            break
    assert seen == KINDS


@pytest.mark.parametrize("mode", WAYS)
def test_every_way_prints_as_python(mode):
    for number in range(0, 30, 3):
        program = new_program(SEED, number)
        detail = "t1: 1 of 1 wrong, first at [0]: 2 instead of 3"
        failure = Failure(mode, "wrong value", detail, "", "t1")
        ast.parse(script_of((Run(program, mode),), failure))


def test_a_script_gives_the_values_of_the_model():
    for number in range(12):
        program, names = program_of(SEED, number, VALUES), {}
        expected = Model().run(program)
        head = HEAD + heads_of(program.statements)
        exec("\n".join([head, *lines_of(Run(program, "uncompiled"))]), names)
        for name, value in final(program, expected).items():
            assert not difference(value, np.asarray(names[name]).astype(value.array.dtype))


def test_what_is_used_once_stands_where_it_is_used():
    made = statement("tensor", "value", "td.tensor(data(3))", ["t1"])
    twice = statement("scaled", "value", "{0} * 2", ["t2"], ["t1"])
    total = statement("sum", "value", "{0}.sum()", ["t3"], ["t2"])
    inlined = inlinable((made, twice, total), frozenset(["t3"]))
    assert Printer(inlined).lines((made, twice, total))[-1] == "t3 = (t1 * 2).sum()"
    bound = statement("assign", "assign", "{1}", (), ["t1", "t1"])
    assert not inlinable((made, twice, bound, total), frozenset(["t3"]))


def test_the_model_binds_names_as_python_does():
    made = statement("tensor", "value", "td.tensor(data(3, seed=1))", ["t1"])
    copy = statement("detach", "value", "{0}.detach()", ["t2"], ["t1"])
    inside = (
        statement("assign argument", "assign", "{0} + 1", (), ["p1"]),
        statement("scaled", "value", "{0} * 2", ["t3"], ["p1"]),
        statement("return", "return", "{0}", (), ["t3"]),
    )
    define = statement("define", "define", "", ["f1"], params=("p1",), body=inside)
    call = statement("call", "call", "{0}({1})", ["t4"], ["f1", "t1"])
    model = Model()
    for s in (made, copy, define, call):
        model.execute(s)
    before = model["t2"].array
    assert np.array_equal(model["t1"].array, before + 1)
    assert np.array_equal(model["t4"].array, (before + 1) * 2)


def test_the_model_refuses_what_it_cannot_check():
    model = Model()
    model.execute(statement("tensor", "value", "td.tensor(data(4), dtype=td.float32)", ["t1"]))
    model.execute(Statement("smooth", "value", "smooth", ("t2",), ("t1",), "{0}.tanh()"))
    with pytest.raises(Unfit, match="jump"):
        model.execute(Statement("round", "value", "jump", ("t3",), ("t2",), "{0}.floor()"))
    with pytest.raises(Unfit):
        model.execute(statement("slice", "value", "{0}[7]", ["t4"], ["t1"]))


def test_what_decides_between_others_must_be_exact():
    near, sure = Value(np.ones(2, np.float32), error=1e-6), Value(np.ones(2, np.float32))
    for first, second, refused in ((near, sure, True), (sure, near, False)):
        facts = Facts([first, second], np.ones(2, np.float32), float32, 1.0, 1, 0.0)
        with pytest.raises(Unfit) if refused else nullcontext():
            bound(RULES["choose"], facts, exact=False)


def test_a_value_is_exact_or_has_a_bound():
    exact = Value(np.array([1.0, 2.0]))
    assert difference(exact, np.array([1.0, 2.0 + 1e-15])).startswith("1 of 2 wrong, first at [1]")
    near = Value(np.array([1.0, 2.0]), error=1e-6)
    assert not difference(near, np.array([1.0, 2.0 + 1e-6]))
    assert difference(near, np.array([1.0, 2.1]))
    assert difference(near, np.array([1.0, np.nan]))


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
def test_every_way_notices_a_wrong_value(mode):
    if mode in ("by differences", "sparingly"):
        pytest.skip("looks at something else")
    made = statement("tensor", "value", "td.tensor(data(3, seed=1))", ["t1"])
    twice = statement("scaled", "value", "{0} * 2", ["t2"], ["t1"])
    program = Program((made, twice), frozenset(["t2"]))
    expected = Model().run(program)
    assert run(program, expected, mode) is None
    expected[-1]["t2"] = Value(expected[-1]["t2"].array + 1)
    failure = run(program, expected, mode)
    assert failure is not None
    assert failure.name == "t2"


def test_a_short_program_runs_on_the_threads_that_it_is_given():
    """Its words are kept for the next run, and name threads; scratch is taken for each of them."""
    x = td.tensor(np.ones((8, 8), np.float32))
    seen = []

    def look(program, inputs, results=None):
        found = native(program, inputs, results)
        seen.append({words[0] for words in program.free} == {program.pool.address})
        return found

    native = Native.run
    with instead(lambda _: look):
        for around in (nullcontext(), on_threads(1), on_threads(3), nullcontext()):
            with around:
                (x + 1).realize()
    assert seen == [True] * 4


def test_limits_of_the_small_machine_are_there():
    for where, limits in LIMITS.items():
        module = import_module(f"treadle.{where}")
        for name, value in limits.items():
            assert getattr(module, name) > value, f"{where}.{name}"


def test_a_program_that_is_not_fit_after_all_gives_way_to_another(monkeypatch):
    unfit = program_of(SEED, 3, EVERY)
    run = Model.run

    def picky(self, program):
        if program == unfit:
            raise Unfit("too inexact")
        return run(self, program)

    monkeypatch.setattr(Model, "run", picky)
    monkeypatch.setattr(runs, "new_program", lambda *_: unfit)
    program, expected = runs.program_number(SEED, 9)
    assert program != unfit
    assert len(expected) == len(program.statements)


def test_what_overflows_as_numpy_has_it_is_the_same():
    """Infinities are held against infinities: squares of halves beyond 65504."""
    x = td.tensor(np.full((4, 4), 200, np.float16))
    with shadowed():
        assert np.isinf((x * x).sum().numpy())
