"""From the table to text: what one row brings, and what the command says and does."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treadle as td
from treadle.cli.generate import Row, own_rows, own_targets
from treadle.cli.main import main
from treadle.cli.merge import merge, parts_of
from treadle.cli.signature import signature_of
from treadle.ops.defs import TABLE, Kind, Op
from treadle.testing.samples import public_rows

ROOT = Path(__file__).parent.parent.parent
ROWS = [row for row in own_rows() if not row.is_written]
FILES = 7

COMPOSITE = '''

@composite(lambda np, x, by=3.0: x * by)
def tripled(x: Any, /, by: float = 3.0) -> Any:
    """x several times over."""
    return x * by
'''
PRIMITIVE = """
plussed = elementwise("plussed", rules.number, "x + y.",
                      lambda np, x, y: x + y, lambda g, y, a, b: (g, g))
"""
BACKENDS = {
    "cpu": ("PRIMITIVES: dict[str, Primitive] = {\n", '    "plussed": _plain("fadd", "add"),\n'),
    "cuda": ("PRIMITIVES: dict[str, Primitive] = {\n", '    "plussed": _infix("+"),\n'),
}
PROBE = """
import inspect, json, sys
import numpy as np
import treadle as td
from benchmarks.rows import case_on, samples_of
from treadle.ops.defs import TABLE
from treadle.testing.taken import row_support
name = sys.argv[1]
op, function = TABLE[name], getattr(td, name)
x = td.tensor([1.0, 2.0])
case = case_on(op, samples_of(op)[0])
print(json.dumps({
    "exported": name in td.__all__,
    "signature": str(inspect.signature(function)),
    "method": callable(getattr(td.Tensor, name, None)),
    "value": case.record([x for _ in case.operands]).tolist(),
    "calls": list(td.explain(lambda *xs: function(*xs), *[x for _ in case.operands]).rows[0].calls),
    "bench": list(case.operands[0].shape),
    "devices": [device for device, kinds in row_support(op).items() if td.float32 in kinds],
}))
"""


def copied(folder):
    """A checkout to change rows in."""
    skip = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("src", "docs", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder / "src" / "treadle"


def python(folder, *words, wanted=0):
    path = os.pathsep.join([str(folder / "src"), str(folder)])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *words]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == wanted, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with a composite and a primitive more, and what follows from them generated."""
    folder = tmp_path_factory.mktemp("checkout")
    source = copied(folder)
    with (source / "ops" / "activations.py").open("a", encoding="utf-8") as file:
        file.write(COMPOSITE)
    with (source / "ops" / "elementwise.py").open("a", encoding="utf-8") as file:
        file.write(PRIMITIVE)
    for backend, (before, line) in BACKENDS.items():
        path = source / "backends" / backend / "ops.py"
        text = path.read_text("utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, before + line), "utf-8")
    python(folder, "-m", "treadle", "gen")
    return folder


def written_by_hand(folder, name):
    """Files that name a row outside of generated blocks."""
    found = []
    for path in folder.glob("src/**/*.py"):
        if path.parent.name == "cli":  # what makes the markers
            continue
        parts = parts_of(path.read_text("utf-8"))
        lines = [line for part in parts if isinstance(part, list) for line in part]
        if name in "\n".join(lines):
            found.append(path.relative_to(folder / "src" / "treadle").as_posix())
    return sorted(found)


def everywhere(folder, name):
    """Facts about a row that must be in the pages, the functions and the methods by now."""
    assert f"### {name}\n" in (folder / "docs" / "ops.md").read_text("utf-8")
    assert f"| {name} | " in (folder / "docs" / "support.md").read_text("utf-8")
    found = json.loads(python(folder, "-c", PROBE, name))
    assert found["exported"]
    assert found["method"]
    assert found["bench"] == [4096, 1024]
    assert found["devices"] == ["cpu", "cuda", "reference"]
    return found


def test_one_row_is_all_a_composite_takes(checkout):
    assert written_by_hand(checkout, "tripled") == ["ops/activations.py"]
    found = everywhere(checkout, "tripled")
    assert found["signature"] == (
        "(x: 'Tensor' = ..., by: 'float' = 3.0, **words: 'Unpack[Words]') -> 'Tensor'"
    )
    assert found["value"] == [3.0, 6.0]
    assert found["calls"] == ["tripled(by=3.0)"]


def test_a_primitive_takes_a_row_and_a_line_for_each_backend(checkout):
    places = ["backends/cpu/ops.py", "backends/cuda/ops.py", "ops/elementwise.py"]
    assert written_by_hand(checkout, "plussed") == places
    assert everywhere(checkout, "plussed")["value"] == [2.0, 4.0]


def test_new_rows_are_tested_like_the_others(checkout):
    tests = ("tests/ops/test_gradients.py", "tests/ops/test_values.py")
    ran = python(
        checkout, "-m", "pytest", "-vv", *tests, "-k", "tripled or plussed", "-p", "no:xdist"
    )
    for name in ("tripled", "plussed"):
        assert f"test_gradient_is_the_slope_of_the_value[{name}] PASSED" in ran
        assert f"test_compiled_row_gives_what_numpy_gives[{name}-float32] PASSED" in ran


OUTSIDE = '"""Rows of another package."""\n\nfrom typing import Any\n\n' + (
    "from treadle.ops.composite import composite\n" + COMPOSITE
)


def test_edits_survive_changed_and_deleted_rows(tmp_path):
    rows, functions = tmp_path / "mine" / "ops.py", tmp_path / "mine" / "functions.py"
    rows.parent.mkdir()
    (tmp_path / "src").symlink_to(ROOT / "src")

    def gen(text, *options, wanted=0):
        names = "".join(
            f'"{name}": {name}, ' for name in re.findall(r"^def (\w+)", text, re.MULTILINE)
        )
        rows.write_text(f"{text}\n\nTABLE: dict[str, Any] = {{{names}}}\n", "utf-8")
        into = ("--table", "mine.ops:TABLE", "--into", "mine")
        return python(tmp_path, "-m", "treadle", "gen", *into, *options, wanted=wanted)

    assert "2 files, 2 changed" in gen(OUTSIDE)
    mine = functions.read_text("utf-8").replace(".tripled(x, by)", ".tripled(x, float(by))")
    functions.write_text(mine, "utf-8")
    gen(OUTSIDE, "--check")  # an edit alone is nobody's business
    changed = OUTSIDE.replace("several times over", "so many times")
    assert "would change" in gen(changed, "--check", wanted=1)
    assert functions.read_text("utf-8") == mine
    assert "edits merged" in gen(changed)
    merged = functions.read_text("utf-8")
    assert '"""x so many times."""\n    if words:' in merged
    assert "\n    return ops_rows.tripled(x, float(by))" in merged
    more = changed.replace("by: float = 3.0", "by: float = 3.0, plus: float = 0.0")
    assert "the same lines" in gen(more, wanted=1)
    call = "import treadle as td; from mine.functions import tripled; tripled(td.ones(2))"
    python(tmp_path, "-c", call)  # the edited line is still in force
    assert "no row any more" in gen(OUTSIDE.replace(COMPOSITE, ""), wanted=1)
    assert "float(by)" in functions.read_text("utf-8")
    assert "tripled" not in (tmp_path / "mine" / "ops.md").read_text("utf-8")


def test_the_committed_text_is_what_the_table_says():
    assert main(["gen", "--check"]) == 0


def test_generating_from_nothing_gives_the_same_blocks():
    targets = own_targets(ROOT)
    assert len(targets) == FILES
    for target in targets:
        if target.empty:
            made = merge(target.empty, target.pieces, target.path.name, target.markdown)
            again = merge(made.text, target.pieces, target.path.name, target.markdown)
            assert (made.problems, again.done, again.text) == ([], [], made.text)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op.name)
