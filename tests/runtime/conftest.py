"""What tests of the runtime share: a cache of their own, and what is compiled meanwhile."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.backends import choices
from treadle.runtime import growing, realize


@pytest.fixture
def own_cache(tmp_path):
    """Nothing found by others, and others find nothing of ours."""
    place = {"cache_dir": str(tmp_path / "cache"), "cache_secret": str(tmp_path / "data" / "key")}
    with td.override(**place):
        choices.forget()
        realize.forget()
        yield tmp_path
    choices.forget()
    realize.forget()


@pytest.fixture
def plans(monkeypatch):
    """One entry for every graph that is compiled; nothing is known to begin with."""
    made = []
    real = realize.compile_graph

    def noted(*args, **options):
        made.append(args[0])
        return real(*args, **options)

    monkeypatch.setattr(realize, "compile_graph", noted)
    monkeypatch.setattr(realize, "_PROGRAMS", {})
    monkeypatch.setattr(realize, "_SINGLE", {})
    monkeypatch.setattr(growing, "_PATTERNS", {})
    monkeypatch.setattr("treadle.transforms.traced.compile_graph", noted)
    return made
