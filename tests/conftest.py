"""What every test shares: Hypothesis profiles, a cache folder of its own, golden files."""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

# Before treadle is imported: knobs read the environment once. Workers of xdist share the folder.
if "TREADLE_TEST_CACHE" not in os.environ:
    os.environ["TREADLE_TEST_CACHE"] = tempfile.mkdtemp(prefix="treadle-test-cache-")
    os.environ["TREADLE_TEST_CACHE_OWNER"] = str(os.getpid())
os.environ["TREADLE_CACHE_DIR"] = os.environ["TREADLE_TEST_CACHE"]
os.environ["TREADLE_CACHE_SECRET"] = f"{os.environ['TREADLE_TEST_CACHE']}/secret"

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start what runs behind them
    signal.signal(signal.SIGINT, signal.default_int_handler)
# pytest keeps the asserts of tests under `python -O`; of what they share, only if it is told.
SHARED = [
    path.stem for path in HERE.rglob("*.py") if not path.stem.startswith(("test_", "conftest"))
]
pytest.register_assert_rewrite(*SHARED)


def _keep_every_call() -> None:
    """A suite makes more kinds of calls than a program would, and modules hold nodes of long ago.

    Those that were forgotten would be made anew, and compare as others.
    """
    from treadle.ir import node

    node.MOST_CALLS = 1 << 40


def _choose_hypothesis_profile() -> None:
    from hypothesis import HealthCheck, settings

    # A first call compiles, so no deadline and no complaint about slow generation.
    shared = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("dev", max_examples=20, **shared)
    settings.register_profile("ci", max_examples=200, derandomize=True, database=None, **shared)
    settings.register_profile("nightly", max_examples=5000, **shared)
    default = "ci" if os.environ.get("CI") else "dev"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", default))


if importlib.util.find_spec("hypothesis"):  # a machine with a GPU may have pytest alone
    _choose_hypothesis_profile()
    _keep_every_call()


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="accept golden text as it is")


def pytest_terminal_summary(terminalreporter):
    """How much of the op table this run has tested."""
    found = re.compile(r"test_compiled_row_gives_what_numpy_gives\[(\w+)-\w+\]")
    passed = [found.search(report.nodeid) for report in terminalreporter.stats.get("passed", [])]
    rows_tested = {match[1] for match in passed if match}
    if rows_tested:
        from treadle.testing.samples import public_rows

        untested = sorted(public_rows().keys() - rows_tested)
        named = f" ({', '.join(untested)})" if untested else ""
        terminalreporter.write_line(
            f"op table: {len(rows_tested)} rows tested, {len(untested)} untested{named}"
        )


def pytest_unconfigure():
    if os.environ.get("TREADLE_TEST_CACHE_OWNER") == str(os.getpid()):
        shutil.rmtree(os.environ["TREADLE_TEST_CACHE"], ignore_errors=True)


class Golden:
    """Text that equals the stored file, or becomes it under --update-golden."""

    def __init__(self, path: Path, update: bool):
        self.path, self.update = path, update

    def __eq__(self, text: object) -> bool:
        if not isinstance(text, str):
            return NotImplemented
        text = text.rstrip("\n") + "\n"
        if self.update:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(text, encoding="utf-8")
            return True
        return self.path.is_file() and self.path.read_text(encoding="utf-8") == text

    __hash__ = None

    def __repr__(self) -> str:
        return f"<golden {self.path.relative_to(GOLDEN)}>"


@pytest.fixture
def golden(request):
    """The stored text of this test, to be compared with ==."""
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    path = GOLDEN / request.path.stem / f"{name}.txt"
    return Golden(path, request.config.getoption("--update-golden"))


def pytest_assertrepr_compare(op, left, right):
    text, stored = (right, left) if isinstance(left, Golden) else (left, right)
    if op != "==" or not isinstance(stored, Golden) or not isinstance(text, str):
        return None
    if not stored.path.is_file():
        return [
            f"no {stored!r}",
            "accept this text with pytest --update-golden:",
            *text.split("\n"),
        ]
    expected = stored.path.read_text(encoding="utf-8").splitlines()
    diff = difflib.unified_diff(expected, text.splitlines(), "stored", "now", lineterm="", n=2)
    return [f"differs from {stored!r}; accept with pytest --update-golden", *diff]
