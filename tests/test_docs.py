"""What the pages say is true: their code runs, their paths exist, their tables match the source."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy
from pathlib import Path

import pytest

from treadle.base import knobs
from treadle.cli.main import main
from treadle.tensor.tensor import Tensor, realize

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "treadle"
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [p for p in sorted(SRC.rglob("*.py")) if ">>> " in p.read_text("utf-8")]
NEEDS_TRITON = "backends/cuda"

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)


@every_page
def test_python_on_the_page_runs(page, capsys):
    code = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    space = {"__name__": page.stem}
    for block in code:  # one after the other, as a reader would
        exec(compile(block, str(page), "exec", optimize=0), space)  # its asserts are the test


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(SRC).as_posix())
def test_examples_in_docstrings_are_true(path):
    if NEEDS_TRITON in path.as_posix():
        pytest.importorskip("triton")
    name = ".".join(path.relative_to(SRC.parent).with_suffix("").parts)
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert doctest.testmod(module).failed == 0


@every_page
def test_links_and_paths_on_the_page_exist(page):
    text = page.read_text("utf-8")
    prose = re.sub(r"`[^`\n]*`\ |", "|", text)  # of tables of code
    links = [x for x in re.findall(r"\]\(([^)#]+)\)", prose) if "://" not in x]
    assert not [x for x in links if not (page.parent / x).exists()]
    paths = re.findall(r"`([a-z_]+(?:/\w+)*/\w+\.py)`", text)
    assert not [x for x in paths if not (SRC / x).exists() and not (ROOT / x).exists()]


def test_every_folder_of_the_package_is_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    folders = [p.parent.name for p in SRC.glob("*/__init__.py")]
    assert not [name for name in folders if not re.search(rf"^.*\b{name}\b", text, re.MULTILINE)]


def test_the_table_of_switches_matches_the_source():
    text = (ROOT / "README.md").read_text("utf-8")
    table = text.split("<!-- knobs:start -->")[1].split("<!-- knobs:end -->")[0]
    rows = re.findall(r"^\| `TREADLE_(\w+)` \| (.*?) ?\| (.*) \|$", table, re.MULTILINE)
    assert {name.lower(): doc for name, _, doc in rows} == {
        name: knob.doc for name, knob in knobs.REGISTRY.items()
    }
    page = (ROOT / "docs" / "knobs.md").read_text("utf-8")
    assert not [name for name, _, _ in rows if f"TREADLE_{name}" not in page]


def test_the_walk_shows_what_the_compiler_does_now():
    tool = runpy.run_path(str(ROOT / "tools" / "walk.py"))
    stored, now = (ROOT / "docs" / "walk.md").read_text("utf-8"), tool["walk"]()
    version = re.compile(r"llvmlite \S+,")
    if version.findall(stored) != version.findall(now):  # another LLVM, another assembly
        stored, now = (text.split(tool["ASSEMBLY"])[0] for text in (stored, now))
    assert now == stored, "run python tools/walk.py and read the difference"


def test_the_site_has_every_page_and_no_other():
    """Without a parser of YAML: an entry is `- Title: page.md`."""
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    named = re.findall(r"^ +- [\w ]+: ([\w-]+\.md)$", text, re.MULTILINE)
    assert len(set(named)) == len(named)
    assert set(named) == {path.name for path in (ROOT / "docs").glob("*.md")}


@every_page
def test_links_to_places_on_pages_exist(page):
    for target, place in re.findall(r"\]\(([\w./-]*\.md)#([\w-]+)\)", page.read_text("utf-8")):
        heads = re.findall(r"^#+ (.*)$", (page.parent / target).read_text("utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}
        assert place in slugs, f"{target}#{place}"


@pytest.mark.parametrize("name", ["from-pytorch.md", "from-jax.md"])
def test_our_side_of_the_tables_runs(name):
    """Against the other side in tests/peers, where that is installed."""
    text = (ROOT / "docs" / name).read_text("utf-8")
    first = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    rows = re.findall(
        r"^\| `[^`]*` \| `([^`]*)` \|$", re.split("## Lazy|`jax.vmap`", text)[0], re.MULTILINE
    )
    assert len(rows) > 25
    space: dict = {}
    exec(compile(first, name, "exec", optimize=0), space)
    found = [eval(row, dict(space)) for row in rows]
    realize(*(x for x in found if isinstance(x, Tensor)))


def test_settings_on_the_page_train(tmp_path, monkeypatch, capsys):
    """The TOML of the command line's page, for two steps."""
    pytest.importorskip("sklearn")
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    (tmp_path / "own.toml").write_text(
        re.search(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1], "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["train", "own.toml", "--steps", "2"]) == 0
