"""`treadle profile` runs a script as Python would, and shows where its time went."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from treadle.cli.main import main

SCRIPT = """
import sys
import treadle as td

def slow(x):
    for _ in range(4):
        x = td.tanh(x @ x)  # the slow line
    return x

def quick(x):
    return x + 1

if __name__ == "__main__":
    x = td.ones(int(sys.argv[1]), int(sys.argv[1]))
    print("size", quick(slow(x)).sum().item() > 0, sys.argv)
    if "fail" in sys.argv:
        raise ValueError("on purpose")
    sys.exit(3 if "exit" in sys.argv else "said" if "said" in sys.argv else None)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.py").write_text(SCRIPT, "utf-8")
    return tmp_path


def table_of(said):
    """Rows of the table, by the line they are of."""
    return [line for line in said.splitlines() if line.startswith("work.py:")]


def test_the_slow_line_is_first_and_a_report_is_there(script, capsys):
    assert main(["profile", "work.py", "640", "--by", "phase"]) == 0
    said = capsys.readouterr().out
    assert "size True ['work.py', '640', '--by', 'phase']" in said
    assert "x = td.tanh(x @ x)" in table_of(said)[0]
    assert (script / "work.profile.html").stat().st_size > 10_000


def test_files_are_those_asked_for(script, capsys):
    outputs = ["t.pftrace", "t.json", "t.folded", "t.speedscope.json", "t.html"]
    options = [word for name in outputs for word in ("-o", name)]
    assert main(["profile", *options, "--by", "kernel", "work.py", "8"]) == 0
    assert sorted(p.name for p in script.glob("t.*")) == sorted(outputs)
    events = json.loads((script / "t.json").read_text("utf-8"))["traceEvents"]
    lines = {e["args"]["lines"] for e in events if e.get("cat") == "kernel"}
    slow = 1 + SCRIPT.splitlines().index("        x = td.tanh(x @ x)  # the slow line")
    assert any(f"work.py:{slow}" in line for line in lines)
    assert not (script / "work.profile.html").exists()


@pytest.mark.parametrize(("word", "code"), [("exit", 3), ("said", 1), ("fail", 1)])
def test_a_script_that_ends_early_is_reported_as_far_as_it_came(script, capsys, word, code):
    before = sys.argv, list(sys.path)
    assert main(["profile", "work.py", "8", word]) == code
    assert (sys.argv, sys.path) == before
    captured = capsys.readouterr()
    assert table_of(captured.out)
    assert (script / "work.profile.html").exists()
    if word == "fail":
        first, *rest = [x for x in captured.err.splitlines() if x.startswith("  File")]
        assert "work.py" in first
        assert not [line for line in rest if "runpy" in line or "profiling" in line]
        assert captured.err.rstrip().endswith("ValueError: on purpose")
    if word == "said":
        assert captured.err == "said\n"


@pytest.mark.parametrize(("name", "words"), [
    ("t.txt", "path=t.txt"), ("no/t.html", "no such folder"), ("folder.html", "not a file"),
], ids=["ending", "missing folder", "folder"])  # fmt: skip
def test_what_cannot_be_written_is_refused_before_anything_runs(script, capsys, name, words):
    (script / "folder.html").mkdir()
    assert main(["profile", "-o", name, "work.py", "8"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err.splitlines()[0]
    assert "Traceback" not in captured.err


def test_a_key_of_no_table_is_refused_before_anything_runs(script, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["profile", "--by", "nokey", "work.py", "8"])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "nokey" in captured.err
    assert "module" in captured.err


OWN = """
import os
import treadle as td

os.chdir("elsewhere")
with td.profile() as part:
    td.log(td.ones(3)).numpy()
assert [e.name for e in part.events().filter(kind="kernel")] == ["log_f32"]
"""


def test_a_script_may_profile_itself_and_go_to_another_folder(script, capsys):
    (script / "own.py").write_text(OWN, "utf-8")
    (script / "elsewhere").mkdir()
    assert main(["profile", "-o", "t.folded", "own.py"]) == 0
    assert "log_f32" in (script / "t.folded").read_text("utf-8")
    assert not list((script / "elsewhere").iterdir())


def test_an_example_runs_under_it_unchanged(tmp_path, capsys):
    example = Path(__file__).parents[2] / "examples" / "classification.py"
    output = tmp_path / "example.html"
    assert main(["profile", "-o", str(output), str(example), "--tiny"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^classification.py:\d+ ", said, re.MULTILINE)
    assert output.exists()


def test_a_script_that_is_not_there(script, capsys):
    assert main(["profile", "other.py"]) == 2
    assert "other.py" in capsys.readouterr().err