def test_function_has_the_arguments_of_its_row(row):
    function = getattr(getattr(td, row.space) if row.space else td, row.op.name)
    names = list(inspect.signature(function).parameters)
    wanted = signature_of(row.op)
    words = ["words"] if wanted.takes_words else []
    assert names == [argument.name for argument in wanted.arguments] + words
    assert inspect.cleandoc(function.__doc__).split()[:5] == row.doc.split()[:5]
    for alias in row.op.aliases:
        assert getattr(td, alias) is function


def test_every_public_row_is_exported_and_has_a_method_where_that_makes_sense():
    for row in own_rows():
        if row.op.kind is not Kind.RANDOM:
            space = getattr(td, row.space) if row.space else td
            assert row.op.name in space.__all__, row.op
            assert hasattr(space, row.op.name), row.op
        if row.is_method and not row.space:
            assert hasattr(td.Tensor, row.op.name), row.op


def test_every_row_is_listed_with_dtypes_and_devices(capsys):
    assert main(["ops"]) == 0
    shown = capsys.readouterr().out
    listed = {line.split()[0] for line in shown.splitlines() if line}
    public = {name for name, op in public_rows().items() if op.public}
    assert public <= listed
    assert re.search(r"^(\d+) ops$", shown, re.MULTILINE)
    assert main(["ops", "--json"]) == 0
    support = json.loads(capsys.readouterr().out)
    assert not [name for name in public if not support[name]["cpu"]]
    assert support["exp"]["cpu"].count("float32") == 1


def test_one_row_is_shown_by_any_of_its_names(capsys):
    assert main(["ops", "--op", "cat"]) == 0
    assert "td.concat(" in capsys.readouterr().out
    assert main(["ops", "--op", "no_such_op"]) == 1


def test_signatures_read_as_written_by_hand():
    shown = {row.op.name: " ".join(row.signature.definition(row.op.name)) for row in ROWS}
    words = "**words: Unpack[Words]"
    assert shown["softmax"] == f"def softmax(x: Tensor, axis: int = -1, {words}) -> Tensor:"
    assert "x: Tensor | float, y: Tensor | float, **words" in shown["maximum"]
    assert "tensors: Sequence[Tensor], axis: int | None = 0, **words" in shown["concat"]
    assert "x: Tensor, weight: Tensor, bias: Tensor | None = None, **words" in shown["linear"]
    assert "alpha: float = 1.0, **words: Any" in shown["elu"]  # one of the words is its own
    assert "words" not in shown["broadcast_arrays"]
    assert "-> tuple[Tensor, Tensor]:" in shown["topk"]


def test_a_row_nobody_can_import_is_called_through_the_table():
    try:
        row = Row(Op("nameless", Kind.COMPOSITE, "x.", define=lambda x, /: x))
        assert row.target == 'TABLE["nameless"]'
    finally:
        TABLE.pop("nameless", None)
