"""docs/tutorial-op.md as a reader follows it, in a checkout of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "tutorial-op.md"
BLOCK = re.compile(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)


def checkout(folder):
    """A copy of what the steps need."""
    skip = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("src", "docs", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def command(line):
    """A line of the page with this interpreter's programs."""
    words = line.split()
    programs = {"treadle": ["-m", "treadle"], "pytest": ["-m", "pytest"], "python": []}
    return [sys.executable, *programs[words[0]], *words[1:]]


def shell(folder, line):
    path = os.pathsep.join([str(folder / "src"), str(folder)])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        command(line), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def session(folder, text):
    """Run an interactive session with the folder's packages."""
    (folder / "session.txt").write_text(text, "utf-8")
    shell(folder, "python -m doctest session.txt")


def follow(folder, language, title, body):
    if title:
        path = folder / title
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(body)
    elif language == "sh":
        for line in body.strip().splitlines():
            shell(folder, line)
    elif language == "pycon":
        session(folder, body)


def parts():
    """The page cut where the outside package begins."""
    inside, outside = PAGE.read_text("utf-8").split("## To your own package")
    return {"inside": inside, "outside": outside}


@pytest.mark.parametrize("part", ["inside", "outside"])
def test_the_page_does_what_it_says(part, tmp_path):
    folder = checkout(tmp_path) if part == "inside" else tmp_path
    if part == "outside":
        os.symlink(ROOT / "src", folder / "src")
    found = [match.groups() for match in BLOCK.finditer(parts()[part])]
    assert [language for language, *_ in found if language != "text"], part
    for language, title, body in found:
        follow(folder, language, title, body)
    if part == "inside":
        assert "def tanhexp(self, slope: float = 1.0, **words: Unpack[Words]) -> Self:" in (
            folder / "src" / "treadle" / "tensor" / "methods.py"
        ).read_text("utf-8")
        assert "### tanhexp" in (folder / "docs" / "ops.md").read_text("utf-8")


def test_the_block_on_the_page_is_one_that_is_generated():
    """Its shape, that is: the markers and the order of its lines."""
    text = next(
        body for language, _, body in BLOCK.findall(parts()["inside"]) if language == "text"
    )
    pattern = (
        r"# <gen (\w+)>\ndef \1\(.*\) -> Tensor:\n"
        r"    \"\"\".*\"\"\"\n    if words:\n        return .*\n    return .*\n    # </gen \1 \w+>"
    )
    assert re.match(pattern, text)
    functions = (ROOT / "src" / "treadle" / "functions.py").read_text("utf-8")
    assert re.search(pattern, functions)
