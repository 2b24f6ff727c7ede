"""The shape of the code base: sizes, docstrings, where imports may stand, what importing costs."""

from __future__ import annotations

import ast
import functools
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import treadle
from treadle.cli.merge import parts_of
from treadle.ops import fft, linalg
from treadle.ops.defs import TABLE, Kind

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "treadle"
MODULES = sorted(SRC.rglob("*.py"))

FILE_LINES = 400
FUNCTION_LINES = 60
COMPILER = ("base", "ir", "passes", "autograd", "schedule", "kernel")
COMPILER_LINES = 14100  # 190 for profiles, 270 for loops, 150 to build equal layers once
LINES_OF_A_ROW = 29.2  # on average, with its reference, samples, gradient and documentation
IMPORTED = 150  # modules of ours that `import treadle` loads

# Name relative to src/treadle: why it may be longer than FILE_LINES. No row without a reason.
LONG_FILES: dict[str, str] = {
    "functions.py": "generated: a short block for every row",
    "linalg/functions.py": "generated: a short block for every row",
    "tensor/methods.py": "generated: a short block for every row",
}

# "file:function": why it may be longer than FUNCTION_LINES.
LONG_FUNCTIONS: dict[str, str] = {}

# Modules that may import inside a function, and what that buys.
LATE_IMPORTS = {
    "base/cache.py": "only the first look-up on disk asks where the cache is",
    "ops/deconvolution.py": "lines of channels are looked for by a GPU's programs only",
    "tensor/creation.py": "NumPy is loaded by the first array",
    "tensor/keys.py": "NumPy is loaded by the first list that is an index",
    "tensor/triangles.py": "NumPy is loaded by the first array",
    "tensor/dlpack.py": "the same",
    "nn/init.py": "NumPy is loaded by the first orthogonal matrix",
    "tensor/picture.py": "files are only written by those who save one",
    "tensor/values.py": "ctypes and HTML are loaded by the first exchange and the first notebook",
    "tensor/memory_report.py": "the disk cache's hashes and folders are loaded by who asks first",
}


