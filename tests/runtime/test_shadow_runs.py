"""TREADLE_CHECK=1: right kernels pass, the first wrong one is named, saved and run again."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import table
from treadle.base.errors import CompilerError
from treadle.cli.main import main

WRONG = 3.0  # a number that reaches kernels as another one while they are broken


def array(*shape, seed=0, dtype=np.float32):
    return td.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with td.override(check=1):
        yield tmp_path


@pytest.fixture
def broken(monkeypatch):
    """Kernels of programs that are planned from now on multiply by 3.5 where they should by 3."""
    usual = table._encoded
    monkeypatch.setattr(table, "_encoded", lambda v, d: usual(3.5 if v == WRONG else v, d))
    return monkeypatch


def attention(x):
    q, k, v = (x @ w for w in (array(16, 16, seed=s) for s in (1, 2, 3)))
    return td.scaled_dot_product_attention(q, k, v)


def loop(x):
    return td.scan(lambda h, row: (td.tanh(h + row), h.sum()), td.zeros(16), x)


def choices(x):
    return td.where(td.floor(x) > 0, td.round(x * 2), x.argmax(axis=-1, keepdims=True))


RIGHT = {
    "softmax": lambda x: td.softmax(x @ x.T) * 0.7,
    "attention": attention,
    "norm": lambda x: td.layer_norm(x * 1e4 + 1e6),
    "sums": lambda x: ((x - x.mean()).sum(), x.sum(axis=0), x.prod(axis=1)),
    "sorted": lambda x: (x.sort(axis=-1), x.cumsum(axis=0), x.argsort(axis=0)),
    "choices": choices,
    "masked": lambda x: td.softmax(td.where(x > 0, x, -np.inf), axis=-1),
    "infinite": lambda x: td.exp(x * 1000) - td.exp(x * 900),
    "images": lambda x: td.conv2d(x.reshape(1, 4, 8, 8), array(8, 4, 3, 3), padding=1),
    "loop": loop,
    "half": lambda x: td.gelu(x.astype("bfloat16") @ x.T.astype("bfloat16")).sum(axis=0),
    "whole": lambda x: (x * 10).astype("int32") // 3 % 5,
    "complex": lambda x: td.fft.fft(x).abs(),
    "factors": lambda x: td.linalg.qr(x)[0],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_pass(checked, name):
    made = RIGHT[name](array(16, 16))
    td.realize(*(made if isinstance(made, tuple) else [made]))
    assert not list(checked.iterdir())


def test_a_training_step_passes_and_trains(checked):
    model = td.nn.Sequential(td.nn.Linear(16, 32), td.nn.GELU(), td.nn.Linear(32, 4))
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-2)
    x, y = array(12, 16), td.tensor(np.arange(12) % 4)

    @td.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    losses = [float(step(x, y)) for _ in range(4)]
    assert losses[-1] < losses[0]


def fault(x):
    """Two kernels, the second of which is wrong while kernels are broken."""
    h = td.softmax(x @ x)
    return td.tanh(h.cumsum(axis=0) * WRONG)


def test_the_first_wrong_kernel_is_named_with_its_line_and_saved(checked, broken):
    with pytest.raises(CompilerError) as caught:
        fault(array(24, 24)).realize()
    text = str(caught.value)
    assert re.match(r"check: kernel \d+ differs from NumPy: loop mul tanh\n", text)
    assert f"{__file__}:{fault.__code__.co_firstlineno + 3}" in text
    assert "576 elements differ" in text
    (path,) = checked.iterdir()
    assert f"treadle replay {path}" in text


def test_a_saved_kernel_is_run_again(checked, broken, capsys):
    with pytest.raises(CompilerError):
        fault(array(24, 24)).realize()
    (path,) = checked.iterdir()
    assert main(["replay", str(path)]) == 1
    assert "elements differ" in capsys.readouterr().out.split("\nnow")[1]
    broken.undo()
    assert main(["replay", str(path)]) == 0
    out = capsys.readouterr().out
    assert "= tanh %" in out
    then, now = out.split("\nnow")
    assert "elements differ" in then
    assert "as NumPy has it" in now


def test_what_is_no_saved_kernel_is_refused(tmp_path, capsys):
    odd = tmp_path / "odd.npz"
    odd.write_bytes(b"PK nothing of the kind")
    assert main(["replay", str(odd)]) == 2
    assert "not a saved kernel" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "nowhere.npz")]) == 2


def test_state_that_is_written_over_is_whole_after_a_fault(checked, broken):
    state = td.zeros(1000).realize()

    @td.compile
    def step(x):
        state.assign(state + 1)
        return x * WRONG

    with pytest.raises(CompilerError):
        step(array(1000))
    assert state.tolist() == [1.0] * 1000


def test_results_are_the_same_bits_under_the_check(checked):
    x = array(33, 40)
    watched = RIGHT["softmax"](x).numpy().copy()
    with td.override(check=0):
        plain = RIGHT["softmax"](x).numpy().copy()
    assert np.array_equal(watched, plain)


def test_two_callers_of_one_structure_see_their_own_lines(checked, broken):
    def first(x):
        return x * WRONG

    def second(x):
        return x * WRONG

    for f in (first, second):
        with pytest.raises(CompilerError) as caught:
            f(array(77)).realize()
        assert f"{Path(__file__).name}:{f.__code__.co_firstlineno + 1}" in str(caught.value)


@pytest.mark.parametrize("also", ["the ladder", "a profile"])
def test_who_looks_on_besides_does_not_hide_a_fault(checked, broken, also):
    context = td.override(debug=1) if also == "the ladder" else td.profile()
    with pytest.raises(CompilerError), context:
        (array(55) * WRONG).realize()
