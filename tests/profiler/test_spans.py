"""`td.span`: the function itself while nobody looks, an event for each call while somebody does."""

from __future__ import annotations

import inspect
import threading
import traceback

import pytest

import treadle as td
from treadle.runtime.scopes import scope


class Base:
    def method(self):
        return 1


class Named(Base):
    @td.span("method")
    def method(self, *, more=2):
        return super().method() + more


def spans(prof):
    return [e.name for e in prof.events().filter(kind="span")]


def test_the_decorator_gives_the_function_itself():
    def plain(x, *, y=3):
        return x + y

    code = plain.__code__
    named = td.span("plain")(plain)
    assert named is plain
    assert plain.__code__ is code
    with td.profile() as prof:
        assert plain(1) == 4
        assert plain(1, y=5) == 6
        assert inspect.getsource(plain).lstrip().startswith("def plain")
    assert plain.__code__ is code
    assert plain(1) == 4
    assert spans(prof) == ["plain", "plain"]


def test_methods_closures_and_errors():
    name = 10  # of what stands in for the function, too

    @td.span("closure")
    def closure(x):
        if x < 0:
            raise ValueError(x)
        return x + name

    with td.profile() as prof:
        assert Named().method(more=5) == 6
        assert closure(1) == 11
        with pytest.raises(ValueError, match="-1"):
            closure(-1)
    assert spans(prof) == ["method", "closure", "closure"]
    assert closure(2) == 12


def test_one_decorated_while_somebody_looks_and_twice():
    with td.profile() as prof:

        @td.span("outer")
        @td.span("inner")
        def late():
            return 5

        assert late() == 5
    assert spans(prof) == ["outer", "inner"]
    outer, inner = prof.events().filter(kind="span")
    assert inner.parent == outer.row
    assert late() == 5


def test_what_has_no_code_of_its_own_is_wrapped():
    named = td.span("compiled")(td.compile(lambda x: x * 2.0))
    x = td.ones(3)
    assert named(x).numpy().tolist() == [2, 2, 2]
    with td.profile() as prof:
        named(x)
    assert "compiled" in spans(prof)


def test_a_function_that_is_timed_has_its_lines_and_signature():
    @td.span("fails")
    def fails(x: int, *, y: str = "a") -> None:
        raise ValueError(x, y)

    plain = inspect.signature(fails)
    first = fails.__code__.co_firstlineno
    with td.profile():
        assert inspect.signature(fails) == plain
        assert str(inspect.signature(Named().method)) == "(*, more=2)"
        with pytest.raises(ValueError, match="3") as caught:
            fails(3)
        lines = {number for _, _, number in fails.__code__.co_lines()}
    assert lines == {first}
    shown = [f for f in traceback.extract_tb(caught.tb) if f.name == "fails"]
    assert [f.lineno for f in shown] == [first, first + 2]
    assert inspect.signature(fails) == plain
    assert "__signature__" not in vars(fails)


def test_a_compiled_function_stays_one():
    compiled = td.compile(lambda x: x * 2.0)
    named = td.span("twice")(compiled)
    named(td.ones(3))
    named(td.ones(4))
    assert named.traces == 2
    assert td.explain(named, td.ones(3)).retraces == tuple(compiled.retraces)


class Scaled:
    def __init__(self, by):
        self.by = by

    @td.span("scaled")
    @td.compile
    def scaled(self, x):
        return x * self.by


def test_a_compiled_method_has_its_instance():
    with td.profile() as prof:
        assert [Scaled(by).scaled(td.ones(1)).item() for by in (2.0, 3.0)] == [2, 3]
    assert spans(prof).count("scaled") == 2


def test_with_blocks_nest_in_threads_and_in_themselves():
    again = td.span("again")

    def work():
        with again, again:
            pass

    with td.profile() as prof:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in (*threads,):
            thread.start()
        with again, td.span("inside"):
            pass
        for thread in threads:
            thread.join()
    assert sorted(spans(prof)) == ["again"] * 7 + ["inside"]
    assert scope() == ""


def test_a_block_entered_before_or_left_after_a_profile_is_none_of_it():
    open_ = td.span("open")
    with open_:
        prof = td.profile().__enter__()
    prof.__exit__()
    with td.profile() as other:
        open_.__enter__()
    open_.__exit__(None, None, None)
    assert spans(prof) == spans(other) == []


@pytest.mark.parametrize(("make", "words"), [
    (lambda: td.span(3), "a name is text"),
    (lambda: td.span(""), "a name is text"),
    (lambda: td.span("x")(7), "not a function"),
    (lambda: td.span("x")(spans_one_by_one), "one by one"),
    (lambda: td.span("x")(awaited), "others run while it waits(.|\n)*between two awaits"),
    (lambda: td.span("x")(Base), "a class is not a function(.|\n)*__init__"),
], ids=["number", "empty", "value", "generator", "coroutine", "class"])  # fmt: skip
def test_what_cannot_be_named_is_refused(make, words):
    with pytest.raises(td.TreadleError, match=words):
        make()


def spans_one_by_one():
    yield 1


async def awaited():
    return 1