def name_of(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


@functools.cache
def syntax_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions_of(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(syntax_of(path)) if isinstance(node, kinds)]


def late_imports(path: Path) -> list[str]:
    return [
        f"line {node.lineno} in {function.name}"
        for function in functions_of(path)
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]


every_module = pytest.mark.parametrize("path", MODULES, ids=name_of)


@every_module
def test_file_can_be_read_in_one_sitting(path):
    if name_of(path) not in LONG_FILES:
        assert line_count(path) <= FILE_LINES


@every_module
def test_functions_fit_on_a_screen(path):
    sizes = {f"{name_of(path)}:{f.name}": f.end_lineno - f.lineno + 1 for f in functions_of(path)}
    long = {name: n for name, n in sizes.items() if n > FUNCTION_LINES}
    assert not {name: n for name, n in long.items() if name not in LONG_FUNCTIONS}


@every_module
def test_module_says_in_one_sentence_what_it_answers(path):
    docstring = ast.get_docstring(syntax_of(path))
    assert docstring, "no docstring"
    first = docstring.splitlines()[0]
    assert first.endswith("."), f"the first line is no sentence: {first!r}"
    assert len(first.rstrip(".")) > 10, f"the first line says nothing: {first!r}"


@every_module
def test_imports_stand_at_the_top(path):
    if name_of(path) not in LATE_IMPORTS:
        hidden = late_imports(path)
        assert not hidden, f"move to the top, or list the module in LATE_IMPORTS: {hidden}"


@every_module
def test_nothing_depends_on_another_framework(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    named = [line.strip() for line in lines if re.search(r"\btorch\b", line)]
    in_files = ['PACKAGE = "torch"'] if name_of(path) == "io/pytorch.py" else []
    assert not [line for line in named if "dlpack" not in line.lower() and line not in in_files]


def is_free_size(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and ast.unparse(node) == "-1"


def may_be_empty(node: ast.expr) -> bool:
    """Could a part of a shape have the size 0?"""
    if isinstance(node, ast.Starred):
        return "(1,)" not in ast.unparse(node) and "behind" not in ast.unparse(node)
    return not is_free_size(node) and not (isinstance(node, ast.Constant) and node.value)


@every_module
def test_no_size_is_left_open_beside_one_that_may_be_nothing(path):
    """-1 beside a 0 could be anything: an empty batch would be refused."""
    found = []
    for node in ast.walk(syntax_of(path)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reshape":
            tuples = [a.elts for a in node.args if isinstance(a, ast.Tuple)] or [node.args]
            if any(any(map(is_free_size, s)) and any(map(may_be_empty, s)) for s in tuples):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    assert not found


def test_every_exception_is_still_needed():
    for name in LONG_FILES:
        assert line_count(SRC / name) > FILE_LINES, f"{name} fits by now: drop its row"
    sizes = {
        f"{name_of(path)}:{f.name}": f.end_lineno - f.lineno + 1
        for path in MODULES
        for f in functions_of(path)
    }
    for name in LONG_FUNCTIONS:
        assert sizes.get(name, 0) > FUNCTION_LINES, f"{name} fits by now: drop its row"
    for name in LATE_IMPORTS:
        assert late_imports(SRC / name), f"{name} imports at the top by now: drop its row"


def lines_of(layer: str) -> int:
    return sum(line_count(path) for path in MODULES if name_of(path).startswith(f"{layer}/"))


PUBLIC = {
    "td": treadle, "td.amp": treadle.amp, "td.data": treadle.data, "td.io": treadle.io,
    "td.logs": treadle.logs, "td.models": treadle.models,
    "td.nn": treadle.nn, "td.optim": treadle.optim, "td.random": treadle.random,
    "td.optim.lr_scheduler": treadle.optim.lr_scheduler,
    "td.optim.swa_utils": treadle.optim.swa_utils,
}  # fmt: skip
CONSTANTS = (str, float, type(None))  # have no docstring of their own


def public_names() -> list[str]:
    return [f"{space}.{name}" for space, module in PUBLIC.items() for name in module.__all__]


def is_row(name: str) -> bool:
    """Is a public name a row of the table, or another name of one?"""
    space, _, last = name.rpartition(".")
    kinds = {"td": set(Kind) - {Kind.RANDOM}, "td.random": {Kind.RANDOM}}.get(space, set())
    return any(op.kind in kinds and last in (op.name, *op.aliases) for op in TABLE.values())


@pytest.mark.parametrize("name", public_names())
def test_public_name_is_documented(name):
    space, _, last = name.rpartition(".")
    value = getattr(PUBLIC[space], last)
    assert isinstance(value, CONSTANTS) or len((value.__doc__ or "").strip()) > 2, "no docstring"
    pages = {page: (ROOT / "docs" / page).read_text("utf-8") for page in ("ops.md", "api.md")}
    if is_row(name):
        assert re.search(rf"^### {last}$|^- also:.*`{last}`", pages["ops.md"], re.MULTILINE)
    else:
        assert f"`{name}`" in pages["api.md"]


def test_the_compiler_stays_small():
    """What treats the rows of the op table does not grow with them."""
    lines = {layer: lines_of(layer) for layer in COMPILER}
    assert sum(lines.values()) < COMPILER_LINES, lines


def test_rows_stay_short():
    assert linalg.__all__  # rows that are loaded late,
    assert fft.__name__  # as these are
    assert lines_of("ops") <= LINES_OF_A_ROW * len(TABLE)


def test_one_op_is_written_in_few_places():
    folders = (SRC, ROOT / "tools", ROOT / "examples")
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    users = {"testing", "nn", "models", "examples"}  # random programs, networks
    paths = [path for path in paths if not users & set(path.parts)]
    places = [p.relative_to(ROOT).as_posix() for p in paths if "tanh" in by_hand(p)]
    # its row, complex numbers, two backends (one with its functions apart), what is known of Gluon,
    # who is made of it
    assert len(places) <= 8, places


def by_hand(path: Path) -> str:
    """What of a file is not generated."""
    text = path.read_text("utf-8")
    if path.parent.name == "cli":  # what makes the markers
        return text
    return "\n".join(line for part in parts_of(text) if isinstance(part, list) for line in part)


def run_python(program: str, **changes: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | changes
    )
    return done.stdout


@pytest.mark.parametrize("package", ["numpy", "llvmlite", "triton", "inspect", "dataclasses"])
def test_import_loads_no_heavy_package(package):
    assert run_python(f"import sys, treadle; print({package!r} in sys.modules)").strip() == "False"


def test_import_loads_few_modules():
    count = "import sys, treadle; print(sum(name.startswith('treadle') for name in sys.modules))"
    assert int(run_python(count)) <= IMPORTED


def test_import_costs_less_than_that_of_numpy(tmp_path):
    # Users import bytecode, whatever this process does about writing it.
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    programs = ("import treadle", "import numpy")
    times: dict[str, list[float]] = {program: [] for program in programs}
    for program in programs * 4:  # in turns: others use this machine
        ended = f"{program}\nimport time; print(time.process_time())"
        times[program].append(float(run_python(ended, **bytecode)))
    treadle, numpy = (min(times[program]) for program in programs)
    assert treadle < numpy


@pytest.mark.parametrize(("lock", "said"), [("False", "True"), ("True", "False")])
def test_a_python_without_its_lock_is_refused(lock, said):
    program = f"""
import sys
sys._is_gil_enabled = lambda: {lock}
try:
    import treadle
except ImportError as error:
    print("global interpreter lock" in str(error) and "PYTHON_GIL=1" in str(error))
else:
    print(False)
"""
    assert run_python(program).strip() == said


def test_asserts_of_tests_are_kept_where_python_drops_its_own(monkeypatch):
    """Under `python -O` too, and in what tests share."""
    with pytest.raises(AssertionError):
        assert not ROOT.exists()
    monkeypatch.syspath_prepend(ROOT / "tests" / "tensor")
    shared = importlib.import_module("strict")
    with pytest.raises(AssertionError):
        shared.agree([1], [2])
