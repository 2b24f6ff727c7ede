"""Every example runs as a script does, small, and has learnt something at the end."""

from __future__ import annotations

import operator
import re
import runpy
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


def test_every_example_is_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(LEARNT)


@pytest.mark.parametrize("name", LEARNT)
def test_example_learns(name, capsys):
    if name in DIGITS:
        pytest.importorskip("sklearn")
    compare, bar = LEARNT[name]
    state = td.random.get_rng_state()
    try:
        found = runpy.run_path(str(EXAMPLES / f"{name}.py"))["train"](True)
    finally:
        td.random.set_rng_state(state)
    said = capsys.readouterr().out
    assert compare(found, bar), said


@pytest.mark.parametrize("name", LEARNT)
def test_example_is_short_and_says_what_it_is(name):
    text = (EXAMPLES / f"{name}.py").read_text("utf-8")
    assert len(text.splitlines()) < LINES
    assert "@td.compile" in text  # whole steps are programs
    assert re.search(r"^if __name__ == \"__main__\":\n    print\(.*--tiny", text, re.MULTILINE)
