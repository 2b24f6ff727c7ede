"""`td.span`: the function itself while nobody looks, an event for each call while somebody does."""

from __future__ import annotations

import inspect
import threading

import pytest

import treadle as td


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
    assert not again.opened


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
], ids=["number", "empty", "value", "generator"])  # fmt: skip
def test_what_cannot_be_named_is_refused(make, words):
    with pytest.raises(td.TreadleError, match=words):
        make()


def spans_one_by_one():
    yield 1
