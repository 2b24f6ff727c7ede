"""Kernels compiled by processes of their own: the same code, and errors as without them."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("triton")

from cuda_cases import CASES
from triton.compiler.errors import CompilationError
from triton_host import INTERPRETED, plan_of

from treadle.backends.cuda import compile as compiling
from treadle.backends.cuda import crew
from treadle.base import cache

pytestmark = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")


@pytest.fixture(autouse=True)
def several(monkeypatch):
    """As on a machine with more cores, and nothing on disk."""
    monkeypatch.setattr(crew.os, "cpu_count", lambda: 3)
    monkeypatch.setattr(crew, "FEWEST", 2)
    monkeypatch.setattr(cache, "read", lambda key: None)


def sources():
    plans = [plan_of(CASES[name].build())[0] for name in ("add", "sums", "column_sums")]
    return list(dict.fromkeys(x.source for plan in plans for x in plan.launches))


def test_processes_give_the_same_code(monkeypatch):
    wanted = {source: compiling.compiled(source, 90) for source in sources()}
    assert len(wanted) > 2
    monkeypatch.setattr(compiling, "compiled", None)  # nobody compiles here
    assert compiling.codes_of(wanted, 90) == wanted


def test_what_cannot_be_compiled_fails_where_it_is_asked_for():
    broken = [replace(x, text=x.text.replace("tl.store(", "tl.stored(")) for x in sources()]
    with pytest.raises(CompilationError, match="stored"):
        compiling.codes_of(broken, 90)


def test_without_processes_it_is_compiled_here(monkeypatch):
    monkeypatch.setattr(crew, "PROGRAM", "treadle.backends.cuda.nobody")
    found = compiling.codes_of(sources(), 90)
    assert all(code.cubin[:4] == b"\x7fELF" for code in found.values())
