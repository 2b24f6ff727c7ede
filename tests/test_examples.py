"""Every example runs as a script does, small, and has learnt something at the end."""

from __future__ import annotations

import operator
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import treadle as td

EXAMPLES = Path(__file__).parent.parent / "examples"
LINES = 120

# What train(tiny=True) returns, and what it must be: what is learnt by nothing is far off.
LEARNT = {
    "classification": (operator.gt, 0.9),  # a third of the points by chance
    "cnn": (operator.gt, 0.85),
    "custom_op": (operator.lt, 0.2),  # 0.5 is the variance of the sine
    "diffusion": (operator.lt, 0.6),  # 1 is to guess nothing
    "finetuning": (operator.gt, 0.02),
    "gan": (operator.gt, 0.3),
    "graph": (operator.gt, 0.8),
    "language_model": (operator.lt, 3.2),  # 5.5 for a byte by chance
    "mixed_precision": (operator.gt, 0.85),
    "reinforcement": (operator.gt, 45.0),  # 25 pushes by chance
    "seq2seq": (operator.gt, 0.9),
    "vae": (operator.lt, 29.0),  # 44 nats are a bit for each pixel
}
DIGITS = {"cnn", "diffusion", "finetuning", "mixed_precision", "vae"}


@pytest.fixture(autouse=True)
def seeds_are_put_back():
    state = td.random.get_rng_state()
    yield
    td.random.set_rng_state(state)


def test_every_example_is_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(LEARNT)


def in_a_process(name):
    """The number that a script prints at its end, and all that it prints."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--tiny"]
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES.parent / "src")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[-1]), done.stdout


@pytest.mark.parametrize("name", LEARNT)
def test_example_learns(name, capsys):
    if name in DIGITS:
        pytest.importorskip("sklearn")
    if name == "custom_op":  # adds a row to the op table
        found, said = in_a_process(name)
    else:
        found = runpy.run_path(str(EXAMPLES / f"{name}.py"))["train"](True)
        said = capsys.readouterr().out
    compare, bar = LEARNT[name]
    assert compare(found, bar), said


@pytest.mark.parametrize("name", LEARNT)
def test_example_is_short_and_says_what_it_is(name):
    text = (EXAMPLES / f"{name}.py").read_text("utf-8")
    assert len(text.splitlines()) < LINES
    assert "@td.compile" in text  # whole steps are programs
    assert re.search(r"^if __name__ == \"__main__\":\n    print\(.*--tiny", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["classification", "graph", "vae"])
def test_example_gives_the_same_without_compile(name, monkeypatch, capsys):
    if name in DIGITS:
        pytest.importorskip("sklearn")
    train = runpy.run_path(str(EXAMPLES / f"{name}.py"))["train"]
    compiled, said = train(True), capsys.readouterr().out
    monkeypatch.setattr(td, "compile", lambda function: function)
    assert train(True) == pytest.approx(compiled, rel=1e-2)
    losses = [
        [float(x) for x in re.findall(r"(?:loss|epoch +\d+ ) (\d\S+)", text)]
        for text in (said, capsys.readouterr().out)
    ]
    assert losses[0]
    assert losses[1] == pytest.approx(losses[0], rel=1e-2, abs=2e-3)
